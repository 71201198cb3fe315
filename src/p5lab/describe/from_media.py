# SPDX-License-Identifier: MIT
"""Runs of guests that boot from their own media: `run --disk FILE` without a guest file, and
`run --guest NAME` for a guest with [media]."""

from dataclasses import dataclass, replace
from pathlib import Path

from p5lab.describe import disk_image, experiment, media, put
from p5lab.describe import engine as engines
from p5lab.describe import guest as guests
from p5lab.describe.experiment import Expansion, Filter
from p5lab.describe.experiment_file import LIMIT_SECONDS
from p5lab.describe.guest import Guest
from p5lab.describe.machine import Machine
from p5lab.describe.media import Boot, Wanted
from p5lab.describe.run import Run
from p5lab.describe.workload import EMPTY_NAME, EMPTY_PHASE, Workload
from p5lab.errors import UserError
from p5lab.lab import Lab

NAME = experiment.MEDIA  # of the experiment in the record
BOOT_PHASE, BOOT_NAME = 0xFFFFFFFC, "boot"  # the engine's bracket (engine/session/brackets.hh)
WORKLOAD = Workload(
    name=BOOT_NAME,
    title="a boot from the guest's own media",
    source="",
    bracket="from reset to the end of the run",
    operation="boot",
    operations=1,
    bytes=0,
    phases={BOOT_PHASE: BOOT_NAME, EMPTY_PHASE: EMPTY_NAME},
    curve="",
    parameters={},
)


@dataclass(frozen=True)
class Asked:
    """What the command line says about media. `until`: the text that ends the runs. `keep`: the
    role of the medium whose changed content is kept, or "first" for the only medium that a guest
    can write. `job`: the text that programs with markers receive. `put`: files for a floppy of our
    own in drive B."""

    floppies: tuple[Path, ...] = ()
    disks: tuple[Path, ...] = ()
    cdrom: Path | None = None
    geometry: str = ""
    until: str = ""
    keep: str = ""
    job: str = ""
    put: tuple[Path, ...] = ()

    @property
    def names_media(self) -> bool:
        """Whether the command line names a medium."""
        return bool(self.floppies or self.disks or self.cdrom)


FIRST = "first"  # Asked.keep


def expand(lab: Lab, asked: Asked, choice: Filter) -> Expansion:
    """The runs: one for each machine and guest. Raises UserError for media that cannot be used, and
    for options that have no meaning for such runs."""
    _check(choice)
    if asked.names_media:
        if choice.guests:
            raise UserError("--guest: expected without --floppy, --disk and --cdrom")
        systems = [_first_look(asked)]
    else:
        systems = [guests.load(lab, name) for name in choice.guests]
    runs = []
    for board in experiment.boards(lab, choice):
        for system in systems:
            if not system.media:
                raise UserError(f"guest {system.name} has no [media] to boot from")
            own = experiment.with_isa("--guest", system, board)
            runs.append(_run(own, _with_put(lab, system, asked), asked, choice))
    if asked.keep and len(runs) > 1:
        raise UserError(f"--keep: expected one run, found {len(runs)}")
    return Expansion(runs, [])


def _with_put(lab: Lab, system: Guest, asked: Asked) -> Guest:
    """The guest, with the floppy of --put as a further medium."""
    if not asked.put:
        return system
    return replace(system, media=(*system.media, put.floppy(lab, asked.put, system.media)))


def _check(choice: Filter) -> None:
    """Raises UserError for options that have no meaning without programs of p5lab."""
    refused = {
        "--workload": choice.workloads,
        "--seed": choice.seeds,
        **{wish.option: True for wish in choice.observation},
    }
    for option, given in refused.items():
        if given:
            raise UserError(f"{option}: not possible for a guest that boots from its own media")
    if not engines.capabilities(choice.engine).media:
        raise UserError(
            f"--engine {choice.engine}: expected the engine {engines.DEFAULT} for a guest that"
            " boots from its own media"
        )


def _first_look(asked: Asked) -> Guest:
    """A guest without a file, for media that the command line names."""
    for option, paths, most in (
        ("--floppy", asked.floppies, len(media.FLOPPIES)),
        ("--disk", asked.disks, len(media.DISKS)),
    ):
        if len(paths) > most:
            raise UserError(f"{option}: expected at most {most} times, found {len(paths)}")
    if asked.geometry and not asked.disks:
        raise UserError("--geometry: expected with --disk")
    geometry = disk_image.parse_geometry(asked.geometry, "--geometry") if asked.geometry else None
    wanted = [
        *_wanted("--floppy", media.FLOPPIES, asked.floppies),
        *_wanted("--disk", media.DISKS, asked.disks),
        *_wanted("--cdrom", (media.CDROM,), (asked.cdrom,) if asked.cdrom else ()),
    ]
    if geometry:
        wanted = [
            Wanted(one.role, one.file, one.where, geometry) if one.role == "disk_1" else one
            for one in wanted
        ]
    main = wanted[0]
    return Guest(
        name=f"{main.role.partition('_')[0]}:{Path(main.file).name}",
        title="media that the command line names",
        structure="monolithic",
        isa="pentium",
        clock_vector=guests.BIOS_CLOCK_VECTOR,
        programs="",
        protocol=guests.BIOS,
        kernel=Path(),
        initramfs=None,
        disk=None,
        cmdline="",
        cannot={},
        media=tuple(wanted),
    )


def _wanted(option: str, roles: tuple[str, ...], paths: tuple[Path, ...]) -> list[Wanted]:
    """The media of one option. A path that does not exist and has no directory is a name in
    P5LAB_MEDIA."""
    return [
        Wanted(
            role,
            str(path if path.parent == Path() and not path.exists() else path.absolute()),
            f"{option} {path}",
        )
        for role, path in zip(roles, paths, strict=False)
    ]


def _run(board: Machine, system: Guest, asked: Asked, choice: Filter) -> Run:
    boot = Boot(media.found(system.media), asked.until or system.until)
    boot = Boot(boot.media, boot.until, _kept(boot, asked.keep), asked.job)
    parameters: dict[str, int | str] = {one.role: one.sha256[:12] for one in boot.media}
    if boot.until:
        parameters["until"] = boot.until.replace(" ", "_")
    if boot.job:
        parameters["args"] = boot.job.replace(" ", ",")
    return Run(
        NAME,
        board,
        system,
        WORKLOAD,
        parameters,
        (),
        0,
        True if choice.feedback is None else choice.feedback,
        choice.limit or LIMIT_SECONDS,
        choice.engine,
        model=choice.model,
        boot=boot,
    )


def _kept(boot: Boot, keep: str) -> str:
    """The role of the medium to keep. Raises UserError if the choice is not clear."""
    written = [one.role for one in boot.media if one.role != media.CDROM]
    if not keep or (keep != FIRST and keep in written):
        return keep
    if keep == FIRST and len(written) == 1:
        return written[0]
    raise UserError(f"--keep: expected MEDIUM=FILE with one of {', '.join(written) or 'no medium'}")


def again(lab: Lab, name: str, board: Machine, request: dict[str, object]) -> Run:
    """The run of a guest with [media] that a record describes: `name` is its guest, `request` the
    entry of the record. Raises LookupError or TypeError if the entry is not complete."""
    system = guests.load(lab, name)
    asked = Asked(
        until=str(request["until"]), keep=str(request["keep"]), job=str(request.get("args", ""))
    )
    choice = Filter(
        feedback=bool(request["feedback"]),
        model=bool(request["model"]),
        limit=int(str(request["limit_seconds"])),
    )
    return _run(experiment.with_isa(name, system, board), system, asked, choice)
