# SPDX-License-Identifier: MIT
"""Compares the speed of this engine with the speed of other simulators, in one sitting.

All of them execute the loads of `./p5lab bench`: the same kernel, the same programs and the same
job. The runs of the peers alternate, so that a change of the host's load affects all of them.

bochs, model on    this engine: the clocks of a Pentium, caches, TLBs, branch target buffer, bus
bochs, model off   this engine with one clock for each instruction: Bochs and the hooks
qemu               QEMU's TCG: it translates code and models no time
qemu, L1           the same with QEMU's plugin `cache`, which models L1I and L1D of the machine
                   without time (P5LAB_QEMU_PLUGINS: the directory with libcache.so)
qemu, L1 and L2    the same with the machine's L2

A peer that is not installed is left out, with a line. Debian's package qemu-system-x86 contains
QEMU. The plugin is in QEMU's sources, in contrib/plugins.

guest MIPS  million guest instructions per second of user CPU time. The number of instructions is
            that of this engine with the model on. QEMU has another BIOS and other clock ticks, so
            it executes slightly more or less.
"""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from run import LOADS, OUTPUT, measure, timed

from p5lab import engines
from p5lab.describe import delivery, experiment
from p5lab.describe.request import Filter
from p5lab.errors import STATUS_FAILED, UserError, status_of
from p5lab.host import build
from p5lab.lab import Lab
from p5lab.progress import Progress

QEMU = "qemu-system-i386"
PLUGINS = "P5LAB_QEMU_PLUGINS"
ENDED = "init: job ended with status 0"  # of the guest's init, which then resets the machine
# The caches of the machine, and the beginnings of the names of the plugin's options.
CACHES = {"l1i": ("icache", "i"), "l1d": ("dcache", "d"), "l2": ("l2cache", "l2")}


@dataclass(frozen=True)
class Peer:
    """A simulator. `execute` makes a run in a directory. It returns the seconds of user CPU time
    and the number of guest instructions, which is 0 if the simulator does not count them."""

    name: str
    version: str
    execute: Callable[[experiment.Run, Path], tuple[float, int]]


def plugin_option(run: experiment.Run, plugin: Path, caches: tuple[str, ...]) -> str:
    """QEMU's option for the plugin, with these caches of the run's machine."""
    values = run.machine.engine_conf()
    options = [str(plugin), f"l2={'on' if 'l2' in caches else 'off'}", "evict=lru"]
    for cache in caches:
        size, other = CACHES[cache]
        options.append(f"{size}size={values[f'{cache}.size']}")
        options.append(f"{other}assoc={values[f'{cache}.ways']}")
        options.append(f"{other}blksize={values[f'{cache}.line']}")
    return ",".join(options)


def with_programs(run: experiment.Run, directory: Path) -> Path:
    """The guest's RAM disk, and behind it a second archive with the programs of the run, which the
    engine delivers by itself. Linux unpacks one archive after the other."""
    lab = Lab.here()
    place, made = lab.guests / "parts/rootfs", directory / "initramfs.cpio"
    programs = [f"{inside}={host}" for host, inside in delivery.files(lab, run)]
    command = [sys.executable, str(place / "mkcpio.py"), "--list", str(place / "rootfs.list")]
    subprocess.run([*command, "--output", str(made), *programs], check=True)
    assert run.guest.initramfs
    made.write_bytes(run.guest.initramfs.read_bytes() + made.read_bytes())
    return made


