#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the user level of guest mach: MIG, the C library, the UNIX server.

MIG is built from Debian's source and runs on the host. MIG makes the stubs of the kernel's
interfaces (.defs files of the package gnumach-dev) and of our own interfaces. The C library is musl
with another system interface (libc/): the functions of musl stay the same, but each system call
becomes a message. The script writes crt1.o, crti.o, crtn.o, libc.a, libc.so, libcompiler_rt.a,
headers.tar and `server.o` to the output directory. `server.o` contains all objects of the server.
link_server.py later links `server.o` with the archive of the guest's programs. The products depend
on the sources and the ziglang version only.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parts/musl"))
import build_musl
from building import find_zig, run, status_of, unpack, write_headers, zig_caches

HERE = Path(__file__).resolve().parent
HEADERS = "usr/include/i386-linux-gnu"
KERNEL = (
    "mach/mach.defs",
    "mach/mach_port.defs",
    "mach/mach_host.defs",
    "mach/gnumach.defs",
    "mach/machine/mach_i386.defs",
    "device/device.defs",
    "device/device_request.defs",
)
"""Interfaces of the kernel with stubs in the library."""
SERVED = ("mach/exc.defs", "mach/memory_object.defs", "device/device_reply.defs")
"""Interfaces of the messages that the kernel sends to the server: requests and late replies."""
SHARED = ("unix_types.h", "sysv.h")
"""Headers that the library and the server share."""
REPLACED = (
    "src/thread/i386/__set_thread_area.s",
    "src/thread/i386/__unmapself.s",
    "src/thread/i386/clone.s",
    "src/thread/i386/syscall_cp.s",
    "src/internal/i386/defsysinfo.s",
    "src/process/i386/vfork.s",
    "src/process/vfork.c",
    "src/signal/i386/restore.s",
    "src/thread/__set_thread_area.c",
)
"""Files of musl that call Linux directly. musl's plain C or files of libc/ replace them."""
SERVER_FLAGS = [
    "-std=gnu11",
    "-Os",
    "-g0",
    "-fno-stack-protector",
    "-fno-pic",
    "-fno-asynchronous-unwind-tables",
    "-Wall",
    "-Wextra",
    "-Werror",
]


class Mig:
    """The interface generator. MIG runs on the host and generates 32-bit interfaces."""

    def __init__(self, source: Path, headers: Path, work: Path) -> None:
        self.headers, self.work = headers, work
        tree = unpack(source, work / "mig")
        (tree / "cpu.h").write_text(self._sizes(tree / "cpu.sym"))
        self.program = work / "migcom"
        run(
            [
                *shlex.split(os.environ.get("HOSTCC", "gcc")),
                "-O1",
                "-w",
                "-std=gnu99",
                '-DPACKAGE_STRING="mig"',
                "-I",
                tree,
                "-o",
                self.program,
                *sorted(tree.glob("*.c")),
            ],
            tree,
        )

    def _sizes(self, symbols: Path) -> str:
        """Returns cpu.h: sizes and numbers from the target's headers, as the target's compiler
        computes them.
        """
        lines = symbols.read_text().splitlines()
        source = [line for line in lines if line.startswith("#include")] + ["void sizes(void) {"]
        for line in lines:
            if line.startswith("expr"):
                words = line.split()
                name = words[-1]
                value = line.split(None, 1)[1].rsplit(name, 1)[0].strip() or name
                source.append(f'__asm__("@{name} %c0" : : "i"({value}));')
        source.append("}")
        said = run(
            [
                "gcc",
                "-m32",
                "-ffreestanding",
                "-nostdinc",
                "-isystem",
                self.headers,
                "-isystem",
                run(["gcc", "-print-file-name=include"], self.work).stdout.strip(),
                "-S",
                "-x",
                "c",
                "-o",
                "-",
                "-",
            ],
            self.work,
            text="\n".join(source),
        ).stdout
        return "".join(
            f"#define {name} {value}\n" for name, value in re.findall(r"@(\w+) (-?\d+)", said)
        )

    def stubs(self, interface: Path, output: Path, name: str, split: bool = True) -> None:
        """Makes the caller's stubs: one file for each routine, and NAME_calls.h."""
        prefix = f"{output}/{name}_"
        kind = ["-i", prefix] if split else ["-user", f"{prefix}user.c"]
        self._translate(
            interface, [*kind, "-server", "/dev/null", "-header", f"{output}/{name}_calls.h"]
        )

    def server(self, interface: Path, output: Path, name: str) -> None:
        self._translate(
            interface,
            [
                "-user",
                "/dev/null",
                "-header",
                "/dev/null",
                "-server",
                f"{output}/{name}_server.c",
                "-sheader",
                f"{output}/{name}_server.h",
            ],
        )

    def _translate(self, interface: Path, flags: list[str]) -> None:
        text = run(
            [
                "gcc",
                "-m32",
                "-std=c99",
                "-E",
                "-x",
                "c",
                "-nostdinc",
                "-I",
                interface.parent,
                "-I",
                self.headers,
                interface,
            ],
            self.work,
        ).stdout
        run([self.program, *flags], self.work, text=text)


