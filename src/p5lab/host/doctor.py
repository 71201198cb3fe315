# SPDX-License-Identifier: MIT
"""`./p5lab doctor`: the state of this host and checkout, and what is missing.

This module uses only the standard library, so it also works if `.venv` is missing or broken. The
exit status is 1 if something that p5lab needs is missing.
"""

import argparse
import contextlib
import ctypes
import errno
import importlib.util
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from p5lab.errors import UserError
from p5lab.host import closed_pipe
from p5lab.host import compilers as host_compilers
from p5lab.host.fetch import Fetcher
from p5lab.host.sources import Pinned
from p5lab.lab import Lab, cache_directory
from p5lab.packages import BASE, GROUPS, Environment

PYTHONS = ((3, 11), (3, 15))  # from, below
VENV_MB, BUILD_MB, WORK_MB = 1000, 2500, 200  # disk space that each use needs, with a reserve
MEMORY_MB, CORES = 2000, 2
# Modules of the standard library that a Python lacks if it was built without their libraries. The
# builds unpack archives of these kinds, and pip downloads over TLS.
MODULES = ("bz2", "ctypes", "lzma", "ssl", "zlib")
CXX_PROGRAM = """#include <filesystem>
#include <string>
#include <thread>
int main() { std::thread([] {}).join(); return std::filesystem::path("a/b").filename() != "b"; }
"""
C_PROGRAM = '#include <stdio.h>\nint main(void) { return puts("p5lab") < 0; }\n'
SYS_PERF_EVENT_OPEN = 298  # x86-64
PERF_ATTR_BYTES = 64  # PERF_ATTR_SIZE_VER0
PERF_COUNT_HW_INSTRUCTIONS, PERF_EXCLUDE_KERNEL_AND_HV = 1, 3 << 5


@dataclass(frozen=True)
class Finding:
    """One line of the report. The state `missing` means that p5lab cannot work. The state `note`
    means that p5lab works, but a feature is limited or a part of the setup is not done yet."""

    state: str
    subject: str
    text: str


ok, note, missing = (partial(Finding, state) for state in ("ok", "note", "missing"))


def examine(lab: Lab) -> Iterator[Finding]:
    """All findings. If one check raises an error, the others still run."""
    checks: tuple[Callable[[Lab], Iterator[Finding]], ...] = (
        host,
        packages,
        compilers,
        python,
        environment,
        places,
        sources,
        products,
        counters,
        gem5,
    )
    for check in checks:
        try:
            yield from check(lab)
        except (OSError, ValueError, UserError) as error:
            yield missing(check.__name__, f"could not be examined: {error}")


def host(lab: Lab) -> Iterator[Finding]:
    """Checks the operating system, the number of cores and the memory."""
    system, machine = platform.system(), platform.machine()
    if (system, machine) == ("Linux", "x86_64"):
        yield ok("host", f"{_distribution()}, {system} {platform.release()} on x86-64")
    else:
        yield missing("host", f"{system} on {machine}; expected Linux on x86-64")
    cores = len(os.sched_getaffinity(0))
    say = ok if cores >= CORES else note
    yield say("cores", f"{cores}" + ("" if cores >= CORES else ": one run executes at a time"))
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1_000_000
    if total >= MEMORY_MB:
        yield ok("memory", f"{total} MB")
    else:
        yield note("memory", f"{total} MB; builds need {MEMORY_MB} MB")


def _distribution() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown distribution")
    return "unknown distribution"


def packages(lab: Lab) -> Iterator[Finding]:
    """Checks the system packages that the launcher needs. The launcher itself contains the list."""
    wanted = needs((lab.root / "p5lab").read_text())
    absent = list(dict.fromkeys(package for probe, package in wanted if not _is_there(probe)))
    if not absent:
        yield ok("packages", f"{len({package for _, package in wanted})} system packages")
    elif shutil.which("apt-get"):
        sudo = "" if os.geteuid() == 0 else "sudo "
        yield missing("packages", f"install with: {sudo}apt-get install {' '.join(absent)}")
    else:
        names = " ".join(absent)
        yield missing("packages", f"install these packages (with Debian's names): {names}")


def _is_there(probe: str) -> bool:
    if probe.startswith("/"):
        return Path(probe).exists()
    return any(shutil.which(name) for name in probe.split("|"))


