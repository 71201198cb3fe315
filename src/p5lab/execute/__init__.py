# SPDX-License-Identifier: MIT
"""The execution of runs: planned, identified, started here or on a cluster, and recorded."""
