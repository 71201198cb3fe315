# SPDX-License-Identifier: MIT
"""p5lab's programs for BSD, on the host's processor. bsd_on_linux.c changes each of their system
calls to one of Linux, and refuses those that 4.4BSD does not have. No BSD is needed."""

import subprocess
from dataclasses import replace

import pytest
from hostcc import ROOT, compiled

from p5lab.describe.supplied import SuppliedSystem
from p5lab.host import aout_programs, linux_programs
from p5lab.host.aout_programs import BSD, OPENBSD
from p5lab.host.compiler import pentium_programs, run_zig

HERE = ROOT / "tests/e2e"
FORK, GETPID, DUP, PIPE, EXECVE, VFORK, SOCKETPAIR, MMAP = 2, 20, 41, 42, 59, 66, 135, 197
PIPE_OF_OPENBSD = 263
NO_TRACE = 77  # the host does not trace or execute i386 programs
WORDS = {
    "getpid": ("iterations=7",),
    "dup": ("iterations=7",),
    "exec-static": ("iterations=3",),
    "mem-read": ("placement=guest", "iterations=1000", "max=1K"),
    "cached-read": ("files=3", "iterations=2"),
    "create": ("files=3", "iterations=2"),
    "pipe": ("iterations=2",),
    "cswitch": ("iterations=7",),
}
# The calls that a program makes, with their least numbers.
MAKES = {
    "getpid": (GETPID, 7),
    "dup": (DUP, 7),
    "exec-static": (EXECVE, 3),
    "mem-read": (MMAP, 1),
    "cached-read": (5, 12),
    "create": (5, 6),
    "pipe": (FORK, 1),
    "cswitch": (FORK, 1),
}


@pytest.fixture(scope="module")
def tracer(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("tracer") / "bsd_on_linux", HERE / "bsd_on_linux.c")


@pytest.fixture(scope="module", params=[BSD, OPENBSD], ids=lambda kind: kind.name)
def kind(request, built):
    """The programs as ELF files, for Linux starts no a.out. They also run without the engine."""
    built(f"{BSD.libc}/libc.a")
    flags = (*request.param.flags, "-DP5LAB_RUNS_ANYWHERE")
    return replace(request.param, form=None, flags=flags)


@pytest.fixture(scope="module")
def made(kind, lab, tmp_path_factory):
    """The directory with the programs."""
    place = tmp_path_factory.mktemp(kind.name)
    for name, content in aout_programs.programs(lab, kind):
        (place / name).write_bytes(content)
        (place / name).chmod(0o755)
    return place


@pytest.fixture
def traced(tracer, tmp_path):
    """Runs a program in a directory of its own. Returns its output and the numbers of its calls."""

    def run(program, *words):
        calls = tmp_path / "calls"
        command = [tracer, calls, program, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
        if done.returncode == NO_TRACE:
            pytest.skip("this host does not trace i386 programs")
        assert done.returncode == 0, done.stderr
        return done, [int(line) for line in calls.read_text().split()]

    return run


def test_each_call_does_what_its_name_says(kind, lab, traced, tmp_path):
    options = [*aout_programs.FLAGS, *kind.flags]
    objects = []
    for source in (*kind.begin, "tests/e2e/bsd_calls.c"):
        target = tmp_path / f"{len(objects)}.o"
        run_zig(pentium_programs().compiling(str(ROOT / source), str(target), options)[1:])
        objects.append(target)
    link = pentium_programs().linking(
        ROOT / kind.libc, [str(one) for one in objects[1:]], str(tmp_path / "program")
    )
    run_zig([str(objects[0]) if word.endswith("crt1.o") else word for word in link][1:])
    done, calls = traced(tmp_path / "program")
    assert done.stdout == "1 calls were right\n"
    pipe = PIPE_OF_OPENBSD if kind.name == OPENBSD.name else PIPE
    assert {FORK, VFORK, EXECVE, SOCKETPAIR, pipe} <= set(calls)
    assert ({PIPE, PIPE_OF_OPENBSD} - {pipe}).isdisjoint(calls)


@pytest.mark.parametrize("name", WORDS)
def test_a_program_makes_its_calls_on_bsd(name, made, traced, tmp_path):
    _, calls = traced(made / name, *WORDS[name])
    number, least = MAKES[name]
    assert calls.count(number) >= least
    assert [path.name for path in tmp_path.iterdir()] == ["calls"]  # it leaves no file behind


def test_the_list_is_complete(lab):
    system = next(one for one in aout_programs.SYSTEMS if one.name == BSD.name)
    assert isinstance(system, SuppliedSystem)
    assert list(system.load(lab)) == list(WORDS)
    assert linux_programs.names(lab, BSD.place) == [*WORDS, "true-static", linux_programs.DONE]


def test_another_call_is_refused(tracer, tmp_path):
    """A program for Linux: its first call is not one of 4.4BSD."""
    source = tmp_path / "linux.s"
    source.write_text(".globl _start\n_start: movl $1000, %eax\n int $0x80\n")
    program = compiled(tmp_path / "linux", "-m32", "-nostdlib", "-static", source)
    done = subprocess.run(
        [tracer, tmp_path / "calls", program], capture_output=True, text=True, timeout=100
    )
    if done.returncode == NO_TRACE:
        pytest.skip("this host does not trace i386 programs")
    assert done.returncode == 70
    assert "a system call that 4.4BSD does not have: 1000" in done.stderr
