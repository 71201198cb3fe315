# SPDX-License-Identifier: MIT
"""From the options of `run`, `plan`, `report` and `shell` to a request."""

import argparse
import itertools
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from p5lab.cli import media, piped
from p5lab.describe import experiment, guest, machine, observation, program_files, script, sweep
from p5lab.describe.media import CHANGED
from p5lab.describe.observation import Observation
from p5lab.describe.program import IN_GUEST
from p5lab.describe.program_files import PROGRAMS
from p5lab.describe.request import FIRST, Filter, Request, UserMedia, UserProgram, What
from p5lab.errors import UserError, refuse
from p5lab.lab import Lab
from p5lab.prepare import files_floppy

CFLAGS = "cflags"  # as a key of --sweep
LONGEST_JOB = 255  # characters; programs have a buffer of this size


def of(args: argparse.Namespace, lab: Lab) -> Request:
    """Returns what the command line of `run`, `plan` or `report` asks for (options.add_choice,
    options.SHARED). Raises UserError for a wrong value and for options that exclude each other,
    such as an experiment and a program."""
    if args.command_name != "report":  # it divides what stored runs have counted
        observation.count_by(args, filter(None, args.by.split(",")), "--by")
    axes = sweep.parse(args.sweeps)
    flags = [axis for axis in axes if CFLAGS in axis.steps[0]]
    choice = Filter(
        machines=tuple(args.machine),
        guests=tuple(args.guest),
        workloads=tuple(args.workload),
        settings=tuple(machine.parse_settings(args.settings).items()),
        feedback=None if args.feedback is None else args.feedback == "on",
        model=args.model == "on",
        seeds=args.seeds,
        engine=args.engine,
        observation=Observation.parse(args),
        limit=args.limit,
        sweeps=tuple(axis for axis in axes if axis not in flags),
    )
    if flags and not args.program:
        raise UserError(f"{sweep.OPTION} {CFLAGS}: expected with --program FILE.c")
    return Request(_what(args, lab, flags), choice, args.ideal, args.only)


def of_shell(args: argparse.Namespace, limit_seconds: int) -> Request:
    """Returns what the command line of `shell` asks for, if the machine boots from media."""
    if args.guest and (args.floppy or args.disk or args.cdrom):
        raise UserError(f"guest {args.guest}: expected without --floppy, --disk and --cdrom")
    choice = Filter(
        machines=(args.machine,),
        guests=(args.guest,) if args.guest else (),
        settings=tuple(machine.parse_settings(args.settings).items()),
        model=args.model == "on",
        seeds=args.seed if args.seed != (0,) else (),
        limit=limit_seconds,
    )
    return Request(_media(args), choice)


def _what(args: argparse.Namespace, lab: Lab, flags: Sequence[sweep.Axis]) -> What:
    """`flags`: the axes of --sweep cflags=..."""
    if args.command_name != "report":  # stored boots from media are named by their ids
        if _boots_media(args, lab):
            return _media_of_run(args)
        _check_no_media(args)
    stdin = piped.standard_input(lab, args.stdin, is_program=bool(args.program))
    files = program_files.parse(args.files, stdin, getattr(args, "programs", None) or "")
    if not args.program:
        refuse(
            {"--args": args.args, "--cflags": args.cflags, **dict.fromkeys(files.options, True)},
            "expected with --program; set parameters of workloads in the experiment's file",
        )
    if args.experiment and args.program:
        raise UserError(
            f"{args.command_name}: {args.experiment} and --program {args.program[0]}: expected one"
            " of the two"
        )
    known = experiment.names(lab) if args.program else []
    for name in args.program:
        if name in known and not Path(name).exists():
            raise UserError(f"--program {name}: {name} is an experiment; expected a file")
    if args.program:
        steps = tuple(map(script.load, getattr(args, "script", ())))
        swept = [axis.steps for axis in flags]
        programs = tuple(
            UserProgram(
                Path(name),
                args.args,
                " ".join(filter(None, (own, *(str(step[CFLAGS]) for step in more)))),
                files,
                steps,
            )
            for name in args.program
            for own in args.cflags or [""]
            for more in itertools.product(*swept)
        )
        return programs if len(programs) > 1 else programs[0]
    if args.experiment is None:
        stored = ", a run, `program`" if args.command_name == "report" else ""
        raise UserError(
            f"{args.command_name}: expected an experiment{stored} or --program FILE"
            f" (see `p5lab {args.command_name} --help`)"
        )
    if _names_program(args.experiment, lab):
        raise UserError(
            f"unknown experiment {args.experiment!r}; did you mean"
            f" --program {shlex.quote(args.experiment)}?"
        )
    return str(args.experiment)


