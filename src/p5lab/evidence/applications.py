# SPDX-License-Identifier: MIT
"""chen95's applications Wish and Ghostscript on an X server, and the Andrew benchmark with its
compilation.

configs/applications.toml describes the tables. docs/evidence/records/applications.json has the
counts of the last time that the disk with these programs was there. Each experiment needs its own
packages on the disk, so a disk can be there for one of them only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from p5lab.describe import experiment, tomlfile
from p5lab.describe.experiment import Filter
from p5lab.describe.guest import ImageGuest
from p5lab.describe.observation import AttributedCounts as Observed
from p5lab.describe.observation import Observation
from p5lab.describe.tomlfile import TomlTable
from p5lab.evidence.period import verdicts
from p5lab.evidence.records import Record, short
from p5lab.keep.result import Execute, succeeded
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present.tables import MISSING, Grid, number
from p5stats import attribution, compare, metrics, phase_names, tidy
from p5stats.lazy import pd

# The record has by column: counts[phase][metric] and the PARTS of its experiment; and `disk`: the
# SHA-256 of the file system of each experiment.
FILE = "configs/applications.toml"
SCREEN, ANDREW = "applications", "andrew"  # the experiments
ROWS = (
    *("microseconds", "busy cycles", "instructions", "CPI (busy)", "kernel share"),
    *("data reads", "data writes", "read misses/reference", "I-cache misses", "L2 misses"),
    *("ITLB misses", "DTLB misses", "segment loads", "ring crossings", "CR3 loads, changed"),
    *("page faults", "newer instructions"),
)
# The phases of workload andrew-make, in their order.
ANDREW_PHASES = ("directories", "copy", "status", "read", "make", "all")
SPLIT = ("cycles.busy", "instructions", "segment_loads", "itlb_misses", "dtlb_misses")
# How counts are divided: by two columns of the attribution, with rows for what has at least this
# share of the busy cycles.
PARTS = {
    "processes": (("space", "ring"), 0.01),
    "modules": (("space", "module"), 0.01),
    "files": (("module", "ring"), 0.0002),
}
OTHERS = "all others"
RINGS = {0: "kernel", attribution.USER_RING: "user", "": ""}
# The name of a row of each part.
NAMES: dict[str, Callable[[str, Any], str]] = {
    "processes": lambda process, ring: f"{process} {RINGS[ring]}",
    "modules": lambda process, module: ": ".join(filter(None, (process, _file(module)))),
    "files": lambda file, _: _file(file),
}


def packages(lab: Lab, name: str) -> set[str]:
    """The packages that an experiment needs on the disk."""
    runs = experiment.load(lab, name)
    own = {package for run in runs for package in run.workload.packages}
    images = [run.guest.image for run in runs if isinstance(run.guest, ImageGuest)]
    return own.union(*(image.packages for image in images if image))


def disk(lab: Lab, packages: Collection[str]) -> str:
    """The SHA-256 of the root file system, or an empty text if it does not have the packages."""
    place = lab.rootfs("debian32").with_name("rootfs.json")
    about = json.loads(place.read_text()) if place.is_file() else {"packages": {}}
    return str(about["sha256"]) if about["packages"].keys() >= set(packages) else ""


def measured(lab: Lab, before: Record, execute: Execute) -> Record:
    """The record with new counts of each experiment whose packages the disk has. The other columns
    stay. Raises UserError if a run fails."""
    table, record = _load(lab), dict(before)
    for name, _ in experiments(table):
        if digest := disk(lab, packages(lab, name)):
            record |= _measured(lab, table, name, execute)
            record["disk"] = record["disk"] | {name: digest}
    return record


def tables(lab: Lab, record: Record) -> dict[str, Grid]:
    """The tables of a record by name."""
    table = _load(lab)
    return {
        "rows": _rows(table, SCREEN, record),
        "processes": _shares(table, SCREEN, record, "processes"),
        "libraries": _shares(table, SCREEN, record, "modules"),
        "Andrew phases": _phases(table, record),
        "Andrew rows": _rows(table, ANDREW, record),
        "Andrew files": _shares(table, ANDREW, record, "files"),
        "claims": verdicts(table, record),
        "untestable": _untestable(table),
    }


def _load(lab: Lab) -> TomlTable:
    return tomlfile.load(lab.root / FILE, ("experiment", "column", "claim", "untestable"))


def experiments(table: TomlTable) -> Iterable[tuple[str, TomlTable]]:
    """The experiments, each with its PARTS."""
    for name, described in table.table("experiment").inner().items():
        described.only(("parts",))
        yield name, described


# --- runs -----------------------------------------------------------------------------------------


def _measured(lab: Lab, table: TomlTable, name: str, execute: Execute) -> Record:
    """The columns of new runs of an experiment. Raises UserError if a run fails."""
    functions = Filter(observation=Observation.of(Observed(("functions",))))
    stored = succeeded(execute(experiment.load(lab, name, functions)))
    parts = dict(experiments(table))[name].texts("parts")
    return {
        key: _counts(_find(stored, column), column.text("phase"), parts)
        for key, column in _columns(table, name)
    }


def _columns(table: TomlTable, name: str) -> Iterable[tuple[str, TomlTable]]:
    """The columns of an experiment."""
    for key, column in table.table("column").inner().items():
        column.only(("title", "experiment", "workload", "parameters", "phase"))
        if column.text("experiment") == name:
            yield key, column


def _find(stored: Iterable[Stored], column: TomlTable) -> Stored:
    wanted = column.table("parameters", {}).data
    (chosen,) = (
        run
        for run in stored
        if run.record["workload"]["name"] == column.text("workload")
        and wanted.items() <= run.record["parameters"].items()
    )
    return chosen


def _counts(stored: Stored, phase: str, parts: Sequence[str]) -> Record:
    """The counts of a run: all its phases, and one phase divided into these PARTS."""
    frame = tidy.load(stored.directory)
    clock = int(frame["clock_hz"].iloc[0])
    counted = compare.without_empty(compare.counts(frame)).groupby(level="phase").mean()
    functions = attribution.read(stored.directory / "attribution.jsonl").frame()
    # A second process of a program has the name "NAME #2". Here they share a row.
    functions["space"] = functions["space"].str.replace(r" #\d+$", "", regex=True)
    where = functions[functions["phase"].map(phase_names.of(stored.record)) == phase]
    return {
        "counts": {
            name: {
                metric: short(value)
                for metric, value in metrics.evaluate(
                    row.to_dict(), 1, clock, None, wanted=ROWS
                ).items()
            }
            for name, row in counted.iterrows()
        },
    } | {part: _split(where, *PARTS[part]) for part in parts}


def _split(frame: pd.DataFrame, by: Sequence[str], least: float) -> list[list[Any]]:
    """The counts of SPLIT by two columns, in the order of their busy cycles. What is less than this
    share of all is in the last row, OTHERS."""
    wide = frame.pivot_table(
        index=list(by), columns="event", values="count", aggfunc="sum", fill_value=0
    )
    wide = wide.reindex(columns=list(SPLIT), fill_value=0).sort_values(SPLIT[0], ascending=False)
    large = wide[SPLIT[0]] >= least * wide[SPLIT[0]].sum()
    rows = [[*map(_plain, key), *map(int, counts)] for key, counts in wide[large].iterrows()]
    return [*rows, [OTHERS, "", *map(int, wide[~large].sum())]]


def _plain(value: Any) -> str | int:  # noqa: ANN401
    """The name of a process or file, or the number of a ring, as Python's own type."""
    return value if isinstance(value, str) else int(value)


