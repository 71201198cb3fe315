# SPDX-License-Identifier: MIT
"""`./p5lab test`: style, types, the C++ tests of the model, the Python and end-to-end tests."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from p5lab.errors import STATUS_FAILED
from p5lab.execute.one_run import cores
from p5lab.lab import Lab

CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check", "src", "stats-parsers", "tests/unit"),
    ("mypy",),
    ("mypy", "bench/run.py"),
)
TESTS = ("tests/e2e", "tests/unit")
MOST = 8  # processes; each keeps some booted guests
_DISTRIBUTED = ("--dist=loadfile", "--no-loadscope-reorder")
ENGINE_TESTS = ("build/tests/engine_tests", "build/tests/mutation_tests")
# The summary of doctest, the C++ test framework, without its colours.
DOCTEST = re.compile(r"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped")


@dataclass(frozen=True)
class Tally:
    """How many tests ended how. A suite that dies without a count is one failure."""

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


def run(lab: Lab, *, full: bool = False, arguments: Sequence[str] = ()) -> int:
    """Runs everything, also after something has failed; 0 when all is green.

    `full` sets P5LAB_FULL=1 for tests that have a reduced and a full count. pytest has a process
    for each processor; files go to them whole, because a file's tests share what it made, the long
    ones first. What measures time runs alone, at the end. With arguments for pytest only pytest
    runs, in one process: a person who asks for one test wants that one.
    """
    environment = {**os.environ, **({"P5LAB_FULL": "1"} if full else {})}
    if arguments:
        total, failed = _Pytest(lab, arguments, environment).finish(), []
    else:
        tests = _Pytest(
            lab,
            [*_DISTRIBUTED, f"--numprocesses={min(cores(), MOST)}", "-m", "not alone", *TESTS],
            environment,
            held=True,
        )
        failed = [" ".join(one[:2]) for one in CHECKS if _python(lab, one, environment) != 0]
        total = sum((_engine_tests(lab, one, environment) for one in ENGINE_TESTS), Tally())
        total += tests.finish()
        if full:
            total += _Pytest(lab, ["-m", "alone", *TESTS], environment).finish()
    if failed:
        print(f"p5lab: failed: {', '.join(failed)}", file=sys.stderr, flush=True)
    print(f"p5lab: {total}", flush=True)
    return STATUS_FAILED if failed or total.failed else 0


def _python(lab: Lab, command: Sequence[str], environment: Mapping[str, str]) -> int:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=lab.root, env=environment
    ).returncode


def _engine_tests(lab: Lab, program: str, environment: Mapping[str, str]) -> Tally:
    """A doctest program, its output passed on."""
    try:
        done = subprocess.run(
            [lab.root / program, "--no-colors"],
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
    """pytest under way. `held`: what it prints is passed on by finish()."""

    def __init__(
        self, lab: Lab, arguments: Sequence[str], environment: Mapping[str, str], held: bool = False
    ) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self._report = Path(self._directory.name) / "pytest.xml"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", f"--junitxml={self._report}", *arguments],
            cwd=lab.root,
            env=environment,
            stdout=subprocess.PIPE if held else None,
        )

    def finish(self) -> Tally:
        if self._process.stdout:
            while piece := os.read(self._process.stdout.fileno(), 1 << 16):
                sys.stdout.buffer.write(piece)
                sys.stdout.flush()
        status = self._process.wait()
        tally = read_junit(self._report) if self._report.exists() else Tally()
        self._directory.cleanup()
        # Also a run that found no test, or was stopped, is no success.
        return tally if status == 0 or tally.failed else tally + Tally(failed=1)


def read_junit(report: Path) -> Tally:
    """The counts of a JUnit report; an error in a fixture is a failure."""
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))

    def count(name: str) -> int:
        return sum(int(suite.get(name, "0")) for suite in suites)

    bad, skipped = count("failures") + count("errors"), count("skipped")
    return Tally(count("tests") - bad - skipped, bad, skipped)
