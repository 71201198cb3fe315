# SPDX-License-Identifier: MIT
#: 055 whatif PROGRAM      show what would make a program faster, with the gains
"""`whatif`: what would make a program or a benchmark faster."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from p5lab.cli import failures, options, request
from p5lab.cli import media as media_options
from p5lab.describe import experiment
from p5lab.describe.machine import Machine
from p5lab.describe.observation import Cpi, Shadows
from p5lab.describe.request import Request
from p5lab.describe.run import Run
from p5lab.describe.sweep import Axis
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.execute.runner import Result
from p5lab.keep import selection, store
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.present import counts, what_if

HELP = "show what would make a program faster: each ideal part and machine key with its gain"
DESCRIPTION = (
    "Makes one run of the machine as it is, with the CPI stack and the misses of other geometries."
    " Then it makes a run for each change that can gain something: parts that take no time, larger"
    " caches, TLBs and buffers, write allocation, faster DRAM. It prints the gains, the largest"
    " first."
)
EXAMPLES = (
    "whatif matrix.c",
    "whatif smoke --workload exec-static",
    "whatif chen95-core --workload dup --guest linux --format csv",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `whatif`."""
    parser.add_argument(
        "experiment", nargs="?", metavar="WHAT", help="a program, or the name of an experiment"
    )
    options.add_choice(parser)
    media_options.add_choice(parser)
    options.add_only(parser)
    options.add_jobs(parser)
    options.add_workers(parser)
    options.add_no_build(parser)
    options.add_format(parser)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `whatif`."""
    if args.experiment and not args.program and args.experiment not in experiment.names(lab):
        args.program, args.experiment = [args.experiment], None
    asked = request.of(args, lab)
    if asked.ideal:
        raise UserError("--ideal: expected without whatif, which tries all parts")
    runs = prepare(lab, asked).runs
    board = _machine(runs)
    changes = what_if.changes(board)
    watched = [_watched(one, changes) for one in runs]
    execute = options.executor(args, lab)
    plain, status = _made(execute(watched))
    if status or not plain:
        return STATUS_FAILED
    found = what_if.effects(plain, changes)
    tried = what_if.worth_trying(found)
    if tried:
        made, status = _made(execute(_variants(lab, asked, [dict(one.settings) for one in tried])))
        found = what_if.with_gains(found, plain, made)
    what_if.show(counts.stdout(), found, args.form)
    return status


def _machine(runs: Sequence[Run]) -> Machine:
    """The machine of all runs. Raises UserError if there are several, or if they have no clocks."""
    boards = {(one.machine.name, one.machine.geometry): one.machine for one in runs}
    if len(boards) > 1:
        names = ", ".join(" ".join(filter(None, name)) for name in boards)
        raise UserError(f"whatif: expected one machine (--machine), found {names}")
    if not all(one.has_clocks and one.has_feedback for one in runs):
        raise UserError("whatif: expected guests for a Pentium, with clocks and feedback")
    return runs[0].machine


def _watched(one: Run, changes: Sequence[what_if.Change]) -> Run:
    """The run with the CPI stack and with the misses of the changed geometries."""
    watch = one.observation
    for wish in (Cpi(), Shadows(what_if.shadows(changes))):
        watch = watch if watch.get(type(wish)) else watch.with_(wish)
    watch.check_together("whatif")
    return replace(one, observation=watch)


def _variants(lab: Lab, asked: Request, steps: Sequence[dict[str, str]]) -> list[Run]:
    axis = Axis("whatif", tuple(steps), optional=True)
    choice = replace(asked.choice, sweeps=(*asked.choice.sweeps, axis))
    return prepare(lab, replace(asked, choice=choice)).runs


def _made(results: Sequence[Result]) -> tuple[list[store.Stored], int]:
    """The stored runs, and the exit status."""
    stored = [
        selection.as_asked(store.Stored(result.directory, record), result.run)
        for result in results
        if result.status == "ok" and (record := store.read(result.directory)) is not None
    ]
    return stored, STATUS_FAILED if failures.report(list(results)) else 0
