# SPDX-License-Identifier: MIT
"""A Pentium PC of 1994-96 under gem5: `gem5.opt configs/gem5/run.py --help`."""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import _m5.core
import m5
import m5.objects

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = (HERE, ROOT / "src/p5lab/engines/gem5")
sys.path[:0] = [str(HERE), str(ROOT / "src"), str(ROOT / "stats-parsers")]

try:
    import tomllib  # noqa: F401
except ModuleNotFoundError:
    print("p5lab: this gem5 has a Python older than 3.11, which cannot read TOML", file=sys.stderr)
    sys.exit(2)

from p5pc import extras, intervals, markers  # noqa: E402
from p5pc.board import PentiumBoard  # noqa: E402
from p5pc.cache_hierarchy import BootHierarchy, PentiumCacheHierarchy  # noqa: E402
from p5pc.processor import ChipProcessor, PentiumProcessor  # noqa: E402

from p5lab.describe.guest import X86_64  # noqa: E402
from p5lab.describe.machine import Machine  # noqa: E402
from p5lab.engines.gem5 import checkpoint, chip, direct, parameters, versions, workload  # noqa: E402
from p5lab.engines.gem5.ending import reason  # noqa: E402
from p5lab.engines.gem5.setup import EXTRAS, Setup  # noqa: E402
from p5lab.errors import UserError  # noqa: E402
from p5lab.files import sha256_of  # noqa: E402
from p5stats import StatsError, simpoint  # noqa: E402

# Exit statuses. BAD_INPUT, GUEST_FAILED and TIME_LIMIT are the same as in the embedded engine.
PROGRAM_FAILED, BAD_INPUT, GUEST_FAILED, TIME_LIMIT = 1, 2, 3, 4
VERSION = _m5.core.gem5Version
GEM5 = Path("/proc/self/exe")
SETUP_FILE, JOB_FILE, TASK_FILE = "setup.json", "job", "task.json"
DELIVERED_FILE = "delivered"
INTERVALS, ESTIMATE = "intervals", "simpoints.json"

DESCRIPTION = """\
Boots an x86-64 guest on a Pentium PC of configs/machines and runs one workload.

The first run of a machine and guest boots on the atomic CPU and keeps a checkpoint. Every run
restores the checkpoint to the CPU of --cpu, with caches. The caches are cold at first. The
instructions before the workload's first bracket warm them. Each marker dumps and resets the
statistics."""

EPILOG = """\
examples:
  gem5.opt configs/gem5/run.py --machine p90-premiere2 --guest linux64 --workload getpid
  gem5.opt configs/gem5/run.py --guest linux64 --workload mem-read bytes=65536 --set l2.size=512K
  gem5.opt -d m5out/atomic configs/gem5/run.py --guest linux64 --workload getpid --cpu atomic
  gem5.opt configs/gem5/run.py --setup m5out/setup.json        the same run again
  gem5.opt configs/gem5/run.py --guest linux64 --workload phases --bbv 1000000
  gem5.opt configs/gem5/run.py --guest linux64 --workload phases --simpoints phases.simpoints \
      --interval 1000000

files in m5out (another directory: option -d DIR of gem5, before run.py):
  markers.jsonl              a header with gem5's deviations, and a line for each marker
  stats.txt                  a section for each marker
  output.log                 the workload's output
  board.pc.com_1.device      the serial console
  setup.json, job            the inputs of this run
  simpoint.bb.gz             with --bbv: a line for each interval, in SimPoint 3.2's format
  simpoints.json             with --simpoints: clocks per instruction of each interval, and
                             their weighted mean
  config.ini, config.json    gem5's own record of the machine

exit status: 0 done, 1 the workload failed, 2 bad input, 3 the guest failed, 4 the time limit"""


