# SPDX-License-Identifier: MIT
"""Functions of `p5lab` for stored results: `load`, `output`, `measure`, `compare` and others."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from p5lab.api import arguments, checkout, samples
from p5lab.api.arguments import plain
from p5lab.describe import experiment, outputs
from p5lab.describe import keys as machine_keys
from p5lab.describe.kinds import BadValue
from p5lab.errors import UserError, unknown
from p5lab.keep import index, named, selection, store
from p5lab.lab import Lab
from p5lab.page import results
from p5lab.present import (
    breakdown,
    breakdown_table,
    by_interval,
    column,
    explanation,
    two_systems,
)
from p5lab.present import screen as screens
from p5lab.present.screen import Screen
from p5stats import StatsError, cpi, declared, papers, tidy
from p5stats.terms import Terms

# The columns of the tidy table that differ within a run.
_OF_A_COUNT = ("phase", "iteration", "ring", "address_space", "symbol", "event", "unit", "value")

# The columns of numbers that come first: what was measured, and after the columns that differ, the
# numbers.
VERSIONS = (tidy.LABEL, "program", "variant")  # columns with names of the user
_SUBJECT = ("workload", "phase")
_SHOWN = ("metric", "value", "unit", "reference", "ratio", "deviation", "iterations", "against")
EXPLAINED = ("component", "place", "named", "state")  # columns of `explain` that are no numbers


def load(
    what: str | Path | Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    all_runs: bool = False,
    own: bool = False,
) -> pd.DataFrame:
    """Reads stored counts and returns them as one table, as `run` does. Makes no run.

    what: the name of an experiment (`program` for your own programs), the first 4 or more
    characters of a run's id, a label, or a path: a directory with results, the directory of one
    run, or a file that `p5stats.tidy.save` wrote. A list of names, ids and labels is also possible.
    keys: the machine keys and workload parameters (as `parameters.NAME`) that become columns.
    Without `keys`, each machine key in which a run differs from its machine file becomes a column.
    If runs have labels, the column `label` has them. If runs of several programs are named, the
    column `program` tells them apart. all_runs: also runs that a later run of the same kind
    replaces. own: only the runs that the experiment's file
    describes, as `./p5lab report` shows them, without those of `set`, `sweep` and other options.

    Machines, guests and workloads are in the order of the experiment's file, programs of your own
    in the order in which you asked for them, and the values of a key in the order of their size.
    UserError if there is no such result, or with `own` if a run of
    the experiment is missing, and for a damaged file.
    """
    arguments.flags(all_runs=all_runs, own=own)
    keys = None if keys is None else arguments.texts("keys", keys)
    for key in keys or ():
        if key not in machine_keys.BY_NAME and not key.startswith(tidy.PARAMETERS):
            raise machine_keys.unknown_key(key, "keys")
    if not isinstance(what, Path):
        expected = "an experiment, a label, a run, a path, or a list of names"
        arguments.names("load", what, expected)
    lab = checkout.here()
    words = [what] if isinstance(what, str) and _is_label(lab, what) else what
    if not isinstance(words, str | Path):
        if own or all_runs:
            raise UserError("load: own, all_runs: expected with the name of an experiment")
        return _of_runs(lab, words, keys)
    if isinstance(words, str) and selection.is_group(lab, words):
        selection.check_clear(lab, words)
    if own:
        return tidy.of_runs(_own(lab, words, all_runs=all_runs), keys=keys)
    path = _place(lab, words)
    table = tidy.load(path, keys=keys, all_runs=all_runs)
    return table if path.is_file() else _in_order(lab, table, path)


def _is_label(lab: Lab, what: str) -> bool:
    """Whether a word is the label of runs, and neither an experiment nor an id or a path."""
    if "/" in what or what.endswith(".parquet") or selection.is_id(what):
        return False
    return not selection.is_group(lab, what) and selection.is_label(lab, what)


def _of_runs(lab: Lab, words: Sequence[str], keys: Sequence[str] | None) -> pd.DataFrame:
    """The runs that words of `p5lab show` name, with the column `program` for several programs."""
    runs = [same[0] for same in selection.groups(lab, words)]
    labels = {run.id: named.of(run.record).label for run in runs}
    if not any(selection.is_group(lab, word) for word in words):
        runs = selection.as_versions(runs)
    table = tidy.of_runs([run.directory for run in runs], keys=keys)
    if tidy.LABEL in table:
        table[tidy.LABEL] = table["run"].map(labels)  # those by which the runs were found
    names = {run.id: str(run.record.get(selection.CALLED, "")) for run in runs}
    return table.assign(program=table["run"].map(names)) if any(names.values()) else table


def _own(lab: Lab, what: str | Path, *, all_runs: bool) -> list[Path]:
    """The directories of exactly the runs that the file of an experiment describes, in its
    order."""
    name = str(what)
    if all_runs:
        raise UserError("load: expected own or all_runs, not both")
    runs = experiment.load(lab, name)
    shown = results.choose(runs, store.all_runs(lab, name)).shown
    good = [run.directory for run in shown if run.status == "ok"]
    if len(good) < len(runs):
        raise UserError(
            f"{len(runs) - len(good)} of the {len(runs)} runs of {name} are not stored:"
            f" p5lab.run({name!r}) makes them"
        )
    return good


def _in_order(lab: Lab, table: pd.DataFrame, place: Path) -> pd.DataFrame:
    """The rows in the order in which `run` makes the runs of the experiment's file, and programs of
    the user in the order in which they were asked for. `place`: of the records."""
    settings = tidy.settings(table)
    orders = {name: selection.places(lab, name) for name in table["experiment"].unique()}
    own = set(table["run"][table["experiment"].isin(experiment.OWN)])
    asked = {run.id: run.asked for run in _stored(lab, place) if run.id in own} if own else {}

    def place_of(run: Mapping[Any, Any]) -> list[object]:
        places = {
            column: (order.get(run[column], len(order)), run[column])
            for column, order in orders[run["experiment"]].items()
        }
        texts = [isinstance(run[key], str) or pd.isna(run[key]) for key in settings]
        swept = [
            (is_text, 0 if is_text else run[key], str(run[key]))
            for key, is_text in zip(settings, texts, strict=True)
        ]
        first = (run["experiment"], places["machine"], swept, places["guest"], run["seed"])
        order = asked.get(run["run"], ""), selection.numbered(run["parameters"])
        return [*first, places["workload"], *order]

    runs = sorted(table.drop_duplicates("run").to_dict("records"), key=place_of)
    ranks = {run["run"]: rank for rank, run in enumerate(runs)}
    return table.iloc[table["run"].map(ranks).argsort(kind="stable")].reset_index(drop=True)


def _stored(lab: Lab, place: Path) -> list[store.Stored]:
    """The runs below a directory, those of the laboratory with the records of the index."""
    if place.is_relative_to(lab.results):
        return index.runs(lab)
    return [store.stored(path.parent) for path in place.glob(f"**/{store.RECORD}")]


def _place(lab: Lab, what: str | Path) -> Path:
    """The path of stored results."""
    path = Path(what)
    is_path = isinstance(what, Path) or "/" in what or path.suffix == ".parquet"
    place = path if is_path else lab.results / what
    if place.exists():
        return place
    if is_path:
        raise UserError(f"{place}: expected a directory with results, or a file of tidy.save")
    if what not in (*experiment.names(lab), *experiment.OWN):
        if selection.is_id(str(what)):
            return store.find(lab, str(what)).directory
        raise unknown("experiment", str(what), experiment.names(lab))
    name = str(what)
    call = "./FILE" if name == experiment.PROGRAM else name
    function = "" if name == experiment.MEDIA else f"p5lab.run({call!r}) or "
    raise UserError(
        f"no results of {name!r}: {function}`./p5lab run {experiment.again(name)}` makes them"
    )


def output(run: str | pd.DataFrame) -> str:
    """The text that the program of a run printed.

    run: the first 4 or more characters of the run's id, or a table with one run. The run may be of
    a stored sample. UserError if there is no such run, if the table has several runs, or if the run
    has no output.
    """
    try:
        path = _only_run("output", run).directory / outputs.file("output")
    except UserError:
        names = arguments.runs("output", run)
        if len(names) == 1:
            with suppress(UserError):
                return samples.output(names[0])
        raise
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def screen(run: str | pd.DataFrame) -> Screen:
    """The screen at the end of a run that booted from its own media or has a graphics screen.

    run: the first 4 or more characters of the run's id, or a table with one run. The result has the
    text of the screen in `text`, and in `picture` the path of the PNG file of a graphics mode
    (None in a text mode). `image()` returns the picture as an image of Pillow. A notebook displays
    the result. UserError if there is no such run, if the table has several runs, or if the run has
    no screen.
    """
    stored = _only_run("screen", run)
    screen = screens.of(stored)
    if screen is None:
        raise UserError(
            f"run {stored.id} has no screen: expected a boot from media, or a guest with a graphics"
            " screen"
        )
    return screen


def intervals(run: str | pd.DataFrame) -> pd.DataFrame:
    """The counts of each interval of a run with `interval`: its phases over time.

    run: the first 4 or more characters of the run's id, or a table with one run. The result has one
    row for each interval, ring and event whose count is not zero. Columns: `interval` (a number
    from 0), `begin` and `end` (core clocks since reset), `ms` (the end in milliseconds since
    reset), `ring`, `event` and `count`. UserError if there is no such run, if the table has several
    runs, if the run has no intervals, and for a damaged file.
    """
    counts = by_interval.read(_only_run("intervals", run))
    frame = counts.frame()
    frame.insert(3, "ms", frame["end"] * (1000 / counts.clock_hz))
    return frame


def by(
    runs: str | Sequence[str] | pd.DataFrame,
    dimensions: str | Sequence[str],
    *,
    where: Mapping[str, object] | None = None,
    metric: str | Sequence[str] = (),
    per: str = breakdown.OPERATION,
    names: str | Path | None = None,
    top: int | None = None,
) -> pd.DataFrame:
    """Divides the counts of stored runs by dimensions, as `./p5lab show --by` does.

    runs: the result of `run` or `load`, the name of an experiment, or one or several ids of runs.
    dimensions: such as "function" or ["ring", "component"] (docs/concepts/dimensions.md). where:
    for a dimension, the value or the values that count, such as {"ring": 0}. metric: rows of a
    report and names of events. per: "operation", "1000" for 1000 instructions, or "all" for the
    sums over all brackets. Of an experiment, runs that did not count by the dimensions are left out
    with a warning. names: a file of other names. top: the number of rows with the largest
    values or differences; one row then has the sum of the others. The result has one row for each
    combination of values, system and metric, with the columns of `show --by --json`; the rows with
    the total are left out, because the other rows add up to it. UserError if a run did not count by
    a dimension, and for a wrong name.
    """
    words = arguments.runs("by", runs)
    wanted = arguments.names("by", dimensions, "one or more dimensions")
    metrics = arguments.texts("metric", metric)
    question = breakdown.ask(wanted, _chosen(where), metrics, str(per), _file(names))
    top = top if top is None else arguments.whole("top", top)
    _warn_of(question)
    if isinstance(runs, pd.DataFrame):
        return divided([same[0] for same in grouped(checkout.here(), runs, "by")], question, top)
    stored, left_out = breakdown.named(checkout.here(), words, question)
    if left_out:
        warnings.warn(left_out, stacklevel=3)
    return divided(stored, question, top)


def explain(
    *systems: str,
    by: str | Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    names: str | Path | None = None,
    only: str = "",
    single: bool = False,
) -> pd.DataFrame:
    """Why one system needs more cycles than another: its difference by component of the CPI stack,
    as `./p5lab explain` shows it.

    systems: the ids or labels of two runs with a CPI stack (`run(..., cpi=True)`), or the name of
    an experiment and two of its systems, such as a guest or `l2.size=256K`. A label of several
    seeds is one system. by: also divide by these
    dimensions; where and names: as in `by`. only: select the runs with this text in their names.
    single: accept fewer than 5 placement seeds. The result has one row for each benchmark and
    cause, the largest first, and rows for all busy cycles, idle cycles and instructions:
    `component`, `place`, the values of both systems for one operation in cycles, `difference`, its
    range over the seeds (`lowest`, `highest`; NaN with one seed), and the difference in each ring.
    UserError for wrong names, and for runs without a CPI stack or without counts by a dimension.
    """
    arguments.names("explain", systems, "two runs, or an experiment and two of its systems")
    arguments.flags(single=single)
    arguments.texts("only", only)
    wanted = arguments.texts("by", by)
    asked = breakdown.ask(wanted, _chosen(where), names=_file(names)) if wanted else None
    if asked:
        _warn_of(asked)
    explanations = two_systems.of(checkout.here(), systems, asked, only, single=single)
    frame = pd.DataFrame(explanation.rows(explanations))
    numbers = [name for name in frame if name not in ("benchmark", *EXPLAINED)]
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in numbers})


def _file(names: str | Path | None) -> Path | None:
    return None if names is None else Path(str(names))


def _warn_of(question: breakdown.BreakdownQuestion) -> None:
    if said := breakdown.unused(question):
        warnings.warn(f"names {said}", stacklevel=4)


def _chosen(where: Mapping[str, Any] | None) -> list[str]:
    """The values that count, as options."""
    values = arguments.keyed("where", where, "{'ring': 0}")
    return [f"{name}={','.join(map(str, _listed(value)))}" for name, value in values.items()]


def grouped(lab: Lab, runs: object, function: str) -> list[list[store.Stored]]:
    """The stored runs that this function takes, by kind, the newest of each kind first."""
    words = arguments.runs(function, runs)
    if isinstance(runs, pd.DataFrame):
        return [[store.find(lab, run)] for run in words]
    return selection.groups(lab, words)


def divided(
    runs: Sequence[store.Stored], question: breakdown.BreakdownQuestion, top: int | None = None
) -> pd.DataFrame:
    """The table of `by` for runs and a question."""
    tables = breakdown.of_runs(runs, question)
    rows = pd.DataFrame([row for table in tables for row in breakdown_table.rows(table, top)])
    return rows[rows["state"] != breakdown_table.TOTAL].reset_index(drop=True)


def _listed(value: Any) -> list[Any]:  # noqa: ANN401
    """A value as a list: a text or a number is one element."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _only_run(what: str, run: str | pd.DataFrame) -> store.Stored:
    """The stored run with this id, or the only run of a table. `what`: the function that asks."""
    names = arguments.runs(what, run)
    if len(names) != 1:
        raise UserError(f"{what}: expected a table with one run; found {len(names)} runs")
    return store.find(checkout.here(), names[0])


