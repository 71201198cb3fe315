# SPDX-License-Identifier: MIT
"""The tables of several stored runs, for `show` and `compare`."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress

from p5lab.cli import options
from p5lab.errors import UserError
from p5lab.keep import selection, swept_keys
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import breakdown, breakdown_table, comparison, counts, sweep_table


def named(
    lab: Lab,
    words: Sequence[str],
    only: str = "",
    question: breakdown.BreakdownQuestion | None = None,
) -> list[Stored]:
    """Returns the runs that the words name, the newest of each kind, or with a question those of
    breakdown.named. Runs of several programs of the user are versions of one program. Raises
    UserError if a word names no finished run."""
    say_repeated(words)
    if question:
        runs, left_out = breakdown.named(lab, words, question, only)
        if left_out:
            print(f"p5lab: {left_out}", file=sys.stderr)
        return runs
    runs = [same[0] for same in selection.groups(lab, words, only)]
    if any(selection.is_group(lab, word) for word in words):
        return runs
    return selection.as_versions(runs)


def say_repeated(words: Sequence[str]) -> None:
    """Prints which words of a command line name the same runs again."""
    if again := selection.repeated(words):
        print(f"p5lab: {again}", file=sys.stderr)


def chosen(lab: Lab, words: Sequence[str], only: str) -> list[Stored]:
    """Returns the runs of `named`, in the order of their swept keys. Says which of them have no
    column of their own."""
    runs = named(lab, words, only)
    for same in comparison.repeated(runs):
        ids = ", ".join(stored.id[:8] for stored in same)
        newest = max(same, key=lambda stored: stored.started).id[:8]
        print(f"p5lab: {ids}: one system and seed; the newest, {newest}, is shown", file=sys.stderr)
    return swept_keys.in_order(runs)


def show_by(
    args: argparse.Namespace, lab: Lab, words: Sequence[str], views: Sequence[str] = ()
) -> None:
    """Prints counts of the named runs by dimension. `views`: the dimensions of each table; without
    any, those of --by. Raises UserError if no run counted by the dimensions of the first table."""
    first, *more = [options.question(args, by) for by in views or [args.by]]
    runs = named(lab, words, args.only, first)
    tables = breakdown.of_runs(runs, first)
    for question in more:
        with suppress(UserError):  # for example, no interrupt was delivered
            tables += breakdown.of_runs(runs, question)
    breakdown_table.show(counts.stdout(), tables, args.form, args.top or breakdown_table.ROWS)


def show(args: argparse.Namespace, runs: Sequence[Stored]) -> None:
    """Prints a column for each system or version, with ratios to the first of them."""
    keys = swept_keys.keys_of([stored.record for stored in runs])
    sweep_table.show(counts.stdout(), runs, (), keys, options.wanted(args), args.form)
