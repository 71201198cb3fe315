# SPDX-License-Identifier: MIT
"""A run without an operating system: the boot ROM loads a fragment of code with its caller, and the
engine traces each instruction (`./p5lab cycles`)."""

import json
from pathlib import Path

from p5lab.describe.fragment import Fragment, Issue
from p5lab.describe.guest import X86_64
from p5lab.describe.machine import Machine
from p5lab.describe.plan import Plan, PlanPart
from p5lab.engines import EVENTS, check_inputs
from p5lab.engines.bochs import bochsrc, engine
from p5lab.errors import UserError
from p5lab.lab import Lab, relative

ISSUES = "issues.jsonl"
INSTRUCTIONS = 250_000  # of all calls
SECONDS = 0.5  # of virtual time; the BIOS takes 0.14 s of it at 90 MHz
ENTRY = "0:0x7c00"


def targets(lab: Lab) -> tuple[str, ...]:
    """The build targets of such a run."""
    made = (lab.engine, lab.record_of(lab.engine))
    return (*map(lab.short, made), "build/engine/bios", "build/bootrom")


def plan(lab: Lab, machine: Machine, fragment: Fragment, directory: Path) -> Plan:
    """The plan of a run in `directory`. Raises UserError for a machine without Pentium clocks."""
    if machine.values["cpu.isa"] == X86_64:
        raise UserError(f"cpu.isa = {X86_64}: expected a Pentium, whose clocks the engine models")
    inputs = {
        "engine": lab.engine,
        "bios": lab.bios,
        "vgabios": lab.vgabios,
        "bootrom": lab.bootrom,
        "timing": lab.timing(str(machine.values["cpu.timing"])),
    }
    check_inputs(inputs)
    paths = {role: relative(path, directory) for role, path in inputs.items()}
    conf = {
        **machine.engine_conf(),
        "run.events": EVENTS,
        "run.output": engine.OUTPUT,
        "run.limit_cycles": str(round(SECONDS * machine.clock_hz)),
        "run.timing": "on",
        "run.timing_table": "timing",
        "boot.entry": ENTRY,
        "boot.segment": "0",
        "boot.sp": "0x7000",
    }
    job = {
        "run.job": "",
        "run.cpi": "true",
        "run.issues": ISSUES,
        "run.issue_limit": str(INSTRUCTIONS),
    }
    write = {}
    for number, (address, content) in enumerate(fragment.blobs()):
        write[f"blob{number}"] = content
        conf[f"boot.blob.{number}"] = f"{address:#x} 0 - blob{number}"
    emulator = bochsrc.make(lab, machine, paths)
    write |= {engine.BOOT_CONF: engine.conf_text(conf, paths), "bochsrc": emulator.text.encode()}
    return Plan(
        boot=PlanPart(inputs, {engine.CONF: conf, "bochsrc": emulator.values}, write),
        job=PlanPart({}, {engine.JOB: job}, {engine.JOB_CONF: engine.conf_text(job, paths)}),
        command=(paths["engine"], "-q", "-f", "bochsrc"),
        environment=engine.ENVIRONMENT,
        versions={},
        built_from={},
    )


def issues(directory: Path) -> list[Issue]:
    """The traced instructions of a run; none if the run failed before the first of them."""
    issues: list[Issue] = []
    path = directory / ISSUES
    if not path.is_file() or not path.stat().st_size:
        return issues
    with path.open(encoding="ascii") as file:
        names = json.loads(file.readline())["events"]
        for line in file:
            address, clock, *counts = json.loads(line)
            grown = dict(zip((names[i] for i in counts[::2]), counts[1::2], strict=True))
            issues.append(Issue(address, clock, grown))
    return issues
