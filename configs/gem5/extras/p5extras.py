# SPDX-License-Identifier: MIT
"""Configurations call problem() before they use the extras. A gem5 without the extras does not
contain this module.
"""

RELEASES = ("24.0.0.1",)  # the releases of gem5 with which the extras are tested


def problem() -> str | None:
    """Return the reason why this gem5 cannot use the extras, in one line. None if it can."""
    from _m5 import core  # here, because gem5's build reads RELEASES outside of gem5

    if core.gem5Version not in RELEASES:
        return f"gem5 {core.gem5Version} has extras, but they are tested with {RELEASES[-1]} only"
    if not core.TRACING_ON:
        return "this gem5 is built without tracing (gem5.fast); the extras need gem5.opt"
    return None