def prepare(tree: Path, mig: Mig) -> None:
    """Unpacks musl's tree and adds our system interface."""
    for name in REPLACED:
        (tree / name).unlink()
    shutil.copyfile(HERE / "libc/syscall_arch.h", tree / "arch/i386/syscall_arch.h")
    ours = tree / "src/mach"
    shutil.copytree(HERE / "libc", ours)
    for name in SHARED:
        shutil.copyfile(HERE / name, ours / name)
    with (tree / "Makefile").open("a") as makefile:
        makefile.write(f"CFLAGS_ALL += -isystem {mig.headers} -isystem src/mach\n")
    for interface in KERNEL:
        path = mig.headers / interface
        mig.stubs(path, ours, path.stem)
    mig.stubs(HERE / "unix.defs", ours, "unix")
    mig.stubs(HERE / "unix_reply.defs", ours, "unix_reply")
    mig.stubs(HERE / "fs.defs", ours, "fs")


def machine_links(headers: Path) -> None:
    """Makes the link mach/machine, which the kernel's headers need, but which the package does not
    contain."""
    link = headers / "mach/machine"
    if not link.exists():
        link.symlink_to("i386")


def build_server(
    tree: Path, mig: Mig, zig: Path, env: dict[str, str], device: Path, output: Path
) -> None:
    work = mig.work / "server"
    work.mkdir()
    for file in [*sorted((HERE / "server").iterdir()), *(HERE / name for name in SHARED), device]:
        shutil.copyfile(file, work / file.name)
    mig.server(HERE / "unix.defs", work, "unix")
    mig.server(HERE / "fs.defs", work, "fs")
    for interface in SERVED:
        mig.server(mig.headers / interface, work, Path(interface).stem)
    objects = []
    for file in sorted([*work.glob("*.c"), *work.glob("*.S")]):
        generated = file.name.endswith("_server.c")
        target = file.with_suffix(".o").name
        run(
            [
                zig,
                "cc",
                "-target",
                "x86-linux-musl",
                "-mcpu=pentium",
                *SERVER_FLAGS,
                *(["-w"] if generated else []),
                "-I",
                ".",
                "-I",
                tree / "src/mach",
                "-isystem",
                mig.headers,
                "-c",
                "-o",
                target,
                file.name,
            ],
            work,
            env,
        )
        objects.append(target)
    run([zig, "ld.lld", "-m", "elf_i386", "-r", "-o", output / "server.o", *objects], work, env)


def collect_headers(tree: Path, mig: Mig, output: Path) -> None:
    """Collects the headers for programs that call the kernel directly: the kernel's headers and the
    headers of the stubs.
    """
    output.mkdir()
    for part in ("mach", "device"):
        shutil.copytree(mig.headers / part, output / part)
    for header in [*(tree / "src/mach").glob("*.h"), tree / "src/mach/mach/mig_support.h"]:
        shutil.copyfile(header, output / header.relative_to(tree / "src/mach"))


def build(args: argparse.Namespace) -> None:
    zig = find_zig()
    args.output_dir.mkdir(parents=True, exist_ok=True)
    output = args.output_dir.resolve()
    with tempfile.TemporaryDirectory(prefix="p5lab-mach-") as tmp:
        work = Path(tmp)
        run(["dpkg-deb", "-x", args.headers.resolve(), "dev"], work)
        headers = work / "dev" / HEADERS
        machine_links(headers)
        mig = Mig(args.mig.resolve(), headers, work)
        tree = unpack(args.musl, work / "musl")
        env = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            **zig_caches(args.cache, work / "zig"),
        }
        prepare(tree, mig)
        build_musl.build(tree, zig, env, args.jobs)
        build_server(tree, mig, zig, env, args.device, output)
        collect_headers(tree, mig, work / "headers")
        write_headers(work / "headers", output / "headers.tar")
        for name in ("libc.a", "libc.so", "libcompiler_rt.a", "crt1.o", "crti.o", "crtn.o"):
            shutil.copyfile(tree / "lib" / name, output / name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--musl", type=Path, required=True, help="musl_1.2.5.orig.tar.gz")
    parser.add_argument("--mig", type=Path, required=True, help="mig_*.orig.tar.xz")
    parser.add_argument("--headers", type=Path, required=True, help="gnumach-dev_*_i386.deb")
    parser.add_argument("--device", type=Path, required=True, help="p5ctr.h")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output-dir", type=Path, required=True)
    args = parser.parse_args()
    return status_of("build_user", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
