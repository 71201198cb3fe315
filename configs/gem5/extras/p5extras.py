# SPDX-License-Identifier: MIT
"""What a configuration asks before it uses the extras. A gem5 without them has no such module."""

RELEASES = ("24.0.0.1",)  # of gem5: those the tests ran on


def problem() -> str | None:
    """Why the extras cannot be used in this gem5, in one line; None: they can."""
    from _m5 import core  # only inside gem5; its build reads RELEASES from outside

    if core.gem5Version not in RELEASES:
        return f"gem5 {core.gem5Version} has extras, but they are tested with {RELEASES[-1]} only"
    if not core.TRACING_ON:
        return "this gem5 is built without tracing (gem5.fast); the extras need gem5.opt"
    return None
