# SPDX-License-Identifier: MIT
"""Plans, identifies, executes and records runs, on this machine or on a cluster."""
