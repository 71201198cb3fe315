# SPDX-License-Identifier: MIT
"""The machine, guest and workload that gem5's own command line names (configs/gem5/run.py).

gem5's interpreter has only the standard library. So all modules that this module imports also need
only the standard library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import archive, delivery, experiment, guest, keys, workload
from p5lab.describe import machine as machines
from p5lab.describe import program as programs
from p5lab.describe.guest import X86_64, Guest, ImageGuest
from p5lab.engines import check_inputs
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab, cache_directory


@dataclass(frozen=True)
class Found:
    """`machine`: the values of all keys. `files`: the files that the guest boots from, by role.
    `job`: the text for the guest's init."""

    machine: dict[str, keys.Value]
    files: dict[str, Path]
    command_line: str
    job: bytes
    cache: Path


def look_up(
    *,
    machine: str,
    settings: Sequence[str],
    guest: str,
    workload: str | None,
    parameters: Sequence[str],
    program: Path | None,
    arguments: str,
) -> Found:
    """The machine, the files and the job for these names. Raises UserError for an unknown name, a
    wrong value or a missing file."""
    lab = Lab.here()
    board = machines.load(lab, machine)
    if settings:
        board = board.with_set(machines.parse_settings(list(settings)), "--set")
    system = load_guest(lab, guest)
    board = experiment.with_isa("--guest", system, board)
    if program:
        if parameters:
            raise UserError(f"{parameters[0]}: expected with --workload; for --program, use --args")
        memory = int(board.values["dram.size"])
        own = programs.load(program, arguments, memory, system.isa)
        job, delivered = own.job, [(program, delivery.OWN)]
    else:
        assert workload is not None
        if arguments:
            raise UserError("--args: expected with --program; for a workload, use key=value")
        job, delivered = _workload_job(lab, system, workload, parameters)
    content = job_file(job, archive.of_programs(lab, delivered).read_bytes())
    return Found(board.values, files(system), system.cmdline, content, cache_directory())


def load_guest(lab: Lab, name: str) -> ImageGuest:
    """A guest that gem5 can boot. Raises UserError if gem5 cannot boot the guest, or if the guest
    is not built."""
    system = guest.load(lab, name)
    if reason := why_not(system):
        raise UserError(reason)
    image = guest.built(system)
    check_inputs(files(image))
    return image


def why_not(system: Guest) -> str:
    """The reason why gem5 cannot boot a guest; empty if gem5 can boot it."""
    if system.isa != X86_64:
        return (
            f"guest {system.name} is built for {system.isa}; gem5 boots {X86_64} kernels only, such"
            " as guest linux64"
        )
    return ""


def files(system: ImageGuest) -> dict[str, Path]:
    """The files that gem5 boots from. The kernel is the ELF file beside the bzImage."""
    return {**system.files, "kernel": system.kernel.with_name("vmlinux")}


def job_file(job: str, delivered: bytes = b"") -> bytes:
    """The content of the file that the guest reads (m5op readfile): one line, followed by the
    archive with the run's programs."""
    return f"{job}\n".encode() + delivered


def _workload_job(
    lab: Lab, system: ImageGuest, name: str, given: Sequence[str]
) -> tuple[str, list[tuple[Path, str]]]:
    """The job of a workload, and the programs that it needs (p5lab.describe.delivery)."""
    known = workload.load(lab)
    if name not in known:
        raise unknown("workload", name, known)
    pairs = {}
    for word in given:
        key, equals, value = word.partition("=")
        if not equals or not key or not value:
            raise UserError(f"{word}: expected key=value, a parameter of {name}")
        pairs[key] = value
    file = known[name].file
    if file and lab.is_outside(file):
        raise UserError(
            f"{name}: expected a workload of the checkout, because gem5's interpreter compiles"
            f" nothing; {file} runs with `./p5lab run EXPERIMENT --engine gem5`"
        )
    resolved = known[name].resolve(pairs, "command line")
    if reason := system.why_not(known[name], resolved):
        raise UserError(str(experiment.Cannot(system.name, name, reason)))
    job = " ".join((name, *(f"{key}={value}" for key, value in resolved.items())))
    return job, delivery.of_workload(lab, known[name], system)
