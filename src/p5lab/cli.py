# SPDX-License-Identifier: MIT
"""The command line. Exit status: 0 done, 1 something that ran has failed, 2 bad input, 130 stopped
by the user."""

import argparse
import contextlib
import fnmatch
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from rich.markup import escape
from rich.table import Table

from p5lab import (
    __version__,
    build,
    crosscheck,
    crossings,
    diff,
    doctor,
    engines,
    experiment,
    fetch,
    gc,
    guest,
    image,
    machine,
    method,
    plan,
    report,
    rerun,
    runner,
    schema,
    shell,
    simpoint,
    store,
    sweep,
    testing,
    validate,
    workload,
)
from p5lab.engines import gem5
from p5lab.engines.bochs import TRACES, VECTORS
from p5lab.errors import STATUS_FAILED, UserError, unknown
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats import StatsError

LISTS = ("experiments", "machines", "guests", "workloads", "runs")


def main(argv: Sequence[str] | None = None, lab: Lab | None = None) -> int:
    """Runs one command; every error a user can cause ends as one line on stderr."""
    signal.signal(signal.SIGTERM, _terminated)
    words = list(sys.argv[1:] if argv is None else argv)
    lab = lab or Lab.here()
    try:
        if words[:1] == ["bench"]:  # a program of its own, with options of its own
            return subprocess.run(
                [sys.executable, lab.root / "bench/run.py", *words[1:]]
            ).returncode
        args = _parser().parse_args(words)
        return args.command(args, lab)
    except SystemExit as done:  # argparse has printed a help text
        return int(done.code or 0)
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return error.status
    except StatsError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return STATUS_FAILED
    except KeyboardInterrupt:
        print("p5lab: stopped; runs that were not finished are recorded as failed", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; nothing is left to say
        return STATUS_FAILED


def _terminated(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


class _Parser(argparse.ArgumentParser):
    """argparse with the house's errors: one line, the nearest valid name."""

    def error(self, message: str) -> NoReturn:
        found = re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if found:
            option, choice, known = found.groups()
            what = {"COMMAND": "command", "|".join(LISTS): "list"}.get(option, f"{option} value")
            raise unknown(what, choice, re.findall(r"[\w-]+", known))
        raise UserError(f"{message} (see `{self.prog} --help`)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="p5lab", description="A simulated Pentium PC laboratory.",
                     allow_abbrev=False)  # fmt: skip
    parser.add_argument("--version", action="version", version=f"p5lab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    run = commands.add_parser("run", help="run an experiment and print its counts",
                              description="Builds what is not up to date, runs what has not been"
                              " run yet and prints the counts. Example: p5lab run smoke --set"
                              " l2.size=512K", allow_abbrev=False)  # fmt: skip
    run.add_argument("experiment", nargs="?", help="a name that `p5lab list experiments` shows")
    _add_choice(run)
    _add_jobs(run)
    _add_only(run)
    ending = run.add_mutually_exclusive_group()
    ending.add_argument("--fail-fast", action="store_true",
                        help="begin no further run when one has failed")  # fmt: skip
    ending.add_argument("--keep-going", action="store_true",
                        help="run all there is, whatever fails (the default)")  # fmt: skip
    run.add_argument("--force", action="store_true",
                     help="run again what is there; fails when the events differ")  # fmt: skip
    run.add_argument("--no-fork", action="store_true",
                     help="boot anew for each run, not once for all that can share")  # fmt: skip
    run.add_argument("--no-build", action="store_true", help="take the build products as they are")
    _add_format(run)
    run.set_defaults(command=_run, name="run")

    ahead = commands.add_parser("plan", help="the runs of an experiment, and how long they take",
                                description="Shows what `p5lab run` would do with the same options:"
                                " every run, whether it is there already, and an estimate of the"
                                " host time of what is left. Runs and builds nothing. Example:"
                                " p5lab plan chen95-core --sweep l2.size=128K,256K,512K",
                                allow_abbrev=False)  # fmt: skip
    ahead.add_argument("experiment", nargs="?", help="a name that `p5lab list experiments` shows")
    _add_choice(ahead)
    _add_only(ahead)
    _add_jobs(ahead)
    _add_format(ahead)
    ahead.set_defaults(command=_plan, name="plan")

    proof = commands.add_parser("validate", help="published numbers beside modelled ones",
                                description="Runs what the claims of configs/claims.toml need, on"
                                " the machine each was measured on, and prints the published and"
                                " the modelled number. A claim that does not hold is a result, not"
                                " a failure.", allow_abbrev=False)  # fmt: skip
    proof.add_argument("--source", metavar="PAPER", help="the claims of one paper")
    proof.add_argument("--all", action="store_true",
                       help="also plain inputs, and what cannot be tested")  # fmt: skip
    proof.add_argument("--strict", action="store_true",
                       help="exit status 1 when a claim does not hold")  # fmt: skip
    _add_jobs(proof)
    proof.add_argument("--no-build", action="store_true",
                       help="take the build products as they are")  # fmt: skip
    _add_format(proof)
    proof.set_defaults(command=_validate)

    both = commands.add_parser("cross-check", help="the same programs on both engines, compared",
                               description="Runs the same guest, programs and machine on the"
                               " embedded engine and on your gem5 (P5LAB_GEM5), and compares each"
                               " event of a bracket: architectural counts must agree within 1 %%,"
                               " misses of L1 within 5 %%. Exit status 1: some do not, and no"
                               " experiment explains it.", allow_abbrev=False)  # fmt: skip
    both.add_argument("experiment", nargs="?", default=crosscheck.EXPERIMENT,
                      help="whose programs (default: %(default)s)")  # fmt: skip
    both.add_argument("--guest", default=crosscheck.GUEST, help="default: %(default)s")
    both.add_argument("--machine", default=crosscheck.MACHINE, help="default: %(default)s")
    both.add_argument("--workload", action="append", default=[], help="only these")
    both.add_argument("--seed", "--seeds", type=experiment.parse_seeds, default=(), dest="seeds",
                      metavar="N,...", help="page placement")  # fmt: skip
    both.add_argument("--explain", nargs="*", metavar="NAME",
                      help="also run the experiments that can remove what differs; of these only"
                      f" NAME: {', '.join(one.name for one in crosscheck.EXPLANATIONS)}"
                      )  # fmt: skip
    _add_jobs(both)
    both.add_argument("--no-build", action="store_true",
                      help="take the build products as they are")  # fmt: skip
    _add_format(both)
    both.set_defaults(command=_cross_check)

    points = commands.add_parser("simpoint", help="a long run estimated from a few intervals of it",
                                 description="Writes basic-block vectors of each workload, clusters"
                                 " them as SimPoint 3.2 does, simulates one interval of each"
                                 " cluster in detail, and prints the weighted estimate. Example:"
                                 " p5lab simpoint phases --parameter rounds=20 --full",
                                 allow_abbrev=False)  # fmt: skip
    points.add_argument("workload", nargs="*", help="a name that `p5lab list workloads` shows")
    points.add_argument("--vectors", type=Path, metavar="FILE",
                        help="instead of workloads: only cluster the vectors of this file, such as"
                        " gem5's simpoint.bb.gz, and write .simpoints and .weights beside it"
                        )  # fmt: skip
    points.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE",
                        help="of the workloads; may be repeated")  # fmt: skip
    points.add_argument("--interval", type=_positive("--interval"), default=simpoint.INTERVAL,
                        metavar="N", help="instructions of an interval (default: %(default)s)"
                        )  # fmt: skip
    points.add_argument("--max-k", type=_positive("--max-k"), default=simpoint.MAX_K, metavar="K",
                        help="clusters at most (default: %(default)s)")  # fmt: skip
    points.add_argument("--warm-up", type=_positive("--warm-up"), default=simpoint.WARM_UP,
                        metavar="N", help="instructions before each interval that keep caches,"
                        " TLBs and branch target buffer warm (default: %(default)s)")  # fmt: skip
    points.add_argument("--full", action="store_true",
                        help="the full run as well, and with it the error")  # fmt: skip
    points.add_argument("--simpoint", type=Path, metavar="PROGRAM",
                        help="cluster with this SimPoint 3.2 (default: P5LAB_SIMPOINT, else"
                        " ours)")  # fmt: skip
    points.add_argument("--guest", default=experiment.PROGRAM_GUEST, help="default: %(default)s")
    points.add_argument("--machine", default=experiment.PROGRAM_MACHINE,
                        help="default: %(default)s")  # fmt: skip
    points.add_argument("--set", action="append", default=[], dest="settings",
                        metavar="KEY=VALUE", help="change a machine key")  # fmt: skip
    points.add_argument("--seed", type=experiment.parse_seeds, default=(0,), metavar="N",
                        help="page placement")  # fmt: skip
    _add_jobs(points)
    points.add_argument("--no-build", action="store_true",
                        help="take the build products as they are")  # fmt: skip
    points.add_argument("--format", choices=("table", "markdown", "json"), default="table",
                        dest="form", help="how to print the estimates")  # fmt: skip
    points.set_defaults(command=_simpoint)

    console = commands.add_parser("shell", help="the console of a simulated machine, here",
                                  description="Boots a guest and hands its serial console to this"
                                  " terminal; Ctrl-A x leaves. Lines of a file or pipe are typed"
                                  " one by one, and the end of the input ends the session.",
                                  allow_abbrev=False)  # fmt: skip
    console.add_argument("guest", help="a name that `p5lab list guests` shows")
    console.add_argument("--machine", default=experiment.PROGRAM_MACHINE,
                         help="default: %(default)s")  # fmt: skip
    console.add_argument("--set", action="append", default=[], dest="settings",
                         metavar="KEY=VALUE", help="change a machine key")  # fmt: skip
    console.add_argument("--seed", type=experiment.parse_seeds, default=(0,), metavar="N",
                         help="page placement")  # fmt: skip
    console.add_argument("--model", choices=("on", "off"), default="on",
                         help="off: one clock an instruction, no caches, TLBs or stalls"
                         )  # fmt: skip
    console.add_argument("--no-build", action="store_true",
                         help="take the build products as they are")  # fmt: skip
    console.set_defaults(command=_shell)

    disk = commands.add_parser("image", help="the root file system of a guest that is a"
                               " distribution", description="Has mmdebstrap make the root file"
                               " system of a distribution from a mirror, or takes a tarball of it,"
                               " and makes the disk of the guest that boots it. No root is needed.",
                               allow_abbrev=False)  # fmt: skip
    disk.add_argument("distribution", help="debian or ubuntu")
    disk.add_argument("--suite", default="", help="default: the one in the guest's file")
    disk.add_argument("--mirror", default="", metavar="URL",
                      help="default: the one of this host's apt configuration")  # fmt: skip
    disk.add_argument("--keyring", type=Path, metavar="FILE",
                      help="by which the mirror is signed; default: as apt on this host has it"
                      )  # fmt: skip
    disk.add_argument("--tarball", type=Path, metavar="FILE",
                      help="instead of a mirror: a root file system, such as ubuntu-base"
                      )  # fmt: skip
    disk.add_argument("--sha256", default="", metavar="DIGEST", help="of the tarball")
    disk.add_argument("--size", type=image.parse_size, default=image.DEFAULT_SIZE,
                      help="of the disk (default: 128M)")  # fmt: skip
    disk.set_defaults(command=_image)

    show = commands.add_parser("list", help="what there is: " + ", ".join(LISTS),
                               allow_abbrev=False)  # fmt: skip
    show.add_argument("what", nargs="?", choices=LISTS, metavar="|".join(LISTS))
    show.set_defaults(command=_list)

    one = commands.add_parser("show", help="one run: inputs, status, counts", allow_abbrev=False)
    one.add_argument("run", help="the first characters of a run's id")
    one.add_argument("--crossings", action="store_true",
                     help="of a run with --trace crossings: who ran, and how each passed control"
                     " on, in a typical bracket of each phase")  # fmt: skip
    _add_format(one)
    one.set_defaults(command=_show)

    apart = commands.add_parser("diff", help="what differs between runs",
                                description="Prints what the runs were made of and what they"
                                " counted, as far as it is not the same: means of one bracket, the"
                                " ratio to the first run, and for each 1000 instructions. Example:"
                                " p5lab diff 3f2a 91bc", allow_abbrev=False)  # fmt: skip
    apart.add_argument("runs", nargs="+", metavar="RUN",
                       help="the first 4 or more characters of an id")  # fmt: skip
    apart.add_argument("--rings", action="store_true", help="each privilege ring for itself")
    _add_format(apart)
    apart.set_defaults(command=_diff)

    again = commands.add_parser("rerun", help="a run again, from its record",
                                description="Runs again what a run directory records: fails when"
                                " the events differ. Where engine, guest or program are others by"
                                " now it is another run, and the difference is shown.",
                                allow_abbrev=False)  # fmt: skip
    again.add_argument("run", help="the first 4 or more characters of an id")
    again.add_argument("--no-build", action="store_true",
                       help="take the build products as they are")  # fmt: skip
    _add_format(again)
    again.set_defaults(command=_rerun)

    clean = commands.add_parser("gc", help="remove results and cached files that nobody needs",
                                description="Shows what can go and how much it takes: runs that"
                                " failed, were never run, or were superseded by a later run of the"
                                " same; cached downloads and build products that were not used for"
                                " a while. Only --yes removes it. What is running is left alone.",
                                allow_abbrev=False)  # fmt: skip
    clean.add_argument("--yes", action="store_true", help="remove it")
    clean.add_argument("--list", action="store_true", dest="each", help="name every one of them")
    clean.add_argument("--results", action="store_true", help="results only")
    clean.add_argument("--cache", action="store_true", help="the cache only")
    clean.add_argument("--older-than", type=gc.parse_days, default=gc.DAYS, metavar="DAYS",
                       help="cached files not used for so long (default: %(default)s)")  # fmt: skip
    clean.add_argument("--max-size", type=gc.parse_size, metavar="SIZE",
                       help="and the longest unused, down to such as 500M in all")  # fmt: skip
    clean.set_defaults(command=_gc)

    keys = commands.add_parser("keys", help="all machine keys with unit and meaning",
                               allow_abbrev=False)  # fmt: skip
    keys.add_argument("--markdown", action="store_true", help="as docs/machine-keys.md has them")
    keys.set_defaults(command=_keys)

    make = commands.add_parser("build", help="build engine, guests and workloads",
                               allow_abbrev=False)  # fmt: skip
    make.add_argument("targets", nargs="*", help="scons targets (default: everything)")
    make.set_defaults(command=_build)

    look = commands.add_parser("doctor", help="what is missing here", allow_abbrev=False)
    look.set_defaults(command=lambda args, lab: doctor.main([], lab))

    commands.add_parser("bench", help="speed of the engine on this host")

    usage = commands.add_parser("help", help="this, or more about one command", allow_abbrev=False)
    usage.add_argument("topic", nargs="?", choices=COMMANDS, metavar="COMMAND")
    usage.set_defaults(command=_help)

    test = commands.add_parser("test", help="build everything and run all tests",
                               allow_abbrev=False)  # fmt: skip
    test.add_argument("--full", action="store_true", help="the counts named in the documentation")
    test.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    test.set_defaults(command=_test)
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """What the command line changes in an experiment: the options that `_expansion` reads."""
    parser.add_argument("--program", type=Path, metavar="FILE",
                     help="instead of an experiment: a static x86 program, or guest:PATH, a program"
                     " of a guest that is a distribution")  # fmt: skip
    parser.add_argument("--args", default="", metavar='"A B"', help="its arguments")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
                     help="change a machine key (see `p5lab keys`); may be repeated")  # fmt: skip
    parser.add_argument("--sweep", action="append", default=[], metavar="KEY=V,V,...",
                        dest="sweeps", help="run with each of these values of a machine key, or of"
                        " a workload's parameter (parameters.NAME); several multiply")  # fmt: skip
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
    parser.add_argument("--engine", default="bochs", metavar="NAME",
                        help="gem5: your own, P5LAB_GEM5; native: the programs on this host itself"
                        )  # fmt: skip
    parser.add_argument("--trace", action="append", default=[], choices=experiment.TRACES,
                     help="also record each change of ring or address space, or what L1 and L2 were"
                     " asked and answered")  # fmt: skip
    parser.add_argument("--accesses", type=_positive("--accesses"), default=experiment.ACCESSES,
                     metavar="N", help="of --trace accesses, at most (default: %(default)s)"
                     )  # fmt: skip
    parser.add_argument("--bbv", type=_positive("--bbv"), default=0, metavar="N",
                     help="also write SimPoint's basic-block vectors, one for every N instructions"
                     " inside the brackets")  # fmt: skip
    parser.add_argument("--feedback", choices=("on", "off"),
                     help="off: caches, TLBs and bus count, and cost no clocks")  # fmt: skip
    parser.add_argument("--model", choices=("on", "off"), default="on",
                     help="off: one clock an instruction, no caches, TLBs or stalls")  # fmt: skip


