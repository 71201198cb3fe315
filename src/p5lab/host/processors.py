# SPDX-License-Identifier: MIT
"""The processors of this host."""

import os
import sys


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
