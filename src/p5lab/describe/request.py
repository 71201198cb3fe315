# SPDX-License-Identifier: MIT
"""What a user asks for: `./p5lab run`, `plan`, `report` and `shell`, and `p5lab.run`, make a
`Request`. A request is a pure value. p5lab.prepare makes its runs, and only then compiles, unpacks
or writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from p5lab.describe import engine
from p5lab.describe.observation import NOTHING, Observation
from p5lab.describe.program import IN_GUEST
from p5lab.describe.program_files import NOTHING as NO_FILES
from p5lab.describe.program_files import PROGRAMS, STDIN, ProgramFiles
from p5lab.describe.script import Script
from p5lab.describe.sweep import Axis
from p5lab.errors import UserError


@dataclass(frozen=True)
class Filter:
    """The changes that a user makes to the runs. An empty field changes nothing."""

    machines: tuple[str, ...] = ()
    guests: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    settings: tuple[tuple[str, object], ...] = ()
    feedback: bool | None = None
    model: bool = True
    seeds: tuple[int, ...] = ()
    engine: str = engine.DEFAULT
    sweeps: tuple[Axis, ...] = ()
    observation: Observation = NOTHING
    limit: int | None = None  # virtual seconds

    def __post_init__(self) -> None:
        set_keys = {key for key, _ in self.settings}
        for axis in self.sweeps:
            twice = set_keys.intersection(*axis.steps[:1]) if not axis.optional else set()
            if twice:
                raise UserError(f"--set {min(twice)}: {axis.where} already sweeps this key")


@dataclass(frozen=True)
class UserProgram:
    """A program of the user, or the program `guest:PATH` of a distribution.

    `path`: a file, or FILE@REVISION for the file at a revision of git.
    `arguments`: the words of --args, as a shell takes them.
    `cflags`: options of the compiler, for a source file.
    `files`: what a program of a distribution brings along.
    `scripts`: keys and mouse while the program runs; one run for each script.
    """

    path: Path
    arguments: str = ""
    cflags: str = ""
    files: ProgramFiles = NO_FILES
    scripts: tuple[Script, ...] = ()

    @property
    def options(self) -> dict[str, str]:
        """The options of `run` that give this program, with absolute paths. Without the files of
        --file and the scripts."""
        in_guest = str(self.path).startswith(IN_GUEST)
        given = {
            "--program": str(self.path if in_guest else self.path.absolute()),
            "--args": self.arguments,
            "--cflags": self.cflags,
            STDIN: str(self.files.stdin.absolute()) if self.files.stdin else "",
            PROGRAMS: self.files.programs,
        }
        return {option: text for option, text in given.items() if text}


@dataclass(frozen=True)
class UserMedia:
    """Media from which a guest boots: those that the user names, or those of the guests with
    [media] that the filter names.

    `convert`: whether qemu-img turns images of other formats into raw images.
    `until`: the text that ends the runs.
    `keep`: the role of the medium whose changed content is kept, or FIRST for the only medium that
        a guest can write.
    `scripts`: the steps that replace those of the guest, or only those after its ready point; one
        run for each script.
    `job`: the text that programs with markers receive.
    `put`: files for a floppy of our own in drive B. `programs`: the system whose programs are also
        on this floppy (--programs).
    `save_state`, `state`: as in describe.boot.Boot.
    """

    floppies: tuple[Path, ...] = ()
    disks: tuple[Path, ...] = ()
    cdrom: Path | None = None
    geometry: str = ""
    convert: bool = False
    until: str = ""
    keep: str = ""
    scripts: tuple[Script, ...] = ()
    job: str = ""
    put: tuple[Path, ...] = ()
    programs: str = ""
    save_state: bool = False
    state: Path | None = None


FIRST = "first"  # UserMedia.keep

# What to run: the name of an experiment, a program, several programs to compare, or media.
What: TypeAlias = str | UserProgram | tuple[UserProgram, ...] | UserMedia


@dataclass(frozen=True)
class Request:
    """Runs that a user asks for. `ideal`: the parts of --ideal. `only`: the text of --only, which
    the label of each run contains."""

    what: What
    choice: Filter = Filter()
    ideal: str = ""
    only: str = ""