def _add_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="of these only the runs whose name has TEXT in it (* and ? stand for"
                        " any text and any letter)")  # fmt: skip


def _add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=_positive("--jobs"),
        default=runner.cores(),
        metavar="N",
        help="runs at a time (default: the number of cores, %(default)s)",
    )


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=report.FORMATS, default="table", dest="form",
                        help="how to print the counts: table, markdown, csv or json")  # fmt: skip


COMMANDS = (
    "run",
    "plan",
    "validate",
    "cross-check",
    "simpoint",
    "shell",
    "image",
    "list",
    "show",
    "diff",
    "rerun",
    "keys",
    "gc",
    "doctor",
    "build",
    "test",
    "bench",
    "help",
)


def _positive(option: str) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise UserError(f"{option}: expected a whole number, at least 1; found {text!r}")
        return int(text)

    return parse


def _expansion(args: argparse.Namespace, lab: Lab) -> experiment.Expansion:
    """The runs that a command line asks for (_add_choice, _add_only)."""
    choice = experiment.Filter(
        machines=tuple(args.machine),
        guests=tuple(args.guest),
        workloads=tuple(args.workload),
        settings=tuple(machine.parse_settings(args.settings).items()),
        feedback=None if args.feedback is None else args.feedback == "on",
        model=args.model == "on",
        seeds=args.seeds,
        engine=args.engine,
        trace=tuple(dict.fromkeys(args.trace)),
        accesses=args.accesses,
        vectors=args.bbv,
        sweeps=sweep.parse(args.sweeps),
    )
    engines.get(args.engine)
    if (args.experiment is None) == (args.program is None):
        raise UserError(
            f"{args.name}: expected an experiment or --program FILE"
            f" (see `p5lab {args.name} --help`)"
        )
    if args.args and not args.program:
        raise UserError("--args: expected with --program; a workload's parameters are in its file")
    expansion = (
        experiment.of_program(lab, args.program, args.args, choice)
        if args.program
        else experiment.expand(lab, args.experiment, choice)
    )
    if not args.only:
        return expansion
    pattern = f"*{args.only.lower()}*"
    chosen = [run for run in expansion.runs if fnmatch.fnmatchcase(run.label.lower(), pattern)]
    if not chosen:
        raise UserError(
            f"--only {args.only}: no run has that in its name; `./p5lab plan` with the same options"
            " shows the names"
        )
    return experiment.Expansion(chosen, expansion.cannot)


