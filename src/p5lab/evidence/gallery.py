# SPDX-License-Identifier: MIT
"""The gallery: well-known effects, each with the runs that show it, a figure and two sentences.

configs/gallery.toml describes the effects, and docs/evidence/records/gallery.json has the numbers
of their figures. `./p5lab docs gallery` makes both of the runs and of the page docs/gallery.md;
p5lab.page.gallery_figures draws the figures.
"""

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from p5lab.describe import seeds, sweep, tomlfile
from p5lab.describe.request import Filter, Request
from p5lab.describe.tomlfile import TomlTable
from p5lab.errors import UserError
from p5lab.evidence.records import Record, short
from p5lab.keep.result import Execute, succeeded
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5stats import claims, papers, tidy

FILE, NAME, PLACE = "configs/gallery.toml", "gallery", "docs/gallery"
OPTIONS = ("machines", "guests", "workloads", "sweeps")  # of `run`, each with one value per option
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class GalleryEffect:
    """An effect of the gallery. `metric`: the number of one operation. `row`: the column with the
    names of bars, or the sizes of a curve. `axis`: the name of a curve's axis; empty for bars.
    `series`: the column with the colours; empty for one colour. `names`: of the values of `series`,
    or of `row` without series. `where`: what the rows must have. `only`: the rows in their order;
    all rows if empty."""

    name: str
    title: str
    text: str
    request: Request
    command: str
    metric: str
    row: str
    axis: str = ""
    series: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()


def effects(lab: Lab) -> list[GalleryEffect]:
    """The effects of the file, in its order. Raises UserError for a wrong entry."""
    return [*map(_effect, tomlfile.load(lab.root / FILE, ("effect",)).tables("effect"))]


def _effect(table: TomlTable) -> GalleryEffect:
    table.only(("name", "title", "text", "run", "figure"))
    run = table.table("run")
    run.only(("experiment", *OPTIONS, "seeds"))
    given = {name: tuple(run.texts(name, [])) for name in OPTIONS}
    chosen, experiment = run.text("seeds", ""), run.text("experiment")
    every = {**given, "seeds": (chosen,) if chosen else ()}
    options = [(f"--{name[:-1]}", value) for name, values in every.items() for value in values]
    choice = Filter(
        machines=given["machines"],
        guests=given["guests"],
        workloads=given["workloads"],
        sweeps=sweep.parse(given["sweeps"]),
        seeds=seeds.parse(chosen) if chosen else (),
    )
    return table.table("figure").record(
        GalleryEffect,
        name=table.text("name"),
        title=table.text("title"),
        text=" ".join(table.text("text").split()),
        request=Request(experiment, choice),
        command=shlex.join(["./p5lab", "run", experiment, *chain(*options)]),
    )


def measured(lab: Lab, execute: Execute) -> Record:
    """The record of the effects. Raises UserError if a run fails, or if a figure has no row."""
    return {effect.name: _rows(lab, effect, execute) for effect in effects(lab)}


def _rows(lab: Lab, effect: GalleryEffect, execute: Execute) -> list[Record]:
    """The marks of a figure: row, series, mean, lowest and highest value over the seeds."""
    runs = succeeded(execute(prepare(lab, effect.request).runs))
    keys = [name for name in (effect.row, effect.series, *effect.where) if "." in name]
    table = tidy.of_runs([stored.directory for stored in runs], keys=keys or None)
    numbers = papers.measured(table)
    numbers = numbers[numbers["metric"] == effect.metric].dropna(subset="value")
    for name, value in effect.where.items():
        numbers = numbers[numbers[name].map(_text) == value]
    rows = numbers.assign(
        shown=numbers[effect.row].map(_text),
        colour=numbers[effect.series].map(_text) if effect.series else "",
    )
    spread = rows.groupby(["shown", "colour"], sort=False)["value"].agg(["mean", "min", "max"])
    every = zip(spread.index, spread.to_numpy(), strict=True)
    marks = [[*map(str, key), *map(short, map(float, row))] for key, row in every]
    if effect.only:
        marks = [mark for name in effect.only for mark in marks if mark[0] == name]
    if not marks or (absent := set(effect.only) - {mark[0] for mark in marks}):
        raise UserError(f"{FILE}: {effect.name}: no run has {sorted(absent)[0] if marks else 'it'}")
    return marks


def _text(value: object) -> str:
    """The value of a column as a text. Empty if the row has no value. A whole number has no
    fraction, also if other rows have no value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def point(row: str) -> float:
    """The place of a row on the axis of a curve: its size in bytes, or its first number."""
    if claims.is_bytes(row):
        return claims.size_of(row)
    match = NUMBER.search(row)
    return float(match[0]) if match else math.nan


def page(lab: Lab) -> str:
    """The effects as Markdown, each with its figure and its command."""
    return (
        "\n\n".join(
            f"## {effect.title}\n\n{effect.text}\n\n![{effect.title}]({NAME}/{effect.name}.svg)\n\n"
            f"```\n{effect.command}\n```"
            for effect in effects(lab)
        )
        + "\n"
    )
