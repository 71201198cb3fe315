# SPDX-License-Identifier: MIT
"""The programs of p5lab for Win32: `run --programs win32`.

Zig's clang compiles the workloads of our own guests, and the files of workloads/win32 that replace
some of them, for a Pentium. Zig's linker makes PE programs of them that import kernel32 alone, ask
for Win32 of version 3.10 and keep their relocations. They contain no code from other projects. The
programs are in build/win32, and are made only when a command asks for them.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from p5lab.describe.supplied import FAT, SuppliedSystem
from p5lab.files import store_bytes
from p5lab.host import compiler, linux_programs, workload_programs
from p5lab.lab import Lab
from p5lab.progress import Progress

NAME = "win32"
PLACE, MADE, START = "workloads/win32", "build/win32", "run.bat"
UNDER_WINE = "run.sh"
LIBRARY, IMPORTS, DONE = "library", "kernel32", linux_programs.DONE
FLAGS = (
    *("-target", "x86-windows-gnu", "-mcpu=pentium", "-std=gnu11", "-O2", "-g0"),
    *("-ffreestanding", "-nostdlibinc", "-fno-stack-protector", "-fno-sanitize=undefined"),
    *("-ffunction-sections", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"),
    *("-Wall", "-Wextra", "-Werror", "-DP5LAB_RUNS_ANYWHERE", "-Dmain=program"),
)
# The addresses of imports are in .data, which may be written: the loaders of the time write them
# there without a change of the protection.
LINK = (
    *("/nologo", "/machine:x86", "/entry:start", "/nodefaultlib", "/opt:ref"),
    *("/fixed:no", "/dynamicbase:no", "/nxcompat:no", "/tsaware:no", "/safeseh:no"),
    *("/merge:.rdata=.data", "/merge:.bss=.bss", "/timestamp:0"),
)
VERSION = "3.10"
CONSOLE, WINDOWS = "console", "windows"
WINDOWED = "w"  # before the name of a program


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the programs, and run.bat, which starts them. Compiles the programs
    if they are out of date. Raises UserError with the compiler's messages if that fails."""
    place = lab.root / MADE / _inputs(lab)
    start = store_bytes(place / START, _batch(lab).encode())
    if not (place / f"{DONE}.exe").is_file():  # the last one
        Progress().note("Compiling the programs for Win32")
        for name, content in _programs(lab):
            store_bytes(place / name, content)
    return [start, *sorted(place.glob("*.exe"))]


def brought(lab: Lab) -> list[Path]:
    """The files for a distribution with Wine: those of the floppy, and the script that starts the
    programs."""
    return [*made(lab), lab.root / PLACE / UNDER_WINE]


def _batch(lab: Lab) -> str:
    """Starts the programs. `done` reports a program that did not end with status 0; 77 says that
    the system lacks something, and then the next program starts."""
    lines = ["@echo off", 'if "%P5LAB_DATA%"=="" set P5LAB_DATA=.']
    for name, entry in workload_programs.entries(lab, PLACE).items():
        lines += [
            f"{name} {entry.arguments}".rstrip(),
            f"if errorlevel 77 {DONE} {name} 77",
            f"if errorlevel 1 {DONE} {name} 1",
            f"if not errorlevel 0 {DONE} {name} 1",
        ]
    return "".join(f"{line}\r\n" for line in [*lines, DONE])


def _inputs(lab: Lab) -> str:
    """The digest of everything from which the programs are made."""
    folders = (PLACE, linux_programs.PLACE, "workloads/lib")
    files = {path for folder in folders for path in (lab.root / folder).rglob("*")}
    files |= {path for path, _ in workload_programs.sources(lab, PLACE).values()}
    return compiler.product_key(lab, (*FLAGS, *LINK), files)


def _programs(lab: Lab) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the programs."""
    here, wrapper = lab.root / PLACE, lab.root / linux_programs.PLACE / "program.c"
    listed = workload_programs.entries(lab, PLACE)
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        _zig("dlltool", "-m", "i386", "-k", "-d", here / f"{IMPORTS}.def", "-l", work / IMPORTS)
        _compile(lab, here / f"{LIBRARY}.c", work / LIBRARY)
        for name, (source, first) in workload_programs.sources(lab, PLACE).items():
            if first:
                program = (f"-DPROGRAM={source.stem}", f"-DPHASES={first}", f"-I{source.parent}")
                _compile(lab, wrapper, work / name, *program)
            else:
                _compile(lab, source, work / name)
            yield f"{name}.exe", _link(work, name, CONSOLE)
            if name in listed and listed[name].windowed:
                yield f"{WINDOWED}{name}.exe", _link(work, name, WINDOWS)
        _compile(lab, wrapper.with_name(f"{DONE}.c"), work / DONE)
        yield f"{DONE}.exe", _link(work, DONE, CONSOLE)


def _compile(lab: Lab, source: Path, to: Path, *more: str) -> None:
    places = (f"{PLACE}/include", PLACE, "workloads/lib")
    includes = (f"-I{lab.root / place}" for place in places)
    _zig("cc", *FLAGS, *includes, *more, "-c", source, "-o", to)


def _link(work: Path, name: str, subsystem: str) -> bytes:
    made = work / f"{name}.exe"
    parts = [work / part for part in (name, LIBRARY, IMPORTS)]
    _zig("lld-link", *LINK, f"/subsystem:{subsystem},{VERSION}", f"/out:{made}", *parts)
    return made.read_bytes()


def _zig(*words: str | Path) -> None:
    compiler.zig(f"--programs {NAME}", words)


load = partial(workload_programs.programs, place=PLACE)
phases = partial(workload_programs.phases, place=PLACE)
SYSTEM = SuppliedSystem(NAME, FAT, load, made, phases, brought=brought)
