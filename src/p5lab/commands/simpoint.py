# SPDX-License-Identifier: MIT
"""`simpoint`: long runs estimated from a few intervals."""

import argparse
from pathlib import Path

from p5lab import experiment, machine, report, simpoint
from p5lab.commands import options
from p5lab.commands.execute import executor, tell_failures
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.lab import Lab
from p5lab.progress import Progress


def add(commands: options.Commands) -> None:
    points = commands.add_parser("simpoint", help="a long run estimated from a few intervals of it",
                                 description="Writes basic-block vectors of each workload, clusters"
                                 " them as SimPoint 3.2 does, simulates one interval of each"
                                 " cluster in detail, and prints the weighted estimate."
                                 )  # fmt: skip
    points.add_argument("workload", nargs="*", help="a name that `p5lab list workloads` shows")
    points.add_argument("--vectors", type=Path, metavar="FILE",
                        help="instead of workloads: only cluster the vectors of this file, such as"
                        " gem5's simpoint.bb.gz, and write .simpoints and .weights beside it"
                        )  # fmt: skip
    points.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE",
                        help="of the workloads; may be repeated")  # fmt: skip
    points.add_argument("--interval", metavar="N", type=options.positive("--interval"),
                        default=simpoint.INTERVAL,
                        help="instructions of an interval (default: %(default)s)")  # fmt: skip
    points.add_argument("--max-k", metavar="K", type=options.positive("--max-k"),
                        default=simpoint.MAX_K,
                        help="clusters at most (default: %(default)s)")  # fmt: skip
    points.add_argument("--warm-up", type=options.positive("--warm-up"), default=simpoint.WARM_UP,
                        metavar="N", help="instructions before each interval that keep caches,"
                        " TLBs and branch target buffer warm (default: %(default)s)")  # fmt: skip
    points.add_argument("--full", action="store_true",
                        help="the full run as well, and with it the error")  # fmt: skip
    points.add_argument("--simpoint", type=Path, metavar="PROGRAM",
                        help="cluster with this SimPoint 3.2 (default: P5LAB_SIMPOINT, else"
                        " ours)")  # fmt: skip
    points.add_argument("--guest", default=experiment.PROGRAM_GUEST, help="default: %(default)s")
    options.add_system(points)
    options.add_jobs(points)
    options.add_workers(points)
    options.add_no_build(points)
    options.add_format(points, ("table", "markdown", "json"))
    points.set_defaults(command=_simpoint)


def _simpoint(args: argparse.Namespace, lab: Lab) -> int:
    seed = options.one_seed(args, "simpoint")
    execute = executor(args, lab)
    program = simpoint.binary(args.simpoint)
    if bool(args.workload) == bool(args.vectors):
        raise UserError("simpoint: expected workloads or --vectors FILE")
    if args.vectors:
        chosen, place = simpoint.cluster(args.vectors, args.max_k, program)
        simpoint.points(chosen).print(report.stdout())
        Progress().say(f"Chosen: {place}, {place.with_suffix('.weights').name}")
        return 0
    runs = simpoint.base(lab, args.workload, args.parameter, args.guest, args.machine,
                         machine.parse_settings(args.settings), seed)  # fmt: skip
    found = simpoint.run(
        runs, interval=args.interval, max_k=args.max_k, warm_up=args.warm_up, program=program,
        full=args.full, execute=execute,
    )  # fmt: skip
    simpoint.show(report.stdout(), found.found, args.form)
    return STATUS_FAILED if tell_failures(lab, found.failed) else 0
