# SPDX-License-Identifier: MIT
"""`shell` and `image`: a guest by itself."""

import argparse
from pathlib import Path

from p5lab import engines
from p5lab.cli import options
from p5lab.describe import experiment, guest, machine
from p5lab.execute import shell
from p5lab.host import build, image
from p5lab.host.files import sha256_of
from p5lab.host.progress import Progress
from p5lab.host.terminal import for_terminal
from p5lab.keep import gc
from p5lab.lab import Lab


def add(commands: options.Commands) -> None:
    console = commands.add_parser(
        "shell",
        help="the console of a simulated machine, here",
        description="Boots a guest and hands its serial console to this"
        " terminal; Ctrl-A x leaves. Lines of a file or pipe are typed"
        " one by one, and the end of the input ends the session.",
    )
    console.add_argument("guest", help="a name that `p5lab list guests` shows")
    options.add_system(console)
    console.add_argument(
        "--model",
        choices=("on", "off"),
        default="on",
        help="off: one clock an instruction, no caches, TLBs or stalls",
    )
    options.add_no_build(console)
    console.set_defaults(command=_shell)

    disk = commands.add_parser(
        "image",
        help="the root file system of a guest that is a distribution",
        description="Has mmdebstrap make the root file"
        " system of a distribution from a mirror, or takes a tarball of it,"
        " and makes the disk of the guest that boots it. No root is needed.",
    )
    disk.add_argument("distribution", help="debian or ubuntu")
    disk.add_argument("--suite", default="", help="default: the one in the guest's file")
    disk.add_argument(
        "--mirror",
        default="",
        metavar="URL",
        help="default: the one of this host's apt configuration",
    )
    disk.add_argument(
        "--keyring",
        type=Path,
        metavar="FILE",
        help="by which the mirror is signed; default: as apt on this host has it",
    )
    disk.add_argument(
        "--tarball",
        type=Path,
        metavar="FILE",
        help="instead of a mirror: a root file system, such as ubuntu-base",
    )
    disk.add_argument("--sha256", default="", metavar="DIGEST", help="of the tarball")
    disk.add_argument(
        "--size",
        type=image.parse_size,
        default=image.DEFAULT_SIZE,
        help="of the disk (default: 128M)",
    )
    options.add_json(disk)
    disk.set_defaults(command=_image)


def _shell(args: argparse.Namespace, lab: Lab) -> int:
    seed = options.one_seed(args, "a shell")
    board = machine.load(lab, args.machine)
    if args.settings:
        board = board.with_set(machine.parse_settings(args.settings), "--set")
    system = guest.load(lab, args.guest)
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
