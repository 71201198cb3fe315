# SPDX-License-Identifier: MIT
"""Checks that this gem5 has our SimObjects (configs/gem5/extras) and can use them."""


def why_not() -> str:
    """Return the reason why this gem5 cannot use the extras. Empty if it can use them."""
    try:
        import p5extras  # exists only in a gem5 that has the extras
    except ImportError:
        return "it was built without configs/gem5/extras"
    return p5extras.problem() or ""
