# SPDX-License-Identifier: MIT
"""Fixtures of the tests that boot a guest on the engine. `./p5lab test` first builds everything."""

import itertools
import os
import select
import subprocess
import threading
import tty
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import hostcc
import pytest

from p5lab.describe import delivery, experiment, guest, machine, workload
from p5lab.describe import program as programs
from p5lab.describe.observation import (
    AttributedCounts,
    BlockVectors,
    Geometries,
    NominalClocks,
    Observation,
    PowerCut,
    Trace,
)
from p5lab.describe.run import ImageRun
from p5lab.engines import Outcome
from p5lab.engines.bochs.engine import BOOT_CONF, CONF, JOB_CONF, Bochs
from p5lab.execute import executor, forkserver
from p5lab.execute.forkserver import Server, start
from p5lab.keep import store
from p5lab.lab import Lab
from p5stats import events

MACHINE = "p90-premiere2"
KEPT = 12  # boots in each test process; each boot holds the guest's memory


@dataclass(frozen=True)
class Booted:
    """A finished simulation: its run directory, its status, and the output of its serial line."""

    directory: Path
    outcome: Outcome
    line: bytes = b""

    @cached_property
    def events(self) -> events.Events:
        return events.parse(self.directory / "events.jsonl")

    @property
    def output(self) -> str:
        return (self.directory / "output.log").read_text()

    @property
    def printed_counters(self) -> list[int]:
        """Returns the values that selftest-counters read from the counter device and printed."""
        return [int(value, 16) for line in self.output.splitlines() for value in line.split()[1:]]

    @property
    def recorded_counters(self) -> list[int]:
        """Returns the engine's record of reads of the time stamp and of both counters
        (`trace_reads`).
        """
        return [
            read.value
            for read in self.events.reads
            if read.insn == "rdtsc" or (read.insn == "rdmsr" and read.index in (0x12, 0x13))
        ]

    def totals(self, phase: int, event: str, rings: Sequence[int] | None = None) -> list[int]:
        """Returns the counts of one event in each bracket of a phase. The counts are sums over all
        address spaces, and over all rings or only over `rings`.
        """
        parsed = self.events
        index = list(parsed.units).index(event)

        def total(marker: events.Marker) -> int:
            return sum(
                values[index]
                for (_, ring), values in marker.banks.items()
                if index < len(values) and (rings is None or ring in rings)
            )

        return [total(b.end) - total(b.begin) for b in parsed.brackets if b.phase == phase]


@pytest.fixture(scope="session")
def lab():
    return Lab.here()


@pytest.fixture(scope="module")
def own_lab(tmp_path_factory):
    """A lab with its own results. Its runs are as deep as those of `directories`."""
    return Lab(Lab.here().root, results_in=tmp_path_factory.mktemp("own") / "results")


@pytest.fixture(scope="session")
def built64(lab):
    """Skips the test if guest linux64 or its engine is not built."""
    files = guest.load(lab, "linux64").files.values()
    if not all(path.is_file() for path in (lab.root / "build/engine/p5bochs64", *files)):
        pytest.skip("guest linux64 and its engine are not built: run ./p5lab build")


@pytest.fixture(scope="session")
def workloads(lab):
    """Returns the description of each workload of the checkout by name."""
    return workload.load(lab)


@pytest.fixture(scope="session")
def guest_program(tmp_path_factory, lab):
    """Compiles a C program in the same way as a workload, for `boot(program=...)`.

    The path of the source is absolute, or relative to tests/e2e.
    """

    def build(source):
        built = tmp_path_factory.mktemp("program") / Path(source).stem
        headers = (*hostcc.INCLUDE, "guest-images/parts/rootfs")
        return hostcc.for_guests(built, lab.root / "tests/e2e" / source, headers)

    return build


@pytest.fixture
def bare_program(tmp_path):
    """Assembles a program for boot(bare=...). The program has 32 or 64 bits and runs without an
    operating system. boot_sector.py assembles boot sectors."""

    def assemble(source, bits=32):
        built, binary = tmp_path / f"{source.stem}.o", tmp_path / f"{source.stem}.bin"
        subprocess.run(["as", f"--{bits}", "-I", source.parent, "-o", built, source], check=True)
        form = {32: "elf_i386", 64: "elf_x86_64"}[bits]
        link = ["ld", "-m", form, "--oformat", "binary", "-Ttext", "0x7c00"]
        subprocess.run([*link, "-o", binary, built], check=True)
        return binary

    return assemble


@pytest.fixture(scope="session")
def directories(tmp_path_factory):
    """Returns new directories for runs. They are as deep as those of most commands, because a run
    takes the paths of its inputs from its boot."""
    place = tmp_path_factory.mktemp("boot") / "results/tests"
    return (place / str(number) for number in itertools.count())


