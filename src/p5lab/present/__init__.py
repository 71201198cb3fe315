# SPDX-License-Identifier: MIT
"""Presents results as tables, comparisons, differences, timelines and pages."""
