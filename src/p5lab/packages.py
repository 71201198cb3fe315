# SPDX-License-Identifier: MIT
"""The Python packages of p5lab: which groups there are, and how a missing group is installed.

The launcher installs the group `base` into `.venv`. A command that needs another group calls
`ensure`, which installs the group into the same environment. `requirements/GROUP.lock` pins the
packages of a group by digest (tools/lock.py).

This module uses only the standard library, because the launcher runs it before any package is
installed:

    python -m p5lab.packages GROUP...
"""

import fcntl
import hashlib
import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import STATUS_FAILED, UserError, describes_stop, unknown
from p5lab.periodic import LIVE_SECONDS, PLAIN_SECONDS, every

BASE = "base"
STAMP = "p5lab-stamp"  # of the base; the stamps of other groups are p5lab-stamp-GROUP
PATIENCE_SECONDS = 10  # the time that pip gets to end after Ctrl-C
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install")
# Python compiles a module when it is first imported. To compile all modules would take longer.
OPTIONS = ("--no-compile", "--progress-bar=off", "--require-hashes", "--only-binary=:all:")


@dataclass(frozen=True)
class PackageGroup:
    """`purpose`: what the packages are for. `megabytes`: their size on disk, rounded up."""

    purpose: str
    megabytes: int


GROUPS = {
    BASE: PackageGroup("the commands run, show and list", 690),
    "query": PackageGroup("SQL queries", 70),
    "report": PackageGroup("the pages of `report`", 110),
    "notebook": PackageGroup("notebooks", 200),
    "cluster": PackageGroup("runs on several processes and machines", 25),
    "simpoint": PackageGroup("the command `simpoint`", 180),
    "gem5": PackageGroup("HDF5 statistics of gem5", 20),
    "test": PackageGroup("the tests", 200),
}


@dataclass(frozen=True)
class Environment:
    """`root`: the checkout. `prefix`: the virtual environment with the packages. `python`: the
    interpreter of the environment."""

    root: Path
    prefix: Path
    python: Path

    @classmethod
    def here(cls) -> "Environment":
        """Returns the environment of this process, with the lock files of this checkout."""
        return cls(Path(__file__).resolve().parents[2], Path(sys.prefix), Path(sys.executable))

    def lock_file(self, group: str) -> Path:
        """The file with the pinned packages of a group."""
        return self.root / "requirements" / f"{group}.lock"

    def stamp_file(self, group: str) -> Path:
        """The file that exists if a group is installed."""
        return self.prefix / (STAMP if group == BASE else f"{STAMP}-{group}")

    def stamp(self, group: str) -> str:
        """The content of the stamp file: the digest of the lock file, and the checkout, because the
        scripts of an environment fail after a move. Raises OSError if there is no lock file."""
        return f"{hashlib.sha256(self.lock_file(group).read_bytes()).hexdigest()} {self.root}"

    def has(self, group: str) -> bool:
        """Whether a group is installed completely and in the pinned versions."""
        try:
            return self.stamp_file(group).read_text().strip() == self.stamp(group)
        except OSError:
            return False

    def missing(self, group: str) -> dict[str, str]:
        """The packages of a group that are not installed in the pinned version: name and version.

        pip writes the file INSTALLER when all files of a package are in their places. A package
        without this file is incomplete.
        """
        there = {
            _known_as(*place.name.removesuffix(".dist-info").rsplit("-", 1))
            for place in self.prefix.glob("lib/python*/site-packages/*-*.dist-info")
            if (place / "INSTALLER").exists()
        }
        pinned = PINNED.findall(self.lock_file(group).read_text(encoding="utf-8"))
        return {name: version for name, version in pinned if _known_as(name, version) not in there}

    @property
    def is_ours(self) -> bool:
        """Whether the environment belongs to this checkout, so that p5lab may change it."""
        return self.prefix.resolve() == (self.root / ".venv").resolve()


def _known_as(name: str, version: str) -> tuple[str, str]:
    return re.sub(r"[-_.]+", "-", name).lower(), version


def ensure(group: str) -> None:
    """Installs the packages of a group if they are missing. Does nothing if they are installed.

    Prints what is installed, how large it is, and the progress, on stderr. If two processes install
    at the same time, the second process waits. Raises UserError if the packages cannot be
    installed, and Stopped if the user stops the installation.
    """
    if group not in GROUPS:
        raise unknown("group of Python packages", group, GROUPS)
    install(Environment.here(), group)


def install(environment: Environment, group: str) -> None:
    """Installs a group into an environment, like `ensure`."""
    if environment.has(group):
        return
    if not environment.missing(group):
        _set_stamp(environment, group)
        return
    if not environment.is_ours:
        names = " ".join(
            f"{name}=={version}" for name, version in environment.missing(group).items()
        )
        raise UserError(
            f"missing Python packages for {GROUPS[group].purpose}; {environment.prefix} is not the"
            f" environment of p5lab; use ./p5lab, or install there: {names}",
            status=STATUS_FAILED,
        )
    kept = "the packages that are complete are kept, and the same command goes on"
    with (
        describes_stop(lambda: f"the Python packages were being installed; {kept}"),
        _alone(environment) as lock,
    ):
        if not environment.has(group):
            _install(environment, group, lock)
            _set_stamp(environment, group)
    importlib.invalidate_caches()


