# SPDX-License-Identifier: MIT
"""`shell` opens the console of a guest. `image` makes the root file system of a distribution."""

import argparse
import sys
from pathlib import Path

from p5lab import engines
from p5lab.cli import media, options, request
from p5lab.describe import experiment, guest, machine
from p5lab.errors import UserError
from p5lab.execute import screen, shell, viewers
from p5lab.host import build, image
from p5lab.host.files import sha256_of
from p5lab.host.progress import Progress
from p5lab.host.terminal import for_terminal
from p5lab.keep import gc
from p5lab.lab import Lab
from p5lab.prepare import prepare


def add(commands: options.Commands) -> None:
    """Adds `shell` and `image` to the command line."""
    console = commands.add_parser(
        "shell",
        help="open the console of a guest in this terminal",
        description="Boots a guest and connects the guest's serial console to this terminal. For a"
        " guest that boots from its own media, the command shows the guest's screen and sends your"
        " keys to the guest. Press Ctrl-A, then x to end the session. If the input is a file or a"
        " pipe, the command types the lines of the input one by one. The session then ends at the"
        " end of the input.",
    )
    console.add_argument("guest", nargs="?", help="a name that `p5lab list guests` shows")
    console.add_argument(
        "--screen",
        action="store_true",
        help="show the screen of a guest that boots from its own media, and type on its keyboard."
        " This is the default for such a guest, and for --floppy, --disk and --cdrom",
    )
    console.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write what you do as a script for `run --script FILE`. Only with a screen",
    )
    console.add_argument(
        "--vnc",
        type=int,
        nargs="?",
        const=0,
        metavar="PORT",
        help="also show the screen, with graphics and mouse, to a VNC viewer on 127.0.0.1 (default:"
        " the first free port from 5900 on). Only with a screen",
    )
    options.add_system(console)
    media.add_media(console)
    console.add_argument(
        "--model",
        choices=("on", "off"),
        default="on",
        help="off: each instruction takes one clock, and the machine has no caches, no TLBs and no"
        " stalls",
    )
    options.add_no_build(console)
    console.set_defaults(command=_shell)
    _add_image(commands)


def _add_image(commands: options.Commands) -> None:
    disk = commands.add_parser(
        "image",
        help="make the root file system and disk of a distribution",
        description="Makes the root file system of a distribution and the disk of the guest that"
        " boots it. The files come from a mirror or from a tarball. mmdebstrap gets the files from"
        " the mirror. The command needs no root rights.",
    )
    disk.add_argument("distribution", help="debian or ubuntu")
    disk.add_argument(
        "--arch",
        choices=guest.ARCHITECTURES,
        default=guest.AMD64,
        help="the processor of the programs: amd64 is x86-64; i386 is a 32-bit processor, for guest"
        " debian32 with clocks (default: %(default)s)",
    )
    disk.add_argument(
        "--packages",
        type=image.parse_packages,
        default=(),
        metavar="A,B",
        help="packages of the distribution that the disk contains in addition to the essential"
        " packages. The packages that these need come with them",
    )
    disk.add_argument("--suite", default="", help="default: the suite in the guest's file")
    disk.add_argument(
        "--mirror",
        default="",
        metavar="URL",
        help="default: the mirror in this host's apt configuration",
    )
    disk.add_argument(
        "--keyring",
        type=Path,
        metavar="FILE",
        help="the keys that verify the files of the mirror (default: the keys of apt on this host)",
    )
    disk.add_argument(
        "--tarball",
        type=Path,
        metavar="FILE",
        help="use the root file system in this tarball, such as ubuntu-base, instead of a mirror",
    )
    disk.add_argument("--sha256", default="", metavar="DIGEST", help="SHA-256 of the tarball")
    disk.add_argument(
        "--size",
        type=image.parse_size,
        default=0,
        help="size of the disk (default: 128M, or more if the files need more)",
    )
    options.add_json(disk)
    disk.set_defaults(command=_image)


def _shell(args: argparse.Namespace, lab: Lab) -> int:
    seed = options.one_seed(args, "a shell")
    board = machine.load(lab, args.machine)
    if args.settings:
        board = board.with_set(machine.parse_settings(args.settings), "--set")
    if _has_screen(args, lab):
        return _screen(args, lab)
    if args.guest is None:
        raise UserError("shell: expected a guest, or media (--floppy, --disk, --cdrom)")
    media.check_no_media(args)
    system = guest.load(lab, args.guest)
    for option, given in (
        ("--screen", args.screen),
        ("--record", args.record),
        ("--vnc", args.vnc is not None),
    ):
        if given:
            raise UserError(
                f"{option}: guest {system.name} has its console on the serial line; expected a"
                " guest with [media], or --floppy, --disk or --cdrom"
            )
    board = experiment.with_isa("shell", system, board)
    image.check(lab, system)
    planned = shell.plan(board, system, seed, args.model == "on")
    if not args.no_build:
        build.ensure(lab, Progress(), engines.targets(lab, [planned]))
    return shell.run(lab, planned)


def _has_screen(args: argparse.Namespace, lab: Lab) -> bool:
    """Whether the machine boots from media, so that a person needs its screen."""
    if args.floppy or args.disk or args.cdrom:
        return True
    return args.guest is not None and bool(guest.load(lab, args.guest).media)


def _screen(args: argparse.Namespace, lab: Lab) -> int:
    """Opens the screen of a guest that boots from its own media."""
    options.one_seed(args, "a shell")
    if args.vnc is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("shell: the screen of a guest needs a terminal, or --vnc")
    if args.record:
        media.check_new(args.record, "--record")
    (planned,) = prepare(lab, request.of_shell(args, shell.LIMIT_SECONDS)).runs
    if not args.no_build:
        targets = [*engines.targets(lab, [planned])]
        if args.vnc is not None:
            targets.append(lab.short(viewers.program(lab)))
        build.ensure(lab, Progress(), tuple(targets))
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


def _image(args: argparse.Namespace, lab: Lab) -> int:
    wanted = image.Request(
        args.distribution,
        args.arch,
        args.packages,
        args.suite,
        args.mirror,
        args.keyring,
        args.tarball,
        args.sha256,
        args.size,
    )
    progress = Progress()
    with progress.activity("image") as step:
        made = image.make(lab, wanted, step)
    contents = made.contents
    system = guest.load(lab, made.guest)
    assert system.disk is not None
    if args.form == "json":
        build.ensure(lab, progress, (lab.short(system.disk),))
        options.print_json(
            {
                "guest": made.guest,
                "os_release": contents.os_release,
                "glibc": contents.glibc,
                "files": contents.files,
                "bytes": contents.bytes,
                "rootfs": {"path": lab.short(lab.rootfs(made.guest)), "sha256": made.sha256},
                "disk": {
                    "path": lab.short(system.disk),
                    "bytes": system.disk.stat().st_size,
                    "sha256": sha256_of(system.disk),
                },
            }
        )
        return 0
    title = for_terminal(contents.os_release["PRETTY_NAME"])
    print(f"{title}, glibc {contents.glibc}: {contents.files} files, {gc.human(contents.bytes)}")
    print(f"Root file system: {lab.short(lab.rootfs(made.guest))}, SHA-256 {made.sha256}")
    build.ensure(lab, progress, (lab.short(system.disk),))
    print(
        f"Disk: {lab.short(system.disk)}, {gc.human(system.disk.stat().st_size)}, SHA-256"
        f" {sha256_of(system.disk)}"
    )
    return 0
