# SPDX-License-Identifier: MIT
"""Run a build command with the compiler, assembler and linker that sources.toml pins.

    toolchain.py PROGRAM ...

What runs in a guest is made with these tools, so that a kernel has the same bytes on every host.
The tools are programs of Debian 12 in a directory of the cache, and they run with their own loader
and libraries. They come first in PATH. HOSTCC is the command of the host's own compiler, for
programs that run on the host during a build.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from p5lab.errors import UserError
from p5lab.host.compilers import cc
from p5lab.host.fetch import Fetcher

PREFIX = "toolchain-"
"""Of the names in sources.toml."""
TARGET = "x86_64-linux-gnu"
PROGRAMS = {
    "gcc": f"usr/bin/{TARGET}-gcc-12",
    **{
        name: f"usr/bin/{TARGET}-{name}"
        for name in ("ar", "as", "nm", "objcopy", "objdump", "ranlib", "readelf", "strip")
    },
    "ld": f"usr/bin/{TARGET}-ld.bfd",
}
PARTS = f"usr/lib/gcc/{TARGET}/12"
"""The directory in which gcc looks for its parts."""
STARTED = ("cc1", "collect2")
"""The parts that gcc starts."""
UNUSED = ("usr/share", f"{PARTS}/lto1", f"{PARTS}/lto-wrapper")
LIBRARIES = (f"lib/{TARGET}", f"usr/lib/{TARGET}")
LOADER = f"{LIBRARIES[0]}/ld-linux-x86-64.so.2"
"""lib64 has an absolute link to it, which would be the host's."""


def prepared(root: Path) -> Path:
    """The directory with the tools, for PATH. `root`: the checkout. The first call downloads and
    unpacks them. Raises UserError, OSError or CalledProcessError."""
    fetcher = Fetcher.here(root)
    names = sorted(name for name in fetcher.sources if name.startswith(PREFIX))
    files = [fetcher.resolve(name) for name in names]
    key = "".join(file.sha256 for file in files) + Path(__file__).read_text(encoding="utf-8")
    place = fetcher.cache / "toolchain" / hashlib.sha256(key.encode()).hexdigest()[:16]
    if place.is_dir():
        return place / "bin"
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.is_dir():
            with tempfile.TemporaryDirectory(prefix=".partial-", dir=place.parent) as directory:
                made = Path(directory) / "made"
                for file in files:
                    subprocess.run(["dpkg-deb", "-x", fetcher.obtain(file), made], check=True)
                _wrap(made, place)
                made.rename(place)
    return place / "bin"


def _wrap(made: Path, place: Path) -> None:
    """Writes a script for each tool. `place`: the path that `made` gets at the end."""
    for name in UNUSED:
        path = made / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    (made / "bin").mkdir()
    for name, program in PROGRAMS.items():
        # A kernel contains the name by which its compiler was called.
        link = made / "usr/bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(Path(program).name)
        _script(made / "bin" / name, place, place / "usr/bin" / name)
    _script(made / "bin/lz4", place, place / "usr/bin/lz4")
    for name in STARTED:
        real = made / PARTS / f"{name}.program"
        (made / PARTS / name).rename(real)
        _script(made / PARTS / name, place, place / PARTS / real.name)
    for name in ("as", "ld"):
        (made / PARTS / name).symlink_to(place / "bin" / name)


def _script(path: Path, place: Path, program: Path) -> None:
    """Writes a script that starts `program` with the loader and the libraries in `place`."""
    libraries = ":".join(str(place / name) for name in LIBRARIES)
    words = [place / LOADER, "--inhibit-cache", "--library-path", libraries, "--argv0", program]
    command = shlex.join(str(word) for word in (*words, program))
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)


def host_compiler() -> str:
    """The command of the host's compiler, with the host's own linker and assembler: those of the
    pinned tools come first in PATH, and cannot load the plugins of a newer host's compiler."""
    compiler, linker = shutil.which(cc()) or cc(), shutil.which("ld")
    return f"{compiler} -B{Path(linker).parent}" if linker else compiler


def main() -> int:
    """Runs the command. Returns its exit status."""
    try:
        tools = prepared(Path.cwd())
    except (UserError, OSError, subprocess.CalledProcessError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return 1
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOSTCC": host_compiler(),
    }
    return subprocess.run(sys.argv[1:], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