def _plan(args: argparse.Namespace, lab: Lab) -> int:
    runs = _expansion(args, lab).runs
    try:
        ahead = plan.make(lab, runs, runner.Runner(lab).known, args.jobs)
    except UserError as error:
        Progress().say(f"What is there already cannot be told: {error}")
        ahead = plan.make(lab, runs, None, args.jobs)
    plan.show(report.stdout(), ahead, args.form)
    return 0


def _run(args: argparse.Namespace, lab: Lab) -> int:
    expansion = _expansion(args, lab)
    if args.engine == gem5.NAME:
        for remark in gem5.examine(lab, expansion.runs):
            Progress().say(remark)
    results = _execute(
        lab, expansion.runs, Progress(), no_build=args.no_build, engine=args.engine,
        jobs=1 if args.engine == experiment.NATIVE else args.jobs,  # they would disturb others
        force=args.force, fork=not args.no_fork, fail_fast=args.fail_fast,
    )  # fmt: skip
    stored = [
        store.Stored(result.directory, record)
        for result in results
        if result.status != "queued" and (record := store.read(result.directory)) is not None
    ]
    if args.form in method.FORMS and method.applies(stored):
        method.show(report.stdout(), stored, args.form)
    else:
        report.experiment(report.stdout(), stored, expansion.cannot, args.form)
    for result in results if args.trace else ():
        for kind in args.trace:
            Progress().say(f"Traced: {lab.short(result.directory / TRACES[kind])}")
    for result in results if args.bbv else ():
        Progress().say(f"Vectors: {lab.short(result.directory / VECTORS)}")
    return STATUS_FAILED if _tell_failures(lab, results) else 0


