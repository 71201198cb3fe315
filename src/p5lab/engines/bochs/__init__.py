# SPDX-License-Identifier: MIT
"""The embedded engine: Bochs with our Pentium model (build/engine/p5bochs)."""
