# SPDX-License-Identifier: MIT
"""Checks that this gem5 has our SimObjects (configs/gem5/extras) and can use them."""

import m5.objects

OBJECTS = ("NoWriteAllocateTags", "OwnerCache", "P5TLB", "P5Tracer")


def why_not() -> str:
    """Return the reason why this gem5 cannot use the extras. Empty if it can use them."""
    try:
        import p5extras  # exists only in a gem5 that has the extras
    except ImportError:
        return "it was built without configs/gem5/extras"
    missing = [name for name in OBJECTS if not hasattr(m5.objects, name)]
    if missing:
        return (
            f"it was built with older files of configs/gem5/extras, without {', '.join(missing)}:"
            " build it again"
        )
    return p5extras.problem() or ""
