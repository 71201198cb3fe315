# SPDX-License-Identifier: MIT
"""Configurations call problem() before they use the extras. A gem5 without the extras does not
contain this module.
"""

# The releases of gem5 with which the extras are tested, the oldest first. The build refuses an
# older release, and warns of a newer one.
RELEASES = ("24.0.0.1",)


def problem() -> str | None:
    """Return the reason why this gem5 cannot use the extras, in one line. None if it can."""
    from _m5 import core  # here, because gem5's build reads RELEASES outside of gem5

    if not core.TRACING_ON:
        return "this gem5 is built without tracing (gem5.fast); the extras need gem5.opt"
    return None
