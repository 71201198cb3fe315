# SPDX-License-Identifier: MIT
"""The runs of a program of the user, or of a program of a distribution."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from p5lab.describe import archive, sweep, this_host
from p5lab.describe import engine as engines
from p5lab.describe import guest as guests
from p5lab.describe import program as programs
from p5lab.describe.experiment import (
    PROGRAM,
    PROGRAM_GUEST,
    Expansion,
    boards,
    check_host,
    with_isa,
)
from p5lab.describe.experiment_file import LIMIT_SECONDS
from p5lab.describe.guest import ImageGuest
from p5lab.describe.machine import Machine
from p5lab.describe.observation import Cpi, Observation, Region
from p5lab.describe.program_files import PROGRAMS, STDIN, ProgramFiles
from p5lab.describe.request import Filter, UserProgram
from p5lab.describe.run import ImageRun, Run
from p5lab.describe.script import Script
from p5lab.describe.supplied import GUEST_PLACE
from p5lab.errors import UserError
from p5lab.files import sha256_of
from p5lab.host import compiler
from p5lab.host.supplied_programs import SYSTEMS
from p5lab.lab import Lab
from p5lab.prepare import revision as revisions

NO_LIMIT = 1 << 40  # bytes; on this host, the size of a program has no real limit
OWN_CALLS = ("mach",)  # directories of programs whose system calls are not those of Linux


def runs(lab: Lab, asked: UserProgram | Sequence[UserProgram], choice: Filter) -> Expansion:
    """One run for each machine, guest, script and seed, and for each program if several are
    compared. A source file is compiled for each guest, with the user's options behind p5lab's own.
    Raises UserError for a source file that cannot be compiled, for a program that a guest cannot
    run, and for options that exclude each other."""
    if choice.workloads:
        raise UserError("--workload: expected without --program, which replaces the workload")
    several = (asked,) if isinstance(asked, UserProgram) else tuple(asked)
    for request in several:
        # A mistake is reported before a source file is compiled.
        if not _in_guest(request.path):
            programs.split_arguments(request.arguments)
            _check_files(request)
    versions = [
        _Version(lab, replace(request, files=_with_supplied(lab, request.files)), name)
        for request, name in zip(several, _names(several), strict=True)
    ]
    if not engines.capabilities(choice.engine).simulates:
        if several[0].scripts:
            raise engines.refused(choice.engine, "--script")
        return Expansion(_compared([_on_host(version, choice) for version in versions]), [])
    engines.check(choice.engine, choice.observation)
    choice.observation.check_together("--program")
    steps: list[Script | None] = [script.beside_program() for script in several[0].scripts]
    runs: list[Run] = []
    for board in boards(lab, choice):
        for name in choice.guests or (PROGRAM_GUEST,):
            system = guests.built(guests.load(lab, name))
            for version in versions:
                _check_guest(version.asked.path, system, scripts=bool(steps))
            own_board = with_isa("--program", system, board)
            memory = int(board.values["dram.size"])
            made = [version.program(system, memory) for version in versions]
            runs += [
                _run(own_board, system, replace(program, script=script), seed, choice)
                for script in steps or [None]
                for program in made
                for seed in choice.seeds or (0,)
            ]
    return Expansion(_compared(runs), [], sweep.keys(choice.sweeps))


@dataclass(frozen=True)
class _Version:
    """A program that the user asks for. `name`: how tables call its file."""

    lab: Lab
    asked: UserProgram
    name: str

    def program(self, guest: ImageGuest, memory: int) -> programs.Program:
        """The checked program for a guest. `memory`: of the machine, in bytes."""
        if _in_guest(self.asked.path):
            made = in_guest(self.lab, self.asked, guest)
            return replace(made, options=self.asked.options)
        return self.of_file(memory, guest.isa)

    def of_file(self, memory: int, isa: str) -> programs.Program:
        """The checked program in a file. A source file is compiled first."""
        file, revision = revisions.divided(str(self.asked.path))
        if revision:
            file = revisions.checked_out(self.lab, file, revision)
        made = _of_file(self.lab, replace(self.asked, path=file), memory, isa)
        called = "" if self.name == made.name else self.name
        return replace(made, called=called, options=self.asked.options)


def _check_files(asked: UserProgram) -> None:
    """Raises UserError if a program in a file cannot have what it should bring along."""
    for option in asked.files.options:
        if option != STDIN:
            raise UserError(f"{option}: expected with --program {programs.IN_GUEST}PATH")
        if not compiler.is_source(revisions.divided(str(asked.path))[0]):
            raise UserError(
                f"{STDIN}: expected with a source file ({', '.join(compiler.LANGUAGES)}), which"
                f" p5lab compiles together with its input, or with --program"
                f" {programs.IN_GUEST}PATH; found --program {asked.path}, which is compiled already"
            )


def _names(asked: Sequence[UserProgram]) -> list[str]:
    """How tables call the file of each program: its name, with as many of its directories as
    distinguish it from the other files. Raises UserError if a program is named twice."""
    twice = [request for place, request in enumerate(asked) if request in asked[:place]]
    if twice:
        flags = f" with --cflags {twice[0].cflags!r}" if twice[0].cflags else ""
        raise UserError(f"--program {twice[0].path}{flags}: named twice; expected two versions")
    divided = [revisions.divided(str(request.path)) for request in asked]
    files = [file.absolute() for file, _ in divided]
    names = []
    for request, file, (_, revision) in zip(asked, files, divided, strict=True):
        if _in_guest(request.path):
            names.append(str(request.path))
            continue
        others = [other.parts for other in files if other != file]
        length = 1
        while any(other[-length:] == file.parts[-length:] for other in others):
            length += 1
        name = Path(*file.parts[-length:])
        names.append(f"{name}@{revision}" if revision else str(name))
    return names


def _compared(runs: Sequence[Run]) -> list[Run]:
    """The runs of programs that are compared with each other: each has the name of its program, and
    counts the CPI stack if it can. A run of the same bytes with the same arguments is the same run,
    so that its program gets the names of both. One program alone keeps its runs."""
    titles = {id(run): run.program.title for run in runs if run.program}
    if len(set(titles.values())) <= 1:
        return list(runs)
    same: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        program = run.program
        assert program
        image = sha256_of(program.path) if isinstance(program, programs.OwnProgram) else program
        key = image, run.machine.name, run.machine.geometry, run.guest.name, run.seed
        same.setdefault((*key, program.script), []).append(run)
    result = []
    for equal in same.values():
        run = replace(equal[0], called=" = ".join(titles[id(run)] for run in equal))
        watch = run.observation.with_(None if run.observation.get(Cpi) else Cpi())
        result.append(replace(run, observation=watch) if _counts(run, watch) else run)
    return result


def _counts(run: Run, watch: Observation) -> bool:
    """Whether a run can make these observations."""
    try:
        engines.check(run.engine, watch)
        watch.check_together("--program")
        watch.check(run)
    except UserError:
        return False
    return run.has_feedback


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


def _on_host(version: _Version, choice: Filter) -> Run:
    """The run of a program on this host. Raises UserError for a program of a guest, and for options
    that have no meaning on the host."""
    if _in_guest(version.asked.path):
        raise UserError(
            f"--program {version.asked.path}: expected without --engine {choice.engine}, which has"
            " no guest"
        )
    check_host(choice)
    program = version.of_file(NO_LIMIT, "pentium")
    return _run(this_host.machine(), this_host.guest(), program, 0, replace(choice, feedback=False))


def _check_guest(path: Path, guest: ImageGuest, *, scripts: bool) -> None:
    """Raises UserError if a guest cannot run a program, or if there are `scripts` and the guest has
    no screen for them."""
    in_guest = _in_guest(path)
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


def in_guest(lab: Lab, asked: UserProgram, guest: ImageGuest) -> programs.Program:
    """The program `guest:PATH` of a guest that is a distribution, with what it brings along. Raises
    UserError for a bad path, and if the guest cannot take what the program brings along."""
    path = programs.path_in_guest(str(asked.path))
    if guest.image and guest.image.brings:
        words = programs.words_of(asked.arguments)
        packed = archive.archive(lab, asked.files, words)
        return programs.GuestProgram(path, packed, arguments=words, files=asked.files)
    if asked.files.options:
        raise UserError(
            f"{asked.files.options[0]}: guest {guest.name} takes no files; expected a guest whose"
            " init does, such as debian32"
        )
    words = programs.split_arguments(asked.arguments, "@run", path)
    return programs.GuestProgram(path, arguments=words)


def _of_file(lab: Lab, asked: UserProgram, memory: int, isa: str) -> programs.OwnProgram:
    """The checked program in a file. A source file is compiled first."""
    if not compiler.is_source(asked.path):
        if asked.cflags:
            raise UserError(
                f"--cflags: expected with a source file ({', '.join(compiler.LANGUAGES)});"
                f" --program {asked.path} is not one"
            )
        return programs.load(asked.path, asked.arguments, memory, isa)
    stdin = asked.files.stdin
    made = compiler.compiled(lab, asked.path, asked.cflags, isa, stdin)
    # The guest's RAM disk, which may use half of the memory, has the program with the input at its
    # end, and the file that the program makes of the input.
    if stdin and made.stat().st_size + stdin.stat().st_size > memory // 2:
        raise UserError(
            f"{STDIN} {stdin}: {stdin.stat().st_size / 1e6:.1f} MB; expected at most a quarter of"
            f" the machine's memory, {memory / 4e6:.1f} MB, less the program (--set dram.size=SIZE)"
        )
    program = programs.load(made, asked.arguments, memory, isa)
    source = asked.path.resolve()
    return replace(program, source=source, cflags=asked.cflags, files=asked.files)


def _run(
    board: Machine,
    guest: ImageGuest,
    program: programs.Program,
    seed: int,
    choice: Filter,
) -> Run:
    # Runs with different regions have different brackets, so the table must distinguish them.
    region = choice.observation.get(Region)
    measured: dict[str, int | str] = {}
    if region:
        measured["region"] = region.function.replace(" ", "_")
    return ImageRun(
        PROGRAM,
        board,
        guest,
        program.workload,
        program.parameters | measured,
        (),
        seed,
        choice.feedback is not False,
        choice.limit or LIMIT_SECONDS,
        choice.engine,
        program,
        model=choice.model,
        observation=choice.observation,
    )
