# SPDX-License-Identifier: MIT
"""How results are presented: tables, comparisons, differences, timelines and pages."""
