#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build User-Mode Linux, a static i586 program, reproducibly from Debian's linux-source package.

The kernel's part is compiled like any kernel. The part that calls the host is compiled with the
headers of musl and the kernel's own headers for programs. The program is linked to musl's static
library. The host's compiler needs no 32-bit C library. Writes the program (`linux`, stripped),
`vmlinux` (the same program with symbols), System.map and the resolved configuration to the output
directory. The products do not depend on paths, the user, the host or the time.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "linux"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import build_kernel
import precompiled_header
from archives import extract
from build_kernel import BuildError

DRIVERS = "arch/um/drivers"
OURS = ["arch/um/*"]
"""Parts of the source that guest linux does not unpack, but linux-uml needs."""

COMPILER = """\
#!/bin/sh
# The compiler for User-Mode Linux: gcc, with musl where the host's C library would be.
link=yes
for argument; do
  case $argument in
    -nostdinc) exec gcc "$@" ;; # the kernel's part: no C library
    -c | -S | -E | -M | -r | -shared | -nostdlib | --version | -print* | -dump*) link=no ;;
  esac
done
set -- -nostdinc {includes} "$@"
[ $link = no ] && exec gcc "$@"
# The linker script makes one segment of code and data. Switch off the warning about it.
set -- -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -nostdlib {libc}/crt1.o {libc}/crti.o "$@"
exec gcc "$@" -x none -L {empty} \\
  -Wl,--start-group {libc}/libc.a {libc}/libcompiler_rt.a -Wl,--end-group {libc}/crtn.o
"""


def make(tree: Path, *arguments: str, env: dict[str, str] | None = None) -> None:
    environment = {"PATH": os.environ["PATH"], **build_kernel.BUILD_ENVIRONMENT, **(env or {})}
    subprocess.run(
        ["make", "-s", *build_kernel.host_tools(), *arguments],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=True,
    )


def unpack(source: Path, destination: Path) -> Path:
    """Unpacks the source as for guest linux, and also the parts that only User-Mode Linux needs."""
    tree = build_kernel.unpack(source, destination)
    (archive,) = list(destination.glob("deb/usr/src/linux-source-*.tar.*")) or [source]
    wanted = [f"linux-source-*/{part}" for part in OURS]
    subprocess.run(
        ["tar", "-xf", archive, "-C", tree, "--strip-components=1", "--wildcards", *wanted],
        check=True,
    )
    return tree


def apply_patches(tree: Path, patches: list[Path]) -> None:
    for patch in patches:
        result = subprocess.run(
            ["patch", "-p1", "-s", "-f", "-i", patch.resolve()],
            cwd=tree,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise BuildError(f"{patch.name}: does not fit this kernel: {result.stdout.strip()}")


def add_driver(tree: Path, driver: Path, header: Path) -> None:
    for file in (driver, header):
        shutil.copyfile(file, tree / DRIVERS / file.name)
    with (tree / DRIVERS / "Makefile").open("a") as makefile:
        makefile.write(f"obj-y += {driver.stem}.o\n")


def make_compiler(directory: Path, libc: Path, headers: Path) -> Path:
    """Writes a wrapper of the compiler. `headers` holds the kernel's own headers for programs."""
    extract(libc / "include.tar", directory / "include")
    own = subprocess.run(
        ["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True
    ).stdout.strip()
    # The linker expects these libraries. They are empty, because musl's libc.a has their
    # functions.
    for name in ("util", "rt", "pthread"):
        subprocess.run(["ar", "rcs", directory / f"lib{name}.a"], check=True)
    includes = [directory / "include", headers, own]
    compiler = directory / "cc"
    compiler.write_text(
        COMPILER.format(
            includes=" ".join(f"-isystem {shlex.quote(str(path))}" for path in includes),
            libc=shlex.quote(str(libc)),
            empty=shlex.quote(str(directory)),
        )
    )
    compiler.chmod(0o755)
    return compiler


def build(tree: Path, config: Path, compiler: Path, jobs: int) -> None:
    settings = ["ARCH=um", "SUBARCH=i386", f"CC={compiler}", f"-j{jobs}"]
    make(tree, *settings, "allnoconfig", env={"KCONFIG_ALLCONFIG": str(config.resolve())})
    build_kernel.check_config(config.read_text(), (tree / ".config").read_text())
    make(tree, *settings, "vmlinux")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--source", type=Path, required=True, help="linux-source-6.1 .deb, or the .tar.xz in it"
    )
    parser.add_argument("--config", type=Path, required=True, help="kernel.config")
    parser.add_argument("--patches", type=Path, required=True, help="directory of *.patch")
    parser.add_argument("--driver", type=Path, required=True, help="p5ctr_kern.c")
    parser.add_argument("--driver-header", type=Path, required=True, help="p5ctr.h")
    parser.add_argument(
        "--libc",
        type=Path,
        required=True,
        help="directory with libc.a, libcompiler_rt.a, crt*.o, include.tar",
    )
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="p5lab-uml-") as tmp:
            work = Path(tmp)
            tree = unpack(args.source, work)
            version = build_kernel.kernel_version(tree)
            if not build_kernel.SUPPORTED.fullmatch(version):
                raise BuildError(f"{args.source.name}: kernel {version}, expected 6.1.x")
            headers = work / "headers"
            headers.mkdir()
            make(tree, "ARCH=i386", f"O={headers}", f"-j{args.jobs}", "headers")
            apply_patches(tree, sorted(args.patches.glob("*.patch")))
            add_driver(tree, args.driver, args.driver_header)
            build_kernel.drop_export_check(tree)
            precompiled_header.add(tree)
            tools = work / "tools"
            tools.mkdir()
            compiler = make_compiler(tools, args.libc.resolve(), headers / "usr/include")
            build(tree, args.config, compiler, args.jobs)
            vmlinux = tree / "vmlinux"
            subprocess.run([sys.executable, args.check_isa, vmlinux], check=True)
            args.output_dir.mkdir(parents=True, exist_ok=True)
            subprocess.run(["strip", "-o", args.output_dir / "linux", vmlinux], check=True)
            for product, name in (
                ("vmlinux", "vmlinux"),
                ("System.map", "System.map"),
                (".config", "config"),
            ):
                shutil.copyfile(tree / product, args.output_dir / name)
    except (BuildError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"build_uml: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
