# SPDX-License-Identifier: MIT
"""The programs of p5lab for Linux before ELF: `run --programs linux-aout`.

They are those for Linux 2.0 to 2.6 (p5lab.host.linux_programs) from the same objects and the same C
library, with another start (workloads/linux2/aout_start.c), linked for the addresses of the format
a.out and converted to it. They are made only when a command asks for them.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from p5lab.describe.supplied import TAR, System
from p5lab.host import build, linux_programs
from p5lab.host.aout import FORMS, converted
from p5lab.host.compiler import CompilerError, pentium_programs, run_zig
from p5lab.host.files import store_bytes
from p5lab.host.progress import Progress
from p5lab.lab import Lab

NAME, FORM = "linux-aout", "linux-zmagic"
MADE = "build/linux-aout"
BEGIN, LAYOUT, CONVERTER = "aout_start", "aout.ld", "src/p5lab/host/aout.py"
FLAGS = (
    "-std=gnu11",
    "-O2",
    "-fno-stack-protector",
    "-fno-sanitize=undefined",
    "-DP5LAB_OLD_LINUX",
)
INCLUDED = ("workloads/lib", "guest-images/linux/p5ctr")


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the programs and the script that starts them. Builds the C library,
    and compiles what is out of date. Raises UserError if that fails."""
    build.ensure(lab, Progress(), (f"{linux_programs.LIBC}/libc.a",))
    place = lab.root / MADE / _inputs(lab)
    if not (place / linux_programs.DONE).is_file():  # the last one
        Progress().note("Compiling the programs for Linux before ELF")
        for name, content in _programs(lab):
            store_bytes(place / name, content)
            (place / name).chmod(0o755)
    start = store_bytes(place / linux_programs.START, linux_programs.script(lab).encode())
    return [start, *(place / name for name in linux_programs.names(lab))]


def _inputs(lab: Lab) -> str:
    """The digest of everything from which the programs are made."""
    files = {lab.root / path for path, _ in linux_programs.sources(lab).values()}
    files.add(lab.root / CONVERTER)
    for folder in (linux_programs.PLACE, linux_programs.LIBC, *INCLUDED):
        files |= {path for path in (lab.root / folder).iterdir() if path.is_file()}
    digest = hashlib.sha256("\0".join((version("ziglang"), FORM, *FLAGS)).encode())
    for path in sorted(files):
        digest.update(f"\0{lab.short(path)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _programs(lab: Lab) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the programs."""
    place = lab.root / linux_programs.PLACE
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        _compile(lab, place / f"{BEGIN}.c", work / BEGIN)
        for name, (source, first) in linux_programs.sources(lab).items():
            path = lab.root / source
            if first:
                more = (f"-I{path.parent}", f"-DPROGRAM={name}", f"-DPHASES={first}")
                _compile(lab, place / "program.c", work / "object", *more)
            else:
                _compile(lab, path, work / "object")
            yield name, _linked(lab, work)
        _compile(lab, place / f"{linux_programs.DONE}.c", work / "object")
        yield linux_programs.DONE, _linked(lab, work)


def _compile(lab: Lab, source: Path, to: Path, *more: str) -> None:
    options = [*FLAGS, *(f"-I{lab.root / one}" for one in INCLUDED), *more]
    _zig(pentium_programs().compiling(str(source), str(to), options))


def _linked(lab: Lab, work: Path) -> bytes:
    form = FORMS[FORM]
    layout = lab.root / linux_programs.PLACE / LAYOUT
    options = ["-T", str(layout), "--defsym", f"FIRST={form.first}"]
    libc = lab.root / linux_programs.LIBC
    link = pentium_programs().linking(libc, [str(work / "object"), *options], str(work / "program"))
    _zig([str(work / BEGIN) if Path(word).name == "crt1.o" else word for word in link])
    return converted((work / "program").read_bytes(), form)


def _zig(command: list[str]) -> None:
    try:
        run_zig(command[1:])
    except CompilerError as error:
        raise error.about(f"--programs {NAME}") from None


SYSTEM = System(NAME, TAR, linux_programs.load, made, linux_programs.phases)
