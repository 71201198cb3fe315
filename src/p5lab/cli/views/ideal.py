# SPDX-License-Identifier: MIT
"""`show --ideal`: the costs of parts of the machine."""

import argparse
from collections.abc import Sequence

from p5lab.describe import ideal
from p5lab.keep import selection
from p5lab.lab import Lab
from p5lab.present import counts, ideal_parts

OPTION = (
    f"{ideal.OPTION}  for runs with {ideal.OPTION}: show how many cycles each part of the machine"
    " costs"
)


def show_all(lab: Lab, words: Sequence[str], args: argparse.Namespace) -> None:
    """Prints a row for each part."""
    groups = selection.groups(lab, words, args.only)
    ideal_parts.show(counts.stdout(), [same[0] for same in groups], args.form)
