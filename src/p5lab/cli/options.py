# SPDX-License-Identifier: MIT
"""Options that several commands have."""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from p5lab.describe import experiment
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
        type=experiment.parse_seeds,
        default=(),
        dest="seeds",
        metavar="N,...",
        help="page placement; instead of the experiment's",
    )
    parser.add_argument(
        "--engine",
        default="bochs",
        metavar="NAME",
        help="gem5: your own, P5LAB_GEM5; native: the programs on this host itself",
    )
    parser.add_argument(
        "--trace",
        action="append",
        default=[],
        choices=experiment.TRACES,
        help="also record each change of ring or address space, or what L1 and"
        " L2 were asked and answered",
    )
    parser.add_argument(
        "--accesses",
        type=positive("--accesses"),
        default=experiment.ACCESSES,
        metavar="N",
        help="of --trace accesses, at most (default: %(default)s)",
    )
    parser.add_argument(
        "--bbv",
        type=positive("--bbv"),
        default=0,
        metavar="N",
        help="also write SimPoint's basic-block vectors, one for every N"
        " instructions inside the brackets",
    )
    parser.add_argument(
        "--power-cut",
        type=_microseconds,
        default=0,
        metavar="SECONDS",
        help="end each run so much modelled time after the guest is ready, with"
        " what is then on its first SCSI disk's first partition in disk.img",
    )
    parser.add_argument(
        "--pcap",
        action="store_true",
        help="also write the frames on the wire of the machine's network card, for"
        " tcpdump and Wireshark",
    )
    parser.add_argument(
        "--attribute",
        action="append",
        default=[],
        choices=experiment.ATTRIBUTIONS,
        help="also count by function, ring, address space and what the kernel was"
        " entered for; stacks: and by who called; misses: and why caches missed"
        " (see `show --attribution`); may be repeated",
    )
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


def _microseconds(text: str) -> int:
    """The seconds of --power-cut."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise UserError(f"--power-cut: expected seconds such as 1.25; found {text!r}")
    return round(float(text) * 1_000_000)


def positive(option: str) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise UserError(f"{option}: expected a whole number, at least 1; found {text!r}")
        return int(text)

    return parse


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
        "--seed", type=experiment.parse_seeds, default=(0,), metavar="N", help="page placement"
    )


def one_seed(args: argparse.Namespace, command: str) -> int:
    """The seed of add_system."""
    if len(args.seed) != 1:
        raise UserError(f"--seed: expected one number for {command}")
    return int(args.seed[0])
