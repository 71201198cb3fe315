# SPDX-License-Identifier: MIT
"""Builds what runs need, and makes the runs with their progress."""

from collections.abc import Callable, Sequence

from p5lab import engines, packages
from p5lab.describe.run import Run
from p5lab.errors import describes_stop
from p5lab.execute import cluster, connection, plan, runner
from p5lab.host import build, delivered, fetch, image
from p5lab.host.processors import cores
from p5lab.keep import index, store
from p5lab.keep.result import Result
from p5lab.lab import Lab
from p5lab.progress import Progress


def examine(lab: Lab, runs: Sequence[Run]) -> list[str]:
    """Checks runs before the build. Raises UserError for a run that its engine cannot make. Returns
    remarks for the user, one line each."""
    if not runs:
        return []
    return engines.get(runs[0].engine).examine(lab, runs)


def build_for(lab: Lab, run: Run, *more: str) -> None:
    """Builds what one run needs, and further targets."""
    build.ensure(lab, Progress(), (*engines.targets(lab, [run]), *more))


def execute(
    lab: Lab,
    runs: list[Run],
    progress: Progress,
    *,
    no_build: bool,
    jobs: int | None,
    force: bool = False,
    fork: bool = True,
    fail_fast: bool = False,
    workers: cluster.Workers | None = None,
    at_end: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Builds what the runs need. Makes the runs that are not stored yet, on this host or on
    `workers`.

    Returns the results in the order of the runs. Raises UserError if the image of a guest is
    missing, or if a build fails.

    `no_build`: use the existing build products and build nothing. `jobs`: the number of runs at a
    time; None for one on each core. `force`: repeat stored runs. `fork`: let runs share a boot if
    possible. `fail_fast`: start no run after a run has failed. `at_end`: is called for each run
    when it has ended, from threads.
    """
    if workers:
        packages.ensure("cluster")
    jobs = cores() if jobs is None else jobs
    systems = {(run.guest.name, run.workload.packages): run.guest for run in runs}
    for (_, needed), system in systems.items():
        image.check(lab, system, needed)
    if not no_build:
        build.ensure(lab, progress, engines.targets(lab, runs))
        delivered.ensure(lab, runs, progress)
    for remark in fetch.untested(lab.root, dict.fromkeys(run.guest.name for run in runs)):
        progress.note(remark)
    estimate = plan.Estimate(lambda: index.runs(lab))
    left = plan.Countdown(runs, estimate, workers.workers or jobs if workers else jobs)
    begun: list[Run] = []
    ended: list[Result] = []

    def started(run: Run) -> None:
        begun.append(run)
        left.started(run.label)
        tracker.started(run.label)

    def finished(result: Result) -> None:
        at_end(result)
        ended.append(result)
        left.finished(result.run.label)
        if _is_interrupted(result):
            tracker.stopped(result.run.label)
        else:
            tracker.finished(result.run.label, _outcome(result))

    stopped = describes_stop(lambda: _stopped(len(runs), len(begun), ended, force=force))
    with stopped, progress.runs(len(runs), left) as tracker:
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
            waits=lambda run: progress.say(f"{run.label}: another p5lab makes this run"),
        )
        with store.in_use(lab):
            return executor.run_all(runs)


def _stopped(total: int, begun: int, ended: Sequence[Result], *, force: bool) -> str:
    """Describes runs that the user stopped: how many runs had ended, were stopped or had not begun.
    `begun`: the number of runs that were started, without reused results."""
    interrupted = [result for result in ended if _is_interrupted(result)]
    done = len(ended) - len(interrupted)
    stopped = begun - (done - sum(result.reused for result in ended))
    kept = sum(result.reason.endswith(runner.KEPT) for result in interrupted)
    waiting = max(total - done - stopped, 0)
    parts = [f"{done} of {total} runs ended before and are stored"]
    if stopped > kept:
        parts.append(f"{stopped - kept} stopped and recorded as failed")
    if kept:
        parts.append(f"{kept} stopped, with the earlier result kept")
    if waiting:
        parts.append(f"{waiting} not begun")
    again = "without --force, the same command" if force else "the same command"
    return f"{', '.join(parts)}; {again} goes on and makes only the missing runs"


def _is_interrupted(result: Result) -> bool:
    """Returns whether the user stopped the run."""
    return result.reason.startswith(runner.INTERRUPTED)


def _outcome(result: Result) -> str:
    if result.reused:
        return f"already stored, {result.id[:10]}"
    if result.status == "ok":
        return f"ok in {result.wall_seconds:.1f} s, {result.id[:10]}"
    return result.status  # the reason follows when all runs have ended
