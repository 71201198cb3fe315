# SPDX-License-Identifier: MIT
"""The user's own gem5 with gem5's own processor, TLBs and classic caches, also if it has P5CPU. Its
memory hierarchy is independent of the embedded engine."""

from dataclasses import replace

from p5lab.engines.gem5.engine import Gem5
from p5lab.lab import Lab


class Classic(Gem5):
    """gem5's own processor and caches."""

    can = replace(Gem5.can, cached={})  # gem5 names the checkpoints of all three

    def instead(self, lab: Lab) -> str:
        """This engine itself."""
        return ""


ENGINE = Classic