def measure(table: pd.DataFrame, *metrics: str) -> pd.DataFrame:
    """Converts counts to numbers for one operation, such as busy cycles, microseconds, CPI and L2
    misses.

    table: the result of `run` or `load`. metrics: the names of the numbers; all numbers without
    `metrics`. The result has one row for each run, phase and number. Its columns are those in which
    the rows differ, then `metric`, `value`, `unit` and `deviation`, then the others. The empty
    bracket is subtracted, and the value is the mean over the iterations. The deviation is the
    standard deviation of the sample over the iterations, and NaN for a single iteration. A value is
    NaN if the engine does not count the event. Short names of `--metric`, such as "cycles" and
    "us", stand for the names of the table. UserError for an unknown metric.
    """
    arguments.table("measure", table)
    arguments.texts("measure", metrics, "names of numbers, such as 'busy cycles', 'CPI (busy)'")
    numbers = table if "metric" in table else _with_own(papers.measured(table), table)
    known = list(dict.fromkeys(numbers["metric"]))
    if metrics:
        parts = [numbers[numbers["metric"] == _metric(name, known)] for name in metrics]
        numbers = pd.concat(parts, ignore_index=True)
    return _differing_first(numbers)


def _differing_first(numbers: pd.DataFrame) -> pd.DataFrame:
    """The columns in which the rows differ, then the numbers, then what all rows have in common."""
    shown = [name for name in _SHOWN if name in numbers]
    others = [name for name in numbers if name not in shown and name not in _SUBJECT]
    told = {"run", *(["geometry"] if tidy.settings(numbers) else [])}  # by other columns
    differ = [
        name for name in others if name not in told and numbers[name].nunique(dropna=False) > 1
    ]
    return numbers[[*_SUBJECT, *differ, *shown, *(name for name in others if name not in differ)]]


