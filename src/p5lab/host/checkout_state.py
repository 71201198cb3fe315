# SPDX-License-Identifier: MIT
"""Remembers the state of the checkout in which all products were up to date.

SCons compares the products with their sources by content, which takes seconds. The state of all
files takes a twentieth of a second. It has the same meaning as in the index of git: a file that has
the same size and the same time of the last change has not changed.

SConstruct imports the modules that import this one, so it uses only the standard library.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from p5lab.files import SETTLED_SECONDS, replace_text
from p5lab.host import compilers
from p5lab.lab import Lab

FILE = "build/current.json"
# Directories that no build reads or writes, and those of build/ that the commands fill themselves.
OTHERS = frozenset(("results", "__pycache__"))
OF_COMMANDS = frozenset(("brought", "bsd", "delivered", "dos", "programs", "put", "raw", "win32"))
OF_BUILD = frozenset(("build.log", "build.lock", "current.json"))
# What a build uses of the host.
VARIABLES = ("P5LAB_CACHE", "P5LAB_CXX", "P5LAB_PATH", "PATH")
PROGRAMS = ("ar", "as", "ld")
HEADERS = ("/usr/include/mpfr.h", "/usr/include/rfb/rfb.h")

Stamp = tuple[str, int, int, int]


def state(lab: Lab) -> str:
    """The digest of the state of all files that a build may read or make. Empty if a file has just
    changed, because a further change could then stay unseen."""
    try:
        stamps = sorted((*_files(lab), *_host()))
    except OSError:  # a file went away meanwhile
        return ""
    newest = max(changed for *_, changed in stamps)
    if time.time() - newest / 1e9 < SETTLED_SECONDS:
        return ""
    variables = [lab.environment.get(name) for name in VARIABLES]
    return hashlib.sha256(repr((stamps, variables)).encode()).hexdigest()


def is_known(lab: Lab, targets: Sequence[str], now: str) -> bool:
    """Returns whether the targets were up to date in the state `now`."""
    return bool(now) and _read(lab).get(" ".join(targets)) == now


def remember(lab: Lab, targets: Sequence[str], now: str) -> None:
    """Records that the targets were up to date in the state `now`."""
    known = {name: digest for name, digest in _read(lab).items() if digest == now}
    with suppress(OSError):  # a full disk, or a checkout of another user
        replace_text(lab.root / FILE, json.dumps(known | {" ".join(targets): now}))


def _read(lab: Lab) -> dict[str, str]:
    try:
        digests = json.loads((lab.root / FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return digests if isinstance(digests, dict) else {}


def _files(lab: Lab) -> Iterator[Stamp]:
    """The name, the number, the size and the time of the last change of each file. The engine has
    observers of P5LAB_PATH."""
    build, left = str(lab.root / "build"), [str(lab.root), *map(str, lab.path)]
    while left:
        directory = left.pop()
        skipped = OF_COMMANDS | OF_BUILD if directory == build else OTHERS
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name in skipped or entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                else:
                    yield _stamp(entry.path, entry.stat(follow_symlinks=False))


def _host() -> Iterator[Stamp]:
    """The same for the compilers, of the optional headers, and of the Python environment."""
    programs = (shutil.which(name) for name in (compilers.cxx(), compilers.cc(), *PROGRAMS))
    for path in map(Path, filter(None, (*programs, *HEADERS, f"{sys.prefix}/p5lab-stamp"))):
        if path.exists():
            yield _stamp(str(path), path.stat())


def _stamp(path: str, facts: os.stat_result) -> Stamp:
    return path, facts.st_ino, facts.st_size, facts.st_ctime_ns
