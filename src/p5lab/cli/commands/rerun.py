# SPDX-License-Identifier: MIT
#: 170 rerun RUN           repeat a run from its record
"""`rerun`: repeat a run from its record.

Repeats a run from the record in its directory. Fails if the events differ. If the engine, the guest
or the program has changed since then, the result is a new run, and the command shows the
difference.

examples:
  ./p5lab rerun 3f2a91
"""

import argparse

from p5lab.cli import failures, options
from p5lab.errors import STATUS_FAILED
from p5lab.execute.build_and_run import execute
from p5lab.keep import selection, store
from p5lab.lab import Lab
from p5lab.prepare import rerun
from p5lab.present import counts, diff, diff_tables
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rerun`."""
    parser.add_argument("run", help="the first 4 or more characters of a run's id")
    options.add(parser, "no-build format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `rerun`."""
    before = selection.find(lab, args.run)
    run = rerun.run_of(lab, before.record, before.id)
    results = execute(
        lab, [run], Progress(), no_build=args.no_build, jobs=1, force=True, fork=False
    )
    if failures.report(results):
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
