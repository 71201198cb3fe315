# SPDX-License-Identifier: MIT
"""Workloads compiled by the host's compiler, some with a call of the C library that goes wrong."""

import subprocess

from p5lab.lab import Lab

ROOT = Lab.here().root
INCLUDE = ("workloads/lib", "guest-images/linux/p5ctr")


def compiled(program, *arguments):
    """`program`, of these sources and with these options; its path."""
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
    """A workload of which these calls of the C library come to __wrap_CALL in the C text `wrong`,
    which can ask __real_CALL."""
    source = directory / "wrong.c"
    source.write_text(wrong)
    (workload,) = ROOT.glob(f"workloads/*/{name}.c")
    wraps = (f"-Wl,--wrap={call}" for call in calls.split())
    return compiled(directory / name, *options, *wraps, workload, source)


def told(program, arguments, directory):
    """The status of a program that runs in a directory, and what it says on standard error."""
    done = subprocess.run(
        [program, *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr
