# SPDX-License-Identifier: MIT
"""Options that several commands have."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from p5lab.describe import engine, experiment, observation, seeds
from p5lab.describe.observation.kind import positive
from p5lab.errors import UserError
from p5lab.execute.cluster import Tls, Wanted
from p5lab.host.processors import cores
from p5lab.present import counts

SCHEMA_VERSION = 1  # of what print_json prints
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_choice(parser: argparse.ArgumentParser) -> None:
    """What the command line changes in an experiment: the options that `run` and `plan` read."""
    parser.add_argument(
        "--program",
        type=Path,
        metavar="FILE",
        help="instead of an experiment: a static x86 program, or guest:PATH, a"
        " program of a guest that is a distribution",
    )
    parser.add_argument("--args", default="", metavar='"A B"', help="its arguments")
    _add_selection(parser)
    parser.add_argument(
        "--engine",
        default=engine.DEFAULT,
        metavar="NAME",
        help="what counts (default: %(default)s). gem5: your own, P5LAB_GEM5; native: the"
        " programs on this host itself",
    )
    observation.add_options(parser)
    parser.add_argument(
        "--feedback",
        choices=("on", "off"),
        help="off: caches, TLBs and bus count, and cost no clocks",
    )
    parser.add_argument(
        "--model",
        choices=("on", "off"),
        default="on",
        help="off: one clock an instruction, no caches, TLBs or stalls",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    """Machines, guests, workloads and seeds in place of the experiment's."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="change a machine key (see `p5lab keys`); may be repeated",
    )
    parser.add_argument(
        "--sweep",
        action="append",
        default=[],
        metavar="KEY=V,V,...",
        dest="sweeps",
        help="run with each of these values of a machine key, or of"
        " a workload's parameter (parameters.NAME); several multiply",
    )
    parser.add_argument(
        "--machine", action="append", default=[], help="instead of the experiment's"
    )
    parser.add_argument("--guest", action="append", default=[], help="instead of the experiment's")
    parser.add_argument("--workload", action="append", default=[], help="only these")
    parser.add_argument(
        "--seed",
        "--seeds",
        type=seeds.parse,
        default=(),
        dest="seeds",
        metavar="N,...",
        help="page placement; instead of the experiment's",
    )


def add_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only",
        metavar="TEXT",
        default="",
        help="of these only the runs whose name has TEXT in it (* and ? stand for"
        " any text and any letter)",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=positive("--jobs"),
        default=cores(),
        metavar="N",
        help="runs at a time (default: the number of cores, %(default)s)",
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Where runs are executed, beside this process (docs/reference/clusters.md)."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=positive("--workers"),
        default=0,
        metavar="N",
        help="run on so many Dask workers on this machine, instead of --jobs",
    )
    where.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="run on the workers of this Dask scheduler, such as tcp://host:8786,"
        " or of the scheduler that wrote this file (docs/reference/clusters.md)",
    )
    parser.add_argument(
        "--ship",
        action="store_true",
        help="with them: send inputs and results, and use no shared file system",
    )
    for what, text in (
        ("ca", "the authority's certificate"),
        ("cert", "our certificate"),
        ("key", "its key"),
    ):
        parser.add_argument(
            f"--tls-{what}", type=Path, metavar="FILE", help=f"with them: {text} (PEM)"
        )


def workers(args: argparse.Namespace) -> Wanted | None:
    """What the options of add_workers say; None: runs are executed here."""
    files = (args.tls_ca, args.tls_cert, args.tls_key)
    if not args.workers and not args.scheduler:
        if args.ship or any(files):
            raise UserError("--ship, --tls-...: expected with --workers or --scheduler")
        return None
    if any(files) and not all(files):
        raise UserError("--tls-ca, --tls-cert, --tls-key: expected all three, or none")
    return Wanted(args.workers, args.scheduler, Tls(*files) if all(files) else None, args.ship)


def add_format(parser: argparse.ArgumentParser, forms: Sequence[str] = counts.FORMATS) -> None:
    """How the results are printed: `form` of the arguments."""
    parser.add_argument(
        "--format",
        choices=forms,
        default="table",
        dest="form",
        help=f"how to print the results: {', '.join(forms[:-1])} or {forms[-1]}",
    )
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Of a command that knows tables and JSON only, this alone."""
    parser.add_argument(
        "--json",
        action="store_const",
        const="json",
        default="table",
        dest="form",
        help="for programs (docs/reference/formats.md)",
    )


def print_json(what: dict[str, object]) -> None:
    """The answer of a command to a program."""
    print(json.dumps({"schema_version": SCHEMA_VERSION, **what}, indent=1))


def add_no_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-build", action="store_true", help="take the build products as they are"
    )


def add_system(parser: argparse.ArgumentParser) -> None:
    """One machine with one placement of pages."""
    parser.add_argument(
        "--machine", default=experiment.PROGRAM_MACHINE, help="default: %(default)s"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help="change a machine key",
    )
    parser.add_argument(
        "--seed", type=seeds.parse, default=(0,), metavar="N", help="page placement"
    )


def one_seed(args: argparse.Namespace, command: str) -> int:
    """The seed of add_system."""
    if len(args.seed) != 1:
        raise UserError(f"--seed: expected one number for {command}")
    return int(args.seed[0])
