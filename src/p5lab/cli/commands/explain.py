# SPDX-License-Identifier: MIT
#: 140 explain EXPERIMENT  show why one system needs more cycles than another
"""`explain`: show why one system needs more cycles than another.

Divides the difference in busy cycles between two systems by component of the CPI stack and by ring,
and prints the largest causes first. The runs need --cpi. With 5 or more placement seeds (run --seed
0-4), each difference has a range, and no cause is named if its range includes zero.

examples:
  ./p5lab explain chen95-core linux mach
  ./p5lab explain 3f2a91 91bc04 --single
  ./p5lab explain before after
  ./p5lab explain chen95-core linux linux-uml --only dup --format markdown
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from p5lab import packages
from p5lab.cli import arguments, options
from p5lab.lab import Lab
from p5lab.present import breakdown_table, counts, explanation, two_systems
from p5lab.present.explanation import Explanation
from p5lab.present.figure_size import FigureSize
from p5lab.present.two_systems import SEEDS
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `explain`."""
    arguments.add(
        parser,
        f"""
        words=WHAT...  two runs (the first characters of their ids, or labels; a label of several
            seeds is their mean), or an experiment and the names of two of its systems: a guest, a
            machine or a value such as l2.size=256K. Without the names, the experiment must have two
            systems
        --single  accept fewer than {SEEDS} seeds; with one seed the differences have no range
        --by DIMENSION,...  also divide by these dimensions, such as function, mode or crossing, the
            reason for entering the kernel (docs/concepts/dimensions.md). The runs need --cpi and
            the option that counts by the dimension. The empty bracket is then not subtracted
        """,
    )
    options.add(parser, "division")
    arguments.add(
        parser,
        """
        --export DIR  also write a figure of each difference as SVG, PDF, PNG and CSV into this
            directory, with a step for each cause
        """,
    )
    options.add(parser, "size only format", counts.FORMS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `explain`."""
    size = options.size(args, needs="export")
    options.check_no_breakdown(args)
    asked = options.question(args, args.by) if args.by else None
    top = args.top or (breakdown_table.ROWS if asked else None)
    explanations = two_systems.of(lab, args.words, asked, args.only, top, single=args.single)
    explanation.show(counts.stdout(), explanations, args.form, asked)
    if args.export is not None:
        _export(explanations, args.export, size)
    return 0


def _export(
    explanations: Sequence[Explanation], directory: Path, size: FigureSize | None = None
) -> None:
    # The figures need Python packages that may have to be installed first.
    packages.ensure("report")
    from p5lab.page import svg, waterfall_figure

    stacks = [stack for shown in explanations for stack in (*shown.first, *shown.second)]
    records = {stack.stored.id: stack.stored.record for stack in stacks}
    paths = svg.export(map(waterfall_figure.of, explanations), directory, records, size)
    Progress().say(f"Figures: {len(paths)} files in {directory}")
