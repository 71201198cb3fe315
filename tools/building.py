# SPDX-License-Identifier: MIT
"""Functions that several build scripts use: to find Zig, unpack a source, check the instructions of
a product, copy products, and print an error as one line.

The product of a script that imports this module also depends on this module.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from archives import extract


class BuildError(Exception):
    """The build cannot continue. The message gives the reason. Tool output is printed before."""


def run(
    command: Sequence[str | Path],
    directory: Path | None = None,
    env: Mapping[str, str] | None = None,
    text: str = "",
) -> subprocess.CompletedProcess[str]:
    """Runs a command with `text` as its input, and returns what it printed. If it fails, prints the
    end of its output, and raises BuildError with the first error in it."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=env,
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-4000:]
        print(said, file=sys.stderr)
        errors = [f": {line.strip()}" for line in said.splitlines() if "error: " in line]
        name = f"{Path(command[0]).name} {command[1]}"
        raise BuildError(f"{name}: status {done.returncode}{''.join(errors[:1])}")
    return done


def find_zig() -> Path:
    """The path of the compiler in the package `ziglang`. Scripts call the compiler directly,
    because the package's Python wrapper would double the time of a call."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise BuildError("the Python package ziglang is missing")
    return Path(spec.origin).parent / "zig"


def zig_caches(cache: Path, local: Path | None = None) -> dict[str, str]:
    """The environment variables with the directories of Zig's caches. cache: the global cache.
    local: the cache for one build; by default it is below the global cache."""
    cache = cache.resolve()
    return {
        "ZIG_GLOBAL_CACHE_DIR": str(cache),
        "ZIG_LOCAL_CACHE_DIR": str(local or cache / "local"),
    }


def unpack(archive: Path, directory: Path) -> Path:
    """Unpacks a source archive into a new directory. Returns the only directory in the archive."""
    directory.mkdir(parents=True, exist_ok=True)
    extract(archive, directory)
    trees = [path for path in directory.iterdir() if path.is_dir()]
    if len(trees) != 1:
        raise BuildError(f"{archive.name}: expected one directory in it, found {len(trees)}")
    return trees[0]


def write_headers(directory: Path, output: Path, without: str = "") -> None:
    """Packs all headers below a directory into an archive. Equal headers give equal bytes. without:
    the name of a subdirectory that is omitted."""

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
    """Runs check_isa.py. BuildError if a file contains an instruction that a Pentium lacks."""
    listed = ["--exceptions", exceptions] if exceptions else []
    if subprocess.run([sys.executable, script, *listed, *files], check=False).returncode != 0:
        raise BuildError("the code contains instructions that a Pentium does not have")


def keep_program(made: Path, output: Path) -> None:
    """Copies a program to its place and makes it executable."""
    keep(made, output)
    output.chmod(0o755)


def keep(made: Path, output: Path) -> None:
    """Copies a product to its place."""
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(made, output)


def status_of(name: str, build: Callable[[], None]) -> int:
    """Runs `build` and returns the exit status of the script. The status is 1 if `build` raises
    BuildError, or if a file or program is not usable. The line of an error begins with `name`."""
    try:
        build()
    except (BuildError, OSError, tarfile.TarError, subprocess.CalledProcessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0
