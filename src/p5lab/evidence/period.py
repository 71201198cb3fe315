# SPDX-License-Identifier: MIT
"""`./p5lab docs period`: chen95's core on systems of the time that boot from a user's media, beside
our own guests.

configs/period.toml describes the comparison. The document contains the counts of the last time that
all media were there, as a record in JSON: our counts and the digests of the media, nothing of their
content. Without the media, the tables follow from this record. With the media, the command makes
all runs, also those of our own guests, and the record is new.

Some columns come from a table of another document (`documented`).

`./p5lab report period` shows the same tables with the document's text about them (`parts`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import experiment, guest, media, script, tomlfile
from p5lab.describe.experiment import Run
from p5lab.describe.request import Filter, Request, UserMedia
from p5lab.describe.tomlfile import Table
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.evidence import page_record
from p5lab.evidence.page_record import Execute, Record
from p5lab.execute import runner
from p5lab.host.supplied_programs import SYSTEMS
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.present.tables import MISSING, Grid, clocks
from p5stats import compare, tidy

DOCUMENT = "docs/evidence/period.md"
FILE, EXPERIMENT, COMMAND = "configs/period.toml", "period", "./p5lab docs period"
LIMIT_SECONDS = 900  # modelled
STEPS = "steps.txt"  # the screen after each step of a script
EVENTS = {
    "cycles": ("cycles.busy",),
    "instructions": ("instructions",),
    "mode_changes": tuple(f"mode_changes.{mode}" for mode in ("real", "v86", "16bit", "32bit")),
    "crossings": tuple(f"crossings.{kind}" for kind in ("int", "gate", "far", "iret", "async")),
}


@dataclass(frozen=True)
class System:
    """A system that boots from media. `files`: further files on the floppy in drive B. `says`:
    patterns of lines in which the system names the processor and its clock."""

    name: str
    title: str
    guest: str
    script: Path
    programs: str
    files: tuple[str, ...]
    says: tuple[str, ...]


def systems(lab: Lab, table: Table) -> list[System]:
    """The systems with media, in the order of the file."""
    found, described = [], table.table("system")
    for name in described.data:
        one = described.table(name)
        one.only(("title", "guest", "script", "programs", "put", "says"))
        found.append(
            System(
                name,
                one.text("title"),
                one.text("guest"),
                lab.root / one.text("script"),
                one.choice("programs", tuple(SYSTEMS)),
                tuple(one.texts("put", [])),
                tuple(one.texts("says", [])),
            )
        )
    return found


def missing(lab: Lab) -> list[str]:
    """The files of the comparison that no directory of P5LAB_MEDIA has."""
    wanted: dict[str, None] = {}
    for one in systems(lab, _load(lab)):
        wanted |= {medium.file: None for medium in guest.load(lab, one.guest).media}
        wanted |= dict.fromkeys(one.files)
    return [name for name in wanted if media.placed(name) is None]


def render(lab: Lab, text: str, execute: Execute) -> str:
    """The document with new tables. The text between the tables does not change. Raises UserError
    if a run fails, and if a medium is there that is not the one of the guest's file."""
    table = _load(lab)
    record = page_record.read(text) if missing(lab) else measured(lab, execute)
    shown = record | documented(lab, table)
    tables = {name: make(table, shown) for name, make in TABLES.items()}
    return page_record.written(text, COMMAND, tables, record)


@dataclass(frozen=True)
class Part:
    """A section of the document: its text without Markdown, paragraph by paragraph, and the tables
    of the record that stand in it."""

    title: str
    text: list[str]
    tables: list[Grid]


def parts(lab: Lab) -> list[Part]:
    """The sections of the document, without its record. Needs no media. Raises UserError if the
    document has no record."""
    text = (lab.root / DOCUMENT).read_text(encoding="utf-8")
    table = _load(lab)
    record = page_record.read(text) | documented(lab, table)
    found = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        names = re.findall(rf"^<!-- {re.escape(COMMAND)}: (\w+) -->$", body, re.MULTILINE)
        if "record" in names:
            continue
        words = re.sub(r"^<!-- .*?^<!-- end -->$", "", body, flags=re.MULTILINE | re.DOTALL)
        lines = [_plain(line) for line in words.splitlines() if line.strip()]
        found.append(Part(title, lines, [TABLES[name](table, record) for name in names]))
    return found


