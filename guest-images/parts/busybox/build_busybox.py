#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build busybox for the guests from Debian's source, as one static program for a Pentium.

The compiler is Zig's clang with our musl, as for the workloads. Run this script with a Python
interpreter that has the package `ziglang`. busybox.config lists the parts that are on. All other
parts of busybox are off. The product depends on the source, the configuration and the ziglang
version only.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from building import (
    BuildError,
    check_isa,
    find_zig,
    keep_program,
    run,
    status_of,
    unpack,
    zig_caches,
)
from pentium_programs import linking
from stripping import stripped

from p5lab.host.compilers import cc

# busybox passes the name of a dependency file to the preprocessor, but zig's driver does not
# support this option. To try an option of the linker or a library, busybox compiles and links a C
# file in one call. These trials need no C library: musl contains the functions of the two
# libraries. The call that links the program is only recorded, because busybox passes options that
# lld does not support.
WRAPPER = """\
#!/bin/sh
trial=no
case " $* " in
  *" -o busybox_unstripped "*) printf '%s\\n' "$@" >"$LINK"; exit ;;
  *" -c "* | *" -E "* | *" -S "*) ;;
  *".c "*) trial=yes; set -- "$@" -nostdlib ;;
esac
for argument do
  shift
  case $trial$argument in
    yes-lcrypt | yes-lrt) continue ;;
  esac
  case $argument in
    -Wp,-MD,*) set -- "$@" -MD -MF "${argument#-Wp,-MD,}" ;;
    -Wl,--warn-common | -Wl,-Map,* | -Wl,--verbose) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "$ZIG" cc -target x86-linux-musl -mcpu=pentium -g0 -w "$@"
"""
OPTION = re.compile(r"(?:# )?(CONFIG_\w+)(?:=(.*)| is not set)")


def read_options(text: str) -> dict[str, str]:
    """Returns the values of a configuration file by option. An option that is not set has the value
    `n`."""
    matches = (OPTION.fullmatch(line) for line in text.splitlines())
    return {match[1]: match[2] or "n" for match in matches if match}


def make(tree: Path, env: dict[str, str], *arguments: str) -> None:
    """Runs make and answers the questions of make with the defaults."""
    run(["make", f"HOSTCC={cc()}", *arguments], tree, env, text="\n" * 5000)


def configure(tree: Path, env: dict[str, str], wanted: dict[str, str]) -> None:
    """Writes a configuration in which only the wanted options are on. busybox's Kconfig has no
    fragments.
    """
    config = tree / ".config"

    def write(options: dict[str, str]) -> None:
        config.write_text(
            "".join(
                f"{name}={value}\n" if value != "n" else f"# {name} is not set\n"
                for name, value in options.items()
            )
        )
        make(tree, env, "oldconfig")

    make(tree, env, "allnoconfig")
    nothing = read_options(config.read_text())
    write(nothing | wanted)
    # Some options depend on a wanted option and are on by default. Turn these options off.
    write(
        {
            name: "n" if value == "y" and nothing.get(name) != "y" and name not in wanted else value
            for name, value in read_options(config.read_text()).items()
        }
    )
    result = read_options(config.read_text())
    for name, value in wanted.items():
        if result.get(name) != value:
            raise BuildError(f"busybox.config: {name}={value} became {result.get(name)!r}")


def build(args: argparse.Namespace) -> None:
    zig = find_zig()
    with tempfile.TemporaryDirectory(prefix="p5lab-busybox-") as tmp:
        tree = unpack(args.source, Path(tmp))
        # Use a path without spaces. The path of the checkout may contain spaces.
        plain = Path(tmp) / "ziglang"
        plain.symlink_to(zig.parent)
        wrapper = Path(tmp) / "cc"
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)
        env = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "KCONFIG_NOTIMESTAMP": "1",
            "ZIG": str(plain / "zig"),
            "LINK": str(Path(tmp) / "link"),
            "ZIG_LIB_DIR": str(plain / "lib"),
            **zig_caches(args.cache, Path(tmp) / "zig"),
        }
        configure(tree, env, read_options(args.config.read_text()))
        make(
            tree,
            env,
            f"-j{args.jobs}",
            f"CC={wrapper}",
            f"AR={plain}/zig ar",
            "SKIP_STRIP=y",
            "busybox_unstripped",
        )
        words = Path(env["LINK"]).read_text().splitlines()
        objects = [word for word in words if word.endswith((".o", ".a"))]
        group = ["--start-group", *objects, "--end-group"]
        command = linking(args.libc.resolve(), group, "linked")
        run(command, tree)
        program = tree / "busybox"
        program.write_bytes(stripped((tree / "linked").read_bytes()))
        check_isa(args.check_isa, program)
        keep_program(program, args.output)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="busybox_1.37.0.orig.tar.bz2")
    parser.add_argument("--config", type=Path, required=True, help="busybox.config")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--libc", type=Path, required=True, help="directory lib/ of musl")
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    return status_of("build_busybox", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
