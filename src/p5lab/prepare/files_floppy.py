# SPDX-License-Identifier: MIT
"""Files of the user for a guest that boots from its own media: `run --put FILE`.

p5lab puts the files on a floppy of its own, in drive B: in a FAT file system, or as a tar archive
that begins at the first byte, for systems of the Unix family. The image is in build/put, with its
digest as its name.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from p5lab.describe.media import FLOPPIES, MediumFile
from p5lab.describe.supplied import FAT, TAR
from p5lab.errors import UserError
from p5lab.files import read_at_most, store_bytes
from p5lab.lab import Lab
from p5lab.prepare import fat_floppy, tar_floppy

OPTION, ROLE = "--put", FLOPPIES[1]


def floppy(
    lab: Lab, files: Sequence[Path], taken: Sequence[MediumFile], form: str = FAT
) -> MediumFile:
    """The floppy with the files. `taken`: the media that the guest has already. `form`: FAT or TAR.
    Raises UserError for a file that cannot be read, for a name that the form does not allow, if the
    files do not fit, and if the guest has a floppy in drive B."""
    made = tar_floppy if form == TAR else fat_floppy
    for medium in taken:
        if medium.role == ROLE:
            raise UserError(
                f"{OPTION}: drive B has the floppy {medium.file} already ({medium.where}); expected"
                f" {OPTION} or a floppy of your own in drive B, not both"
            )
    contents: dict[str, bytes] = {}
    for file in files:
        where = f"{OPTION} {file}"
        try:
            name = made.name_of(file.name)
        except ValueError as error:
            raise UserError(f"{where}: {error}; rename the file") from None
        if name in contents:
            raise UserError(f"{where}: a second file with the name {name}")
        contents[name] = read_at_most(
            fat_floppy.SECTORS * fat_floppy.SECTOR, file, where, "this is a floppy of 1.44 MB"
        )
    try:
        content = made.image(contents)
    except ValueError as error:
        raise UserError(f"{OPTION}: {error}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    path = lab.root / "build/put" / f"{sha256[:16]}.img"
    store_bytes(path, content)
    return MediumFile(ROLE, str(path), OPTION, known={sha256: f"the files of {OPTION}"})
