# SPDX-License-Identifier: MIT
"""The processors of this host, and how much of them a group of processes has used."""

import os
import sys
from pathlib import Path


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def cpu_seconds(group: int) -> float:
    """The processor seconds that the live processes of a process group have used, with those of
    their children that have ended. 0 where the kernel shows no processes (proc(5))."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        if int(fields[2]) == group:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
