# SPDX-License-Identifier: MIT
"""Options that several commands share."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from p5lab.cli import arguments
from p5lab.describe import engine, experiment, ideal, observation, program_files, seeds
from p5lab.describe.experiment_file import LIMIT_SECONDS
from p5lab.describe.observation.kind import positive
from p5lab.errors import UserError, refuse
from p5lab.execute.build_and_run import execute
from p5lab.execute.cluster import Tls, Workers
from p5lab.host.processors import cores
from p5lab.keep.result import Execute
from p5lab.lab import Lab
from p5lab.present import (
    breakdown,
    breakdown_table,
    column,
    counts,
    figure_size,
    headline,
    sweep_table,
)
from p5lab.progress import Progress
from p5stats.dimensions import DIMENSIONS

SCHEMA_VERSION = 1  # version of the JSON that print_json prints
TAKES_OPTIONS = ("--args", "--cflags")  # their values are often options of another program


# The arguments that several commands have, by name, as `arguments.add` takes them.
SHARED: dict[str, tuple[str, dict[str, Any]]] = {
    "runs": (
        """
        words=RUN...  the first 4 or more characters of a run's id, a label, or an experiment with
            results
        """,
        {},
    ),
    "only": (
        """
        --only TEXT  only the runs with TEXT in their name (* matches any text, ? any character)
        """,
        {},
    ),
    "columns": (  # of a sweep's tables, and the panels of its figures
        f"""
        {column.OPTION}* NAME,...  columns of a sweep: rows of a report or names of events, such as
            cycles,l2_read_misses (default: the columns that fit)
        """,
        {"metric": {"dest": "metrics"}},
    ),
    "size": (  # of figures for a paper
        f"""
        --width LENGTH  for a paper: the width of a figure, such as 3.3in, 84mm or 240pt. The figure
            then has no title
        --font-size POINTS  with --width: the size of the letters (default:
            {figure_size.FONT_SIZE:g})
        """,
        {"width": {}, "font_size": {"type": float}},
    ),
    "jobs": (
        """
        --jobs N  runs at a time (default: the number of cores, %(default)s)
        """,
        {"jobs": {"type": positive("--jobs"), "default": cores()}},
    ),
    "ship": (
        """
        --ship  send inputs to the workers and get results from them over the network, even if there
            is a shared file system
        --tls-ca FILE  certificate of the authority, for the connection to the workers (PEM)
        --tls-cert FILE  certificate of this side, for the connection to the workers (PEM)
        --tls-key FILE  key of this side's certificate, for the connection to the workers (PEM)
        """,
        {},
    ),
    "by": (
        f"""
        --by DIMENSION,...  divide the counts of one or several runs by these dimensions, such as
            ring,function, call or component (all: {", ".join(DIMENSIONS)})
        """,
        {},
    ),
    "division": (  # what is divided, beside --by
        f"""
        --top N  with --by: number of rows (default: {breakdown_table.ROWS})
        --where* DIMENSION=VALUE,...  with --by: only what has one of these values, such as ring=0
            or function=sys_* (* matches any text); may be repeated
        --map FILE  with --by: a TOML file with other names, so that two systems have the same name
            for one thing: [call], then "INT 21h AH=3Dh open" = "open" (docs/concepts/dimensions.md)
        """,
        {"top": {"type": positive("--top")}, "map": {"type": Path, "dest": "names"}},
    ),
    "per": (
        """
        --per  with --by: whether the values are for one operation (the default), for 1000
            instructions of the phase, or sums over all brackets
        """,
        {"per": {"choices": breakdown.PER, "default": breakdown.OPERATION}},
    ),
    "all-tables": (
        f"""
        {headline.OPTION}  print all tables; by default only the tables of a sweep's points, or the
            tables that fit on a screen of {headline.LINES} lines
        """,
        {},
    ),
    "json": (
        """
        --json  print JSON for programs (docs/reference/formats.md)
        """,
        {"json": {"action": "store_const", "const": "json", "default": "table", "dest": "form"}},
    ),
    "no-build": (
        """
        --no-build  use the build products as they are; --program FILE.c still builds its C library
            if it is missing
        """,
        {},
    ),
    "machine": (
        """
        --machine  default: %(default)s
        --set* KEY=VALUE  change a machine key
        """,
        {"machine": {"default": experiment.PROGRAM_MACHINE}, "set": {"dest": "settings"}},
    ),
    "seed": (
        """
        --seed N  seed of the page placement and of the phase of the clock tick
        """,
        {"seed": {"type": seeds.parse, "default": (0,)}},
    ),
    "model": (
        """
        --model  off: each instruction takes one clock, and the machine has no caches, no TLBs and
            no stalls
        """,
        {"model": {"choices": ("on", "off"), "default": "on"}},
    ),
}


def add(parser: argparse.ArgumentParser, names: str, forms: Sequence[str] = counts.FORMATS) -> None:
    """Adds arguments of SHARED, by their names; `workers`: all options for runs on Dask workers
    (docs/reference/clusters.md); `format`: --format and --json, which set the argument `form` to
    one of `forms`."""
    for name in names.split():
        if name == "workers":
            _add_workers(parser)
        elif name == "format":
            one_of = parser.add_mutually_exclusive_group()
            form = f"--format  how to print the results: {', '.join(forms[:-1])} or {forms[-1]}"
            chosen = {"choices": forms, "default": "table", "dest": "form"}
            arguments.add(one_of, form, format=chosen)
            text, given = SHARED["json"]
            arguments.add(one_of, text, **given)
        else:
            text, given = SHARED[name]
            arguments.add(parser, text, **given)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Adds the options that change an experiment. The commands `run`, `plan` and `report` have
    these options."""
    arguments.add(
        parser,
        f"""
        --program FILE  run this program instead of an experiment: a static x86 program, or a source
            file in C, C++ or assembly language, which p5lab compiles. FILE@REVISION is a source
            file of git. guest:PATH runs a program of the guest itself. Such a guest must be a
            distribution. Several programs are compared
        --cflags* "A B"  options of the compiler, if FILE is a source file. They follow p5lab's own
            options (-O2 -g). If repeated, or with --sweep cflags=-O1,-O2, the programs are compared
        --args "A B"  arguments of the program, with the quotes of a shell
        {program_files.FILE}* HOST:GUEST  copy a file of this host to a path of the guest before the
            program guest:PATH begins; may be repeated. The guest must be debian32
        {program_files.STDIN} FILE  standard input of a source file's program, or of guest:PATH of
            guest debian32; - or a pipe into this command: what it contains
        --limit SECONDS  end a run after this virtual time, the time that passes on the simulated
            machine (default: limit_seconds of the experiment, or {LIMIT_SECONDS})
        """,
        program={"nargs": "+", "action": "extend", "default": []},
        file={"dest": "files"},
        limit={"type": positive("--limit")},
    )
    _add_selection(parser)
    arguments.add(
        parser,
        """
        --engine NAME  the engine that makes the runs (default: %(default)s). gem5: your own gem5,
            P5LAB_GEM5. native: run the programs on this host
        --by DIMENSION,...  also count by these dimensions, such as call,function: chooses the next
            options that do so (docs/concepts/dimensions.md)
        """,
        engine={"default": engine.DEFAULT},
    )
    observation.add_options(parser)
    arguments.add(
        parser,
        """
        --feedback  off: events of caches, TLBs and bus are still counted, but they take no time
        """,
        feedback={"choices": ("on", "off")},
    )
    add(parser, "model")


