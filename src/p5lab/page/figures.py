# SPDX-License-Identifier: MIT
"""The figures of an experiment, in the forms that the papers use:

- bars for each system, as in chen95's figures 1 to 12
- curves over the size of an array or over a numeric parameter, as in chen95's figure 4, lai96's
  figures 1 to 13 and talagala97's figure A4
- all benchmarks on one logarithmic axis

The figures with ratios come first, because they contain the message of a comparison. The bars of
the single benchmarks come last.
"""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from p5lab.keep import swept_keys
from p5lab.keep.store import Stored
from p5lab.page import figure, overview_figure, sweep_figure
from p5lab.page.figure import WIDE_RANGE, Figure
from p5lab.page.marks import Marks
from p5lab.page.sweep_figure import SweepAxis
from p5lab.present.column import Column, of_metric
from p5lab.present.comparison import CYCLES, Cell, Comparison, Question
from p5stats import claims
from p5stats.claims import Claim
from p5stats.metrics import View, shown_in

SIZE = "size of the array, bytes"
SWEEP_POINTS = 3  # a parameter gets a curve if it has at least this number of values


def of(
    compared: Comparison,
    published: Sequence[Claim] = (),
    sources: dict[str, str] | None = None,
    columns: Sequence[Column] = (),
    stacked: Sequence[Stored] = (),
) -> list[Figure]:
    """Returns all figures of a comparison.

    `published`: claims. The published value of each claim is a mark in the figures of the same
    metric.
    `sources`: the origin of each workload, by the name of the workload.
    `columns`: the panels in the figures of a sweep over a machine key; empty for the default
    panels.
    `stacked`: the runs with a CPI stack.
    """
    return list(_Maker(compared, published, sources or {}, columns, stacked).figures())


