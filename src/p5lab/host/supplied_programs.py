# SPDX-License-Identifier: MIT
"""The systems for which p5lab supplies programs, and the check of the programs' job."""

from p5lab.describe.supplied import SuppliedSystem
from p5lab.errors import UserError, unknown
from p5lab.host import aout_programs, dos_programs, linux_programs, minix_programs, win32_programs
from p5lab.lab import Lab

_ALL = (
    dos_programs.SYSTEM,
    linux_programs.SYSTEM,
    *aout_programs.SYSTEMS,
    minix_programs.SYSTEM,
    win32_programs.SYSTEM,
)
SYSTEMS = {system.name: system for system in _ALL}


def check_job(lab: Lab, system: SuppliedSystem, job: str) -> None:
    """Raises UserError for a word in --args that is not KEY=NUMBER with a parameter of one of the
    programs."""
    known = sorted({key for program in system.load(lab).values() for key in program.parameters})
    for word in job.split():
        key, _, value = word.partition("=")
        if key not in known:
            raise unknown(
                f"parameter of the programs for {system.name}", key, known, where="--args"
            )
        if not value.isdecimal() or not 0 < int(value) <= system.largest:
            raise UserError(
                f"--args: {word}: expected {key}=NUMBER, a whole number from 1 to {system.largest}"
            )
