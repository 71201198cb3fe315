# SPDX-License-Identifier: MIT
"""Guests: guest-images/NAME/guest.toml."""

from dataclasses import dataclass
from pathlib import Path

from p5lab import tomlfile
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

SCHEMA_VERSION = 1
STRUCTURES = ("monolithic", "server", "microkernel", "single address space")
PROTOCOLS = ("linux",)


@dataclass(frozen=True)
class Guest:
    """An operating system that can be booted, and what it is made of."""

    name: str
    title: str
    structure: str
    isa: str
    clock_vector: int  # interrupt vector of its clock tick
    protocol: str
    kernel: Path
    initramfs: Path
    cmdline: str
    cannot: dict[str, str]  # workload -> why it does not run here

    @property
    def files(self) -> dict[str, Path]:
        return {"kernel": self.kernel, "initramfs": self.initramfs}


def names(lab: Lab) -> list[str]:
    return sorted(path.parent.name for path in lab.guests.glob("*/guest.toml"))


def load(lab: Lab, name: str) -> Guest:
    if name not in names(lab):
        raise unknown("guest", name, names(lab))
    table = tomlfile.load(lab.guests / name / "guest.toml", schema_version=SCHEMA_VERSION)
    table.only(["name", "title", "structure", "isa", "clock_vector", "boot", "cannot"])
    boot = table.table("boot")
    boot.only(["protocol", "kernel", "initramfs", "cmdline"])
    cannot = table.table("cannot", {})
    guest = Guest(
        name=table.choice("name", (name,)),
        title=table.text("title"),
        structure=table.choice("structure", STRUCTURES),
        isa=table.choice("isa", ("pentium", "pentium+cmov")),
        clock_vector=table.number("clock_vector"),
        protocol=boot.choice("protocol", PROTOCOLS),
        kernel=lab.root / boot.text("kernel"),
        initramfs=lab.root / boot.text("initramfs"),
        cmdline=boot.text("cmdline"),
        cannot={workload: cannot.text(workload) for workload in cannot.data},
    )
    if not 0 <= guest.clock_vector <= 255:
        raise UserError(f"{table.where}: clock_vector: expected a vector, 0 to 255")
    if not guest.cmdline.isascii() or not guest.cmdline.isprintable():
        raise UserError(f"{boot.where}: cmdline: expected printable ASCII")
    return guest
