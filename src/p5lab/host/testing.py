# SPDX-License-Identifier: MIT
"""`./p5lab test`: runs the checks of style and types, the C++ tests of the engine, the Python unit
tests and the end-to-end tests."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from p5lab.errors import STATUS_FAILED, UserError
from p5lab.host.processors import cores
from p5lab.lab import Lab

# Python modules with their arguments. Each must end with status 0.
CHECKS: tuple[tuple[str, ...], ...] = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("mypy", "bench/run.py"),
)
# The groups of Python packages (packages.py) that the checks and tests use.
PACKAGES = ("query", "report", "notebook", "cluster", "simpoint", "gem5", "test")
# The C++ files that clang-format checks: folders and patterns.
FORMATTED = ("engine", "tests/engine")
CXX = ("*.cc", "*.hh", "*.h")
TESTS = ("tests/e2e", "tests/unit")
MOST = 8  # the largest number of processes; each process keeps some booted guests
_DISTRIBUTED = ("--dist=loadfile", "--no-loadscope-reorder")
ENGINE_TESTS = tuple(f"build/tests/{name}_tests" for name in ("engine", "mutation", "nominal"))
# The summary of doctest, the C++ test framework, without its colours.
DOCTEST = re.compile(r"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped")
# The parts that can run alone, and the targets that must be built before each part. None means that
# no target must be built. An empty tuple means all targets.
UNIT, ENGINE, E2E = "unit", "engine", "e2e"
PARTS: dict[str, tuple[str, ...] | None] = {UNIT: None, ENGINE: ("build/tests",), E2E: ()}


@dataclass(frozen=True)
class Tally:
    """The numbers of passed, failed and skipped tests. A test program that ends without these
    numbers counts as one failure."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


@dataclass(frozen=True)
class Choice:
    """The tests to run: all tests, the tests of a part, or those tests of a part that `name`
    selects. `arguments` are for pytest, or for doctest if the part is `engine`."""

    part: str = ""
    name: str = ""
    arguments: tuple[str, ...] = ()

    @classmethod
    def parse(cls, words: Sequence[str]) -> "Choice":
        """Parses [PART [NAME]] [ARGUMENT...] of the command line.

        The first word is an argument of pytest if it is an option or a path. Raises UserError for
        any other word that is not the name of a part.
        """
        if not words:
            return cls()
        if words[0] in PARTS:
            named = len(words) > 1 and not words[1].startswith("-")
            rest = words[2:] if named else words[1:]
            return cls(words[0], words[1] if named else "", tuple(rest))
        if words[0].startswith("-") or "/" in words[0] or ".py" in words[0]:
            return cls(arguments=tuple(words))
        raise UserError(
            f"test: unknown part {words[0]!r}: expected {', '.join(PARTS)},"
            " or arguments for pytest after --"
        )

    @property
    def targets(self) -> tuple[str, ...] | None:
        """The targets to build before the tests. None means that no target must be built. An empty
        tuple means all targets."""
        return PARTS[self.part] if self.part else ()


EVERYTHING = Choice()


def run(lab: Lab, choice: Choice = EVERYTHING, *, full: bool = False) -> int:
    """Runs the chosen tests, and continues after failures. Returns 0 if all tests pass. Each check
    of style or types that fails counts as a failed test.

    `full` sets P5LAB_FULL=1, so that tests use full counts instead of reduced counts. P5LAB_BUILT=1
    tells the tests that all products are built. If a product is missing, a test that needs the
    product then fails and is not skipped. pytest uses one process for each processor. All tests of
    a file run in the same process, because these tests share results. The long files start first.
    Tests that measure time run alone at the end. If a name or arguments select tests, one process
    runs the selected tests.
    """
    environment = {
        **os.environ,
        **({"P5LAB_FULL": "1"} if full else {}),
        **({"P5LAB_BUILT": "1"} if choice.targets == () else {}),
    }
    failed: list[str] = []
    if choice.part == ENGINE:
        total = _engine(lab, choice, environment)
    elif choice.name or choice.arguments:
        total = _Pytest(lab, _selection(lab, choice), environment).finish()
    else:
        places = [f"tests/{choice.part}"] if choice.part else list(TESTS)
        number = f"--numprocesses={min(cores(), MOST)}"
        words = [*_DISTRIBUTED, number, "-m", "not alone", *places]
        tests = _Pytest(lab, words, environment, held=not choice.part)
        total = Tally()
        if not choice.part:
            failed = failed_checks(lab, environment)
            total += _engine(lab, choice, environment)
        total += tests.finish()
        if full:
            total += _Pytest(lab, ["-m", "alone", *places], environment, maybe_none=True).finish()
    if failed:
        print(f"p5lab: failed: {', '.join(failed)}", file=sys.stderr, flush=True)
        total += Tally(failed=len(failed))
    print(f"p5lab: {total}", flush=True)
    return STATUS_FAILED if total.failed else 0


