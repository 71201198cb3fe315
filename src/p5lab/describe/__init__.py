# SPDX-License-Identifier: MIT
"""Descriptions of machines, guests, workloads, programs and experiments, read from their TOML
files."""
