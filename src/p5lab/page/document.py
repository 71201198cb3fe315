# SPDX-License-Identifier: MIT
"""Makes the contents of the page, and its HTML from the template page.html.

Texts from results or files are untrusted, so the template escapes all texts. The content security
policy of the page allows only the page's own style sheet and icon. The charts are SVG without
scripts, so a browser executes no code from the page.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from p5lab.describe import outputs, papers
from p5lab.describe.keys import BY_NAME, readable
from p5lab.describe.papers import Paper
from p5lab.evidence import counter_method, validate
from p5lab.keep import named
from p5lab.keep.store import Stored
from p5lab.page import answer, charts, described, offline, screens, summary, svg, theme
from p5lab.page.figure import MODELLED, PUBLISHED, Figure, size, title_of
from p5lab.page.results import Results
from p5lab.present import counts, several_systems
from p5lab.present.comparison import Comparison
from p5lab.present.tables import MISSING, Grid, number
from p5lab.terminal import for_terminal
from p5lab.version import __version__
from p5stats.claims import INPUT, UNTESTABLE

HERE = Path(__file__).parent
GLYPHS = ("●", "■", "▲", "◆", "▼", "✚")  # the characters for theme.SHAPES
FLAT = 5  # the largest number of figures of which none is folded
PART = "■"  # a part of a bar
RUN_HEADS = ("run", "what", "engine", "status", "versions", "events, SHA-256")


@dataclass(frozen=True)
class PageSection:
    """A heading with text and tables."""

    id: str
    title: str
    text: Sequence[str] = ()
    tables: Sequence[Grid] = ()
    folded: Sequence[tuple[str, Sequence[Grid]]] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Drawn:
    """A figure with panels that are drawn as SVG."""

    id: str
    title: str
    form: str
    caption: str
    runs: Sequence[str]
    panels: Sequence[tuple[str, str, Markup]]  # title, unit, drawing
    legend: Sequence[tuple[str, int, str]]
    published: Sequence[str]
    table: Grid
    folded: bool = False


@dataclass(frozen=True)
class PageContents:
    """The contents of a page, in the form that the template needs."""

    name: str
    title: str
    lead: str
    answer: Sequence[str]
    warnings: Sequence[str]
    summary: Sequence[Grid]
    screens: Sequence[screens.ShownScreen]
    figures: Sequence[Drawn]
    sections: Sequence[PageSection]
    runs: Sequence[tuple[str, Sequence[str]]]

    @property
    def first(self) -> Sequence[Drawn]:
        """The figures that stand beside the answer."""
        return self.figures[: _answers(self.figures)]

    @property
    def rest(self) -> Sequence[Drawn]:
        """All other figures."""
        return self.figures[_answers(self.figures) :]

    @property
    def contents(self) -> list[tuple[str, str]]:
        """The identifier and title of each section, for the table of contents."""
        parts = [("summary", "At a glance")] if self.summary else []
        parts += [("screens", "Screens")] if self.screens else []
        parts += [("figures", "Figures")] if self.rest else []
        return [*parts, *((part.id, part.title) for part in self.sections), ("runs", "Runs")]


def render(page: PageContents) -> str:
    """Returns the HTML of a page. The same page always gives the same HTML."""
    style = (HERE / "page.css").read_text(encoding="utf-8")
    return _template().render(
        page=page,
        run_heads=RUN_HEADS,
        version=__version__,
        style=Markup(style),
        style_digest=offline.digest(style),
        lines=_lines,
        capital=_capital,
    )


@cache
def _template() -> jinja2.Template:
    """The template of a page, which is compiled once in a process."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def make(
    name: str,
    title: str,
    results: Results,
    compared: Comparison,
    figures: Sequence[Figure],
    validation: pd.DataFrame,
    runs: Sequence[Stored],
    command: str = "",
    own: Sequence[PageSection] = (),
    stacked: Sequence[Stored] = (),
) -> PageContents:
    """Returns the contents of the page of experiment `name`.

    `validation`: the judged claims of `validate.evaluate`. `runs`: the runs that the figures show.
    `command`: makes the missing runs. `own`: sections that only this experiment has.
    `stacked`: the runs with a CPI stack.
    """
    by_method = _method(results.shown)
    several = len(compared.systems) > 1 and not compared.has_shadows and not by_method
    sections = [
        *own,
        _events(compared) if several else None,
        by_method,
        _counts(compared),
        _claims(validation),
        _machines(results),
        _notes(results, compared),
    ]
    page = PageContents(
        name=name,
        title=title,
        lead=_lead(name, results, compared),
        answer=() if by_method else answer.of(compared, stacked),
        warnings=_warnings(results, command),
        summary=[] if by_method else summary.of(compared),
        screens=screens.of(results.shown),
        figures=_folded([_drawn(figure) for figure in figures], several=several),
        sections=[section for section in sections if section],
        runs=[(stored.id, _run(stored)) for stored in runs],
    )
    cited = papers.named([*compared.experiments, *_texts(page)])
    return replace(page, sections=[*page.sections, *_papers(cited)])


