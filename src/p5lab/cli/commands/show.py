# SPDX-License-Identifier: MIT
#: 120 show RUN            show one run: inputs, status, counts
"""`show`: show stored runs: inputs, status, counts.

Shows one run in full. For several runs, or for all runs of an experiment, shows the tables that
`p5lab run` prints. Runs that differ in one or two machine keys are shown as a sweep.

examples:
  ./p5lab show 3f2a91
  ./p5lab show 3f2a91 --crossings
  ./p5lab show smoke --metric cycles,cpi
  ./p5lab show smoke --by ring
  ./p5lab show 3f2a91 91bc04 --by function --where ring=0 --metric code_misses
"""

import argparse
from collections.abc import Callable, Sequence

from p5lab.cli import arguments, options, side_by_side
from p5lab.describe import ideal
from p5lab.errors import UserError
from p5lab.evidence import calls
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import (
    breakdown,
    by_interval,
    by_source,
    counts,
    cpi_stack,
    exports,
    ideal_parts,
    misses,
    runs,
    timeline,
)
from p5lab.present.tables import LATEX
from p5stats.dimensions import PER_CALL


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `show`."""
    arguments.add(
        parser,
        """
        RUN  the first 4 or more characters of a run's id, or the name of an experiment
        [more=RUN...]  further runs or experiments
        """,
    )
    options.add(parser, "only columns all-tables")
    arguments.add(
        parser,
        """
        --crossings  for a run with --trace crossings: show the programs and kernel parts that ran
            in a typical bracket of each phase, and how each part passed control to the next part
        --timeline  for a run with --trace crossings: show each step of a typical bracket of each
            phase, with its misses
        --misses  for a run with --trace misses: show each miss of a typical bracket of each phase,
            who had loaded the line or page, and who took it away
        """,
    )
    for name, (views, what) in SHORT.items():
        arguments.add(parser, f"--{name}  {what}: short for --by {' and '.join(views)}")
    arguments.add(
        parser,
        f"""
        --intervals  for a run with --interval: show cycles, instructions and misses of each
            interval, or with --cpi the largest parts of the CPI stack
        --cpi  for runs with --cpi: show what the processor spends its clocks on
        {ideal.OPTION}  for runs with {ideal.OPTION}: show how many cycles each part of the machine
            costs
        --source FILE  for a run with --attribute lines: show the source of the program with the
            counts of --event beside it. Without FILE, the files of libraries are only listed
        --speedscope FILE  for a run with --attribute stacks: write the call stacks to a file for
            https://www.speedscope.app. The counts of --event are the weights of the stacks
        """,
        source={"nargs": "?", "const": ""},
    )
    options.add(parser, "by division per")
    event = f"event to show (default of --source and --speedscope: {exports.EVENT})"
    arguments.add(parser, f"--event NAME  {event}", event={})
    options.add(parser, "format", counts.FORMS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `show`."""
    short = next((name for name in SHORT if getattr(args, name)), "")
    asked = next((name for name in VIEWS if _is_given(args, name)), "")
    if not asked and (args.by or short):
        return _divided(args, lab, [args.by] if args.by else SHORT[short][0])
    options.check_no_breakdown(args)
    wanted = options.wanted(args)
    _check_event(args, asked)
    if asked and args.form == LATEX:
        raise UserError(f"show --{asked}: expected --format {', '.join(counts.FORMATS)}")
    words = [args.run, *args.more]
    several = bool(args.more or args.only or selection.has_several(lab, args.run))
    if args.cpi:
        stored = _with_stacks(lab, words, args.only) if several else [selection.find(lab, args.run)]
        if not any(selection.is_group(lab, word) for word in words):
            stored = selection.as_versions(stored)
        cpi_stack.show(counts.stdout(), stored, args.form)
    elif args.ideal:
        groups = selection.groups(lab, words, args.only)
        ideal_parts.show(counts.stdout(), [same[0] for same in groups], args.form)
    elif several or wanted.columns:
        for name in VIEWS:
            if _is_given(args, name):
                found = selection.listed_runs(side_by_side.named(lab, words, args.only))
                raise UserError(f"show --{name}: expected one run; found {found}")
        side_by_side.show(args, side_by_side.chosen(lab, words, args.only))
    else:
        view = next((VIEWS[name] for name in VIEWS if _is_given(args, name)), _whole)
        view(selection.find(lab, args.run), args)
    return 0


def _divided(args: argparse.Namespace, lab: Lab, views: Sequence[str]) -> int:
    """Executes `show` with --by: the counts by the dimensions of each view."""
    if args.event:
        args.metrics = [*args.metrics, args.event]
    if args.calls and args.all_tables and not args.metrics:
        args.metrics = ["cycles", "calls", breakdown.NO_RETURN, *PER_CALL]
    side_by_side.show_by(args, lab, [args.run, *args.more], views)
    return 0


def _with_stacks(lab: Lab, words: list[str], only: str) -> list[Stored]:
    """The runs with a CPI stack. Without any, the first run, which the message then names."""
    groups = selection.groups(lab, words, only)
    return [stack for same in groups if (stack := cpi_stack.first_in(same))] or [groups[0][0]]


def _check_event(args: argparse.Namespace, asked: str) -> None:
    """Sets the event of a view that shows one. Raises UserError for --event without a view
    that uses it."""
    if args.by:
        raise UserError(f"show --by: expected without --{asked}")
    uses = ("source", "speedscope")
    if args.event and asked not in uses:
        raise UserError(f"show --event: expected with --by, --{' or --'.join(uses)}")
    args.event = args.event or exports.EVENT


def _is_given(args: argparse.Namespace, view: str) -> bool:
    return getattr(args, view) not in (None, False)


def _whole(stored: Stored, args: argparse.Namespace) -> None:
    runs.one(counts.stdout(), stored, args.form)


def _crossings(stored: Stored, args: argparse.Namespace) -> None:
    for grid in calls.of_run(stored):
        grid.print(counts.stdout())


def _timeline(stored: Stored, args: argparse.Namespace) -> None:
    timeline.show(counts.stdout(), stored, args.form)


def _misses(stored: Stored, args: argparse.Namespace) -> None:
    misses.show(counts.stdout(), stored, args.form, more=args.all_tables)


def _speedscope(stored: Stored, args: argparse.Namespace) -> None:
    exports.write(args.speedscope, exports.speedscope(stored, args.event))


def _intervals(stored: Stored, args: argparse.Namespace) -> None:
    by_interval.show(counts.stdout(), stored, args.form, more=args.all_tables)


def _source(stored: Stored, args: argparse.Namespace) -> None:
    by_source.show(counts.stdout(), stored, args)


# The views of one run, by their options. If several are given, the first is shown.
VIEWS: dict[str, Callable[[Stored, argparse.Namespace], None]] = {
    "crossings": _crossings,
    "timeline": _timeline,
    "misses": _misses,
    "speedscope": _speedscope,
    "intervals": _intervals,
    "source": _source,
}
# Short names for --by: the dimensions of each table, and what they show.
SHORT = {
    "calls": (
        ("call",),
        "the calls with the most cycles, and with --all-tables their other counts",
    ),
    "modes": (("mode,ring", "vector,mode,ring"), "cycles by machine mode, and interrupts"),
    "attribution": (("function,module",), "the functions with the largest counts"),
    "evictions": (
        ("cache,loser,winner",),
        "who took lines and pages of caches and TLBs away from whom",
    ),
}
