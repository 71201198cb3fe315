# SPDX-License-Identifier: MIT
"""A Pentium PC of 1994-96 for gem5, in the same parts as the computers of gem5's standard library.

The parts that need no gem5 (parameters from a machine file, the setup of a run, keys of
checkpoints) are in src/p5lab/engines/gem5. `./p5lab run --engine gem5` also uses them.
"""
