# SPDX-License-Identifier: MIT
#: 120 show RUN            show one run: inputs, status, counts
"""`show`: stored runs: inputs, status, counts, and views of what a run recorded."""

import argparse
from collections.abc import Callable
from pathlib import Path

from p5lab.cli import options, side_by_side
from p5lab.describe import ideal
from p5lab.errors import UserError
from p5lab.evidence import calls
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import (
    breakdown,
    breakdown_table,
    by_call,
    by_function,
    by_interval,
    by_mode,
    by_source,
    counts,
    cpi_stack,
    exports,
    ideal_parts,
    runs,
    timeline,
)
from p5lab.present.tables import LATEX
from p5lab.terminal import for_terminal
from p5stats.dimensions import DIMENSIONS

HELP = "show stored runs: inputs, status, counts"
DESCRIPTION = (
    "Shows one run in full. For several runs, or for all runs of an experiment,"
    " shows the tables that `p5lab run` prints. Runs that differ in one or two machine keys are"
    " shown as a sweep."
)
EXAMPLES = (
    "show 3f2a91",
    "show 3f2a91 --crossings",
    "show smoke --metric cycles,cpi",
    "show smoke --by ring",
    "show 3f2a91 91bc04 --by function --where ring=0 --metric code_misses",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `show`."""
    parser.add_argument(
        "run",
        metavar="RUN",
        help="the first 4 or more characters of a run's id, or the name of an experiment",
    )
    parser.add_argument(
        "more", nargs="*", default=[], metavar="RUN", help="further runs or experiments"
    )
    options.add_only(parser)
    options.add_columns(parser)
    options.add_all_tables(parser)
    parser.add_argument(
        "--crossings",
        action="store_true",
        help="for a run with --trace crossings: show the programs and kernel parts that ran in a"
        " typical bracket of each phase, and how each part passed control to the next part",
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="for a run with --trace crossings: show each step of a typical bracket of each phase,"
        " with its misses",
    )
    parser.add_argument(
        "--calls",
        action="store_true",
        help="for a run with --calls: show the calls with the most cycles; with --all-tables, also"
        " what they waited, and their mode changes and ring crossings",
    )
    parser.add_argument(
        "--modes",
        action="store_true",
        help="for a run with --modes: show the cycles of each machine mode and ring, and the"
        " interrupts and exceptions by vector",
    )
    parser.add_argument(
        "--intervals",
        action="store_true",
        help="for a run with --interval: show cycles, instructions and misses of each interval, or"
        " with --cpi the largest parts of the CPI stack",
    )
    parser.add_argument(
        "--cpi",
        action="store_true",
        help="for runs with --cpi: show what the processor spends its clocks on",
    )
    parser.add_argument(
        ideal.OPTION,
        action="store_true",
        help=f"for runs with {ideal.OPTION}: show how many cycles each part of the machine costs",
    )
    _add_attribution(parser)
    options.add_format(parser, counts.FORMS)


def _add_attribution(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--attribution",
        action="store_true",
        help="for a run with --attribute: show the functions with the largest counts",
    )
    parser.add_argument(
        "--source",
        nargs="?",
        const="",
        metavar="FILE",
        help="with --attribution, for a run with --attribute lines: show the source of the program"
        " with the counts of --event beside it. Without FILE, the files of libraries are only"
        " listed",
    )
    parser.add_argument(
        "--evictions",
        action="store_true",
        help="for a run with --attribute misses and a direct-mapped L2: show pairs of functions. In"
        " each pair, lines of one function evicted lines of the other function from L2",
    )
    parser.add_argument(
        "--speedscope",
        type=Path,
        metavar="FILE",
        help="for a run with --attribute stacks: write the call stacks to a file for"
        " https://www.speedscope.app. The counts of --event are the weights of the stacks",
    )
    parser.add_argument(
        "--by",
        metavar="DIMENSION,...",
        help="divide the counts of one or several runs by these dimensions, such as ring,function,"
        f" call or component (all: {', '.join(DIMENSIONS)}). With --attribution, any of"
        f" {', '.join(by_function.BY)} (default: {COUNTED['by'][0]})",
    )
    options.add_breakdown(parser)
    parser.add_argument(
        "--event",
        metavar="NAME",
        help=f"event to show (default: {COUNTED['event'][0]})",
    )
    parser.add_argument(
        "--top",
        type=options.positive("--top"),
        metavar="N",
        help=f"number of rows (default: {COUNTED['top'][0]})",
    )


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `show`."""
    if args.by is not None and not any(_is_given(args, view) for view in VIEWS):
        return _divided(args, lab)
    options.check_no_breakdown(args)
    wanted = options.wanted(args)
    _check_counted(args)
    asked = next((name for name in VIEWS if _is_given(args, name)), "")
    if asked and args.form == LATEX:
        raise UserError(f"show --{asked}: expected --format {', '.join(counts.FORMATS)}")
    words = [args.run, *args.more]
    several = bool(args.more or args.only or selection.is_group(lab, args.run))
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
                raise UserError(f"show --{name}: expected one run")
        side_by_side.show(args, side_by_side.chosen(lab, words, args.only))
    else:
        view = next((VIEWS[name] for name in VIEWS if _is_given(args, name)), _whole)
        view(selection.find(lab, args.run), args)
    return 0


def _divided(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `show` with --by: the counts by dimension."""
    if args.event:
        args.metrics.append(args.event)
    question = options.question(args)
    words = [args.run, *args.more]
    chosen = [same[0] for same in selection.groups(lab, words, args.only)]
    if not any(selection.is_group(lab, word) for word in words):
        chosen = selection.as_versions(chosen)
    tables = breakdown.of_runs(chosen, question)
    breakdown_table.show(counts.stdout(), tables, args.form, args.top or breakdown_table.ROWS)
    return 0


def _with_stacks(lab: Lab, words: list[str], only: str) -> list[Stored]:
    """The runs with a CPI stack. Without any, the first run, which the message then names."""
    groups = selection.groups(lab, words, only)
    return [stack for same in groups if (stack := cpi_stack.first_in(same))] or [groups[0][0]]


def _check_counted(args: argparse.Namespace) -> None:
    """Gives the options of COUNTED their defaults. Raises UserError for such an option without a
    view that uses it."""
    for name, (default, views) in COUNTED.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif not any(_is_given(args, view) for view in views):
            known = " or ".join(f"--{view}" for view in views)
            raise UserError(f"show --{name}: expected one run with {known}")


def _is_given(args: argparse.Namespace, view: str) -> bool:
    return getattr(args, view) not in (None, False)


def _whole(stored: Stored, args: argparse.Namespace) -> None:
    runs.one(counts.stdout(), stored, args.form)


def _crossings(stored: Stored, args: argparse.Namespace) -> None:
    timeline.check(stored)
    print(for_terminal(calls.of_run(stored.directory), lines=True), end="")


def _timeline(stored: Stored, args: argparse.Namespace) -> None:
    timeline.show(counts.stdout(), stored, args.form)


def _speedscope(stored: Stored, args: argparse.Namespace) -> None:
    exports.write(args.speedscope, exports.speedscope(stored, args.event))


def _evictions(stored: Stored, args: argparse.Namespace) -> None:
    by_function.show_evictions(counts.stdout(), stored, args)


def _calls(stored: Stored, args: argparse.Namespace) -> None:
    by_call.show(counts.stdout(), stored, args.form, args.top, more=args.all_tables)


def _modes(stored: Stored, args: argparse.Namespace) -> None:
    by_mode.show(counts.stdout(), stored, args.form)


def _intervals(stored: Stored, args: argparse.Namespace) -> None:
    by_interval.show(counts.stdout(), stored, args.form, more=args.all_tables)


def _source(stored: Stored, args: argparse.Namespace) -> None:
    by_source.show(counts.stdout(), stored, args)


def _attribution(stored: Stored, args: argparse.Namespace) -> None:
    by_function.show(counts.stdout(), stored, args)


# The views of one run, by their options. If several are given, the first is shown.
VIEWS: dict[str, Callable[[Stored, argparse.Namespace], None]] = {
    "crossings": _crossings,
    "timeline": _timeline,
    "speedscope": _speedscope,
    "evictions": _evictions,
    "calls": _calls,
    "modes": _modes,
    "intervals": _intervals,
    "source": _source,
    "attribution": _attribution,
}
# Options about the counts by function: the default, and the views that use the option.
COUNTED = {
    "by": ("function,module", ("attribution",)),
    "event": (by_function.EVENT, ("attribution", "source", "speedscope")),
    "top": (by_function.ROWS, ("attribution", "evictions", "calls")),
}
