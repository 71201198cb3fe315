# SPDX-License-Identifier: MIT
"""`show --attribution`: the functions of a run."""

OPTION = """
--attribution  the functions with the largest counts: short for --by function,module
"""
BY = ("function,module",)
