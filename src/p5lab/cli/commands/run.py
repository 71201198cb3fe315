# SPDX-License-Identifier: MIT
#: 010 run EXPERIMENT      run an experiment and print counts; start with: run smoke
#: 020 run --program FILE  run a program of your own
"""`run`: run an experiment and print its counts.

Builds the files that are out of date, makes the runs that are not stored yet, and prints the
counts.

examples:
  ./p5lab run smoke
  ./p5lab run smoke --all-tables
  ./p5lab run chen95-core --sweep l2.size=128K,256K,512K
  ./p5lab run smoke --sweep l2.size=128K,256K --metric cycles,l2_read_misses
  ./p5lab run micro --workload dup --seed 0-4 --json
  ./p5lab run geometries --workers 2
  ./p5lab run geometries --scheduler tcp://node1:8786
  ./p5lab run --program ./a.out --args "-n 3" --guest linux
  ./p5lab run --program hello.c --cflags=-O3 --region work --attribute lines
"""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace

from p5lab.cli import arguments, failures, media, next_steps, options, request
from p5lab.describe.engine import capabilities
from p5lab.describe.experiment import PROGRAM
from p5lab.describe.observation import Observation, plugged
from p5lab.describe.run import MediaRun
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.evidence import counter_method
from p5lab.execute.build_and_run import examine, execute
from p5lab.execute.saved_files import save_image, save_state
from p5lab.keep import gc, named, selection, store
from p5lab.keep.labelling import Labelling
from p5lab.keep.result import Result
from p5lab.lab import Lab, shown
from p5lab.prepare import prepare
from p5lab.present import (
    counts,
    explanation,
    ideal_parts,
    invalid_opcodes,
    program_output,
    region_calls,
    screen,
    sweep_table,
)
from p5lab.progress import Progress

# The groups of the help text. The first group has the options that most users need.
GROUPS = {
    "most used": (
        *("--program", "--args", "--stdin", "--guest", "--machine", "--set", "--sweep", "--seeds"),
        *("--cpi", "--label"),
    ),
    "what runs": (
        *("--cflags", "--file", "--workload", "--only", "--seed", "--limit", "--engine"),
        *("--power-cut", "--force", "--fail-fast", "--keep-going", "--no-fork", "--no-build"),
    ),
    "machine": ("--ideal", "--feedback", "--model", "--clocks"),
    "count more": (
        *("--attribute", "--region", "--interval", "--trace", "--accesses"),
        *(observer.option for observer in plugged.KINDS.values()),
        "--joint",
        *("--bbv", "--pcap"),
    ),
    "media of a system of your own": (
        *("--disk", "--floppy", "--cdrom", "--put", "--programs", "--convert", "--geometry"),
        *("--until", "--script", "--state", "--save-state", "--keep"),
    ),
    "processors and clusters": (
        *("--jobs", "--workers", "--scheduler", "--ship", "--tls-ca", "--tls-cert", "--tls-key"),
    ),
    "output": ("--quiet", "--by", "--metric", "--format", "--json", "--all-tables"),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `run`."""
    parser.add_argument("experiment", nargs="?", help="a name that `p5lab list experiments` shows")
    options.add_choice(parser)
    media.add_choice(parser)
    media.add_saving(parser)
    arguments.add(
        parser,
        """
        --label TEXT  call the runs TEXT in tables, pages, figures and lists; `label` changes it
            later
        --quiet  do not show what the program of --program printed, or the screen of a boot from
            media
        """,
        label={},
    )
    options.add(parser, "jobs workers only columns")
    ending = parser.add_mutually_exclusive_group()
    arguments.add(
        ending,
        """
        --fail-fast  start no further run after a run has failed
        --keep-going  make all runs even if some fail (the default)
        """,
        keep_going={"action": "store_false", "dest": "fail_fast"},
    )
    arguments.add(
        parser,
        """
        --force  repeat stored runs, and fail if the events differ
        --no-fork  boot the guest for each run; runs do not share a boot
        """,
    )
    options.add(parser, "no-build format all-tables", counts.FORMS)
    parser.usage = "p5lab run EXPERIMENT [OPTIONS]\n       p5lab run --program FILE [OPTIONS]"
    options.group(parser, GROUPS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `run`."""
    workers = options.workers(args)
    wanted = options.wanted(args)
    wanted.check(args.form)
    if args.label is not None:
        named.check_label(lab, args.label, "--label")
    alone = capabilities(args.engine).alone
    if workers and alone:
        raise UserError(
            f"--engine {args.engine}: expected without --workers and --scheduler: this engine"
            " measures this host, one run at a time"
        )
    expansion = prepare(lab, request.of(args, lab))
    if workers and any(isinstance(run, MediaRun) for run in expansion.runs):
        raise UserError(
            "--workers, --scheduler: not possible for a guest that boots from its own media"
        )
    for remark in examine(lab, expansion.runs):
        Progress().say(remark)
    labelling = Labelling(args.label)
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
        at_end=labelling.at_end,
    )
    for remark in labelling.complete(results):
        Progress().say(remark)
    stored = [
        selection.as_asked(store.Stored(result.directory, record), result.run)
        for result in results
        if result.status != "queued" and (record := store.read(result.directory)) is not None
    ]
    if not args.quiet:
        _show_output(lab, stored)
    _save(args, lab, results)
    if args.form in counter_method.FORMS and counter_method.applies(stored):
        counter_method.show(counts.stdout(), stored, args.form)
    elif args.ideal:
        ideal_parts.show(counts.stdout(), stored, args.form)
    else:
        keys = expansion.swept
        # The failed runs are named below, each with its reason.
        wanted = replace(wanted, failures=False)
        sweep_table.show(counts.stdout(), stored, expansion.cannot, keys, wanted, args.form)
    if args.form in explanation.IN_WORDS:
        explanation.show_versions(counts.stdout(), stored)
    if args.form == "table":
        next_steps.show(Progress(), lab, args, stored)
    for kept in stored:
        for about in (region_calls, invalid_opcodes):
            if remark := about.remark(kept.record):
                Progress().say(remark)
    for remark in _remarks(args, results):
        Progress().say(remark)
    return STATUS_FAILED if failures.report(results) else 0


