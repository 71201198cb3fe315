# SPDX-License-Identifier: MIT
"""The user's own gem5 with gem5's own processor, TLBs and classic caches, also if it has P5CPU. Its
memory hierarchy is independent of the embedded engine."""

from p5lab.engines.gem5.engine import Classic

ENGINE = Classic
