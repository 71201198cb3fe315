# SPDX-License-Identifier: MIT
"""Compiles workloads with the host's compiler. For some tests, the module replaces calls of the C
library by faulty calls.
"""

import subprocess

from p5lab.lab import Lab

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
