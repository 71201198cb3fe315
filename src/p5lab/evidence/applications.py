# SPDX-License-Identifier: MIT
"""`./p5lab docs applications`: chen95's applications Wish and Ghostscript on an X server.

configs/applications.toml describes the tables. The document contains the counts of the last time
that the disk with these programs was there, as a record in JSON. Without the disk, the tables
follow from this record. With the disk, the command makes the runs, and the record is new.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from p5lab.describe import experiment, tomlfile
from p5lab.describe.experiment import Filter
from p5lab.describe.observation import Attribution as Observed
from p5lab.describe.observation import Observation
from p5lab.describe.tomlfile import Table
from p5lab.evidence import page_record
from p5lab.evidence.page_record import Execute, Record
from p5lab.execute import runner
from p5lab.keep import phase_names
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present.tables import MISSING, Grid, number
from p5stats import attribution, compare, metrics, tidy

# The record has by column: counts[phase][metric], processes, modules; and `disk`: the SHA-256 of
# the file system.
FILE, EXPERIMENT, COMMAND = "configs/applications.toml", "applications", "./p5lab docs applications"
# The packages of the programs and of the X server (docs/concepts/x.md).
PACKAGES = frozenset({"xserver-xorg-video-fbdev", "tk8.6-doc", "ghostscript-x"})
ROWS = (
    *("microseconds", "busy cycles", "instructions", "CPI (busy)", "kernel share"),
    *("data reads", "data writes", "read misses/reference", "I-cache misses", "L2 misses"),
    *("ITLB misses", "DTLB misses", "segment loads", "ring crossings", "CR3 loads, changed"),
    *("page faults", "newer instructions"),
)
SPLIT = ("cycles.busy", "instructions", "segment_loads", "itlb_misses", "dtlb_misses")
LEAST = 0.01  # the share of the busy cycles from which a process or a library has a row
OTHERS = "all others"
KERNEL_RING, USER_RING = 0, attribution.USER_RING


def disk(lab: Lab) -> str:
    """The SHA-256 of the root file system, or an empty text if it does not have the programs."""
    place = lab.rootfs("debian32").with_name("rootfs.json")
    about = json.loads(place.read_text()) if place.is_file() else {"packages": {}}
    return str(about["sha256"]) if about["packages"].keys() >= PACKAGES else ""


def render(lab: Lab, text: str, execute: Execute) -> str:
    """The document with new tables. The text between the tables does not change. Raises UserError
    if a run fails."""
    table = tomlfile.load(lab.root / FILE, schema_version=1)
    table.only(("column", "claim", "untestable"))
    record = measured(lab, table, execute) if disk(lab) else page_record.read(text)
    tables = {
        "rows": _rows(table, record),
        "processes": _processes(table, record),
        "libraries": _libraries(table, record),
        "claims": page_record.claims(table, record),
        "untestable": _untestable(table),
    }
    return page_record.written(text, COMMAND, tables, record)


# --- runs -----------------------------------------------------------------------------------------


def measured(lab: Lab, table: Table, execute: Execute) -> Record:
    """The record of new runs. Raises UserError if a run fails."""
    functions = Filter(observation=Observation.of(Observed(("functions",))))
    stored = runner.succeeded(execute(experiment.load(lab, EXPERIMENT, functions)))
    counted = {name: _one(_find(stored, one), one.text("phase")) for name, one in _columns(table)}
    return {"disk": disk(lab)} | counted


def _columns(table: Table) -> Iterable[tuple[str, Table]]:
    described = table.table("column")
    for name in described.data:
        one = described.table(name)
        one.only(("title", "workload", "parameters", "phase"))
        yield name, one


def _find(stored: Iterable[Stored], column: Table) -> Stored:
    wanted = column.table("parameters", {}).data
    (found,) = (
        one
        for one in stored
        if one.record["workload"]["name"] == column.text("workload")
        and wanted.items() <= one.record["parameters"].items()
    )
    return found


def _one(stored: Stored, phase: str) -> Record:
    """The counts of a run: all its phases, and the processes and libraries of one phase."""
    frame = tidy.load(stored.directory)
    clock = int(frame["clock_hz"].iloc[0])
    counted = compare.without_empty(compare.counts(frame)).groupby(level="phase").mean()
    found = attribution.read(stored.directory / "attribution.jsonl").frame()
    # A second process of a program has the name "NAME #2". Here they share a row.
    found["space"] = found["space"].str.replace(r" #\d+$", "", regex=True)
    where = found[found["phase"].map(phase_names.of(stored.record)) == phase]
    return {
        "counts": {
            name: {
                metric: page_record.short(value)
                for metric, value in metrics.evaluate(
                    row.to_dict(), 1, clock, None, wanted=ROWS
                ).items()
            }
            for name, row in counted.iterrows()
        },
        "processes": _split(where, ["space", "ring"]),
        "modules": _split(where, ["space", "module"]),
    }


def _split(found: pd.DataFrame, by: list[str]) -> list[list[Any]]:
    """The counts of SPLIT, by process and `by[1]`, in the order of their busy cycles. What is less
    than LEAST of all is in the last row, OTHERS."""
    wide = found.pivot_table(index=by, columns="event", values="count", aggfunc="sum", fill_value=0)
    wide = wide.reindex(columns=list(SPLIT), fill_value=0).sort_values(SPLIT[0], ascending=False)
    large = wide[SPLIT[0]] >= LEAST * wide[SPLIT[0]].sum()
    rows = [[*map(_plain, key), *map(int, counts)] for key, counts in wide[large].iterrows()]
    return [*rows, [OTHERS, "", *map(int, wide[~large].sum())]]


def _plain(value: Any) -> str | int:  # noqa: ANN401
    """The name of a process or file, or the number of a ring, as Python's own type."""
    return value if isinstance(value, str) else int(value)


# --- tables ---------------------------------------------------------------------------------------


def _rows(table: Table, record: Record) -> Grid:
    columns = list(_columns(table))
    grid = Grid("", ["", *(one.text("title") for _, one in columns)])
    for metric in ROWS:
        values = [record[name]["counts"][one.text("phase")].get(metric) for name, one in columns]
        grid.add(metric, *(MISSING if value is None else number(value) for value in values))
    return grid


def _processes(table: Table, record: Record) -> Grid:
    ring = {KERNEL_RING: "kernel", USER_RING: "user", "": ""}
    return _shares(table, record, "processes", lambda process, where: f"{process} {ring[where]}")


def _libraries(table: Table, record: Record) -> Grid:
    return _shares(
        table,
        record,
        "modules",
        lambda process, module: f"{process}: {module.rpartition('/')[2]}" if module else process,
    )


def _shares(table: Table, record: Record, part: str, name: Callable[[str, Any], str]) -> Grid:
    counts_of = ("Instructions", "Segment loads", "ITLB misses", "DTLB misses")
    grid = Grid("", ["", "Busy cycles", "Share", *counts_of])
    for column, one in _columns(table):
        rows = record[column][part]
        whole = sum(row[2] for row in rows)
        grid.add(f"**{one.text('title')}**")
        for process, where, *counts in rows:
            cells = [f"{count:,}" for count in counts]
            grid.add(name(process, where).strip(), cells[0], f"{counts[0] / whole:.1%}", *cells[1:])
    return grid


def _untestable(table: Table) -> Grid:
    grid = Grid("", ["Published", "Why there is no verdict", "Source"], left={1, 2})
    for one in table.tables("untestable"):
        one.only(("source", "quantity", "reason"))
        grid.add(one.text("quantity"), one.text("reason"), one.text("source"))
    return grid
