# SPDX-License-Identifier: MIT
"""A Pentium PC of 1994-96 under gem5: `gem5.opt configs/gem5/run.py --help`."""

import argparse
import subprocess
import sys
from pathlib import Path

import _m5.core
import m5
import m5.objects

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = (HERE, ROOT / "src/p5lab/gem5")
sys.path[:0] = [str(HERE), str(ROOT / "src")]

try:
    import tomllib  # noqa: F401
except ModuleNotFoundError:
    print("p5lab: this gem5 has a Python older than 3.11, which reads no TOML", file=sys.stderr)
    sys.exit(2)

from m5.objects import Root  # noqa: E402
from p5pc import extras, markers  # noqa: E402
from p5pc.board import PentiumBoard  # noqa: E402
from p5pc.cache_hierarchy import BootHierarchy, PentiumCacheHierarchy  # noqa: E402
from p5pc.processor import PentiumProcessor  # noqa: E402

from p5lab.errors import UserError  # noqa: E402
from p5lab.gem5 import checkpoint, direct, parameters, versions, workload  # noqa: E402
from p5lab.gem5.logs import reason  # noqa: E402
from p5lab.gem5.setup import EXTRAS, Setup  # noqa: E402

# Exit statuses. The last three are those of the embedded engine.
PROGRAM_FAILED, BAD_INPUT, GUEST_FAILED, TIME_LIMIT = 1, 2, 3, 4
VERSION = _m5.core.gem5Version
GEM5 = Path("/proc/self/exe")
SETUP_FILE, JOB_FILE, BOOT = "setup.json", "job", "boot"

DESCRIPTION = """\
Boots an x86-64 guest on a Pentium PC of configs/machines and runs one workload.

The first run of a machine and guest boots on the atomic CPU and keeps a checkpoint; every run
restores it to the CPU that was asked for, with caches. The caches are cold then; what runs from
there to the workload's first bracket warms them. Statistics are dumped and reset at each marker."""

EPILOG = """\
examples:
  gem5.opt configs/gem5/run.py --machine p90-premiere2 --guest linux64 --workload getpid
  gem5.opt configs/gem5/run.py --guest linux64 --workload mem-read bytes=65536 --set l2.size=512K
  gem5.opt -d m5out/atomic configs/gem5/run.py --guest linux64 --workload getpid --cpu atomic
  gem5.opt configs/gem5/run.py --setup m5out/setup.json        the same run again

in m5out (-d DIR is an option of gem5's, before run.py):
  markers.jsonl              header with what differs from the machine; a line for each marker
  stats.txt                  a section for each of them
  output.log                 what the workload printed
  board.pc.com_1.device      the serial console
  setup.json, job            what was run
  config.ini, config.json    gem5's own record of the machine

exit status: 0 done, 1 the workload failed, 2 bad input, 3 the guest failed, 4 the time limit"""


def main() -> int:
    try:
        args = arguments()
        outdir = Path(m5.options.outdir).absolute()
        if reason := versions.why_not(VERSION):
            if not args.untested:
                raise UserError(f"{reason}; --untested takes it nevertheless")
            m5.util.warn(reason)
        setup = Setup.read(args.setup) if args.setup else from_names(args, outdir)
        setup.check()
        if reason := versions.why_no_cpu(VERSION, setup.cpu, dir(m5.objects)):
            raise UserError(reason)
        ours = choose_extras(setup)
        machine = parameters.derive(setup.machine)
        if args.boot:
            return boot(setup, machine, ours, outdir, args.boot)
        return restore_and_run(setup, machine, ours, outdir, args.checkpoint)
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return BAD_INPUT


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gem5.opt configs/gem5/run.py",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--machine", default="p90-premiere2", metavar="NAME",
        help="a file of configs/machines (default: %(default)s)")  # fmt: skip
    add("--guest", default="linux64", metavar="NAME",
        help="a directory of guest-images whose isa is x86-64 (default: %(default)s)")  # fmt: skip
    add("--workload", metavar="NAME", help="a name of workloads/workloads.toml")
    add("parameters", nargs="*", metavar="key=value", help="the workload's own")
    add("--program", type=Path, metavar="FILE",
        help="in place of a workload: a static x86-64 program")  # fmt: skip
    add("--args", default="", metavar='"A B"', help="the program's arguments")
    add("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE",
        help="change a key of the machine (docs/machine-keys.md); may be repeated")  # fmt: skip
    add("--cpu", choices=list(versions.CPUS), default="timing",
        help="gem5's CPU model (default: %(default)s)")  # fmt: skip
    add("--extras", choices=EXTRAS, default="auto",
        help="our SimObjects: where this gem5 has them (auto), or refuse to run without (on)"
        )  # fmt: skip
    add("--seed", type=int, default=0, metavar="N", help="page placement in the guest")
    add("--limit", type=int, default=120, metavar="SECONDS",
        help="modelled time after which a run has failed (default: %(default)s)")  # fmt: skip
    add("--checkpoints", type=Path, metavar="DIR",
        help="where checkpoints are kept (default: gem5/checkpoints below $P5LAB_CACHE or"
        " ~/.cache/p5lab)")  # fmt: skip
    add("--checkpoint", type=Path, metavar="DIR",
        help="this one; refused when it was made of something else")  # fmt: skip
    add("--setup", type=Path, metavar="FILE",
        help="the setup.json of another run in place of all that")  # fmt: skip
    add("--untested", action="store_true",
        help=f"take a gem5 other than {' or '.join(versions.TESTED)}")  # fmt: skip
    add("--boot", type=Path, metavar="DIR", help=argparse.SUPPRESS)  # only make a checkpoint
    args = parser.parse_args()
    if not args.setup and (args.workload is None) == (args.program is None):
        parser.error("expected --workload NAME or --program FILE")
    return args


