# SPDX-License-Identifier: MIT
#: 145 compare RUN RUN     put stored runs side by side, and why they differ
"""`compare`: put stored runs side by side, with the causes of their difference.

Prints the counts of stored runs of one operation in columns, with ratios to the first run, and
below them the three largest causes of each difference in busy cycles. The causes need runs with
--cpi. With --by, the columns are the counts by dimension. `explain` prints all causes, and `diff`
all inputs and events that differ.

examples:
  ./p5lab compare before after
  ./p5lab compare 3f2a91 91bc04 a20c77
  ./p5lab compare chen95-core --only dup
  ./p5lab compare before after --by function,component --top 10
"""

import argparse

from p5lab.cli import options, side_by_side
from p5lab.errors import UserError, few
from p5lab.keep import selection
from p5lab.lab import Lab
from p5lab.present import counts, cpi_stack, explanation
from p5lab.present.comparison import Comparison


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `compare`."""
    options.add(parser, "runs only columns by division per format all-tables", counts.FORMS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `compare`."""
    runs = selection.as_versions(side_by_side.chosen(lab, args.words, args.only))
    comparison = Comparison(runs)
    if len(comparison.systems) == 1:
        raise UserError(
            f"compare {' '.join(args.words)}: expected runs of two or more systems or versions;"
            f" found one, {comparison.systems[0].guest} on {comparison.systems[0].machine}"
        )
    if not any(
        len(comparison.cells(question)) - comparison.cells(question).count(None) > 1
        for question in comparison.questions
    ):
        operations = few(dict.fromkeys(map(comparison.label, comparison.questions)))
        raise UserError(
            f"compare {' '.join(args.words)}: no operation in common: {operations}; expected runs"
            " of one workload, or of programs"
        )
    if args.by:
        side_by_side.show_by(args, lab, list(dict.fromkeys(args.words)))
        return 0
    options.check_no_breakdown(args)
    side_by_side.show(args, runs)
    if args.form in explanation.IN_WORDS:
        explanation.show_causes(counts.stdout(), runs)
        if not all(map(cpi_stack.is_in, runs)):
            counts.stdout().print(
                "The causes of a difference need runs with --cpi.", style="dim", highlight=False
            )
    return 0
