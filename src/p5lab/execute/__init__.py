# SPDX-License-Identifier: MIT
"""How runs are executed: planned, identified, started here or on a cluster, and recorded."""