def _execute(lab: Lab, runs: list[experiment.Run], progress: Progress, *, no_build: bool, jobs: int,
             engine: str = "bochs", force: bool = False, fork: bool = True,
             fail_fast: bool = False) -> list[runner.Result]:  # fmt: skip
    """Builds what the runs need and runs what is not there yet."""
    for system in {run.guest.name: run.guest for run in runs}.values():
        image.check(lab, system)
    if not no_build:
        build.ensure(lab, progress, build.for_runs(lab, [run.guest for run in runs], engine))
    with progress.runs(len(runs)) as tracker:
        executor = runner.Runner(
            lab,
            force=force,
            jobs=jobs,
            fork=fork,
            fail_fast=fail_fast,
            estimate=plan.Estimate(store.all_runs(lab)),
            started=lambda run: tracker.started(run.label),
            finished=lambda result: tracker.finished(result.run.label, _outcome(result)),
        )
        with store.in_use(lab):
            return executor.run_all(runs)


def _tell_failures(lab: Lab, results: Sequence[runner.Result]) -> bool:
    """Names the runs that did not work; whether there are any."""
    bad = [result for result in results if result.status not in ("ok", "queued")]
    if left := sum(result.status == "queued" for result in results):
        Progress().say(f"p5lab: {left} runs were not begun, because one failed (--fail-fast)")
    for result in bad:
        Progress().say(f"p5lab: {result.run.label}: {result.status}: {result.reason}"
                       f" (logs: {lab.short(result.directory)})")  # fmt: skip
    return bool(bad)