class SharedServers(forkserver.Servers):
    """The servers of a command, or of a run of the fixture `boot`. A boot outlives its command, and
    the next commands of this test process fork their runs from this boot.

    A forked run and a run that boots by itself have the same results (test_fork.py). A command uses
    a kept boot only if each input of the boot has the same relative path from the run directory
    and from the directory of the kept boots. Otherwise the command boots for itself.
    """

    base = Path()  # the kept boots are below this directory
    kept: ClassVar = OrderedDict()  # servers by boot; the most recently used one is at the end
    users: ClassVar = Counter()  # the number of commands that use a boot
    guard = threading.Lock()

    def __init__(self, keys):
        super().__init__(keys)
        self._mine = set()
        self._is_closed = False

    def get(self, name, plan, beside):
        with self.guard:
            if name and not self._is_closed and (server := self._kept(name, plan, beside)):
                return server
        return super().get(name, plan, beside)

    def _kept(self, name, plan, beside):
        """Returns the kept server of this boot, or None if an input has another relative path."""
        depth = len(beside.parts) - len(self.base.parts)
        place = self.base.joinpath(*["boots"] * depth)
        server = self.kept.get(name)
        if server and server.ended and not self.users[name]:
            self.kept.pop(name).close()
            server = None
        for path in plan.boot.inputs.values():
            if os.path.relpath(path, beside) != os.path.relpath(path, place):
                return None
        place.parent.mkdir(parents=True, exist_ok=True)
        self.kept[name] = self.kept.pop(name, None) or Server(plan, place)
        if name not in self._mine:
            self._mine.add(name)
            self.users[name] += 1
        self._end(KEPT)
        return self.kept[name]

    def close(self):
        super().close()
        with self.guard:
            self._is_closed = True
            self.users.subtract(self._mine)
            self._mine.clear()
            self._end(KEPT)

    @classmethod
    def _end(cls, most):
        """Ends the oldest unused boots, so that at most `most` boots remain, if possible."""
        unused = [name for name in cls.kept if not cls.users[name]]
        for name in unused[: max(0, len(cls.kept) - most)]:
            cls.kept.pop(name).close()

    @classmethod
    def end_all(cls):
        with cls.guard:
            while cls.kept:
                cls.kept.popitem()[1].close()


@pytest.fixture(scope="session", autouse=True)
def kept_boots(tmp_path_factory):
    """Commands and runners of this process share boots (SharedServers)."""
    SharedServers.base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "Servers", SharedServers)
        yield
        SharedServers.end_all()


@pytest.fixture
def own_boots(monkeypatch):
    """The commands and runners of a test share no boot with other commands."""
    monkeypatch.setattr(executor, "Servers", forkserver.Servers)


def _typing(plan, place, typed):
    """Runs the engine with a terminal as serial line. Returns the exit status and the output."""
    master, slave = os.openpty()
    tty.setraw(slave)
    command = (*plan.command, f"com1: enabled=1, mode=term, dev={os.ttyname(slave)}")
    said, rest, seen = b"", list(typed), 0
    try:
        with (place / store.LOCK).open("w") as lock:
            process = start(replace(plan, command=command), place, lock.fileno())
        while True:
            ended = process.poll() is not None
            if select.select([master], [], [], 0 if ended else 0.02)[0]:
                said += os.read(master, 512)
            elif ended:
                return process.returncode, said
            if rest and (at := said.find(rest[0][0], seen)) >= 0:
                seen = at + len(rest[0][0])
                os.write(master, rest.pop(0)[1])
    finally:
        os.close(master)
        os.close(slave)


def _with_lines(plan, boot, job):
    """Returns the plan with these lines in boot.conf and job.conf."""
    given = plan.boot.settings[CONF]
    conf = dict(line.split(" = ", 1) for line in boot)
    further = {key: value for key, value in conf.items() if key not in given}
    return replace(
        plan,
        boot=replace(
            plan.boot,
            settings={**plan.boot.settings, CONF: given | further},
            write={**plan.boot.write, BOOT_CONF: _text(boot)},
        ),
        job=replace(plan.job, write={**plan.job.write, JOB_CONF: _text(job)}),
    )


def _text(lines):
    return "".join(f"{line}\n" for line in lines).encode()


def _forked(plan, place, outputs):
    """Forks a run from a kept boot, which commands can share. Returns the exit status."""
    name = forkserver.key(plan, store.identity(plan)["digests"])
    servers = SharedServers(())
    server = servers.get(name, plan, place)
    assert server, f"{place}: the inputs have other relative paths than those of the kept boots"
    try:
        with (place / store.LOCK).open("w") as lock:
            return server.run(place, lock.fileno(), outputs, give_up=lambda: False)[0]
    finally:
        servers.close()


