# SPDX-License-Identifier: MIT
"""The options of `run` and `plan` about guests that boot from their own media, and `--keep`."""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from p5lab import engines
from p5lab.describe import brought, from_media, guest, media, put, script
from p5lab.describe.brought import PROGRAMS, Brought
from p5lab.describe.from_media import Asked
from p5lab.describe.program import IN_GUEST
from p5lab.describe.run import Run
from p5lab.describe.supplied import FAT, GUEST_PLACE
from p5lab.engines.bochs.engine import KEPT
from p5lab.errors import STATUS_FAILED, UserError, disk_error
from p5lab.execute import forkserver
from p5lab.execute.runner import Result
from p5lab.host.supplied_programs import SYSTEMS, check_job
from p5lab.keep import gc, saved_state, store
from p5lab.lab import Lab

KEEP, SCRIPT = "--keep", "--script"
STATE, SAVE_STATE = "--state", "--save-state"
LONGEST_JOB = 255  # characters; programs have a buffer of this size


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose media and the end of the run."""
    add_media(parser)
    _add_ending(parser)


def add_media(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose media."""
    for option, kind, most in (("--floppy", "a floppy", 2), ("--disk", "an IDE disk", 2)):
        parser.add_argument(
            option,
            type=Path,
            action="append",
            default=[],
            metavar="FILE",
            help=f"boot the system on this image of {kind} instead of a guest; at most"
            f" {most} times. A name without a directory is also searched in {media.VARIABLE}. The"
            " image is never written",
        )
    parser.add_argument(
        "--cdrom", type=Path, metavar="FILE", help="as --disk, for an ISO image of a CD-ROM"
    )
    parser.add_argument(
        put.OPTION,
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="put these files on a floppy of 1.44 MB with a FAT file system, in drive B. Only for"
        " guests that boot from their own media",
    )
    parser.add_argument(
        PROGRAMS,
        choices=tuple(SYSTEMS),
        help="put p5lab's programs for this system on the floppy of --put, with a script that"
        " starts them (docs/concepts/media.md). For Unix systems, the floppy holds a tar archive."
        f" With --program {IN_GUEST}PATH, win32 puts the programs for Wine into"
        f" {GUEST_PLACE}/win32 of the guest",
    )
    parser.add_argument(
        "--geometry",
        default="",
        metavar="C/H/S",
        help="cylinders, heads and sectors of the first --disk (default: from its partition table)",
    )


def _add_ending(parser: argparse.ArgumentParser) -> None:
    """Adds the options about the end of the run."""
    parser.add_argument(
        "--until",
        default="",
        metavar="TEXT",
        help="end the run when TEXT is on the screen or the serial line; the run fails if this does"
        " not happen before the limit. Only for guests that boot from their own media",
    )
    parser.add_argument(
        SCRIPT,
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="drive the guest by the steps of this TOML file: wait for texts, type, use the mouse,"
        " insert floppies (docs/concepts/media.md). Each further --script FILE makes a further run."
        " If the guest has a ready point, the steps follow this point, and all runs share the boot."
        " With --program on a guest with a graphics screen, the steps run beside the program",
    )
    parser.add_argument(
        STATE,
        type=Path,
        metavar="FILE",
        help="continue the system that --save-state saved, instead of a boot. Give the machine, the"
        " media and the guest of that run",
    )


def add_keep(parser: argparse.ArgumentParser) -> None:
    """Adds --keep, which saves the changed image of a medium. Only `run` has this option."""
    parser.add_argument(
        KEEP,
        default="",
        metavar="[MEDIUM=]FILE",
        help="save the changed image of a floppy or disk as a new file. MEDIUM is one of"
        f" {', '.join(KEPT)}; needed only if there are several",
    )


def add_save_state(parser: argparse.ArgumentParser) -> None:
    """Adds --save-state. Only `run` has this option."""
    parser.add_argument(
        SAVE_STATE,
        type=Path,
        metavar="FILE",
        help="save the system at the ready point of its script as a new file, which --state"
        " continues (docs/concepts/media.md)",
    )


