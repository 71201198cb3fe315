# SPDX-License-Identifier: MIT
"""What is described: machines, guests, workloads, programs and experiments, from their TOML
files."""
