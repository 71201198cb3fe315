# SPDX-License-Identifier: MIT
"""The figures of an experiment, in the forms of the papers: bars for each system (chen95's figures
1 to 12), curves over the size of an array or a numeric parameter (chen95's figure 4, lai96's 1 to
13, talagala97's A4), and all benchmarks on one logarithmic axis."""

import functools
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean
from typing import Any

import pandas as pd

from p5lab.describe import engine
from p5lab.describe.workload import EMPTY_PHASE
from p5lab.evidence.counter_method import EVENTS
from p5lab.host.terminal import for_terminal
from p5lab.present import by_function
from p5lab.present.comparison import CYCLES, TIME, Cell, Comparison, Question, System
from p5stats import StatsError, claims, compare, method, papers
from p5stats.claims import PLATEAU_END, PLATEAU_START, Claim

BANDWIDTH = "MB/s"
# chen95's figures: cycles, instructions, references, and misses for each reference or instruction.
BARS = (
    CYCLES,
    "instructions",
    "data reads",
    "data writes",
    "read misses/reference",
    "write misses/reference",
    "I-cache misses/instr",
    "ITLB misses",
    "DTLB misses",
)
MISSES = (
    "read misses/reference",
    "write misses/reference",
    "I-cache misses/instr",
    "ITLB misses",
    "DTLB misses",
    "L2 misses",
)
OVERVIEW = (TIME, CYCLES, "instructions", "data reads", "data writes")
RATES = (
    "CPI (busy)",
    "read misses/reference",
    "write misses/reference",
    "I-cache misses/instr",
    "kernel share",
)
CURVES = (BANDWIDTH, CYCLES, "read misses/reference", "L2 misses", "DTLB misses")
LEVELS = (CYCLES,)
TITLES = {
    CYCLES: "busy cycles",
    TIME: "time",
    BANDWIDTH: "bandwidth",
    "CPI (busy)": "busy cycles per instruction",
    "read misses/reference": "L1D read misses per data reference",
    "write misses/reference": "L1D write misses per data reference",
    "I-cache misses/instr": "I-cache misses per instruction",
    "kernel share": "share of busy cycles in ring 0",
}
UNITS = {metric.name: metric.unit for metric in compare.metrics(0)}
MODELLED, PUBLISHED = "modelled", "published"
COLUMNS = (
    "benchmark",
    "phase",
    "point",
    "series",
    "metric",
    "unit",
    "value",
    "lowest seed",
    "highest seed",
    "kind",
    "claim",
    "why",
    "runs",
)
NAMES = ("benchmark", "phase", "series", "claim")  # of COLUMNS
SIZE = "size of the array, bytes"
CYCLES_EVENT, TOP_FUNCTIONS = "cycles.busy", 20
SWEEP_POINTS = 3  # from so many values on a parameter makes a curve
WIDE_RANGE = 32  # of the values of a parameter: from there on the axis is logarithmic


@dataclass(frozen=True)
class Figure:
    """What is drawn, as data.

    form: bars (series down), dots (benchmarks down, series by colour) or curve (`point` across).
    frame: COLUMNS, a row for each mark; a value that is not there is NaN and has a word in `why`.
    Published values are rows of their own, `kind` PUBLISHED, `claim` their source and `why` how
    firmly they are printed: one for each phase for which they hold, or with a `point` and no value.
    axis: what `point` is; is_size: in bytes; log: drawn so.
    """

    id: str
    title: str
    form: str
    frame: pd.DataFrame
    caption: tuple[str, ...]
    axis: str = ""
    is_size: bool = False
    log: bool = False
    runs: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        return list(dict.fromkeys(self.frame["metric"]))

    @property
    def series(self) -> list[str]:
        modelled = self.frame[self.frame["kind"] == MODELLED]
        return list(dict.fromkeys(modelled["series"]))


def title_of(metric: str) -> str:
    return TITLES.get(metric, metric)


def of(
    found: Comparison, published: Sequence[Claim] = (), sources: dict[str, str] | None = None
) -> list[Figure]:
    """All figures of a comparison. published: claims whose values are marked where they are what a
    curve shows; sources: where a workload comes from, by its name."""
    return list(_Maker(found, published, sources or {}).figures())


