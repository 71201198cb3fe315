#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build a guest kernel for i386 or x86-64 from Debian's linux-source package, reproducibly.

Unpacks the source into a temporary directory, adds the p5ctr driver, and configures the kernel
(`allnoconfig` plus our fragment). Then builds the kernel and checks the instruction set of an i386
kernel. Copies bzImage, System.map, vmlinux and the resolved configuration to the output directory.
The products do not depend on paths, the user, the host or the time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import precompiled_header

SUPPORTED = re.compile(r"6\.1\.\d+")
"""Kernel versions that this build supports."""

UNUSED = [
    "Documentation/*.rst",
    "arch/[!x]*.[chS]",
    "arch/*.dts*",
    "drivers/gpu/*.[ch]",
    "drivers/infiniband/*.[ch]",
    "drivers/media/*.[ch]",
    "drivers/net/[!e]*/*.[ch]",
    "drivers/net/ethernet/[!8]*/*.[ch]",
    "drivers/scsi/*/*.[ch]",
    "drivers/staging/*.[ch]",
    "sound/*.[ch]",
    "tools/perf/*",
    "tools/testing/*",
]
"""Parts of the source that are not unpacked, to save time and disk. They are more than half of the
source. Paths are relative to its root, and `*` also matches `/`. The build needs the Kconfig files
of all directories."""

ARCHITECTURES = ("i386", "x86_64")
"""The kernel's own names. The build checks the instructions of an i386 kernel. An x86-64 kernel
tests its processor before it uses instructions that not all x86-64 processors have."""

BUILD_ENVIRONMENT = {
    "KBUILD_BUILD_TIMESTAMP": "Sun Jan  1 00:00:00 UTC 1995",
    "KBUILD_BUILD_USER": "p5lab",
    "KBUILD_BUILD_HOST": "p5lab",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}

PRODUCTS = {
    "arch/x86/boot/bzImage": "bzImage",
    "System.map": "System.map",
    "vmlinux": "vmlinux",
    ".config": "config",
}


class BuildError(Exception):
    """The build cannot continue. The message gives the error, its place and the expected state."""


def unpack(source: Path, destination: Path) -> Path:
    """Unpacks a linux-source .deb or tar file below `destination`. Returns the root of the tree."""
    archive = source
    if source.suffix == ".deb":
        packed = destination / "deb"
        subprocess.run(["dpkg-deb", "-x", source, packed], check=True)
        archives = sorted(packed.glob("usr/src/linux-source-*.tar.*"))
        if len(archives) != 1:
            raise BuildError(
                f"{source.name}: expected one usr/src/linux-source-*.tar.*, found {len(archives)}"
            )
        archive = archives[0]
    exclude = [f"--exclude=linux-source-*/{part}" for part in UNUSED]
    tree = destination / "linux"
    tree.mkdir()
    subprocess.run(
        ["tar", "-xf", archive, "-C", tree, "--strip-components=1", *exclude], check=True
    )
    return tree


