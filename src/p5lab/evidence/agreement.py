# SPDX-License-Identifier: MIT
"""./p5lab cross-check: compares the counts of two engines for the same guest, programs and machine.

The models of the two engines differ in some features. An experiment changes the machine so that one
such feature has no effect, and runs both engines on the changed machine. If a difference between
counts then disappears, the experiment explains this difference. Time is the most important feature,
because the clock ticks come at different places of a program. So in all experiments, almost no
bracket contains a clock tick. docs/evidence/cross-check.md shows the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from p5lab import engines
from p5lab.describe import experiment
from p5lab.describe.experiment import Cannot, Expansion, Filter, Run
from p5lab.describe.observation import NominalClocks, Observation
from p5lab.engines import EVENTS
from p5lab.engines.gem5.engine import STATS
from p5lab.errors import unknown
from p5lab.evidence.records import Record
from p5lab.keep import store
from p5lab.keep.result import Execute, Result
from p5lab.lab import Lab
from p5lab.present import tables
from p5lab.present.comparison import DEVIATION
from p5lab.present.tables import MISSING, Grid, number, ratio, times
from p5stats import crosscheck, events, tidy
from p5stats.claims import is_size, size_of
from p5stats.crosscheck import ABSENT, AGREES, ARCHITECTURAL, ASKED, DIFFERS, L1
from p5stats.gem5 import sections
from p5stats.lazy import pd

BOCHS, GEM5 = ENGINES = ("bochs", "gem5")  # names in the tables
CLASSIC, CHIP = "gem5_classic", "gem5_chip"  # the engines that gem5 can be
EXPERIMENT, GUEST, MACHINE = "chen95-core", "linux64", "p90-premiere2"
RUN = ["workload", "parameters", "seed"]
HOSTS = [*RUN, "engine", "wall_seconds", "after_boot_seconds", "instructions"]
COUNT = [*ASKED, "quantity"]  # the columns that name a count


@dataclass(frozen=True)
class EngineTrial:
    """An experiment on both engines.

    `settings`: the machine keys that the experiment changes. `quantities`: the counts whose
    differences the experiment can remove.
    """

    name: str
    title: str
    settings: Mapping[str, str]
    quantities: tuple[str, ...]


# In all experiments, many clocks pass between two clock ticks, and few clocks in a bracket. Both
# engines run at the highest clock that a machine can have, and a bracket has this share of its
# operations. Caches and memory take no time on gem5. (On the embedded engine of x86-64, each
# instruction takes one clock.)
SETTINGS = {"cpu.clock_mhz": "400", "cpu.bus_mhz": "100"}
SHARE = 0.01

_L1 = ("L1D read misses", "L1D write misses", "L1I misses")
_BEHIND_L1 = ("L1D write-backs", "L2 reads", "L2 read misses", "L2 writes")
_TLBS = ("ITLB misses", "DTLB misses", "page-table reads")
NO_TICKS, NO_HISTORY = "no-ticks", "no-history"
# With one chip on both engines, these experiments run all workloads: every event is compared.
ON_ONE_CHIP = (NO_TICKS, NO_HISTORY)
EXPLANATIONS = (
    EngineTrial(
        NO_TICKS,
        "almost no bracket contains a clock tick, as in all experiments; nothing else changes",
        {},
        tuple(quantity.name for quantity in crosscheck.QUANTITIES),
    ),
    EngineTrial(
        NO_HISTORY,
        "a branch target buffer of one way, in which no way is chosen, and DRAM without refresh, so"
        " that neither depends on the time or on what ran before",
        {"btb.ways": "1", "dram.refresh_us": "0"},
        ("nominal cycles",),
    ),
    EngineTrial(
        "no-read-ahead",
        "the processor does not fetch the line of code behind the executed one; stock gem5 never"
        " does",
        {"fetch.ahead": "false"},
        ("L1I misses", "L2 reads", "L2 read misses"),
    ),
    EngineTrial(
        "write-allocate",
        "a write miss in L1D fills the line, as in stock gem5",
        {"l1d.write_allocate": "true"},
        ("L1D read misses", "L1D write misses", *_BEHIND_L1),
    ),
    EngineTrial(
        "direct-mapped",
        "L1 caches with one way, so that the replacement policy has no effect",
        {"l1i.ways": "1", "l1d.ways": "1"},
        (*_L1, *_BEHIND_L1),
    ),
    EngineTrial(
        "large-l1",
        "L1 caches of 64 KB, in which only the first access to a line misses",
        {"l1i.size": "64K", "l1d.size": "64K"},
        (*_L1, *_BEHIND_L1),
    ),
    EngineTrial(
        "associative-tlbs",
        "fully associative TLBs with true LRU, as in stock gem5",
        {
            "itlb.ways": "32",
            "itlb.replacement": "lru",
            "dtlb.ways": "64",
            "dtlb.replacement": "lru",
            "dtlb_large.ways": "8",
            "dtlb_large.replacement": "lru",
        },
        _TLBS,
    ),
    EngineTrial(
        "associative-l1",
        "L1 caches of 32 ways, so that the set of an address has almost no effect",
        {"l1i.ways": "32", "l1i.replacement": "lru", "l1d.ways": "32", "l1d.replacement": "lru"},
        (*_L1, *_BEHIND_L1),
    ),
    EngineTrial(
        "no-l2",
        "no board cache (gem5's board cache passes a modified line to L1D, which then writes the"
        " line back)",
        {"l2.present": "false"},
        ("L1D write-backs",),
    ),
)


@dataclass(frozen=True)
class Ask:
    """The guest, machine, workloads, seeds and experiment to compare.

    If `workloads` is empty, all workloads of the experiment are compared. `chip`: whether gem5's
    processor is P5CPU, with the same chip and nominal clocks as on the embedded engine. Otherwise
    gem5 has its own processor and caches.
    """

    guest: str = GUEST
    machine: str = MACHINE
    workloads: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    experiment: str = EXPERIMENT
    chip: bool = False


@dataclass
class Check:
    """The result of a cross-check.

    `rows`: a table with the columns of `p5stats.crosscheck.differences` and three more columns.
    `share` is the share of the operations of a bracket that the row's experiment makes.
    `explanation` is the name of the experiment that gave the row; empty for the unchanged machine.
    `explained_by` is the name of the experiment that explains the difference of the row; empty if
    no experiment explains the difference. `hosts`: the host time of each run. `events`: with one
    chip on both engines, the columns of `p5stats.crosscheck.every_event` and `explanation`.
    """

    rows: pd.DataFrame
    hosts: pd.DataFrame
    failed: list[Result] = field(default_factory=list)
    cannot: list[Cannot] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)
    events: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*crosscheck.EVENTS, "explanation"])
    )

    @property
    def unexplained(self) -> pd.DataFrame:
        """The rows of the unchanged machine with a difference that no experiment explains."""
        own = _own(self.rows)
        return own[(own["verdict"] == DIFFERS) & (own["explained_by"] == "")]


def expansions(lab: Lab, ask: Ask, trial: EngineTrial | None = None) -> list[Expansion]:
    """The runs of both engines, in the order of ENGINES. Raises UserError for a bad setting or
    name.

    `trial`: the experiment; None for the unchanged machine.
    """
    settings = {**SETTINGS, **trial.settings} if trial else {}
    return [
        experiment.expand(
            lab,
            ask.experiment,
            Filter(
                machines=(ask.machine,),
                guests=(ask.guest,),
                workloads=ask.workloads,
                seeds=ask.seeds,
                settings=tuple(settings.items()),
                feedback=False if trial and not ask.chip else None,
                observation=Observation.of(NominalClocks()) if ask.chip else Observation(),
                engine=engine,
            ),
        )
        for engine in (BOCHS, CHIP if ask.chip else CLASSIC)
    ]


def _shortened(lab: Lab, run: Run) -> Run:
    """A run with SHARE of the operations of a bracket, at least one operation. A run whose workload
    has no parameter for the number of operations does not change."""
    name = run.workload.operations
    if not isinstance(name, str):
        return run
    least = max(1, run.workload.parameters[name].minimum)
    number = max(least, round(SHARE * _operations(run)))
    return replace(
        run,
        parameters={**run.parameters, name: number},
        given=tuple(dict.fromkeys((*run.given, name))),
    )


def choose(names: Sequence[str]) -> list[EngineTrial]:
    """The explanations with these names. Raises UserError for an unknown name."""
    known = {trial.name: trial for trial in EXPLANATIONS}
    for name in names:
        if name not in known:
            raise unknown("explanation", name, known, where="--explain")
    return [known[name] for name in dict.fromkeys(names)]


def check(
    lab: Lab, ask: Ask, execute: Execute, explanations: Sequence[EngineTrial] | None = ()
) -> Check:
    """Compares the counts of both engines, and runs experiments that can explain the differences.

    An experiment runs only the workloads that have an unexplained difference in its `quantities`.
    With one chip on both engines, the experiments ON_ONE_CHIP run all workloads.
    `explanations`: the experiments to run. None means every experiment that can explain a
    difference.
    """
    checked = _compare(lab, ask, execute)
    if explanations is None:
        explanations = [trial for trial in EXPLANATIONS if len(_open(checked.rows, trial))]
    for trial in explanations:
        every = ask.chip and trial.name in ON_ONE_CHIP
        asked = checked.rows if every else _open(checked.rows, trial)
        if asked.empty:
            continue
        workloads = tuple(dict.fromkeys(asked["workload"]))
        again = _compare(lab, replace(ask, workloads=workloads), execute, trial)
        again.rows = crosscheck.against(_own(checked.rows), again.rows)
        again.rows = again.rows[again.rows["quantity"].isin(trial.quantities)]
        again.rows = again.rows.assign(explanation=trial.name, explained_by="")
        checked.failed += again.failed
        checked.rows = pd.concat([checked.rows, again.rows], ignore_index=True)
        checked.events = pd.concat(
            [checked.events, again.events.assign(explanation=trial.name)], ignore_index=True
        )
        _explain(checked.rows, trial)
    return checked


def _compare(lab: Lab, ask: Ask, execute: Execute, trial: EngineTrial | None = None) -> Check:
    """The comparison in an experiment, or on the unchanged machine. The rows of an experiment have
    the parameters of the unchanged runs."""
    expanded = expansions(lab, ask, trial)
    whole = [run for expansion in expanded for run in expansion.runs]
    runs = [_shortened(lab, run) for run in whole] if trial else whole
    parameters, shares = {}, {}
    for before, run in zip(whole, runs, strict=True):
        parameters[_name(run)] = before.parameter_text
        shares[_name(before)] = _operations(run) / _operations(before)
    on_gem5 = [run for run in runs if run.engine != BOCHS]
    engines.get(on_gem5[0].engine if on_gem5 else CLASSIC).examine(lab, on_gem5)
    results = execute(runs)
    done = [result for result in results if result.status == "ok"]
    counted: dict[str, list[pd.DataFrame]] = {engine: [] for engine in ENGINES}
    for result in done:
        table, _ = tidy.read_run(result.directory)
        of = parameters[_name(result.run)]
        counted[_shown(result.run)].append(table.assign(parameters=of))
    rows, each = (pd.DataFrame(columns=names) for names in (crosscheck.COLUMNS, crosscheck.EVENTS))
    if all(counted.values()):
        first, second = (pd.concat(counted[engine], ignore_index=True) for engine in ENGINES)
        rows = crosscheck.differences(first, second)
        each = crosscheck.every_event(first, second) if ask.chip else each
    share = [shares[key] for key in zip(rows["workload"], rows["parameters"], strict=True)]
    return Check(
        rows.assign(share=share, explanation="", explained_by=""),
        pd.DataFrame(map(_host, done), columns=HOSTS),
        [result for result in results if result.status != "ok"],
        list(dict.fromkeys(cannot for expansion in expanded for cannot in expansion.cannot)),
        list(dict.fromkeys(reason for result in done for reason in _deviations(result))),
        each.assign(explanation=""),
    )


def _shown(run: Run) -> str:
    """The name of a run's simulator in the tables."""
    return BOCHS if run.engine == BOCHS else GEM5