@contextmanager
def _alone(environment: Environment) -> Iterator[int]:
    path = environment.prefix / "p5lab-lock"
    try:
        file = path.open("w")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", status=STATUS_FAILED) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _set_stamp(environment: Environment, group: str) -> None:
    with suppress(OSError):  # if nothing can be written here, the next process looks again
        environment.stamp_file(group).write_text(f"{environment.stamp(group)}\n")


def _install(environment: Environment, group: str, lock: int) -> None:
    missing = environment.missing(group)
    about = GROUPS[group]
    free = shutil.disk_usage(environment.prefix).free / 1e6
    if free < about.megabytes:
        raise UserError(
            f"disk full: the Python packages for {about.purpose} need {about.megabytes} MB in"
            f" {environment.prefix}, {free:.0f} MB are free",
            status=STATUS_FAILED,
        )
    if group != BASE:  # the launcher has printed this line
        packages = f"{len(missing)} package{'s' if len(missing) != 1 else ''}"
        _say(
            f"p5lab: installing Python packages for {about.purpose}:"
            f" {packages}, up to {about.megabytes} MB"
        )
    for name, version in missing.items():
        _remove_incomplete(environment, name, version)
    with tempfile.TemporaryDirectory(dir=environment.prefix) as place:
        wanted = Path(place, "wanted.txt")
        wanted.write_text(_only(environment.lock_file(group).read_text(encoding="utf-8"), missing))
        command: list[str | Path] = [environment.python, *PIP, *OPTIONS, "--no-deps", "-r", wanted]
        status, said = _pip(command, lock, _Shown(environment, group, len(missing)))
    if status != 0:
        raise UserError(_failure(environment, about, said), status=STATUS_FAILED)


def _remove_incomplete(environment: Environment, name: str, version: str) -> None:
    """Removes the description of a package whose installation was killed. Otherwise pip would treat
    the package as installed."""
    for place in environment.prefix.glob("lib/python*/site-packages/*-*.dist-info"):
        described = place.name.removesuffix(".dist-info").rsplit("-", 1)
        if _known_as(*described) == _known_as(name, version):
            shutil.rmtree(place)


def _only(lock: str, names: dict[str, str]) -> str:
    """The entries of a lock file for some packages. An entry begins at the left margin."""
    entries = re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)
    return "".join(
        entry for entry in entries if (match := PINNED.match(entry)) and match[1] in names
    )


def _failure(environment: Environment, about: PackageGroup, said: list[str]) -> str:
    if any("No space left on device" in line for line in said):
        return f"disk full while installing the Python packages into {environment.prefix}"
    reasons = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    reason = (reasons or said[-1:] or ["no reason"])[0]
    return (
        f"pip could not install the Python packages for {about.purpose}: {reason};"
        " check the network and pip's configuration, then use the same command again"
    )


def _pip(command: list[str | Path], lock: int, shown: "_Shown") -> tuple[int, list[str]]:
    """Runs pip and shows its progress. Returns the exit status and the lines that pip printed. If
    the user stops p5lab, pip ends first. pip holds `lock` (a file descriptor) too, so that no other
    process installs while pip runs, even if p5lab was killed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=(lock,),
    )
    said: list[str] = []
    try:
        assert process.stdout is not None
        with shown.regularly():
            for line in process.stdout:
                said.append(line.strip())
                shown.read(line)
        return process.wait(), said
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=PATIENCE_SECONDS)
            process.kill()
            process.wait()


class _Shown:
    """The progress of one installation on stderr: one line that changes on a terminal, otherwise a
    line every PLAIN_SECONDS."""

    def __init__(self, environment: Environment, group: str, total: int) -> None:
        self._environment, self._group, self._total = environment, group, total
        self._start = time.monotonic()
        self._fetched = 0
        self._what = ""
        self._is_installing = False

    def read(self, line: str) -> None:
        """Reads a line that pip printed."""
        if match := re.match(r"Collecting ([A-Za-z0-9._-]+)", line):
            self._fetched += 1
            self._what = match[1]
        elif match := re.match(r"\s+Downloading (?:\S*/)?([^/-]+)-\S+ (\(.*\))", line):
            self._what = f"{match[1]} {match[2]}"
        elif line.startswith("Installing collected packages"):
            self._is_installing = True

    def text(self) -> str:
        """Returns the state: the number of packages that are downloaded or installed."""
        seconds = f"Python packages {time.monotonic() - self._start:.0f} s"
        if self._is_installing:
            done = self._total - len(self._environment.missing(self._group))
            return f"{seconds}: installed {done} of {self._total}"
        return f"{seconds}: download {self._fetched} of {self._total} {self._what}".rstrip()

    @contextmanager
    def regularly(self) -> Iterator[None]:
        """Shows the state while the block runs."""
        if not sys.stderr.isatty():
            with every(PLAIN_SECONDS, lambda: _say(self.text())):
                yield
            return
        try:
            with every(LIVE_SECONDS, lambda: _say(f"\r{self.text()[: _width()]}\x1b[K", end="")):
                yield
        finally:
            _say("\r\x1b[K", end="")


def _width() -> int:
    return max(shutil.get_terminal_size().columns - 1, 30)


def _say(text: str, end: str = "\n") -> None:
    if os.environ.get("P5LAB_PROGRESS") != "none":
        print(text, end=end, file=sys.stderr, flush=True)


def main(groups: list[str]) -> int:
    """Installs groups into the environment of this interpreter. Returns the exit status. Ends an
    installation after SIGTERM as after Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for group in groups:
            ensure(group)
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt as stop:
        print(f"p5lab: stopped: {stop}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
