# SPDX-License-Identifier: MIT
"""`show --modes`: the machine's modes."""

OPTION = """
--modes  cycles by machine mode, and interrupts: short for --by mode,ring and vector,mode,ring
"""
BY = ("mode,ring", "vector,mode,ring")
