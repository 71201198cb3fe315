# SPDX-License-Identifier: MIT
"""./p5lab validate: published numbers beside modelled numbers (docs/evidence/claims.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console

from p5lab.describe import experiment, papers
from p5lab.describe import machine as machines
from p5lab.describe.experiment import Filter, Run
from p5lab.errors import unknown
from p5lab.evidence import published as claim_file
from p5lab.evidence.records import short
from p5lab.keep.result import Execute, Result
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import tables
from p5lab.present.tables import MISSING, Grid, number, plain
from p5stats import claims, tidy
from p5stats.claims import (
    FAILS,
    FITTED,
    HOLDS,
    INPUT,
    NOT_RUN,
    PREDICTED,
    SYSTEM,
    UNTESTABLE,
    Claim,
)
from p5stats.lazy import pd

RECORDED = "recorded"  # in the column `runs`: the number comes from the record, not from runs here
WORDS = {HOLDS: "yes", FAILS: "no", NOT_RUN: NOT_RUN, UNTESTABLE: MISSING}  # verdicts in tables


@dataclass(frozen=True)
class Validation:
    """The rows of `claims.evaluate`, and the needed runs that failed."""

    results: pd.DataFrame
    failed: list[Result]


def select(lab: Lab, source: str | None) -> list[Claim]:
    """The claims of one paper, or of all papers if `source` is None. Raises UserError for an
    unknown paper."""
    if source is not None and source not in papers.here():
        raise unknown("paper", source, papers.here(), where="--source")
    return [
        claim
        for claim in claim_file.load(lab)
        if source is None or claim.source.split()[0] == source
    ]


def runs(lab: Lab, asked: Sequence[Claim]) -> list[Run]:
    """The runs that the claims need, on the machines of the claims. Each run is listed once."""
    needed: dict[tuple[str, str, str, int], Run] = {}
    expanded: dict[tuple[str, str, str], list[Run]] = {}
    for claim in asked:
        if (measure := claim.measure) is None:
            continue
        for selection in filter(None, (measure.select, measure.less, measure.over)):
            side = measure.of(selection)
            machine = selection.machine or claim.machine
            question = side.experiment, machine, side.guest
            if question not in expanded:
                choice = Filter(machines=(machine,), guests=(side.guest,))
                expanded[question] = experiment.load(lab, side.experiment, choice)
            for place, run in enumerate(expanded[question]):
                texts = {name: str(value) for name, value in run.parameters.items()}
                if (
                    run.workload.name == side.workload
                    and run.machine.geometry == selection.geometry
                    and selection.parameters.items() <= texts.items()
                ):
                    needed.setdefault((*question, place), run)
    return list(needed.values())


def evaluate(
    lab: Lab, asked: Sequence[Claim], results: Iterable[Result] | Iterable[Stored]
) -> pd.DataFrame:
    """The verdicts on the claims. The verdicts depend only on these results."""
    counted, clocks = [], {}
    for result in results:
        if result.status == "ok":
            table, clocks[result.id] = tidy.read_run(result.directory)
            counted.append(table)
    table = pd.concat(counted, ignore_index=True) if counted else pd.DataFrame(columns=tidy.COLUMNS)
    return claims.evaluate(asked, table, clocks, _machines(lab, asked))


def misses(judged: pd.DataFrame) -> bool:
    """Whether a claim does not hold."""
    return bool((judged["verdict"] == FAILS).any())


def show(console: Console, judged: pd.DataFrame, form: str, *, everything: bool = False) -> None:
    """Prints the verdicts. `form`: "table", "csv", "json" or "markdown".

    `everything` has the same meaning as in `grids`. The forms "csv" and "json" always contain all
    rows, because programs read these forms.
    """
    rows = tables.records(judged)
    if form == "json":
        headline = {name: plain(value) for name, value in claims.headline(judged).items()}
        console.file.write(tables.as_json(headline=headline, claims=rows))
    else:
        shown, said = grids(judged, everything=everything), notes(judged, everything=everything)
        tables.show(console, form, shown, said, rows)


# --- for people ---------------------------------------------------------------------------------


def grids(judged: pd.DataFrame, *, everything: bool = False) -> list[Grid]:
    """The table of measured claims.

    With `everything`, the table also shows untestable claims and the inputs from machine files.
    """
    grid = Grid("", ["", "published", "modelled", "error", "role", "holds", "source"])
    for row in judged.to_dict("records"):
        if everything or row["runs"] or row["verdict"] == NOT_RUN:
            grid.add(
                row["quantity"],
                published(row),
                number(row["modelled"]),
                _error(row),
                row["role"],
                WORDS[row["verdict"]],
                re.sub("section |appendix ", "", row["source"]),
            )
    return [grid] if grid.rows else []


def notes(judged: pd.DataFrame, *, everything: bool = False) -> list[str]:
    """The summary, and the reasons why claims do not hold."""
    untestable = judged[judged["role"] == UNTESTABLE]
    lines = [_headline(judged, role) for role in (PREDICTED, FITTED, INPUT, SYSTEM)]
    lines.insert(1, _by_paper(judged))
    if len(untestable):
        lines.append(
            f"Untestable here: {len(untestable)}"
            + ("." if everything else " (--all lists them with the reasons).")
        )
    for verdict, heading in ((FAILS, "What does not hold:"), (NOT_RUN, "Not run:")):
        rows = judged[judged["verdict"] == verdict].to_dict("records")
        lines += [_list(heading, [f"{_named(row)}: {row['reason']}" for row in rows])]
    noted: dict[str, list[str]] = {}  # several claims may share a note
    for row in judged[judged["note"].ne("") & judged["verdict"].ne(NOT_RUN)].to_dict("records"):
        noted.setdefault(row["note"], []).append(_named(row))
    lines += [_list("Notes:", [f"{'; '.join(names)}: {note}" for note, names in noted.items()])]
    if everything:
        reasons = untestable.groupby("reason", sort=False)["source"].unique()
        lines += [
            _list("Untestable:", [f"{', '.join(names)}: {why}" for why, names in reasons.items()])
        ]
    return [line for line in lines if line]


def _list(heading: str, items: list[str]) -> str:
    return "\n".join([heading, *(f"- {item}" for item in items)]) if items else ""


def _named(row: dict[str, object]) -> str:
    return f"{row['quantity']} ({row['source']})"


def _headline(judged: pd.DataFrame, role: str) -> str:
    said = claims.headline(judged, role)
    if not said["claims"]:
        return ""
    line = f"{role.capitalize()}: {said['hold']} of {said['claims']} hold"
    if role == INPUT:  # without errors, because inputs are no evidence for the model
        is_plain = (judged["runs"] == "") & (judged["verdict"] != NOT_RUN)
        plain = judged[(judged["role"] == INPUT) & is_plain]
        return line + (
            f", {len(plain)} of them by comparison with the machine files." if len(plain) else "."
        )
    if role == SYSTEM:  # without errors, because our system is not the paper's system
        return line + "."
    if said["values"]:
        line += (
            f"; {said['values']} values with a mean error of {said['mean_error']:.1f} % and a"
            f" largest error of {said['largest_error']:.1f} %"
        )
    if said["bounds"]:
        line += f"; {said['kept']} of {said['bounds']} bounds kept"
    return line + "."


def _by_paper(judged: pd.DataFrame) -> str:
    """The predicted claims of each paper, so that a new paper does not hide the others."""
    papers_of = judged["source"].str.split().str[0]
    parts = []
    for paper in papers_of.unique():
        said = claims.headline(judged[papers_of == paper])
        if said["claims"]:
            error = f", mean error {said['mean_error']:.1f} %" if said["values"] else ""
            parts.append(f"{paper} {said['hold']} of {said['claims']}{error}")
    return f"Predicted, by paper: {'; '.join(parts)}." if len(parts) > 1 else ""


def published(row: dict[str, object]) -> str:
    """The published value of a claim with its tag and unit. If the claim is about a shape, the text
    is the name of the shape."""
    if row["tag"] in claims.SHAPES:
        return str(row["tag"])
    tag = "" if row["tag"] == "exact" else f"{row['tag']} "
    return f"{tag}{number(float(str(row['published'])))} {row['unit']}".strip()


def _error(row: dict[str, object]) -> str:
    """The error in percent. The text is a dash if the claim has no error, for example for a bound
    that holds."""
    error = float(str(row["error"]))
    kept = row["tag"] in claims.BOUNDS and row["verdict"] == HOLDS
    return MISSING if kept or math.isnan(error) else f"{error:+.1f} %"


# --- the documents ------------------------------------------------------------------------------


def block(judged: pd.DataFrame) -> str:
    """The verdicts in Markdown."""
    return tables.document(grids(judged), notes(judged)) + "\n"


def record(judged: pd.DataFrame) -> dict[str, float]:
    """The modelled numbers of the measured claims, by the claim's id."""
    rows = judged[judged["runs"] != ""]
    return dict(zip(rows["claim"], map(short, rows["modelled"]), strict=True))


def recorded(lab: Lab, known: Mapping[str, float]) -> pd.DataFrame:
    """The verdicts that follow from a record: the published numbers come from the claims."""
    asked = select(lab, None)
    values = {name: (value, RECORDED) for name, value in known.items()}
    return claims.judge(asked, values, _machines(lab, asked))


def _machines(lab: Lab, asked: Sequence[Claim]) -> dict[str, Mapping[str, object]]:
    names = {claim.machine for claim in asked if claim.role != UNTESTABLE}
    return {name: machines.load(lab, name).values for name in names}


def run(lab: Lab, asked: Sequence[Claim], executor: Execute) -> Validation:
    """Runs the needed experiments with `executor` and returns the verdicts."""
    needed = runs(lab, asked)
    results = executor(needed) if needed else []
    failed = [result for result in results if result.status != "ok"]
    return Validation(evaluate(lab, asked, results), failed)
