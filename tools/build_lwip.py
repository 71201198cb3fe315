# SPDX-License-Identifier: MIT
"""Build the TCP/IP stack lwIP into one library and one archive of its headers.

Only lwIP's IPv4 core is compiled, with our options (engine/devices/ne2000/lwip/lwipopts.h). These
options leave out threads and lwIP's sockets. The network code of the engine calls lwIP.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from building import run, status_of, unpack, write_headers

from p5lab.host.compilers import cc

CFLAGS = ["-std=gnu11", "-O2", "-w", "-DLWIP_DEBUG_TIMERNAMES=0"]
PARTS = (
    "def inet_chksum init ip mem memp netif pbuf raw sys tcp tcp_in tcp_out timeouts udp"
    " ipv4/etharp ipv4/icmp ipv4/ip4 ipv4/ip4_addr ipv4/ip4_frag"
).split()
SOURCES = [*(f"core/{part}.c" for part in PARTS), "netif/ethernet.c"]


def build(options: argparse.Namespace, work: Path) -> None:
    tree = unpack(options.source, work / "source") / "src"
    objects = []
    for name in SOURCES:
        made = work / (name.replace("/", "-") + ".o")
        include = [f"-I{tree / 'include'}", f"-I{options.port.resolve()}"]
        prefix = f"-ffile-prefix-map={tree}=lwip"
        run([cc(), *CFLAGS, prefix, *include, "-c", str(tree / name), "-o", str(made)])
        objects.append(str(made))
    library = work / "liblwip.a"
    run(["ar", "rcsD", str(library), *objects])
    options.library.write_bytes(library.read_bytes())
    write_headers(tree / "include", options.include)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--port", type=Path, required=True, help="lwipopts.h and arch/cc.h")
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--include", type=Path, required=True, help="archive of headers")
    options = parser.parse_args()
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory(prefix="lwip-") as work:
        return status_of("p5lab", lambda: build(options, Path(work)))


if __name__ == "__main__":
    sys.exit(main())
