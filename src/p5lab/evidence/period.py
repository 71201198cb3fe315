# SPDX-License-Identifier: MIT
"""chen95's core on systems of the time that boot from a user's media, beside our own guests.

configs/period.toml describes the comparison. docs/evidence/records/period.json has the counts of
the last time that all media were there: our counts and the digests of the media, nothing of their
content. `./p5lab docs period` makes all runs again, also those of our own guests.
`./p5lab report period` shows the tables of the record.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.describe import experiment, guest, media, script, tomlfile
from p5lab.describe.experiment import Run
from p5lab.describe.request import Filter, Request, UserMedia
from p5lab.describe.run import MediaRun
from p5lab.describe.tomlfile import TomlTable
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.evidence import records
from p5lab.evidence.records import Record, short
from p5lab.keep.result import Execute, succeeded
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.present.tables import MISSING, Grid, clocks
from p5stats import compare, tidy
from p5stats.claims import FAILS, HOLDS, meets

FILE, EXPERIMENT = "configs/period.toml", "period"
LIMIT_SECONDS = 900  # modelled
STEPS = "steps.txt"  # the screen after each step of a script
EVENTS = {
    "cycles": ("cycles.busy",),
    "instructions": ("instructions",),
    "mode_changes": tuple(f"mode_changes.{mode}" for mode in ("real", "v86", "16bit", "32bit")),
    "crossings": tuple(f"crossings.{kind}" for kind in ("int", "gate", "far", "iret", "async")),
}


@dataclass(frozen=True)
class MediaSystem:
    """A system that boots from media. `put`: further files on the floppy in drive B. `says`:
    patterns of lines in which the system names the processor and its clock."""

    name: str
    title: str
    guest: str
    script: str
    programs: str
    put: tuple[str, ...] = ()
    says: tuple[str, ...] = ()


def systems(table: TomlTable) -> list[MediaSystem]:
    """The systems with media, in the order of the file."""
    described = table.table("system").inner()
    return [system.record(MediaSystem, name=name) for name, system in described.items()]


def missing(lab: Lab) -> list[str]:
    """The files of the comparison that no directory of P5LAB_MEDIA has."""
    wanted: dict[str, None] = {}
    for system in systems(_load(lab)):
        wanted |= {medium.file: None for medium in guest.media_guest(lab, system.guest).media}
        wanted |= dict.fromkeys(system.put)
    return [name for name in wanted if media.placed(name) is None]


@dataclass(frozen=True)
class PeriodSection:
    """A section of the comparison: its title, what it says, and its table."""

    title: str
    text: str
    table: Grid


def parts(lab: Lab) -> list[PeriodSection]:
    """The sections of the comparison, from the record. Needs no media."""
    shown = tables(lab, records.load(lab.root, EXPERIMENT))
    described = _load(lab).tables("section")
    return [
        PeriodSection(section.text("title"), section.text("text"), shown[section.text("table")])
        for section in described
    ]


def tables(lab: Lab, record: Record) -> dict[str, Grid]:
    """The tables of a record by name."""
    table = _load(lab)
    made = {"systems": _systems, "core": _core, "calls": _forms, "claims": verdicts}
    return {name: make(table, record) for name, make in made.items()}


def _load(lab: Lab) -> TomlTable:
    return tomlfile.load(lab.root / FILE, ("system", "row", "form", "claim", "section"))


# --- runs -----------------------------------------------------------------------------------------


def measured(lab: Lab, before: Record, execute: Execute) -> Record:
    """The record of new runs. The systems of which the comparison makes no run stay. Raises
    UserError if a medium or a run is missing, and if a medium is not the one of the guest's
    file."""
    if absent := missing(lab):
        raise UserError(f"{media.VARIABLE}: missing {', '.join(absent)}")
    table = _load(lab)
    known = systems(table)
    wanted = _phases(table)
    runs = [_run(lab, system) for system in known]
    record: Record = {}
    for system, stored in zip(known, succeeded(execute(runs)), strict=True):
        record[system.name] = {
            "title": system.title,
            "media": _media(stored),
            "ready": _ready(stored),
            "says": _said(stored, system.says),
            "counts": _counts([stored], wanted[system.name]),
        }
    own = succeeded(execute(experiment.expand(lab, EXPERIMENT, Filter()).runs))
    for name in dict.fromkeys(stored.record["guest"]["name"] for stored in own):
        of_it = [stored for stored in own if stored.record["guest"]["name"] == name]
        record[name] = {"title": f"`{name}`", "counts": _counts(of_it, wanted[name])}
    return record | {name: column for name, column in before.items() if name not in record}


def _run(lab: Lab, system: MediaSystem) -> Run:
    files = [media.placed(name) for name in system.put]
    asked = UserMedia(
        scripts=(script.load(lab.root / system.script),),
        put=tuple(path for path in files if path),
        programs=system.programs,
    )
    choice = Filter(guests=(system.guest,), limit=LIMIT_SECONDS)
    (run,) = prepare(lab, Request(asked, choice)).runs
    assert isinstance(run, MediaRun)
    for medium in run.boot.media:
        if not medium.name and medium.role in {
            own.role for own in guest.media_guest(lab, system.guest).media
        }:
            raise UserError(
                f"{medium.path}: not the content that guest {system.guest} knows; {FILE} compares"
                " known media",
                status=STATUS_FAILED,
            )
    return run


def _media(stored: Stored) -> dict[str, str]:
    return {
        f"{medium['file']} ({medium['known_as']})": medium["sha256"]
        for medium in stored.record["media"].values()
        if medium["known_as"] and "files of" not in medium["known_as"]
    }


def _ready(stored: Stored) -> float:
    """The modelled seconds from reset to the end of the bracket `boot`."""
    frame = tidy.load(stored.directory)
    boot = frame[(frame["phase"] == "boot") & frame["event"].isin(["cycles.busy", "cycles.idle"])]
    return round(float(boot["value"].sum()) / int(frame["clock_hz"].iloc[0]), 2)


def _said(stored: Stored, patterns: Sequence[str]) -> list[str]:
    text = (stored.directory / STEPS).read_text(encoding="utf-8", errors="replace")
    matches = [re.search(pattern, text) for pattern in patterns]
    return [re.sub(r"\s+", " ", match[1]).strip() for match in matches if match]


def _counts(runs: Sequence[Stored], wanted: set[str]) -> dict[str, dict[str, float]]:
    """The mean counts of one bracket, without the empty bracket, by phase. The phase of a workload
    with several phases is "WORKLOAD PHASE"."""
    counts = {}
    for stored in runs:
        frame = tidy.load(stored.directory)
        several = frame["phase"].nunique() > 2  # one phase, and the empty bracket
        name = stored.record["workload"]["name"]
        counted = compare.without_empty(compare.counts(frame)).groupby(level="phase").mean()
        for phase, row in counted.iterrows():
            full = phase if name == script.BOOT else f"{name} {phase}" if several else name
            if full in wanted:
                counts[full] = {
                    event: short(sum(float(row.get(part, 0)) for part in parts))
                    for event, parts in EVENTS.items()
                }
    if absent := wanted - counts.keys():
        raise UserError(
            f"run {runs[0].id}: no bracket {sorted(absent)[0]!r}; {FILE} expects it",
            status=STATUS_FAILED,
        )
    return counts


def _phases(table: TomlTable) -> dict[str, set[str]]:
    """The phases that the tables show, by system."""
    phases: dict[str, set[str]] = {}
    for row in table.tables("row"):
        for name, phase in row.table("of").data.items():
            phases.setdefault(name, set()).add(phase)
    for form in table.tables("form"):
        phases.setdefault(form.text("system"), set()).update(form.texts("phases"))
    for claim in table.tables("claim"):
        for key in ("of", "over"):
            if key in claim.data:
                name, phase = claim.texts(key)
                phases.setdefault(name, set()).add(phase)
    return phases


def _systems(table: TomlTable, record: Record) -> Grid:
    grid = Grid(
        "", ["System", "Medium, SHA-256", "Ready after", "It names the processor"], left={1, 3}
    )
    for name in table.table("system").data:
        system = record[name]
        known = "; ".join(f"{file}, `{digest[:16]}`" for file, digest in system["media"].items())
        says = "; ".join(system["says"]) or "no"
        grid.add(system["title"], known, f"{system['ready']:.2f} s", says)
    return grid


def _core(table: TomlTable, record: Record) -> Grid:
    grid = Grid("", ["Cycles of one operation", *(system["title"] for system in record.values())])
    for row in table.tables("row"):
        row.only(("title", "unit", "each", "operations", "of"))
        of, own = row.table("of").data, row.table("operations", {}).data
        cells = []
        for name, system in record.items():
            if name not in of:
                cells.append(MISSING)
                continue
            count = system.get("each") or own.get(name, row.number("each", 1))
            cells.append(_cycles(system["counts"][of[name]]["cycles"] / count))
        grid.add(f"{row.text('title')}, per {row.text('unit')}", *cells)
    return grid


def _cycles(value: float) -> str:
    return f"{value:.2f}" if value < 100 else clocks(value)


def _forms(table: TomlTable, record: Record) -> Grid:
    heads = ["Form", "59h: cycles", "mode changes", "crossings"]
    grid = Grid("", [*heads, "35h: cycles", "mode changes", "crossings", "59h / 35h"])
    for form in table.tables("form"):
        form.only(("title", "system", "phases"))
        brackets = [record[form.text("system")]["counts"][phase] for phase in form.texts("phases")]
        cells = [
            text
            for bracket in brackets
            for text in (
                _cycles(bracket["cycles"]),
                f"{bracket['mode_changes']:.4g}",
                f"{bracket['crossings']:.4g}",
            )
        ]
        grid.add(form.text("title"), *cells, f"{brackets[0]['cycles'] / brackets[1]['cycles']:.1f}")
    return grid


def verdicts(table: TomlTable, record: Record) -> Grid:
    """The verdicts of a record on the claims that `table` describes."""
    grid = Grid("", ["Published", "Tag", "Paper", "Here", "Verdict", "Source"], left={1, 4, 5})
    for claim in table.tables("claim"):
        claim.only(("source", "quantity", "value", "tag", "event", "of", "over", "each"))
        event, value = claim.text("event"), claim.real("value")
        here = _count(record, claim.texts("of"), event) / claim.number("each", 1)
        if "over" in claim.data:
            here /= _count(record, claim.texts("over"), event)
        tag = claim.text("tag")
        verdict = HOLDS if meets(tag, value, here) else FAILS
        grid.add(
            claim.text("quantity"), tag, f"{value:g}", f"{here:.3g}", verdict, claim.text("source")
        )
    return grid


def _count(record: Mapping[str, Any], place: Sequence[str], event: str) -> float:
    column, phase = place
    return float(record[column]["counts"][phase][event])
