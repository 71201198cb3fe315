# SPDX-License-Identifier: MIT
"""32-bit programs on one chip in both engines: in a guest with a kernel, and on P5CPU without one
(docs/reference/gem5-pentium.md)."""

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from p5lab.describe import experiment
from p5lab.describe.experiment import Filter
from p5lab.describe.markers import EMPTY_PHASE
from p5lab.describe.run import Run
from p5lab.engines.gem5.engine import binary, configurations
from p5lab.errors import UserError
from p5lab.evidence.records import Record, short
from p5lab.keep.result import Execute, succeeded
from p5lab.lab import Lab
from p5lab.present.tables import Grid
from p5stats import events, gem5_events
from p5stats.events import Events

NAME, GUEST, BOARD, FILE = "gem5-programs", "linux", "p90-premiere2", "events.jsonl"
# A board, an experiment, its workloads, and the parameters that the experiment does not give.
PROGRAMS: tuple[tuple[str, str, tuple[str, ...], dict[str, int | str]], ...] = (
    (BOARD, "timed-instructions", (), {}),
    (BOARD, "validation", ("pairing", "branch", "tlb"), {}),
    (BOARD, "timed-loops", (), {}),
    ("p100-endeavour", "timed-ciphers", (), {}),
    (BOARD, "brown97-memory", ("hbench-bandwidth",), {"placement": "guest", "words": 100000}),
)
USER, CLOCKS = 3, "cycles.busy"
NEAR = 0.001
PARTS = (
    "brackets",
    "equal clocks",
    "all events equal",
    "clocks within 0.1 %",
    "largest difference",
)


def measured(lab: Lab, execute: Execute) -> Record:
    """The record: for each program, PARTS of its brackets, in ring 3; the last is a share of the
    clocks. Raises UserError if a run fails."""
    runs = [
        replace(run, parameters={**run.parameters, **more}, given=(*run.given, *more))
        for board, name, workloads, more in PROGRAMS
        for run in experiment.load(lab, name, Filter((board,), (GUEST,), workloads))
    ]
    made = succeeded(execute(runs))
    return [
        [run.label, *compared(events.parse(stored.directory / FILE), _on_gem5(lab, run))]
        for run, stored in zip(runs, made, strict=True)
    ]


def _on_gem5(lab: Lab, run: Run) -> Events:
    """The counts of the run's program on P5CPU."""
    program = str(lab.program(GUEST, run.workload.name))
    with tempfile.TemporaryDirectory() as place:
        script = [str(binary(lab).path), "-d", place, f"{configurations(lab)}/program.py", "--warn"]
        given = ["--machine", run.machine.name, program, *run.parameter_text.split()]
        done = subprocess.run(
            [*script, *given], capture_output=True, stdin=subprocess.DEVNULL, text=True
        )
        if done.returncode:
            raise UserError(f"{run.label}, gem5: {done.stderr.strip()[-200:]}", status=1)
        gem5_events.convert(Path(place), Path(place) / FILE)
        return events.parse(Path(place) / FILE)


def compared(in_guest: Events, on_gem5: Events) -> tuple[float, ...]:
    """PARTS of the brackets of two runs of one program."""
    shares, equal = [], 0
    for first, second in zip(in_guest.brackets, on_gem5.brackets, strict=True):
        if first.phase == EMPTY_PHASE:
            continue
        here, there = (
            run.between(bracket.begin, bracket.end, USER)
            for run, bracket in ((in_guest, first), (on_gem5, second))
        )
        equal += all(here[name] == there[name] for name in here.keys() & there.keys())
        shares.append(abs(there[CLOCKS] / here[CLOCKS] - 1))
    near = sum(share <= NEAR for share in shares)
    return len(shares), shares.count(0), equal, near, short(max(shares))


def grid(record: Record) -> Grid:
    """The table: a row for each program."""
    table = Grid("", ["Program, guest and machine", *PARTS])
    for name, *counts, share in record:
        table.add(name, *map(str, counts), f"{100 * share:.3g} %" if share else "0")
    return table
