# SPDX-License-Identifier: MIT
"""This host itself in the place of a machine and a guest: what `--engine native` runs on."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import keys
from p5lab.describe.guest import Guest
from p5lab.describe.machine import Machine
from p5lab.describe.workload import Workload

NAME = "host"  # of the guest; and the directory of build/workloads is `native`
PROGRAMS = "native"
CLOCK_HZ = 1_000_000_000  # the clock of its events: nanoseconds
COUNTER_DEVICE = Path("/dev/p5ctr")


@dataclass(frozen=True)
class Host(Machine):
    """A machine of which only what the operating system tells is known; nothing can be set."""

    @property
    def clock_hz(self) -> int:
        return CLOCK_HZ

    def canonical(self, *targets: keys.Target) -> dict[str, str]:
        return {name: str(value) for name, value in self.values.items()}


def machine() -> Host:
    return Host(
        platform.node() or "unnamed",
        {
            "cpu.model": _cpu_model(),
            "cpu.count": os.cpu_count() or 1,
            "cpu.isa": platform.machine(),
            "system": f"{platform.system()} {platform.release()}",
        },
    )


def guest() -> Guest:
    nothing = Path()
    return Guest(
        NAME,
        "this host",
        "monolithic",
        "pentium",
        0,
        PROGRAMS,
        "linux",
        nothing,
        nothing,
        None,
        "",
        {},
    )


def why_not(workload: Workload, parameters: dict[str, int | str]) -> str:
    """Why a workload cannot run on the host; empty: it can."""
    if workload.title.startswith("test: "):
        return "it is a test of the simulated machine"
    if workload.name == "int-iret":
        return "its markers are the simulated machine's"
    needs_device = (
        workload.name == "null"
        or parameters.get("placement") == "contiguous"
        or parameters.get("counters") == "used"
    )
    if needs_device and not COUNTER_DEVICE.exists():
        return f"needs {COUNTER_DEVICE}, the counter device of a Pentium"
    return ""


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")
