# SPDX-License-Identifier: MIT
"""Measures the speed of the engine on this host.

There are two workloads (configs/experiments/bench.toml). `boot` runs from reset to the end of a
program that makes one system call. `forkexec` boots the same guest, and then executes fork, exec,
exit and wait 2000 times. Each of these workloads runs with the model on and with the model off. The
model contains caches, TLBs and the clocks of instructions, and its cycles determine virtual time.
With the model off, each instruction takes one clock, and there are no caches, TLBs or stalls. In
this mode only the emulator and the engine's hooks take host time.

guest MIPS        million guest instructions per second of the engine's user CPU time; a repeated
                  string instruction counts as one
real-time factor  modelled seconds per second of host time; 2 means twice as fast as the machine
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from p5lab import engines
from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.errors import STATUS_FAILED, UserError, status_of
from p5lab.host import build
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats import events

LOADS = {"getpid": "boot", "forkexec": "forkexec"}
OUTPUT = "engine.out"


@dataclass(frozen=True)
class Sample:
    """One run. `instructions` and `modelled_seconds` are counts of the guest. The other times are
    seconds of the host."""

    instructions: int
    modelled_seconds: float
    user_seconds: float
    wall_seconds: float

    @property
    def mips(self) -> float:
        """Million guest instructions per second of the engine's user CPU time."""
        return self.instructions / self.user_seconds / 1e6

    @property
    def factor(self) -> float:
        """Real-time factor: modelled seconds per second of the host's wall clock."""
        return self.modelled_seconds / self.wall_seconds


def timed(
    command: tuple[str, ...], directory: Path, environment: Mapping[str, str]
) -> tuple[int, float, float]:
    """Run a command in `directory`, and write its output to `engine.out` there. Return the exit
    status, the seconds of user CPU time and the seconds of wall-clock time."""
    environment = {**environment, "PATH": os.environ.get("PATH", os.defpath)}
    start = time.monotonic()
    console = os.open(directory / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    child = os.fork()
    if child == 0:
        try:
            os.chdir(directory)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(console, 1)
            os.dup2(console, 2)
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)
    os.close(console)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime, time.monotonic() - start


def measure(lab: Lab, run: experiment.Run, directory: Path, below: tuple[str, ...] = ()) -> Sample:
    """Run the engine once in `directory`. `below` is the command of a profiler, which starts the
    engine. It is empty if there is no profiler.

    Raises UserError if the run fails."""
    engine = engines.get(run.engine)
    plan = engine.prepare(lab, run, directory)
    for file, content in plan.write.items():
        (directory / file).write_bytes(content)
    status, user, wall = timed((*below, *plan.command), directory, plan.environment)
    outcome = engine.collect(directory, status)
    if outcome.status != "ok":
        raise UserError(f"{run.label}: {outcome.status}: {outcome.reason}", status=STATUS_FAILED)
    counts = events.parse(directory / engines.EVENTS)
    last = counts.markers[-1]
    column = list(counts.units).index("instructions")
    return Sample(
        sum(values[column] for values in last.banks.values() if len(values) > column),
        last.tsc / run.machine.clock_hz,
        user,
        wall,
    )


def report(name: str, samples: list[Sample]) -> str:
    """One row of the table, with the best and the median value of each quantity."""
    mips = [sample.mips for sample in samples]
    factor = [sample.factor for sample in samples]
    user = [sample.user_seconds for sample in samples]
    first = samples[0]
    return (
        f"{name:<20} {first.instructions / 1e6:>10.1f} {first.modelled_seconds:>10.2f}"
        f" {min(user):>9.2f} {statistics.median(user):>9.2f}"
        f" {max(mips):>9.1f} {statistics.median(mips):>9.1f}"
        f" {max(factor):>8.2f} {statistics.median(factor):>8.2f}"
    )


# The parts of the engine, and a pattern for the names of each part's functions. A function belongs
# to the first part with a matching pattern.
PARTS = {
    "Pentium model and its hooks": r"p5::|p5_|\(anonymous namespace\)",
    "kernel of the host": r"\[k\]",
    "emulator": r"",
}
FUNCTIONS = 15


def shares(report: str) -> tuple[dict[str, float], list[tuple[float, str]]]:
    """Read the text of `perf report -F overhead,symbol`.

    Returns the percentage of samples for each part of PARTS, and a pair (percentage, name) for each
    function. The largest percentage is first."""
    functions = [
        (float(match[1]), match[2].strip())
        for match in re.finditer(r"^ *([0-9.]+)% +(\[.\] .*)$", report, re.MULTILINE)
    ]
    parts = dict.fromkeys(PARTS, 0.0)
    for share, symbol in functions:
        parts[next(part for part, names in PARTS.items() if re.search(names, symbol))] += share
    return parts, sorted(functions, reverse=True)


def profile(lab: Lab, run: experiment.Run) -> str:
    """Run once under the host's `perf`. Return a table of the engine's time by part and function.

    Raises UserError if the host has no `perf`."""
    perf = shutil.which("perf")
    if not perf:
        raise UserError("bench: --profile needs `perf` (Debian package linux-perf)")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=lab.root / "build") as d:
        data = Path(d) / "perf.data"
        record = ("record", "-q", "-e", "cpu-clock", "-F", "499", "-o", data.name)
        measure(lab, run, Path(d), (perf, *record, "--"))
        shown = subprocess.run(
            [perf, "report", "--stdio", "--no-children", "-F", "overhead,symbol", "-i", data],
            capture_output=True,
            text=True,
            check=True,
        )
    parts, functions = shares(shown.stdout)
    lines = [f"{share:6.1f} %  {part}" for part, share in parts.items()]
    lines += ["", *(f"{share:6.1f} %  {name[4:]}" for share, name in functions[:FUNCTIONS])]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="p5lab bench",
        description=__doc__,
        epilog="examples:\n  ./p5lab bench\n  ./p5lab bench -n 1 --profile",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", type=int, default=3, help="runs of each kind (default: 3)")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="show the time of `forkexec, on` by function (needs perf)",
    )
    options = parser.parse_args()
    if options.n < 1:
        parser.error("-n: expected at least 1")
    lab = Lab.here()
    progress = Progress()
    build.ensure(lab, progress, engines.targets(lab, experiment.load(lab, "bench")))
    if options.profile:
        (load,) = (r for r in experiment.load(lab, "bench") if r.workload.name == "forkexec")
        print(profile(lab, load))
        return
    print(__doc__)
    print(f"host: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; n = {options.n}\n")
    print(
        f"{'':<20} {'guest':>10} {'modelled':>10} {'user CPU s':>19} {'guest MIPS':>19}"
        f" {'real-time factor':>17}\n"
        f"{'load, model':<20} {'M instr.':>10} {'s':>10} {'best':>9} {'median':>9}"
        f" {'best':>9} {'median':>9} {'best':>8} {'median':>8}"
    )
    for model in (True, False):
        choice = Filter(model=model)
        for run in experiment.load(lab, "bench", choice):
            samples = []
            for _ in range(options.n):
                # The engine gets paths relative to the checkout, so the directory must be inside
                # the checkout.
                with tempfile.TemporaryDirectory(prefix="bench-", dir=lab.root / "build") as d:
                    samples.append(measure(lab, run, Path(d)))
            name = f"{LOADS[run.workload.name]}, {'on' if model else 'off'}"
            print(report(name, samples), flush=True)


if __name__ == "__main__":
    sys.exit(status_of(main))
