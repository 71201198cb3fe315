#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the image of a guest's disk: an empty ext2 file system on the whole disk.

mke2fs makes the file system without root rights and without a mount. The bytes are always the same:
identity, hash seed and time are fixed, and the host's own mke2fs.conf is not read.

The blocks have 1 KB and the i-nodes 128 bytes, as in an ext2 of this size in 1995. So an update of
a directory or an i-node writes two sectors, as with the 1 KB fragments of FFS. The only optional
ext2 feature in use is the file type in directory entries.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CYLINDER = 16 * 63 * 512
"""Bytes: 16 heads of 63 sectors, the largest geometry that a BIOS of 1995 could address."""

IDENTITY = "50354c42-0000-4000-8000-000000000001"
TIME = "788918400"
"""1995-01-01, which is also the guest's date at its start (engine/bochs/bochsrc.in)."""

CONFIG = """\
[defaults]
  base_features = filetype
  default_mntopts = ""
[fs_types]
  ext2 = {
  }
  small = {
  }
"""
OPTIONS = [
    "-q",
    "-F",
    "-t",
    "ext2",
    "-T",
    "small",
    "-b",
    "1024",
    "-I",
    "128",
    "-m",
    "0",
    "-L",
    "data",
    "-U",
    IDENTITY,
    "-E",
    f"hash_seed={IDENTITY},root_owner=0:0",
]


class DiskError(Exception):
    """The image cannot be made. The message gives the reason."""


def run(name: str, *arguments: str | Path, config: Path | None = None, stdin: str = "") -> str:
    """Runs a program of e2fsprogs in a fixed environment. Returns its output on stderr.

    Raises DiskError if the program is missing or fails.
    """
    # On Debian, the search path of ordinary users does not contain the directories of these
    # programs.
    program = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not program:
        raise DiskError(f"{name}: not found; install the package e2fsprogs")
    environment = {"LC_ALL": "C", "E2FSPROGS_FAKE_TIME": TIME, "DEBUGFS_PAGER": "cat"}
    if config:
        environment["MKE2FS_CONFIG"] = str(config)
    done = subprocess.run(
        [program, *arguments],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip() or "failed"
        raise DiskError(f"{name}: {said.splitlines()[-1]}")
    return done.stderr


def make(output: Path, kilobytes: int, options: list[str] = OPTIONS) -> None:
    """Writes an image with an empty file system. Raises DiskError if mke2fs is missing or fails."""
    with tempfile.TemporaryDirectory() as tmp:
        config, image = Path(tmp) / "mke2fs.conf", Path(tmp) / "disk.img"
        config.write_text(CONFIG)
        run("mke2fs", *options, image, f"{kilobytes}k", config=config)
        shutil.copyfile(image, output)


def main() -> int:
    """Parses the command line and writes the image. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cylinders", type=int, required=True, help=f"{CYLINDER} bytes each")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    try:
        make(args.output, args.cylinders * CYLINDER // 1024)
    except (DiskError, OSError) as error:
        print(f"mkdisk: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
