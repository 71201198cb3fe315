# SPDX-License-Identifier: MIT
#: 027 annotate PROGRAM    show source and assembly with the clocks of each line
"""`annotate`: show source and assembly with the pipe and the clocks of each instruction.

Runs a program with counts by instruction, and prints its function with the most clocks: source
lines, instructions, pipe, clocks, why an instruction did not go into V, stalls and misses. --output
writes one page with all functions, which needs no network. Of two versions of a program, the page
has the equal lines side by side.

examples:
  ./p5lab annotate matrix.c
  ./p5lab annotate matrix.c --function multiply --format csv
  ./p5lab annotate before.c after.c --output changes.html
  ./p5lab annotate smoke --workload dup --kernel ksys_dup3 --output dup.html
"""

import argparse

from p5lab.api import programs
from p5lab.cli import arguments, failures, options, request
from p5lab.cli import media as media_options
from p5lab.describe import experiment
from p5lab.describe.run import Run
from p5lab.errors import STATUS_FAILED, writing
from p5lab.lab import Lab, shown
from p5lab.page import annotation
from p5lab.prepare import prepare
from p5lab.present import annotated, counts
from p5lab.progress import Progress

VERSIONS = 2


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `annotate`."""
    arguments.add(
        parser, "[WHAT...]  a program, two versions of a program, or an experiment with --kernel"
    )
    options.add_choice(parser)
    media_options.add_choice(parser)
    options.add(parser, "only")
    arguments.add(
        parser,
        """
        --function NAME  print this function (default: the hottest)
        --kernel NAME  annotate this function of the guest's kernel
        --output FILE  also write a page with all functions
        """,
    )
    options.add(parser, "jobs workers no-build format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `annotate`."""
    arguments.check_output(args.output)
    asked = _runs(args, lab)
    most = 1 if args.kernel else VERSIONS
    by_program, results = programs.by_instruction(
        asked, args.kernel, most, options.executor(args, lab)
    )
    if failures.report(results):
        return STATUS_FAILED
    for program in by_program:
        annotated.show(counts.stdout(), program, args.kernel or args.function, args.form)
    if args.output:
        with writing(args.output):
            args.output.write_text(annotation.page(by_program), encoding="utf-8")
        Progress().say(f"Page: {shown(args.output)}")
    return 0


def _runs(args: argparse.Namespace, lab: Lab) -> list[Run]:
    """The runs that the words ask for: programs, or an experiment."""
    args.experiment, args.program = None, list(args.program or [])
    if len(args.what) == 1 and args.what[0] in experiment.names(lab):
        (args.experiment,) = args.what
    else:
        args.program = [*args.what, *args.program]
    return prepare(lab, request.of(args, lab)).runs