def is_asked(args: argparse.Namespace, lab: Lab) -> bool:
    """Whether the command line asks for a boot from media: it names media, or it has only guests
    with [media] and neither an experiment nor a program."""
    if args.floppy or args.disk or args.cdrom:
        return True
    if args.experiment or args.program or not args.guest:
        return False
    return all(guest.load(lab, name).media for name in args.guest)


def asked(args: argparse.Namespace, lab: Lab) -> Asked:
    """What the command line says about media. Compiles the programs of --programs. Raises UserError
    for a wrong text of --until or --args, a wrong script or a wrong --keep."""
    if args.experiment or args.program:
        raise UserError(
            f"{args.experiment or '--program'}: expected without --floppy, --disk and --cdrom"
        )
    script.check_text(args.until, "--until")
    if args.cflags:
        raise UserError("--cflags: expected with --program")
    for option, given in ((brought.FILE, args.files), (brought.STDIN, args.stdin)):
        if given:
            raise UserError(
                f"{option}: expected with --program guest:PATH; {put.OPTION} brings files to this"
                " guest"
            )
    check_text_of_job(args.args)
    system = SYSTEMS.get(args.programs)
    if system:
        check_job(lab, system, args.args)
    role, file = _keep(args)
    saved = getattr(args, "save_state", None)
    for option, new in ((KEEP, file), (SAVE_STATE, saved)):
        if new:
            check_new(new, option)
    return Asked(
        tuple(args.floppy),
        tuple(args.disk),
        args.cdrom,
        args.geometry,
        args.until,
        role,
        tuple(map(script.load, args.script)),
        args.args,
        (*args.put, *(system.made(lab) if system else ())),
        system.form if system else FAT,
        system.phases(lab) if system else {},
        save_state=saved is not None,
        state=_state(args.state) if args.state else None,
    )


def _state(file: Path) -> Path:
    """The path of --state. Raises UserError if it is no file."""
    if not file.is_file():
        raise UserError(f"{STATE} {file}: no such file")
    return file.absolute()


def asked_by_shell(args: argparse.Namespace, lab: Lab) -> Asked:
    """What the command line of `shell` says about media."""
    if args.guest and (args.floppy or args.disk or args.cdrom):
        raise UserError(f"guest {args.guest}: expected without --floppy, --disk and --cdrom")
    system = SYSTEMS.get(args.programs)
    return Asked(
        tuple(args.floppy),
        tuple(args.disk),
        args.cdrom,
        args.geometry,
        put=(*args.put, *(system.made(lab) if system else ())),
        form=system.form if system else FAT,
    )


def check_no_media(args: argparse.Namespace) -> None:
    """Raises UserError for an option about media in a shell of another guest."""
    for option, value in (
        ("--geometry", args.geometry),
        (put.OPTION, args.put),
        (PROGRAMS, args.programs),
    ):
        if value:
            raise UserError(f"{option}: expected with --floppy, --disk, --cdrom")


def check_text_of_job(text: str) -> None:
    """Raises UserError if --args is not a text that a program in the guest can receive."""
    script.check_text(text, "--args")
    if len(text) > LONGEST_JOB:
        raise UserError(f"--args: expected at most {LONGEST_JOB} characters, found {len(text)}")


def scripts(args: argparse.Namespace) -> Sequence[Path]:
    """The files of --script. The command `report` has no such option."""
    return getattr(args, "script", ())


def with_programs(args: argparse.Namespace, lab: Lab, brings: Brought) -> Brought:
    """What a program of a distribution brings along, with the programs of --programs. Compiles
    them. The command `report` has no such option. Raises UserError if the programs for this system
    cannot be started there."""
    system = SYSTEMS.get(getattr(args, "programs", None) or "")
    if system is None:
        return brings
    if system.brought is None:
        known = ", ".join(one.name for one in SYSTEMS.values() if one.brought)
        raise UserError(f"{PROGRAMS} {system.name}: expected {known} with --program {IN_GUEST}PATH")
    files = [(path, f"{GUEST_PLACE}/{system.name}/{path.name}") for path in system.brought(lab)]
    return replace(brings, programs=system.name, supplied=tuple(files), phases=system.phases(lab))


