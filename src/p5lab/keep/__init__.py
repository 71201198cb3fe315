# SPDX-License-Identifier: MIT
"""Keeps run directories and their index, and removes files that are no longer needed."""
