# SPDX-License-Identifier: MIT
"""The user's own gem5 (P5LAB_GEM5) with the configurations of configs/gem5.

The engine gem5_classic has gem5's own processor, TLBs and classic caches. The engine gem5 is the
same one, but if this gem5 has P5CPU (configs/gem5/extras), gem5_chip makes its runs instead.

gem5 boots x86-64 guests only. A run restores a checkpoint that was made at the guest's ready
marker. The first run of a machine and guest makes the checkpoint (p5lab.engines.gem5.checkpoint).
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from p5lab.describe import delivery
from p5lab.describe import outputs as files
from p5lab.describe.engine import DEVIATIONS, Capabilities
from p5lab.describe.guest import X86_64, built
from p5lab.describe.observation import Cpi, NominalClocks
from p5lab.describe.run import Run
from p5lab.engines import EVENTS, Engine, Outcome, Plan, PlanPart, check_inputs
from p5lab.engines.gem5 import checkpoint, direct, parameters, versions, workload
from p5lab.engines.gem5.ending import reason
from p5lab.engines.gem5.setup import Setup
from p5lab.errors import UserError
from p5lab.files import read_json, sha256_of
from p5lab.lab import Lab, cache_directory, relative
from p5lab.logs import last_line, panic, printable, signal_name
from p5stats import StatsError, events

VARIABLE = "P5LAB_GEM5"
SETUP, JOB, CONSOLE = "gem5.json", "job", files.file("console")
M5OUT = "m5out"
STATS, MARKERS = f"{M5OUT}/stats.txt", f"{M5OUT}/markers.jsonl"
OUTPUT, SERIAL = f"{M5OUT}/{files.file('output')}", f"{M5OUT}/board.pc.com_1.device"
# gem5's CPU models. On the atomic CPU, which also boots the guest, no access takes time.
TIMING, ATOMIC = "timing", "atomic"
CHIP = "gem5_chip"  # the engine
# Exit statuses of configs/gem5/run.py.
PROGRAM_FAILED, BAD_INPUT, GUEST_FAILED, TIME_LIMIT = 1, 2, 3, 4
PROBE_SECONDS = 60


@dataclass(frozen=True)
class Binary:
    """A gem5 program, with the version and parts that it reports."""

    path: Path
    digest: str
    version: str
    no_extras: str  # why our SimObjects are unusable; empty if usable
    cpus: tuple[str, ...] = ()  # gem5's names of its CPU models

    @property
    def extras(self) -> bool:
        """Whether our SimObjects can be used with this gem5."""
        return not self.no_extras


class Classic(Engine):
    """A gem5 binary with the configurations of configs/gem5: gem5's own processor and caches."""

    can = Capabilities(
        guests=(X86_64,),
        rings=False,
        feedback=True,
        notes=DEVIATIONS,
    )
    outputs = (EVENTS, STATS, MARKERS, OUTPUT, SERIAL, CONSOLE)

    def examine(self, lab: Lab, runs: Sequence[Run]) -> list[str]:
        """Returns a remark if gem5 lacks our SimObjects or was not tested. Raises UserError for a
        guest that gem5 cannot boot, and for a machine that gem5 cannot model."""
        for run in runs:
            if why := direct.why_not(run.guest):
                raise UserError(f"--engine gem5: {why}")
            parameters.derive(run.machine.values)
        super().examine(lab, runs)
        gem5 = binary(lab)
        remarks = [remark] if (remark := versions.remark(gem5.version)) else []
        if gem5.no_extras:
            remarks.append(
                f"gem5 {gem5.version} without our SimObjects: {gem5.no_extras}. The header"
                f" of {MARKERS} of each run lists the consequences."
            )
        return remarks

    def prepare(self, lab: Lab, run: Run, directory: Path) -> Plan:
        """The plan of a run: the setup and the job in the run directory, and gem5's command. Raises
        UserError for a missing file, and for a gem5 that cannot be used."""
        gem5 = binary(lab)
        system = built(run.guest)
        files = direct.files(system)
        inputs = dict(files)
        if run.program and run.program.delivered:
            inputs["program"] = run.program.delivered
        delivered = delivery.archived(lab, run)
        if delivered:
            inputs["delivered"] = delivered
        check_inputs(inputs)
        names = {role: relative(path, directory) for role, path in files.items()}
        machine = parameters.derive(run.machine.values)
        setup = Setup(
            machine=run.machine.values,
            files={**names, "job": JOB},
            command_line=workload.command_line(
                system.cmdline, machine.core_hz, run.seed, chip=self.cpu(run) == versions.CHIP
            ),
            cpu=self.cpu(run),
            nominal=NominalClocks() in run.observation,
            cpi=Cpi() in run.observation,
            extras="on" if gem5.extras else "off",
            limit_seconds=run.limit_seconds,
            checkpoints=str(cache_directory() / "gem5/checkpoints"),
        )
        archive = delivered.read_bytes() if delivered else b""
        sources = (configurations(lab), lab.root / "src/p5lab/engines/gem5")
        script = relative(configurations(lab) / "run.py", directory)
        return Plan(
            boot=PlanPart(
                inputs,
                {
                    "gem5": gem5.digest,
                    "configs/gem5": checkpoint.digest_of(sources),
                    "machine": run.machine.canonical("engine", "bochsrc"),
                    "command line": setup.command_line,
                    "cpu": setup.cpu,
                    "extras": setup.extras,
                    **({"nominal": True, "cpi": setup.cpi} if setup.nominal else {}),
                    "limit_seconds": run.limit_seconds,
                    "job": {"run.job": run.job},
                },
                {SETUP: setup.text().encode(), JOB: direct.job_file(run.job, archive)},
            ),
            command=(str(gem5.path), "-d", M5OUT, "--listener-mode=off", script, "--setup", SETUP),
            environment={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            versions={"gem5": gem5.version},
            built_from={"guest": system.record},
        )

    def cpu(self, run: Run) -> str:
        """The CPU model of a run."""
        return TIMING if run.feedback else ATOMIC

    def collect(self, directory: Path, status: int) -> Outcome:
        """Converts gem5's statistics into events. Returns the outcome, from the exit status and the
        end line of the events."""
        said = printable(reason(directory / CONSOLE)) or last_line(directory / CONSOLE)
        if why := panic(directory / SERIAL):
            said = f"{said}: {why}"
        if status < 0:
            return Outcome("failed", f"gem5 was killed by {signal_name(-status)}: {said}")
        if status == TIME_LIMIT:
            return Outcome("timeout", said)
        if status == BAD_INPUT:
            return Outcome("failed", f"gem5's configuration was refused: {said}")
        if status == GUEST_FAILED:
            return Outcome("failed", said)
        if status not in (0, PROGRAM_FAILED):
            return Outcome("failed", f"gem5 ended with status {status}: {said}")
        # Imported here because only this function needs these modules.
        from p5stats import gem5_events

        try:
            gem5_events.convert(directory / M5OUT, directory / EVENTS)
        except StatsError as error:
            return Outcome("failed", str(error).replace(f"{directory}/", ""))
        end = events.end_line(directory / EVENTS)
        return Outcome(*end) if end else Outcome("failed", f"{EVENTS}: no end line")

    def last_output(self, directory: Path) -> str:
        """The last line of the workload's output, safe for a terminal."""
        return last_line(directory / OUTPUT)


class Gem5(Classic):
    """The best processor that a gem5 binary has."""

    # The checkpoints of all three engines.
    can = replace(Classic.can, cached={"gem5/checkpoints/*/": "gem5 checkpoints"})

    def instead(self, lab: Lab) -> str:
        """gem5_chip if this gem5 has P5CPU."""
        try:
            return CHIP if has_chip(binary(lab)) else ""
        except UserError:
            return ""  # examine() gives the reason


def has_chip(gem5: Binary) -> bool:
    """Whether a gem5 has P5CPU."""
    return gem5.extras and versions.CPUS[versions.CHIP] in gem5.cpus


def configurations(lab: Lab) -> Path:
    """The directory of our configurations for gem5."""
    return lab.root / "configs/gem5"


def binary(lab: Lab) -> Binary:
    """The gem5 that P5LAB_GEM5 names. Raises UserError if the variable is not set, or if this gem5
    cannot be used."""
    given = os.environ.get(VARIABLE)
    if not given:
        raise UserError(
            f"--engine gem5: expected {VARIABLE}=/path/to/gem5.opt, a gem5 of your own built for"
            " x86 (configs/gem5/README.md)"
        )
    program = shutil.which(given)
    if not program:
        raise UserError(f"{VARIABLE}={given}: expected a program, gem5.opt")
    path = Path(program).resolve()
    facts = path.stat()
    return _binary(configurations(lab), path, facts.st_mtime_ns, facts.st_size)


@cache
def _binary(configs: Path, path: Path, changed: int, size: int) -> Binary:
    """A gem5 program, with the version and parts that it reports. The cache contains a file with
    each report. The name of the file is the digest of the program."""
    digest = sha256_of(path)
    kept = cache_directory() / "gem5/binaries" / f"{digest}.json"
    try:
        said = read_json(kept, "")
    except UserError:
        said = {}
    if not {"version", "x86", "cpus", "no_extras"} <= said.keys():
        said = _probe(configs, path)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(said) + "\n")
    version = said["version"]
    where = f"{VARIABLE}={path}"
    if not said["x86"]:
        raise UserError(f"{where}: gem5 {version} was built without the x86 ISA")
    for cpu in (TIMING, ATOMIC):
        if reason := versions.why_not(version) or versions.why_no_cpu(version, cpu, said["cpus"]):
            raise UserError(f"{where}: {reason}")
    return Binary(path, digest, version, said["no_extras"], tuple(said["cpus"]))


def _probe(configs: Path, path: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        command = [str(path), "-d", place, "--listener-mode=off", str(configs / "probe.py")]
        try:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS
            )
            return json.loads(Path(place, "probe.json").read_text())
        except (OSError, ValueError, subprocess.TimeoutExpired):
            raise UserError(
                f"{VARIABLE}={path}: expected gem5; this program did not answer"
            ) from None


ENGINE = Gem5
