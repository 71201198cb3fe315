# SPDX-License-Identifier: MIT
"""Build the TCP/IP stack lwIP into one library and one archive of its headers.

Only the IPv4 core is compiled, with our options (engine/devices/ne2000/lwip/lwipopts.h), without
threads and without sockets: the engine's network calls the core.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CFLAGS = ["-std=gnu11", "-O2", "-w", "-DLWIP_DEBUG_TIMERNAMES=0"]
PARTS = (
    "def inet_chksum init ip mem memp netif pbuf raw sys tcp tcp_in tcp_out timeouts udp"
    " ipv4/etharp ipv4/icmp ipv4/ip4 ipv4/ip4_addr ipv4/ip4_frag"
).split()
SOURCES = [*(f"core/{part}.c" for part in PARTS), "netif/ethernet.c"]


class BuildError(Exception):
    """A step of the build failed. The message names it."""


def run(command: list[str]) -> None:
    """Runs a command. Raises BuildError if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr[-4000:], file=sys.stderr)
        raise BuildError(f"lwIP: {command[0]} failed")


def unpack(source: Path, work: Path) -> Path:
    """Unpacks the source below `work`. Returns the directory of its C files."""
    with tarfile.open(source) as archive:
        archive.extractall(work, filter="data")
    found = list(work.glob("*/src"))
    if len(found) != 1:
        raise BuildError(f"{source.name}: expected one directory with `src` in it")
    return found[0]


def write_headers(tree: Path, output: Path) -> None:
    """Writes all headers into an archive whose bytes depend on nothing else."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        info.mode = 0o644
        return info

    with tarfile.open(output, "w", format=tarfile.USTAR_FORMAT) as archive:
        for header in sorted(tree.rglob("*.h")):
            archive.add(header, header.relative_to(tree).as_posix(), filter=plain)


def build(options: argparse.Namespace, work: Path) -> None:
    """Compiles the core and writes the library and the archive of headers."""
    tree = unpack(options.source, work)
    objects = []
    for name in SOURCES:
        made = work / (name.replace("/", "-") + ".o")
        include = [f"-I{tree / 'include'}", f"-I{options.port.resolve()}"]
        prefix = f"-ffile-prefix-map={tree}=lwip"
        run(["gcc", *CFLAGS, prefix, *include, "-c", str(tree / name), "-o", str(made)])
        objects.append(str(made))
    library = work / "liblwip.a"
    run(["ar", "rcsD", str(library), *objects])
    options.library.write_bytes(library.read_bytes())
    write_headers(tree / "include", options.include)


def main() -> int:
    """Parses the command line and builds. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--port", type=Path, required=True, help="lwipopts.h and arch/cc.h")
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--include", type=Path, required=True, help="archive of headers")
    options = parser.parse_args()
    os.environ["LC_ALL"] = "C"
    try:
        with tempfile.TemporaryDirectory(prefix="lwip-") as work:
            build(options, Path(work))
    except (BuildError, OSError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