def _texts(page: PageContents) -> Iterator[str]:
    """Yields the texts of a page that can mention a paper."""
    yield from (page.name, page.title)
    for figure in page.figures:
        yield from (figure.title, figure.caption, *figure.published)
    for section in page.sections:
        yield from (*section.text, *section.notes)
        folded = [grid for _, grids in section.folded for grid in grids]
        for grid in (*section.tables, *folded):
            yield grid.title
            yield from (cell for row in grid.rows for cell in row)


def _papers(cited: Sequence[Paper]) -> list[PageSection]:
    lines = [f"{paper.name}: {paper.citation}" for paper in cited]
    return [PageSection("papers", "Papers", notes=lines)] if cited else []


def _lead(name: str, results: Results, compared: Comparison) -> str:
    systems = "; ".join(text.replace("\n", ", ") for text in compared.names().values())
    machines = dict.fromkeys(group.shown.record["machine"]["name"] for group in results.groups)
    guests = dict.fromkeys(group.shown.record["guest"]["name"] for group in results.groups)
    several = len(compared.seeds) > 1
    seeds = f" Placement seeds: {', '.join(map(str, compared.seeds))}." if several else ""
    against = f" Compared systems: {systems}." if len(compared.systems) > 1 else ""
    swept = f" Swept keys: {', '.join(compared.keys)}." if compared.keys else ""
    count = len(results.groups)
    runs = "1 run" if count == 1 else f"{count} runs"
    of = f" of experiment {name}" if results.of_experiment else ""
    return (
        f"This page shows {runs}{of}. Guests: {', '.join(guests)}. Machines:"
        f" {', '.join(machines)}.{against}{swept}{seeds} All numbers come from the model of the"
        " machine, except the numbers that are marked as published."
    )


def _warnings(results: Results, command: str) -> list[str]:
    lines = []
    if results.missing:
        labels = "; ".join(run.label for run in results.missing)
        count = len(results.missing)
        what = "1 run of the experiment is" if count == 1 else f"{count} runs of the experiment are"
        lines.append(
            f"{what} missing: {labels}. The command ./p5lab {command} executes the missing"
            f" {'run' if count == 1 else 'runs'}."
        )
    failed = [stored for stored in results.shown if stored.status != "ok"]
    if failed:
        reasons = "; ".join(f"{run.record['label']}: {run.record['reason']}" for run in failed)
        what = "1 run has" if len(failed) == 1 else f"{len(failed)} runs have"
        lines.append(f"{what} failed: {reasons}.")
    return lines


def _folded(figures: list[Drawn], *, several: bool) -> list[Drawn]:
    """The figures of a page. If it compares systems and has many figures, all after the first ones
    are folded: the overview answers first."""
    if not several or len(figures) <= FLAT:
        return figures
    shown = _answers(figures)
    return [*figures[:shown], *(replace(figure, folded=True) for figure in figures[shown:])]


def _answers(figures: Sequence[Drawn]) -> int:
    """How many figures stand beside the answer: up to the one with the ratios."""
    return next((at for at, figure in enumerate(figures, 1) if figure.form == "ratios"), 0)


def _drawn(figure: Figure) -> Drawn:
    frame = figure.frame
    stacked = figure.form in ("stack", "areas", "ratios")
    several = figure.form in ("dots", "curve") or figure.form == "groups"
    colored = stacked or (several and len(figure.series) > 1)
    published = frame[frame["kind"] == PUBLISHED]
    return Drawn(
        id=figure.id,
        title=figure.title,
        form=figure.form,
        caption=" ".join(figure.caption),
        runs=figure.runs,
        panels=[
            (panel.title, "" if panel.unit == "1" else panel.unit, Markup(svg.panel(panel)))
            for panel in charts.panels(figure)
        ],
        legend=[
            (name, color % len(theme.SERIES), PART if stacked else GLYPHS[i % len(GLYPHS)])
            for i, (name, color) in enumerate(figure.colors.items() if colored else ())
        ],
        published=[
            _published(rows)
            for _, rows in published.groupby(["claim", "series", "metric"], sort=False)
        ],
        table=_table(figure),
    )


