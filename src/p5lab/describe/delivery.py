# SPDX-License-Identifier: MIT
"""What the engine delivers to a guest for a run.

No guest contains the workloads. The engine delivers the program of a run and the programs that it
starts, after the boot that several runs share. So a new or changed workload changes neither a guest
nor a run of another workload.
"""

from pathlib import Path

from p5lab.describe import archive
from p5lab.describe import program as programs
from p5lab.describe import workload as workloads
from p5lab.describe.guest import ImageGuest, built
from p5lab.describe.observation.target import Target
from p5lab.describe.workload import Workload
from p5lab.lab import Lab

OWN = "/tmp/program"  # the user's program in the guest (guest-images/parts/rootfs/init.c)


def files(lab: Lab, run: Target) -> list[tuple[Path, str]]:
    """The programs that the run needs in the guest: files of the host, and their paths in the
    guest. Empty for a program that the guest contains."""
    system = built(run.guest)
    match run.program:
        case programs.Shell():
            return _all(lab, system)
        case programs.OwnProgram(path):
            return [(path, OWN)]
        case programs.GuestProgram():
            return []
    return of_workload(lab, run.workload, system) if run.workload.program else []


def of_workload(lab: Lab, workload: Workload, system: ImageGuest) -> list[tuple[Path, str]]:
    """The program of a workload and the files that it needs, as for `files`."""
    own = programs.file_of(lab, workload, system)
    further = ((lab.program(system.programs, name), name) for name in workload.starts)
    return [(path, _place(system, name)) for path, name in ((own, workload.name), *further)]


def archived(lab: Lab, run: Target) -> Path | None:
    """The archive that the engine delivers, or None if there is nothing to deliver. Raises
    UserError for a program that is not built."""
    if isinstance(run.program, programs.GuestProgram) and run.program.archive:
        return run.program.archive
    delivered = files(lab, run)
    return archive.of_programs(lab, delivered) if delivered else None


def _all(lab: Lab, system: ImageGuest) -> list[tuple[Path, str]]:
    """The built programs of all workloads of the checkout, for a shell."""
    known = workloads.load(lab).values()
    hosts = {
        inside: host
        for workload in known
        if workload.file and not lab.is_outside(workload.file) and not system.why_never(workload)
        for host, inside in of_workload(lab, workload, system)
        if host.is_file()
    }
    return [(host, inside) for inside, host in hosts.items()]


def _place(system: ImageGuest, name: str) -> str:
    """The path in the guest of a program or library of build/workloads. A library is where the
    loader looks for it."""
    return f"/{name}" if name.startswith("lib/") else f"{system.bin}/{name}"