def main() -> int:
    """Do the work of the command line and return the exit status. Prints bad input as a message."""
    try:
        args = arguments()
        outdir = Path(m5.options.outdir).absolute()
        if (reason := versions.why_not(VERSION)) and not args.untested:
            raise UserError(f"{reason}; --untested uses it anyway")
        if remark := versions.remark(VERSION):
            m5.util.warn(remark)
        setup = Setup.read(args.setup) if args.setup else from_names(args, outdir)
        setup.check()
        if reason := versions.why_no_cpu(VERSION, setup.cpu, dir(m5.objects)):
            raise UserError(reason)
        ours = choose_extras(setup)
        machine = parameters.derive(setup.machine)
        if args.task:
            return do(json.loads(args.task.read_text()), setup, machine, ours, outdir)
        setup.write(outdir / SETUP_FILE)
        ready = ready_checkpoint(setup, ours, outdir, args.checkpoint)
        if args.bbv:
            return vectors(setup, machine, ours, outdir, ready, args.bbv)
        if args.simpoints:
            return estimate(args, machine, outdir, ready)
        return restore_and_run(setup, machine, ours, outdir, ready)
    except (UserError, StatsError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return BAD_INPUT


def arguments() -> argparse.Namespace:
    """Parse and check the command line. A wrong argument ends the process with status 2."""
    parser = argparse.ArgumentParser(
        prog="gem5.opt configs/gem5/run.py",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--machine",
        default="p90-premiere2",
        metavar="NAME",
        help="a file of configs/machines (default: %(default)s)",
    )
    add(
        "--guest",
        default="linux64",
        metavar="NAME",
        help="a guest of guest-images whose ISA is x86-64 (default: %(default)s)",
    )
    add("--workload", metavar="NAME", help="a name that `p5lab list workloads` shows")
    add("parameters", nargs="*", metavar="key=value", help="parameters of the workload")
    add(
        "--program",
        type=Path,
        metavar="FILE",
        help="run this static x86-64 program instead of a workload",
    )
    add("--args", default="", metavar='"A B"', help="the program's arguments")
    add(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help="change a key of the machine (docs/reference/machine-keys.md); may be repeated",
    )
    add(
        "--cpu",
        choices=list(versions.CPUS),
        default="timing",
        help="gem5's CPU model (default: %(default)s)",
    )
    add(
        "--extras",
        choices=EXTRAS,
        default="auto",
        help="our SimObjects: use them if this gem5 has them (auto), require them (on), or never"
        " use them (off)",
    )
    add(
        "--clocks",
        choices=("nominal",),
        help="with --cpu p5: nominal clocks; without this option each instruction takes one clock",
    )
    add("--cpi", action="store_true", help="with --clocks: count the components of the CPI stack")
    add("--seed", type=int, default=0, metavar="N", help="seed of page placement in the guest")
    add(
        "--limit",
        type=int,
        default=120,
        metavar="SECONDS",
        help="a run fails after this much modelled time (default: %(default)s)",
    )
    add(
        "--checkpoints",
        type=Path,
        metavar="DIR",
        help="the directory of checkpoints (default: gem5/checkpoints below $P5LAB_CACHE or"
        " ~/.cache/p5lab)",
    )
    add(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="use this checkpoint; refused if it was made from other inputs",
    )
    add(
        "--setup",
        type=Path,
        metavar="FILE",
        help="use the setup.json of another run instead of the options above",
    )
    add(
        "--untested",
        action="store_true",
        help=f"accept a gem5 that is older than {versions.TESTED[0]}",
    )
    add(
        "--bbv",
        type=int,
        metavar="N",
        help="only write basic-block vectors of intervals of N instructions, from the ready marker",
    )
    add(
        "--simpoints",
        type=Path,
        metavar="FILE",
        help="only measure the intervals of FILE; the .weights file next to it has their weights",
    )
    add("--interval", type=int, metavar="N", help="with --simpoints: instructions per interval")
    add(
        "--warm-up",
        type=int,
        metavar="N",
        help="instructions that warm the caches before an interval (default: one interval)",
    )
    add("--task", type=Path, metavar="FILE", help=argparse.SUPPRESS)  # for run.py's children
    args = parser.parse_args()
    if not args.setup and (args.workload is None) == (args.program is None):
        parser.error("expected --workload NAME or --program FILE")
    if (args.clocks and args.cpu != versions.CHIP) or (args.cpi and not args.clocks):
        parser.error("--clocks needs --cpu p5, and --cpi needs --clocks nominal")
    for option in ("bbv", "interval", "warm_up"):
        number = getattr(args, option)
        if number is not None and number < (option != "warm_up"):
            parser.error(f"--{option.replace('_', '-')}: expected a number of instructions")
    if (args.simpoints is None) != (args.interval is None):
        parser.error("--simpoints and --interval need each other")
    if args.simpoints and args.bbv:
        parser.error("--bbv and --simpoints need separate runs, --bbv first")
    return args


def from_names(args: argparse.Namespace, outdir: Path) -> Setup:
    """Look up the names on the command line like ./p5lab. Writes the job file to `outdir`.

    Raises UserError for a name that does not exist."""
    described = direct.look_up(
        machine=args.machine,
        settings=args.settings,
        guest=args.guest,
        workload=args.workload,
        parameters=args.parameters,
        program=args.program,
        arguments=args.args,
    )
    job = outdir / JOB_FILE
    job.write_bytes(described.job)
    core_hz = parameters.derive(described.machine).core_hz
    return Setup(
        machine=described.machine,
        files={**{role: str(path) for role, path in described.files.items()}, "job": str(job)},
        command_line=workload.command_line(
            described.command_line,
            core_hz,
            args.seed,
            chip=args.cpu == versions.CHIP,
        ),
        cpu=args.cpu,
        extras=args.extras,
        limit_seconds=args.limit,
        checkpoints=str(args.checkpoints or described.cache / "gem5/checkpoints"),
        nominal=args.clocks is not None,
        cpi=args.cpi,
    )


def choose_extras(setup: Setup) -> bool:
    """Whether this run uses our SimObjects. Raises UserError if the command requires them but gem5
    does not contain them."""
    reason = extras.why_not()
    if setup.extras == "on" and reason:
        raise UserError(f"--extras on: {reason}")
    return setup.extras != "off" and not reason


def ready_checkpoint(setup: Setup, ours: bool, outdir: Path, given: Path | None) -> Path:
    """Return the checkpoint at the ready marker: `given` if there is one, else a stored checkpoint,
    else a new checkpoint.

    Raises UserError if `given` was made from other inputs, or if booting fails."""
    parts = checkpoint.key(
        setup, gem5=sha256_of(GEM5), version=VERSION, extras=ours, sources=SOURCES
    )
    if given:
        checkpoint.check(given, parts)
        return given

    def boot(place: Path) -> None:
        child(outdir, "boot", {"checkpoint": str(place)})

    directory, made = checkpoint.find(Path(setup.checkpoints), parts, boot)
    print(f"p5lab: {'booted' if made else 'restored'}: {directory.name}", flush=True)
    return directory


def child(outdir: Path, name: str, task: Mapping[str, object]) -> Path:
    """Run a task in a separate process, because gem5 instantiates one machine per process.

    Returns the child's output directory, `outdir`/`name`. Raises UserError if the child fails."""
    place = outdir / name
    place.mkdir(parents=True, exist_ok=True)
    (place / TASK_FILE).write_text(json.dumps({"kind": name.partition("/")[0], **task}))
    command = [str(GEM5.readlink()), "-d", str(place), "-re", "--listener-mode=off", __file__]
    command += ["--untested", "--setup", str(outdir / SETUP_FILE)]
    command += ["--task", str(place / TASK_FILE)]
    print(f"p5lab: {name}: its output is in {place}", flush=True)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, close_fds=False)  # keep locks
    if done.returncode != 0:
        why = reason(place / "simerr.txt") or f"status {done.returncode}"
        raise UserError(f"{name} failed: {why} (in {place})")
    return place


