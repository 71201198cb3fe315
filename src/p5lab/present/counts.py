# SPDX-License-Identifier: MIT
"""What people and programs are shown: the counts of an experiment, one run, and what there is."""

import csv
import io
import json
import os
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from p5lab.describe.experiment import Cannot
from p5lab.describe.keys import readable
from p5lab.host.terminal import for_terminal, markup
from p5lab.keep.gc import Item, human
from p5lab.keep.store import Stored
from p5lab.present import comparison
from p5lab.present.comparison import CYCLES, HIGHEST, LOWEST, TIME, Cell, Comparison, Question
from p5lab.present.tables import MISSING, Grid, number, ratio, times
from p5stats import compare

FORMATS = ("table", "markdown", "csv", "json")
# The columns of a curve's table, the most telling first: a narrow terminal shows the first ones.
CURVE_HEADS = {
    "MB/s": "MB/s",
    "busy cycles": "cycles",
    "CPI (busy)": "CPI",
    "read misses/reference": "L1D/ref",
    "L2 misses": "L2",
    "DTLB misses": "DTLB",
    "I-cache misses": "L1I",
    "kernel share": "kernel",
    "interrupts, clock": "clock",
    "data reads": "reads",
    "microseconds": "us",
}
# Of several systems, each metric of a curve side by side.
CURVES_COMPARED = ("busy cycles", "MB/s", "read misses/reference", "L2 misses", "DTLB misses")
# chen95 has tables of single events; what each is there.
EVENT_TABLES = {
    "interrupts, other": "Non-clock interrupts (chen95 tables 4, 5 and 8)",
    "segment loads": "Segment register loads (chen95 table 7)",
    "ring crossings": "Protection boundary crossings (chen95 section 4.1)",
    "CR3 loads, changed": "Address space switches",
}
# The columns of the table of misses.
MISS_HEADS = {
    "busy cycles": "cycles",
    "read misses/reference": "L1D read\n/ref",
    "write misses/reference": "L1D write\n/ref",
    "I-cache misses": "L1I",
    "I-cache misses/instr": "L1I\n/instr",
    "ITLB misses": "ITLB",
    "DTLB misses": "DTLB",
    "L2 misses": "L2",
}
INSTRUCTIONS = "instructions"
LABEL_WIDTH, COLUMN_WIDTH, POINT_WIDTH, RATIO_WIDTH, SPREAD_WIDTH = 26, 13, 10, 9, 21
PIPED_WIDTH = 120
NO_LIMIT = 1 << 20  # columns, where nothing wraps
METRICS = [metric.name for metric in compare.metrics(0)]
EXPLANATION = (
    "Mean of one operation over the iterations. Cycles, instructions and accesses of the markers'"
    " own set-up (empty bracket) are subtracted, as chen95 subtracts Null. A dash: nothing to"
    " divide by, or not counted."
)


def stdout() -> Console:
    """Where results go. A file or pipe has no width of its own; COLUMNS decides there too."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_WIDTH
    return console


def experiment(
    console: Console, runs: Sequence[Stored], cannot: Sequence[Cannot] = (), form: str = "table"
) -> None:
    """The report on an experiment's runs, those that failed among them."""
    found = Comparison(runs, cannot)
    if form == "csv":
        print(as_csv(found), end="")
    elif form == "json":
        print(as_json(found))
    elif form == "markdown":
        said = [for_terminal(note, lines=True) for note in notes(found)]
        print("\n\n".join([grid.markdown() for grid in grids(found, NO_LIMIT)] + said))
    else:
        for grid in grids(found, console.width):
            grid.print(console)
        for note in notes(found):
            console.print(markup(note, lines=True), style="dim")


def notes(found: Comparison) -> list[str]:
    lines = [EXPLANATION] if found.questions else []
    if found.has_shadows:
        lines.append(
            "Every geometry was asked for what the first one executed; only that one has cycles."
        )
    elif len(found.systems) > 1 and found.questions:
        first = found.names()[found.systems[0]].replace("\n", ", ")
        lines.append(f"Ratios are to {first}; of times where nothing else is said.")
    if len(found.seeds) > 1:
        seeds = ", ".join(map(str, found.seeds))
        lines.append(f"Means over the seeds {seeds}; the lowest and the highest seed beside them.")
    lines += [f"{line}." for line in (*found.without_clocks, *found.not_counted)]
    lines += [f"{line}." for line in (*found.deviations, *found.not_timed)]
    return lines + [f"Not run: {reason}." for reason in found.cannot]


