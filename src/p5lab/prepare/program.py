# SPDX-License-Identifier: MIT
"""The runs of a program of the user, or of a program of a distribution."""

from dataclasses import replace
from pathlib import Path

from p5lab.describe import engine as engines
from p5lab.describe import guest as guests
from p5lab.describe import program as programs
from p5lab.describe import sweep, this_host
from p5lab.describe.experiment import (
    PROGRAM,
    PROGRAM_GUEST,
    Expansion,
    boards,
    check_host,
    with_isa,
)
from p5lab.describe.experiment_file import LIMIT_SECONDS
from p5lab.describe.guest import Guest
from p5lab.describe.machine import Machine
from p5lab.describe.observation import Region
from p5lab.describe.program_files import PROGRAMS, ProgramFiles
from p5lab.describe.request import Filter, UserProgram
from p5lab.describe.run import Run
from p5lab.describe.script import Script
from p5lab.describe.supplied import GUEST_PLACE
from p5lab.errors import UserError
from p5lab.host import compiler
from p5lab.host.supplied_programs import SYSTEMS
from p5lab.lab import Lab
from p5lab.prepare import archive

NO_LIMIT = 1 << 40  # bytes; on this host, the size of a program has no real limit
OWN_CALLS = ("mach",)  # directories of programs whose system calls are not those of Linux


def runs(lab: Lab, asked: UserProgram, choice: Filter) -> Expansion:
    """One run for each machine, guest, script and seed. A source file is compiled for each guest,
    with the user's options behind p5lab's own. Raises UserError for a source file that cannot be
    compiled, for a program that a guest cannot run, and for options that exclude each other."""
    if choice.workloads:
        raise UserError("--workload: expected without --program, which replaces the workload")
    asked = replace(asked, files=_with_supplied(lab, asked.files))
    if not _in_guest(asked.path):
        # A mistake is reported before the source file is compiled.
        programs.split_arguments(asked.arguments)
        if asked.files.options:
            raise UserError(f"{asked.files.options[0]}: expected with --program guest:PATH")
    if not engines.capabilities(choice.engine).simulates:
        if asked.scripts:
            raise engines.refused(choice.engine, "--script")
        return Expansion([_on_host(lab, asked, choice)], [])
    engines.check(choice.engine, choice.observation)
    choice.observation.check_together("--program")
    feedback = True if choice.feedback is None else choice.feedback
    steps: list[Script | None] = [script.beside_program() for script in asked.scripts]
    found = []
    for board in boards(lab, choice):
        for name in choice.guests or (PROGRAM_GUEST,):
            guest = guests.load(lab, name)
            _check_guest(asked.path, guest, scripts=bool(steps))
            own_board = with_isa("--program", guest, board)
            memory = int(board.values["dram.size"])
            program = (
                in_guest(lab, asked, guest)
                if _in_guest(asked.path)
                else _of_file(lab, asked, memory, guest.isa)
            )
            found += [
                _run(own_board, guest, replace(program, script=script), seed, feedback, choice)
                for script in steps or [None]
                for seed in choice.seeds or (0,)
            ]
    return Expansion(found, [], sweep.keys(choice.sweeps))


def _in_guest(path: Path) -> bool:
    """Whether the path is `guest:PATH`, a program of the guest itself."""
    return str(path).startswith(programs.IN_GUEST)


def _with_supplied(lab: Lab, files: ProgramFiles) -> ProgramFiles:
    """The files that a program brings along, with the programs of --programs. Compiles them. Raises
    UserError if the programs for this system cannot be started by a program of a distribution."""
    if not files.programs:
        return files
    system = SYSTEMS[files.programs]
    if system.brought is None:
        known = ", ".join(other.name for other in SYSTEMS.values() if other.brought)
        raise UserError(
            f"{PROGRAMS} {system.name}: expected {known} with --program {programs.IN_GUEST}PATH"
        )
    supplied = [(path, f"{GUEST_PLACE}/{system.name}/{path.name}") for path in system.brought(lab)]
    return replace(files, supplied=tuple(supplied), phases=system.phases(lab))


def _on_host(lab: Lab, asked: UserProgram, choice: Filter) -> Run:
    """The run of a program on this host. Raises UserError for a program of a guest, and for options
    that have no meaning on the host."""
    if _in_guest(asked.path):
        raise UserError(
            f"--program {asked.path}: expected without --engine {choice.engine}, which has no guest"
        )
    check_host(choice)
    program = _of_file(lab, asked, NO_LIMIT, "pentium")
    return _run(this_host.machine(), this_host.guest(), program, 0, False, choice)


def _check_guest(path: Path, guest: Guest, *, scripts: bool) -> None:
    """Raises UserError if a guest cannot run a program, or if there are `scripts` and the guest has
    no screen for them."""
    in_guest = _in_guest(path)
    if guest.media:
        raise UserError(f"--program {path}: guest {guest.name} {guests.NO_PROGRAMS}")
    if not in_guest and guest.programs in OWN_CALLS:
        raise UserError(
            f"--program {path}: guest {guest.name} has system calls of its own, so that only"
            " programs with its C library run there; expected another guest, or a workload of your"
            " own (docs/extend/workload.md)"
        )
    if in_guest and not guest.image:
        raise UserError(
            f"--program {path}: guest {guest.name} has only the programs of p5lab; expected a guest"
            " that is a distribution, such as debian64"
        )
    if scripts and not guest.screen:
        raise UserError(
            f"--script: guest {guest.name} has no graphics screen; expected a guest with one, such"
            " as debian32-x"
        )


def in_guest(lab: Lab, asked: UserProgram, guest: Guest) -> programs.Program:
    """The program `guest:PATH` of a guest that is a distribution, with what it brings along. Raises
    UserError for a bad path, and if the guest cannot take what the program brings along."""
    path = programs.path_in_guest(str(asked.path))
    if guest.image and guest.image.brings:
        words = programs.words_of(asked.arguments)
        packed = archive.archive(lab, asked.files, words)
        return programs.Program(None, words, path, files=asked.files, archive=packed)
    if asked.files.options:
        raise UserError(
            f"{asked.files.options[0]}: guest {guest.name} takes no files; expected a guest whose"
            " init does, such as debian32"
        )
    return programs.Program(None, programs.split_arguments(asked.arguments, "@run", path), path)


def _of_file(lab: Lab, asked: UserProgram, memory: int, isa: str) -> programs.Program:
    """The checked program in a file. A source file is compiled first."""
    if not compiler.is_source(asked.path):
        if asked.cflags:
            raise UserError(
                f"--cflags: expected with a source file ({', '.join(compiler.LANGUAGES)});"
                f" --program {asked.path} is not one"
            )
        return programs.load(asked.path, asked.arguments, memory, isa)
    made = compiler.compiled(lab, asked.path, asked.cflags, isa)
    program = programs.load(made, asked.arguments, memory, isa)
    return replace(program, source=asked.path.resolve(), cflags=asked.cflags)


def _run(
    board: Machine,
    guest: Guest,
    program: programs.Program,
    seed: int,
    feedback: bool,
    choice: Filter,
) -> Run:
    # Runs with different regions have different brackets, so the table must distinguish them.
    region = choice.observation.get(Region)
    measured: dict[str, int | str] = {}
    if region:
        measured["region"] = region.function.replace(" ", "_")
    return Run(
        PROGRAM,
        board,
        guest,
        program.workload,
        program.parameters | measured,
        (),
        seed,
        feedback,
        choice.limit or LIMIT_SECONDS,
        choice.engine,
        program,
        model=choice.model,
        observation=choice.observation,
    )