def _published(rows: pd.DataFrame) -> str:
    """Returns a text about a published value in a figure."""
    first = rows.iloc[0]
    if math.isnan(first["value"]):
        return f"{first['claim']}, {first['why']} {size(first['point'])} ({first['series']})"
    if len(rows) > 1 and rows["value"].nunique() > 1:
        low, high = number(rows["value"].min()), number(rows["value"].max())
        return f"{first['claim']}, {len(rows)} values from {low} to {high} {first['unit']}"
    phases = list(rows["phase"])
    where = phases[0] if len(phases) == 1 else f"{phases[0]} to {phases[-1]}"
    value = f"{first['why']} {number(first['value'])} {first['unit']}"
    return f"{first['claim']}, {value} ({first['series']}, {where})"


def _table(figure: Figure) -> Grid:
    """Returns a table of the numbers of a figure.

    The table has a row for each benchmark, phase, point of a sweep and series, and a column for
    each metric.
    """
    modelled = figure.frame[figure.frame["kind"] == MODELLED]
    if figure.form == "timeline":
        return _steps(modelled)
    if figure.form == "areas":
        return _areas(figure, modelled)
    keys = ["benchmark", "phase", "series"]
    if modelled.groupby(keys)["point"].nunique().max() > 1:
        keys.insert(2, "point")  # the points of a sweep over a machine key
    shown = [key for key in keys if modelled[key].nunique() > 1] or ["series"]
    units = dict(zip(modelled["metric"], modelled["unit"], strict=True))
    heads = [_axis(figure) if key == "point" else key for key in shown]
    heads += [f"{title_of(name)}\n{units[name]}" for name in figure.metrics]
    grid = Grid("", heads, left=set(range(len(shown))))
    for _, rows in modelled.groupby(keys, sort=False):
        by_metric = {row["metric"]: row for row in rows.to_dict("records")}
        cells = [
            described.value(row) + described.spread(row) if (row := by_metric.get(name)) else ""
            for name in figure.metrics
        ]
        first = rows.iloc[0]
        grid.add(
            *(figure.place(first[key]) if key == "point" else first[key] for key in shown), *cells
        )
    return grid


def _axis(figure: Figure) -> str:
    """Returns the head of the column with the points of a figure. A size has its unit in each
    row."""
    return figure.axis.removesuffix(", bytes") if figure.is_size else figure.axis


def _areas(figure: Figure, marks: pd.DataFrame) -> Grid:
    """Returns a table with a row for each point and a column for each series."""
    unit = marks["unit"].iloc[0]
    grid = Grid("", [figure.axis, *(f"{series}\n{unit}" for series in figure.series)])
    rows = list(marks.groupby("point", sort=True))
    for point, row in rows[:-1]:
        values = dict(zip(row["series"], row["value"], strict=True))
        grid.add(number(point), *(number(values[series]) for series in figure.series))
    return grid


def _steps(marks: pd.DataFrame) -> Grid:
    """Returns a table of the steps of a timeline."""
    grid = Grid("", ["runs", "until", "at", "clocks"], left={1})
    for row in marks.to_dict("records"):
        grid.add(row["series"], row["why"], number(row["point"]), number(row["value"]))
    return grid


def _events(compared: Comparison) -> PageSection | None:
    tables = several_systems.events(compared, counts.NO_LIMIT)
    text = ["The counts are for one operation of each benchmark. Ratios refer to the first system."]
    folded = [(grid.title, [replace(grid, title="")]) for grid in tables]
    return PageSection("events", "Single events", text, folded=folded) if tables else None


def _method(runs: Sequence[Stored]) -> PageSection | None:
    if not counter_method.applies(runs):
        return None
    grids = [counter_method.grid(name, rows) for name, rows in counter_method.rows(runs).items()]
    return PageSection(
        "method", "The method of chen95 and the counts of the engine", counter_method.NOTES, grids
    )


def _counts(compared: Comparison) -> PageSection | None:
    if not compared.questions:
        return None
    grids = counts.grids(compared, counts.NO_LIMIT)
    text = ["These tables contain all metrics of all benchmarks.", counts.explanation(compared)]
    folded = [(_about(grid.title, compared), [replace(grid, title="")]) for grid in grids]
    return PageSection("counts", "All counts", text, folded=folded)


def _about(title: str, compared: Comparison) -> str:
    """Returns the title of a table. The name of a benchmark is not the first word, because a title
    begins with a capital letter."""
    is_benchmark = any(title.startswith(question.what) for question in compared.questions)
    return f"Benchmark {title}" if is_benchmark else title or "Counts"


