# SPDX-License-Identifier: MIT
"""`show --attribution`: the functions of a run."""

OPTION = """
--attribution  the functions with the largest counts: short for --by function,module
"""
BY = ("function,module",)
WITH_BY = True  # the older form is --attribution --by DIMENSION,...
