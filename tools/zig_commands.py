# SPDX-License-Identifier: MIT
"""The commands with which `zig cc` compiles one C file and links a program.

`zig cc` starts clang and the linker with long command lines. The lines depend on the target and the
options, but not on the file. This module records the lines of a program without content. A script
then starts clang and the linker itself, and can choose the linker's options. The records are in
Zig's cache, because the lines name libraries there: Zig compiles its C library for a target when a
program for this target is first linked.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from building import BuildError, find_zig, zig_caches

SOURCE, OBJECT, PROGRAM, ZIG = "@SOURCE@", "@OBJECT@", "@PROGRAM@", "@ZIG@"
"""Names in a record. ZIG is the directory of the package, which is different in each clone."""


@dataclass(frozen=True)
class Commands:
    """`compiling` and `linking`: the arguments of Zig, with the names above."""

    compiling: list[str]
    linking: list[str]

    def compile(self, source: str, target: str, options: list[str]) -> list[str]:
        """The command that compiles `source` to `target`. options: further options of clang."""
        return _filled([*self.compiling, *options], {SOURCE: source, OBJECT: target})

    def link(self, file: str, target: str) -> list[str]:
        """The command that links the object `file` to the program `target`. The program has a
        symbol table."""
        return _filled(self.linking, {OBJECT: file, PROGRAM: target})

    def is_usable(self) -> bool:
        """Whether the libraries that the commands name still exist."""
        return all(Path(word).exists() for word in self.linking if word.startswith("/"))


def _filled(words: list[str], values: dict[str, str]) -> list[str]:
    zig = find_zig()
    words = [values.get(word, word).replace(ZIG, str(zig.parent)) for word in words]
    return [str(zig), *words]


def commands(cache: Path, options: list[str]) -> Commands:
    """Returns the commands of `zig cc` with `options`, which include `-s`. cache: Zig's cache.

    The first call for these options compiles and links a program, and compiles the C library if it
    is not in the cache. Raises BuildError if Zig fails.
    """
    key = hashlib.sha256("\0".join((metadata.version("ziglang"), *options)).encode()).hexdigest()
    record = cache / "commands" / f"{key}.json"
    try:
        known = Commands(**json.loads(record.read_text(encoding="utf-8")))
        if known.is_usable():
            return known
    except (OSError, ValueError, TypeError):
        pass
    observed = _observed(cache, options)
    record.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=record.parent, delete=False) as file:
        json.dump(asdict(observed), file)
    Path(file.name).replace(record)
    return observed


def _observed(cache: Path, options: list[str]) -> Commands:
    """Runs `zig cc` and reads the commands in its output."""
    zig = find_zig()
    with tempfile.TemporaryDirectory() as tmp:
        work = Path(tmp)
        (work / "empty.c").write_text("int main(void) { return 0; }\n")
        # With a new local cache, Zig compiles the file and prints the command.
        environment = {
            **os.environ,
            **zig_caches(cache, work / "cache"),
            "ZIG_VERBOSE_CC": "1",
            "ZIG_VERBOSE_LINK": "1",
        }
        done = subprocess.run(
            [zig, "cc", *options, "-o", "program", "empty.c"],
            cwd=work,
            env=environment,
            check=False,
            text=True,
            stderr=subprocess.PIPE,
        )
        # Zig does not quote the words of a command, and a clone's path may contain a space.
        lines = done.stderr.replace(str(zig.parent), ZIG).splitlines()
        compiling = [line for line in lines if line.startswith(f"{ZIG}/zig clang empty.c ")]
        linking = [line for line in lines if line.startswith("ld.lld ") and "/empty.o " in line]
        if done.returncode != 0 or len(compiling) != 1 or len(linking) != 1:
            raise BuildError(f"zig cc: status {done.returncode}: {done.stderr[-4000:]}")
        return Commands(
            _compiling(shlex.split(compiling[0])[1:]), _linking(shlex.split(linking[0]))
        )


def _compiling(words: list[str]) -> list[str]:
    """Replaces the names of the files and omits the file with the dependencies."""
    for option, count in (("-MD", 1), ("-MV", 1), ("-MF", 2)):
        place = words.index(option)
        del words[place : place + count]
    words[words.index("empty.c")] = SOURCE
    words[words.index("-o") + 1] = OBJECT
    return words


def _linking(words: list[str]) -> list[str]:
    """Replaces the names of the files and omits the option to strip the program."""
    words.remove("-s")
    words[words.index("-o") + 1] = PROGRAM
    return [OBJECT if Path(word).name == "empty.o" else word for word in words]