def do(
    task: Mapping[str, Any], setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path
) -> int:
    """Do the task of a child process and return the exit status."""
    if task["kind"] == "boot":
        board = boot_board(setup, machine, ours, outdir)
        board.instantiate(None)
        if happened := markers.until_ready(setup.limit_seconds):
            print(f"p5lab: no ready marker: {happened}", file=sys.stderr)
            return TIME_LIMIT if happened == markers.TIME_LIMIT else GUEST_FAILED
        m5.checkpoint(task["checkpoint"])
    elif task["kind"] == "checkpoints":
        board = boot_board(setup, machine, ours, outdir)
        board.instantiate(Path(task["ready"]))
        intervals.checkpoints(cpu(board), task["starts"], outdir)
    else:
        board = full_board(setup, machine, ours, outdir)
        board.instantiate(Path(task["checkpoint"]))
        measured = intervals.measure(cpu(board), task["warm_up"], task["length"])
        (outdir / "interval.json").write_text(json.dumps(measured))
    return 0


def boot_board(
    setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path
) -> PentiumBoard:
    """Return a board that has the atomic CPU and the Pentium's TLBs, but no caches. For a run on
    P5CPU, it is P5CPU, on which each instruction takes one clock: programs then execute the same
    markers as on the embedded engine, which the atomic CPU does not know."""
    if setup.boots_on_chip:
        return chip_board(setup, machine, outdir)
    board = PentiumBoard(machine, PentiumProcessor(machine, "atomic", extras=ours), BootHierarchy())
    board.load(setup, outdir)
    return board


def chip_board(
    setup: Setup,
    machine: parameters.Parameters,
    outdir: Path,
    *,
    clocks: bool = False,
    cpi: bool = False,
) -> PentiumBoard:
    """Return a board that has P5CPU. Its programs get job and delivered files by markers."""
    job, _, delivered = setup.path("job").read_bytes().partition(b"\n")
    (outdir / DELIVERED_FILE).write_bytes(delivered)
    processor = ChipProcessor(
        Machine("", dict(setup.machine)),
        X86_64,
        clocks=clocks,
        feedback=clocks,
        cpi=cpi,
        job=job.decode(),
        delivered=str(outdir / DELIVERED_FILE),
    )
    board = PentiumBoard(machine, processor, BootHierarchy())
    board.load(setup, outdir)
    return board


