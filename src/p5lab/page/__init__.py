# SPDX-License-Identifier: MIT
"""`./p5lab report` writes one self-contained HTML page about the stored results of an experiment,
or about stored runs (docs/start/reading-a-report.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p5lab import packages
from p5lab.describe import experiment, workload
from p5lab.describe.experiment import Cannot, Expansion, Run
from p5lab.errors import UserError, writing
from p5lab.evidence import counter_method, period, published, validate
from p5lab.files import replace_text
from p5lab.keep import selection, store, swept_keys
from p5lab.lab import Lab
from p5lab.page.results import Results, choose, of_stored
from p5lab.present import breakdown, column, comparison, cpi_stack
from p5lab.present.breakdown import BreakdownQuestion
from p5lab.present.column import Column
from p5lab.present.comparison import Comparison
from p5lab.present.figure_size import FigureSize

PROGRAMS = "Programs of your own"  # the title of a page
LISTED = 3  # the title of a page lists at most this number of runs
RELATIVE = "ousterhout90"  # pages of experiments with this prefix show MIPS-relative speeds

if TYPE_CHECKING:
    from p5lab.page.figure import Figure


@dataclass(frozen=True)
class Written:
    """`page` and `exported`: the files that were written. `missing`: the runs of the experiment
    that have no stored result."""

    page: Path
    exported: list[Path]
    missing: list[Run]


@dataclass(frozen=True)
class Wish:
    """What a user wants on a page. `columns`: the panels in the figures of a sweep; empty for the
    default panels. `question`: dimensions of a figure that stands first, with its `top` rows.
    `export`: a directory that gets each figure as SVG, PDF, PNG and CSV. `size`: of these files,
    for a paper."""

    columns: Sequence[Column] = ()
    question: BreakdownQuestion | None = None
    top: int | None = None
    export: Path | None = None
    size: FigureSize | None = None


NO_WISH = Wish()


@dataclass(frozen=True)
class _Subject:
    """What a page is about. `name`: the experiment, or a name for stored runs. `title`: the
    heading. `cannot`: the runs that a guest cannot execute. `keys`: the swept keys. `claims`: the
    claims that the page judges."""

    name: str
    title: str
    results: Results
    cannot: Sequence[Cannot]
    keys: Sequence[str]
    claims: Sequence[published.Claim]


def write(
    lab: Lab,
    name: str,
    expansion: Expansion,
    output: Path,
    command: str,
    wish: Wish = NO_WISH,
) -> Written:
    """Writes the page of experiment `name` to `output`. After an error, `output` is unchanged.

    `command`: makes the runs, without ./p5lab.
    Raises UserError if none of the experiment's runs is stored, or if a file cannot be written.
    """
    stored = store.all_runs(lab, name)
    selection.say_left_out(lab, stored, name)
    results = choose(expansion.runs, stored)
    if not results.groups:
        raise UserError(f"{name} has no results: run `./p5lab {command}` first")
    title = PROGRAMS if name == experiment.PROGRAM else experiment.title(lab, name)
    asked = _claims(lab, name, results)
    subject = _Subject(name, title, results, expansion.cannot, expansion.swept, asked)
    return _write(lab, subject, output, wish, command)


def write_stored(
    lab: Lab,
    name: str,
    groups: Sequence[list[store.Stored]],
    output: Path,
    wish: Wish = NO_WISH,
) -> Written:
    """Writes a page about stored runs to `output`. After an error, `output` is unchanged.

    `name`: a name for the runs. `groups`: the runs of p5lab.keep.selection.groups. Swept keys are
    those in which the runs differ (p5lab.keep.swept_keys.keys_of). The page judges no claims.
    Raises UserError if a file cannot be written.
    """
    records = [same[0].record for same in groups]
    keys = swept_keys.keys_of(records)
    order = swept_keys.in_order([same[0] for same in groups])
    results = of_stored(sorted(groups, key=lambda same: order.index(same[0])))
    known = name in experiment.names(lab)
    title = experiment.title(lab, name) if known else PROGRAMS
    if not known and name != experiment.PROGRAM:
        names = dict.fromkeys(map(comparison.name, records))
        title = f"Runs: {'; '.join(names)}" if len(names) <= LISTED else f"{len(names)} runs"
    return _write(lab, _Subject(name, title, results, (), keys, ()), output, wish)


def _write(
    lab: Lab,
    subject: _Subject,
    output: Path,
    wish: Wish,
    command: str = "",
) -> Written:
    # The imports are here because Altair and vl-convert take a second to load. Only this command
    # needs these libraries, so they may have to be installed first.
    packages.ensure("report")
    from p5lab.page import document, period_sections, run_figures, svg

    results = subject.results
    compared = Comparison(results.shown, subject.cannot, subject.keys)
    _check_columns(subject, compared, wish.columns)
    kinds = [group.named for group in results.groups]
    stacked = [run for same in kinds if (run := cpi_stack.first_in(same))]
    drawn = _divided(results, wish) + _drawn(lab, subject, compared, wish.columns, stacked)
    inside, of_inside = run_figures.of(kinds)
    drawn += inside
    judged = [group.shown for group in results.groups if group.run]
    validation = validate.evaluate(lab, subject.claims, judged)
    runs = {stored.id: stored for stored in (*results.shown, *of_inside)}
    page = document.make(
        subject.name,
        subject.title,
        results,
        compared,
        drawn,
        validation,
        list(runs.values()),
        command,
        period_sections.of(lab) if subject.name == period.EXPERIMENT else (),
        stacked,
    )
    text = document.render(page)
    with writing(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_text(output, text)
    records = {stored.id: stored.record for stored in runs.values()}
    exported = svg.export(drawn, wish.export, records, wish.size) if wish.export else []
    return Written(output, exported, results.missing)


def _divided(results: Results, wish: Wish) -> "list[Figure]":
    """Returns the figures of the dimensions that the user wants to see."""
    from p5lab.page import divided_figure

    if wish.question is None:
        return []
    question = wish.question
    groups = [group.named for group in results.groups]
    runs = [stored for stored, _ in breakdown.counting(groups, question)]
    return divided_figure.of(runs, question, wish.top)


def _check_columns(subject: _Subject, compared: Comparison, columns: Sequence[Column]) -> None:
    """Raises UserError if metrics were chosen for a page whose figures do not use the choice."""
    from p5lab.page import sweep_figure

    uses = sweep_figure.axis(compared) and not compared.has_shadows
    if columns and (not uses or counter_method.applies(subject.results.shown)):
        raise UserError(
            f"report {column.OPTION}: expected a sweep over a machine key with numbers, such as"
            f" --sweep l2.size=128K,256K; the figures of {subject.name} have fixed metrics"
        )


def _drawn(
    lab: Lab,
    subject: _Subject,
    compared: Comparison,
    columns: Sequence[Column],
    stacked: Sequence[store.Stored],
) -> "list[Figure]":
    """Returns the figures of the counts."""
    from p5lab.page import figures, method_figure, relative_figure

    shown = subject.results.shown
    if counter_method.applies(shown):
        return [method_figure.of(counter_method.rows(shown), [stored.id for stored in shown])]
    sources = {name: described.source for name, described in workload.load(lab).items()}
    drawn = figures.of(compared, subject.claims, sources, columns, stacked)
    if subject.name.startswith(RELATIVE):
        drawn = [*relative_figure.of(compared, published.load(lab)), *drawn]
    return drawn


def _claims(lab: Lab, name: str, results: Results) -> list[published.Claim]:
    """Returns the claims about the machines of the page.

    Leaves out claims that another experiment measures.
    """
    machines = {group.run.machine.name for group in results.groups if group.run}
    return [
        claim
        for claim in published.load(lab)
        if claim.machine in machines and (claim.measure is None or claim.measure.experiment == name)
    ]
