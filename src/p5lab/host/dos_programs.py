# SPDX-License-Identifier: MIT
"""The programs of p5lab for DOS in 16-bit real mode: `run --programs dos`.

Zig's clang compiles each C file of workloads/dos for real mode, and its linker makes a .COM program
of it. The programs are in build/dos and contain no code from other projects. They are made only
when a command asks for them.
"""

import tempfile
from pathlib import Path

from p5lab.describe import markers, supplied
from p5lab.describe.supplied import FAT, SuppliedProgram, SuppliedSystem
from p5lab.files import store_bytes
from p5lab.host import compiler
from p5lab.lab import Lab
from p5lab.progress import Progress

NAME = "dos"
PLACE, START, LINKED = "workloads/dos", "run.bat", "com.ld"
FLAGS = (
    *("-target", "x86-freestanding-code16", "-mcpu=pentium", "-std=gnu11", "-Os"),
    *("-ffreestanding", "-fno-stack-protector", "-fno-sanitize=undefined"),
    *("-Wall", "-Wextra", "-Werror"),
)


def load(lab: Lab) -> dict[str, SuppliedProgram]:
    """All programs by name, in the order of their description. Raises UserError for a wrong
    description."""
    return supplied.read(lab.root / PLACE)


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the programs, and run.bat with the line ends of DOS. Compiles the
    programs that are out of date. Raises UserError with the compiler's messages if that fails."""
    place, programs = lab.root / PLACE, load(lab)
    parts = [place / LINKED, *place.glob("*.h"), markers.HEADER]
    files = [_program(lab, program, parts) for program in programs.values()]
    batch = (place / START).read_bytes().replace(b"\n", b"\r\n")
    return [store_bytes(lab.root / "build/dos" / START, batch), *files]


def _program(lab: Lab, program: SuppliedProgram, parts: list[Path]) -> Path:
    source = lab.root / PLACE / f"{program.name}.c"
    defaults = [f"-DDEFAULT_{key}={value}" for key, value in program.parameters.items()]
    key = compiler.product_key(lab, (*FLAGS, *defaults), (source, *parts))
    path = lab.root / "build/dos" / key / f"{program.name}.com"
    if path.is_file():
        return path
    Progress().note(f"Compiling {source.name} for DOS")
    with tempfile.TemporaryDirectory() as work:
        compiled, linked = f"{work}/object.o", Path(work, path.name)
        where = f"--programs {NAME}: {source.name}"
        compiler.zig(where, ["cc", *FLAGS, *defaults, "-c", source, "-o", compiled])
        link = ("-m", "elf_i386", "--oformat=binary", "-T", lab.root / PLACE / LINKED)
        compiler.zig(where, ["ld.lld", *link, "-o", linked, compiled])
        return store_bytes(path, linked.read_bytes())


SYSTEM = SuppliedSystem(NAME, FAT, load, made)
