# SPDX-License-Identifier: MIT
"""What is reported: tables, comparisons, differences, timelines and pages."""
