# SPDX-License-Identifier: MIT
#: 040 simpoint WORKLOAD   estimate a long run from a few of its intervals
"""`simpoint`: estimate a long run from a few of its intervals.

Records the basic-block vectors of each workload and clusters them as SimPoint 3.2 does. Simulates
one interval of each cluster in detail. Prints the weighted estimate.

examples:
  ./p5lab simpoint phases --parameter rounds=20 --full
  ./p5lab simpoint --vectors m5out/simpoint.bb.gz
"""

import argparse
from pathlib import Path

from p5lab import packages
from p5lab.cli import arguments, estimate_table, failures, options
from p5lab.describe import experiment, machine
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.execute import sampling
from p5lab.lab import Lab
from p5lab.present import counts
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `simpoint`."""
    arguments.add(
        parser,
        """
        [workload...]  a name that `p5lab list workloads` shows
        --vectors FILE  run no workload, but cluster the vectors of this file, such as gem5's
            simpoint.bb.gz. Write .simpoints and .weights beside the file
        --parameter* NAME=VALUE  set a parameter of the workloads; may be repeated
        --interval N  length of an interval in instructions (default: %(default)s)
        --features  what intervals of one cluster have in common: the blocks that they execute, or
            also their misses in caches and TLBs (default: %(default)s; --simpoint reads only
            blocks)
        --max-k K  largest number of clusters (default: %(default)s)
        --warm-up N  before each interval, run N instructions that fill caches, TLBs and branch
            target buffer (default: %(default)s)
        --full  also make the full run and print the error of the estimate
        --simpoint PROGRAM  cluster with this SimPoint 3.2 program (default: P5LAB_SIMPOINT, or
            p5lab's own)
        --guest  default: %(default)s
        """,
        interval={"type": options.positive("--interval"), "default": sampling.INTERVAL},
        features={"choices": sampling.FEATURES, "default": sampling.BLOCKS_ONLY},
        max_k={"type": options.positive("--max-k"), "default": sampling.MAX_K},
        warm_up={"type": options.positive("--warm-up"), "default": sampling.WARM_UP},
        simpoint={"type": Path},
        guest={"default": experiment.PROGRAM_GUEST},
    )
    options.add(parser, "machine seed jobs workers no-build format", ("table", "markdown", "json"))


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `simpoint`."""
    seed = options.one_seed(args, "simpoint")
    execute = options.executor(args, lab)
    program = sampling.binary(args.simpoint)
    if bool(args.workload) == bool(args.vectors):
        raise UserError("simpoint: expected workloads or --vectors FILE")
    if args.vectors:
        _prepare(program)
        chosen, place = sampling.cluster(args.vectors, args.max_k, program)
        estimate_table.points(chosen).print(counts.stdout())
        if chosen.remark:
            Progress().say(chosen.remark)
        Progress().say(f"Chosen: {place}, {place.with_suffix('.weights').name}")
        return 0
    runs = sampling.base(
        lab,
        args.workload,
        args.parameter,
        args.guest,
        args.machine,
        machine.parse_settings(args.settings),
        seed,
    )
    _prepare(program)
    sampled = sampling.run(
        runs,
        interval=args.interval,
        features=args.features,
        max_k=args.max_k,
        warm_up=args.warm_up,
        program=program,
        full=args.full,
        execute=execute,
    )
    for label, remark in sampled.remarks.items():
        Progress().say(f"{label}: {remark}")
    estimate_table.show(counts.stdout(), sampled.estimates, args.form)
    return STATUS_FAILED if failures.report(sampled.failed) else 0


def _prepare(program: Path | None) -> None:
    """Installs the Python packages that cluster the vectors without a SimPoint program."""
    if program is None:
        packages.ensure("simpoint")
