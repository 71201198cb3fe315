# SPDX-License-Identifier: MIT
"""Compiles many C files with one call of clang, for libraries with many small files.

`zig cc` needs 0.04 s for the smallest file: it starts clang as a new process, and then starts a
linker that merges equal strings of the object. One process of clang can compile many files after
each other. The linker is only needed for objects with strings. The sections that a program gets are
the same as with `zig cc`.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from building import BuildError, run

CHUNK = 48  # files for each call of clang: enough calls for all cores, and 100 MB of memory
COMPILES = re.compile(r"(.+ cc .+) -c -o (\S+) (\S+\.c)")
STRINGS = b".rodata.str"  # the beginning of the names of sections with strings
# Options of `clang -cc1` about one file, with a value and without.
OF_ONE_FILE = ("-o", "-main-file-name", "-dependency-file", "-MT")
OF_DEPENDENCIES = ("-sys-header-deps",)


@dataclass(frozen=True)
class Compilation:
    """A call of `zig cc` that make would start. `options`: the command up to `-c`."""

    options: str
    target: str
    source: str


def planned(tree: Path, env: dict[str, str], targets: list[str]) -> list[Compilation]:
    """The C files that make would compile in the directory `tree` with the most common options. The
    other files are few, and make compiles them afterwards."""
    plan = run(["make", "-n", *targets], tree, env).stdout
    lines = filter(None, map(COMPILES.fullmatch, plan.splitlines()))
    calls = [Compilation(*line.groups()) for line in lines]
    if not calls:
        raise BuildError(f"make -n {targets[0]}: compiles no C file")
    [(common, _)] = Counter(call.options for call in calls).most_common(1)
    return [call for call in calls if call.options == common]


def compile_all(
    calls: list[Compilation],
    tree: Path,
    env: dict[str, str],
    jobs: int,
    progress: Callable[[int, int], None],
) -> None:
    """Compiles the files of `calls`, which have the same options. Calls `progress` with the number
    of compiled files and the number of all files. Raises BuildError if clang fails."""
    first, *others = calls
    clang = _observed(first, tree, env)
    chunks = [others[begin : begin + CHUNK] for begin in range(0, len(others), CHUNK)]
    done = 1
    with ThreadPoolExecutor(jobs) as pool:
        for chunk in pool.map(lambda chunk: _compile(clang, chunk, tree, env), chunks):
            done += len(chunk)
            progress(done, len(calls))


def _observed(first: Compilation, tree: Path, env: dict[str, str]) -> list[str]:
    """Compiles one file with `zig cc`, and returns the command of clang without all that concerns
    this file. This object alone names the compiler, as one such name is in each library."""
    command = [*first.options.split(), "-c", "-o", first.target, first.source]
    zig = command[0]
    (tree / first.target).parent.mkdir(parents=True, exist_ok=True)
    # Zig does not quote the words of the command. The path of `zig` has no space, because make
    # splits words, so the path of the library has none either.
    shown = {**env, "ZIG_VERBOSE_CC": "1", "ZIG_LIB_DIR": str(Path(zig).parent / "lib")}
    said = run(command, tree, shown).stderr
    commands = [line for line in said.splitlines() if f" clang {first.source} " in line]
    if len(commands) != 1:
        raise BuildError(f"zig cc {first.source}: no command of clang in its output")
    words = shlex.split(commands[0].partition(" clang ")[2])
    line = run([zig, "clang", "-###", *words], tree, env).stderr.splitlines()[-1]
    inner = shlex.split(line)
    if "-cc1" not in inner:
        raise BuildError(f"clang {first.source}: no command of -cc1 in its output")
    return [zig, *_for_all(inner[inner.index("-cc1") :], first.source), "-Qn"]


def _for_all(words: list[str], source: str) -> list[str]:
    """Removes the options about one file. Without an output, -cc1 writes each object beside its
    source."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in OF_ONE_FILE:
            next(rest)
        elif word not in (*OF_DEPENDENCIES, source):
            kept.append(word)
    return kept


def _compile(
    clang: list[str], calls: list[Compilation], tree: Path, env: dict[str, str]
) -> list[Compilation]:
    made = [(tree / call.source).with_suffix(".o") for call in calls]
    run([*clang, *(call.source for call in calls)], tree, env)
    for call, object_ in zip(calls, made, strict=True):
        target = tree / call.target
        target.parent.mkdir(parents=True, exist_ok=True)
        if STRINGS in object_.read_bytes():
            # As `zig cc` does. A program gets the strings in the order of its objects.
            merge = ["ld.lld", "-r", "-O3", "-m", "elf_i386", "-o", str(target), str(object_)]
            run([clang[0], *merge], tree, env)
            object_.unlink()
        else:
            object_.rename(target)
    return calls
