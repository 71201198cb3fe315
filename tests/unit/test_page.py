# SPDX-License-Identifier: MIT
"""`./p5lab report`: the content of the page, and the escaping of every text."""

import dataclasses
import html.parser
import json
import re
import xml.etree.ElementTree as ElementTree

import altair as alt
import hostile
import pandas as pd
import pytest

import p5lab
from p5lab import page
from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.page import charts, figures, results, svg, theme
from p5lab.page.figure import COLUMNS, MODELLED, PUBLISHED, TIMES, title_of
from p5lab.present.comparison import Comparison
from p5lab.present.figure_size import FigureSize


class Document(html.parser.HTMLParser):
    """Elements with their attributes, and the text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


EXPORTED = ("png", "svg", "pdf", "csv")


@pytest.fixture(scope="module")
def document(hostile_page):
    return Document(hostile_page[1].read_text(encoding="utf-8"))


def test_nothing_hostile_becomes_markup(document, hostile_page):
    known = set(
        "html head meta title link style body header nav main section footer h1 h2 h3 h4 "
        "p ul li a code span br div figure figcaption details summary table caption thead "
        "tbody tr th td svg g path rect line text tspan".split()
    )
    assert {tag for tag, _ in document.elements} <= known
    for tag, attributes in document.elements:
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes)
        if tag == "a":
            assert attributes["href"].startswith("#")
    assert document.of("link") == [{"rel": "icon", "href": "data:,"}]
    # The hostile name occurs as text: as a title, in tables, as a reason, and in the charts.
    assert hostile.MARKUP in "".join(document.texts)
    assert 'document.title="hacked"' in "".join(document.texts)
    assert not set("\x1b\x07\u202e") & set(hostile_page[1].read_text(encoding="utf-8"))


def test_the_page_needs_and_may_load_nothing(document):
    (policy,) = [
        one["content"]
        for one in document.of("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"script-src|unsafe|\*|http", policy)
    text = "".join(document.texts)
    assert "url(" not in text
    assert "@import" not in text


def test_links_and_identifiers_agree(document):
    ids = [attributes["id"] for _, attributes in document.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {one["href"][1:] for one in document.of("a")}
    assert targets <= set(ids)
    assert targets > {"figures", "claims", "machine", "limits", "runs"}


def test_every_chart_is_described(document):
    drawings = document.of("svg")
    assert len(drawings) > 5
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert re.match(
            r".+\. (Bars|Bars from 1|Dots|Curves over .+), .+ in .+: .*[0-9].*\.",
            drawing["aria-label"],
        )
    assert len(document.of("figcaption")) == len(document.of("figure")) == 5
    captions = " ".join(document.texts)
    for part in (
        "Each value is the mean over",
        "is subtracted",
        "Runs:",
        "lowest value to the highest value",
    ):
        assert part in captions


@pytest.mark.parametrize(
    ("iterations", "operations", "expected"),
    [
        ({1}, {1}, "Each value is one measurement of one operation."),
        ({1}, {200}, "Each value is the mean over 200 operations in one iteration."),
        ({1}, {10, 50, 200}, "Each value is the mean over 10 to 200 operations in one iteration."),
        ({50}, {1}, "Each value is the mean over 50 iterations."),
        ({50}, {1024}, "Each value is the mean over 50 iterations of 1,024 operations each."),
        (
            {1, 2},
            {1},
            "Each value is the mean over the iterations of its run. The runs have 1 or 2"
            " iterations.",
        ),
        (
            {1, 3, 50},
            {1, 200},
            "Each value is the mean over the iterations of its run. The runs have 1 to 50"
            " iterations of 1 or 200 operations each.",
        ),
    ],
)
def test_captions_say_over_what_a_mean_is(iterations, operations, expected):
    assert figures.means_over(iterations, operations) == expected


def test_missing_and_failed_runs_are_named(hostile_page, capsys):
    lab, output, _ = hostile_page
    assert cli.main(["report", "tests", "--output", str(output)], lab) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"Page: {lab.root}/page.html, ")
    assert said.err.count("Not stored: ") == 2
    assert "Not stored: call, other, p90-premiere2, seed 1" in said.err
    assert "`./p5lab run tests` makes these runs." in said.err
    text = " ".join(Document(output.read_text(encoding="utf-8")).texts)
    assert "2 runs of the experiment are missing: call, other, p90-premiere2, seed 1" in text
    assert "1 run has failed: chase" in text


def test_programs_get_json(hostile_page, capsys):
    lab, output, _ = hostile_page
    assert cli.main(["report", "tests", "--output", str(output), "--json"], lab) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["page"], said["bytes"]) == ("page.html", output.stat().st_size)
    assert (said["exported"], len(said["missing"])) == ([], 2)


def test_same_results_give_the_same_bytes(hostile_page):
    """Also after `p5lab.style`, which changes the format of all charts of the process."""
    lab, output, export = hostile_page
    p5lab.style()
    expansion = experiment.expand(lab, "tests")
    again = lab.root / "again"
    page.write(
        lab, "tests", expansion, lab.root / "again.html", "run tests", page.Wish(export=again)
    )
    assert (lab.root / "again.html").read_bytes() == output.read_bytes()
    for path in export.iterdir():
        if path.suffix != ".pdf":  # the library writes a PDF's fonts in any order
            assert (lab.root / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_no_results_name_the_command(lab, capsys):
    lab._put("configs/claims.toml", "schema_version = 1\n")
    output = lab.root / "page.html"
    words = ["tests", "--seed", "0-1", "--sweep", "l2.size=128K,256K"]
    assert cli.main(["report", *words, "--output", str(output)], lab) == 2
    assert capsys.readouterr().err == (
        f"p5lab: tests has no results: run `./p5lab run {' '.join(words)}` first\n"
    )
    assert not output.exists()


def test_output_that_cannot_be_written_is_one_line(hostile_page, capsys):
    lab, output, _ = hostile_page
    for path in (output / "below/page.html", output.parent):
        assert cli.main(["report", "tests", "--output", str(path)], lab) == 2
        assert capsys.readouterr().err.count("--output") == 1


def test_figures_are_exported_with_their_numbers(hostile_page):
    _, _, export = hostile_page
    names = {path.name for path in export.iterdir()}
    stems = {path.stem for path in export.iterdir()}
    assert names == {
        f"{stem}.{suffix}" for stem in stems for suffix in ("png", "svg", "pdf", "csv")
    }
    for stem in stems:
        assert (export / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert ElementTree.parse(export / f"{stem}.svg").getroot().tag.endswith("}svg")
        table = pd.read_csv(export / f"{stem}.csv")
        assert tuple(table.columns) == (*COLUMNS[:-1], "machine", "guest", "runs")
        modelled = table[table["kind"] == MODELLED]
        assert set(modelled["machine"]) == {"p90-premiere2"}
        named = modelled[modelled["series"].isin(["toy", "other"])]  # here guests are the series
        assert len(named) or stem == "ratios"
        assert (named["guest"] == named["series"]).all()
        assert table.loc[table["kind"] != MODELLED, ["machine", "guest"]].isna().all(axis=None)


@pytest.fixture(scope="module")
def drawn(hostile_page):
    lab = hostile_page[0]
    expansion = experiment.expand(lab, "tests")
    found = Comparison(results.choose(expansion.runs, store.all_runs(lab)).shown)
    claims = page._claims(lab, "tests", results.choose(expansion.runs, store.all_runs(lab)))
    return {figure.form: figure for figure in figures.of(found, claims)}


def test_bars_have_the_means_and_the_spread_of_the_seeds(drawn):
    bars = drawn["bars"].frame
    cycles = bars[bars["metric"] == "busy cycles"].set_index("series")
    # The brackets take 105, 115 and 125 cycles, and the empty bracket takes 5. A bracket of the
    # slower guest takes 990 cycles more. The slower guest ran with one seed only.
    assert cycles.loc["toy", "value"] == 110
    assert cycles.loc["other", "value"] == 1100
    assert len(cycles.loc["toy", "runs"].split()) == 2
    assert len(cycles.loc["other", "runs"].split()) == 1


def test_curves_have_their_points_and_what_was_published(drawn):
    curve = drawn["curve"].frame
    cycles = curve[(curve["metric"] == "busy cycles") & (curve["series"] == "toy")]
    modelled = cycles[cycles["kind"] == MODELLED]
    assert list(modelled["point"]) == [512, 1024]
    assert list(modelled["value"]) == [2, 8]
    (published,) = cycles[cycles["kind"] == PUBLISHED].to_dict("records")
    assert (published["point"], published["value"]) == (512, 2)
    assert published["claim"].startswith("chen95 section 4.4: ")


def test_a_small_effect_looks_small(drawn):
    curve = drawn["curve"]
    one = curve.frame[(curve.frame["metric"] == "busy cycles") & (curve.frame["series"] == "toy")]
    for values, most in ((1.0, 0.9996), "1"), ((1.0, 1.5), "1.5"):
        same = dict.fromkeys(("value", "lowest seed", "highest seed"), values)
        frame = one[one["kind"] == MODELLED].assign(unit=TIMES, **same)
        panel = charts.panels(dataclasses.replace(curve, frame=frame))[0]
        texts = [each.text for each in ElementTree.fromstring(svg.panel(panel)).iter() if each.text]
        assert most in texts
        assert ("0.96" in texts) == (most == "1")


def test_long_names_and_numbers_of_bars_have_room(drawn):
    """The page draws each number inside its own panel, so the number does not overlap the names of
    the next panel.
    """
    bars = drawn["bars"]
    names = {
        "toy": "linux, l1d.write_allocate=true",
        "other": "linux-uml, dtlb.entries=256 itlb.entries=128",
    }
    frame = bars.frame[bars.frame["metric"] == "busy cycles"].replace({"series": names})
    frame = frame.assign(**dict.fromkeys(("value", "lowest seed", "highest seed"), 12345678.0))
    figure = dataclasses.replace(bars, frame=frame)
    drawing = ElementTree.fromstring(svg.panel(charts.panels(figure)[0]))
    texts = [one for one in drawing.iter() if one.tag.endswith("text")]
    lines = [one.text for one in drawing.iter() if one.tag.endswith("tspan")]
    assert " ".join(lines) == names["other"]  # the only name that needs two lines
    assert len(lines) == 2
    numbers = [text for text in texts if text.text == "12,345,678"]
    width = float(drawing.get("viewBox").split()[2])
    for text in numbers:
        assert drawn_at(drawing, text) + len(text.text) * theme.LETTER <= width
    assert len(numbers) == 2


def drawn_at(drawing, wanted, at=0.0):
    """Returns the distance of an element from the left edge, including all translations."""
    for child in drawing:
        moved = re.match(r"translate\(([-\d.]+)", child.get("transform", ""))
        there = at + (float(moved[1]) if moved else 0)
        if child is wanted:
            return there
        if (found := drawn_at(child, wanted, there)) is not None:
            return found
    return None


def test_a_missing_value_has_a_word(drawn):
    frame = drawn["bars"].frame
    assert (frame["value"].isna() == (frame["why"] != "")).all()


@pytest.mark.parametrize("form", ["bars", "dots", "curve"])
def test_charts_are_valid_vega_lite(drawn, form):
    figure = drawn[form]
    for panel in charts.panels(figure):
        alt.LayerChart.from_dict(json.loads(json.dumps(charts.single(panel))), validate=True)
    ((name, spec),) = charts.whole(figure).items()
    assert name == ""
    alt.VConcatChart.from_dict(json.loads(json.dumps(spec)), validate=True)
    sized = charts.whole(figure, FigureSize(240))
    assert len(sized) == len(figure.metrics)
    for metric, spec in zip(figure.metrics, sized.values(), strict=True):
        chart = alt.LayerChart.from_dict(json.loads(json.dumps(spec)), validate=True)
        assert chart.width == 360  # 240 points with letters of 8 points, drawn with letters of 12
        assert "title" not in spec
        assert f'"title": "{title_of(metric)}' in json.dumps(spec)


def test_the_style_sheet_knows_the_colours_of_the_charts():
    style = (page.Path(page.__file__).parent / "page.css").read_text()
    light = style[: style.index("@media")]
    for name, color in {"ink": theme.INK, "muted": theme.MUTED, "grid": theme.GRID}.items():
        assert f"--{name}: {color};" in light
    for number, color in enumerate(theme.SERIES):
        assert f"--series-{number}: {color};" in light
        assert style.count(f"--series-{number}: ") == 3  # light, dark, print


def test_a_later_run_supersedes_an_earlier_one(lab):
    runs = experiment.load(lab, "tests")
    first = Runner(lab).run_all(runs)
    stored = store.all_runs(lab)
    copy = [
        store.Stored(
            one.directory.with_name("f" * 16),
            {**one.record, "started": "2999-01-01T00:00:00+00:00"},
        )
        for one in stored
        if one.id == first[0].id
    ]
    chosen = results.choose(runs, [*copy, *stored])
    assert [one.id for one in chosen.shown] == ["f" * 16, first[1].id]
    assert chosen.missing == []
    failed = [store.Stored(one.directory, {**one.record, "status": "failed"}) for one in copy]
    assert [one.id for one in results.choose(runs, [*failed, *stored]).shown] == [
        one.id for one in first
    ]


def test_the_page_has_the_papers_that_it_names(hostile_page):
    text = hostile_page[1].read_text(encoding="utf-8")
    section = text[text.index('<section id="papers">') :]
    section = section[: section.index("</section>")]
    assert "chen95: J. Bradley Chen" in section
    assert "wpi92" not in text.replace(section, "")
    assert "wpi92" not in section