def grids(found: Comparison, width: int) -> list[Grid]:
    """One system and seed: benchmarks side by side. Several: the systems side by side, first in
    one line for each benchmark, then benchmark by benchmark."""
    if found.has_shadows:
        return [misses(found, question) for question in _last_points(found)]
    if len(found.systems) > 1 or len(found.seeds) > 1:
        whats = list(dict.fromkeys(question.what for question in found.questions))
        result = [*summary(found, width), *events(found, width)]
        for what in whats:
            phases = found.phases(what)
            if found.any_cell(phases[0]).record["workload"]["curve"]:
                result += curves(found, what, width)
            else:
                for question in phases:
                    result += side_by_side(found, question, width)
        return result
    columns = [(question, found.any_cell(question)) for question in _last_points(found)]
    curved = [
        [found.any_cell(question) for question in found.phases(question.what)]
        for question, cell in columns
        if cell.record["workload"]["curve"]
    ]
    return [*metrics([cell for _, cell in columns], width)] + [
        curve(points, width) for points in curved
    ]


def _last_points(found: Comparison) -> list[Question]:
    """All questions, of a curve the last point only."""
    return [
        question
        for question in found.questions
        if not found.any_cell(question).record["workload"]["curve"]
        or question == found.phases(question.what)[-1]
    ]


def _label(found: Comparison, question: Question) -> str:
    """A question in one line: its phase where there are several."""
    several = len(found.phases(question.what)) > 1
    return f"{question.what}, {question.phase}" if several else question.what


# --- several systems --------------------------------------------------------------------------


