# SPDX-License-Identifier: MIT
"""What chen95's lower bound says, beside the CPI stack.

chen95 multiplies the counted misses by 10 clocks, the least that a miss can cost, and calls the
product a lower bound of the time in misses (section 4.1). The CPI stack has the clocks that the
processor really waited. A further run without `fetch.ahead` has the clocks that it would wait for
code if nothing were fetched before it is needed.
"""

from collections.abc import Sequence
from dataclasses import replace

from p5lab.describe import experiment
from p5lab.describe.observation import Cpi
from p5lab.evidence.records import Record, short
from p5lab.keep import selection
from p5lab.keep.result import Execute, succeeded
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import cpi_stack
from p5lab.present.cpi_stack import Stack
from p5lab.present.tables import Grid, clocks
from p5stats import papers, tidy

EXPERIMENT = "chen95-core"
BOUND = 10  # clocks of one miss, chen95 section 4.1
CODE = ("cpi.code.l2", "cpi.code.dram", "cpi.code.fill")
AHEAD = "fetch.ahead"
DATA = ("cpi.data.l2", "cpi.data.dram", "cpi.data.fill")
HEADS = [
    "Benchmark",
    "System",
    "Cycles",
    "I-cache misses: bound, %",
    "counted, %",
    "nothing fetched ahead, %",
    "D-cache read misses: bound, %",
    "counted, %",
]


# A benchmark and its system, the busy cycles, and parts of them: for code the bound, the counted
# waits, and the waits of a machine that fetches nothing ahead; for data reads the bound and the
# counted waits.
Row = tuple[str, str, float, float, float, float, float, float]


def rows(runs: Sequence[Stored], without: Sequence[Stored]) -> list[Row]:
    """A row for the last phase of each run: the last point of a curve, or the only phase.
    `without`: the same runs without code that is fetched ahead. Raises UserError for a run without
    CPI stack."""
    return [
        _row(stored, cpi_stack.of_run(stored), cpi_stack.of_run(other)[-1])
        for stored, other in zip(runs, without, strict=True)
    ]


def _waits(stack: Stack, parts: Sequence[str]) -> float:
    return sum(map(stack.of, parts)) / stack.busy


def _row(stored: Stored, stacks: Sequence[Stack], without: Stack) -> Row:
    stack = stacks[-1]
    numbers = papers.measured(tidy.load(stored.directory))
    own = numbers[numbers["phase"] == stack.phase].set_index("metric")["value"]
    references = own["data reads"] + own["data writes"]
    read_misses = own["read misses/reference"] * references
    code, data = (
        (BOUND * float(misses) / stack.busy, _waits(stack, parts))
        for misses, parts in ((own["I-cache misses"], CODE), (read_misses, DATA))
    )
    name = selection.head(stored.record)
    where = f"{name}, {stack.phase}" if len(stacks) > 1 else name
    return where, stored.record["guest"]["name"], stack.busy, *code, _waits(without, CODE), *data


def grid(rows: Sequence[Row]) -> Grid:
    """The table of all rows."""
    result = Grid("", HEADS, left={1})
    for benchmark, guest, cycles, *shares in rows:
        result.add(benchmark, guest, clocks(cycles), *(f"{100 * value:.1f}" for value in shares))
    return result


def measured(lab: Lab, execute: Execute) -> Record:
    """The record: all rows. Raises UserError if a run fails."""
    asked = [
        replace(run, observation=run.observation.with_(Cpi()))
        for run in experiment.load(lab, EXPERIMENT)
    ]
    without = [replace(run, machine=run.machine.with_set({AHEAD: "false"}, AHEAD)) for run in asked]
    made = succeeded(execute([*asked, *without]))
    counted = rows(made[: len(asked)], made[len(asked) :])
    return [[benchmark, guest, *map(short, own)] for benchmark, guest, *own in counted]