@pytest.fixture
def boot(lab, workloads, directories):
    """Returns a function that boots a guest, runs one job and returns its result. `job` is the
    guest's command line.

    Tests with the same machine and guest share a boot. A run that is forked from the boot gives the
    same bytes as a run from reset (test_fork.py). If `directory` is given, the run begins at reset.

    `program` is the file for a job `@program`, `beside` names programs of workloads that it needs
    in /bin, and `seed` is the page-placement seed. If `disk` is false, the machine has no disk. If
    `fast` is false, the engine takes no shortcuts. `shadows` are further cache geometries. `trace`
    lists the data to record, and `accesses` is the limit of the access trace. `attribute` selects
    how the engine counts by function. `conf` contains additional lines for job.conf, and
    `boot_conf` for boot.conf. `power_cut` is the number of microseconds between the ready marker
    and the power cut. `clocks` is the value of --clocks. Each run has its own directory.

    `typed` contains pairs of texts: when the serial line prints the first text, the second text is
    typed.

    If `bare` is given, there is no operating system: the boot ROM loads the file `bare` at 0x7C00
    and starts it in real mode. `isa` is the processor's instruction set level. It replaces the
    guest's level.
    """

    def prepared(planned, place, beside):
        system = planned.guest.programs
        others = [(lab.program(system, name), f"/bin/{name}") for name in beside]
        files = delivery.files
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(delivery, "files", lambda *run: [*files(*run), *others])
            return Bochs().prepare(lab, planned, place)

    def run(
        job,
        *,
        board=MACHINE,
        settings=None,
        trace_reads=False,
        limit_seconds=300,  # as in chen95-core, so that its runs can share the boot
        directory=None,
        bare=None,
        program=None,
        seed=0,
        disk=True,
        system="linux",
        fast=True,
        feedback=True,
        shadows=(),
        trace=(),
        accesses=0,
        vectors=0,
        vector_events=False,
        sample=None,
        attribute=(),
        conf=(),
        boot_conf=(),
        isa=None,
        power_cut=0,
        clocks="",
        typed=(),
        beside=(),
    ):
        name = job.split()[0]
        booted = guest.load(lab, system)
        booted = replace(booted, isa=isa or booted.isa)
        described = workloads.get(name, workloads["getpid"])
        if name not in workloads and lab.program(booted.programs, name).is_file():
            # A program without a description, such as a test of guest mach.
            described = replace(described, name=name, starts=("true-static", "dup"))
        asked = machine.load(lab.machines, board).with_set(settings or {}, "test")
        planned = ImageRun(
            experiment="test",
            machine=experiment.with_isa("test", booted, asked),
            guest=booted if disk else replace(booted, disk=None),
            workload=described,
            parameters={},
            given=(),
            seed=seed,
            feedback=feedback,
            limit_seconds=limit_seconds,
            observation=Observation.of(
                Geometries(tuple(shadows)) if shadows else None,
                Trace(tuple(trace), accesses) if trace else None,
                BlockVectors(vectors, vector_events) if vectors else None,
                AttributedCounts(tuple(attribute)) if attribute else None,
                sample,
                PowerCut(power_cut) if power_cut else None,
                NominalClocks.of(clocks),
            ),
            program=programs.load(program, "", 32 << 20) if program else None,
        )
        place = directory or next(directories)
        place.mkdir(parents=True)
        engine = Bochs()
        plan = prepared(planned, place, beside)
        lines = [*plan.write[BOOT_CONF].decode().splitlines(), *boot_conf]
        if not fast:
            lines.append("run.fast_paths = off")
        if bare:
            lines = [line for line in lines if not line.startswith("boot.")]
            lines += [f"boot.blob.0 = 0x7c00 0 - {bare}", "boot.entry = 0:0x7c00"]
            lines += ["boot.segment = 0", "boot.sp = 0x7000"]
        # The engine gets the test's own job, even if the workload of this job is unknown or its
        # parameters are wrong.
        own = [*plan.write[JOB_CONF].decode().splitlines(), *conf]
        own = [line for line in own if not line.startswith("run.job ")] + [f"run.job = {job}"]
        if trace_reads:
            own.append("run.trace_reads = on")
        plan = _with_lines(plan, lines, own)
        for file, content in plan.write.items():
            (place / file).write_bytes(content)
        line = b""
        if typed:
            status, line = _typing(plan, place, typed)
        elif directory or bare:
            with (place / "engine.out").open("wb") as console:
                status = subprocess.run(
                    plan.command,
                    cwd=place,
                    env=dict(plan.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=subprocess.STDOUT,
                    check=False,
                ).returncode
        else:
            status = _forked(plan, place, engine.outputs)
        return Booted(place, engine.collect(place, status), line)

    return run


@pytest.fixture
def counted(boot):
    """Returns a function that runs a job and checks that the job succeeded."""

    def run(job, **how):
        booted = boot(job, **how)
        ended = booted.outcome.status, booted.events.guest_status, booted.output
        assert ended == ("ok", 0, ""), booted.outcome.reason
        return booted

    return run
