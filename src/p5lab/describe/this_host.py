# SPDX-License-Identifier: MIT
"""This host as a machine and as a guest, for `--engine native`."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import keys
from p5lab.describe.guest import LINUX, ImageGuest
from p5lab.describe.machine import Machine

NAME = "host"  # of the guest
PROGRAMS = "native"
CLOCK_HZ = 1_000_000_000  # the clock of the host's events: nanoseconds
COUNTER_DEVICE = Path("/dev/p5ctr")
# Capabilities of every host, and capabilities of a host with the counter device
# (workloads/capabilities.toml).
HAS = ("ia32", "drop-caches", "proc", "network", "shared-libraries")
OF_THE_DEVICE = ("event-counters", "contiguous-memory")
LACKS = {
    "gates": "the markers of this workload exist only in the simulated machine",
    "video-memory": "only a simulated machine has the video card that the workload uses",
    "scsi-disks": "only a simulated machine has the modelled disks",
    "network-card": "only a simulated machine has the remote host",
}


@dataclass(frozen=True)
class Host(Machine):
    """This host as a machine. The operating system reports the values. These values cannot be
    set."""

    @property
    def clock_hz(self) -> int:
        """The frequency in Hz of the clock that counts time in the host's events. One tick is a
        nanosecond."""
        return CLOCK_HZ

    def canonical(self, *targets: keys.Target) -> dict[str, str]:
        """All values as texts. `targets` has no effect."""
        return {name: str(value) for name, value in self.values.items()}


def machine() -> Host:
    """This host as a machine: processor, number of processors, ISA and operating system."""
    return Host(
        platform.node() or "unnamed",
        {
            "cpu.model": _cpu_model(),
            "cpu.count": os.cpu_count() or 1,
            "cpu.isa": platform.machine(),
            "system": f"{platform.system()} {platform.release()}",
        },
    )


def guest() -> ImageGuest:
    """This host as a guest. The guest has no kernel to boot. `has` lists the capabilities that this
    host offers to workloads."""
    return ImageGuest(
        name=NAME,
        title="this host",
        structure="monolithic",
        isa="pentium",
        clock_vector=0,
        protocol=LINUX,
        programs=PROGRAMS,
        kernel=Path(),
        has=frozenset((*HAS, *(OF_THE_DEVICE if COUNTER_DEVICE.exists() else ()))),
        lacks=LACKS
        | dict.fromkeys(OF_THE_DEVICE, f"needs {COUNTER_DEVICE}, the counter device of a Pentium"),
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")
