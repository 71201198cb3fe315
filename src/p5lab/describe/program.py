# SPDX-License-Identifier: MIT
"""Programs of the user, `run --program FILE`, and programs of a guest, `run --program guest:PATH`.

A guest runs static ELF programs of its own width, 32-bit x86 or x86-64. This module checks the file
before the run begins. The check does not examine the program's instructions. So a program with an
instruction that the processor lacks fails only when it executes this instruction. A guest that is a
distribution has programs on its own disk. The engine delivers no file for such a program.
"""

import hashlib
import re
import shlex
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from p5lab.describe.elf import PT_LOAD, Elf
from p5lab.describe.guest import ImageGuest
from p5lab.describe.markers import EMPTY_PHASE, WHOLE_PHASE
from p5lab.describe.program_files import NOTHING, ProgramFiles
from p5lab.describe.script import Script
from p5lab.describe.workload import EMPTY_NAME, WHOLE_NAME, Workload
from p5lab.errors import UserError
from p5lab.lab import Lab

# The limits of the guest's init (guest-images/parts/rootfs/init.c: JOB_SIZE, ARGUMENTS_MAX).
JOB_BYTES, ARGUMENTS = 1023, 63
IN_GUEST = "guest:"
LABEL = 60  # characters
ELF_EXECUTABLE, ELF_SHARED = 2, 3  # e_type
MACHINES = {2: "SPARC", 8: "MIPS", 20: "PowerPC", 40: "Arm", 62: "x86-64", 183: "AArch64"}
PT_INTERP = 3
HEADER_BYTES = 52  # of a file of 32 bits
CUT_SHORT = "an ELF file that was cut short"


@dataclass(frozen=True)
class Form:
    """The programs of one width."""

    bits: int
    elf_class: int  # e_ident[EI_CLASS]
    machine: int  # e_machine
    target: str  # of Zig and clang
    processor: str  # the oldest processor of the guests, as compilers name it

    @property
    def hint(self) -> str:
        """The end of the message about a file that has another form: what is expected, and how to
        make it."""
        kind = "32-bit x86" if self.bits == 32 else "x86-64"
        return (
            f"expected a static program for {kind}, made for example by `.venv/bin/python -m"
            f" ziglang cc -target {self.target} -mcpu={self.processor}`, or a source file, which"
            " p5lab compiles"
        )


FORM_32 = Form(32, 1, 3, "x86-linux-musl", "pentium")
FORM_64 = Form(64, 2, 62, "x86_64-linux-musl", "x86_64")


@dataclass(frozen=True, kw_only=True)
class Program(ABC):
    """What runs in place of a workload: an OwnProgram, a GuestProgram or a Shell.

    `files`: what it brings along. `script`: keys and mouse while the program runs. `called`: its
        name, if that of the file does not tell it from others that are compared with it.
        `options`: those of `run` that give it.
    """

    arguments: tuple[str, ...] = ()
    files: ProgramFiles = NOTHING
    script: Script | None = None
    called: str = ""
    options: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    @abstractmethod
    def job(self) -> str:
        """The command line for the guest's init (guest-images/parts/rootfs/init.c)."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the file that the user gave, with what tells it from others that he compares
        with it, or `guest:PATH` for a program of the guest."""

    @property
    @abstractmethod
    def whose(self) -> str:
        """Whose program it is, for the title of its workload."""

    @property
    def delivered(self) -> Path | None:
        """The file that the engine delivers to the guest."""
        return None

    @property
    def takes_input(self) -> bool:
        """Whether --stdin can give the program an input."""
        return False

    @property
    def title(self) -> str:
        """The name, as tables and records show it."""
        return self.name

    @property
    def summary(self) -> str:
        """The title, the arguments, the input and the script, for the label of a run."""
        words = (self._input, self.script.name if self.script else "")
        return " ".join(filter(None, (self.title, *self.arguments, *words)))

    @property
    def recorded(self) -> dict[str, object]:
        """The entry `program` of run.json: the name, the arguments, what it brings along, and the
        options of `run`."""
        return {
            "name": self.title,
            "arguments": list(self.arguments),
            **self.files.parameters,
            **({"script": list(self.script.titles)} if self.script else {}),
            **({"options": dict(self.options)} if self.options else {}),
        }

    @property
    def _compiled(self) -> dict[str, str]:
        """The parameters of the compiler."""
        return {}

    @property
    def _input(self) -> str:
        """The input, in a label."""
        return ""

    @property
    def workload(self) -> Workload:
        """A description of the program as a workload with one operation. The bracket of this
        workload is the whole program."""
        return Workload(
            name="program",
            title=f"a program of {self.whose}: {self.name}",
            source="",
            bracket="the whole program, from before fork() to after wait(), with its own phases",
            operation="run",
            phases={
                WHOLE_PHASE: WHOLE_NAME,
                EMPTY_PHASE: EMPTY_NAME,
                **self.files.phases,
                **(self.script.phases if self.script else {}),
            },
        )

    @property
    def parameters(self) -> dict[str, int | str]:
        """The file and the arguments, as the parameters of the workload."""
        given = {
            "file": self.name,
            **self._compiled,
            "arguments": ",".join(self.arguments),
            **self.files.parameters,
            "script": self.script.digest[:12] if self.script else "",
        }
        # A space would end the parameter.
        return {name: re.sub(r"\s", "_", text) for name, text in given.items() if text}


