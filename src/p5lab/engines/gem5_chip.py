# SPDX-License-Identifier: MIT
"""The user's own gem5 with P5CPU (configs/gem5/extras), which contains the chip of engine/p5. Both
simulators then model the same processor, caches, TLBs and memory."""

from collections.abc import Sequence
from dataclasses import replace

from p5lab.describe.guest import X86_64
from p5lab.describe.observation import Cpi, NominalClocks
from p5lab.describe.run import Run
from p5lab.engines.gem5 import versions
from p5lab.engines.gem5.engine import VARIABLE, Classic, binary, has_chip
from p5lab.errors import UserError
from p5lab.lab import Lab


class Chip(Classic):
    """A gem5 binary whose processor is P5CPU."""

    # Without nominal clocks, no access takes time, so `--feedback off` changes nothing.
    can = replace(
        Classic.can, without_clocks=(X86_64,), rings=True, observations=(NominalClocks, Cpi)
    )

    def examine(self, lab: Lab, runs: Sequence[Run]) -> list[str]:
        """Raises UserError for a gem5 without P5CPU, and as the base class."""
        remarks = super().examine(lab, runs)
        if not has_chip(binary(lab)):
            raise UserError(
                f"{VARIABLE}={binary(lab).path}: expected a gem5 with P5CPU: build gem5 with"
                " EXTRAS=configs/gem5/extras, or use --engine gem5_classic"
            )
        return remarks

    def cpu(self, run: Run) -> str:
        """P5CPU."""
        return versions.CHIP


ENGINE = Chip
