# SPDX-License-Identifier: MIT
"""p5lab: describe a Pentium PC once, boot guests on it, compare what the hardware counted."""

__version__ = "0.2.0"