def _plain(line: str) -> str:
    """A line of Markdown as plain text."""
    line = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.removeprefix("- "))
    return re.sub(r"\*\*|`", "", line)


def _load(lab: Lab) -> Table:
    table = tomlfile.load(lab.root / FILE, schema_version=1)
    table.only(("system", "documented", "row", "form", "claim"))
    return table


def documented(lab: Lab, table: Table) -> Record:
    """The systems whose counts another document has. Raises UserError if it lacks the table."""
    found: Record = {}
    described = table.table("documented", {})
    for name in described.data:
        one = described.table(name)
        one.only(("title", "document", "heads"))
        text = (lab.root / one.text("document")).read_text(encoding="utf-8")
        _, begins, rest = text.partition(f"\n{one.text('heads')}")
        if not begins:
            raise UserError(f"{one.text('document')}: expected a table with {one.text('heads')}")
        rows = [line.split("|") for line in rest.partition("\n\n")[0].splitlines()[2:]]
        counts = {
            cells[1].replace("`", "").strip(): {"cycles": float(cells[2].replace(",", ""))}
            for cells in rows
        }
        found[name] = {"title": one.text("title"), "counts": counts, "each": 1}
    return found


# --- runs -----------------------------------------------------------------------------------------


def measured(lab: Lab, execute: Execute) -> Record:
    """The record of new runs. Raises UserError if a run fails."""
    table = _load(lab)
    known = systems(lab, table)
    wanted = _phases(table)
    runs = [_run(lab, one) for one in known]
    record: Record = {}
    for one, stored in zip(known, runner.succeeded(execute(runs)), strict=True):
        record[one.name] = {
            "title": one.title,
            "media": _media(stored),
            "ready": _ready(stored),
            "says": _said(stored, one.says),
            "counts": _counts([stored], wanted[one.name]),
        }
    own = runner.succeeded(execute(experiment.expand(lab, EXPERIMENT, Filter()).runs))
    for name in dict.fromkeys(one.record["guest"]["name"] for one in own):
        of_it = [one for one in own if one.record["guest"]["name"] == name]
        record[name] = {"title": f"`{name}`", "counts": _counts(of_it, wanted[name])}
    return record


def _run(lab: Lab, one: System) -> Run:
    files = [media.placed(name) for name in one.files]
    asked = UserMedia(
        scripts=(script.load(one.script),),
        put=tuple(path for path in files if path),
        programs=one.programs,
    )
    choice = Filter(guests=(one.guest,), limit=LIMIT_SECONDS)
    (run,) = prepare(lab, Request(asked, choice)).runs
    assert run.boot is not None
    for medium in run.boot.media:
        if not medium.name and medium.role in {
            own.role for own in guest.load(lab, one.guest).media
        }:
            raise UserError(
                f"{medium.path}: not the content that guest {one.guest} knows; {COMMAND} compares"
                " known media",
                status=STATUS_FAILED,
            )
    return run


def _media(stored: Stored) -> dict[str, str]:
    return {
        f"{one['file']} ({one['known_as']})": one["sha256"]
        for one in stored.record["media"].values()
        if one["known_as"] and "files of" not in one["known_as"]
    }


def _ready(stored: Stored) -> float:
    """The modelled seconds from reset to the end of the bracket `boot`."""
    frame = tidy.load(stored.directory)
    boot = frame[(frame["phase"] == "boot") & frame["event"].isin(["cycles.busy", "cycles.idle"])]
    return round(float(boot["value"].sum()) / int(frame["clock_hz"].iloc[0]), 2)