def needs(launcher: str) -> list[tuple[str, str]]:
    """The launcher's list of packages. Each pair contains the name of a program or file, and the
    name of the package that provides it; `|` separates programs of which one is enough. Raises
    ValueError if the launcher contains no list."""
    match = re.search(r"^needs='\n(.*?)^'$", launcher, re.M | re.S)
    if not match:
        raise ValueError("p5lab: no list of packages in it")
    return [
        (probe, package)
        for probe, _, package in (line.partition("=") for line in match[1].splitlines())
    ]


def compilers(lab: Lab) -> Iterator[Finding]:
    """Checks that the host's compilers make programs that run: they need headers, libraries and a
    linker."""
    both = (
        (host_compilers.cxx(), "cc", CXX_PROGRAM),
        (host_compilers.cc(), "c", C_PROGRAM),
    )
    for compiler, ending, text in both:
        reason = _compiles(compiler, ending, text)
        if reason:
            yield missing("compiler", f"{compiler} {reason}; apt-get install build-essential")
        else:
            yield ok("compiler", compiler)


def _compiles(compiler: str, ending: str, text: str) -> str:
    """Why a compiler makes no program that runs. Empty if it does."""
    with tempfile.TemporaryDirectory() as directory:
        source, program = Path(directory, f"program.{ending}"), Path(directory, "program")
        source.write_text(text)
        commands: tuple[tuple[str, list[str | Path]], ...] = (
            ("cannot compile a program", [compiler, source, "-o", program]),
            ("makes programs that do not run", [program]),
        )
        for doing, command in commands:
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            except OSError as error:
                return f"{doing}: {error.strerror}"
            if done.returncode:
                said = [line.strip() for line in done.stderr.splitlines() if "error" in line]
                return f"{doing}: {(said or [f'status {done.returncode}'])[0]}"
    return ""


def python(lab: Lab) -> Iterator[Finding]:
    """Checks the version of this Python, its modules, and whether it can make virtual
    environments."""
    version = sys.version_info[:2]
    shown = f"Python {platform.python_version()} ({sys.executable})"
    if not PYTHONS[0] <= version < PYTHONS[1]:
        yield missing(
            "python",
            f"{shown}; expected 3.11 to 3.14; set P5LAB_PYTHON to the path of such a Python",
        )
    elif not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        yield missing("python", f"{shown} cannot make environments: apt-get install python3-venv")
    elif absent := [name for name in MODULES if not _imports(name)]:
        yield missing(
            "python",
            f"{shown} was built without {', '.join(absent)}; set P5LAB_PYTHON to another Python",
        )
    else:
        yield ok("python", shown)


