# SPDX-License-Identifier: MIT
"""Runs of guests that boot from their own media: `run --disk FILE` without a guest file, and
`run --guest NAME` for a guest with [media]."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from p5lab.describe import disk_image, experiment, media, sweep
from p5lab.describe import engine as engines
from p5lab.describe import guest as guests
from p5lab.describe.boot import Boot
from p5lab.describe.experiment import Expansion
from p5lab.describe.experiment_file import LIMIT_SECONDS
from p5lab.describe.guest import MediaGuest
from p5lab.describe.machine import Machine
from p5lab.describe.markers import BOOT_PHASE, EMPTY_PHASE
from p5lab.describe.media import MediumFile
from p5lab.describe.observation import NOTHING, Observation
from p5lab.describe.request import FIRST, Filter, UserMedia
from p5lab.describe.run import MediaRun, Run
from p5lab.describe.script import BOOT, Script
from p5lab.describe.supplied import FAT, SuppliedSystem
from p5lab.describe.workload import EMPTY_NAME, Workload
from p5lab.errors import UserError, refuse, unknown
from p5lab.files import digest_of
from p5lab.host.supplied_programs import SYSTEMS, check_job
from p5lab.lab import Lab
from p5lab.prepare import files_floppy, raw_image

NAME = experiment.MEDIA  # of the experiment in the record
WORKLOAD = Workload(
    name=BOOT,
    title="a boot from the guest's own media",
    source="",
    bracket="from reset to the end of the run, or to the script's end of it",
    operation="boot",
    phases={BOOT_PHASE: BOOT, EMPTY_PHASE: EMPTY_NAME},
)


def runs(lab: Lab, asked: UserMedia, choice: Filter) -> Expansion:
    """The runs: one for each machine, guest and script. Raises UserError for media that
    cannot be used, and for options that have no meaning for such runs."""
    _check(choice)
    if asked.floppies or asked.disks or asked.cdrom:
        if choice.guests:
            raise UserError("--guest: expected without --floppy, --disk and --cdrom")
        systems = [_first_look(asked)]
    else:
        systems = [guests.media_guest(lab, name) for name in choice.guests]
    supplied = _supplied(lab, asked)
    systems = [_with_floppy(lab, system, asked.put, supplied) for system in systems]
    phases = supplied.phases(lab) if supplied else {}
    runs: list[Run] = [
        _run(
            lab,
            experiment.with_isa("--guest", system, board),
            system,
            steps,
            asked,
            choice,
            phases,
        )
        for board in experiment.boards(lab, choice)
        for system in systems
        for steps in _scripts(system, asked)
    ]
    if len(runs) > 1:
        refuse(
            {"--keep": asked.keep, "--save-state": asked.save_state},
            f"expected one run, found {len(runs)}",
        )
    return Expansion(runs, [], sweep.keys(choice.sweeps))


def _supplied(lab: Lab, asked: UserMedia) -> SuppliedSystem | None:
    """The programs of --programs. Raises UserError for an unknown system, and for a wrong job."""
    if not asked.programs:
        return None
    if asked.programs not in SYSTEMS:
        raise unknown("system of programs", asked.programs, SYSTEMS, where="--programs")
    system = SYSTEMS[asked.programs]
    check_job(lab, system, asked.job)
    return system


def _with_floppy(
    lab: Lab, system: MediaGuest, put: Sequence[Path], supplied: SuppliedSystem | None
) -> MediaGuest:
    """The guest, with the floppy of --put and --programs as a further medium. Compiles the programs
    of --programs."""
    files = (*put, *(supplied.made(lab) if supplied else ()))
    if not files:
        return system
    form = supplied.form if supplied else FAT
    floppy = files_floppy.floppy(lab, files, system.media, form)
    return replace(system, media=(*system.media, floppy))


def _check(choice: Filter) -> None:
    """Raises UserError for options that have no meaning without programs of p5lab."""
    refused = {
        "--workload": choice.workloads,
        "--seed": choice.seeds,
        **{wish.option: not wish.with_media for wish in choice.observation},
    }
    refuse(refused, "not possible for a guest that boots from its own media")
    if not engines.capabilities(choice.engine).media:
        raise UserError(
            f"--engine {choice.engine}: expected the engine {engines.DEFAULT} for a guest that"
            " boots from its own media"
        )


def _first_look(asked: UserMedia) -> MediaGuest:
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
    first = media.DISKS[0]
    wanted = [replace(file, geometry=geometry) if file.role == first else file for file in wanted]
    main = wanted[0]
    return MediaGuest(
        name=f"{main.role.partition('_')[0]}:{Path(main.file).name}",
        title="media that the command line names",
        structure="monolithic",
        isa="pentium",
        clock_vector=guests.BIOS_CLOCK_VECTOR,
        media=tuple(wanted),
    )


def _wanted(option: str, roles: tuple[str, ...], paths: tuple[Path, ...]) -> list[MediumFile]:
    """The media of one option. A path that does not exist and has no directory is a name in
    P5LAB_MEDIA."""
    return [
        MediumFile(
            role,
            str(path if path.parent == Path() and not path.exists() else path.absolute()),
            option,
        )
        for role, path in zip(roles, paths, strict=False)
    ]


def _scripts(system: MediaGuest, asked: UserMedia) -> list[Script | None]:
    """The script of each run of a guest. The scripts of the command line replace the guest's own,
    or only its steps after the ready point."""
    if system.script and system.script.boot and asked.scripts:
        return [script.after(system.script) for script in asked.scripts]
    return [*asked.scripts] or [system.script]


def _run(
    lab: Lab,
    board: Machine,
    system: MediaGuest,
    script: Script | None,
    asked: UserMedia,
    choice: Filter,
    supplied_phases: Mapping[int, str],
) -> MediaRun:
    boot = _boot(lab, system, script, asked)
    parameters: dict[str, int | str] = {
        medium.role: medium.sha256[:12] for medium in (*boot.media, *boot.inserted)
    }
    phases = {**WORKLOAD.phases, **supplied_phases}
    if boot.script:
        parameters["script"] = boot.script.digest[:12]
        phases |= boot.script.phases
    if boot.until:
        parameters["until"] = boot.until.replace(" ", "_")
    if boot.job:
        parameters["args"] = boot.job.replace(" ", ",")
    if boot.state:
        parameters["state"] = digest_of(boot.state)[:12]
    return MediaRun(
        NAME,
        board,
        system,
        replace(WORKLOAD, phases=phases),
        parameters,
        (),
        0,
        True if choice.feedback is None else choice.feedback,
        choice.limit or LIMIT_SECONDS,
        choice.engine,
        model=choice.model,
        observation=choice.observation,
        boot=boot,
    )


def _boot(lab: Lab, system: MediaGuest, script: Script | None, asked: UserMedia) -> Boot:
    """The media and the end of a run. A script of the command line replaces the text of the
    guest."""
    until = asked.until or ("" if asked.scripts else system.until)
    raw = partial(raw_image.raw, lab, asked.convert)
    present = media.checked(system.media, raw)
    more = media.inserted(script.floppies, present, raw) if script else ()
    boot = Boot(
        present,
        until,
        script=script,
        inserted=more,
        job=asked.job,
        save_state=asked.save_state,
        state=asked.state,
    )
    if boot.save_state and boot.state:
        raise UserError("--save-state: expected without --state")
    for option, given in (("--save-state", boot.save_state), ("--state", boot.state)):
        if given and not boot.has_ready_point:
            raise UserError(f"{option}: expected a script with a ready point (`ready = true`)")
        if given and boot.get(media.CDROM):
            raise UserError(f"{option}: not possible with a CD-ROM in the machine")
    for role in media.FLOPPIES:
        boot.drive(role)  # raises UserError
    return replace(boot, keep=_kept(boot, asked.keep))


def _kept(boot: Boot, keep: str) -> str:
    """The role of the medium to keep. Raises UserError if the choice is not clear."""
    written = [medium.role for medium in boot.media if medium.role != media.CDROM]
    if not keep or (keep != FIRST and keep in written):
        return keep
    if keep == FIRST and len(written) == 1:
        return written[0]
    raise UserError(f"--keep: expected MEDIUM=FILE with one of {', '.join(written) or 'no medium'}")


def again(
    lab: Lab,
    name: str,
    board: Machine,
    request: dict[str, object],
    observation: Observation = NOTHING,
) -> MediaRun:
    """The run of a guest with [media] that a record describes: `name` is its guest, `request` the
    entry of the record, `observation` what the run records in addition to its counts. Raises
    LookupError or TypeError if the entry is not complete."""
    system = guests.media_guest(lab, name)
    asked = UserMedia(
        convert=True,
        until=str(request["until"]),
        keep=str(request["keep"]),
        job=str(request.get("args", "")),
        save_state=request.get("state") == "saved",
    )
    choice = Filter(
        feedback=bool(request["feedback"]),
        model=bool(request["model"]),
        limit=int(str(request["limit_seconds"])),
        observation=observation,
    )
    board = experiment.with_isa(name, system, board)
    return _run(lab, board, system, system.script, asked, choice, {})
