# SPDX-License-Identifier: MIT
"""The markers of x86-64 programs (workloads/lib/m5.h), with a host program in place of gem5."""

import os
import subprocess

import pytest

from p5lab.lab import Lab

ROOT = Lab.here().root


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("m5") / "m5_markers"
    subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-I",
            ROOT / "workloads/lib",
            "-o",
            made,
            ROOT / "tests/unit/m5_markers.c",
        ],
        check=True,
    )
    return made


def lines(program, markers, file=""):
    chosen = {} if markers is None else {"P5LAB_MARKERS": markers}
    environment = {key: value for key, value in os.environ.items() if key != "P5LAB_MARKERS"}
    done = subprocess.run(
        [program, file], env=environment | chosen, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_what_gem5_is_asked_for(program):
    assert lines(program, "m5", "getpid a=1\nELF").splitlines() == [
        "markers 1",
        "0x43 0 0",
        "0x5a 0x7 0",
        "0x5b 0xffffffff 0",
        "0x21 0 0",
        "0x22 0 0x3",
        "0x22 0 0x10005",
        "counter 0",
        "job 10 `getpid a=1`",
        "program 3 `ELF`",
        "write 4 at 0 to output.log",
        "write 4 at 4 to output.log",
        "output `one",
        "two",
        "`",
    ]


@pytest.mark.parametrize(
    ("file", "job", "program_text"),
    [
        ("", "job 0 ``", "program 0 ``"),
        ("getpid\n", "job 6 `getpid`", "program 0 ``"),
        ("getpid", "job 6 `getpid`", "program 0 ``"),
        ("@program\n0123456789abcd\nx", "job 8 `@program`", "program 16 `0123456789abcd"),
        # The first line is longer than the buffer, so its text is cut, and the start of the program
        # in the file is unknown.
        ("0123456789abcdefgh\nELF", "job 15 `0123456789abcde`", "program 0 ``"),
    ],
)
def test_the_job_is_the_first_line(program, file, job, program_text):
    said = lines(program, "m5", file).splitlines()
    assert job in said
    assert program_text in said


@pytest.mark.parametrize("markers", [None, "cpuid", "none"])
def test_without_the_variable_gem5_is_not_asked(program, markers):
    said = lines(program, markers, "getpid\n").splitlines()
    assert said[0] == "markers 0"
    assert said[-1] == "none"
