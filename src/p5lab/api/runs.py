# SPDX-License-Identifier: MIT
"""`p5lab.run`: makes runs from a script or a notebook cell."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from p5lab.api import arguments, cell, checkout
from p5lab.api.arguments import keyed, plain, texts
from p5lab.describe import engine as engine_names
from p5lab.describe import experiment, observation, sweep
from p5lab.describe.engine import capabilities
from p5lab.describe.observation import NominalClocks, Observation
from p5lab.describe.program import IN_GUEST
from p5lab.describe.program_files import ProgramFiles
from p5lab.describe.request import Filter, Request, UserProgram, What
from p5lab.describe.run import Run
from p5lab.describe.seeds import SEED_LIMIT
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.execute.build_and_run import examine, execute
from p5lab.keep import named
from p5lab.keep.labelling import Labelling
from p5lab.keep.result import Result
from p5lab.lab import Lab, shown
from p5lab.prepare import prepare
from p5lab.progress import Progress
from p5stats import tidy

Names = str | Iterable[str]
Value = str | int | float | bool
SET, SWEEP = "{'l2.size': '512K'}", "{'l2.size': ['128K', '256K']}"


# long: most lines are the arguments and their description
def run(
    what: str | Path | None = None,
    *,
    program: str | Path | Iterable[str | Path] = (),
    machine: Names = (),
    guest: Names = (),
    workload: Names = (),
    set: Mapping[str, Value] | None = None,
    sweep: Mapping[str, Iterable[Value]] | None = None,
    variants: Mapping[str, Mapping[str, Value]] | None = None,
    seed: int | Iterable[int] = (),
    args: str | Iterable[str] = "",
    stdin: str | Path | None = None,
    by: Names = (),
    cpi: bool = False,
    interval: int = 0,
    clocks: str = "",
    engine: str = engine_names.DEFAULT,
    jobs: int | None = None,
    limit: int | None = None,
    label: str | None = None,
    force: bool = False,
    build: bool = True,
) -> pd.DataFrame:
    """Makes the runs of an experiment or of a program, and returns their counts as one table.

    The function does what `./p5lab run` does: it builds what is missing, makes the runs that are
    not stored yet, and shows progress. It also works in a notebook cell.

    what: the name of an experiment (`./p5lab list experiments`), or the path of your own program. A
    program in the current directory needs `./` or a `Path`. program: in the place of `what`, one
    program or several to compare; the column `program` tells several apart. machine, guest: use
    these machines and guests instead of those of the experiment. workload: only these workloads.
    set: values of machine keys, such as `{"l2.size": "512K"}`. sweep: several values of machine
    keys or workload parameters (`parameters.NAME`); the function runs all combinations. variants:
    names for sets of such values, `{"as it is": {}, "write allocate": {"l1d.write_allocate":
    True}}`; the column `variant` has the names. seed: seeds of the page placement and of the phase
    of the clock tick. args: arguments of the program, as a shell takes them or as a list. stdin:
    the file that a source file's program reads. by: dimensions by which the runs also count, such
    as ["call", "function"], for `by`, `explore` and `profile` (docs/concepts/dimensions.md). cpi:
    whether to count what each clock is spent on, for `stack`. interval: the length of an interval
    in core clocks, for `intervals`; 0 for none. clocks: "nominal" for nominal cycles of x86-64
    guests (docs/concepts/nominal-clocks.md). engine: the engine that counts. jobs: runs at a time,
    by default the number of cores. limit: end a run after so many seconds of the simulated machine,
    boot included, for a program that may not end. label: call the runs so in tables, pages and
    figures, as `./p5lab run --label` does; the column `label` has it, and `load`, `by` and others
    take it. An empty text removes all labels. force: repeat stored runs. build: whether to build
    what is missing.

    The result is the tidy table of `p5stats.tidy`: one row for each run, phase, iteration, ring,
    address space and event. Each key of `set` and `sweep` is a column. `measure` converts the
    counts to numbers for one operation.

    UserError for a wrong name or value, before anything runs, and for a build or run that failed.
    The other runs of the same call are then stored, and the same call does not repeat them.
    """
    arguments.flags(cpi=cpi, force=force, build=build)
    at_once = arguments.jobs(jobs)
    lab = checkout.here()
    labelling = _labelling(lab, label)
    several = _programs(what, program)
    asked = request(
        lab,
        several,
        machine=machine,
        guest=guest,
        workload=workload,
        seed=seed,
        args=args,
        stdin=stdin,
        engine=engine,
        limit=limit,
    )
    choice = replace(
        asked.choice,
        observation=_observation(texts("by", by), cpi, interval, clocks),
        sweeps=_axes(keyed("sweep", sweep, SWEEP)),
    )
    varied = _variants(variants, keyed("set", set, SET))
    expansions = {
        name: prepare(lab, Request(asked.what, replace(choice, settings=tuple(values.items()))))
        for name, values in varied.items()
    }
    runs = [run for variant in expansions.values() for run in variant.runs]
    progress = cell.progress()
    cannot = [str(reason) for variant in expansions.values() for reason in variant.cannot]
    for remark in dict.fromkeys((*examine(lab, runs), *cannot)):
        progress.say(remark)
    results = execute(
        lab,
        runs,
        progress,
        no_build=not build,
        jobs=1 if capabilities(engine).alone else at_once,
        force=force,
        at_end=labelling.at_end,
    )
    for remark in labelling.complete(results):
        progress.say(remark)
    check(progress, results)
    keys = dict.fromkeys(key for own in varied.values() for key in own) | dict.fromkeys(sweep or {})
    table = tidy.of_runs([result.directory for result in results], keys=list(keys) or None)
    ids = {id(result.run): result.id for result in results}
    if variants is not None:
        names = {name: variant.runs for name, variant in expansions.items()}
        table = table.assign(variant=table["run"].map(_by_run("variants", names, ids)))
    if len(several) > 1:
        called: dict[str, list[Run]] = {}
        for run in runs:
            called.setdefault(run.called or run.label, []).append(run)
        table = table.assign(program=table["run"].map(_by_run("program", called, ids)))
    return table


def _labelling(lab: Lab, label: str | None) -> Labelling:
    """What gives the runs their label. Raises UserError for a text that cannot be a label."""
    if label is not None:
        (text,) = arguments.texts("label", [label], "a text")
        named.check_label(lab, text, "label")
    return Labelling(label)


def request(
    lab: Lab,
    several: tuple[str | Path, ...],
    *,
    machine: Names = (),
    guest: Names = (),
    workload: Names = (),
    set: Mapping[str, Value] | None = None,
    seed: int | Iterable[int] = (),
    args: str | Iterable[str] = "",
    stdin: str | Path | None = None,
    engine: str = engine_names.DEFAULT,
    limit: int | None = None,
) -> Request:
    """What these arguments of `run` ask for. `several`: an experiment, or programs."""
    for what in several:
        if not isinstance(what, str | Path):
            raise UserError(
                "expected the name of an experiment or a path, or several programs as"
                f" p5lab.run(program=[a, b]); found {arguments.shown(what)}"
            )
    choice = Filter(
        machines=texts("machine", machine),
        guests=texts("guest", guest),
        workloads=texts("workload", workload),
        settings=tuple((key, plain(value)) for key, value in keyed("set", set, SET).items()),
        seeds=_seeds(seed),
        engine=engine,
        limit=_limit(limit),
    )
    words = args if isinstance(args, str) else shlex.join(texts("args", args))
    return Request(_what(lab, several, words, Path(stdin) if stdin is not None else None), choice)


def _programs(
    what: str | Path | None, program: str | Path | Iterable[str | Path]
) -> tuple[str | Path, ...]:
    """What to run: an experiment, or one or more programs. Raises UserError if it is not clear."""
    is_one = isinstance(program, str | Path) or not isinstance(program, Iterable)
    given: Any = (program,) if is_one else program
    programs = tuple(Path(path) if isinstance(path, str) else path for path in given)
    if (what is None) == (not programs):
        raise UserError(
            "run: expected the name of an experiment, or one or more programs without a name:"
            " p5lab.run(program=[a, b])"
        )
    return programs if what is None else (what,)


def _variants(
    variants: Mapping[str, Mapping[str, Value]] | None, settings: Mapping[str, Value]
) -> dict[str, dict[str, Any]]:
    """The values of machine keys by the name of each variant; one nameless variant without any."""
    by_name = {"": {}} if variants is None else variants
    if not isinstance(by_name, Mapping) or not by_name:
        example = "{'write allocate': {'l1d.write_allocate': True}}"
        raise UserError(f"variants: expected a dictionary, such as {example}; found {variants!r}")
    same = {key: plain(value) for key, value in settings.items()}
    return {
        str(name): same | {key: plain(value) for key, value in keyed("variants", own, SET).items()}
        for name, own in by_name.items()
    }


def _by_run(what: str, runs: Mapping[str, list[Run]], ids: Mapping[int, str]) -> dict[str, str]:
    """The name of each run. `ids`: of the runs that were made. Raises UserError if a run has two
    names."""
    names: dict[str, str] = {}
    for name, own in runs.items():
        for run in own:
            run_id = ids.get(id(run), "")
            if not run_id or names.setdefault(run_id, name) != name:
                raise UserError(
                    f"{what}: {name!r} has the same runs as another name; expected values that"
                    " differ"
                )
    return names


def _observation(by: Iterable[str], cpi: bool, interval: int, clocks: str) -> Observation:
    """What the runs count in addition to the events."""
    if type(interval) is not int or interval < 0:
        raise UserError(f"interval: expected a number of core clocks, or 0; found {interval!r}")
    args = observation.unasked()
    args.cpi, args.interval = cpi, interval
    observation.count_by(args, by, "by")
    return Observation.parse(args).with_(NominalClocks.of(clocks))


def _what(lab: Lab, several: tuple[str | Path, ...], arguments: str, stdin: Path | None) -> What:
    """The experiment, or the program or programs."""
    what = several[0]
    if _is_program(what):
        files = ProgramFiles(stdin=stdin)
        made = tuple(UserProgram(Path(path), arguments, files=files) for path in several)
        return made if len(made) > 1 else made[0]
    if stdin is not None:
        raise UserError("stdin: expected with a program")
    if what not in experiment.names(lab) and Path(what).is_file():
        raise UserError(
            f'unknown experiment {what!r}; the file is a program only with a path, "./{what}"'
        )
    if arguments:
        raise UserError("args: expected with a program; an experiment sets parameters of workloads")
    return str(what)


def _is_program(what: str | Path) -> bool:
    """Whether `what` is a path, and not the name of an experiment."""
    return isinstance(what, Path) or "/" in what or what.startswith(IN_GUEST)


def _seeds(seed: int | Iterable[int]) -> tuple[int, ...]:
    """The seeds. Raises UserError if one is no number, negative or too large."""
    seeds = tuple(map(plain, seed)) if isinstance(seed, Iterable) else (plain(seed),)
    if not all(type(number) is int and 0 <= number < SEED_LIMIT for number in seeds):
        raise UserError(
            f"seed: expected a whole number from 0 to {SEED_LIMIT - 1}, or a list of them; found"
            f" {seed!r}"
        )
    return seeds


def _limit(limit: int | None) -> int | None:
    """The limit of a run, in seconds of the simulated machine."""
    seconds = plain(limit)
    if seconds is not None and (type(seconds) is not int or seconds < 1):
        raise UserError(f"limit: expected whole seconds, at least 1; found {limit!r}")
    return seconds


def _axes(sweeps: Mapping[str, Iterable[Value]]) -> tuple[sweep.Axis, ...]:
    """The axes of a sweep, one for each key."""
    axes = []
    for key, values in sweeps.items():
        steps: tuple[dict[str, Any], ...] = ()
        if not isinstance(values, str):
            steps = tuple({key: plain(value)} for value in values)
        if not steps:
            raise UserError(
                f"sweep: {key}: expected a list of values, such as ['128K', '256K']; found"
                f" {values!r}"
            )
        axes.append(sweep.Axis("sweep", steps))
    return tuple(axes)


def check(progress: Progress, results: list[Result]) -> None:
    """Prints the runs that have failed. Raises UserError if a run has failed."""
    bad = [result for result in results if result.status != "ok"]
    for result in bad:
        progress.say(f"{result.run.label}: {result.status}: {result.reason}")
    if bad:
        which = "the run" if len(results) == 1 else f"{len(bad)} of {len(results)} runs"
        raise UserError(
            f"{which} failed; {bad[0].run.label}: {bad[0].reason}"
            f" (logs: {shown(bad[0].directory)})",
            status=STATUS_FAILED,
        )
