# SPDX-License-Identifier: MIT
"""The options of `run`, `plan` and `shell` about guests that boot from their own media, and
`--keep`."""

import argparse
import os
from pathlib import Path

from p5lab.cli import arguments
from p5lab.describe import media
from p5lab.describe.program import IN_GUEST
from p5lab.describe.program_files import PROGRAMS
from p5lab.describe.supplied import GUEST_PLACE
from p5lab.errors import UserError, refuse
from p5lab.host.supplied_programs import SYSTEMS
from p5lab.prepare import files_floppy

KEEP, SCRIPT = "--keep", "--script"
CONVERT = "--convert"
STATE, SAVE_STATE = "--state", "--save-state"
BOOT = (
    "boot the system on this image of {} instead of a guest; at most 2 times. A name without a"
    f" directory is also searched in {media.VARIABLE}. The image is never written"
)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose media and the end of the run."""
    add_media(parser)
    _add_ending(parser)


def add_media(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose media."""
    arguments.add(
        parser,
        f"""
        --floppy* FILE  {BOOT.format("a floppy")}
        --disk* FILE  {BOOT.format("an IDE disk")}
        --cdrom FILE  as --disk, for an ISO image of a CD-ROM
        {files_floppy.OPTION} FILE  put these files on a floppy of 1.44 MB with a FAT file system,
            in drive B. Only for guests that boot from their own media
        {PROGRAMS}  put p5lab's programs for this system on the floppy of --put, with a script that
            starts them (docs/concepts/media.md). For Unix systems, the floppy holds a tar archive.
            With --program {IN_GUEST}PATH, win32 puts the programs for Wine into {GUEST_PLACE}/win32
            of the guest
        {CONVERT}  turn images of emulators (qcow2, VDI, VMDK, VHD and others) into raw images with
            qemu-img, in the directory build/raw
        --geometry C/H/S  cylinders, heads and sectors of the first --disk (default: from its
            partition table)
        """,
        put={"type": Path, "nargs": "+", "action": "extend", "default": []},
        programs={"choices": tuple(SYSTEMS)},
    )


def _add_ending(parser: argparse.ArgumentParser) -> None:
    """Adds the options about the end of the run."""
    arguments.add(
        parser,
        f"""
        --until TEXT  end the run when TEXT is on the screen or the serial line; the run fails if
            this does not happen before the limit. Only for guests that boot from their own media
        {SCRIPT}* FILE  drive the guest by the steps of this TOML file: wait for texts, type, use
            the mouse, insert floppies (docs/concepts/media.md). Each further --script FILE makes a
            further run. If the guest has a ready point, the steps follow this point, and all runs
            share the boot. With --program on a guest with a graphics screen, the steps run beside
            the program
        {STATE} FILE  continue the system that --save-state saved, instead of a boot. Give the
            machine, the media and the guest of that run
        """,
    )


def add_saving(parser: argparse.ArgumentParser) -> None:
    """Adds --keep, which saves the changed image of a medium, and --save-state. Only `run` has
    these options."""
    arguments.add(
        parser,
        f"""
        {KEEP} [MEDIUM=]FILE  save the changed image of a floppy or disk as a new file. MEDIUM is
            one of {", ".join(media.CHANGED)}; needed only if there are several
        {SAVE_STATE} FILE  save the system at the ready point of its script as a new file, which
            --state continues (docs/concepts/media.md)
        """,
    )


def check_no_media(args: argparse.Namespace) -> None:
    """Raises UserError for an option about media in a shell of another guest."""
    given = {
        "--geometry": args.geometry,
        CONVERT: args.convert,
        files_floppy.OPTION: args.put,
        PROGRAMS: args.programs,
    }
    refuse(given, "expected with --floppy, --disk, --cdrom")


def check_new(file: Path, option: str) -> None:
    """Raises UserError if a file exists already or cannot be created."""
    where = f"{option} {file}"
    if os.path.lexists(file):
        raise UserError(f"{where}: the file exists already; expected the name of a new file")
    if not file.parent.is_dir():
        raise UserError(f"{where}: no directory {file.parent}")
    if not os.access(file.parent, os.W_OK):
        raise UserError(f"{where}: the directory {file.parent} cannot be written")