def _imports(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def environment(lab: Lab) -> Iterator[Finding]:
    """Checks whether `.venv` exists and is complete, and which groups of packages it contains."""
    directory = lab.root / ".venv"
    here = Environment(lab.root, directory, directory / "bin/python")
    size = GROUPS[BASE].megabytes
    here.stamp(BASE)  # OSError if the checkout has no lock file
    if not directory.is_dir():
        yield note(".venv", f"not made yet; the first command makes it ({size} MB, about 1 minute)")
    elif not here.python.exists():
        yield note(".venv", "its interpreter was removed; the next command makes .venv again")
    elif not here.has(BASE):
        yield note(".venv", "unfinished, moved or outdated; the next command completes .venv")
    else:
        groups = ", ".join(group for group in GROUPS if here.has(group))
        yield ok(".venv", f"Python packages: {groups}; a command installs its group if missing")


def places(lab: Lab) -> Iterator[Finding]:
    """Checks the permission and the free space of the directories that p5lab writes to."""
    cache = cache_directory()
    cached = _bytes(cache) / 1e6
    has_venv = (lab.root / ".venv/p5lab-stamp").is_file()
    wanted = {
        "checkout": (lab.root, WORK_MB if has_venv else VENV_MB),
        "cache": (cache, WORK_MB if lab.engine.exists() else BUILD_MB),
    }
    for subject, (directory, least) in wanted.items():
        there = next(path for path in (directory, *directory.parents) if path.exists())
        reason = _not_writable(there)
        free = shutil.disk_usage(there).free / 1e6
        if reason:
            yield missing(subject, f"{directory}: not writable: {reason}")
        elif free < least:
            yield missing(subject, f"{directory}: {free:.0f} MB free; expected {least} MB")
        else:
            has = f"{cached:.0f} MB in it, " if subject == "cache" else ""
            yield ok(subject, f"{directory}: {has}{free / 1000:.1f} GB free")
    if " " in str(cache):
        yield missing(
            "cache",
            f"{cache}: the kernel cannot be built below a path with a space;"
            " set P5LAB_CACHE to another directory",
        )


def _not_writable(directory: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=directory):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _bytes(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size if path.is_file() else 0
    return total


def sources(lab: Lab) -> Iterator[Finding]:
    """Checks which sources are on this host, and whether the mirrors of the missing sources
    answer."""
    fetcher = Fetcher.here(lab.root)
    absent = [name for name in fetcher.sources if not _is_here(fetcher, name)]
    have = len(fetcher.sources) - len(absent)
    if fetcher.distdir:
        say = ok if fetcher.distdir.is_dir() else missing
        absence = "" if say is ok else ": no such directory"
        yield say("P5LAB_DISTDIR", f"{fetcher.distdir}{absence}")
    if not absent:
        yield ok("sources", f"all {have} are here; no download is needed")
        return
    yield note(
        "sources", f"{have} of {len(fetcher.sources)} are here, to download: {', '.join(absent)}"
    )
    mirrors = fetcher.mirrors_reached()
    for uri, reason in mirrors.items():
        if reason:
            say = note if not all(mirrors.values()) else missing
            yield say("mirror", f"{uri}: {reason}")
        else:
            yield ok("mirror", f"{uri} answers")


def _is_here(fetcher: Fetcher, name: str) -> bool:
    source = fetcher.sources[name]
    if isinstance(source, Pinned):
        return fetcher.is_here(fetcher.resolve(name))
    return fetcher.local(source) is not None


def products(lab: Lab) -> Iterator[Finding]:
    """Checks whether the engine and the guests are built."""
    engine = lab.engine.exists()
    if engine and any((lab.root / "build/guests").glob("*/bzImage")):
        yield ok("build", "engine and guests are built; `./p5lab build` checks them")
    else:
        yield note("build", "not built yet; the first `./p5lab run` builds them")


def counters(lab: Lab) -> Iterator[Finding]:
    """Checks the hardware counters, which only --engine native uses."""
    reason = _perf()
    if reason:
        yield note("perf", f"--engine native measures times but no hardware counters: {reason}")
    else:
        yield ok("perf", "hardware counters for --engine native")


def _perf() -> str:
    """The reason why this process cannot count its own instructions, or an empty text."""
    if platform.machine() != "x86_64":
        return "not an x86-64 host"
    attributes = struct.pack(
        "<IIQQQQQ",
        0,
        PERF_ATTR_BYTES,
        PERF_COUNT_HW_INSTRUCTIONS,
        0,
        0,
        0,
        PERF_EXCLUDE_KERNEL_AND_HV,
    ).ljust(PERF_ATTR_BYTES, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(SYS_PERF_EVENT_OPEN, attributes, 0, -1, -1, ctypes.c_ulong(0))
    if descriptor >= 0:
        os.close(descriptor)
        return ""
    number = ctypes.get_errno()
    if number in (errno.EACCES, errno.EPERM):
        return "not permitted (sysctl kernel.perf_event_paranoid=2 permits it)"
    if number in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return "this processor offers no counters (a virtual machine?)"
    return os.strerror(number)


def gem5(lab: Lab) -> Iterator[Finding]:
    """Checks the gem5 program, which only --engine gem5 uses. A run checks the version of gem5."""
    given = os.environ.get("P5LAB_GEM5")
    if not given:
        yield note("gem5", "P5LAB_GEM5 is not set; --engine gem5 needs it (configs/gem5/README.md)")
    elif not shutil.which(given):
        yield note("gem5", f"P5LAB_GEM5={given}: expected a program, gem5.opt")
    else:
        yield ok("gem5", given)


def main(arguments: list[str] | None = None, lab: Lab | None = None) -> int:
    """Runs the checks and prints the findings. Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="p5lab doctor", description="Reports the state of this host and what is missing."
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON for programs (docs/reference/formats.md)"
    )
    return show(lab or Lab.here(), as_json=parser.parse_args(arguments).json)


def show(lab: Lab, *, as_json: bool) -> int:
    """Prints the findings and returns the exit status."""
    findings = []
    for finding in examine(lab):
        findings.append(asdict(finding))
        if not as_json:
            print(f"{finding.state:<8} {finding.subject:<13} {finding.text}", flush=True)
    lacking = sum(finding["state"] == "missing" for finding in findings)
    if as_json:
        print(json.dumps({"schema_version": 1, "missing": lacking, "findings": findings}, indent=1))
    else:
        print(f"\np5lab: {'nothing is missing' if not lacking else f'{lacking} missing'}")
    return 1 if lacking else 0


if __name__ == "__main__":
    closed_pipe.allow()
    sys.exit(main())
