# SPDX-License-Identifier: MIT
"""A Pentium PC of 1994-96 for gem5, split as gem5's standard library splits a computer.

What needs no gem5 (what a machine file comes to, what a run is given, checkpoints' keys) is in
src/p5lab/engines/gem5, where `./p5lab run --engine gem5` uses it too.
"""
