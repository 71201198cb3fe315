# SPDX-License-Identifier: MIT
"""Compiles the workloads of P5LAB_PATH for the guests that run them. The build compiles the
workloads of the checkout (workloads/SConscript)."""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from p5lab.describe import program as programs
from p5lab.describe.guest import ImageGuest, built
from p5lab.describe.run import Run
from p5lab.describe.workload import Workload
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.lab import Lab, cache_directory
from p5lab.progress import Progress


def ensure(lab: Lab, runs: Iterable[Run], progress: Progress) -> None:
    """Compiles the missing programs of these runs. Raises UserError with the compiler's message if
    a program cannot be compiled, or if a program contains an instruction that a Pentium lacks."""
    outside = (run for run in runs if run.workload.file and lab.is_outside(run.workload.file))
    needed = {programs.file_of(lab, run.workload, built(run.guest)): run for run in outside}
    for path, run in needed.items():
        symbols = lab.root / "build/symbols" / path.parent.name / path.name
        if not path.is_file() or not symbols.is_file():
            system = built(run.guest)
            progress.say(f"Compiling {run.workload.name} for {system.programs}")
            _compile(lab, run.workload, system, path, symbols)


def _compile(lab: Lab, workload: Workload, system: ImageGuest, path: Path, symbols: Path) -> None:
    source = workload.program
    assert source is not None  # every workload has a file
    form = programs.FORMS[system.programs]
    made_headers = (str(Path(header).parent) for header in workload.headers)
    places = (*form.includes, str(source.parent), *made_headers)
    includes = [word for place in places for word in ("--include", place)]
    for file in (path, symbols):
        file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        made, full = Path(place, path.name), Path(place, f"{path.name}.full")
        commands: list[list[str | Path]] = [
            [
                programs.BUILDER,
                *("--cache", cache_directory() / "zig"),
                *form.options,
                *includes,
                *("--output", made, "--symbols", full, source),
            ]
        ]
        if form.is_pentium:
            exceptions = source.with_name("isa-exceptions.txt")
            listed = ("--exceptions", exceptions) if exceptions.is_file() else ()
            commands.append(["guest-images/check_isa.py", *listed, full])
        for command in commands:
            done = subprocess.run(
                [sys.executable, *command],
                cwd=lab.root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise UserError(f"{source}: {_reason(done)}", status=STATUS_FAILED)
        full.replace(symbols)
        made.replace(path)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The first line that contains an error, or else the last line."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return (errors or lines[-1:] or [f"compiler status {done.returncode}"])[0]