def _remarks(args: argparse.Namespace, results: Sequence[Result]) -> list[str]:
    """The lines about what the runs counted. Several runs have one command for all, if `show`
    accepts several runs with its option. With --by, only its dimensions have a command."""
    ids = [result.id[: next_steps.ID] for result in results]
    name = " ".join(ids)
    if len(ids) > 1:
        own = PROGRAM if len(ids) > selection.IDS else name
        name = shlex.quote(args.label) if args.label else args.experiment or own
    remarks = [f"Counts by {args.by}: `./p5lab show {name} --by {args.by}`"] if args.by else []
    for wish in Observation.parse(args):
        if wish.shows_several and not args.by:
            remarks += wish.commands(name)
        for run, result in zip(ids, results, strict=True):
            if not wish.shows_several and not args.by:
                remarks += wish.commands(run)
            remarks += wish.remarks(shown(result.directory))
    return remarks


def _show_output(lab: Lab, stored: Sequence[store.Stored]) -> None:
    """Prints the output of the user's programs on stderr, because stdout contains only results."""
    places = [(kept, shown(kept.directory)) for kept in stored]
    if said := program_output.several(places):
        Progress().say(said.removesuffix("\n"))
    if pictures := screen.several(stored):
        Progress().say(pictures.removesuffix("\n"))


def _save(args: argparse.Namespace, lab: Lab, results: Sequence[Result]) -> None:
    """Saves the files of --keep and --save-state, if the run succeeded."""
    _, image = request.keep(args)
    if not (image or args.save_state) or results[0].status != "ok":
        return
    if image:
        Progress().say(f"Saved {save_image(results[0], image)} as {image}.")
    if file := args.save_state:
        save_state(lab, results[0], file)
        size = gc.human(file.stat().st_size)
        Progress().say(f"Saved the system at its ready point as {file}, {size}.")
