# SPDX-License-Identifier: MIT
"""The configuration of Bochs: the template engine/bochs/bochsrc.in, with values in place of the
names between @."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import media
from p5lab.describe.boot import Boot
from p5lab.describe.disk_image import Geometry
from p5lab.describe.guest import X86_64
from p5lab.describe.machine import Machine
from p5lab.errors import UserError
from p5lab.lab import Lab, shown

# The largest numbers of heads and sectors that a BIOS could address when the Pentium was new.
HEADS, SECTORS = 16, 63
CYLINDER = HEADS * SECTORS * 512
NO_DISK, NO_CDROM = "ata0: enabled=0", "ata1: enabled=0"
CHANNELS = (  # the IDE interfaces of a PC
    "ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14",
    "ata1: enabled=1, ioaddr1=0x170, ioaddr2=0x370, irq=15",
)
PCI_SLOTS = {"isa": "", "pci": ", slot1=pcivga"}  # by devices.video
EMPTY_DRIVE = "floppya: type=1_44"  # every PC of 1995 had a floppy drive
# The emulator's names of the media from which the BIOS boots.
BOOTS = {"floppy_a": "floppy", "cdrom": "cdrom", "disk_1": "disk"}
# For each cpu.isa: the processor of Bochs and its additional features. The feature "p6ni" of Bochs
# means the instructions CMOV, FCMOV and FCOMI. The Athlon 64 is the x86-64 processor of Bochs with
# the fewest other features.
PROCESSORS = {
    "pentium": ("pentium", ""),
    "pentium+cmov": ("pentium", "p6ni"),
    X86_64: ("athlon64_clawhammer", ""),
}


@dataclass(frozen=True)
class Bochsrc:
    """`values`: the entries that can change a result. `text`: the whole file, with the paths of
    this run."""

    values: Mapping[str, str]
    text: str


def make(
    lab: Lab,
    machine: Machine,
    paths: Mapping[str, str],
    boot: Boot | None = None,
    *,
    disk: Path | None = None,
) -> Bochsrc:
    """The configuration of a run. `paths` are its inputs by role. `disk`: the guest's IDE disk.
    Raises UserError for a disk image of a wrong size, and for an unknown name in the template."""
    processor, features = PROCESSORS[str(machine.values["cpu.isa"])]
    values = {
        "clock_hz": str(machine.clock_hz),
        "ram_mb": str(int(machine.values["dram.size"]) >> 20),
        "chipset": str(machine.values["devices.chipset"]),
        "processor": processor,
        "features": features,
    }
    places = {role: paths[role] for role in ("bios", "vgabios", "bootrom")}
    # The emulator's BIOS asks for 55 AA also on floppies, unless bit 0 of CMOS register 38h forbids
    # this. It is set only for a floppy that needs it, so all other boots stay the same.
    places["unsigned_floppy"] = str(int(bool(boot and boot.has_unsigned_floppy)))
    places |= {"boot": "floppy", "floppies": "", "disk": NO_DISK, "cdrom": NO_CDROM}
    if boot:
        values |= _media_values(boot)
        places |= _media(boot, paths)
    values |= _mouse(machine)
    values |= {"pci_slots": PCI_SLOTS[str(machine.values["devices.video"])]}
    if disk:
        values["cylinders"] = str(_cylinders(disk))
        places["disk"] = _disk(paths["disk"], values["cylinders"])
    return Bochsrc(values, _fill(lab.bochsrc, {**places, **values}))


def _mouse(machine: Machine) -> dict[str, str]:
    """The lines about the mouse. Raises UserError if another device has its interrupt."""
    if machine.values["devices.mouse"] == "ps2":
        return {"mouse": "mouse: enabled=0"}
    if machine.values["net.card"] != "none":
        raise UserError(
            "devices.mouse: expected ps2, because the network card (net.card) and a serial mouse"
            " have the same interrupt"
        )
    return {"mouse": "mouse: type=serial, enabled=0\ncom2: enabled=1, mode=mouse"}


def _cylinders(image: Path) -> int:
    size = image.stat().st_size
    if not size or size % CYLINDER:
        raise UserError(
            f"{shown(image)}: {size} bytes: expected a multiple of {CYLINDER} (16 heads of 63"
            " sectors)"
        )
    return size // CYLINDER


def _disk(path: str, cylinders: str) -> str:
    """The lines of the primary IDE master. Bochs itself has no image mode `private`.
    engine/bochs/disk.cc implements this mode."""
    return (
        f"{CHANNELS[0]}\n"
        f'ata0-master: type=disk, mode=private, path="{path}", cylinders={cylinders},'
        f" heads={HEADS}, spt={SECTORS}, translation=none"
    )


def _media_values(boot: Boot) -> dict[str, str]:
    """The entries about media that can change a result. The images have their own digests."""
    order = {"boot": ", ".join(BOOTS[medium.role] for medium in boot.order)}
    forms = {medium.role: medium.form for medium in boot.media if medium.form}
    translated = {
        f"{medium.role}.translation": _translation(medium.geometry)
        for medium in boot.media
        if medium.geometry
    }
    return order | forms | translated


def _media(boot: Boot, paths: Mapping[str, str]) -> dict[str, str]:
    """The lines about floppies, IDE disks and the CD-ROM. The emulator writes to the floppies in
    the run directory, which are copies. The engine keeps the content of a disk in its memory."""
    floppies, disks = [], []
    for role in media.FLOPPIES:
        if drive := boot.drive(role):
            line = f"floppy{'ab'[boot.drive_number(role)]}: type={drive}"
            there = boot.get(role)
            image = f', {there.form}="{role}.img", status=inserted' if there else ""
            floppies.append(line + image)
    for medium in boot.media:
        if medium.geometry:
            where = "master" if medium.role == media.DISKS[0] else "slave"
            disks.append(
                f'ata0-{where}: type=disk, mode=private, path="{paths[medium.role]}",'
                f" cylinders={medium.geometry.cylinders}, heads={medium.geometry.heads},"
                f" spt={medium.geometry.sectors}, translation={_translation(medium.geometry)}"
            )
    if not any(floppy.startswith("floppya") for floppy in floppies):
        floppies.insert(0, EMPTY_DRIVE)
    lines = {"floppies": "\n".join(floppies)}
    if disks:
        lines["disk"] = "\n".join((CHANNELS[0], *disks))
    if boot.get(media.CDROM):
        cdrom = f'ata1-master: type=cdrom, path="{paths[media.CDROM]}", status=inserted'
        lines["cdrom"] = f"{CHANNELS[1]}\n{cdrom}"
    return lines


def _translation(geometry: Geometry) -> str:
    """How the BIOS translates the geometry of a disk for programs."""
    return "auto" if geometry.translated else "none"


def _fill(template: Path, values: dict[str, str]) -> str:
    """The template with every @name@ replaced. Raises UserError for a name that has no value."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UserError(f"{template}: unknown placeholder {match[0]}")
        return values[match[1]]

    return re.sub(r"@([a-z_]+)@", value, template.read_text(encoding="utf-8"))