def from_names(args: argparse.Namespace, outdir: Path) -> Setup:
    """What the names on the command line stand for, looked up as ./p5lab does."""
    found = direct.look_up(
        machine=args.machine,
        settings=args.settings,
        guest=args.guest,
        workload=args.workload,
        parameters=args.parameters,
        program=args.program,
        arguments=args.args,
    )
    job = outdir / JOB_FILE
    job.write_bytes(found.job)
    core_hz = parameters.derive(found.machine).core_hz
    return Setup(
        machine=found.machine,
        files={**{role: str(path) for role, path in found.files.items()}, "job": str(job)},
        command_line=workload.command_line(found.command_line, core_hz, args.seed),
        cpu=args.cpu,
        extras=args.extras,
        limit_seconds=args.limit,
        checkpoints=str(args.checkpoints or found.cache / "gem5/checkpoints"),
    )


def choose_extras(setup: Setup) -> bool:
    reason = extras.why_not()
    if setup.extras == "on" and reason:
        raise UserError(f"--extras on: {reason}")
    return setup.extras != "off" and not reason


def boot(
    setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path, directory: Path
) -> int:
    """On the atomic CPU, with the Pentium's TLBs and no caches, to the ready marker."""
    processor = PentiumProcessor(machine, "atomic", extras=ours)
    board = PentiumBoard(machine, processor, BootHierarchy())
    board.load(setup, outdir)
    instantiate(board, None)
    if happened := markers.until_ready(setup.limit_seconds):
        print(f"p5lab: no ready marker: {happened}", file=sys.stderr)
        return TIME_LIMIT if happened == markers.TIME_LIMIT else GUEST_FAILED
    m5.checkpoint(str(directory))
    return 0


def restore_and_run(
    setup: Setup, machine: parameters.Parameters, ours: bool, outdir: Path, given: Path | None
) -> int:
    setup.write(outdir / SETUP_FILE)
    parts = checkpoint.key(
        setup, gem5=checkpoint.digest(GEM5), version=VERSION, extras=ours, sources=SOURCES
    )
    if given:
        checkpoint.check(given, parts)
        directory, made = given, False
    else:
        directory, made = checkpoint.find(
            Path(setup.checkpoints), parts, lambda place: boot_in_child(outdir, place)
        )
    processor = PentiumProcessor(machine, setup.cpu, extras=ours, tracer=ours)
    hierarchy = PentiumCacheHierarchy(machine, extras=ours)
    board = PentiumBoard(machine, processor, hierarchy)
    board.load(setup, outdir)
    recorder = markers.Recorder(
        outdir / markers.MARKERS,
        {
            "gem5": VERSION,
            "clock_hz": machine.core_hz,
            "extras": ours,
            "cpu": setup.cpu,
            "deviations": parameters.deviations(setup.machine, cpu=setup.cpu, extras=ours),
        },
    )
    instantiate(board, directory)
    print(f"p5lab: {'booted, ' if made else ''}restored {directory.name}", flush=True)
    recorder.mark("ready", 0)
    return status(markers.run(recorder, setup.limit_seconds), setup)


def boot_in_child(outdir: Path, directory: Path) -> None:
    """gem5 instantiates one machine a process, so the boot is one of its own, in m5out/boot."""
    place = outdir / BOOT
    command = [str(GEM5.readlink()), "-d", str(place), "-re", "--listener-mode=off", __file__]
    command += ["--untested", "--setup", str(outdir / SETUP_FILE), "--boot", str(directory)]
    print(f"p5lab: booting; what it says is in {place}", flush=True)
    done = subprocess.run(command, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        why = reason(place / "simerr.txt") or f"status {done.returncode}"
        raise UserError(f"the boot failed: {why} (in {place})")


def instantiate(board: PentiumBoard, directory: Path | None) -> None:
    Root(full_system=True, board=board)
    board._pre_instantiate()
    m5.instantiate(str(directory) if directory else None)
    board._post_instantiate()


def status(end: markers.End, setup: Setup) -> int:
    if end.op == "exit":
        return PROGRAM_FAILED if end.arg else 0
    if end.op == "limit":
        print(f"p5lab: no exit marker within {setup.limit_seconds} modelled s", file=sys.stderr)
        return TIME_LIMIT
    what = f"the guest gave up with code {end.arg}" if end.op == "abort" else end.op
    print(f"p5lab: {what}", file=sys.stderr)
    return GUEST_FAILED


sys.exit(main())
