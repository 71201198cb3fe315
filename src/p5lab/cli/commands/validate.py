# SPDX-License-Identifier: MIT
#: 060 validate            compare published hardware numbers with modelled numbers
"""`validate`: compare published numbers with modelled numbers.

Makes the runs that the claims of configs/claims.toml need. Each run uses the machine of its claim.
Prints the published number and the modelled number of each claim. A claim that does not hold is a
result, not a failure.

examples:
  ./p5lab validate
  ./p5lab validate --source lai96 --strict
  ./p5lab validate --all --format csv
"""

import argparse

from p5lab.cli import arguments, failures, options
from p5lab.errors import STATUS_FAILED
from p5lab.evidence import validate
from p5lab.lab import Lab
from p5lab.present import counts


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `validate`."""
    arguments.add(
        parser,
        """
        --source PAPER  only the claims of this paper
        --all  also show inputs from machine files, and claims that cannot be tested
        --strict  exit with status 1 if a claim does not hold
        """,
        source={},
    )
    options.add(parser, "jobs workers no-build format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `validate`."""
    asked = validate.select(lab, args.source)
    validated = validate.run(lab, asked, options.executor(args, lab))
    validate.show(counts.stdout(), validated.results, args.form, everything=args.all)
    if failures.report(validated.failed):
        return STATUS_FAILED
    return STATUS_FAILED if args.strict and validate.misses(validated.results) else 0
