# SPDX-License-Identifier: MIT
"""Raw images from images of other formats (p5lab.describe.image_format).

The raw image is in build/raw, with the digest of the user's file as its name. The user's file never
changes.
"""

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path
from typing import IO, cast

from p5lab.describe import image_format
from p5lab.describe.disk_image import MAX_DISK
from p5lab.describe.image_format import Format
from p5lab.describe.media import MediumFile, check_format, refusal
from p5lab.errors import UserError, disk_error
from p5lab.files import digest_of
from p5lab.lab import Lab
from p5lab.prepare import imd

MOST_LAYERS = 4  # such as an ImageDisk file in a ZIP archive
PIECE = 1 << 20
IMAGES = (".img", ".ima", ".imd", ".vfd", ".flp", ".dsk", ".raw", ".iso", ".bin", ".vhd", ".hdd")
DOSEMU_SIZE_AT, DOSEMU_HEADER = 19, 128  # DOSEMU's src/include/disks.h, struct image_header
CONVERTER = "qemu-img"


def raw(lab: Lab, convert: bool, wanted: MediumFile, path: Path) -> tuple[Path, str]:
    """The raw image of a medium, and what was done to it; empty for a raw image. `convert`: whether
    the user asks for qemu-img (--convert). Raises UserError for a format that p5lab does not turn
    into a raw image, and for a damaged file."""
    made = path
    done: list[str] = []
    for _ in range(MOST_LAYERS):
        form = image_format.of(made)
        if not form:
            check_format(wanted, made)
            return made, ", ".join(done)
        if form.qemu and not convert and not done:
            raise refusal(wanted, path, form)
        made = _made(lab.root / "build/raw", wanted, made, form)
        done.append(form.name)
    raise UserError(f"{wanted.where}: {path}: packed more than {MOST_LAYERS} times")


def _made(place: Path, wanted: MediumFile, path: Path, form: Format) -> Path:
    made = place / f"{digest_of(path)[:16]}.img"
    if made.is_file():
        return made
    where = f"{wanted.where}: {path}"
    if not form.qemu and not form.unpack:
        raise refusal(wanted, path, form)
    temporary = made.with_name(f"{made.name}.{os.getpid()}.tmp")
    try:
        place.mkdir(parents=True, exist_ok=True)
        if form.qemu:
            _by_qemu(form, path, where, temporary)
        else:
            _by_library(form, path, where, temporary)
        temporary.replace(made)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise UserError(f"{where}: {form.name}: damaged or cut short: {error}") from None
    except (NotImplementedError, RuntimeError) as error:  # of zipfile: a method, a password
        raise UserError(f"{where}: {form.name}: {error}") from None
    except OSError as error:
        if error.errno is None:  # of bz2: the data are wrong
            raise UserError(f"{where}: {form.name}: damaged: {error}") from None
        raise disk_error(error, made) from None
    finally:
        temporary.unlink(missing_ok=True)
    return made


def _by_qemu(form: Format, path: Path, where: str, to: Path) -> None:
    program = shutil.which(CONVERTER)
    if not program:
        raise UserError(
            f"{where}: --convert needs {CONVERTER} for {form.name};"
            " `apt-get install qemu-utils` installs it"
        )
    words = [program, "convert", "-f", form.qemu, "-O", "raw", str(path), str(to)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"{where}: {CONVERTER}: {said}")


def _by_library(form: Format, path: Path, where: str, to: Path) -> None:
    if form.unpack == image_format.IMD:
        to.write_bytes(imd.raw(path.read_bytes(), where))
        return
    with _opened(form.unpack, path, where) as source, to.open("wb") as target:
        written = 0
        while piece := source.read(PIECE):
            written += len(piece)
            if written > MAX_DISK:
                raise UserError(f"{where}: {form.name}: unpacks to more than {MAX_DISK:,} bytes")
            target.write(piece)


def _opened(unpack: str, path: Path, where: str) -> IO[bytes]:
    match unpack:
        case image_format.GZIP:
            return cast(IO[bytes], gzip.open(path, "rb"))
        case image_format.XZ:
            return lzma.open(path, "rb")
        case image_format.BZIP2:
            return bz2.open(path, "rb")
        case image_format.ZIP:
            return _member(path, where)
    file = path.open("rb")
    size = int.from_bytes(file.read(DOSEMU_HEADER)[DOSEMU_SIZE_AT:][:4], "little")
    file.seek(size or DOSEMU_HEADER)
    return file


def _member(path: Path, where: str) -> IO[bytes]:
    """The only image in a ZIP archive. WinImage's IMZ is such an archive."""
    archive = zipfile.ZipFile(path)
    # ZipInfo.is_dir() of Python 3.11 fails for an empty name.
    files = [member for member in archive.infolist() if not member.filename.endswith("/")]
    images = [member for member in files if member.filename.lower().endswith(IMAGES)]
    if len(images or files) != 1:
        names = ", ".join(member.filename for member in images or files) or "none"
        raise UserError(
            f"{where}: ZIP: expected one image, found {names[:200]}; `unzip {path.name}` unpacks"
            " them"
        )
    return archive.open((images or files)[0])
