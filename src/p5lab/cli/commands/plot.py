# SPDX-License-Identifier: MIT
#: 052 plot RUN...         draw a number or the CPI stack of stored runs, for a paper
"""`plot`: draw a number or the CPI stack of stored runs as PDF, SVG or PNG, for a paper.

Draws one figure of stored runs: a curve if a machine key or a size was swept, and otherwise bars.
`p5lab.plot` draws the same in Python. The figure has no title, because a paper has a caption.

examples:
  ./p5lab plot chen95-core --ratio --output server.pdf --width 3.3in
  ./p5lab plot before after --cpi --output join.pdf --width 84mm --font-size 8
  ./p5lab plot smoke --metric l2_misses --x l2.size --output l2.svg
  ./p5lab plot before after --by function --top 10 --output functions.pdf
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from p5lab import packages
from p5lab.cli import arguments, options, side_by_side
from p5lab.describe.keys import BY_NAME
from p5lab.describe.sweep import PARAMETERS
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab, shown
from p5lab.present import breakdown_table, column
from p5lab.present.breakdown import ORDERED
from p5lab.present.breakdown_table import KINDS_OF_VALUE

if TYPE_CHECKING:
    import pandas as pd

FILES = (".pdf", ".svg", ".png")
METRIC = "busy cycles"
KEEP_ONE = "; keep one of them"  # the end of an error of p5stats.papers.against


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `plot`."""
    options.add(parser, "runs")
    output = f"--output FILE  file to write: {', '.join(FILES)}"
    arguments.add(parser, output, output={"type": Path, "required": True})
    what = parser.add_mutually_exclusive_group()
    arguments.add(
        what,
        f"""
        --metric NAME,...  the number to draw (default: {METRIC}); several numbers only with --ratio
        --cpi  for runs with --cpi: draw what the processor spends its clocks on
        """,
    )
    arguments.add(
        parser,
        """
        --ratio  draw ratios to the first guest, or to the first value of a swept key, machine,
            label or program
        --kind  with --by: draw values (the default), or their ratio or difference to the first
            system
        --workload*  only this workload
        --guest*  only this guest
        --x KEY  the machine key of the horizontal axis
        --title  a title above the figure (default: none)
        """,
        kind={"choices": KINDS_OF_VALUE, "default": KINDS_OF_VALUE[0]},
        x={},
        title={},
    )
    options.add(parser, "by division per size")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `plot`."""
    if args.output.suffix not in FILES:
        raise UserError(f"--output {args.output}: expected a name with {', '.join(FILES)}")
    arguments.check_output(args.output)
    options.size(args)  # a wrong size is found before packages are installed
    if args.ratio and args.cpi:
        raise UserError("--ratio: expected without --cpi")
    options.check_no_breakdown(args)
    if args.kind != KINDS_OF_VALUE[0] and not args.by:
        raise UserError("plot --kind: expected with --by DIMENSION,...")
    table, metrics = _by_dimension(args, lab) if args.by else _numbers(args)
    from p5lab.api import figures

    chart = figures.plot(
        table,
        metrics,
        x=args.x,
        title=args.title,
        width=args.width,
        font_size=args.font_size,
        kind=args.kind,
    )
    chart.save(args.output)
    print(f"Figure: {shown(args.output)}")
    return 0


def _numbers(args: argparse.Namespace) -> tuple["pd.DataFrame", list[str]]:
    """The numbers or the CPI stacks of runs, and the names of what is drawn."""
    metrics = column.names(args.metric) or [METRIC]
    if len(metrics) > 1 and not (args.ratio or args.cpi):
        raise UserError(
            f"plot --metric {args.metric}: several numbers have several units; expected --ratio, or"
            " one number"
        )
    packages.ensure("report")
    from p5lab.api import tables

    side_by_side.say_repeated(args.words)
    words = args.words if len(args.words) > 1 else args.words[0]
    table = tables.load(words)
    if args.x and args.x.startswith(PARAMETERS):  # a column only on request
        table = tables.load(words, keys=[args.x, *(name for name in table if name in BY_NAME)])
    for name in ("workload", "guest"):
        table = _only(table, name, getattr(args, name))
    if args.cpi:
        table = tables.stack(table)
    elif args.ratio:
        table = _ratios(tables.measure(table, *metrics))
    return table, metrics


def _ratios(numbers: "pd.DataFrame") -> "pd.DataFrame":
    from p5lab.api import tables

    try:
        return tables.compare(numbers)
    except UserError as error:
        reason = str(error).removeprefix("compare: ")
        remedy = ""
        if reason.endswith(KEEP_ONE):
            reason = reason.removesuffix(KEEP_ONE)
            remedy = "; name the ids or labels of the runs to draw in the place of the experiment"
        raise UserError(f"plot --ratio: {reason}{remedy}") from None


def _by_dimension(args: argparse.Namespace, lab: Lab) -> tuple["pd.DataFrame", list[str]]:
    """The counts of runs by dimension, with a colour for each system, and the name of the event."""
    for name in ("cpi", "ratio", "x", "workload", "guest"):
        if getattr(args, name):
            raise UserError(f"plot --by: expected without --{name}")
    args.metrics = [args.metric] if args.metric else []
    question = options.question(args, args.by)
    if len(question.metrics) > 1:
        raise UserError(f"plot --by --metric {args.metric}: expected one number")
    packages.ensure("report")
    from p5lab.api import tables

    runs = side_by_side.named(lab, args.words, question=question)
    top = args.top or (None if question.by[0] in ORDERED else breakdown_table.ROWS)
    table = tables.divided(runs, question, top)
    return table, [table["metric"].iloc[0]]


def _only(table: "pd.DataFrame", column: str, names: list[str]) -> "pd.DataFrame":
    """The rows with one of these names; all rows without names."""
    for name in names:
        if name not in set(table[column]):
            raise unknown(column, name, set(table[column]), where="plot")
    return table[table[column].isin(names)] if names else table