@dataclass
class _Maker:
    found: Comparison
    published: Sequence[Claim]
    sources: dict[str, str]
    _ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        names = self.found.names()
        self.names = {system: name.replace("\n", ", ") for system, name in names.items()}

    def figures(self) -> Iterator[Figure]:
        plain = [question for question in self.found.questions if not self._curve(question)]
        if self.found.has_shadows:
            ends = [self.found.phases(what)[-1] for what in self._whats() if self._is_curve(what)]
            yield from (self._bars(question, MISSES) for question in [*plain, *ends])
            return
        sweeps = self._sweeps(plain)
        swept = {question for asked in sweeps.values() for question in asked}
        single = [question for question in plain if question not in swept]
        if len(single) > 1:
            yield self._overview(single)
        if len(self.found.systems) > 1:
            yield from (self._bars(question, BARS) for question in single)
        yield from (self._sweep(key, asked) for (_, key), asked in sweeps.items())
        yield from self._curves()

    # --- forms --------------------------------------------------------------------------------

    def _overview(self, questions: Sequence[Question]) -> Figure:
        metrics = OVERVIEW if len(self.found.systems) > 1 else (*OVERVIEW, *RATES)
        rows = [
            row
            for metric in self._shown(metrics, questions)
            for question in questions
            for row in self._drawn(question, metric, self._label(question))
        ]
        operations = "; ".join(
            f"{self._label(question)}: one {self._workload(question)['operation']}"
            for question in questions
        )
        return self._figure(
            "all-benchmarks",
            "All benchmarks",
            "dots",
            rows,
            [
                "One operation of each benchmark, on logarithmic axes where the values span more"
                " than"
                f" a factor of {WIDE_RANGE}. {operations}."
            ],
            questions,
        )

    def _bars(self, question: Question, metrics: Sequence[str]) -> Figure:
        workload = self._workload(question)
        rows = [
            row
            for metric in self._shown(metrics, [question])
            for row in self._systems(question, metric, self._label(question))
        ]
        title = f"{self._label(question)}: one {workload['operation']}"
        return self._figure(
            self._label(question),
            title,
            "bars",
            rows,
            [_bracket(self._record(question))],
            [question],
        )

    def _curves(self) -> Iterator[Figure]:
        """Of one system all variants of a workload in one figure; of several a figure for each
        variant, with the systems in it."""
        whats = [what for what in self._whats() if self._is_curve(what)]
        if len(self.found.systems) > 1:
            groups = [[what] for what in whats]
        else:
            names = dict.fromkeys(map(self._name, whats))
            groups = [[what for what in whats if self._name(what) == name] for name in names]
        for group in groups:
            questions = [question for what in group for question in self.found.phases(what)]
            points = {question.phase: _size(question.phase) for question in questions}
            if all(point is not None for point in points.values()):
                yield self._curve_figure(group, questions, points)
            else:
                yield from (self._levels(what) for what in group)

    def _curve_figure(
        self, group: Sequence[str], questions: Sequence[Question], points: dict[str, float | None]
    ) -> Figure:
        workload = self._workload(questions[0])
        variants = len(self.found.systems) == 1 and len(group) > 1
        rows = []
        for metric in self._shown(CURVES, questions):
            if metric == CYCLES and workload["bytes"]:
                continue  # the papers print a bandwidth in its place
            for question in questions:
                for row in self._drawn(question, metric, question.what):
                    if math.isnan(row["point"]):
                        row["point"] = points[question.phase]
                    if variants:
                        row["series"] = _variant(question.what, workload["name"])
                    rows.append(row)
        name = group[0] if len(group) == 1 else workload["name"]
        title = f"{name}: one {workload['operation']}"
        caption = [_bracket(self._record(questions[0]))]
        is_size = all(claims.is_bytes(phase) for phase in points)
        axis = SIZE if is_size else workload["curve"]
        return self._figure(name, title, "curve", rows, caption, questions, axis, log=True)

    def _levels(self, what: str) -> Figure:
        """Phases that are no sizes, such as the sequences of `pairing`."""
        questions = self.found.phases(what)
        workload = self._workload(questions[0])
        rows = [
            row | {"benchmark": question.phase}
            for metric in self._shown(LEVELS, questions)
            for question in questions
            for row in self._drawn(question, metric, what)
        ]
        return self._figure(
            what,
            f"{what}: one {workload['operation']}",
            "dots",
            rows,
            [_bracket(self._record(questions[0]))],
            questions,
        )

    def _sweeps(self, questions: Sequence[Question]) -> dict[tuple[str, str], list[Question]]:
        """Benchmarks that differ in one numeric parameter only, by workload and parameter, in the
        order of its values."""
        by_phase: dict[tuple[str, str], list[Question]] = {}
        for question in questions:
            by_phase.setdefault((self._name(question.what), question.phase), []).append(question)
        sweeps = {}
        for (name, phase), asked in by_phase.items():
            parameters = [self._record(question)["parameters"] for question in asked]
            keys = [
                key for key in parameters[0] if len({str(one.get(key)) for one in parameters}) > 1
            ]
            if len(asked) < SWEEP_POINTS or len(keys) != 1:
                continue
            values = [_numeric(one.get(keys[0])) for one in parameters]
            if None not in values:
                by_value = functools.partial(self._value, keys[0])
                sweeps[f"{name} {phase}", keys[0]] = sorted(asked, key=by_value)
        return sweeps

    def _sweep(self, key: str, questions: Sequence[Question]) -> Figure:
        workload = self._workload(questions[0])
        values = [self._value(key, question) for question in questions]
        rows = [
            row | {"point": value}
            for metric in self._shown(BARS, questions)
            for value, question in zip(values, questions, strict=True)
            for row in self._systems(question, metric, self._label(question))
        ]
        log = values[0] > 0 and values[-1] / values[0] >= WIDE_RANGE
        name = f"{workload['name']} by {key}"
        title, caption = (
            f"{name}: one {workload['operation']}",
            _bracket(self._record(questions[0])),
        )
        return self._figure(name, title, "curve", rows, [caption], questions, key, log)

    def _value(self, parameter: str, question: Question) -> float:
        return float(self._record(question)["parameters"][parameter])

    # --- what they are made of ------------------------------------------------------------------

    def _drawn(self, question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
        """A row for each system, and what is published."""
        yield from self._systems(question, metric, label)
        yield from self._published(question, metric, label)

    def _systems(self, question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
        """A row for each system."""
        for system in self.found.systems:
            cell = self.found.cell(question, system)
            row = self._row(question, metric, label, system)
            if cell is None or not cell.has(metric):
                why = "not counted" if cell else self.found.why_missing(question, system)
                yield row | {"why": why}
                continue
            low, high = cell.spread(metric)
            runs = " ".join(measured.stored.id for measured in cell.seeds)
            yield row | {
                "value": cell.mean(metric),
                "lowest seed": low,
                "highest seed": high,
                "runs": runs,
            }

    def _row(self, question: Question, metric: str, label: str, system: System) -> dict[str, Any]:
        nothing = dict.fromkeys(("point", "value", "lowest seed", "highest seed"), math.nan)
        return nothing | {
            "benchmark": label,
            "phase": question.phase,
            "series": self.names[system],
            "metric": metric,
            "unit": UNITS[metric],
            "kind": MODELLED,
            "claim": "",
            "why": "",
            "runs": "",
        }

    def _shown(self, metrics: Sequence[str], questions: Sequence[Question]) -> list[str]:
        """Those that two systems have, or the only one, and that are not zero throughout."""
        cells = {
            system: [cell for question in questions if (cell := self.found.cell(question, system))]
            for system in self.found.systems
        }
        needed = min(2, len(self.found.systems))

        def shown(metric: str) -> bool:
            having = [
                [cell.mean(metric) for cell in one if cell.has(metric)] for one in cells.values()
            ]
            counted = [values for values in having if values]
            return len(counted) >= needed and any(any(values) for values in counted)

        return [metric for metric in metrics if shown(metric)]

    def _published(self, question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
        """What claims say of this phase: a level, or that a plateau ends or begins at its size."""
        for system in self.found.systems:
            cell = self.found.cell(question, system)
            for claim in self.published if cell else ():
                assert cell is not None
                if not _is_of(claim, cell) or _metric(claim, cell) != metric:
                    continue
                row = self._row(question, metric, label, system) | {
                    "kind": PUBLISHED,
                    "claim": f"{claim.source}: {claim.quantity}",
                    "why": claim.tag,
                }
                assert claim.measure is not None
                phases = claim.measure.select.phases
                if claim.measure.statistic in (PLATEAU_END, PLATEAU_START):
                    if question.phase == claim.measure.at:
                        yield row | {"point": claims.size_of(f"{claim.value:g} {claim.unit}")}
                elif not phases or question.phase in phases:
                    yield row | {"value": claim.value}

    def _figure(
        self,
        name: str,
        title: str,
        form: str,
        rows: list[dict[str, Any]],
        caption: list[str],
        questions: Sequence[Question],
        axis: str = "",
        log: bool = False,
    ) -> Figure:
        frame = _frame(rows)
        runs = dict.fromkeys(run for text in frame["runs"] for run in text.split())
        cells = [cell for question in questions for cell in self.found.cells(question) if cell]
        caption += self._means(cells)
        places = dict.fromkeys(
            self.sources[name] for name in map(_workload_name, cells) if name in self.sources
        )
        if places:
            caption.append(f"After {'; '.join(places)}.")
        return Figure(
            self._id(name), title, form, frame, tuple(caption), axis, axis == SIZE, log, tuple(runs)
        )

    def _means(self, cells: Sequence[Cell]) -> list[str]:
        """Of what the values are means, and what was subtracted."""
        iterations = _range({cell.iterations for cell in cells})
        operations = _range({int(cell.record["workload"]["operations"]) for cell in cells})
        each = f" of {operations} operations each" if operations != "1" else ""
        corrected = {measured.corrected for cell in cells for measured in cell.seeds}
        subtracted = "the empty bracket, the markers' own set-up, is subtracted"
        if False in corrected:
            subtracted = (
                "the empty bracket is subtracted where there is one"
                if True in corrected
                else "there is no empty bracket, and nothing is subtracted"
            )
        plural = "" if iterations == "1" else "s"
        lines = [f"Means over {iterations} iteration{plural}{each}; {subtracted}."]
        if len(self.found.seeds) > 1:
            lines.append(
                f"Each is the mean over the page placements of {len(self.found.seeds)} seeds; the"
                " thin line goes from the lowest seed to the highest."
            )
        return lines

    def _id(self, name: str) -> str:
        """A name for links and files, not used before."""
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "figure"
        name, count = base, 1
        while name in self._ids:
            count += 1
            name = f"{base}-{count}"
        self._ids.add(name)
        return name

    def _whats(self) -> list[str]:
        return list(dict.fromkeys(question.what for question in self.found.questions))

    def _record(self, question: Question) -> dict[str, Any]:
        return self.found.any_cell(question).record

    def _workload(self, question: Question) -> dict[str, Any]:
        workload: dict[str, Any] = self._record(question)["workload"]
        return workload

    def _name(self, what: str) -> str:
        return str(self._workload(self.found.phases(what)[0])["name"])

    def _curve(self, question: Question) -> str:
        return str(self._workload(question)["curve"])

    def _is_curve(self, what: str) -> bool:
        return bool(self._curve(self.found.phases(what)[0]))

    def _label(self, question: Question) -> str:
        several = len(self.found.phases(question.what)) > 1
        if several and not self._curve(question):
            return f"{question.what}, {question.phase}"
        return question.what


def of_method(rows: Mapping[str, Sequence[method.Row]], runs: Sequence[str]) -> Figure:
    """What chen95's method gives for each operation, what the engine counted of the same
    executions, and what it counts where no counter is touched; a panel for each event. rows: by
    operation, as `p5lab.evidence.counter_method.rows` has them; runs: their ids."""
    ways = {
        "by the method": "method",
        "by the engine": "engine",
        "undisturbed": "undisturbed",
    }
    nothing = dict.fromkeys(("point", "lowest seed", "highest seed"), math.nan)
    marks = [
        nothing
        | {
            "benchmark": operation,
            "phase": "",
            "series": series,
            "metric": EVENTS[row.event],
            "unit": "cycles" if row.event == method.CYCLES else "events",
            "value": getattr(row, way),
            "kind": MODELLED,
            "claim": "",
            "why": "",
            "runs": " ".join(runs),
        }
        for number in range(len(EVENTS))
        for operation, of_events in rows.items()
        for row in of_events[number : number + 1]
        for series, way in ways.items()
    ]
    caption = (
        "One operation each. By the method: the mean counter reading less that around nothing, what"
        " the paper would print. By the engine: its brackets in the same executions. Undisturbed:"
        " its brackets where no counter is touched. The axis is logarithmic where the values span"
        f" more than a factor of {WIDE_RANGE}; then what is not above zero is in the table only.",
    )
    return Figure(
        "method",
        "The method of chen95, and what the engine counted",
        "dots",
        _frame(marks),
        caption,
        runs=tuple(runs),
    )


RELATIVE, RELATIVE_ID = "MIPS-relative speed", "mips-relative"
MEAN = "geometric mean"
# Claims of ousterhout90's tables 2 to 10 that are relative speeds, one for each machine and system.
_RELATIVE_CLAIM = re.compile(r"ousterhout90-([a-z-]+)-relative (.*)")
_TABLES = {"read": "file-read"}  # of their ids, what the workload is called here
_REMOTE = (" NFS", " AFS", " Diskless", " Remote")


def of_relative(found: Comparison, published: Sequence[Claim]) -> list[Figure]:
    """ousterhout90's question as its figure 1 asks it: the speed of each benchmark for the speed of
    the processor, a Microvax II being 1, and the geometric mean over them; beside what it prints of
    its machines with local disks. Nothing where fewer than two of its benchmarks are there."""
    names = {system: name.replace("\n", ", ") for system, name in found.names().items()}
    nothing = dict.fromkeys(("point", "value", "lowest seed", "highest seed"), math.nan)
    common = nothing | {"metric": RELATIVE, "unit": "times", "phase": "", "claim": "", "why": ""}
    marks: list[dict[str, Any]] = []
    asked = [
        (base, question)
        for base in papers.MVAX2_BASES
        for question in found.questions
        if question.phase == base.phase and _name_of(found, question) == base.workload
    ]
    speeds: dict[System, dict[str, list[float]]] = {}
    runs: dict[str, None] = {}
    for base, question in asked:
        for system in found.systems:
            cell = found.cell(question, system)
            if cell is None or not cell.has(TIME):
                continue
            value = _relative(base, cell)
            speeds.setdefault(system, {}).setdefault(base.workload, []).append(value)
            own = [measured.stored.id for measured in cell.seeds]
            runs |= dict.fromkeys(own)
            marks.append(
                common
                | {
                    "benchmark": question.what,
                    "series": names[system],
                    "value": value,
                    "lowest seed": value,
                    "highest seed": value,
                    "kind": MODELLED,
                    "runs": " ".join(own),
                }
            )
    # Beside the last of several file systems stands what is published: experiments go from those
    # without a disk to those of the paper's systems.
    benchmarks = {base.workload: question.what for base, question in asked}
    if len(benchmarks) < 2:
        return []
    for system, by_workload in speeds.items():
        value = geometric_mean([geometric_mean(values) for values in by_workload.values()])
        marks.append(
            common
            | {
                "benchmark": MEAN,
                "series": names[system],
                "value": value,
                "lowest seed": value,
                "highest seed": value,
                "kind": MODELLED,
                "runs": " ".join(runs),
            }
        )
    by_machine: dict[str, list[float]] = {}
    for claim in published:
        match = _RELATIVE_CLAIM.fullmatch(claim.id)
        workload = _TABLES.get(match[1], match[1]) if match else ""
        if match is None or workload not in benchmarks or match[2].endswith(_REMOTE):
            continue
        by_machine.setdefault(match[2].split()[0], []).append(claim.value)
        marks.append(
            common
            | {
                "benchmark": benchmarks[workload],
                "series": PUBLISHED,
                "value": claim.value,
                "kind": PUBLISHED,
                "claim": f"{claim.source}: {workload}",
                "why": f"{match[2]}, {claim.tag}",
                "runs": "",
            }
        )
    marks += [
        common
        | {
            "benchmark": MEAN,
            "series": PUBLISHED,
            "value": geometric_mean(values),
            "kind": PUBLISHED,
            "claim": "ousterhout90 figure 1, computed from these tables",
            "why": machine,
            "runs": "",
        }
        for machine, values in by_machine.items()
    ]
    caption = (
        "How fast each benchmark is for the speed of its processor; 1 is a Microvax II under"
        " Ultrix. ousterhout90 rates its machines in MIPS by a VAX-11/780. A Pentium is rated here"
        " by its clock, 112 MIPS at 66 MHz: an estimate, the same for all systems of one machine."
        " Published are its machines with local disks. The geometric mean is over the benchmarks"
        " shown; what ran on several file systems counts once, by their geometric mean. The points"
        " of the paper's own figure are lost.",
    )
    order = [question.what for _, question in asked]
    marks.sort(
        key=lambda mark: (
            mark["benchmark"] == MEAN,
            order.index(mark["benchmark"]) if mark["benchmark"] in order else 0,
        )
    )
    return [Figure(RELATIVE_ID, RELATIVE, "dots", _frame(marks), caption, runs=tuple(runs))]


def _name_of(found: Comparison, question: Question) -> str:
    return str(found.any_cell(question).record["workload"]["name"])


def _relative(base: papers.Base, cell: Cell) -> float:
    clock_hz = (cell.mean(CYCLES) + cell.mean("idle cycles")) / cell.mean(TIME) * 1e6
    value = cell.mean(BANDWIDTH if base.bandwidth else TIME)
    mips = papers.pentium_mips(clock_hz)
    return papers.mips_relative(value, mips, base.value, bandwidth=base.bandwidth)


def of_attribution(label: str, run: str, counts: pd.DataFrame) -> Figure:
    """The functions of a run that took the most cycles. counts:
    `p5lab.present.by_function.of_run`."""
    inside = counts[counts["phase"] != EMPTY_PHASE]
    top = by_function.top(inside, ("function", "module", "ring"), CYCLES_EVENT, TOP_FUNCTIONS)
    nothing = dict.fromkeys(("point", "lowest seed", "highest seed"), math.nan)
    marks = [
        nothing
        | {
            "benchmark": label,
            "phase": "",
            "series": _function(row),
            "metric": CYCLES,
            "unit": UNITS[CYCLES],
            "value": float(row["count"]),
            "kind": MODELLED,
            "claim": "",
            "why": "",
            "runs": run,
        }
        for row in top.to_dict("records")
    ]
    caption = (
        f"The {TOP_FUNCTIONS} functions of guest and programs that took the most cycles, with the"
        " module they are of and the ring they ran in. Sums over all brackets, nothing subtracted;"
        " all functions together have the cycles of the counters.",
    )
    name = re.sub(r"[^a-z0-9]+", "-", f"functions-{label}-{run[:10]}".lower())
    return Figure(name, f"{label}: by function", "bars", _frame(marks), caption, runs=(run,))


def _function(row: Mapping[Hashable, Any]) -> str:
    if not row["module"]:
        return str(row["function"])  # the last row, of all others
    return f"{row['function']} ({row['module']}, ring {row['ring']})"


def _frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows of COLUMNS. Names may come from a guest or from a user's file."""
    clean = [
        {key: for_terminal(value) if key in NAMES else value for key, value in row.items()}
        for row in rows
    ]
    return pd.DataFrame(clean, columns=list(COLUMNS))


def _workload_name(cell: Cell) -> str:
    return str(cell.record["workload"]["name"])


def _variant(what: str, name: str) -> str:
    return what.removeprefix(name).strip() or what


def _range(values: set[int]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def _bracket(record: dict[str, Any]) -> str:
    """What was bracketed, as a sentence; its description sets parameters in back quotes."""
    parameters = record["parameters"]
    text = re.sub(
        r"`(\w+)`",
        lambda name: str(parameters.get(name[1], name[1])),
        record["workload"]["bracket"],
    )
    return f"{text[:1].upper()}{text[1:]}."


def _size(phase: str) -> float | None:
    try:
        return claims.size_of(phase)
    except StatsError:
        return None


def _is_of(claim: Claim, cell: Cell) -> bool:
    """Whether a cell is of what a claim measures, on the machine as its file has it."""
    measure, record = claim.measure, cell.record
    if measure is None or measure.less or measure.over:
        return False
    texts = {name: str(value) for name, value in record["parameters"].items()}
    return (
        (record["engine"], record["machine"]["name"], record["machine"]["geometry"])
        == (engine.DEFAULT, claim.machine, "")
        and (record["guest"]["name"], record["workload"]["name"])
        == (measure.guest, measure.workload)
        and measure.select.parameters.items() <= texts.items()
    )


def _metric(claim: Claim, cell: Cell) -> str:
    """The metric that a claim's measure is, in the same unit; empty: none of those drawn."""
    measure, record = claim.measure, cell.record
    assert measure is not None
    workload, parameters = record["workload"], record["parameters"]
    if measure.per == (claims.MICROSECONDS,) and len(measure.count) == 1:
        moved = float(parameters.get(measure.count[0], 0)) * measure.times
        return BANDWIDTH if moved == workload["bytes"] * workload["operations"] else ""
    divisor = math.prod(float(parameters.get(name, 0)) for name in measure.per)
    if divisor == 0 or not math.isclose(measure.times / divisor, 1 / workload["operations"]):
        return ""
    metrics = {"cycles.busy": CYCLES, "instructions": "instructions"}
    return metrics.get(measure.count[0], "") if len(measure.count) == 1 else ""


def _numeric(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None