def _selection(lab: Lab, choice: Choice) -> list[str]:
    """The arguments of pytest that select the tests of a part by name.

    pytest imports every given file, and this takes longer than one test. pytest therefore gets only
    the files that contain this name in the file name or in the text. If there is no such file,
    pytest gets all files.
    """
    if not choice.part:
        return list(choice.arguments)
    place = f"tests/{choice.part}"
    if not choice.name:
        return [*choice.arguments, place]
    files: list[str] = []
    if re.fullmatch(r"[\w-]+", choice.name):
        name = choice.name.lower()
        files = [
            lab.short(path)
            for path in sorted((lab.root / place).glob("test_*.py"))
            if name in path.stem.lower() or name in path.read_text(encoding="utf-8").lower()
        ]
    return ["-k", choice.name, *choice.arguments, *(files or [place])]


def failed_checks(lab: Lab, environment: Mapping[str, str]) -> list[str]:
    """Runs the checks of style and types. Returns the names of the checks that fail."""
    commands = [([sys.executable, "-m", *check], " ".join(check[:2])) for check in CHECKS]
    if files := cxx_files(lab):
        program = Path(sys.executable).with_name("clang-format")
        commands.append(([str(program), "--dry-run", "--Werror", *files], "clang-format"))
    failed = []
    for command, name in commands:
        try:
            status = subprocess.run(command, cwd=lab.root, env=environment).returncode
        except OSError as error:
            print(f"p5lab: {name}: {error.strerror}", file=sys.stderr)
            status = STATUS_FAILED
        if status != 0:
            failed.append(name)
    return failed


def cxx_files(lab: Lab) -> list[str]:
    """The C++ files that clang-format checks, as paths below the checkout."""
    return sorted(
        lab.short(path)
        for place in FORMATTED
        for pattern in CXX
        for path in (lab.root / place).rglob(pattern)
    )


def _engine(lab: Lab, choice: Choice, environment: Mapping[str, str]) -> Tally:
    """Runs all C++ test programs. With a name, only test cases that contain the name run."""
    arguments = list(choice.arguments)
    if choice.name:
        arguments.append(f"--test-case=*{choice.name}*")
    total = Tally()
    for program in ENGINE_TESTS:
        total += _engine_tests(lab, program, arguments, environment)
    if not arguments:
        return total
    if not total.passed + total.failed:
        print("p5lab: no C++ test case has that name", file=sys.stderr)
        return Tally(failed=1)
    return Tally(total.passed, total.failed)  # "skipped" are unselected cases


def _engine_tests(
    lab: Lab, program: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> Tally:
    """Runs a doctest program and prints its output."""
    try:
        done = subprocess.run(
            [lab.root / program, "--no-colors", *arguments],
            cwd=lab.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    except OSError as error:
        print(f"p5lab: {program}: {error.strerror}", file=sys.stderr)
        return Tally(failed=1)
    print(done.stdout, end="", flush=True)
    counted = DOCTEST.search(done.stdout)
    tally = Tally(*map(int, counted.groups())) if counted else Tally()
    if done.returncode != 0 and not tally.failed:
        print(f"p5lab: {program} ended with status {done.returncode}", file=sys.stderr)
        tally += Tally(failed=1)
    return tally


class _Pytest:
    """A running pytest. If `held` is true, finish() prints the output of pytest. If `maybe_none` is
    true, a run that finds no test is not a failure."""

    NO_TESTS = 5  # pytest's exit status

    def __init__(
        self,
        lab: Lab,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        held: bool = False,
        maybe_none: bool = False,
    ) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self._report = Path(self._directory.name) / "pytest.xml"
        self._good = (0, self.NO_TESTS) if maybe_none else (0,)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", f"--junitxml={self._report}", *arguments],
            cwd=lab.root,
            env=environment,
            stdout=subprocess.PIPE if held else None,
        )

    def finish(self) -> Tally:
        """Waits for the end of pytest and returns the counts. If pytest was stopped, this counts as
        a failure."""
        if self._process.stdout:
            while piece := os.read(self._process.stdout.fileno(), 1 << 16):
                sys.stdout.buffer.write(piece)
                sys.stdout.flush()
        status = self._process.wait()
        tally = read_junit(self._report) if self._report.exists() else Tally()
        self._directory.cleanup()
        # A run of pytest that was stopped or found no test also counts as a failure.
        return tally if status in self._good or tally.failed else tally + Tally(failed=1)


def read_junit(report: Path) -> Tally:
    """The counts in a JUnit report. An error in a fixture counts as a failure."""
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))

    def count(name: str) -> int:
        return sum(int(suite.get(name, "0")) for suite in suites)

    bad, skipped = count("failures") + count("errors"), count("skipped")
    return Tally(count("tests") - bad - skipped, bad, skipped)
