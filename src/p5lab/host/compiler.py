# SPDX-License-Identifier: MIT
"""Compiles a source file of the user for a guest's processor: `run --program hello.c`.

The compiler is the one that compiles the workloads, Zig's clang. The program is static, and
contains its symbols and debug information. Of the C library it contains only the symbols. A program
in C for a Pentium is linked as the workloads are, with the same build of musl. Other programs get
Zig's musl, and in C++ also Zig's C++ library. Zig compiles these libraries when they are first
needed.

Each program is kept in build/programs, together with the digest of each file from which it was
made. The compiler runs again only if such a file, an option or the compiler has changed.
"""

import hashlib
import importlib
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from p5lab.describe import program as programs
from p5lab.describe.program_files import MOST_INPUT, STDIN
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.files import read_at_most, read_json, replace_json, sha256_of, store_bytes
from p5lab.host import build
from p5lab.lab import Lab, cache_directory
from p5lab.progress import Progress
from p5lab.terminal import for_terminal

# The compiler of Zig by the ending of the source file.
LANGUAGES = {
    ".c": "cc",
    ".s": "cc",
    ".S": "cc",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
}
# Zig adds checks for undefined behaviour to a program without -O, and other code for a protected
# stack. Neither belongs to the user's program. With -O, Zig also removes assert().
FLAGS = ("-static", "-O2", "-g", "-UNDEBUG", "-fno-sanitize=undefined", "-fno-stack-protector")
LEVELS = ("-O1", "-O2", "-O3")  # Zig passes -O2 to its clang for each of them
LINKER = "ld.lld "  # the beginning of the command that Zig prints
MADE = "made.json"  # the options and messages of the compiler, and the digests of the inputs
PLACE = "build/programs"
HEADERS = "workloads/lib"  # marker.h, for programs with markers
C_LIBRARY = "build/libc/musl/lib"  # of the workloads for a Pentium
# The file that gives a program its standard input.
INPUT_SOURCE = "guest-images/parts/program/standard_input.c"
# Options without the start files of the C library, which call the constructor of INPUT_SOURCE.
NO_START = ("-nostdlib", "-nostartfiles", "-ffreestanding")
# Options of the linker whose value is the next word.
WITH_VALUE = ("-L", "-l", "-T", "-u", "-z", "-Xlinker")
# Libraries that musl has in its libc.a (EMPTY_LIBS in musl's Makefile).
IN_LIBC = ("c", "m", "rt", "pthread", "crypt", "util", "xnet", "resolv", "dl")


def is_source(path: Path) -> bool:
    """Whether the name of a file has the ending of a source file that `compiled` accepts."""
    return path.suffix in LANGUAGES


def compiled(
    lab: Lab, source: Path, cflags: str, isa: str, standard_input: Path | None = None
) -> Path:
    """The program made from a source file for guests with this ISA level (guest.toml). `cflags`:
    more options of the compiler, with the quotes of a shell. Relative paths in these options refer
    to the current directory. `standard_input`: the file that the program reads as its standard
    input.

    Prints the warnings of the compiler on stderr. Raises UserError if there is no such file, and
    with all messages of the compiler if the file cannot be compiled.
    """
    where = f"--program {source}"
    if not source.is_file():
        raise UserError(f"{where}: {'not a file' if source.exists() else 'no such file'}")
    words = programs.words_of(cflags, "--cflags")
    if standard_input and (refused := [word for word in NO_START if word in words]):
        raise UserError(
            f"{STDIN}: expected without --cflags {refused[0]}: the start of the C library opens the"
            " input"
        )
    more: list[str] = []
    for word in words:
        more += ["-Xclang", word] if word in LEVELS else [word]
    source = source.resolve()
    command = _command(lab, source, more, isa)
    added = [lab.root / INPUT_SOURCE] if standard_input else []
    place = lab.root / PLACE / _key([*command, *map(str, (source, *added))]) / source.stem
    said = _made_before(place)
    if said is None:
        libc = _libc(lab, source, more, isa)
        with Progress().activity("compile") as step:
            # With its own libraries, Zig may need minutes.
            step(f"{source.name} for {isa}" + ("" if libc else ", with the libraries of Zig"))
            said = _compile(command, source, more, place, where, libc, added)
    if said:
        sys.stderr.write(for_terminal(said, lines=True))
    return _with_input(lab, place, standard_input) if standard_input else place


def _with_input(lab: Lab, program: Path, file: Path) -> Path:
    """The program with its standard input and the length of it at the end of its file, where
    INPUT_SOURCE finds them. Raises UserError if the input cannot be read."""
    content = read_at_most(MOST_INPUT, file, f"{STDIN} {file}", "use a smaller input")
    whole = program.read_bytes() + content + struct.pack("<Q", len(content))
    digest = hashlib.sha256(whole).hexdigest()
    place = store_bytes(lab.root / PLACE / digest[:16] / program.name, whole)
    place.chmod(0o755)
    with suppress(OSError, UserError):  # without a complete list of inputs, there is no record
        record = read_json(program.with_name(MADE), "")
        used = {**record["inputs"], str(file.resolve()): hashlib.sha256(content).hexdigest()}
        replace_json(place.with_name(MADE), {**record, "inputs": used, "program": digest})
    return place