def kernel_version(tree: Path) -> str:
    """Returns the version in the tree's Makefile, for example 6.1.192."""
    head = (tree / "Makefile").read_text().splitlines()[:5]
    fields = dict(line.split(" =", 1) for line in head if " =" in line)
    return ".".join(fields[key].strip() for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


def add_driver(tree: Path, driver: Path) -> None:
    """Copies the driver to drivers/misc and adds it to the Kconfig and Makefile there."""
    misc = tree / "drivers/misc"
    for name in ("p5ctr.c", "p5ctr.h"):
        shutil.copyfile(driver / name, misc / name)
    with (misc / "Makefile").open("a") as makefile:
        makefile.write("obj-$(CONFIG_P5CTR) += p5ctr.o\n")
    kconfig = (misc / "Kconfig").read_text().rstrip()
    if not kconfig.endswith("\nendmenu"):
        raise BuildError("drivers/misc/Kconfig: expected `endmenu` as the last line")
    entry = (driver / "Kconfig").read_text()
    (misc / "Kconfig").write_text(kconfig.removesuffix("endmenu") + entry + "endmenu\n")


def drop_objtool(tree: Path) -> None:
    """Switches off objtool, which checks code of x86-64 during a build and needs libelf's headers.
    The build of a kernel for i386 does not use objtool.
    """
    kconfig = tree / "arch/x86/Kconfig"
    text, found = re.subn(r"\tselect HAVE_OBJTOOL\s+if X86_64\n", "", kconfig.read_text())
    if found != 1:
        raise BuildError(f"arch/x86/Kconfig: expected `select HAVE_OBJTOOL` once, found {found}")
    kconfig.write_text(text)


def drop_export_check(tree: Path) -> None:
    """Switches off a check of each object file: whether it exports a symbol that only this file
    can see. The kernel's authors need the check, and a kernel without modules uses no exports. It
    takes 0.03 s of processor time for each file.
    """
    makefile = tree / "scripts/Makefile.build"
    line = "\t$(call cmd,check_local_export)\n"
    text = makefile.read_text()
    if line not in text:
        raise BuildError("scripts/Makefile.build: expected a call of check_local_export")
    makefile.write_text(text.replace(line, ""))


def settle_at_once(tree: Path) -> None:
    """Removes the two seconds that the driver of the SCSI host adapter waits at each boot until the
    bus has settled. The processor is busy during this wait, and the modelled bus needs no time to
    settle.
    """
    header = tree / "drivers/scsi/BusLogic.h"
    text, found = re.subn(r"(#define BLOGIC_BUS_SETTLE_TIME\s+)2\b", r"\g<1>0", header.read_text())
    if found != 1:
        raise BuildError(f"drivers/scsi/BusLogic.h: expected a settle time of 2, found {found}")
    header.write_text(text)


def read_inquiry(tree: Path) -> None:
    """Corrects how the driver of the SCSI host adapter reads a disk's answer to INQUIRY. Commands
    have scatter lists, and the driver reads the list itself instead of the data that the list
    points to. It finds no tagged queuing there, so it never uses tagged queuing with any disk.
    """
    driver = tree / "drivers/scsi/BusLogic.c"
    data = r"(\(struct scsi_inquiry \*\) )(scsi_sglist\(command\));"
    text, found = re.subn(data, r"\1sg_virt(\2);", driver.read_text())
    if found != 1:
        raise BuildError(
            "drivers/scsi/BusLogic.c: expected the scatter list as the data of an "
            f"INQUIRY once, found {found}"
        )
    driver.write_text(text)


def option(line: str) -> str | None:
    """Returns the option that a line of a configuration file sets or unsets, or None."""
    match = re.fullmatch(r"(CONFIG_\w+)=.*|# (CONFIG_\w+) is not set", line)
    return (match[1] or match[2]) if match else None


def check_config(fragment: str, resolved: str) -> None:
    """Raises BuildError if an option of the fragment has another value after Kconfig."""
    values = {name: line for line in resolved.splitlines() if (name := option(line))}
    for number, line in enumerate(fragment.splitlines(), 1):
        name = option(line)
        if name is None:
            continue
        # A `not set` option in an invisible menu does not appear in the file.
        actual = values.get(name, f"# {name} is not set")
        if actual != line:
            raise BuildError(f"kernel.config:{number}: `{line}` became `{actual}` in this kernel")


def host_tools() -> list[str]:
    """The compiler for programs that run on the host during the build, as a variable of make."""
    return [f"HOSTCC={os.environ['HOSTCC']}"] if "HOSTCC" in os.environ else []


def build(tree: Path, arch: str, config: Path, jobs: int) -> None:
    """Configures and builds bzImage in `tree`."""
    environment = {"PATH": os.environ["PATH"], "ARCH": arch, **BUILD_ENVIRONMENT}

    def make(*arguments: str) -> None:
        command = ["make", "-s", f"-j{jobs}", *host_tools(), *arguments]
        subprocess.run(command, cwd=tree, env=environment, check=True)

    fragment = config.read_text()
    environment["KCONFIG_ALLCONFIG"] = str(config.resolve())
    make("allnoconfig")
    check_config(fragment, (tree / ".config").read_text())
    make("bzImage")


def check_isa(tree: Path, script: Path, exceptions: Path) -> None:
    """Checks with check_isa.py all code of the kernel that a Pentium executes."""
    check: list[str | Path] = [sys.executable, script]
    boot = tree / "arch/x86/boot"
    vdso = tree / "arch/x86/entry/vdso/vdso32.so"
    subprocess.run([*check, "--exceptions", exceptions, tree / "vmlinux"], check=True)
    subprocess.run([*check, boot / "compressed/vmlinux", vdso], check=True)
    subprocess.run([*check, "--machine", "i8086", boot / "setup.elf"], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--source", type=Path, required=True, help="linux-source-6.1 .deb, or the .tar.xz in it"
    )
    parser.add_argument("--arch", choices=ARCHITECTURES, default="i386")
    parser.add_argument("--config", type=Path, required=True, help="kernel.config")
    parser.add_argument("--driver", type=Path, required=True, help="directory p5ctr/")
    parser.add_argument("--check-isa", type=Path, help="check_isa.py; for i386 only")
    parser.add_argument("--isa-exceptions", type=Path, help="list for check_isa.py")
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    checked = args.check_isa is not None and args.isa_exceptions is not None
    if checked != (args.arch == "i386"):
        parser.error("--check-isa and --isa-exceptions: needed for i386, and for nothing else")
    try:
        with tempfile.TemporaryDirectory(prefix="p5lab-kernel-") as tmp:
            tree = unpack(args.source, Path(tmp))
            version = kernel_version(tree)
            if not SUPPORTED.fullmatch(version):
                raise BuildError(f"{args.source.name}: kernel {version}, expected 6.1.x")
            add_driver(tree, args.driver)
            drop_objtool(tree)
            drop_export_check(tree)
            precompiled_header.add(tree)
            settle_at_once(tree)
            read_inquiry(tree)
            build(tree, args.arch, args.config, args.jobs)
            if checked:
                check_isa(tree, args.check_isa.resolve(), args.isa_exceptions.resolve())
            args.output_dir.mkdir(parents=True, exist_ok=True)
            for product, name in PRODUCTS.items():
                shutil.copyfile(tree / product, args.output_dir / name)
            digest = hashlib.sha256((tree / "vmlinux").read_bytes()).hexdigest()
            (args.output_dir / "vmlinux-digest").write_text(f"{digest} linux-{version}\n")
    except (BuildError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"build_kernel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