def _claims(validation: pd.DataFrame) -> PageSection | None:
    if validation.empty:
        return None
    is_untestable = validation["role"] == UNTESTABLE
    untestable, tested = validation[is_untestable], validation[~is_untestable]
    plain = validation[(validation["role"] == INPUT) & (validation["runs"] == "")]
    folded = []
    if len(plain):
        title = f"Published numbers that the machine's file contains ({len(plain)})"
        folded.append((title, validate.grids(plain, everything=True)))
    if len(untestable):
        grid = Grid("", ["", "published", "why the number cannot be tested here", "source"])
        for row in untestable.to_dict("records"):
            grid.add(row["quantity"], validate.published(row), row["reason"], row["source"])
        folded.append((f"Published numbers that cannot be tested here ({len(untestable)})", [grid]))
    text = [
        "These tables compare numbers about the hardware from the papers with numbers from the"
        " model. Input: the number is a parameter of the model. Fitted: a parameter was chosen to"
        " match the number. Predicted: no parameter was chosen to match the number. A claim holds"
        " if the model is within 5 % of an exact number. The limit is 10 % if the paper writes"
        " `about` or `up to` before the number. A bound has no tolerance."
    ]
    return PageSection(
        "claims",
        "Published numbers",
        text,
        validate.grids(validation),
        folded,
        _itemized(validate.notes(tested)),
    )


def _itemized(notes: Sequence[str]) -> list[str]:
    """Splits each note that has a heading and items into lines. Each line contains the heading and
    one item."""
    lines = []
    for note in notes:
        head, *items = note.split("\n- ")
        lines += [f"{head} {item}" for item in items] or [head]
    return lines


def _machines(results: Results) -> PageSection:
    """Returns a section with the value and source of every machine key. The notes of the section
    list the changes that overlays make."""
    by_name: dict[str, Stored] = {}
    overlays: dict[str, dict[str, None]] = {}
    for group in results.groups:
        machine = group.shown.record["machine"]
        by_name.setdefault(machine["name"], group.shown)
        geometries = overlays.setdefault(machine["name"], {})
        geometries |= dict.fromkeys(filter(None, [machine["geometry"]]))
        for name, settings in machine.get("shadows", {}).items():
            text = " ".join(f"{key}={value}" for key, value in settings.items()) or "as described"
            geometries[f"{name}: {text}"] = None
    titles = {
        group.shown.record["machine"]["name"]: group.machine_title for group in results.groups
    }
    folded, notes = [], []
    for machine_name, stored in by_name.items():
        machine = stored.record["machine"]
        grid = Grid("", ["key", "value", "unit", "source"], left={1, 2, 3})
        for key, value in machine["values"].items():
            unit = BY_NAME[key].unit if key in BY_NAME else ""
            grid.add(key, value, unit, machine["sources"].get(key, MISSING))
        title = ": ".join(filter(None, ["Machine", machine_name, titles[machine_name]]))
        folded.append((title, [grid]))
        notes += [f"{machine_name} with {readable(overlay)}" for overlay in overlays[machine_name]]
    said = ["These are the parameters of the model. Estimated values are marked in their source."]
    return PageSection(
        "machine",
        "The machine" if len(folded) == 1 else "The machines",
        said,
        folded=folded,
        notes=notes,
    )


def _notes(results: Results, compared: Comparison) -> PageSection:
    notes = counts.notes(compared)
    notes += [
        f"The file of machine {group.shown.record['machine']['name']} has changed since run"
        f" {group.shown.id}. These keys had other values: {', '.join(group.changed)}."
        for group in results.groups
        if group.changed
    ]
    builds: dict[str, set[str]] = {}
    for stored in results.shown:
        digest = stored.record["identity"]["digests"].get("engine", "")
        builds.setdefault(stored.record["engine"], set()).add(digest)
    notes += [
        f"The runs used {len(digests)} builds of engine {engine}."
        for engine, digests in builds.items()
        if len(digests) > 1
    ]
    notes.append(
        "All numbers come from a model. docs/evidence/claims.md compares the model with published"
        " numbers. docs/concepts/limits.md lists what is not modelled."
    )
    return PageSection("limits", "Limits and notes", notes=notes)


def _run(stored: Stored) -> list[str]:
    record = stored.record
    versions = record["versions"]
    return [
        named.shown(record),
        record["engine"],
        f"{record['status']}: {record['reason']}" if record["reason"] else record["status"],
        ", ".join(f"{name} {text}" for name, text in versions.items()),
        str(record.get("digests", {}).get(outputs.file("events"), MISSING))[:16],
    ]


def _lines(text: str) -> Markup:
    """Returns the HTML of a column head, with line breaks."""
    return Markup("<br>").join(escape(_printable(part)) for part in text.split("\n"))


def _capital(title: str) -> str:
    """Returns a title that begins with a capital letter."""
    return title[:1].upper() + title[1:]


def _printable(value: object) -> object:
    """Removes control characters from texts, because HTML cannot contain control characters."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return for_terminal(value, lines=True)
    return value