def full_board(
    setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path
) -> PentiumBoard:
    """Return a board that has caches and the CPU of the setup. The board has our SimObjects if
    `ours` is true. P5CPU has caches of its own."""
    if setup.cpu == versions.CHIP:
        return chip_board(setup, machine, outdir, clocks=setup.nominal, cpi=setup.cpi)
    processor = PentiumProcessor(machine, setup.cpu, extras=ours, tracer=ours)
    board = PentiumBoard(machine, processor, PentiumCacheHierarchy(machine, extras=ours))
    board.load(setup, outdir)
    return board


def cpu(board: PentiumBoard) -> m5.objects.BaseCPU:
    """The board's one CPU."""
    (core,) = board.get_processor().get_cores()
    return core.get_simobject()


def restore_and_run(
    setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path, ready: Path
) -> int:
    """Run the workload from the checkpoint `ready` and return the exit status."""
    board = full_board(setup, machine, ours, outdir)
    recorder = markers.Recorder(
        outdir / markers.MARKERS,
        {
            "gem5": VERSION,
            "clock_hz": machine.core_hz,
            "extras": ours,
            "cpu": setup.cpu,
            "deviations": chip.DEVIATIONS
            if setup.cpu == versions.CHIP
            else parameters.deviations(setup.machine, cpu=setup.cpu, extras=ours),
        },
    )
    board.instantiate(ready)
    recorder.mark("ready", 0)
    return status(markers.run(recorder, setup.limit_seconds), setup)


def vectors(
    setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path, ready: Path, length: int
) -> int:
    """Run the workload under gem5's SimPoint probe, which works on the atomic CPU only.

    The probe writes simpoint.bb.gz. Returns the exit status."""
    board = boot_board(setup, machine, ours, outdir)
    cpu(board).addSimPointProbe(length)
    board.instantiate(ready)
    return status(markers.run(None, setup.limit_seconds), setup)


def estimate(
    args: argparse.Namespace, machine: parameters.Parameters, outdir: Path, ready: Path
) -> int:
    """Measure the chosen intervals. A child process measures each interval from its own checkpoint.

    Writes simpoints.json. Raises UserError if a child fails, and StatsError for a wrong file."""
    weights = args.simpoints.with_suffix(".weights")
    chosen, coverage = simpoint.read_points(args.simpoints, weights), simpoint.coverage(weights)
    length = args.interval
    warm_up = length if args.warm_up is None else args.warm_up
    starts = [max(0, point.interval * length - warm_up) for point in chosen]
    place = outdir
    if later := [start for start in starts if start]:  # 0 is the ready marker
        place = child(outdir, "checkpoints", {"ready": str(ready), "starts": later})
    estimates = []
    for point, start in zip(chosen, starts, strict=True):
        task = {
            "checkpoint": str(place / str(start) if start else ready),
            "length": length,
            "warm_up": point.interval * length - start,
        }
        done = child(outdir, f"{INTERVALS}/{point.interval}", task)
        measured = json.loads((done / "interval.json").read_text())
        clocks = measured["ticks"] * machine.core_hz / markers.TICKS
        cpi = clocks / measured["instructions"]
        about = {"number": point.interval, "cluster": point.cluster, "weight": point.weight}
        estimates.append({**about, "instructions": measured["instructions"], "cpi": cpi})
    total = {
        "interval": length,
        "warm_up": warm_up,
        "coverage": coverage,
        "intervals": estimates,
        "cpi": sum(point["weight"] * point["cpi"] for point in estimates),
    }
    (outdir / ESTIMATE).write_text(json.dumps(total, indent=1) + "\n")
    of_run = "" if coverage > 0.999 else f", which represent {coverage:.1%} of the run"
    print(
        f"p5lab: {total['cpi']:.4g} clocks per instruction, from {len(estimates)} intervals{of_run}"
    )
    return 0


def status(end: markers.End, setup: Setup) -> int:
    """Return the exit status for the given end of the simulation. Prints the reason for a
    failure."""
    if end.op == "exit":
        return PROGRAM_FAILED if end.arg else 0
    if end.op == "limit":
        print(f"p5lab: no exit marker within {setup.limit_seconds} modelled s", file=sys.stderr)
        return TIME_LIMIT
    what = f"the guest gave up with code {end.arg}" if end.op == "abort" else end.op
    print(f"p5lab: {what}", file=sys.stderr)
    return GUEST_FAILED


sys.exit(main())