def _with_own(numbers: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The numbers with the columns that `run` or the user has added to the table and that have one
    value for each run, such as `variant`."""
    source = ["run", "geometry"]
    known = {*numbers, *tidy.COLUMNS, *(field.name for field in fields(Terms)), "clock_hz"}
    own = [name for name in table if name not in known]
    values = table.drop_duplicates([*source, *own])[[*source, *own]]
    if not own or values.duplicated(source).any():
        return numbers
    return numbers.merge(values, on=source, how="left")


def _metric(name: str, known: Sequence[str]) -> str:
    """The metric with this name, which may be a short name as `--metric` takes it."""
    metric = column.metric_named(name, known)
    if metric is not None:
        return metric
    if name in declared.events():
        raise UserError(
            f"measure: {name!r} is an event, and no number for one operation; its counts are"
            f" table[table['event'] == {name!r}]"
        )
    raise unknown("metric", name, column.names_of(known))


def stack(table: pd.DataFrame) -> pd.DataFrame:
    """What the processor spends the clocks of one operation on: the CPI stack.

    table: the result of `run` with `cpi=True`, or of `load`. The result has one row for each run,
    phase, ring and component, with the columns of `table` that describe a run, and `phase`, `ring`,
    `component` and `cycles`. Nominal cycles are in a column of their own, `nominal cycles`. The
    empty bracket is subtracted, and the cycles are a mean over the iterations. The cycles of all
    components and rings of a phase add up to its busy cycles. docs/concepts/cpi-stack.md explains
    the components. UserError if a run has no CPI stack.
    """
    rows = []
    arguments.runs("stack", arguments.table("stack", table))
    for run, frame in table.groupby("run", sort=False):
        try:
            counts = cpi.stack(frame)
        except StatsError as error:
            raise UserError(f"run {run}: {error}") from None
        cycles = counts[counts["event"].str.startswith(cpi.PREFIX)]
        first = frame.iloc[0]
        same = {name: first[name] for name in table.columns if name not in _OF_A_COUNT}
        own = cycles.rename(columns={"event": "component"}).drop(columns="value")
        nominal = frame["event"].str.startswith(declared.NOMINAL).any()
        unit = "nominal cycles" if nominal else "cycles"
        rows.append(own.assign(**{unit: cycles["value"] / first["operations"]}, **same))
    result = pd.concat(rows, ignore_index=True)
    units = [unit for unit in ("cycles", "nominal cycles") if unit in result]
    return result[[*(name for name in table.columns if name in result), "component", *units]]


def compare(
    table: pd.DataFrame, reference: Mapping[str, object] | None = None, **columns: object
) -> pd.DataFrame:
    """Puts a reference beside each number, and adds the ratio to the reference.

    table: the result of `run`, `load` or `measure`. The reference is a value of a column, such as
    `guest="linux"`. The name of a machine key contains a point, so write
    `compare(table, {"l2.size": "256K"})`. Without a reference, the first guest of the table is the
    reference, or the first value of the first swept key, the first machine, label, program or
    variant. `run` and `load` put
    guests and machines in the order of the experiment's file. A row and its reference agree in
    everything else, so rows of the same seed are compared. Adds the columns `reference`, `ratio`
    (value / reference) and `against`, the name of the reference: `guest=linux`. UserError if no row
    has the value of the reference, or if several rows are the reference of one number.
    """
    named = arguments.keyed("compare", reference, "{'l2.size': '256K'}")
    numbers = measure(arguments.table("compare", table))
    wanted = {**named, **columns} or _first(numbers)
    for name, value in wanted.items():
        if name not in numbers:
            raise unknown("column", name, list(numbers.columns), where="compare")
        wanted[name] = _same_form(name, value)
        if not (numbers[name] == wanted[name]).any():
            known = ", ".join(_named(name, choice) for choice in numbers[name].unique())
            raise UserError(f"compare: expected one of {known}; found {_named(name, value)}")
    try:
        compared = papers.against(numbers, **wanted)
    except StatsError as error:
        raise UserError(f"compare: {str(error).removeprefix('against: ')}") from None
    against = ", ".join(_named(name, value) for name, value in wanted.items())
    return _differing_first(compared.assign(against=against))


def _named(column: str, value: object) -> str:
    """A column with its value, as a user writes them: `l2.size=128K`."""
    return machine_keys.readable(f"{column}={value}")


def _first(numbers: pd.DataFrame) -> dict[str, Any]:
    """The reference if the user names none."""
    for name in ("guest", *tidy.settings(numbers), "machine", *VERSIONS):
        if name in numbers and numbers[name].nunique() > 1:
            return {name: numbers[name].iloc[0]}
    raise UserError(
        "compare: expected a reference, such as guest='linux': all rows are of one kind"
    )


def _same_form(name: str, value: object) -> object:
    """A value in the form of the table, in which a size is a number of bytes: 262144 for 256K."""
    key = machine_keys.BY_NAME.get(name)
    if key is None:
        return value
    try:
        return key.parse(plain(value))
    except BadValue as error:
        raise UserError(machine_keys.bad_value("compare", key, value, str(error))) from None