def with_values(words: Sequence[str]) -> list[str]:
    """Joins each option of TAKES_OPTIONS with its value to one word, `--cflags=-O3`. Otherwise
    argparse would take the value -O3 for an option of p5lab."""
    joined: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in TAKES_OPTIONS and left:
            word = f"{word}={left.pop(0)}"
        joined.append(word)
        if word == "--":
            break
    return joined + left


def _add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds the options that replace machines, guests, workloads and seeds of the experiment."""
    arguments.add(
        parser,
        f"""
        --set* KEY=VALUE  change a machine key (see `p5lab keys`); may be repeated
        --sweep* KEY=V,V,...  make a run with each of these values. KEY is a machine key, or
            parameters.NAME for a parameter of a workload. With several --sweep options, all
            combinations are run
        {ideal.OPTION} PART,...  also make the runs with ideal parts, which take no time: with each
            of these parts alone, with all of them, and with all except one. `each` means
            {", ".join(ideal.PARTS)}
        --machine*  use this machine instead of the experiment's machines; may be repeated
        --guest*  use this guest instead of the experiment's guests; may be repeated
        """,
        set={"dest": "settings"},
        sweep={"dest": "sweeps"},
    )
    add_workloads_and_seeds(
        parser,
        "seeds of the page placement and of the phase of the clock tick, instead of the"
        " experiment's seeds",
    )


def add_workloads_and_seeds(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Adds --workload and --seed. `meaning`: the help text of --seed."""
    arguments.add(
        parser,
        f"""
        --workload*  only this workload; may be repeated
        --seed N,...  {meaning}
        --seeds N  N seeds, 0 to N-1: tables then show each mean with its range
        """,
        seed={"type": seeds.parse, "default": (), "dest": "seeds"},
        seeds={"type": seeds.count, "default": ()},
    )