@dataclass(frozen=True)
class OwnProgram(Program):
    """A checked file of the host. `source`: the source file from which p5lab compiled it. `cflags`:
    the user's options of the compiler."""

    path: Path
    source: Path | None = None
    cflags: str = ""
    whose = "your own"

    @property
    def job(self) -> str:
        """As for every program."""
        return " ".join(("@program", *self.arguments))

    @property
    def name(self) -> str:
        """As for every program."""
        return self.called or (self.source or self.path).name

    @property
    def delivered(self) -> Path:
        """The file itself."""
        return self.path

    @property
    def takes_input(self) -> bool:
        """The input becomes part of a program that p5lab compiles."""
        return self.source is not None

    @property
    def title(self) -> str:
        """The name, with the user's options of the compiler."""
        return f"{self.name} ({self.cflags})" if self.cflags else self.name

    @property
    def _input(self) -> str:
        return f"<{self.files.stdin.name}" if self.files.stdin else ""

    @property
    def _compiled(self) -> dict[str, str]:
        return {"cflags": ",".join(self.cflags.split())}


@dataclass(frozen=True)
class GuestProgram(Program):
    """A program of the guest. `place`: its absolute path there. `archive`: a file of the host with
    `files` and the arguments (p5lab.describe.archive), if the guest's init unpacks one."""

    place: str
    archive: Path | None = None
    whose = "the guest"
    takes_input = True

    @property
    def job(self) -> str:
        """As for every program. An archive contains the arguments."""
        return " ".join(("@run", self.place, *(() if self.archive else self.arguments)))

    @property
    def name(self) -> str:
        """As for every program."""
        return self.called or f"{IN_GUEST}{self.place}"

    @property
    def delivered(self) -> Path | None:
        """The archive."""
        return self.archive

    @property
    def summary(self) -> str:
        """As for every program. A long text is cut, because the arguments of a program that brings
        something along can contain a whole script."""
        text = super().summary
        if not self.archive:
            return text
        text = re.sub(r",?\s+", " ", text)  # a label consists of parts with ", " between them
        return text if len(text) <= LABEL else f"{text[: LABEL - 3]}..."


@dataclass(frozen=True)
class Shell(Program):
    """A shell on the guest's console, with the programs of all workloads."""

    job = "@shell"
    name = "shell"
    whose = "the guest"


# The script that compiles a workload, and its part that links programs for a Pentium.
BUILDER, LINKER = "workloads/build_workload.py", "tools/pentium_programs.py"


GLIBC = "2.31"
"""The oldest C library of a distribution with which our programs run."""


@dataclass(frozen=True)
class Build:
    """How to compile programs from the workloads. The programs are in the directory
    build/workloads/NAME. Several guests can use them. File names are relative to the checkout.
    `made_of`: further inputs that affect the program."""

    options: tuple[str, ...] = ("--libc", "build/libc/musl/lib")
    includes: tuple[str, ...] = (
        "workloads/lib",
        "guest-images/linux/p5ctr",
        "guest-images/parts/rootfs",
    )
    is_pentium: bool = True
    made_of: tuple[str, ...] = ("guest-images/parts/musl", "sources.toml")


FORMS = {
    "linux": Build(),
    "native": Build(("--libc", "build/libc/musl/lib", "--define", "P5LAB_NATIVE")),
    "linux64": Build(("--isa", "x86-64"), is_pentium=False, made_of=()),
    "glibc64": Build(("--isa", "x86-64", "--glibc", GLIBC), is_pentium=False, made_of=()),
    "mach": Build(
        (
            *("--libc", "build/libc/mach/lib"),
            *("--headers", "build/libc/mach/lib/headers.tar"),
            *("--define", 'OTHER_DISK="/dev/hd0"'),
        ),
        (
            "workloads/lib",
            "workloads/mach",
            "guest-images/linux/p5ctr",
            "guest-images/parts/rootfs",
        ),
        made_of=("guest-images/mach", "guest-images/parts/musl", "sources.toml"),
    ),
}


def file_of(lab: Lab, workload: Workload, system: ImageGuest) -> Path:
    """The program of a workload for a guest. The build makes it for a workload of the checkout. The
    file of a workload from outside exists only after p5lab.host.delivered has compiled it. Raises
    UserError if p5lab cannot compile programs for this guest."""
    assert workload.file and workload.program  # the user's programs have no description
    if not lab.is_outside(workload.file):
        return lab.program(system.programs, workload.name)
    if system.programs not in FORMS:
        raise UserError(
            f"guest {system.name}: programs: expected one of {', '.join(FORMS)} for workload"
            f" {workload.name} ({workload.file}); found {system.programs!r}"
        )
    form = FORMS[system.programs]
    places = (BUILDER, LINKER, *form.includes, *form.made_of, "guest-images/check_isa.py")
    digest = hashlib.sha256(version("ziglang").encode())
    for place in (*(lab.root / name for name in places), workload.program.parent):
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file() and file != workload.file:
                digest.update(file.read_bytes())
    name = f"{system.programs}-{digest.hexdigest()[:16]}"
    return lab.root / "build/delivered" / name / workload.name


