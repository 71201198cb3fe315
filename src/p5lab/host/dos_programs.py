# SPDX-License-Identifier: MIT
"""The programs of p5lab for DOS in 16-bit real mode: `run --programs dos`.

Zig's clang compiles each C file of workloads/dos for real mode, and its linker makes a .COM program
of it. The programs are in build/dos and contain no code from other projects. They are made only
when a command asks for them.
"""

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.errors import UserError, unknown
from p5lab.host.compiler import CompilerError, run_zig
from p5lab.host.files import store_bytes
from p5lab.host.progress import Progress
from p5lab.lab import Lab

NAME = "dos"  # the value of --programs
PLACE, LIST, START, LINKED = "workloads/dos", "programs.toml", "run.bat", "com.ld"
KEYS = ("title", "source", "parameters")
FLAGS = (
    *("-target", "x86-freestanding-code16", "-mcpu=pentium", "-std=gnu11", "-Os"),
    *("-ffreestanding", "-fno-stack-protector", "-fno-sanitize=undefined"),
    *("-Wall", "-Wextra", "-Werror"),
)


@dataclass(frozen=True)
class DosProgram:
    """A program: `parameters` are the defaults of the numbers in the job that it reads."""

    name: str
    title: str
    source: str
    parameters: Mapping[str, int]


def load(lab: Lab) -> dict[str, DosProgram]:
    """All programs by name, in the order of their description; none if the laboratory has no such
    programs. Raises UserError for a wrong description."""
    if not (lab.root / PLACE / LIST).is_file():
        return {}
    table = tomlfile.load(lab.root / PLACE / LIST, schema_version=1)
    found = {}
    for name in table.data:
        one = table.table(name)
        one.only(KEYS)
        numbers = one.table("parameters", {})
        parameters = {key: numbers.number(key, 0) for key in numbers.data}
        found[name] = DosProgram(name, one.text("title"), one.text("source"), parameters)
    return found


def check_job(lab: Lab, job: str) -> None:
    """Raises UserError for a word in --args that is not KEY=NUMBER with a parameter of one of the
    programs."""
    known = sorted({key for one in load(lab).values() for key in one.parameters})
    for word in job.split():
        key, _, value = word.partition("=")
        if key not in known:
            raise unknown("parameter of the programs for DOS", key, known, where="--args")
        if not value.isdecimal() or not 0 < int(value) <= 0x7FFFFFFF:
            raise UserError(f"--args: {word}: expected {key}=NUMBER, a whole number above 0")


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the programs, and run.bat with the line ends of DOS. Compiles the
    programs that are out of date. Raises UserError with the compiler's messages if that fails."""
    place, programs = lab.root / PLACE, load(lab)
    parts = [(place / LINKED).read_bytes(), *(one.read_bytes() for one in place.glob("*.h"))]
    files = [_program(lab, one, parts) for one in programs.values()]
    batch = (place / START).read_bytes().replace(b"\n", b"\r\n")
    return [store_bytes(lab.root / "build/dos" / START, batch), *files]


def _program(lab: Lab, one: DosProgram, parts: list[bytes]) -> Path:
    source = lab.root / PLACE / f"{one.name}.c"
    defaults = [f"-DDEFAULT_{key}={value}" for key, value in one.parameters.items()]
    said = "\0".join((version("ziglang"), *FLAGS, *defaults)).encode()
    inputs = b"\0".join((said, source.read_bytes(), *sorted(parts)))
    place = lab.root / "build/dos" / hashlib.sha256(inputs).hexdigest()[:16]
    path = place / f"{one.name}.com"
    if path.is_file():
        return path
    Progress().note(f"Compiling {source.name} for DOS")
    with tempfile.TemporaryDirectory() as work:
        compiled, linked = f"{work}/object.o", Path(work, path.name)
        try:
            run_zig(["cc", *FLAGS, *defaults, "-c", str(source), "-o", compiled])
            link = ("-m", "elf_i386", "--oformat=binary", "-T", str(lab.root / PLACE / LINKED))
            run_zig(["ld.lld", *link, "-o", str(linked), compiled])
        except CompilerError as error:
            raise error.about(f"--programs {NAME}: {source.name}") from None
        return store_bytes(path, linked.read_bytes())
