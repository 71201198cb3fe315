# SPDX-License-Identifier: MIT
"""The tables of several stored runs, for `show` and `compare`."""

import argparse
from collections.abc import Sequence

from p5lab.cli import options
from p5lab.keep import selection, swept_keys
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import counts, sweep_table


def chosen(lab: Lab, words: Sequence[str], only: str) -> list[Stored]:
    """Returns the runs that the words name, the newest of each kind. Runs of several programs of
    the user are versions of one program. Raises UserError if a word names no finished run."""
    runs = [same[0] for same in selection.groups(lab, words, only)]
    if not any(selection.is_group(lab, word) for word in words):
        runs = selection.as_versions(runs)
    keys = swept_keys.keys_of([stored.record for stored in runs])
    return swept_keys.in_order(runs, keys)


def show(args: argparse.Namespace, runs: Sequence[Stored]) -> None:
    """Prints a column for each system or version, with ratios to the first of them."""
    keys = swept_keys.keys_of([stored.record for stored in runs])
    sweep_table.show(counts.stdout(), runs, (), keys, options.wanted(args), args.form)
