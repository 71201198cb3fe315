# SPDX-License-Identifier: MIT
"""A figure for ousterhout90's question: does the speed of benchmarks grow as fast as the speed of
hardware?"""

import re
from collections.abc import Sequence
from statistics import geometric_mean
from typing import Any

from p5lab.page.figure import BANDWIDTH, PUBLISHED, Figure, mark, of_marks
from p5lab.page.marks import Marks
from p5lab.present.comparison import CYCLES, TIME, Cell, Comparison, Question
from p5stats import papers
from p5stats.claims import Claim

RELATIVE, RELATIVE_ID = "MIPS-relative speed", "mips-relative"
MEAN = "geometric mean"
# This pattern matches the ids of claims about relative speeds in tables 2 to 10 of ousterhout90.
# There is one claim for each machine and system.
_RELATIVE_CLAIM = re.compile(r"ousterhout90-([a-z-]+)-relative (.*)")
_TABLES = {"read": "file-read"}  # part of a claim's id -> name of our workload
_REMOTE = (" NFS", " AFS", " Diskless", " Remote")
CAPTION = (
    "The figure shows the speed of each benchmark divided by the speed of the processor. The value"
    " of a Microvax II under Ultrix is 1. ousterhout90 rates its machines in MIPS relative to a"
    " VAX-11/780. This figure rates a Pentium by its clock: 112 MIPS at 66 MHz. This rating is an"
    " estimate, and it is equal for all systems of one machine. The published values are for the"
    " paper's machines with local disks. The geometric mean is over the benchmarks of this figure."
    " If a benchmark ran on several file systems, the mean includes this benchmark once, with its"
    " own geometric mean over the file systems. The data points of the paper's own figure are lost."
)


def of(compared: Comparison, published: Sequence[Claim]) -> list[Figure]:
    """Returns the paper's figure 1 for our systems, or [] if we have fewer than two of the paper's
    benchmarks.

    The figure contains the MIPS-relative speed of each benchmark (a Microvax II is 1), the
    geometric mean, and the published values of the paper's machines with local disks.
    """
    asked = [
        (base, question)
        for base in papers.MVAX2_BASES
        for question in compared.questions
        if question.phase == base.phase
        and compared.any_cell(question).record["workload"]["name"] == base.workload
    ]
    # If a benchmark ran on several file systems, the published values are beside the last file
    # system. In an experiment, the file systems without a disk come first. The file systems that
    # the paper's systems used come last.
    benchmarks = {base.workload: question.what for base, question in asked}
    if len(benchmarks) < 2:
        return []
    marks = [*_modelled(compared, asked), *_published(published, benchmarks)]
    order = [question.what for _, question in asked]
    marks.sort(
        key=lambda mark: (
            mark["benchmark"] == MEAN,
            order.index(mark["benchmark"]) if mark["benchmark"] in order else 0,
        )
    )
    return [of_marks(RELATIVE_ID, RELATIVE, "dots", marks, CAPTION)]


def _modelled(
    compared: Comparison, asked: Sequence[tuple[papers.Base, Question]]
) -> list[dict[str, Any]]:
    """The marks of the cells, and of the mean of each system."""
    marks, names = [], Marks(compared, ()).names
    speeds: dict[str, dict[str, list[float]]] = {}  # by series and workload
    for base, question in asked:
        for system in compared.systems:
            cell = compared.cell(question, system)
            if cell is not None and cell.has(TIME):
                by_workload = speeds.setdefault(names[system], {})
                by_workload.setdefault(base.workload, []).append(_speed(base, cell))
                marks.append(_mark(question.what, names[system], _speed(base, cell), cell.runs))
    runs = " ".join(dict.fromkeys(run for row in marks for run in row["runs"].split()))
    for series, own in speeds.items():
        marks.append(_mark(MEAN, series, geometric_mean(map(geometric_mean, own.values())), runs))
    return marks


def _mark(benchmark: str, series: str, value: float, runs: str) -> dict[str, Any]:
    return mark(
        benchmark=benchmark,
        series=series,
        metric=RELATIVE,
        unit="times",
        value=value,
        lowest_seed=value,
        highest_seed=value,
        runs=runs,
    )


def _published(published: Sequence[Claim], benchmarks: dict[str, str]) -> list[dict[str, Any]]:
    """Returns a mark for each value that the paper prints for these benchmarks, and a mark for the
    mean of each machine."""
    same = {"series": PUBLISHED, "metric": RELATIVE, "unit": "times", "kind": PUBLISHED}
    marks = []
    by_machine: dict[str, list[float]] = {}
    for claim in published:
        match = _RELATIVE_CLAIM.fullmatch(claim.id)
        workload = _TABLES.get(match[1], match[1]) if match else ""
        if match is None or workload not in benchmarks or match[2].endswith(_REMOTE):
            continue
        by_machine.setdefault(match[2].split()[0], []).append(claim.value)
        marks.append(
            mark(
                benchmark=benchmarks[workload],
                value=claim.value,
                claim=f"{claim.source}: {workload}",
                why=f"{match[2]}, {claim.tag}",
                **same,
            )
        )
    marks += [
        mark(
            benchmark=MEAN,
            value=geometric_mean(values),
            claim="ousterhout90 figure 1, computed from these tables",
            why=machine,
            **same,
        )
        for machine, values in by_machine.items()
    ]
    return marks


def _speed(base: papers.Base, cell: Cell) -> float:
    clock_hz = (cell.mean(CYCLES) + cell.mean("idle cycles")) / cell.mean(TIME) * 1e6
    value = cell.mean(BANDWIDTH if base.bandwidth else TIME)
    mips = papers.pentium_mips(clock_hz)
    return papers.mips_relative(value, mips, base.value, bandwidth=base.bandwidth)
