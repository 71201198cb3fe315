# SPDX-License-Identifier: MIT
"""What several build scripts do: find Zig, unpack a source, check the instructions of a product,
keep products, and end with one line when something is wrong.

A script that imports this module names it among the dependencies of its product.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path


class BuildError(Exception):
    """The build cannot go on. The message says why; the end of the output came before."""


def find_zig() -> Path:
    """The compiler in the package `ziglang`; its Python wrapper would double the time of a call."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise BuildError("the Python package ziglang is missing")
    return Path(spec.origin).parent / "zig"


def zig_caches(cache: Path, local: Path | None = None) -> dict[str, str]:
    """The environment variables that tell Zig where its caches are. local: what only one build
    needs; by default it stands beside the other."""
    cache = cache.resolve()
    return {
        "ZIG_GLOBAL_CACHE_DIR": str(cache),
        "ZIG_LOCAL_CACHE_DIR": str(local or cache / "local"),
    }


def unpack(archive: Path, directory: Path) -> Path:
    """Unpacks a source archive into a directory, which is made; the one directory that is in it."""
    directory.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        tar.extractall(directory, filter="data")
    trees = [path for path in directory.iterdir() if path.is_dir()]
    if len(trees) != 1:
        raise BuildError(f"{archive.name}: expected one directory in it, found {len(trees)}")
    return trees[0]


def write_headers(directory: Path, output: Path, without: str = "") -> None:
    """Packs all headers below a directory, with nothing in the archive that could vary. without: a
    directory below it that is left out."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        info.mode = 0o644
        return info

    with tarfile.open(output, "w", format=tarfile.USTAR_FORMAT) as archive:
        for header in sorted(directory.rglob("*.h")):
            if not without or without not in header.parts:
                archive.add(header, header.relative_to(directory).as_posix(), filter=plain)


def check_isa(script: Path, *files: Path, exceptions: Path | None = None) -> None:
    """Runs check_isa.py. BuildError when there is an instruction that a Pentium does not have."""
    listed = ["--exceptions", exceptions] if exceptions else []
    if subprocess.run([sys.executable, script, *listed, *files], check=False).returncode != 0:
        raise BuildError("code that a Pentium does not have")


def keep_program(made: Path, output: Path) -> None:
    """Copies a program to its place, where it can be executed."""
    keep(made, output)
    output.chmod(0o755)


def keep(made: Path, output: Path) -> None:
    """Copies a product to its place."""
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(made, output)


def status_of(name: str, build: Callable[[], None]) -> int:
    """The exit status of a build script: 1, with one line that begins with `name`, when `build`
    raises BuildError or a file or a program cannot be had."""
    try:
        build()
    except (BuildError, OSError, tarfile.TarError, subprocess.CalledProcessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0