def _said(stored: Stored, patterns: Sequence[str]) -> list[str]:
    text = (stored.directory / STEPS).read_text(encoding="utf-8", errors="replace")
    found = [re.search(pattern, text) for pattern in patterns]
    return [re.sub(r"\s+", " ", one[1]).strip() for one in found if one]


def _counts(runs: Sequence[Stored], wanted: set[str]) -> dict[str, dict[str, float]]:
    """The mean counts of one bracket, without the empty bracket, by phase. The phase of a workload
    with several phases is "WORKLOAD PHASE"."""
    found = {}
    for stored in runs:
        frame = tidy.load(stored.directory)
        several = frame["phase"].nunique() > 2  # one phase, and the empty bracket
        name = stored.record["workload"]["name"]
        counted = compare.without_empty(compare.counts(frame)).groupby(level="phase").mean()
        for phase, row in counted.iterrows():
            full = phase if name == script.BOOT else f"{name} {phase}" if several else name
            if full in wanted:
                found[full] = {
                    event: page_record.short(sum(float(row.get(part, 0)) for part in parts))
                    for event, parts in EVENTS.items()
                }
    if absent := wanted - found.keys():
        raise UserError(
            f"run {runs[0].id}: no bracket {sorted(absent)[0]!r}; {FILE} expects it",
            status=STATUS_FAILED,
        )
    return found


def _phases(table: Table) -> dict[str, set[str]]:
    """The phases that the tables show, by system."""
    found: dict[str, set[str]] = {}
    for row in table.tables("row"):
        for name, phase in row.table("of").data.items():
            found.setdefault(name, set()).add(phase)
    for form in table.tables("form"):
        found.setdefault(form.text("system"), set()).update(form.texts("phases"))
    for claim in table.tables("claim"):
        for key in ("of", "over"):
            if key in claim.data:
                name, phase = claim.texts(key)
                found.setdefault(name, set()).add(phase)
    return found


def _systems(table: Table, record: Record) -> Grid:
    grid = Grid(
        "", ["System", "Medium, SHA-256", "Ready after", "It names the processor"], left={1, 3}
    )
    for name in table.table("system").data:
        one = record[name]
        known = "; ".join(f"{file}, `{digest[:16]}`" for file, digest in one["media"].items())
        grid.add(one["title"], known, f"{one['ready']:.2f} s", "; ".join(one["says"]) or "no")
    return grid


def _core(table: Table, record: Record) -> Grid:
    grid = Grid("", ["Cycles of one operation", *(one["title"] for one in record.values())])
    for row in table.tables("row"):
        row.only(("title", "unit", "each", "operations", "of"))
        of, own = row.table("of").data, row.table("operations", {}).data
        cells = []
        for name, one in record.items():
            if name not in of:
                cells.append(MISSING)
                continue
            count = one.get("each") or own.get(name, row.number("each", 1))
            cells.append(_cycles(one["counts"][of[name]]["cycles"] / count))
        grid.add(f"{row.text('title')}, per {row.text('unit')}", *cells)
    return grid


def _cycles(value: float) -> str:
    return f"{value:.2f}" if value < 100 else clocks(value)


def _forms(table: Table, record: Record) -> Grid:
    heads = ["Form", "59h: cycles", "mode changes", "crossings"]
    grid = Grid("", [*heads, "35h: cycles", "mode changes", "crossings", "59h / 35h"])
    for form in table.tables("form"):
        form.only(("title", "system", "phases"))
        found = [record[form.text("system")]["counts"][phase] for phase in form.texts("phases")]
        cells = [
            text
            for one in found
            for text in (
                _cycles(one["cycles"]),
                f"{one['mode_changes']:.4g}",
                f"{one['crossings']:.4g}",
            )
        ]
        grid.add(form.text("title"), *cells, f"{found[0]['cycles'] / found[1]['cycles']:.1f}")
    return grid


# The tables of the document by the names of their blocks.
TABLES = {"systems": _systems, "core": _core, "calls": _forms, "claims": page_record.claims}
