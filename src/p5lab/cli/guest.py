# SPDX-License-Identifier: MIT
"""`shell` opens the console of a guest. `image` makes the root file system of a distribution."""

import argparse
from pathlib import Path

from p5lab import engines
from p5lab.cli import options
from p5lab.describe import experiment, guest, machine
from p5lab.errors import UserError
from p5lab.execute import shell
from p5lab.host import build, image
from p5lab.host.files import sha256_of
from p5lab.host.progress import Progress
from p5lab.host.terminal import for_terminal
from p5lab.keep import gc
from p5lab.lab import Lab


def add(commands: options.Commands) -> None:
    """Adds `shell` and `image` to the command line."""
    console = commands.add_parser(
        "shell",
        help="open the console of a guest in this terminal",
        description="Boots a guest and connects the guest's serial console to this terminal."
        " Press Ctrl-A, then x to end the session. If the input is a file or a pipe, the command"
        " types the lines of the input one by one. The session then ends at the end of the input.",
    )
    console.add_argument("guest", help="a name that `p5lab list guests` shows")
    options.add_system(console)
    console.add_argument(
        "--model",
        choices=("on", "off"),
        default="on",
        help="off: each instruction takes one clock, and the machine has no caches, no TLBs and no"
        " stalls",
    )
    options.add_no_build(console)
    console.set_defaults(command=_shell)

    disk = commands.add_parser(
        "image",
        help="make the root file system and disk of a distribution",
        description="Makes the root file system of a distribution and the disk of the guest that"
        " boots it. The files come from a mirror or from a tarball. mmdebstrap gets the files from"
        " the mirror. The command needs no root rights.",
    )
    disk.add_argument("distribution", help="debian or ubuntu")
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
        default=image.DEFAULT_SIZE,
        help="size of the disk (default: 128M)",
    )
    options.add_json(disk)
    disk.set_defaults(command=_image)


def _shell(args: argparse.Namespace, lab: Lab) -> int:
    seed = options.one_seed(args, "a shell")
    board = machine.load(lab, args.machine)
    if args.settings:
        board = board.with_set(machine.parse_settings(args.settings), "--set")
    system = guest.load(lab, args.guest)
    if system.media:
        raise UserError(
            f"guest {system.name} boots from its own media, and shell cannot show a screen yet; use"
            f" `./p5lab run --guest {system.name}`"
        )
    board = experiment.with_isa("shell", system, board)
    image.check(lab, system)
    planned = shell.plan(board, system, seed, args.model == "on")
    if not args.no_build:
        build.ensure(lab, Progress(), engines.targets(lab, [planned]))
    return shell.run(lab, planned)


def _image(args: argparse.Namespace, lab: Lab) -> int:
    request = image.Request(
        args.distribution,
        args.suite,
        args.mirror,
        args.keyring,
        args.tarball,
        args.sha256,
        args.size,
    )
    progress = Progress()
    with progress.activity("image") as step:
        made = image.make(lab, request, step)
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