def check_not_asked(args: argparse.Namespace) -> None:
    """Raises UserError for an option that has a meaning only for a boot from media."""
    given = {
        "--geometry": args.geometry,
        "--until": args.until,
        SCRIPT: args.script and not args.program,
        put.OPTION: args.put,
        PROGRAMS: args.programs and not str(args.program).startswith(IN_GUEST),
        KEEP: getattr(args, "keep", ""),
        STATE: args.state,
        SAVE_STATE: getattr(args, "save_state", None),
    }
    for option, value in given.items():
        if value:
            also = ", or with --program on a guest with a graphics screen"
            raise UserError(
                f"{option}: expected with --floppy, --disk, --cdrom or a guest with [media]"
                f"{also if option == SCRIPT else ''}"
            )


def _keep(args: argparse.Namespace) -> tuple[str, Path | None]:
    """The medium and the file of --keep."""
    text = getattr(args, "keep", "")
    if not text:
        return "", None
    role, equals, file = text.partition("=")
    if equals and role in KEPT:
        return role, Path(file)
    return from_media.FIRST, Path(text)


def check_new(file: Path, option: str) -> None:
    """Raises UserError if a file exists already or cannot be created."""
    where = f"{option} {file}"
    if os.path.lexists(file):
        raise UserError(f"{where}: the file exists already; expected the name of a new file")
    if not file.parent.is_dir():
        raise UserError(f"{where}: no directory {file.parent}")
    if not os.access(file.parent, os.W_OK):
        raise UserError(f"{where}: the directory {file.parent} cannot be written")


def keep(args: argparse.Namespace, results: Sequence[Result]) -> str:
    """Copies the changed image of the run to the file of --keep. Returns a line about it; empty
    without --keep and for a run that failed. Raises UserError if the file exists by now or cannot
    be written; then no part of it stays."""
    _, file = _keep(args)
    (result,) = results if file else (None,)
    if file is None or result is None or result.status != "ok":
        return ""
    _copy(result.directory / KEPT[_role(result.run)], file, KEEP, lambda copy: None)
    return f"Saved {_role(result.run)} as {file}."


def keep_state(args: argparse.Namespace, lab: Lab, results: Sequence[Result]) -> str:
    """As keep(), for the state of --save-state."""
    file = args.save_state
    (result,) = results if file else (None,)
    if result is None or result.status != "ok":
        return ""
    plan = engines.get(result.run.engine).prepare(lab, result.run, result.directory)
    made_of = forkserver.made_of(plan, store.identity(plan)["digests"])
    source = result.directory / saved_state.ARCHIVE
    _copy(source, file, SAVE_STATE, lambda copy: saved_state.describe(copy, made_of))
    return f"Saved the system at its ready point as {file}, {gc.human(file.stat().st_size)}."


def _copy(source: Path, file: Path, option: str, finish: Callable[[Path], None]) -> None:
    """Copies a file of a run to a new file. `finish` completes the copy. Raises UserError if the
    new file exists by now or cannot be written; then no part of it stays."""
    if not source.is_file():
        raise UserError(f"{source} is missing; repeat the run with --force", status=STATUS_FAILED)
    try:
        with tempfile.TemporaryDirectory(prefix=".p5lab-keep-", dir=file.parent) as place:
            copy = Path(place) / "copy"
            shutil.copyfile(source, copy)
            finish(copy)
            os.link(copy, file)  # fails if the file exists
    except FileExistsError:
        raise UserError(f"{option} {file}: the file exists already", status=STATUS_FAILED) from None
    except OSError as error:
        raise disk_error(error, file) from None


def _role(run: Run) -> str:
    return run.boot.keep if run.boot else ""
