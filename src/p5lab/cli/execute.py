# SPDX-License-Identifier: MIT
"""Builds and runs what a command needs, and tells how it went."""

import argparse
from collections.abc import Callable, Sequence

from p5lab import engines
from p5lab.cli import options
from p5lab.describe import experiment
from p5lab.execute import cluster, connection, plan, runner
from p5lab.host import build, delivered, image
from p5lab.host.progress import Progress
from p5lab.keep import index, store
from p5lab.lab import Lab


def executor(
    args: argparse.Namespace, lab: Lab
) -> Callable[[list[experiment.Run]], list[runner.Result]]:
    """`execute` as the command line asks (options.add_jobs, add_workers, add_no_build), for
    commands that find out on their way what to run."""
    workers = options.workers(args)
    return lambda runs: execute(
        lab, runs, Progress(), no_build=args.no_build, jobs=args.jobs, workers=workers
    )


def execute(
    lab: Lab,
    runs: list[experiment.Run],
    progress: Progress,
    *,
    no_build: bool,
    jobs: int,
    force: bool = False,
    fork: bool = True,
    fail_fast: bool = False,
    workers: cluster.Wanted | None = None,
) -> list[runner.Result]:
    """Builds what the runs need and runs what is not there yet: here, or on `workers`."""
    for system in {run.guest.name: run.guest for run in runs}.values():
        image.check(lab, system)
    if not no_build:
        build.ensure(lab, progress, engines.targets(lab, runs))
        delivered.ensure(lab, runs, progress)
    estimate = plan.Estimate(lambda: index.runs(lab))
    left = plan.Countdown(runs, estimate, workers.workers or jobs if workers else jobs)

    def started(run: experiment.Run) -> None:
        left.started(run.label)
        tracker.started(run.label)

    def finished(result: runner.Result) -> None:
        left.finished(result.run.label)
        tracker.finished(result.run.label, _outcome(result))

    with progress.runs(len(runs), left) as tracker:
        executor = runner.Runner(
            lab,
            force=force,
            jobs=jobs,
            fork=fork,
            fail_fast=fail_fast,
            place=(lambda: connection.connected(lab, workers, progress.say)) if workers else None,
            estimate=estimate,
            started=started,
            finished=finished,
        )
        with store.in_use(lab):
            return executor.run_all(runs)


def tell_failures(lab: Lab, results: Sequence[runner.Result]) -> bool:
    """Names the runs that did not work; whether there are any."""
    bad = [result for result in results if result.status not in ("ok", "queued")]
    if left := sum(result.status == "queued" for result in results):
        Progress().say(f"p5lab: {left} runs were not begun, because one failed (--fail-fast)")
    for result in bad:
        Progress().say(
            f"p5lab: {result.run.label}: {result.status}: {result.reason}"
            f" (logs: {lab.short(result.directory)})"
        )
    return bool(bad)


def _outcome(result: runner.Result) -> str:
    if result.reused:
        return f"there already, {result.id[:10]}"
    if result.status == "ok":
        return f"ok in {result.wall_seconds:.1f} s, {result.id[:10]}"
    return result.status  # the reason follows when all runs have ended
