# SPDX-License-Identifier: MIT
"""`run`, `plan`, `rerun` and `report`: the commands that run and present experiments."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from p5lab import engines
from p5lab.cli import failures, media, next_steps, options, request, saved_files
from p5lab.describe import experiment
from p5lab.describe.engine import capabilities
from p5lab.describe.observation import Observation
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.evidence import counter_method
from p5lab.execute import plan, runner
from p5lab.execute.build_and_run import execute
from p5lab.host.progress import Progress
from p5lab.keep import gc, selection, store
from p5lab.lab import Lab
from p5lab.prepare import prepare, rerun
from p5lab.present import (
    column,
    counts,
    diff,
    diff_tables,
    ideal_parts,
    invalid_opcodes,
    page,
    planned,
    program_output,
    region_calls,
    screen,
    sweep_table,
)


def add(commands: options.Commands) -> None:
    """Adds `run`, `plan`, `report` and `rerun` to the command line."""
    run = commands.add_parser(
        "run",
        help="run an experiment and print its counts",
        description="Builds the files that are out of date, makes the runs that are not stored yet,"
        " and prints the counts.",
    )
    run.add_argument("experiment", nargs="?", help="a name that `p5lab list experiments` shows")
    options.add_choice(run)
    media.add_choice(run)
    media.add_keep(run)
    media.add_save_state(run)
    run.add_argument(
        "--quiet",
        action="store_true",
        help="do not show what the program of --program printed, or the screen of a boot from"
        " media",
    )
    options.add_jobs(run)
    options.add_workers(run)
    options.add_only(run)
    options.add_columns(run)
    ending = run.add_mutually_exclusive_group()
    ending.add_argument(
        "--fail-fast", action="store_true", help="start no further run after a run has failed"
    )
    ending.add_argument(
        "--keep-going",
        action="store_false",
        dest="fail_fast",
        help="make all runs even if some fail (the default)",
    )
    run.add_argument(
        "--force", action="store_true", help="repeat stored runs, and fail if the events differ"
    )
    run.add_argument(
        "--no-fork",
        action="store_true",
        help="boot the guest for each run; runs do not share a boot",
    )
    options.add_no_build(run)
    options.add_format(run)
    options.add_all_tables(run)
    run.set_defaults(command=_run, name="run")

    ahead = commands.add_parser(
        "plan",
        help="show the runs of an experiment and how long they take",
        description="Shows what `p5lab run` would do with the same options: every run, whether it"
        " is already stored, and an estimate of the host time of the other runs. Makes no runs and"
        " builds nothing.",
    )
    ahead.add_argument("experiment", nargs="?", help="a name that `p5lab list experiments` shows")
    options.add_choice(ahead)
    media.add_choice(ahead)
    options.add_only(ahead)
    options.add_jobs(ahead)
    options.add_format(ahead)
    ahead.set_defaults(command=_plan, name="plan")

    _add_report(commands)
    _add_rerun(commands)


def _add_report(commands: options.Commands) -> None:
    shown = commands.add_parser(
        "report",
        help="write an HTML page about an experiment or about stored runs",
        description="Writes one HTML file about stored results: figures, values, the machine and"
        " the runs. The page of an experiment also has published values and claims. The options"
        " select runs of an experiment as in `p5lab run`. `program` and ids of runs select stored"
        " runs, and then the only other options are --only, --metric, --output, --export and"
        " --json. The file needs no other file and no network. The command makes no runs.",
    )
    shown.add_argument(
        "experiments",
        nargs="*",
        metavar="EXPERIMENT|RUN",
        help="a name that `p5lab list experiments` shows; or `program`, and ids of runs (the first"
        " 4 or more characters)",
    )
    shown.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write (default: results/EXPERIMENT.html, or results/runs-ID.html)",
    )
    shown.add_argument(
        "--export",
        type=Path,
        metavar="DIR",
        help="also write each figure as PNG, SVG and CSV into this directory",
    )
    options.add_choice(shown)
    options.add_only(shown)
    options.add_columns(shown)
    options.add_json(shown)
    shown.set_defaults(command=_report, name="report")


def _add_rerun(commands: options.Commands) -> None:
    again = commands.add_parser(
        "rerun",
        help="repeat a run from its record",
        description="Repeats a run from the record in its directory. Fails if the events differ."
        " If the engine, the guest or the program has changed since then, the result is a new run,"
        " and the command shows the difference.",
    )
    again.add_argument("run", help="the first 4 or more characters of a run's id")
    options.add_no_build(again)
    options.add_format(again)
    again.set_defaults(command=_rerun)


def _run(args: argparse.Namespace, lab: Lab) -> int:
    workers = options.workers(args)
    wanted = options.wanted(args)
    wanted.check(args.form)
    alone = capabilities(args.engine).alone
    if workers and alone:
        raise UserError(
            f"--engine {args.engine}: expected without --workers and --scheduler: this engine"
            " measures this host, one run at a time"
        )
    expansion = prepare(lab, request.of(args, lab))
    if workers and any(run.boot for run in expansion.runs):
        raise UserError(
            "--workers, --scheduler: not possible for a guest that boots from its own media"
        )
    for remark in engines.get(args.engine).examine(lab, expansion.runs):
        Progress().say(remark)
    results = execute(
        lab,
        expansion.runs,
        Progress(),
        no_build=args.no_build,
        jobs=1 if alone else args.jobs,
        force=args.force,
        fork=not args.no_fork,
        fail_fast=args.fail_fast,
        workers=workers,
    )
    stored = [
        selection.as_asked(store.Stored(result.directory, record), result.run)
        for result in results
        if result.status != "queued" and (record := store.read(result.directory)) is not None
    ]
    if not args.quiet:
        _show_output(lab, stored)
    for saved in (saved_files.keep(args, results), saved_files.keep_state(args, lab, results)):
        if saved:
            Progress().say(saved)
    if args.form in counter_method.FORMS and counter_method.applies(stored):
        counter_method.show(counts.stdout(), stored, args.form)
    elif args.ideal:
        ideal_parts.show(counts.stdout(), stored, args.form)
    else:
        keys = expansion.swept
        sweep_table.show(counts.stdout(), stored, expansion.cannot, keys, wanted, args.form)
    if args.form == "table":
        next_steps.show(Progress(), lab, args, stored)
    for one in stored:
        for about in (region_calls, invalid_opcodes):
            if remark := about.remark(one.record):
                Progress().say(remark)
    for wish in Observation.parse(args):
        for result in results:
            for remark in wish.remarks(result.id, lab.short(result.directory)):
                Progress().say(remark)
    return STATUS_FAILED if failures.report(lab, results) else 0


def _show_output(lab: Lab, stored: Sequence[store.Stored]) -> None:
    """Prints the output of the user's programs on stderr, because stdout contains only results."""
    places = [(one, lab.short(one.directory)) for one in stored]
    if said := program_output.several(places):
        Progress().say(said.removesuffix("\n"))
    if shown := screen.several(stored):
        Progress().say(shown.removesuffix("\n"))


