# SPDX-License-Identifier: MIT
"""What a run brings along for a program: standard input (`run --program FILE.c --stdin FILE`), and
files for a program of a distribution (`run --program guest:PATH --file HOST:GUEST`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from p5lab.errors import UserError

FILE, STDIN, PROGRAMS = "--file", "--stdin", "--programs"
MOST_INPUT = 64 << 20  # bytes of --stdin
RESERVED = ("/dev", "/p5", "/proc", "/sys")  # of the kernel, and of p5lab


@dataclass(frozen=True)
class ProgramFiles:
    """What the user gave. `files`: files of the host with their paths in the guest. `programs`: the
    system of --programs, `supplied` its files, and `phases` the names of its phases."""

    files: tuple[tuple[Path, str], ...] = ()
    stdin: Path | None = None
    programs: str = ""
    supplied: tuple[tuple[Path, str], ...] = ()
    phases: Mapping[int, str] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that were given."""
        given = {FILE: self.files, STDIN: self.stdin, PROGRAMS: self.programs}
        return tuple(option for option, value in given.items() if value)

    @property
    def parameters(self) -> dict[str, str]:
        """The names of the files, as parameters of a workload."""
        given = {
            "files": ",".join(path for _, path in self.files),
            "stdin": self.stdin.name if self.stdin else "",
            "programs": self.programs,
        }
        return {name: text for name, text in given.items() if text}


NOTHING = ProgramFiles()


def parse(files: Sequence[str], stdin: Path | None, programs: str = "") -> ProgramFiles:
    """The options --file HOST:GUEST, --stdin FILE and --programs. Raises UserError for a path that
    init cannot use."""
    pairs: list[tuple[Path, str]] = []
    for text in files:
        host, _, inside = text.rpartition(":")
        _check_path(text, host, inside)
        if inside in (path for _, path in pairs):
            raise UserError(f"{FILE} {text}: a second file for {inside}")
        pairs.append((Path(host), inside))
    return ProgramFiles(tuple(pairs), stdin, programs)


def _check_path(text: str, host: str, inside: str) -> None:
    where = f"{FILE} {text}"
    plain = str(PurePosixPath(inside)) == inside and ".." not in PurePosixPath(inside).parts
    if not host or not inside.startswith("/") or inside == "/" or not plain:
        raise UserError(
            f"{where}: expected HOST:GUEST, a file of this host and an absolute path in the guest,"
            " such as notes.txt:/root/notes.txt"
        )
    if not inside.isascii() or not inside.isprintable():
        raise UserError(f"{where}: expected a path in the guest of printable ASCII")
    for directory in RESERVED:
        if inside == directory or inside.startswith(f"{directory}/"):
            raise UserError(f"{where}: {directory} belongs to the guest; use for example /root")