def _names_program(word: str, lab: Lab) -> bool:
    """Whether a word in the place of an experiment names a program: it is a file, or it has the
    form of a path. The description of an experiment (.toml) and a directory are no programs."""
    path = Path(word)
    if word in experiment.names(lab) or path.suffix == ".toml" or path.is_dir():
        return False
    return path.is_file() or "/" in word or path.suffix == ".c"


def _boots_media(args: argparse.Namespace, lab: Lab) -> bool:
    """Whether the command line asks for a boot from media: it names media, or it has only guests
    with [media] and neither an experiment nor a program."""
    if args.floppy or args.disk or args.cdrom:
        return True
    if args.experiment or args.program or not args.guest:
        return False
    return all(isinstance(guest.load(lab, name), guest.MediaGuest) for name in args.guest)


def _media(args: argparse.Namespace) -> UserMedia:
    """The media of the options of media.add_media."""
    return UserMedia(
        tuple(args.floppy),
        tuple(args.disk),
        args.cdrom,
        args.geometry,
        convert=args.convert,
        put=tuple(args.put),
        programs=args.programs or "",
    )


def _media_of_run(args: argparse.Namespace) -> UserMedia:
    """The media and the end of a run. Raises UserError for a wrong text of --until or --args, a
    wrong script or a wrong --keep."""
    if args.experiment or args.program:
        raise UserError(
            f"{args.experiment or '--program'}: expected without --floppy, --disk and --cdrom"
        )
    script.check_text(args.until, "--until")
    if args.cflags:
        raise UserError("--cflags: expected with --program")
    refuse(
        {program_files.FILE: args.files, program_files.STDIN: args.stdin},
        f"expected with --program guest:PATH; {files_floppy.OPTION} brings files to this guest",
    )
    script.check_text(args.args, "--args")
    if len(args.args) > LONGEST_JOB:
        raise UserError(
            f"--args: expected at most {LONGEST_JOB} characters, found {len(args.args)}"
        )
    role, file = keep(args)
    saved = getattr(args, "save_state", None)
    for option, new in ((media.KEEP, file), (media.SAVE_STATE, saved)):
        if new:
            media.check_new(new, option)
    return replace(
        _media(args),
        until=args.until,
        keep=role,
        scripts=tuple(map(script.load, args.script)),
        job=args.args,
        save_state=saved is not None,
        state=_state(args.state) if args.state else None,
    )


def _state(file: Path) -> Path:
    """The path of --state. Raises UserError if it is no file."""
    if not file.is_file():
        raise UserError(f"{media.STATE} {file}: no such file")
    return file.absolute()


def keep(args: argparse.Namespace) -> tuple[str, Path | None]:
    """The medium and the file of --keep."""
    text = getattr(args, "keep", "")
    if not text:
        return "", None
    role, equals, file = text.partition("=")
    if equals and role in CHANGED:
        return role, Path(file)
    return FIRST, Path(text)


def _check_no_media(args: argparse.Namespace) -> None:
    """Raises UserError for an option that has a meaning only for a boot from media."""
    given = {
        "--geometry": args.geometry,
        media.CONVERT: args.convert,
        "--until": args.until,
        media.SCRIPT: args.script and not args.program,
        files_floppy.OPTION: args.put,
        PROGRAMS: args.programs
        and not all(name.startswith(IN_GUEST) for name in args.program or [""]),
        media.KEEP: getattr(args, "keep", ""),
        media.STATE: args.state,
        media.SAVE_STATE: getattr(args, "save_state", None),
    }
    for option, value in given.items():
        if value:
            also = ", or with --program on a guest with a graphics screen"
            raise UserError(
                f"{option}: expected with --floppy, --disk, --cdrom or a guest with [media]"
                f"{also if option == media.SCRIPT else ''}"
            )
