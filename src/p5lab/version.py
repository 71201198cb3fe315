# SPDX-License-Identifier: MIT
"""The version of p5lab. pyproject.toml reads it."""

__version__ = "0.2.0"
