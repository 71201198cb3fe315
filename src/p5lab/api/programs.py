# SPDX-License-Identifier: MIT
"""`p5lab.whatif` and `p5lab.annotate`: what would make a program faster, and what each of its
instructions costs. The commands with these names make their runs here, too."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p5lab.api import arguments, cell, checkout
from p5lab.describe.guest import built
from p5lab.describe.machine import Machine
from p5lab.describe.observation import AttributedCounts, Cpi, Geometries
from p5lab.describe.observation.attribute import INSTRUCTIONS
from p5lab.describe.program import OwnProgram
from p5lab.describe.request import Request
from p5lab.describe.run import Run
from p5lab.describe.sweep import Axis
from p5lab.errors import UserError
from p5lab.execute.build_and_run import execute
from p5lab.keep import selection, store
from p5lab.keep.result import Execute, Result
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.present import annotated, what_if
from p5stats.lazy import pd

if TYPE_CHECKING:
    from p5lab.api.runs import Names, Value


def whatif(
    what: str | Path,
    *,
    machine: str = "",
    guest: "Names" = (),
    workload: "Names" = (),
    set: "Mapping[str, Value] | None" = None,
    args: str | Iterable[str] = "",
    stdin: str | Path | None = None,
    jobs: int | None = None,
    build: bool = True,
) -> "pd.DataFrame":
    """What would make a program faster: each ideal part and each machine key that matters, with its
    measured gain, as `./p5lab whatif` does (docs/concepts/cpi-stack.md).

    The arguments are those of `run`. The result has one row for each benchmark, system and change,
    those with the largest gain first: `benchmark`, `system`, `change`, `cycles` of one operation on
    the unchanged machine, `gain` (cycles that disappear; NaN if the change was not tried, because
    it can gain less than a hundredth), `at_most` (what it could gain by the CPI stack) and
    `misses_avoided` (a share; NaN if it is not known). UserError for a wrong name, several
    machines, a guest without clocks, and a run that failed.
    """
    lab, make = checkout.here(), _maker(jobs, build=build)
    given = {"guest": guest, "workload": workload, "set": set, "args": args, "stdin": stdin}
    asked = _asked(lab, what, machine, **given)
    effects, _ = gains(lab, asked, make)
    return pd.DataFrame(what_if.rows(effects))


def annotate(
    what: str | Path,
    *,
    kernel: str = "",
    machine: str = "",
    guest: "Names" = (),
    workload: "Names" = (),
    set: "Mapping[str, Value] | None" = None,
    args: str | Iterable[str] = "",
    stdin: str | Path | None = None,
    build: bool = True,
) -> "pd.DataFrame":
    """The clocks of each instruction of a program, as `./p5lab annotate` counts them.

    what: a program; or with `kernel`, the name of a function of the guest's kernel, an experiment
    with one run. The other arguments are those of `run`. The result has one row for each
    instruction that was executed, functions with the most clocks first: `function`, `address`,
    `file`, `line`, `instruction`, `times` (it was executed), `in_v` (of them in pipe V), `clocks`
    (of the whole run), `not_in_v` (why), `stalls` (further clocks by component) and the misses by
    event. UserError for a wrong name, several runs, a guest without clocks, and a run that failed.
    """
    lab, make = checkout.here(), _maker(1, build=build)
    given = {"guest": guest, "workload": workload, "set": set, "args": args, "stdin": stdin}
    runs = prepare(lab, _asked(lab, what, machine, **given)).runs
    (program,) = by_instruction(runs, kernel, 1, make)[0]
    return pd.DataFrame([row for code in program.functions for row in annotated.rows(code)])


def gains(lab: Lab, asked: Request, make: Execute) -> tuple[list[what_if.Effects], list[Result]]:
    """The changes with their gains, and all results. Without changes, if a run of the unchanged
    machine has failed."""
    runs = prepare(lab, asked).runs
    changes = what_if.changes(_machine(runs))
    results = make([_watched(run, changes) for run in runs])
    plain = _stored(results)
    if len(plain) < len(results):
        return [], results
    effects = what_if.effects(plain, changes)
    if tried := what_if.worth_trying(effects):
        axis = Axis("whatif", tuple(dict(change.settings) for change in tried), optional=True)
        choice = replace(asked.choice, sweeps=(*asked.choice.sweeps, axis))
        made = make(prepare(lab, replace(asked, choice=choice)).runs)
        effects = what_if.with_gains(effects, plain, _stored(made))
        results = [*results, *made]
    return effects, results


def by_instruction(
    runs: Sequence[Run], kernel: str, most: int, make: Execute
) -> tuple[list[annotated.Annotated], list[Result]]:
    """The functions of at most `most` programs, or one function of a kernel, and the results.
    Without functions, if a run has failed."""
    if not kernel and (other := next((run for run in runs if not run.program), None)):
        raise UserError(
            f"annotate: {other.label}: expected a program, or a function of the kernel: --kernel"
            " NAME, in Python kernel=NAME"
        )
    if len(runs) > most:
        raise UserError(
            f"annotate: {len(runs)} runs: expected one run, or two versions of a program;"
            " --workload, --guest, --machine and --seed choose one"
        )
    results = make([_by_instruction(run, kernel) for run in runs])
    if len(_stored(results)) < len(results):
        return [], results
    programs = [
        annotated.of(
            store.Stored(result.directory, {}),
            run.program.title if run.program else run.label,
            _files(run, kernel),
        )
        for run, result in zip(runs, results, strict=True)
    ]
    return programs, results


def _by_instruction(run: Run, kernel: str) -> Run:
    """The run with counts by instruction and the CPI stack."""
    by = f"{INSTRUCTIONS}={kernel}" if kernel else INSTRUCTIONS
    if not run.has_clocks:
        raise UserError(f"annotate: expected a guest for a Pentium, not {run.guest.name}")
    watch = run.observation if run.observation.get(Cpi) else run.observation.with_(Cpi())
    if watch.get(AttributedCounts):
        raise UserError("--attribute: expected without annotate, which counts by instruction")
    return replace(run, observation=watch.with_(AttributedCounts((by,))))


def _files(run: Run, kernel: str) -> list[Path]:
    if kernel:
        return [built(run.guest).kernel.with_name("vmlinux")]
    return [run.program.path] if isinstance(run.program, OwnProgram) else []


def _machine(runs: Sequence[Run]) -> Machine:
    """The machine of all runs. Raises UserError if there are several, or if they have no clocks."""
    boards = {(run.machine.name, run.machine.geometry): run.machine for run in runs}
    if len(boards) > 1:
        names = ", ".join(" ".join(filter(None, name)) for name in boards)
        raise UserError(f"whatif: expected one machine (--machine), found {names}")
    if not all(run.has_clocks and run.has_feedback for run in runs):
        raise UserError("whatif: expected guests for a Pentium, with clocks and feedback")
    return runs[0].machine


def _watched(run: Run, changes: Sequence[what_if.Change]) -> Run:
    """The run with the CPI stack and with the misses of the changed geometries."""
    watch = run.observation
    for wish in (Cpi(), Geometries(what_if.shadows(changes))):
        watch = watch if watch.get(type(wish)) else watch.with_(wish)
    watch.check_together("whatif")
    return replace(run, observation=watch)


def _stored(results: Sequence[Result]) -> list[store.Stored]:
    """The runs that succeeded."""
    return [
        selection.as_asked(store.Stored(result.directory, record), result.run)
        for result in results
        if result.status == "ok" and (record := store.read(result.directory)) is not None
    ]


def _asked(lab: Lab, what: str | Path, machine: str, **given: Any) -> Request:  # noqa: ANN401
    """What these arguments of `run` ask for."""
    from p5lab.api import runs  # imported here, because loading pandas takes half a second

    return runs.request(lab, (what,), machine=machine or (), **given)


def _maker(jobs: int | None, *, build: bool) -> Execute:
    """Makes runs with the progress of a script or a cell. Raises UserError if one has failed."""
    from p5lab.api import runs

    arguments.flags(build=build)
    at_once = arguments.jobs(jobs)

    def make(wanted: list[Run]) -> list[Result]:
        progress = cell.progress()
        results = execute(checkout.here(), wanted, progress, no_build=not build, jobs=at_once)
        runs.check(progress, results)
        return results

    return make
