# SPDX-License-Identifier: MIT
"""Our SimObjects (configs/gem5/extras): whether this gem5 has them and can use them."""


def why_not() -> str:
    """Why they cannot be used; empty: they can."""
    try:
        import p5extras  # built into a gem5 that has them
    except ImportError:
        return "it was built without configs/gem5/extras"
    return p5extras.problem() or ""