def summary(found: Comparison, width: int) -> list[Grid]:
    """One line a benchmark: time and busy cycles of each system, and the ratio of times. Where no
    system has either, the instructions."""
    names = list(found.names().values())
    seeds = len(found.seeds) > 1
    timed = any(cell and cell.has(TIME) for q in found.questions for cell in found.cells(q))
    first, unit = (TIME, "us") if timed else (INSTRUCTIONS, "instructions")
    cost = 2 * COLUMN_WIDTH + (SPREAD_WIDTH if seeds else RATIO_WIDTH)
    result = []
    for chosen in _chunks(len(names), (width - LABEL_WIDTH) // cost):
        heads = [""]
        heads += [f"{names[i]}\n{unit}" for i in chosen]
        heads += [f"{names[i]}\nmin-max" for i in chosen if seeds]
        heads += [f"{names[i]}\ncycles" for i in chosen if timed]
        heads += [f"{names[i]}\nratio" for i in chosen[1:]]
        grid = Grid(f"{'Time' if timed else 'Instructions'} of one operation", heads)
        for question in _last_points(found):
            cells = found.cells(question)
            row = [_or_why(found, question, i, first) for i in chosen]
            row += [_spread(cells[i], first) for i in chosen if seeds]
            row += [_mean(cells[i], CYCLES) for i in chosen if timed]
            row += [_ratio(cells[i], cells[chosen[0]], first) for i in chosen[1:]]
            grid.add(_label(found, question), *row)
        for what in dict.fromkeys(comparison.head(one.record) for one in found.failed):
            if not found.phases(what):
                grid.add(what, *["failed"] * len(chosen))
        result.append(grid)
    return result


def events(found: Comparison, width: int) -> list[Grid]:
    """One table an event: benchmarks down, systems across."""
    result = []
    names = list(found.names().values())
    for metric, title in EVENT_TABLES.items():
        for chosen in _chunks(len(names), (width - LABEL_WIDTH) // (COLUMN_WIDTH + RATIO_WIDTH)):
            grid = Grid(title, _heads("", names, chosen, seeds=False))
            for question in _last_points(found):
                cells = found.cells(question)
                row = [_or_why(found, question, i, metric) for i in chosen]
                row += [_ratio(cells[i], cells[chosen[0]], metric) for i in chosen[1:]]
                grid.add(_label(found, question), *row)
            if grid.rows:
                result.append(grid)
    return result


def side_by_side(found: Comparison, question: Question, width: int) -> list[Grid]:
    """All metrics of one question: systems across, each beside its ratio to the first."""
    workload = found.any_cell(question).record["workload"]
    names, cells = list(found.names().values()), found.cells(question)
    seeds = len(found.seeds) > 1
    cost = COLUMN_WIDTH + RATIO_WIDTH + (SPREAD_WIDTH if seeds else 0)
    result = []
    for chosen in _chunks(len(cells), (width - LABEL_WIDTH) // cost):
        title = f"{_label(found, question)}: {workload['bracket']} (of one {workload['operation']})"
        grid = Grid(title, _heads("", names, chosen, seeds))
        iterations = [str(cell.iterations) if cell else MISSING for cell in cells]
        row = []
        for i in chosen:
            row += [iterations[i]] + [""] * seeds
        grid.add("iterations", *row, *[""] * len(chosen[1:]))
        for label, metric in _rows([cell for cell in cells if cell]):
            _compared(grid, label, metric, cells, chosen, seeds)
        result.append(grid)
    return result


def _compared(
    grid: Grid,
    label: str,
    metric: str,
    cells: Sequence[Cell | None],
    chosen: Sequence[int],
    seeds: bool,
) -> None:
    row = []
    for i in chosen:
        row += [_mean(cells[i], metric)] + [_spread(cells[i], metric)] * seeds
    row += [_ratio(cells[i], cells[chosen[0]], metric) for i in chosen[1:]]
    grid.add(label, *row, dim=label.startswith(" "))


def curves(found: Comparison, what: str, width: int) -> list[Grid]:
    """A row a point; each metric with all systems side by side, cycles with their ratio."""
    questions = found.phases(what)
    workload = found.any_cell(questions[0]).record["workload"]
    names = [name.replace("\n", " ") for name in found.names().values()]
    seeds = len(found.seeds) > 1
    grid_heads = [workload["curve"]]
    columns: list[tuple[str, str, int]] = []  # metric, kind, system
    used = POINT_WIDTH
    points = [cell for question in questions for cell in found.cells(question) if cell]
    for metric in CURVES_COMPARED:
        if not any(cell.has(metric) for cell in points):
            continue
        group = [(metric, "mean", i) for i in range(len(names))]
        if metric == "busy cycles":
            group += [(metric, "spread", i) for i in range(len(names)) if seeds]
            group += [(metric, "ratio", i) for i in range(1, len(names))]
        used += sum(
            max(POINT_WIDTH, len(names[i]) + 3, SPREAD_WIDTH if kind == "spread" else 0)
            for _, kind, i in group
        )
        if columns and used > width:
            break
        columns += group
    for metric, kind, i in columns:
        unit = CURVE_HEADS[metric] if kind == "mean" else "min-max" if kind == "spread" else kind
        grid_heads.append(f"{names[i]}\n{unit}")
    title = f"{what}: counts of one {workload['operation']}"
    grid = Grid(title, grid_heads, points=True)
    for question in questions:
        cells = found.cells(question)
        shown = {
            "mean": lambda metric, i, cells=cells: _mean(cells[i], metric),
            "spread": lambda metric, i, cells=cells: _spread(cells[i], metric),
            "ratio": lambda metric, i, cells=cells: _ratio(cells[i], cells[0], metric),
        }
        grid.add(question.phase, *(shown[kind](metric, i) for metric, kind, i in columns))
    return [grid]


def misses(found: Comparison, question: Question) -> Grid:
    """A row a geometry; of a curve the last point."""
    workload = found.any_cell(question).record["workload"]
    grid = Grid(
        f"{_label(found, question)}: misses of one {workload['operation']}",
        ["", *MISS_HEADS.values()],
    )
    several = [
        field
        for field in ("guest", "machine")
        if len({getattr(system, field) for system in found.systems}) > 1
    ]
    for system in found.systems:
        cell = found.cell(question, system)
        parts = [getattr(system, field) for field in several]
        parts += [readable(system.geometry) or ("" if "machine" in several else system.machine)]
        grid.add(" ".join(filter(None, parts)), *(_mean(cell, metric) for metric in MISS_HEADS))
    return grid


def _heads(first: str, names: Sequence[str], chosen: Sequence[int], seeds: bool) -> list[str]:
    heads = [first]
    for i in chosen:
        heads += [names[i]] + [f"{names[i]}\nmin-max"] * seeds
    return heads + [f"{names[i]}\nratio" for i in chosen[1:]]


def _chunks(count: int, room: int) -> list[list[int]]:
    """The systems in as many tables as the width asks for, the first in each: ratios are to it."""
    others = list(range(1, count))
    step = max(room - 1, 1)
    return [[0, *others[i : i + step]] for i in range(0, len(others), step)] or [[0]]


def _mean(cell: Cell | None, metric: str) -> str:
    return number(cell.mean(metric)) if cell else MISSING


def _spread(cell: Cell | None, metric: str) -> str:
    if cell is None:
        return MISSING
    low, high = map(number, cell.spread(metric))
    return low if low == high else f"{low}-{high}"


def _ratio(cell: Cell | None, first: Cell | None, metric: str) -> str:
    return times(ratio(cell.mean(metric), first.mean(metric))) if cell and first else MISSING


def _or_why(found: Comparison, question: Question, i: int, metric: str) -> str:
    cell = found.cell(question, found.systems[i])
    return _mean(cell, metric) if cell else found.why_missing(question, found.systems[i])


# --- one system -------------------------------------------------------------------------------


def metrics(columns: Sequence[Cell], width: int) -> list[Grid]:
    """Metrics down, benchmarks across: as many tables as the width asks for."""
    room = max((width - LABEL_WIDTH) // COLUMN_WIDTH, 1)
    return [
        _metrics(columns[first : first + room], columns) for first in range(0, len(columns), room)
    ]


def _metrics(columns: Sequence[Cell], among: Sequence[Cell]) -> Grid:
    heads = [
        comparison.head(cell.record).replace(" ", "\n") + _phase_label(cell, among)
        for cell in columns
    ]
    grid = Grid("Counts per operation", ["", *heads])
    grid.add("iterations", *(str(cell.iterations) for cell in columns))
    for label, name in _rows(among):
        shown = (number(cell.mean(name)) for cell in columns)
        grid.add(label, *shown, dim=label.startswith(" "))
    return grid


def _rows(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Label and metric of each row: what none of them has is left out. How far the iterations
    spread stands below the cycles, or below the time where no cycles are counted."""
    rows = []
    spread = CYCLES if any(cell.has(CYCLES) for cell in cells) else TIME
    for name in METRICS:
        if any(cell.has(name) for cell in cells):
            rows.append((name, name))
            if name == spread:
                rows += [("  lowest", name + LOWEST), ("  highest", name + HIGHEST)]
    return rows


def curve(points: Sequence[Cell], width: int) -> Grid:
    """One row for each point."""
    record = points[0].record
    shown = [name for name in CURVE_HEADS if any(cell.has(name) for cell in points)]
    shown = shown[: max((width - POINT_WIDTH) // POINT_WIDTH, 1)]
    title = f"{comparison.head(record)}: counts per {record['workload']['operation']}"
    heads = [record["workload"]["curve"], *(CURVE_HEADS[name] for name in shown)]
    grid = Grid(title, heads, points=True)
    for cell in points:
        grid.add(cell.seeds[0].phase, *(number(cell.mean(name)) for name in shown))
    return grid


def _phase_label(cell: Cell, among: Sequence[Cell]) -> str:
    same = sum(other.seeds[0].stored.id == cell.seeds[0].stored.id for other in among)
    curved = bool(cell.record["workload"]["curve"])
    return f"\n{cell.seeds[0].phase}" if curved or same > 1 else ""


# --- for programs -----------------------------------------------------------------------------


def as_csv(found: Comparison) -> str:
    """A row for each benchmark, system and metric; what is missing is empty."""
    text = io.StringIO()
    rows = list(found.table())
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(found: Comparison) -> str:
    """The same rows, what is missing is null; and what was not run."""
    return json.dumps(
        {
            "schema_version": comparison.SCHEMA_VERSION,
            "rows": list(found.table()),
            "failed": [
                {"run": one.id, "label": one.record["label"], "reason": one.record["reason"]}
                for one in found.failed
            ],
            "cannot": [vars(one) for one in found.cannot],
        },
        indent=1,
    )


# --- one run, all runs ------------------------------------------------------------------------


def run(console: Console, stored: Stored, form: str = "table") -> None:
    """Everything about one run; for programs its numbers."""
    record = stored.record
    if form != "table" and record["identity"]:
        experiment(console, [stored], form=form)
        return
    if not record["identity"]:
        console.print(markup(f"{stored.id}: {record['status']}: {record['reason']}"))
        return
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    machine = record["machine"]
    rows = [
        ("run", stored.id),
        ("status", " ".join(filter(None, (record["status"], record["reason"])))),
        ("experiment", record["experiment"]),
        ("machine", " ".join(filter(None, (machine["name"], readable(machine["geometry"]))))),
        ("instructions", machine["values"].get("cpu.isa", MISSING)),
        ("guest", record["guest"]["name"]),
        ("job", _job(record["identity"]["settings"])),
        ("bracket", record["workload"]["bracket"]),
        ("feedback", record["feedback"]),
        ("versions", ", ".join(f"{name} {text}" for name, text in record["versions"].items())),
        ("started", record.get("started", "-")),
        ("wall time", f"{record['wall_seconds']} s" if "wall_seconds" in record else "-"),
        ("engine notes", "; ".join(_note(note) for note in record.get("notes", [])) or "none"),
        ("directory", str(stored.directory)),
    ]
    for name, value in rows:
        facts.add_row(name, markup(value), style="red" if value.startswith("failed") else "")
    console.print(facts)
    for role, sha256 in record["identity"]["digests"].items():
        console.print(markup(f"sha256 {sha256}  {role}"), style="dim", soft_wrap=True)
    if stored.status != "ok":
        for path in sorted((*stored.directory.glob("*.log"), *stored.directory.glob("*.out"))):
            console.print(markup(f"log: {path} ({path.stat().st_size} bytes)"), highlight=False)
        return
    (phases,) = comparison.measure([stored])
    cells = [Cell([measured]) for measured in phases]
    if record["workload"]["curve"]:
        curve(cells, console.width).print(console)
    for grid in metrics(cells, console.width):
        grid.print(console)


def _job(settings: dict[str, Any]) -> str:
    """What the guest was told; each engine has its own settings, and older runs had others."""
    for part in (settings.get("job"), settings.get("engine.conf")):
        if isinstance(part, dict) and "run.job" in part:
            return str(part["run.job"])
    return "-"


def _note(note: dict[str, Any]) -> str:
    return " ".join(str(value) for value in note.values())


def runs(console: Console, stored: Sequence[Stored]) -> None:
    """One line a run."""
    table = Table(box=box.SIMPLE_HEAD)
    for head in ("run", "experiment", "status", "what", "wall s", "reason"):
        table.add_column(head, overflow="fold")
    for item in stored:
        record = item.record
        table.add_row(
            item.id[:10],
            markup(record["experiment"]),
            record["status"],
            markup(record["label"]),
            str(record.get("wall_seconds", "-")),
            markup(record["reason"]),
        )
    console.print(table)


def going(console: Console, items: Sequence[Item], *, each: bool) -> None:
    """What gc found: a line a kind, or one for everything."""
    grid = Grid("", ["what", "size"] if each else ["what", "number", "size"])
    for why in dict.fromkeys(item.why for item in items):
        kind = [item for item in items if item.why == why]
        for item in kind if each else ():
            grid.add(f"{why}: {for_terminal(item.what)[:80]}", human(item.bytes))
        if not each:
            grid.add(why, str(len(kind)), human(sum(item.bytes for item in kind)))
    if items:
        grid.print(console)