def record_of(lab: Lab, program: Path) -> Path | None:
    """The record of a program that `compiled` made. None for another program."""
    made = program.parent.parent == lab.root / PLACE
    return program.with_name(MADE) if made else None


def _command(lab: Lab, source: Path, more: list[str], isa: str) -> list[str]:
    """The options of the compiler, from the language to the user's options. The source file and the
    output are not among them."""
    form = programs.form(isa)
    return [
        LANGUAGES[source.suffix],
        *("-target", form.target, f"-mcpu={form.processor}"),
        *FLAGS,
        # The debug information must not depend on the current directory.
        f"-fdebug-compilation-dir={source.parent}",
        *("-idirafter", str(lab.root / HEADERS)),
        *more,
    ]


def _key(command: list[str]) -> str:
    """A name for the result of a command. Relative paths in the command refer to the current
    directory, so this directory is a part of the name."""
    text = "\0".join((version("ziglang"), str(Path.cwd()), *command))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def product_key(lab: Lab, options: Iterable[str], files: Iterable[Path]) -> str:
    """The key of what the compiler makes of these files with these options. A file that does not
    exist counts as none."""
    digest = hashlib.sha256("\0".join((version("ziglang"), *options)).encode())
    for path in sorted(files):
        if path.is_file():
            digest.update(f"\0{lab.short(path)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _made_before(program: Path) -> str | None:
    """The compiler's messages about a program that is up to date. None if the program must be
    compiled."""
    try:
        made = read_json(program.with_name(MADE), "")
        current = all(sha256_of(Path(name)) == was for name, was in made["inputs"].items())
        return str(made["said"]) if current and sha256_of(program) == made["program"] else None
    except (OSError, UserError, LookupError, AttributeError):
        return None


def _libc(lab: Lab, source: Path, more: list[str], isa: str) -> Path | None:
    """The directory of the workloads' C library, if the program gets this library. The library is
    built if it is missing. None for another processor than a Pentium, and for C++."""
    languages = {LANGUAGES.get(Path(word).suffix) for word in (str(source), *more)}
    if programs.form(isa) is not programs.FORM_32 or "c++" in languages:
        return None
    libc = lab.root / C_LIBRARY
    if not (libc / "libc.a").is_file():
        build.ensure(lab, Progress(), (f"{C_LIBRARY}/libc.a",))
    return libc


def _compile(
    command: list[str],
    source: Path,
    more: list[str],
    place: Path,
    where: str,
    libc: Path | None,
    added: list[Path],
) -> str:
    """Makes the program. `added`: C files of p5lab that become parts of it. Returns the messages of
    the compiler, which are warnings."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as work:
        made, needs = Path(work, place.name), Path(work, "needs")
        try:
            objects = [_object(command, more, file, work, libc) for file in added]
            if libc:
                said = _make_with(libc, command, source, more, made, needs, objects)
            else:
                said = _make(command, source, more, made, needs, objects)
        except CompilerError as error:
            raise error.about(where) from None
        inputs = _inputs(needs, source, more)
        if inputs:
            inputs += [*added, *([libc / "libc.a"] if libc else [])]
        record = {
            "compiler": f"ziglang {version('ziglang')}",
            "options": command,
            "inputs": {str(path): sha256_of(path) for path in inputs},
            "program": sha256_of(made),
            "said": said,
        }
        place.with_name(MADE).unlink(missing_ok=True)
        made.replace(place)
    if inputs:
        replace_json(place.with_name(MADE), record)
    return said


class CompilerError(Exception):
    """The compiler or linker failed. The text contains all of its messages."""

    def about(self, where: str) -> UserError:
        """The error for the user. `where`: the option and the file that the compiler refused."""
        text = f"{where}: the compiler reports errors:\n{str(self).rstrip()}"
        return UserError(text, status=STATUS_FAILED)


def _object(command: list[str], more: list[str], file: Path, work: str, libc: Path | None) -> str:
    """Compiles a C file of p5lab for the processor of the user's program, without the user's
    options. Returns the path of the object."""
    own = ["cc", *command[1 : len(command) - len(more)]]
    if libc:
        own += pentium_programs().FIXED_ADDRESSES
    made = str(Path(work, f"{file.stem}.o"))
    run_zig([*own, "-g0", "-c", str(file), "-o", made])
    return made


def _make_with(
    libc: Path,
    command: list[str],
    source: Path,
    more: list[str],
    made: Path,
    needs: Path,
    added: list[str],
) -> str:
    """Makes the program `made` with the workloads' C library, and the list `needs` of its inputs.
    `added`: further objects. Returns the warnings."""
    tool = pentium_programs()
    options, links = _divided(more)
    sources = [str(source), *(word for word in options if is_source(Path(word)))]
    options = [word for word in options if word not in sources]
    compiler = [*command[: len(command) - len(more)], *tool.FIXED_ADDRESSES, *options]
    said, objects = "", []
    for number, file in enumerate(sources):
        objects.append(f"{made}.{number}.o")
        said += run_zig([*compiler, "-c", file, "-MD", "-MF", str(needs), "-o", objects[-1]])
    link = tool.linking(libc, [*objects, *added, *links], str(made), debug="-s" not in links)
    return said + run_zig(link[1:])


def _divided(words: list[str]) -> tuple[list[str], list[str]]:
    """Divides options for compiler and linker into those of the compiler, with further source
    files, and those of the linker, without libraries that libc.a contains."""
    options: list[str] = []
    links: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in WITH_VALUE:
            pair = [word, next(rest, "")]
            links += pair[1:] if word == "-Xlinker" else ["".join(pair)]
        elif word.startswith("-Wl,"):
            links += word.split(",")[1:]
        elif word == "-s" or word.startswith(("-L", "-l")) or Path(word).suffix in (".o", ".a"):
            links.append(word)
        else:
            options.append(word)
    return options, [word for word in links if word not in [f"-l{name}" for name in IN_LIBC]]


def pentium_programs() -> ModuleType:
    """The module of tools/ that says how programs for a Pentium are made."""
    place = str(Path(__file__).parents[3] / "tools")
    sys.path.insert(0, place)
    try:
        return importlib.import_module("pentium_programs")
    finally:
        sys.path.remove(place)


def _make(
    command: list[str],
    source: Path,
    more: list[str],
    made: Path,
    needs: Path,
    added: list[str],
) -> str:
    """Makes the program `made` and the list `needs` of its inputs. `added`: further objects.
    Returns the warnings.

    Zig adds debug information either to the C library and the program, or to neither. Therefore the
    program is compiled with debug information and linked without it. Then the same linker links it
    again without the option -s, which would remove all symbols."""
    several = any(is_source(Path(word)) for word in more)
    if several or "-s" in more:
        words = [str(source), *added, "-MD", "-MF", str(needs), "-o", str(made)]
        return run_zig([*command, *words])
    compiled = f"{made}.o"
    said = run_zig([*command, "-c", str(source), "-MD", "-MF", str(needs), "-o", compiled])
    linked = run_zig(
        [*command, compiled, *added, "-s", "-o", str(made)], ZIG_VERBOSE_LINK="1"
    ).splitlines()
    links = [line for line in linked if line.startswith(LINKER)]
    if not links:
        raise CompilerError("\n".join([*linked, "Zig did not print the command of its linker"]))
    places = [made, made.parent, cache_directory(), _zig().parent, *more, *added]
    again = [word for word in _words(links[-1], map(str, places)) if word != "-s"]
    # Zig prints its other commands, too, for example how it makes an archive of the C library.
    said += "".join(f"{line}\n" for line in linked if "warning:" in line)
    return said + run_zig(again)


def _words(line: str, places: Iterable[str]) -> list[str]:
    """The words of a command that Zig printed. Zig quotes nothing, so characters with a meaning for
    a shell in one of these `places` do not end a word."""
    known = sorted(filter(None, places), key=len, reverse=True)
    pattern = "|".join(map(re.escape, known))
    return shlex.split(re.sub(pattern, lambda match: re.sub(r"([^\w/])", r"\\\1", match[0]), line))


def run_zig(words: list[str], *, directory: Path | None = None, **more: str) -> str:
    """Runs Zig (`words`: a command of Zig and its options) in a directory, by default the current
    one, with more variables in its environment. Returns what Zig printed. Raises CompilerError if
    Zig fails."""
    cache = cache_directory() / "zig"
    done = subprocess.run(
        [_zig(), *words],
        cwd=directory,
        env={
            **os.environ,
            "ZIG_GLOBAL_CACHE_DIR": str(cache),
            "ZIG_LOCAL_CACHE_DIR": str(cache / "local"),
            **more,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise CompilerError(done.stdout + done.stderr)
    return done.stdout + done.stderr


def zig(where: str, words: Iterable[str | Path]) -> None:
    """Runs Zig as `run_zig` does. Raises UserError with all messages of Zig. `where`: the option
    and the file that Zig refuses."""
    try:
        run_zig([str(word) for word in words])
    except CompilerError as error:
        raise error.about(where) from None


def _zig() -> Path:
    """The compiler in the package `ziglang`. The package's own command in Python would double the
    time of a call."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise UserError("the Python package ziglang is missing; `./p5lab doctor` explains more")
    return Path(spec.origin).parent / "zig"


def _inputs(needs: Path, source: Path, more: list[str]) -> list[Path]:
    """All files from which the program was made, from the list that the compiler wrote for `make`.
    Empty if the list is not complete: the compiler writes no list for assembly language, and only
    one list for several source files."""
    if any(is_source(Path(word)) for word in more) or not needs.is_file():
        return []
    text = needs.read_text(errors="replace").replace("\\\n", " ")
    words = re.findall(r"(?:\\.|[^\s\\])+", text.partition(": ")[2])
    paths = [Path(re.sub(r"\\(.)", r"\1", word)) for word in words]
    return [source, *paths] if all(path.is_file() for path in paths) else []
