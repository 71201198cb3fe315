# SPDX-License-Identifier: MIT
"""The programs of p5lab for Linux before ELF and for BSD: `run --programs linux-aout`, `bsd` and
`bsd-elf`.

They are workloads of our own guests, compiled from the same files as those for Linux 2.0 to 2.6
(p5lab.host.linux_programs), with another start. Those for BSD have a C library of their own
(guest-images/parts/musl-bsd). They are made only when a command asks for them.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from p5lab.describe.supplied import TAR, SuppliedSystem
from p5lab.files import store_bytes
from p5lab.host import build, compiler, linux_programs, workload_programs
from p5lab.host.aout import FORMS, converted
from p5lab.host.compiler import pentium_programs
from p5lab.lab import Lab
from p5lab.progress import Progress

BEGIN, LAYOUT = "aout_start.c", "aout.ld"
CONVERTER = ("src/p5lab/host/aout.py", "src/p5lab/describe/elf.py")
ENTER = "enter.S"  # of BSD: how a program enters the kernel
FLAGS = ("-std=gnu11", "-O2", "-fno-stack-protector", "-fno-sanitize=undefined")
BSD_FLAGS = ("-U__linux__", "-DP5LAB_BSD")
INCLUDED = ("workloads/lib", "guest-images/linux/p5ctr")


@dataclass(frozen=True)
class AoutKind:
    """The programs for one kind of systems.

    `name`: the value of --programs. `title`: the systems. `place`: the directory with the list of
    programs. `libc`: the directory of the C library. `flags`: more options of the compiler. `form`:
    the form of a.out; None for ELF.
    """

    name: str
    title: str
    place: str
    libc: str
    flags: tuple[str, ...]
    form: str | None

    @property
    def begin(self) -> tuple[str, ...]:
        """The files of the start of a program."""
        more = () if self.place == linux_programs.PLACE else (f"{self.place}/{ENTER}",)
        return (f"{linux_programs.PLACE}/{BEGIN}", *more)


LINUX = AoutKind(
    "linux-aout",
    "Linux before ELF",
    linux_programs.PLACE,
    linux_programs.LIBC,
    ("-DP5LAB_OLD_LINUX",),
    "linux-zmagic",
)
BSD = AoutKind("bsd", "BSD", "workloads/bsd", "build/libc/musl-bsd/lib", BSD_FLAGS, "netbsd-zmagic")
OPENBSD = AoutKind("bsd-elf", "OpenBSD", BSD.place, BSD.libc, (*BSD_FLAGS, "-DP5LAB_ELF"), None)


def made(lab: Lab, kind: AoutKind) -> list[Path]:
    """The files for the floppy: the programs and the script that starts them. Builds the C library,
    and compiles what is out of date. Raises UserError if that fails."""
    build.ensure(lab, Progress(), (f"{kind.libc}/libc.a", f"{kind.libc}/libcompiler_rt.a"))
    place = lab.root / "build" / kind.name / _inputs(lab, kind)
    if not (place / linux_programs.DONE).is_file():  # the last one
        Progress().note(f"Compiling the programs for {kind.title}")
        for name, content in programs(lab, kind):
            store_bytes(place / name, content)
            (place / name).chmod(0o755)
    script = linux_programs.script(lab, kind.place)
    start = store_bytes(place / linux_programs.START, script.encode())
    return [start, *(place / name for name in linux_programs.names(lab, kind.place))]


def _inputs(lab: Lab, kind: AoutKind) -> str:
    """The digest of everything from which the programs are made."""
    files = {lab.root / path for path, _ in linux_programs.sources(lab, kind.place).values()}
    files |= {lab.root / name for name in CONVERTER}
    for folder in (linux_programs.PLACE, kind.place, kind.libc, *INCLUDED):
        files |= {*(lab.root / folder).iterdir()}
    return compiler.product_key(lab, (kind.form or "", *FLAGS, *kind.flags), files)


def programs(lab: Lab, kind: AoutKind) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the programs."""
    place = lab.root / linux_programs.PLACE
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        begin = [work / f"begin{number}" for number, _ in enumerate(kind.begin)]
        for source, to in zip(kind.begin, begin, strict=True):
            _compile(lab, kind, lab.root / source, to)
        for name, (source, first) in linux_programs.sources(lab, kind.place).items():
            path = lab.root / source
            if first:
                more = (f"-I{path.parent}", f"-DPROGRAM={name}", f"-DPHASES={first}")
                _compile(lab, kind, place / "program.c", work / "object", *more)
            else:
                _compile(lab, kind, path, work / "object")
            yield name, _linked(lab, kind, work, begin)
        _compile(lab, kind, place / f"{linux_programs.DONE}.c", work / "object")
        yield linux_programs.DONE, _linked(lab, kind, work, begin)


def _compile(lab: Lab, kind: AoutKind, source: Path, to: Path, *more: str) -> None:
    options = [*FLAGS, *kind.flags, *(f"-I{lab.root / folder}" for folder in INCLUDED), *more]
    compiler.zig(
        f"--programs {kind.name}", pentium_programs().compiling(str(source), str(to), options)[1:]
    )


def _linked(lab: Lab, kind: AoutKind, work: Path, begin: list[Path]) -> bytes:
    """The program from the object in `work`. `begin`: the objects of its start, instead of the C
    library's."""
    form = FORMS[kind.form] if kind.form else None
    options = [str(work / "object"), *map(str, begin[1:])]
    if form:
        layout = lab.root / linux_programs.PLACE / LAYOUT
        options += ["-T", str(layout), "--defsym", f"FIRST={form.first}"]
    link = pentium_programs().linking(lab.root / kind.libc, options, str(work / "program"))
    words = [str(begin[0]) if Path(word).name == "crt1.o" else word for word in link]
    compiler.zig(f"--programs {kind.name}", words[1:])
    program = (work / "program").read_bytes()
    return converted(program, form) if form else program


SYSTEMS = tuple(
    SuppliedSystem(
        kind.name,
        TAR,
        partial(workload_programs.programs, place=kind.place),
        partial(made, kind=kind),
        partial(workload_programs.phases, place=kind.place),
    )
    for kind in (LINUX, BSD, OPENBSD)
)