def _validate(args: argparse.Namespace, lab: Lab) -> int:
    asked = validate.select(lab, args.source)
    found = validate.run(
        lab, asked,
        lambda runs: _execute(lab, runs, Progress(), no_build=args.no_build, jobs=args.jobs),
    )  # fmt: skip
    validate.show(report.stdout(), found.results, args.form, everything=args.all)
    if _tell_failures(lab, found.failed):
        return STATUS_FAILED
    return STATUS_FAILED if args.strict and validate.misses(found.results) else 0


def _cross_check(args: argparse.Namespace, lab: Lab) -> int:
    explanations = crosscheck.choose(args.explain) if args.explain is not None else []
    ask = crosscheck.Ask(args.guest, args.machine, tuple(args.workload), args.seeds,
                         args.experiment)  # fmt: skip
    found = crosscheck.check(
        lab, ask,
        lambda runs: _execute(lab, runs, Progress(), no_build=args.no_build, jobs=args.jobs),
        None if args.explain == [] else explanations,
    )  # fmt: skip
    crosscheck.show(report.stdout(), found, args.form)
    failed = _tell_failures(lab, found.failed)
    return STATUS_FAILED if failed or len(found.unexplained) else 0


def _simpoint(args: argparse.Namespace, lab: Lab) -> int:
    if len(args.seed) != 1:
        raise UserError("--seed: expected one number for simpoint")
    program = simpoint.binary(args.simpoint)
    if bool(args.workload) == bool(args.vectors):
        raise UserError("simpoint: expected workloads or --vectors FILE")
    if args.vectors:
        chosen, place = simpoint.cluster(args.vectors, args.max_k, program)
        simpoint.points(chosen).print(report.stdout())
        Progress().say(f"Chosen: {place}, {place.with_suffix('.weights').name}")
        return 0
    runs = simpoint.base(lab, args.workload, args.parameter, args.guest, args.machine,
                         machine.parse_settings(args.settings), args.seed[0])  # fmt: skip
    found = simpoint.run(
        runs, interval=args.interval, max_k=args.max_k, warm_up=args.warm_up, program=program,
        full=args.full,
        execute=lambda asked: _execute(
            lab, asked, Progress(), no_build=args.no_build, jobs=args.jobs
        ),
    )  # fmt: skip
    simpoint.show(report.stdout(), found.found, args.form)
    return STATUS_FAILED if _tell_failures(lab, found.failed) else 0


