# SPDX-License-Identifier: MIT
"""./p5lab matrix: the benchmarks of the papers, and which guests run them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from p5lab.describe import experiment, papers
from p5lab.describe import guest as guests
from p5lab.describe import workload as workloads
from p5lab.lab import Lab
from p5lab.present import tables
from p5lab.present.tables import Grid

ALL, SOME, ABLE, NO = "all", "some", "can", "no"


@dataclass(frozen=True)
class MatrixCell:
    """A benchmark on a guest.

    `runs`: the number of runs of the benchmark that the papers' experiments define for this guest.
    `state`: "all" if no other guest has more runs in any experiment, "some" if another guest has
    more runs, "can" if the guest can run the benchmark but no experiment requests this, "no" if the
    guest cannot run the benchmark. `reason`: why the guest cannot run the benchmark.
    """

    benchmark: str
    source: str
    guest: str
    state: str
    reason: str
    runs: int
    experiments: tuple[str, ...]


def cells(lab: Lab) -> list[MatrixCell]:
    """A cell for each pair of a paper's benchmark and a guest, sorted by paper and benchmark. A
    guest that boots from the user's media runs no workload."""
    asked = _asked(lab)
    everything = (guests.load(lab, name) for name in guests.names(lab))
    systems = [guest for guest in everything if isinstance(guest, guests.ImageGuest)]
    result = []
    benchmarks = filter(_is_of_a_paper, workloads.load(lab).values())
    for benchmark in sorted(benchmarks, key=lambda work: (work.source.split()[0], work.name)):
        runs_of = asked.get(benchmark.name, {})
        most = sum(max(runs.values()) for runs in runs_of.values())
        for system in systems:
            own = {name: runs[system.name] for name, runs in runs_of.items() if runs[system.name]}
            number, why = sum(own.values()), system.why_never(benchmark)
            if why:
                state = NO
            elif not own:
                state = ABLE
            else:
                state = ALL if number == most else SOME
            source, names = benchmark.source, tuple(sorted(own))
            result.append(
                MatrixCell(benchmark.name, source, system.name, state, why, number, names)
            )
    return result


def _is_of_a_paper(workload: workloads.Workload) -> bool:
    return workload.source.split()[0] in papers.here()


def _asked(lab: Lab) -> dict[str, dict[str, Counter[str]]]:
    """The number of runs in the papers' experiments, by benchmark, experiment and guest.

    Runs that differ only in machine, overlay or seed are counted as one run.
    """
    counts: dict[str, dict[str, Counter[str]]] = {}
    for name in experiment.names(lab):
        if name.split("-")[0] not in papers.here():
            continue
        runs = experiment.load(lab, name)
        for benchmark, guest, _ in {
            (run.workload.name, run.guest.name, run.parameter_text) for run in runs
        }:
            counts.setdefault(benchmark, {}).setdefault(name, Counter())[guest] += 1
    return counts


def grid(cells: Sequence[MatrixCell]) -> tuple[Grid, list[str]]:
    """The table and the reasons. The table refers to a reason by its number in parentheses."""
    names = list(dict.fromkeys(cell.guest for cell in cells))
    table = Grid("", ["", *names, "source"])
    reasons: dict[str, int] = {}

    def shown(cell: MatrixCell) -> str:
        if cell.state == NO:
            return f"no ({reasons.setdefault(cell.reason, len(reasons) + 1)})"
        return str(cell.runs) if cell.state in (ALL, SOME) else ABLE

    for benchmark in dict.fromkeys(cell.benchmark for cell in cells):
        row = [cell for cell in cells if cell.benchmark == benchmark]
        table.add(benchmark, *map(shown, row), row[0].source)
    return table, [f"({number}) {reason}" for reason, number in reasons.items()]


LEGEND = (
    "Each number is the number of runs that the papers' experiments define for this guest. These"
    " runs differ in their parameters. Some experiments run only on the guests that they name, so"
    " other guests have fewer runs. For example, an experiment that needs a modelled disk names"
    f" only `linux`. `{ABLE}` means that the benchmark should run on this guest (no obstacle is"
    " known), but no experiment of a paper runs the benchmark on this guest."
)


def show(console: Console, cells: Sequence[MatrixCell], form: str) -> None:
    """Prints the matrix. `form`: "table", "csv", "json" or "markdown"."""
    if form == "json":
        console.file.write(tables.as_json(cells=[vars(cell) for cell in cells]))
    elif form == "markdown":
        console.file.write(block(cells))
    else:
        table, reasons = grid(cells)
        rows = [{**vars(cell), "experiments": " ".join(cell.experiments)} for cell in cells]
        tables.show(console, form, [table], (LEGEND.replace("`", ""), *reasons), rows)


def block(cells: Sequence[MatrixCell]) -> str:
    """The matrix with legend and reasons in Markdown."""
    table, reasons = grid(cells)
    listed = "\n".join(f"- {reason}" for reason in reasons)
    return "\n\n".join([table.markdown(), LEGEND, listed]) + "\n"
