# SPDX-License-Identifier: MIT
"""Runs the workloads on this host, without a simulator. The host's own counters count the events.

The programs for the host are in build/workloads/native. The programs are compiled from the same C
files as the guests' programs, and for the same processor. The markers of these programs read the
host's clock and counters (workloads/lib/native.h). The programs run one at a time on one processor
of the host. The working directory of a program is the directory of its build, because this
directory contains the loader and the libraries of exec-dynamic. The programs write their files into
the run directory.
"""

import os
import signal
from collections.abc import Collection
from pathlib import Path

from p5lab.describe import outputs as files
from p5lab.describe import program as programs
from p5lab.describe import this_host
from p5lab.describe.engine import UNCOUNTED, Capabilities
from p5lab.describe.guest import Guest, built
from p5lab.describe.run import Run
from p5lab.engines import EVENTS, Engine, Outcome, Plan, PlanPart, check_inputs
from p5lab.lab import Lab
from p5lab.logs import last_line
from p5stats import events

OUTPUT = files.file("output")
CANNOT_EXECUTE = 126  # exit status of env(1)
LOADER = "lib/ld-musl-i386.so.1"  # of programs with libraries
WHOLE = "whole"  # runs a program of the user and measures it


class Native(Engine):
    """The programs of build/workloads/native, on this host."""

    can = Capabilities(simulates=False, repeatable=False, alone=True, notes=UNCOUNTED)
    outputs = (EVENTS, OUTPUT)

    def targets(self, lab: Lab, guests: Collection[Guest]) -> tuple[str, ...]:
        """The programs for the host. This engine needs no guest and no simulator."""
        return (f"build/workloads/{this_host.PROGRAMS}",)

    def prepare(self, lab: Lab, run: Run, directory: Path) -> Plan:
        """The plan of a run. The run uses one processor of the host: the last processor that this
        process may use. Raises UserError for a program that is not built."""
        place = lab.program(this_host.PROGRAMS, WHOLE).parent
        arguments = run.parameter_text.split()
        if run.program is None:
            inputs = {"workload": programs.file_of(lab, run.workload, built(run.guest))}
        else:
            assert isinstance(run.program, programs.OwnProgram)  # others were refused before
            inputs = {"workload": place / WHOLE, "program": run.program.path}
            arguments = [str(run.program.path), *run.program.arguments]
        program = inputs["workload"]
        started = run.workload.starts
        if any(name.startswith("lib/") for name in started):
            started = (*started, LOADER)
        inputs |= {name: place / name for name in started}
        check_inputs(inputs)
        # Uses the last processor, because the first processor gets most interrupts of a host.
        processor = max(os.sched_getaffinity(0))
        return Plan(
            boot=PlanPart(
                inputs,
                {
                    "job": {"run.job": run.job},
                    # A measurement is valid only for this host.
                    "host": {"name": run.machine.name, **run.machine.canonical()},
                },
            ),
            command=("env", "--chdir", str(place), str(program), *arguments),
            environment={
                "PATH": os.environ.get("PATH", os.defpath),
                "LC_ALL": "C",
                "P5LAB_EVENTS": str(directory.absolute() / EVENTS),
                "P5LAB_DATA": str(directory.absolute()),
                "P5LAB_CPU": str(processor),
            },
            versions={"host": str(run.machine.values["system"])},
            built_from={},
            console=OUTPUT,
        )

    def collect(self, directory: Path, status: int) -> Outcome:
        """The outcome, from the exit status of the program and the end line of the events."""
        if status < 0:
            return Outcome("failed", f"the program was killed by {signal.Signals(-status).name}")
        if status == CANNOT_EXECUTE:
            return Outcome("failed", "this host does not run 32-bit x86 programs")
        if status != 0:
            said = self.last_output(directory)
            return Outcome("failed", f"the program ended with status {status}: {said}")
        end = events.end_line(directory / EVENTS)
        return Outcome(*end) if end else Outcome("failed", f"{EVENTS}: no end line")

    def last_output(self, directory: Path) -> str:
        """The last line that the program printed, safe for a terminal."""
        return last_line(directory / OUTPUT)


ENGINE = Native