def _outcome(result: runner.Result) -> str:
    if result.reused:
        return f"there already, {result.id[:10]}"
    if result.status == "ok":
        return f"ok in {result.wall_seconds:.1f} s, {result.id[:10]}"
    return result.status  # the reason follows when all runs have ended


def _shell(args: argparse.Namespace, lab: Lab) -> int:
    if len(args.seed) != 1:
        raise UserError("--seed: expected one number for a shell")
    board = machine.load(lab.machines, args.machine)
    if args.settings:
        board = board.with_set(machine.parse_settings(args.settings), "--set")
    system = guest.load(lab, args.guest)
    board = experiment.with_isa("shell", system, board)
    image.check(lab, system)
    if not args.no_build:
        build.ensure(lab, Progress(), build.for_runs(lab, [system]))
    return shell.run(lab, shell.plan(board, system, args.seed[0], args.model == "on"))


def _image(args: argparse.Namespace, lab: Lab) -> int:
    request = image.Request(
        args.distribution, args.suite, args.mirror, args.keyring, args.tarball, args.sha256,
        args.size,
    )  # fmt: skip
    progress = Progress()
    with progress.activity("image") as step:
        made = image.make(lab, request, step)
    contents = made.contents
    print(f"{contents.os_release['PRETTY_NAME']}, glibc {contents.glibc}: {contents.files} files,"
          f" {gc.human(contents.bytes)}")  # fmt: skip
    print(f"Root file system: {lab.short(lab.rootfs(made.guest))}, SHA-256 {made.sha256}")
    disk = guest.load(lab, made.guest).disk
    assert disk is not None
    build.ensure(lab, progress, (lab.short(disk),))
    print(f"Disk: {lab.short(disk)}, {gc.human(disk.stat().st_size)}, SHA-256"
          f" {fetch.sha256_of(disk)}")  # fmt: skip
    return 0


