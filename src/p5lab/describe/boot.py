# SPDX-License-Identifier: MIT
"""A boot from media: the media that were found, the script, and the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import disk_image, image_format
from p5lab.describe.media import CDROM, FLOPPIES, Medium, MediumFile, in_boot_order, path_of
from p5lab.describe.script import Script
from p5lab.errors import UserError


@dataclass(frozen=True)
class Boot:
    """A boot from media. `until`: the text that ends the run when it appears on the screen or the
    serial line. `script`: the steps before. Without both, the limit ends the run. `keep`: the role
    of the medium whose changed content the run stores; empty for none. `inserted`: the floppies
    that only the script uses, with the roles insert_1, insert_2 and so on. `job`: the text that
    programs with markers receive. `save_state`: the run also saves its state at the ready point.
    `state`: the file of a saved state that the run continues."""

    media: tuple[Medium, ...]
    until: str = ""
    keep: str = ""
    script: Script | None = None
    inserted: tuple[Medium, ...] = ()
    job: str = ""
    save_state: bool = False
    state: Path | None = None

    @property
    def floppies(self) -> tuple[Medium, ...]:
        """All floppies of the run. Each is one copy in the run directory, also if it is inserted
        several times."""
        return tuple(medium for medium in self.media if medium.role in FLOPPIES) + self.inserted

    @property
    def has_unsigned_floppy(self) -> bool:
        """Whether the BIOS must start a floppy whose boot sector does not end with 55 AA."""
        return any(disk_image.has_unsigned_code(floppy.path) for floppy in self.floppies)

    @property
    def has_ready_point(self) -> bool:
        """Whether the script has a ready point, from which several runs can begin."""
        return bool(self.script and self.script.boot)

    @property
    def early(self) -> tuple[str, ...]:
        """The roles of the floppies that the machine has used at the ready point of the script."""
        steps = self.script.boot if self.script else ()
        used = {self.floppy(step.floppy).role for step in steps if step.floppy}
        return tuple(medium.role for medium in self.floppies if medium.role in (*FLOPPIES, *used))

    def floppy(self, wanted: MediumFile) -> Medium:
        """The floppy that a step of the script inserts."""
        path = path_of(wanted)
        return next(floppy for floppy in self.floppies if floppy.origin == path)

    def drive_number(self, role: str) -> int:
        """The number of the machine's floppy drive for a role, 0 or 1. If a CD-ROM boots as a
        floppy, it has the letter A, and the first drive of the machine has the letter B."""
        return 0 if self._cdrom_is_drive_a else FLOPPIES.index(role)

    @property
    def _cdrom_is_drive_a(self) -> bool:
        first = next(iter(self.order), None)
        return bool(first and first.role == CDROM and disk_image.boots_as_floppy(first.path))

    def drive(self, role: str) -> str:
        """The emulator's name of a floppy drive that takes all floppies of the run for this drive;
        empty if the machine needs no such drive. Raises UserError if no drive takes all."""
        steps = self.script.floppies if self.script else ()
        wanted = [file for file in steps if file.role == role]
        if wanted and role == FLOPPIES[0] and self._cdrom_is_drive_a:
            raise UserError(
                f"{wanted[0].where}: the CD-ROM boots as a floppy and is drive A; expected"
                f" {FLOPPIES[1]}"
            )
        used = [medium for medium in (self.get(role), *map(self.floppy, wanted)) if medium]
        name = disk_image.drive({medium.path.stat().st_size for medium in used}) if used else ""
        if used and not name:
            names = ", ".join(f"{medium.path.name} ({medium.form})" for medium in used)
            raise UserError(f"{wanted[0].where}: {names}: no drive takes all these floppies")
        return name

    def get(self, role: str) -> Medium | None:
        """The medium with this role; None if there is none."""
        return next((medium for medium in self.media if medium.role == role), None)

    @property
    def order(self) -> tuple[Medium, ...]:
        """The media from which the BIOS tries to boot, in its order."""
        return in_boot_order(self.media)


def packed(boot: Boot) -> list[str]:
    """One line about each medium that p5lab has made of a file of another format."""
    return [
        f"{medium.origin.name} is in the format {medium.packed}; this run has its raw image of"
        f" {medium.path.stat().st_size:,} bytes, as {_command(medium)} makes it"
        for medium in (*boot.media, *boot.inserted)
        if medium.packed
    ]


def _command(medium: Medium) -> str:
    form = image_format.of(medium.origin)
    return f"`{form.command_for(medium.origin)}`" if form else "a command"


def remarks(wanted: Sequence[MediumFile], boot: Boot) -> list[str]:
    """One line about each medium whose content guest.toml does not know."""
    lines = []
    for file in wanted:
        medium = boot.get(file.role)
        if medium and not medium.name:
            known = f"; known: {', '.join(file.known.values())}" if file.known else ""
            lines.append(
                f"{file.where}: {medium.origin.name} has an unknown content, sha256"
                f" {medium.sha256}{known}"
            )
    return lines
