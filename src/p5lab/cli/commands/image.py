# SPDX-License-Identifier: MIT
#: 100 image DISTRIBUTION  make the disk of a Debian or Ubuntu guest
"""`image`: make the root file system and disk of a distribution.

Makes the root file system of a distribution and the disk of the guest that boots it. The files come
from a mirror or from a tarball. mmdebstrap gets the files from the mirror. The command needs no
root rights.

examples:
  ./p5lab image debian
  ./p5lab image ubuntu --tarball ubuntu-base.tar.gz --size 256M
"""

import argparse

from p5lab.cli import arguments, options
from p5lab.describe import guest
from p5lab.files import sha256_of
from p5lab.host import build, image
from p5lab.keep import gc
from p5lab.lab import Lab, shown
from p5lab.progress import Progress
from p5lab.terminal import for_terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `image`."""
    arguments.add(
        parser,
        """
        distribution  debian or ubuntu
        --arch  the processor of the programs: amd64 is x86-64; i386 is a 32-bit processor, for
            guest debian32 with clocks (default: %(default)s)
        --packages A,B  packages of the distribution that the disk contains in addition to the
            essential packages. The packages that these need come with them
        --suite  default: the suite in the guest's file
        --mirror URL  default: the mirror in this host's apt configuration
        --keyring FILE  the keys that verify the files of the mirror (default: the keys of apt on
            this host)
        --tarball FILE  use the root file system in this tarball, such as ubuntu-base, instead of a
            mirror
        --sha256 DIGEST  SHA-256 of the tarball
        --size  size of the disk (default: 128M, or more if the files need more)
        """,
        arch={"choices": guest.ARCHITECTURES, "default": guest.AMD64},
        packages={"type": image.parse_packages, "default": ()},
        suite={"default": ""},
        size={"type": image.parse_size, "default": 0},
    )
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `image`."""
    wanted = image.ImageRequest(
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
    system = guest.built(guest.load(lab, made.guest))
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
    print(f"Root file system: {shown(lab.rootfs(made.guest))}, SHA-256 {made.sha256}")
    build.ensure(lab, progress, (lab.short(system.disk),))
    print(
        f"Disk: {shown(system.disk)}, {gc.human(system.disk.stat().st_size)}, SHA-256"
        f" {sha256_of(system.disk)}"
    )
    return 0