def _plan(args: argparse.Namespace, lab: Lab) -> int:
    runs = prepare(lab, request.of(args, lab)).runs
    try:
        ahead = plan.make(lab, runs, runner.Runner(lab).known, args.jobs)
    except UserError as error:
        Progress().say(f"The plan cannot show which runs are stored: {error}")
        ahead = plan.make(lab, runs, None, args.jobs)
    planned.show(counts.stdout(), ahead, args.form)
    return 0


def _rerun(args: argparse.Namespace, lab: Lab) -> int:
    before = store.find(lab, args.run)
    run = rerun.run_of(lab, before)
    results = execute(
        lab, [run], Progress(), no_build=args.no_build, jobs=1, force=True, fork=False
    )
    if failures.report(lab, results):
        return STATUS_FAILED
    (result,) = results
    if result.id == before.id:
        Progress().say(f"Run {before.id}: the events are the same again.")
        return 0
    Progress().say(f"Run {before.id} is now run {result.id}: the inputs of the run have changed.")
    after = store.find(lab, result.id)
    if before.status == "ok":
        diff_tables.show(counts.stdout(), diff.between([before, after]), args.form)
    return 0


def _report(args: argparse.Namespace, lab: Lab) -> int:
    columns = column.parse(args.metrics)
    again = next_steps.again(args, "run")
    if _is_of_experiment(args, lab):
        args.experiment = args.experiments[0] if args.experiments else None
        name = args.experiment or experiment.PROGRAM
        expansion = prepare(lab, request.of(args, lab))
        output = args.output or lab.results / f"{name}.html"
        written = page.write(lab, name, expansion, output, again, args.export, columns)
    else:
        _check_no_choice(args)
        groups = selection.groups(lab, args.experiments, args.only)
        name = selection.name_of(lab, args.experiments, groups)
        output = args.output or lab.results / f"{name}.html"
        written = page.write_stored(lab, name, groups, output, args.export, columns)
    for run in written.missing:
        Progress().say(f"Not stored: {run.label}")
    if written.missing:
        Progress().say(f"`./p5lab {again}` makes these runs.")
    if args.form == "json":
        options.print_json(
            {
                "page": lab.short(output.resolve()),
                "bytes": output.stat().st_size,
                "exported": [lab.short(path.resolve()) for path in written.exported],
                "missing": [run.label for run in written.missing],
            }
        )
        return 0
    print(f"Page: {lab.short(output.resolve())}, {gc.human(output.stat().st_size)}")
    if args.export is not None:
        print(f"Figures: {len(written.exported)} files in {args.export}")
    return 0


def _is_of_experiment(args: argparse.Namespace, lab: Lab) -> bool:
    """Whether `report` is about an experiment or about --program, and not about stored runs."""
    if not args.experiments or args.program:
        return True
    return len(args.experiments) == 1 and args.experiments[0] in experiment.names(lab)


def _check_no_choice(args: argparse.Namespace) -> None:
    """Raises UserError if an option that changes an experiment is given for stored runs."""
    parser = argparse.ArgumentParser(add_help=False)
    options.add_choice(parser)
    for name, default in vars(parser.parse_args([])).items():
        if getattr(args, name) != default:
            option = next(one.option_strings[0] for one in parser._actions if one.dest == name)
            raise UserError(
                f"report {' '.join(args.experiments)}: {option}: expected only with one experiment;"
                " ids of runs and `program` select stored runs"
            )