def _list(args: argparse.Namespace, lab: Lab) -> int:
    console = report.stdout()
    what = (args.what,) if args.what else LISTS
    for kind in what:
        if kind == "runs":
            report.runs(console, store.all_runs(lab))
            continue
        table = Table(box=None, show_header=False, title=kind, title_justify="left",
                      padding=(0, 2, 0, 2))  # fmt: skip
        for name, title in _known(kind, lab):
            table.add_row(name, escape(title))
        console.print(table)
    return 0


def _known(kind: str, lab: Lab) -> list[tuple[str, str]]:
    if kind == "experiments":
        return [(name, experiment.title(lab, name)) for name in experiment.names(lab)]
    if kind == "machines":
        return [(name, str(machine.load(lab.machines, name).values["machine.title"]))
                for name in machine.names(lab.machines)]  # fmt: skip
    if kind == "guests":
        return [(name, guest.load(lab, name).title) for name in guest.names(lab)]
    return [
        (name, known.title)
        for name, known in workload.load(lab).items()
        if not known.title.startswith("test: ")  # the laboratory's own tests
    ]


def _show(args: argparse.Namespace, lab: Lab) -> int:
    stored = store.find(lab, args.run)
    if args.crossings:
        print(crossings.of_run(stored.directory), end="")
    else:
        report.run(report.stdout(), stored, args.form)
    return 0


