# SPDX-License-Identifier: MIT
"""Compiles workloads with the host's compiler, or as the build does for the guests. For some tests,
the module replaces calls of the C library by faulty calls.
"""

import subprocess
import sys

from p5lab.lab import Lab, cache_directory

ROOT = Lab.here().root
INCLUDE = ("workloads/lib", "guest-images/linux/p5ctr")


def compiled(program, *arguments):
    """Compiles `program` from these sources with these options. Returns its path."""
    subprocess.run(
        [
            "cc",
            "-O2",
            "-D_GNU_SOURCE",
            *(f"-I{ROOT / place}" for place in INCLUDE),
            "-o",
            program,
            *arguments,
        ],
        check=True,
    )
    return program


def for_guests(program, source, includes=INCLUDE):
    """Compiles `program` from a source as the build compiles a workload. `includes`: the places of
    its headers, absolute or in the checkout. Returns the path of the program."""
    words = [sys.executable, ROOT / "workloads/build_workload.py"]
    words += ["--cache", cache_directory() / "zig"]
    words += [word for place in includes for word in ("--include", ROOT / place)]
    subprocess.run([*words, "--output", program, source], check=True)
    return program


def spoiled(directory, name, calls, wrong, *options):
    """Compiles a workload in which calls of the C library are replaced.

    `calls` lists the replaced functions. Each call of such a function f becomes a call of __wrap_f.
    The C text `wrong` defines __wrap_f, and can call the original function as __real_f.
    """
    source = directory / "wrong.c"
    source.write_text(wrong)
    (workload,) = ROOT.glob(f"workloads/*/{name}/{name}.c")
    wraps = (f"-Wl,--wrap={call}" for call in calls.split())
    return compiled(directory / name, *options, *wraps, workload, source)


def ran(program, arguments, directory):
    """Runs a program in a directory. Returns the program's exit status and standard error."""
    done = subprocess.run(
        [program, *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stderr
