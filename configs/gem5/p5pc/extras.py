# SPDX-License-Identifier: MIT
"""Whether this gem5 has our SimObjects (configs/gem5/extras) and can use them."""


def why_not() -> str:
    """Why this gem5 cannot use the extras; empty if it can."""
    try:
        import p5extras  # built into a gem5 that has them
    except ImportError:
        return "it was built without configs/gem5/extras"
    return p5extras.problem() or ""