def _diff(args: argparse.Namespace, lab: Lab) -> int:
    runs = {(stored := store.find(lab, run)).directory: stored for run in args.runs}
    if len(runs) < 2:
        raise UserError("diff: expected at least two different runs")
    found = diff.between(list(runs.values()), rings=args.rings)
    diff.show(report.stdout(), found, args.form)
    return 0


def _rerun(args: argparse.Namespace, lab: Lab) -> int:
    before = store.find(lab, args.run)
    run = rerun.run_of(lab, before)
    results = _execute(
        lab, [run], Progress(), no_build=args.no_build, jobs=1, force=True, fork=False
    )
    if _tell_failures(lab, results):
        return STATUS_FAILED
    (result,) = results
    if result.id == before.id:
        Progress().say(f"Run {before.id}: the same events again.")
        return 0
    Progress().say(f"Run {before.id} is now run {result.id}: it is made of something else.")
    after = store.find(lab, result.id)
    if before.status == "ok":
        diff.show(report.stdout(), diff.between([before, after]), args.form)
    return 0


def _gc(args: argparse.Namespace, lab: Lab) -> int:
    both = args.results == args.cache
    done = 0
    with contextlib.ExitStack() as stack:
        if args.yes and (both or args.results):
            stack.enter_context(gc.quiet(lab))
        going = gc.results(lab) if both or args.results else []
        cached = gc.cache(lab, args.older_than, args.max_size) if both or args.cache else []
        report.going(report.stdout(), [*going, *cached], each=args.each)
        if args.yes:
            done = sum(item.bytes for item in going if gc.remove_run(item))
            done += sum(item.bytes for item in cached if gc.remove_cached(item))
    total = f"{gc.human(gc.cache_bytes())} in {fetch.cache_directory()}"
    if args.yes:
        print(f"Removed {gc.human(done)}; the cache has {total}.")
    elif going or cached:
        size = gc.human(sum(item.bytes for item in [*going, *cached]))
        print(f"Nothing was removed; --yes removes {size}. The cache has {total}.")
    else:
        print(f"Nothing to remove. The cache has {total}.")
    return 0


def _keys(args: argparse.Namespace, lab: Lab) -> int:
    if args.markdown:
        print(schema.reference(), end="")
        return 0
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("key", "unit", "meaning"):
        table.add_column(head)
    for key in schema.KEYS:
        table.add_row(key.name, key.unit, escape(key.doc))
    report.stdout().print(table)
    return 0


def _help(args: argparse.Namespace, lab: Lab) -> int:
    return main([args.topic, "--help"] if args.topic else ["--help"], lab)


def _build(args: argparse.Namespace, lab: Lab) -> int:
    build.ensure(lab, Progress(), tuple(args.targets))
    return 0


def _test(args: argparse.Namespace, lab: Lab) -> int:
    build.ensure(lab, Progress())
    return testing.run(lab, full=args.full, arguments=args.pytest)
