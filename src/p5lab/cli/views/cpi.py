# SPDX-License-Identifier: MIT
"""`show --cpi`: the CPI stacks of runs."""

import argparse
from collections.abc import Sequence

from p5lab.keep import selection
from p5lab.lab import Lab
from p5lab.present import counts, cpi_stack

OPTION = "--cpi  for runs with --cpi: show what the processor spends its clocks on"


def show_all(lab: Lab, words: Sequence[str], args: argparse.Namespace) -> None:
    """Prints a column for each run with a stack. Without any, a message names the first run."""
    groups = selection.groups(lab, words, args.only)
    runs = [stack for same in groups if (stack := cpi_stack.first_in(same))] or [groups[0][0]]
    if not any(selection.is_group(lab, word) for word in words):
        runs = selection.as_versions(runs)
    cpi_stack.show(counts.stdout(), runs, args.form)
