# SPDX-License-Identifier: MIT
#: 090 shell GUEST         open the console of a simulated machine in this terminal
"""`shell`: open the console of a guest in this terminal.

Boots a guest and connects the guest's serial console to this terminal. For a guest that boots from
its own media, the command shows the guest's screen and sends your keys to the guest. Press Ctrl-A,
then x to end the session. If the input is a file or a pipe, the command types the lines of the
input one by one. The session then ends at the end of the input.

examples:
  ./p5lab shell linux
  ./p5lab shell linux --set l2.present=false
"""

import argparse
import sys

from p5lab.cli import arguments, media, options, request
from p5lab.describe import experiment, guest, machine
from p5lab.errors import UserError, refuse
from p5lab.execute import screen, shell, viewers
from p5lab.execute.build_and_run import build_for
from p5lab.host import image
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `shell`."""
    arguments.add(
        parser,
        """
        [guest]  a name that `p5lab list guests` shows
        --screen  show the screen of a guest that boots from its own media, and type on its
            keyboard. This is the default for such a guest, and for --floppy, --disk and --cdrom
        --record FILE  write what you do as a script for `run --script FILE`. Only with a screen
        --vnc PORT  also show the screen, with graphics and mouse, to a VNC viewer on 127.0.0.1
            (default: the first free port from 5900 on). Only with a screen
        """,
        vnc={"type": int, "nargs": "?", "const": 0},
    )
    options.add(parser, "machine seed")
    media.add_media(parser)
    options.add(parser, "model no-build")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `shell`."""
    seed = options.one_seed(args, "a shell")
    board = machine.load(lab, args.machine)
    if args.settings:
        board = board.with_set(machine.parse_settings(args.settings), "--set")
    if _has_screen(args, lab):
        return _screen(args, lab)
    if args.guest is None:
        raise UserError("shell: expected a guest, or media (--floppy, --disk, --cdrom)")
    media.check_no_media(args)
    system = guest.built(guest.load(lab, args.guest))
    refuse(
        {"--screen": args.screen, "--record": args.record, "--vnc": args.vnc is not None},
        f"guest {system.name} has its console on the serial line; expected a guest with [media],"
        " or --floppy, --disk or --cdrom",
    )
    board = experiment.with_isa("shell", system, board)
    image.check(lab, system)
    planned = shell.plan(board, system, seed, args.model == "on")
    if not args.no_build:
        build_for(lab, planned)
    return shell.run(lab, planned)


def _has_screen(args: argparse.Namespace, lab: Lab) -> bool:
    """Whether the machine boots from media, so that a person needs its screen."""
    if args.floppy or args.disk or args.cdrom:
        return True
    return args.guest is not None and isinstance(guest.load(lab, args.guest), guest.MediaGuest)


def _screen(args: argparse.Namespace, lab: Lab) -> int:
    """Opens the screen of a guest that boots from its own media."""
    options.one_seed(args, "a shell")
    if args.vnc is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("shell: the screen of a guest needs a terminal, or --vnc")
    if args.record:
        media.check_new(args.record, "--record")
    (planned,) = prepare(lab, request.of_shell(args, shell.LIMIT_SECONDS)).runs
    if not args.no_build:
        viewer = [lab.short(viewers.program(lab))] if args.vnc is not None else []
        build_for(lab, planned, *viewer)
    elif args.vnc is not None and not viewers.program(lab).exists():
        raise UserError("--vnc: build/engine/p5vnc is missing; expected without --no-build")
    server = viewers.Viewers(viewers.program(lab), args.vnc) if args.vnc is not None else None
    if server:
        Progress().say(f"A VNC viewer on this host shows the screen at {server.address}.")
    try:
        return screen.run(lab, planned, server, args.record)
    finally:
        if server:
            server.close()