def wanted(args: argparse.Namespace) -> sweep_table.Display:
    """Returns the choices of `columns` and `all-tables`. Raises UserError for an unknown
    metric."""
    return sweep_table.Display(column.parse(args.metrics), args.all_tables)


def size(args: argparse.Namespace, needs: str = "") -> figure_size.FigureSize | None:
    """Returns the size that the options `size` ask for, or None. Raises UserError for a wrong
    size, and for a size without the option `needs`."""
    given = args.width is not None or args.font_size is not None
    if given and needs and not getattr(args, needs):
        raise UserError(f"{args.command_name} --width, --font-size: expected with --{needs}")
    return figure_size.parse(args.width, args.font_size, args.command_name)


def _add_workers(parser: argparse.ArgumentParser) -> None:
    arguments.add(
        parser.add_mutually_exclusive_group(),
        """
        --workers N  run on N Dask workers on this host; replaces --jobs
        --scheduler ADDRESS  run on the workers of this Dask scheduler: an address such as
            tcp://host:8786, or the file that the scheduler wrote (docs/reference/clusters.md)
        """,
        workers={"type": positive("--workers"), "default": 0},
    )
    add(parser, "ship")


def workers(args: argparse.Namespace) -> Workers | None:
    """Returns the workers that the options `workers` request. Returns None if the runs execute
    on this host without Dask. Raises UserError if an option needs another option that is missing.
    """
    files = (args.tls_ca, args.tls_cert, args.tls_key)
    if not args.workers and not args.scheduler:
        if args.ship or any(files):
            raise UserError("--ship, --tls-...: expected with --workers or --scheduler")
        return None
    if any(files) and not all(files):
        raise UserError("--tls-ca, --tls-cert, --tls-key: expected all three, or none")
    if args.scheduler and ":" not in args.scheduler and not Path(args.scheduler).is_file():
        raise UserError(
            f"--scheduler {args.scheduler}: expected an address such as tcp://host:8786, or the"
            " file that the scheduler wrote; there is no such file"
        )
    return Workers(args.workers, args.scheduler, Tls(*files) if all(files) else None, args.ship)


def question(args: argparse.Namespace, by: str) -> breakdown.BreakdownQuestion:
    """Returns what --by and its options ask for. `by`: the value of --by. Says so if --map has no
    effect. Raises UserError if they do not fit."""
    given = getattr(args, "metrics", ()), getattr(args, "per", breakdown.OPERATION)
    asked = breakdown.ask([by], args.where, *given, args.names)
    if said := breakdown.unused(asked):
        print(f"p5lab: --map {said}", file=sys.stderr)
    return asked


def check_no_breakdown(args: argparse.Namespace) -> None:
    """Raises UserError if another option of a division is given without --by."""
    if args.by:
        return
    given = {
        "--top": args.top,
        "--where": args.where,
        "--per": getattr(args, "per", breakdown.OPERATION) != breakdown.OPERATION,
        "--map": args.names,
    }
    refuse(
        {f"{args.command_name} {option}": value for option, value in given.items()},
        "expected with --by DIMENSION,...",
    )


def group(parser: argparse.ArgumentParser, groups: Mapping[str, Sequence[str]]) -> None:
    """Moves options into groups of the help text, by the titles of the groups."""
    actions = parser._option_string_actions
    moved = {id(actions[name]) for names in groups.values() for name in names}
    others = parser._optionals._group_actions
    others[:] = [action for action in others if id(action) not in moved]
    for title, names in groups.items():
        parser.add_argument_group(title)._group_actions += [actions[name] for name in names]


def print_json(what: dict[str, object]) -> None:
    """Prints the answer of a command as JSON, with its schema_version."""
    print(json.dumps({"schema_version": SCHEMA_VERSION, **what}, indent=1))


def one_seed(args: argparse.Namespace, command: str) -> int:
    """Returns the number of --seed (`seed`). Raises UserError if --seed has several numbers."""
    if len(args.seed) != 1:
        raise UserError(f"--seed: expected one number for {command}")
    return int(args.seed[0])


def executor(args: argparse.Namespace, lab: Lab) -> Execute:
    """Returns a function that calls `execute` with the options of the command line
    (jobs, workers, no-build). A command uses this function if the results of the first runs
    determine the next runs."""
    dask = workers(args)
    return lambda runs: execute(
        lab, runs, Progress(), no_build=args.no_build, jobs=args.jobs, workers=dask
    )
