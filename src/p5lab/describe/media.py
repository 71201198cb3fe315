# SPDX-License-Identifier: MIT
"""The media from which a guest boots: floppies, IDE disks and a CD-ROM.

The table [media] of guest.toml or the options --floppy, --disk and --cdrom name the media. A file
name without a directory is searched in the directories of P5LAB_MEDIA. A file is searched and
checked when a run is made, not when the guest is read, so a guest without its media can be listed.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from p5lab.describe import disk_image, image_format, outputs
from p5lab.describe.disk_image import Geometry
from p5lab.describe.image_format import Format
from p5lab.describe.tomlfile import TomlTable
from p5lab.errors import UserError
from p5lab.files import digest_of

VARIABLE = "P5LAB_MEDIA"
FLOPPIES, DISKS, CDROM = ("floppy_a", "floppy_b"), ("disk_1", "disk_2"), "cdrom"
ROLES = (*FLOPPIES, *DISKS, CDROM)
# The files of a run with the changed content of a medium.
CHANGED = {role: outputs.file(role) for role in (*FLOPPIES, *DISKS)}
INSERTED = "insert_"  # the roles of the floppies that a script inserts begin so
# The BIOS tries these media in this order, as the PCs of 1995 did that could boot a CD-ROM.
BOOT_ORDER = (FLOPPIES[0], CDROM, DISKS[0])
DIGITS = 64  # of a SHA-256
# Characters that the emulator's configuration cannot contain in a path.
UNUSABLE = '"$\n\r'


@dataclass(frozen=True)
class MediumFile:
    """A medium that a guest boots from. `file`: an absolute path, or a name in P5LAB_MEDIA.
    `known`: a name for each known content, by SHA-256. `what`: a text for the user who does not
    have the file. `where`: the beginning of messages."""

    role: str
    file: str
    where: str
    geometry: Geometry | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    what: str = ""


@dataclass(frozen=True)
class Medium:
    """A medium that was found and checked. `form`: the geometry of a disk, or the emulator's name
    of a floppy; empty for a CD-ROM. `name`: the name of the known content, empty for another
    content. `origin`: the user's file, from which p5lab has made the raw image `path` if it is
    another one. `packed`: the formats of that file; empty for a raw image."""

    role: str
    path: Path
    sha256: str
    form: str
    name: str = ""
    geometry: Geometry | None = None
    origin: Path = Path()
    packed: str = ""

    @property
    def recorded(self) -> dict[str, str]:
        """The entry of this medium in run.json."""
        origin = f" ({self.geometry.origin})" if self.geometry else ""
        return {
            "file": self.origin.name,
            "sha256": self.sha256,
            "known_as": self.name,
            "form": f"{self.form}{origin}",
        }


def in_boot_order(media: Sequence[Medium]) -> tuple[Medium, ...]:
    """The media from which the BIOS tries to boot, in its order."""
    return tuple(medium for role in BOOT_ORDER for medium in media if medium.role == role)


def read(table: TomlTable) -> tuple[MediumFile, ...]:
    """The media in the table [media] of a guest. Raises UserError for an unknown key or a wrong
    value. Does not search the files."""
    table.only(ROLES)
    if not table.data:
        raise UserError(f"{table.where}: expected one or more of {', '.join(ROLES)}")
    wanted = []
    for role in (role for role in ROLES if role in table.data):
        file, geometry = table.table(role), None
        if "geometry" in file.data:
            if role not in DISKS:
                raise UserError(f"{file.at('geometry')}: expected only for {' and '.join(DISKS)}")
            geometry = disk_image.parse_geometry(file.text("geometry"), file.at("geometry"))
        own = {"geometry": geometry, "known": _known(file)}
        wanted.append(file.record(MediumFile, own, role=role, where=file.label, **own))
    return tuple(wanted)


def _known(table: TomlTable) -> dict[str, str]:
    """The names of the known contents, by SHA-256."""
    known = table.table("known", {})
    for digest in known.data:
        if len(digest) != DIGITS or not set(digest) <= set("0123456789abcdef"):
            raise UserError(
                f"{known.near(digest)}: {digest!r}: expected a SHA-256, {DIGITS} digits of 0-9 a-f"
            )
    return known.pairs()


def refusal(wanted: MediumFile, path: Path, form: Format) -> UserError:
    """The message about an image of a format that the machine cannot use."""
    command = form.command_for(path)
    makes = f"; `{command}` makes one" if command else ""
    also = ", and so does the option --convert" if form.qemu else ""
    return UserError(
        f"{wanted.where}: {path}: the format is {form.name}; expected a raw image{makes}{also}"
    )


def check_format(wanted: MediumFile, path: Path) -> None:
    """Raises UserError for an image of a CD-ROM in the place of a floppy or disk. An image can be
    both, with a boot sector before its volumes; as a floppy it also has the size of one."""
    if wanted.role == CDROM or not image_format.is_iso(path):
        return
    fits = wanted.role not in FLOPPIES or path.stat().st_size in disk_image.FLOPPIES
    if not fits or not disk_image.has_signature(path):
        raise UserError(
            f"{wanted.where}: {path}: this is an image of a CD-ROM (ISO 9660); expected with"
            " --cdrom"
        )


# Returns the raw image of a medium and the formats of the file; empty for a raw image.
Raw: TypeAlias = Callable[[MediumFile, Path], tuple[Path, str]]


def checked(wanted: Sequence[MediumFile], raw: Raw) -> tuple[Medium, ...]:
    """Searches and checks all media of a guest. `raw` makes raw images of other formats. Raises
    UserError for a missing file, for an image that the machine cannot use, and if the BIOS cannot
    boot from the first medium of its order and has no other."""
    media = tuple(_checked_file(file, raw) for file in wanted)
    candidates = in_boot_order(media)
    if not candidates:
        raise UserError(
            f"{wanted[0].where}: the BIOS boots from none of these media; expected one of"
            f" {', '.join(BOOT_ORDER)}"
        )
    if len(candidates) == 1:
        (medium,) = candidates
        where = next(file.where for file in wanted if file.role == medium.role)
        checks = {
            CDROM: disk_image.check_cdrom_boots,
            DISKS[0]: disk_image.check_disk_boots,
            FLOPPIES[0]: disk_image.check_floppy_boots,
        }
        checks[medium.role](medium.path, where)
    return media


def _checked_file(wanted: MediumFile, raw: Raw) -> Medium:
    origin, where = path_of(wanted), wanted.where
    if bad := [character for character in UNUSABLE if character in str(origin)]:
        raise UserError(f"{where}: {str(origin)!r}: expected a path without {bad[0]!r}")
    disk_image.size_of(origin, where)
    path, packed = raw(wanted, origin)
    if packed:
        where = f"{where}: {origin} ({packed})"
    form, geometry = "", None
    if wanted.role in FLOPPIES:
        form = disk_image.floppy(path, where, was_packed=bool(packed))
    elif wanted.role in DISKS:
        geometry = disk_image.disk(path, wanted.geometry, where)
        form = str(geometry)
    else:
        disk_image.cdrom(path, where)
    sha256 = digest_of(path)
    name = wanted.known.get(sha256, "")
    return Medium(wanted.role, path, sha256, form, name, geometry, origin, packed)


def path_of(wanted: MediumFile) -> Path:
    """The path of a medium's file. Raises UserError with all that helps to find a missing one."""
    given = Path(wanted.file)
    places = directories()
    by_option = wanted.where.startswith("--")
    for path in (given,) if given.is_absolute() else (place / given for place in places):
        if path.exists():
            return path
    if by_option:
        also = f", also not in {' or '.join(map(str, places))} ({VARIABLE})" if places else ""
        raise UserError(f"{wanted.where} {wanted.file}: no such file{also}")
    if given.is_absolute():
        put = ""
    elif places:
        put = f"put it into {' or '.join(map(str, places))} ({VARIABLE})"
    else:
        put = f"put it into a directory and name this directory in {VARIABLE}"
    known = ", ".join(f"{name} (sha256 {digest})" for digest, name in wanted.known.items())
    parts = [
        f"missing medium {wanted.file}" + (f" ({wanted.what})" if wanted.what else ""),
        put,
        "no such file",
        f"known: {known}" if known else "",
    ]
    raise UserError(f"{wanted.where}: {'; '.join(filter(None, parts))}")


def directories() -> list[Path]:
    """The directories that P5LAB_MEDIA names, separated by colons."""
    return [Path(part).absolute() for part in os.environ.get(VARIABLE, "").split(":") if part]


def placed(name: str) -> Path | None:
    """The path of a file in the directories of P5LAB_MEDIA; None if no directory has it."""
    return next((place / name for place in directories() if (place / name).exists()), None)


def inserted(
    wanted: Sequence[MediumFile], present: Sequence[Medium], raw: Raw
) -> tuple[Medium, ...]:
    """The floppies that a script inserts, without those that are already `present`. Raises
    UserError for a missing file and a wrong image."""
    known = {medium.path for medium in present if medium.role in FLOPPIES}
    media: dict[Path, Medium] = {}
    for file in wanted:
        medium = _checked_file(file, raw)
        if medium.path not in known:
            role = f"{INSERTED}{len(media) + 1}"
            media.setdefault(medium.path, replace(medium, role=role))
    return tuple(media.values())