def qemu_command(
    run: experiment.Run, directory: Path, plugin: Path | None = None, caches: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The command that boots the run's guest on QEMU. The copy of the guest's disk is in
    `directory`. The plugin models these caches of the machine."""
    guest = run.guest
    job = run.job.strip().replace(" ", ",")
    megabytes = int(run.machine.engine_conf()["dram.size"]) >> 20
    command = [QEMU, "-M", "pc", "-cpu", "pentium", "-m", str(megabytes)]
    command += ["-accel", "tcg,thread=single"]
    command += ["-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"]
    command += ["-kernel", str(guest.kernel), "-initrd", str(with_programs(run, directory))]
    command += ["-append", f"{guest.cmdline} p5job={job}"]
    if guest.disk:
        shutil.copy(guest.disk, directory / "disk.img")
        command += ["-drive", "file=disk.img,format=raw,if=ide"]
    if plugin:
        command += ["-plugin", plugin_option(run, plugin, caches)]
    return tuple(command)


def on_qemu(
    run: experiment.Run, directory: Path, plugin: Path | None = None, caches: tuple[str, ...] = ()
) -> tuple[float, int]:
    """Make a run on QEMU (Peer.execute). Raises UserError if the guest's program fails."""
    status, user, _ = timed(qemu_command(run, directory, plugin, caches), directory, {})
    text = (directory / OUTPUT).read_text(encoding="utf-8", errors="replace")
    if status != 0 or ENDED not in text:
        last = ([line for line in text.split("\n") if line.strip()] or ["no output"])[-1].strip()
        raise UserError(
            f"{QEMU}: {run.label}: expected the line `{ENDED}`, but the exit status is {status} and"
            f" the last line is: {last}",
            status=STATUS_FAILED,
        )
    return user, 0


def installed(lab: Lab) -> Iterator[Peer | str]:
    """The peers on this host, and a line for each peer that is left out."""

    def ours(run: experiment.Run, directory: Path) -> tuple[float, int]:
        sample = measure(lab, run, directory)
        return sample.user_seconds, sample.instructions

    def without_model(run: experiment.Run, directory: Path) -> tuple[float, int]:
        off = experiment.load(lab, "bench", Filter(model=False))
        return ours(next(plain for plain in off if plain.workload == run.workload), directory)

    yield Peer("bochs, model on", "this checkout", ours)
    yield Peer("bochs, model off", "this checkout", without_model)
    if not shutil.which(QEMU):
        yield f"qemu is left out: no {QEMU} on this host (Debian: qemu-system-x86)"
        return
    shown = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True)
    version = shown.stdout.split("\n")[0].removeprefix("QEMU emulator version ")
    yield Peer("qemu", version, on_qemu)
    directory = os.environ.get(PLUGINS)
    plugin = Path(directory or "").absolute() / "libcache.so"
    if not directory or not plugin.exists():
        yield f"qemu with caches is left out: {PLUGINS} names no directory with libcache.so"
        return
    l1, l2 = ("l1i", "l1d"), ("l1i", "l1d", "l2")
    yield Peer("qemu, L1", version, lambda run, place: on_qemu(run, place, plugin, l1))
    yield Peer("qemu, L1 and L2", version, lambda run, place: on_qemu(run, place, plugin, l2))


def row(peer: Peer, load: str, instructions: int, seconds: list[float]) -> str:
    """A row of the table: seconds and MIPS, each with the median, and the range of the seconds."""
    middle = statistics.median(seconds)
    return (
        f"| {peer.name} | {load} | {instructions / 1e6:.0f} | {middle:.2f}"
        f" | {min(seconds):.2f} to {max(seconds):.2f} | {instructions / 1e6 / middle:.0f} |"
    )


def compare(lab: Lab, peers: list[Peer], times: int) -> Iterator[str]:
    """Makes all runs, and returns the rows of the table. The first peer counts instructions."""
    for run in experiment.load(lab, "bench"):
        load = LOADS[run.workload.name]
        seconds: dict[str, list[float]] = {peer.name: [] for peer in peers}
        counted: dict[str, int] = {}
        for number in range(times):
            for peer in peers:
                print(f"{load}, {number + 1}: {peer.name}", file=sys.stderr)
                with tempfile.TemporaryDirectory(prefix="bench-", dir=lab.root / "build") as d:
                    taken, counted[peer.name] = peer.execute(run, Path(d))
                seconds[peer.name].append(taken)
        for peer in peers:
            yield row(peer, load, counted[peers[0].name], seconds[peer.name])


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench/peers.py",
        description=__doc__,
        epilog="example:\n  .venv/bin/python bench/peers.py -n 5",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-n", type=int, default=5, help="runs of each peer (default: 5)")
    options = parser.parse_args()
    if options.n < 1:
        parser.error("-n: expected at least 1")
    lab = Lab.here()
    build.ensure(lab, Progress(), engines.targets(lab, experiment.load(lab, "bench")))
    listed = list(installed(lab))
    peers = [peer for peer in listed if isinstance(peer, Peer)]
    host = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {host}")
    for peer in listed:
        print(f"{peer.name}: {peer.version}" if isinstance(peer, Peer) else peer)
    print("\n| Peer | Load | M instructions | user s | range | guest MIPS |")
    print("|---|---|---:|---:|---:|---:|")
    for line in compare(lab, peers, options.n):
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(status_of(main))