def form(isa: str) -> Form:
    """The ELF form of the programs that run on guests with this ISA level (guest.toml)."""
    return FORM_64 if isa == "x86-64" else FORM_32


def load(path: Path, arguments: str, memory: int, isa: str = "pentium") -> OwnProgram:
    """A checked file with its arguments. `memory` is the guest's memory in bytes, `isa` its ISA
    level. Raises UserError for a file or an argument that the guest cannot use."""
    where = f"--program {path}"
    try:
        if not path.is_file():
            raise UserError(f"{where}: {'not a file' if path.exists() else 'no such file'}")
        size = path.stat().st_size
        with path.open("rb") as file:
            image = file.read(1 << 20)
    except OSError as error:
        raise UserError(f"{where}: {error.strerror}") from None
    wanted = form(isa)
    reason = why_not(image, size, wanted)
    if reason:
        raise UserError(f"{where}: {reason}; {wanted.hint}")
    # The guest stores the file on a RAM disk. The RAM disk may use half of the memory.
    if size > memory // 2:
        raise UserError(
            f"{where}: {size / 1e6:.1f} MB; expected at most half of the machine's memory,"
            f" {memory / 2e6:.1f} MB"
        )
    return OwnProgram(path.resolve(), arguments=split_arguments(arguments, "@program"))


def path_in_guest(name: str) -> str:
    """The path of the program `guest:PATH`. Raises UserError for a path that init cannot use."""
    path = name.removeprefix(IN_GUEST)
    if not path.startswith("/") or " " in path or not path.isascii() or not path.isprintable():
        raise UserError(
            f"--program {name}: expected guest: and an absolute path of printable ASCII"
            " without spaces, such as guest:/usr/bin/sort"
        )
    return path


def why_not(image: bytes, size: int, form: Form = FORM_32) -> str:
    """The reason why a file is not a static program in the form `form`; empty if the file is such a
    program. `image`: the beginning of the file. `size`: the size of the file in bytes."""
    if image[:2] == b"#!":
        return "a script, not a program"
    if image[:4] != b"\x7fELF":
        return "not an ELF file"
    if len(image) < HEADER_BYTES:
        return CUT_SHORT
    kind, machine = struct.unpack_from("<HH", image, 16)
    if image[5] != 1 or (image[4] == form.elf_class and machine != form.machine):
        return f"an ELF file for another machine ({MACHINES.get(machine, f'number {machine}')})"
    if image[4] != form.elf_class:
        return f"a {96 - form.bits}-bit ELF file"
    if kind not in (ELF_EXECUTABLE, ELF_SHARED):
        return "an ELF file that is not linked" if kind == 1 else "not an executable ELF file"
    try:
        headers = Elf(image).headers
    except ValueError:
        return CUT_SHORT
    for header in headers:
        if header.offset + header.stored > size:
            return CUT_SHORT
        if header.kind == PT_INTERP:
            loader = image[header.offset : header.offset + header.stored].rstrip(b"\0")
            name = loader.decode("ascii", "replace")
            return f"dynamically linked (by {name}), and the guest does not have its libraries"
    is_loaded = any(header.kind == PT_LOAD for header in headers)
    return "" if is_loaded else "an ELF file with nothing to load"


def split_arguments(text: str, *before: str) -> tuple[str, ...]:
    """Checks the words of --args and returns them. `before`: the words that precede these arguments
    in the job. Raises UserError for a word that the guest's init cannot pass to the program, and
    for too many words."""
    words = words_of(text)
    for word in words:
        if not word or " " in word:
            what = "contain a space" if word else "be empty"
            raise UserError(
                f"--args: {word!r}: an argument cannot {what}, because the guest's init divides the"
                " arguments at spaces; use another character, such as _, and replace it in the"
                " program"
            )
        if not word.isascii() or not word.isprintable():
            raise UserError(f"--args: {word!r}: expected an argument of printable ASCII")
    length, most = len(" ".join((*before, *words))), ARGUMENTS + 1 - len(before)
    if length > JOB_BYTES or len(words) > most:
        raise UserError(
            f"--args: {len(words)} arguments, {length} bytes; expected at most {most}"
            f" arguments and {JOB_BYTES} bytes with {' '.join(before)}"
        )
    return words


def words_of(text: str, option: str = "--args") -> tuple[str, ...]:
    """The words of an option. Raises UserError for a missing quote."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UserError(f"{option}: {str(error).lower()}") from None
