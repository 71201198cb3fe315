# SPDX-License-Identifier: MIT
"""`./p5lab report` writes one self-contained HTML page about the stored results of an experiment
(docs/start/reading-a-report.md)."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p5lab.describe import experiment, workload
from p5lab.describe.experiment import Expansion, Run
from p5lab.errors import STATUS_FAILED, UserError, disk_error
from p5lab.evidence import counter_method, published, validate
from p5lab.execute import runner
from p5lab.host import packages
from p5lab.keep import store
from p5lab.lab import Lab
from p5lab.present import by_function
from p5lab.present.comparison import Comparison
from p5lab.present.page.results import Found, Results, choose

RELATIVE = "ousterhout90"  # pages of experiments with this prefix show MIPS-relative speeds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Written:
    """`page` and `exported`: the files that were written. `missing`: the runs of the experiment
    that have no stored result."""

    page: Path
    exported: list[Path]
    missing: list[Run]


def write(
    lab: Lab, name: str, expansion: Expansion, output: Path, export: Path | None = None
) -> Written:
    """Writes the page of experiment `name` to `output`. After an error, `output` is unchanged.

    `export`: a directory that gets each figure as PNG, SVG and CSV. Raises UserError if none of the
    experiment's runs is stored, or if a file cannot be written.
    """
    # The imports are here because Altair and vl-convert take a second to load. Only this command
    # needs these libraries, so they may have to be installed first.
    packages.ensure("report")
    from p5lab.present.page import (
        document,
        figures,
        functions_figure,
        method_figure,
        relative_figure,
        svg,
    )

    results = choose(
        expansion.runs, (one for one in store.all_runs(lab) if one.record["experiment"] == name)
    )
    if not results.found:
        raise UserError(
            f"{name} has no results: run `./p5lab run {name}` with the same options first",
            status=STATUS_FAILED,
        )
    found = Comparison(results.shown, expansion.cannot)
    asked = _claims(lab, name, results)
    if counter_method.applies(results.shown):
        ids = [one.id for one in results.shown]
        drawn = [method_figure.of(counter_method.rows(results.shown), ids)]
    else:
        sources = {one.name: one.source for one in workload.load(lab).values()}
        drawn = figures.of(found, asked, sources)
        if name.startswith(RELATIVE):
            drawn = [*relative_figure.of(found, published.load(lab)), *drawn]
    attributed = [pair for one in results.found for pair in _attributed(one)]
    drawn += [
        functions_figure.of(stored.record["label"], stored.id, counts)
        for stored, counts in attributed
    ]
    judged = validate.evaluate(lab, asked, [_result(one) for one in results.found])
    title = experiment.title(lab, name)
    runs = {one.id: one for one in (*results.shown, *(stored for stored, _ in attributed))}
    page = document.make(name, title, results, found, drawn, judged.results, list(runs.values()))
    _replace(output, document.render(page))
    exported = []
    if export is not None:
        try:
            export.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, export) from None
        exported = [path for figure in drawn for path in svg.export(figure, export)]
    return Written(output, exported, results.missing)


def _attributed(one: Found) -> "list[tuple[store.Stored, pd.DataFrame]]":
    """Searches the stored runs of `one` for the newest run with counts by function. Returns this
    run and its counts, or [] if there is no such run."""
    for stored in one.stored:
        if stored.status == "ok" and (counts := by_function.of_run(stored.directory)) is not None:
            return [(stored, counts)]
    return []


def _claims(lab: Lab, name: str, results: Results) -> list[published.Claim]:
    """Returns the claims about the machines of the page.

    Leaves out claims that another experiment measures.
    """
    machines = {one.run.machine.name for one in results.found}
    return [
        claim
        for claim in published.load(lab)
        if claim.machine in machines and (claim.measure is None or claim.measure.experiment == name)
    ]


def _result(one: Found) -> runner.Result:
    stored = one.shown
    wall = stored.record.get("wall_seconds", 0.0)
    return runner.Result(
        one.run,
        stored.id,
        stored.directory,
        stored.status,
        stored.record["reason"],
        reused=True,
        wall_seconds=wall,
    )


def _replace(output: Path, text: str) -> None:
    temporary = output.with_name(output.name + ".tmp")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(output)
    except OSError as error:
        raise disk_error(error, output) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