def _name(run: Run) -> tuple[str, str]:
    return run.workload.name, run.parameter_text


def _operations(run: Run) -> int:
    return run.workload.operations_in(run.parameters)


def _host(result: Result) -> tuple[object, ...]:
    """The HOSTS of a run."""
    run, record = result.run, store.read(result.directory) or {}
    after = record.get("after_boot_seconds", math.nan)
    if run.engine != BOCHS:
        # Each dump of gem5 contains the host time since the previous dump. The first dump is made
        # at the ready marker, so the host time of the first dump is left out.
        spans = sections(result.directory / STATS, lambda name: name == "hostSeconds")
        after = sum(float(section.get("hostSeconds")) for section in list(spans)[1:])
    instructions = _instructions(result.directory / EVENTS)
    return *_name(run), run.seed, _shown(run), result.wall_seconds, after, instructions


def _instructions(path: Path) -> float:
    """The number of instructions between the ready marker and the last marker.

    NaN if the engine does not count instructions.
    """
    parsed = events.parse(path)
    if "instructions" not in parsed.units or not parsed.markers:
        return math.nan
    begin = parsed.ready or parsed.markers[0]
    return parsed.between(begin, parsed.markers[-1])["instructions"]


def _deviations(result: Result) -> list[str]:
    record = store.read(result.directory) or {}
    return [
        str(note["reason"])
        for note in record.get("notes", [])
        if result.run.engine != BOCHS and "reason" in note
    ]


