#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the part of musl that programs for Linux 2.0 to 2.6 need: a static library and the start
files, for a Pentium.

musl expects Linux 2.6. This script removes the numbers of all system calls that Linux 2.0 does not
have, so that a file that needs such a call cannot be compiled. Three calls have an older call that
does the same for a program with one thread (OLDER), and the code names a few that such a program
never makes (NEVER_MADE). The directory `replaced` has the few files that need other code: the
address of the thread is in a variable instead of a segment, mmap and socketpair pass their
arguments in memory, fork takes no locks, and vfork is fork.

With --also, it builds the library for another system. This directory has more files that replace
those of musl, among them the list of system calls, and a list of objects.

The compiler is Zig's clang, as for our other musl (guest-images/parts/musl). objects.txt lists the
objects. The products depend on the source, the ziglang version and the files beside this script.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "musl"))
from build_musl import CONFIGURE, CPU, GENERATED, TARGET, report
from building import check_isa, find_zig, keep, run, status_of, unpack, zig_caches
from many_files import compile_all, planned

HERE = Path(__file__).resolve().parent
NEWEST = 163  # mremap, the last system call of Linux 2.0 (include/asm-i386/unistd.h)
OLDER = {"exit_group": "exit", "set_tid_address": "getpid", "rt_sigprocmask": "sigprocmask"}
# A lock that is taken, a program with the set-user-id bit, and a clock other than the real time.
NEVER_MADE = ("futex", "ppoll", "clock_nanosleep", "clock_nanosleep_time64")
NO_CALL = 10000  # numbers from here on are no system call of any Linux
CALLS = "arch/i386/bits/syscall.h.in"
NUMBER = re.compile(r"#define __NR_(\w+)\s+(\d+)\s*")


def old_calls(text: str) -> str:
    """musl's list of system calls, without the calls that are newer than Linux 2.0."""
    found = [match for line in text.splitlines() if (match := NUMBER.fullmatch(line))]
    kept = [f"#define __NR_{one[1]} {one[2]}" for one in found if int(one[2]) <= NEWEST]
    older = [f"#define __NR_{name} __NR_{old}" for name, old in OLDER.items()]
    never = [f"#define __NR_{name} {number}" for number, name in enumerate(NEVER_MADE, NO_CALL)]
    return "\n".join([*kept, *older, *never, ""])


def objects(also: Path | None) -> list[str]:
    """The paths of the objects below `obj`, without the ending. `also`: a directory with a list of
    more objects, and with a minus those that its system does not need."""
    names = listed(HERE)
    for name in listed(also) if also else []:
        if name.startswith("-"):
            names.remove(name[1:])
        else:
            names.append(name)
    return names


def listed(place: Path) -> list[str]:
    """The lines of the list in a directory."""
    lines = (place / "objects.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def replace_files(tree: Path, also: Path | None) -> None:
    """Changes the source for systems that are older than musl."""
    calls = tree / CALLS
    calls.write_text(old_calls(calls.read_text(encoding="utf-8")), encoding="utf-8")
    for place in filter(None, (HERE, also)):
        shutil.copytree(place / "replaced", tree, dirs_exist_ok=True)


def make(args: argparse.Namespace) -> None:
    zig = find_zig()
    with tempfile.TemporaryDirectory(prefix="p5lab-musl-old-") as tmp:
        tree = unpack(args.source, Path(tmp))
        replace_files(tree, args.also)
        # The path of the checkout may contain spaces, and make splits words.
        plain = Path(tmp) / "ziglang"
        plain.symlink_to(zig.parent)
        env = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            **zig_caches(args.cache, Path(tmp) / "zig"),
            "CC": f"{plain}/zig cc {' '.join(TARGET)}",
            "CFLAGS": f"-march={CPU} -g0 -DSYSCALL_NO_TLS=1",
            "AR": f"{plain}/zig ar",
            "RANLIB": f"{plain}/zig ranlib",
        }
        run(["./configure", *CONFIGURE], tree, env)
        made = [f"obj/{name}.o" for name in objects(args.also)]
        run(["make", *GENERATED], tree, env)
        compile_all(planned(tree, env, made), tree, env, args.jobs, report)
        run(["make", f"-j{args.jobs}", *made], tree, env)
        library = [name for name in made if not name.startswith("obj/crt/")]
        run([plain / "zig", "ar", "rcsD", "libc.a", *library], tree, env)
        start = [tree / name for name in made if name.startswith("obj/crt/")]
        check_isa(args.check_isa, *start)
        for path in (tree / "libc.a", *start):
            keep(path, args.output_dir / path.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="musl_1.2.5.orig.tar.gz")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--also", type=Path, help="directory of the files for another system")
    parser.add_argument("--output-dir", type=Path, required=True)
    args = parser.parse_args()
    return status_of("build_musl_old", lambda: make(args))


if __name__ == "__main__":
    sys.exit(main())