# --- tables ---------------------------------------------------------------------------------------


def _rows(table: TomlTable, name: str, record: Record) -> Grid:
    columns = list(_columns(table, name))
    grid = Grid("", ["", *(column.text("title") for _, column in columns)])
    for metric in ROWS:
        values = [
            record[key]["counts"][column.text("phase")].get(metric) for key, column in columns
        ]
        grid.add(metric, *(MISSING if value is None else number(value) for value in values))
    return grid


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def _phases(table: TomlTable, record: Record) -> Grid:
    """The time of each phase of the Andrew benchmark in seconds, in the order of the phases."""
    columns = list(_columns(table, ANDREW))
    grid = Grid("", ["seconds", *(column.text("title") for _, column in columns)])
    for phase in ANDREW_PHASES:
        times = [record[key]["counts"][phase]["microseconds"] / 1e6 for key, _ in columns]
        grid.add(phase, *(f"{time:.3g}" if time < 100 else f"{time:.0f}" for time in times))
    return grid


def _shares(table: TomlTable, wanted: str, record: Record, part: str) -> Grid:
    name = NAMES[part]
    counts_of = ("Instructions", "Segment loads", "ITLB misses", "DTLB misses")
    grid = Grid("", ["", "Busy cycles", "Share", *counts_of])
    for key, column in _columns(table, wanted):
        rows = record[key][part]
        whole = sum(row[2] for row in rows)
        grid.add(f"**{column.text('title')}**")
        for process, where, *counts in rows:
            cells = [f"{count:,}" for count in counts]
            grid.add(name(process, where).strip(), cells[0], f"{counts[0] / whole:.1%}", *cells[1:])
    return grid


def _untestable(table: TomlTable) -> Grid:
    grid = Grid("", ["Published", "Why there is no verdict", "Source"], left={1, 2})
    for claim in table.tables("untestable"):
        claim.only(("source", "quantity", "reason"))
        grid.add(claim.text("quantity"), claim.text("reason"), claim.text("source"))
    return grid