def _open(rows: pd.DataFrame, trial: EngineTrial) -> pd.DataFrame:
    """The unexplained differences above the limit that this experiment may explain."""
    own = _beyond(_own(rows))
    return own[own["quantity"].isin(trial.quantities) & (own["explained_by"] == "")]


def _own(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the unchanged machine."""
    return rows[rows["explanation"] == ""]


def _beyond(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a difference above the limit. A row without a limit uses the limit of L1."""
    return rows[rows["difference"].abs() > rows["allowed"].fillna(crosscheck.ALLOWED[L1])]


def _explain(rows: pd.DataFrame, trial: EngineTrial) -> None:
    """Marks differences as explained if they are not above the limit in the experiment."""
    again = rows[(rows["explanation"] == trial.name) & rows["difference"].notna()]
    removed = again.drop(_beyond(again).index).set_index(COUNT).index
    own = _open(rows, trial)
    is_removed = own.set_index(COUNT).index.isin(removed)
    rows.loc[own.index[is_removed], "explained_by"] = trial.name


# --- for people -----------------------------------------------------------------------------------

EQUAL = "Equal events"  # the title of a table
SHOWN = (
    *("instructions", "data reads", "data writes", "segment loads", "ring crossings", "CR3 loads"),
    *("L1D read misses", "L1D write misses", "L1I misses", "DTLB misses", "L2 read misses"),
    "nominal cycles",
)
NOTE = (
    "The first table shows the difference between the counts of gem5 and bochs in one bracket,"
    " relative to the larger count. A count is a median, minus the count of the empty bracket. The"
    " median is over those brackets of a phase that have the fewest interrupts. Architectural"
    " counts may differ by 1 %, and L1 misses by 5 %. A star marks a larger difference. A dash"
    " means that an engine does not count the event."
)
EVENTS_NOTE = (
    "The table of equal events compares every event that both engines count: the medians over those"
    " brackets of a phase that have the fewest interrupts, and the number of these interrupts. The"
    " empty bracket is not subtracted."
)
EXPERIMENTS_NOTE = (
    f"All experiments run at {SETTINGS['cpu.clock_mhz']} MHz, with {SHARE:.0%} of the operations of"
    " a bracket (at least one). Without `--chip`, gem5 has its atomic CPU, on which caches and"
    " memory take no time. So almost no bracket contains a clock tick. `after` is relative to the"
    f" larger count, before or in the experiment; {SHARE:.0%} of the count before is used."
)


def grids(checked: Check) -> list[Grid]:
    """The tables for people. A table without rows is omitted."""
    rows = _few(checked.rows)
    own = _own(rows)
    result = [
        _overview(own),
        _equal(_few(checked.events)),
        _differing(own),
        _experiments(rows),
        _times(checked.hosts),
    ]
    return [grid for grid in result if grid.rows]


def _few(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows to show. If a workload measures a curve over sizes, only the rows of the smallest,
    the middle and the largest size are shown."""
    kept, curves = [], _curves(rows)
    for name, group in rows.groupby("workload", sort=False):
        phases = list(dict.fromkeys(group["phase"]))
        if name in curves:
            phases.sort(key=size_of)
            phases = [phases[0], phases[len(phases) // 2], phases[-1]]
        kept += [group[group["phase"] == phase] for phase in phases]
    return pd.concat(kept) if kept else rows


def _curves(rows: pd.DataFrame) -> dict[str, int]:
    """The number of sizes in the curve of a workload, for each workload that measures a curve."""
    names = rows.drop_duplicates(["workload", "phase"]).groupby("workload", sort=False)["phase"]
    return {name: len(phases) for name, phases in names if phases.map(is_size).all()}


def _label(row: Mapping[str, Any] | pd.Series) -> str:
    """The name of a workload, followed by the name of the phase if the two names differ."""
    name, phase = str(row["workload"]), str(row["phase"])
    return name if phase in (name, "") else f"{name}, {phase}"


def _overview(own: pd.DataFrame) -> Grid:
    counted = own[own["verdict"] != ABSENT]["quantity"].unique()
    shown = [name for name in SHOWN if name in counted]
    grid = Grid("gem5 against bochs", ["", *map(_head, shown)])
    for _, rows in own.groupby(ASKED, sort=False):
        by_quantity = {row["quantity"]: row for row in rows.to_dict("records")}
        label = _label(rows.iloc[0])
        grid.add(label, *(_difference(by_quantity[quantity]) for quantity in shown))
    return grid


def _head(quantity: str) -> str:
    """The name of a quantity in two lines."""
    first, _, last = quantity.rpartition(" ")
    return f"{first}\n{last}" if first else quantity.replace("instructions", "instruc-\ntions")


def _equal(events: pd.DataFrame) -> Grid:
    """How many events are equal on one chip, and which are not if no clock tick disturbs them."""
    heads = ["", "events", "equal", "interrupts"]
    done = set(events["explanation"])
    experiments = [trial.name for trial in EXPLANATIONS if trial.name in done]
    heads += [head for name in experiments for head in (f"equal,\n{name}", "interrupts")]
    grid = Grid(EQUAL, [*heads, "what differs"])
    for _, rows in events.groupby(ASKED, sort=False):
        cells = []
        for name in ("", *experiments):
            part = rows[rows["explanation"] == name]
            apart = part[part["first"] != part["second"]]["event"]
            some = [str(len(part) - len(apart)), number(part["interrupts"].max())]
            cells += some if len(part) else [MISSING] * 2
        own = rows[rows["explanation"] == ""]
        names = ", ".join(apart) or MISSING
        grid.add(_label(rows.iloc[0]), str(len(own)), *cells, names)
    return grid


def _differing(own: pd.DataFrame) -> Grid:
    heads = ["", "", *ENGINES, "difference", "allowed", "explained by"]
    grid = Grid("What differs", heads, keys=2)
    for row in _beyond(own).to_dict("records"):
        allowed = MISSING if math.isnan(row["allowed"]) else f"{row['allowed']:.0%}"
        grid.add(
            _label(row),
            row["quantity"],
            number(row["first"]),
            number(row["second"]),
            _percent(row["difference"]),
            allowed,
            row["explained_by"] or MISSING,
        )
    return grid


def _experiments(rows: pd.DataFrame) -> Grid:
    """The effect of each experiment on the differences that the experiment should explain."""
    heads = ["", "", "experiment", "before", *ENGINES, "after"]
    grid = Grid("Experiments", heads, keys=3)
    before = _beyond(_own(rows)).set_index(COUNT)["difference"].rename("before")
    again = rows[rows["explanation"] != ""].join(before, on=COUNT, how="inner")
    for row in again.to_dict("records"):
        grid.add(
            _label(row),
            row["quantity"],
            row["explanation"],
            _percent(row["before"]),
            number(row["first"]),
            number(row["second"]),
            _percent(row["difference"]),
        )
    return grid


def _times(hosts: pd.DataFrame) -> Grid:
    run, ready, mips = (
        [f"{engine}\n{what}" for engine in ENGINES] for what in ("run", "from ready", "MIPS")
    )
    grid = Grid("Host time in seconds", ["", *run, *ready, "ratio", *mips])
    for (name, parameters, seed), rows in hosts.groupby(RUN, sort=False):
        if set(rows["engine"]) != set(ENGINES):
            continue
        pair = rows.drop_duplicates("engine", keep="last").set_index("engine").loc[list(ENGINES)]
        after, counted = pair["after_boot_seconds"], pair["instructions"] / 1e6
        label = f"{name} {parameters}".strip() + (f", seed {seed}" if seed else "")
        grid.add(
            label,
            *map(number, pair["wall_seconds"]),
            *map(number, after),
            times(ratio(after[GEM5], after[BOCHS])),
            *(number(ratio(*both)) for both in zip(counted, after, strict=True)),
        )
    return grid


def _difference(row: Mapping[str, float | str]) -> str:
    star = "*" if row["verdict"] == DIFFERS else ""
    return _percent(float(row["difference"])) + star


def _percent(value: float) -> str:
    if math.isnan(value):
        return MISSING
    return "0" if value == 0 else f"{100 * value:+.2f} %"


def notes(checked: Check) -> list[str]:
    """The lines below the tables: the number of counts that agree, the deviations of gem5, and the
    workloads that the guest cannot run."""
    own = _own(checked.rows)
    bounded = own[own["verdict"].isin((AGREES, DIFFERS))]
    lines = [
        f"{name}: the tables show three of {count} sizes; --format csv prints all sizes."
        for name, count in _curves(own).items()
    ]
    for kind in (ARCHITECTURAL, L1):
        rows = bounded[bounded["kind"] == kind]
        if len(rows):
            agree = int((rows["verdict"] == AGREES).sum())
            explained = int(((rows["verdict"] == DIFFERS) & (rows["explained_by"] != "")).sum())
            more = f", {explained} explained" if explained else ""
            lines.append(f"{kind}: {agree} of {len(rows)} agree{more}.")
    for name, rows in checked.events.groupby("explanation"):
        equal = int((rows["first"] == rows["second"]).sum())
        lines.append(f"every event{f', {name}' if name else ''}: {equal} of {len(rows)} are equal.")
    lines += [f"{DEVIATION}: {text}." for text in checked.deviations]
    lines += [f"Not run: {reason}." for reason in checked.cannot]
    done = set(checked.rows["explanation"]) - {""}
    lines += [EXPERIMENTS_NOTE] if done else []
    trials = [trial for trial in EXPLANATIONS if trial.name in done]
    lines += [f"Experiment {trial.name}: {trial.title}." for trial in trials]
    return [NOTE, *([EVENTS_NOTE] if len(checked.events) else []), *lines]


def show(console: Console, checked: Check, form: str) -> None:
    """Prints the result. `form`: "table", "csv", "json" or "markdown". "csv" has a row for each
    phase, quantity and experiment, and "json" also has the host times in seconds."""
    tables.show(
        console,
        form,
        grids(checked),
        notes(checked),
        tables.records(checked.rows),
        engines=ENGINES,
        events=tables.records(checked.events),
        host=tables.records(checked.hosts),
        deviations=checked.deviations,
        failed=[
            {"run": result.id, "label": result.run.label, "reason": result.reason}
            for result in checked.failed
        ],
        cannot=list(map(vars, checked.cannot)),
    )


def record(checked: Check) -> Record:
    """The tables and notes for people, as lists of texts."""
    return {
        "tables": [
            {"title": grid.title, "rows": [grid.heads, *map(list, grid.rows)]}
            for grid in grids(checked)
        ],
        "notes": notes(checked),
    }
