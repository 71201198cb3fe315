# SPDX-License-Identifier: MIT
"""Assembles, compiles and links a fragment of code for `./p5lab cycles`, with the compiler that
makes the workloads."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from p5lab.describe import fragment as fragments
from p5lab.describe import program as programs
from p5lab.describe.elf import GLOBAL, Elf
from p5lab.describe.fragment import Fragment
from p5lab.errors import UserError, unknown
from p5lab.files import read_at_most
from p5lab.host import build, compiler
from p5lab.lab import Lab
from p5lab.progress import Progress

LARGEST = 1 << 20  # bytes of a source file
C_SUFFIXES = (".c", ".cc", ".cpp", ".cxx")
# Zig's `cc` fills .balign in assembly language with instructions that a Pentium does not have.
ASSEMBLER = ("clang", "-target", "i386-linux-musl", "-march=pentium")
TEXT = "assembler text"  # the name of a fragment that stands on the command line
# The values at the beginning of each call. `memory` is a page of words that are 1.
REGISTERS = {
    "eax": "1",
    "ecx": "100",
    "edx": "0",
    "ebx": "memory",
    "esi": "memory+1024",
    "edi": "memory+2048",
    "ebp": "memory+3072",
}
_HEX = re.compile(r"\s*(?:[0-9A-Fa-f]{2}[\s,]*)+")
_VALUE = re.compile(r"[-+*()\w.$ ]+")
_ERROR = re.compile(r"^(?:.*?([^/\n:]+):(\d+):\d+: |\S*: )?(?:fatal )?error: (.*)$", re.MULTILINE)
# Intel's syntax writes registers without a percent sign. GNU's assembler needs to be told.
_REGISTER = re.compile(r"\b(?:e?(?:[abcd]x|[sd]i|[sb]p)|[abcd][lh])\b", re.IGNORECASE)
_INTEL = ".intel_syntax"
_SCRIPT = """
memory = {memory:#x}; stack = {stack:#x};
SECTIONS {{
  . = 0x7C00; .runner : {{ *(.runner) }}
  . = {first:#x}; .text : {{
    fragment_begin = .; KEEP(fragment.o(.text .text.*)) fragment_end = .; KEEP(*(.fragment_end))
    *(.text .text.*)
  }}
  . = {data:#x}; .data : {{ *(.rodata .rodata.* .data .data.*) }} .bss : {{ *(.bss .bss.* COMMON) }}
  own_data = {data:#x}; own_data_end = MIN(., {data:#x} + {warm});
}}
fragment = {entry};
ENTRY(_start)
"""


def made(
    lab: Lab,
    what: str,
    *,
    function: str = "",
    arguments: Sequence[str] = (),
    registers: Mapping[str, str] | None = None,
    cflags: str = "",
) -> Fragment:
    """The fragment `what`: a source file in assembly language or C, bytes in hexadecimal, or
    assembler text. `function`: its function to call. `arguments`: expressions of the assembler,
    pushed as the arguments of the function. `registers`: values at the beginning, by name.

    Raises UserError for a file that cannot be read, assembled or linked, for an unknown function or
    register, and if the file has several functions and none is named.
    """
    start = {**REGISTERS, **_checked(registers or {})}
    for argument in arguments:
        _check_value("--args", argument)
    name, suffix, text = _source(what)
    if suffix not in C_SUFFIXES and "%" not in text and _REGISTER.search(text):
        text = text if _INTEL in text else f"{_INTEL} noprefix; {text}"
    with tempfile.TemporaryDirectory() as work:
        place = Path(work)
        _compile(lab, place, name, suffix, text, cflags)
        _caller(lab, place, start, arguments)
        entry = _entry(place / "fragment.o", name, function, in_c=suffix in C_SUFFIXES)
        image = _link(lab, place, name, entry, in_c=suffix in C_SUFFIXES)
    fragment = Fragment(name, image, intel=_INTEL in text)
    if not fragment.size:
        raise UserError(f"{name}: no code: expected at least one instruction in section .text")
    return fragment


def _checked(registers: Mapping[str, str]) -> dict[str, str]:
    for name, value in registers.items():
        if name.lower() not in REGISTERS:
            raise unknown("register", name, REGISTERS, where="--with")
        _check_value("--with", value)
    return {name.lower(): value for name, value in registers.items()}


def _check_value(option: str, value: str) -> None:
    if not _VALUE.fullmatch(value):
        raise UserError(
            f"{option} {value}: expected a number, a symbol of the file or `memory`, such as"
            " memory+64"
        )


def _source(what: str) -> tuple[str, str, str]:
    """The name, the ending and the text of the source."""
    path = Path(what)
    if path.suffix in compiler.LANGUAGES or (len(what) < 256 and path.exists()):
        if path.suffix not in compiler.LANGUAGES:
            known = ", ".join(compiler.LANGUAGES)
            raise UserError(f"{what}: expected a source file ({known}), bytes or assembler text")
        if not path.exists():
            raise UserError(f"{what}: no such file")
        content = read_at_most(LARGEST, path, what, "a fragment is short")
        return str(path), path.suffix, content.decode("utf-8", "replace")
    if _HEX.fullmatch(what):
        digits = re.sub(r"[\s,]", "", what)
        bytes_ = ",".join(f"0x{digits[i : i + 2]}" for i in range(0, len(digits), 2))
        return "bytes", ".s", f".byte {bytes_}\n"
    if re.search(r"[\s;%]|^[a-z]+[0-9]?$", what.strip()):  # also one word, such as fsqrt
        return TEXT, ".s", what.replace("\\n", "\n") + "\n"
    raise UserError(
        f"{what}: no such file, and not bytes in hexadecimal or assembler text; expected for"
        ' example loop.s, "8b 06 01 c2" or "add %eax, %ebx; inc %ecx"'
    )


def _compile(lab: Lab, place: Path, name: str, suffix: str, text: str, cflags: str) -> None:
    """Makes fragment.o. Files that the source includes are found in its directory."""
    source = Path(name)
    if suffix not in C_SUFFIXES:
        source = place / (f"fragment{suffix}" if name in (TEXT, "bytes") else source.name)
        source.write_text(text, encoding="utf-8")
    more = programs.words_of(cflags, "--cflags")
    words = list(ASSEMBLER)
    if suffix in C_SUFFIXES:
        form = programs.form("pentium")
        words = [compiler.LANGUAGES[suffix], "-target", form.target, f"-mcpu={form.processor}"]
        words += [flag for flag in compiler.FLAGS if flag not in ("-static", "-g")]
        words += compiler.pentium_programs().FIXED_ADDRESSES
    words += ["-g", "-c", "-o", str(place / "fragment.o")]
    words += ["-I", str(Path(name).parent), "-idirafter", str(lab.root / compiler.HEADERS)]
    _zig([*words, *more, str(source)], name)


def _caller(lab: Lab, place: Path, start: Mapping[str, str], arguments: Sequence[str]) -> None:
    """Makes caller.o."""
    pushes = "; ".join(f"pushl ${argument}" for argument in reversed(arguments))
    defined = {f"START_{name.upper()}": value for name, value in start.items()}
    defined |= {"ROUNDS": str(fragments.ROUNDS), "ARGUMENTS": pushes}
    source = lab.root / compiler.HEADERS / "fragment.S"
    words = [*ASSEMBLER, "-c", str(source)]
    words += [f"-D{name}={value}" for name, value in defined.items()]
    _zig([*words, "-o", str(place / "caller.o")], "the values of --args and --with")


def _entry(file: Path, name: str, function: str, *, in_c: bool) -> str:
    """The symbol of the first instruction."""
    known = [symbol.name for symbol in Elf(file.read_bytes()).symbols if symbol.binding == GLOBAL]
    if function:
        if function not in known:
            raise unknown("function", function, known, where=name)
        return function
    if not in_c:
        return "fragment_begin"
    if not known:
        raise UserError(f"{name}: expected a function that is not static; the file has none")
    if len(known) > 1:
        functions = ", ".join(sorted(known))
        raise UserError(f"{name}: expected --function NAME with one of its functions: {functions}")
    return known[0]


def _link(lab: Lab, place: Path, name: str, entry: str, *, in_c: bool) -> bytes:
    script = _SCRIPT.format(
        memory=fragments.MEMORY,
        stack=fragments.STACK,
        first=fragments.FIRST,
        data=fragments.DATA,
        warm=fragments.WARM,
        entry=entry,
    )
    (place / "script").write_text(script, encoding="ascii")
    objects = ["caller.o", "fragment.o"]
    if in_c:  # functions such as memcpy
        libc = lab.root / compiler.C_LIBRARY
        if not (libc / "libc.a").is_file():
            build.ensure(lab, Progress(), (f"{compiler.C_LIBRARY}/libc.a",))
        objects += [str(libc / "libc.a"), str(libc / "libcompiler_rt.a")]
    words = ["ld.lld", "-m", "elf_i386", "-static", "--gc-sections", "-z", "noexecstack"]
    words += ["-T", "script", "-o", "image", *objects]
    _zig(words, name, place)
    return (place / "image").read_bytes()


def _zig(words: list[str], name: str, directory: Path | None = None) -> None:
    """Runs Zig. Raises UserError with its first error in one line."""
    try:
        compiler.run_zig(words, directory=directory)
    except compiler.CompilerError as error:
        errors = _ERROR.findall(str(error))
        if not errors:
            raise error.about(name) from None
        file, line, text = errors[0]
        where = f"{name}:{line}" if line and file != "fragment.S" else name
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        raise UserError(f"{where}: {text.strip()}{more}") from None