@dataclass
class _Maker:
    compared: Comparison
    published: Sequence[Claim]
    sources: dict[str, str]
    columns: Sequence[Column] = ()
    stacked: Sequence[Stored] = ()
    _ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.marks = Marks(self.compared, self.published)

    def figures(self) -> Iterator[Figure]:
        plain = [question for question in self.compared.questions if not self._curve(question)]
        if self.compared.has_shadows:
            ends = [
                self.compared.phases(what)[-1] for what in self._whats() if self._is_curve(what)
            ]
            yield from (
                self._bars(question, shown_in(View.MISS_BARS)) for question in [*plain, *ends]
            )
            return
        sweeps = self._sweeps(plain)
        taken = {question for asked in sweeps.values() for question in asked}
        single = [question for question in plain if question not in taken]
        axis = sweep_figure.axis(self.compared)
        unswept = [
            question
            for question in single
            if axis and not sweep_figure.is_swept(self.compared, question)
        ]
        if axis:
            yield self._effect(axis)
        elif len(self.compared.systems) > 1:
            yield from overview_figure.of(self.compared, self.stacked)
        if len(single) > 1 and axis is None:
            yield self._overview(single)
        if unswept:
            yield self._unswept(unswept)
        yield from (self._sweep(key, asked) for (_, key), asked in sweeps.items())
        yield from self._curves()
        for question in single if len(self.compared.systems) > 1 else ():
            if axis is None:
                yield self._bars(question, shown_in(View.BARS))
            elif question not in unswept:
                yield self._by_key(axis, question)

    # --- forms --------------------------------------------------------------------------------

    def _effect(self, axis: SweepAxis) -> Figure:
        """Returns a figure of a sweep with a curve for each benchmark, relative to the first point
        of the sweep."""
        labels = {
            question: self.compared.label(question)
            for question in self.compared.last_points
            if sweep_figure.is_swept(self.compared, question)
        }
        rows = [
            row
            for column in self.columns or [of_metric(self.compared.cost)]
            for row in sweep_figure.relative(self.compared, axis, labels, column)
        ]
        title = f"Effect of {axis.key} on all benchmarks"
        said = [f"The values are for one operation, and relative to the lowest {axis.key}."]
        made = self._figure(title, title, "curve", rows, said, [*labels], axis.title, axis.log)
        return replace(made, is_size=axis.is_size)

    def _by_key(self, axis: SweepAxis, question: Question) -> Figure:
        """Returns a figure of a sweep for one benchmark, with a panel for each metric."""
        shown = self.marks.shown(shown_in(View.KEY_PANELS), [question])
        label, columns = self._label(question), self.columns or [*map(of_metric, shown)]
        rows = list(sweep_figure.panels(self.compared, axis, question, label, columns))
        by = f"{label} by {axis.key}"
        made = self._benchmark(by, "curve", rows, [question], axis.title, axis.log, name="")
        return replace(made, is_size=axis.is_size)

    def _overview(self, questions: Sequence[Question]) -> Figure:
        views = (View.OVERVIEW,) if len(self.compared.systems) > 1 else (View.OVERVIEW, View.RATES)
        metrics = [name for view in views for name in shown_in(view)]
        operations = "; ".join(
            f"{self._label(question)}: one {self.compared.operation(question)}"
            for question in questions
        )
        return self._figure(
            "all-benchmarks",
            "All benchmarks",
            "dots",
            self._rows(metrics, questions),
            [
                "The values are for one operation of each benchmark. An axis is logarithmic if its"
                f" values span more than a factor of {WIDE_RANGE}. Operations: {operations}."
            ],
            questions,
        )

    def _unswept(self, questions: Sequence[Question]) -> Figure:
        """Returns a figure of the benchmarks that no sweep of the page ran. Each of them has the
        values of one system."""
        made, title = self._overview(questions), "Benchmarks without a sweep"
        frame = made.frame[made.frame["value"].notna()]
        return replace(made, id=self._id(title), title=title, frame=frame)

    def _bars(self, question: Question, metrics: Iterable[str]) -> Figure:
        rows = self._rows(metrics, [question], self.marks.systems)
        return self._benchmark(self._label(question), "bars", rows, [question])

    def _rows(
        self,
        metrics: Iterable[str],
        questions: Sequence[Question],
        draw: Callable[[Question, str, str], Iterable[dict[str, Any]]] | None = None,
    ) -> list[dict[str, Any]]:
        """The marks of all metrics that get a panel. `draw`: makes the marks of one question; by
        default Marks.drawn."""
        return [
            row
            for metric in self.marks.shown(metrics, questions)
            for question in questions
            for row in (draw or self.marks.drawn)(question, metric, self._label(question))
        ]

    def _benchmark(
        self,
        what: str,
        form: str,
        rows: list[dict[str, Any]],
        questions: Sequence[Question],
        axis: str = "",
        log: bool = False,
        name: str | None = None,
    ) -> Figure:
        """A figure of one benchmark, `what`. `name`: as in `_figure`; empty for the title."""
        title = f"Benchmark {what}: one {self.compared.operation(questions[0])}"
        link, caption = (
            what if name is None else name or title,
            [_bracket(self._record(questions[0]))],
        )
        return self._figure(link, title, form, rows, caption, questions, axis, log)

    def _curves(self) -> Iterator[Figure]:
        """Yields the figures of curves.

        With one system, a figure shows all variants of a workload. With several systems, each
        variant has its own figure with all systems.
        """
        whats = [what for what in self._whats() if self._is_curve(what)]
        if len(self.compared.systems) > 1:
            groups = [[what] for what in whats]
        else:
            names = dict.fromkeys(map(self._name, whats))
            groups = [[what for what in whats if self._name(what) == name] for name in names]
        for group in groups:
            questions = [question for what in group for question in self.compared.phases(what)]
            if all(claims.is_size(question.phase) for question in questions):
                points = {asked.phase: claims.size_of(asked.phase) for asked in questions}
                yield self._curve_figure(group, questions, points)
            else:
                yield from (self._levels(what) for what in group)

    def _curve_figure(
        self, group: Sequence[str], questions: Sequence[Question], points: dict[str, float]
    ) -> Figure:
        workload = self._workload(questions[0])
        variants = len(self.compared.systems) == 1 and len(group) > 1
        metrics = shown_in(View.CURVE_PANELS)
        # The papers print a bandwidth instead of cycles.
        drawn = [metric for metric in metrics if metric != CYCLES or not workload["bytes"]]
        rows = self._rows(drawn, questions)
        for row in rows:
            if math.isnan(row["point"]):
                row["point"] = points[row["phase"]]
            if variants:
                what = row["benchmark"]
                row["series"] = what.removeprefix(workload["name"]).strip() or what
        name = group[0] if len(group) == 1 else workload["name"]
        is_size = all(claims.is_bytes(phase) for phase in points)
        axis = SIZE if is_size else workload["curve"]
        return self._benchmark(name, "curve", rows, questions, axis, log=True)

    def _levels(self, what: str) -> Figure:
        """Returns a figure of phases with names that are not sizes, such as the instruction
        sequences of `pairing`."""
        questions = self.compared.phases(what)
        rows = self._rows(shown_in(View.LEVELS), questions)
        named = [row | {"benchmark": row["phase"]} for row in rows]
        return self._benchmark(what, "dots", named, questions)

    def _sweeps(self, questions: Sequence[Question]) -> dict[tuple[str, str], list[Question]]:
        """Returns the groups of benchmarks that differ only in one numeric parameter.

        A key consists of workload and parameter. The benchmarks of a group are in the order of the
        parameter's values.
        """
        by_phase: dict[tuple[str, str], list[Question]] = {}
        for question in questions:
            by_phase.setdefault((self._name(question.what), question.phase), []).append(question)
        sweeps = {}
        for (name, phase), asked in by_phase.items():
            parameters = [self._record(question)["parameters"] for question in asked]
            keys = [
                key
                for key in parameters[0]
                if len({str(given.get(key)) for given in parameters}) > 1
            ]
            if len(asked) < SWEEP_POINTS or len(keys) != 1:
                continue
            values = [swept_keys.number(str(given.get(keys[0]))) for given in parameters]
            if None not in values:
                by_value = functools.partial(self._value, keys[0])
                sweeps[f"{name} {phase}", keys[0]] = sorted(asked, key=by_value)
        return sweeps

    def _sweep(self, key: str, questions: Sequence[Question]) -> Figure:
        def drawn(question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
            for row in self.marks.systems(question, metric, label):
                yield row | {"point": self._value(key, question)}

        first, last = (self._value(key, questions[at]) for at in (0, -1))
        log = first > 0 and last / first >= WIDE_RANGE
        rows = self._rows(shown_in(View.BARS), questions, drawn)
        name = f"{self._workload(questions[0])['name']} by {key}"
        return self._benchmark(name, "curve", rows, questions, key, log)

    def _value(self, parameter: str, question: Question) -> float:
        return float(self._record(question)["parameters"][parameter])

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
        cells = [cell for question in questions for cell in self.compared.cells(question) if cell]
        caption += self._means(cells)
        workloads = [cell.record["workload"]["name"] for cell in cells]
        places = dict.fromkeys(self.sources[name] for name in workloads if name in self.sources)
        if places:
            caption.append(f"Origin of the workload: {'; '.join(places)}.")
        named, is_size = self._id(name), axis == SIZE
        return figure.of_marks(
            named, title, form, rows, *caption, axis=axis, is_size=is_size, log=log
        )

    def _means(self, cells: Sequence[Cell]) -> list[str]:
        """Returns sentences for a caption about the number of iterations and about the subtraction
        of the empty bracket."""
        iterations = {cell.iterations for cell in cells}
        operations = {int(cell.record["workload"]["operations"]) for cell in cells}
        corrected = {measured.corrected for cell in cells for measured in cell.seeds}
        subtracted = "The empty bracket (the cost of the markers) is subtracted"
        if False in corrected:
            subtracted = (
                "The empty bracket is subtracted in the runs that have an empty bracket"
                if True in corrected
                else "There is no empty bracket, so nothing is subtracted"
            )
        lines = [f"{means_over(iterations, operations)} {subtracted}."]
        if len(self.compared.seeds) > 1:
            lines.append(
                f"Each value is the mean over the page placements of {len(self.compared.seeds)}"
                " seeds. A thin line goes from the lowest value to the highest value of the seeds."
            )
        return lines

    def _id(self, name: str) -> str:
        """Returns a unique name for links and files."""
        base = figure.identifier(name)[:60] or "figure"
        name, count = base, 1
        while name in self._ids:
            count += 1
            name = f"{base}-{count}"
        self._ids.add(name)
        return name

    def _whats(self) -> list[str]:
        return list(dict.fromkeys(question.what for question in self.compared.questions))

    def _record(self, question: Question) -> dict[str, Any]:
        return self.compared.any_cell(question).record

    def _workload(self, question: Question) -> dict[str, Any]:
        workload: dict[str, Any] = self._record(question)["workload"]
        return workload

    def _name(self, what: str) -> str:
        return str(self._workload(self.compared.phases(what)[0])["name"])

    def _curve(self, question: Question) -> str:
        return str(self._workload(question)["curve"])

    def _is_curve(self, what: str) -> bool:
        return bool(self._curve(self.compared.phases(what)[0]))

    def _label(self, question: Question) -> str:
        return question.what if self._curve(question) else self.compared.label(question)


def means_over(iterations: set[int], operations: set[int]) -> str:
    """Returns a text about the measurements behind each value of a figure. `iterations`: the
    numbers of iterations of the runs. `operations`: the numbers of operations in an iteration."""
    each = f" of {_range(operations)} operations each" if operations != {1} else ""
    if iterations != {1} and len(iterations) == 1:
        return f"Each value is the mean over {_range(iterations)} iterations{each}."
    if iterations != {1}:
        return (
            "Each value is the mean over the iterations of its run. The runs have"
            f" {_range(iterations)} iterations{each}."
        )
    if operations != {1}:
        return f"Each value is the mean over {_range(operations)} operations in one iteration."
    return "Each value is one measurement of one operation."


def _range(values: set[int]) -> str:
    low, high = min(values), max(values)
    if low == high:
        return f"{low:,}"
    return f"{low:,} {'or' if len(values) == 2 else 'to'} {high:,}"


def _bracket(record: dict[str, Any]) -> str:
    """Returns the description of a bracket as a sentence. If the description contains the name of a
    parameter in back quotes, the parameter's value replaces the name."""
    parameters = record["parameters"]
    text = re.sub(
        r"`(\w+)`",
        lambda name: str(parameters.get(name[1], name[1])),
        record["workload"]["bracket"],
    )
    return f"{text[:1].upper()}{text[1:]}."
