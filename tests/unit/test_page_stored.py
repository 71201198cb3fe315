# SPDX-License-Identifier: MIT
"""`./p5lab report` for sweeps, for stored runs and for programs, and the order of a page."""

import json
import re
import shlex
import shutil
import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest
import test_program
from fakelab import CYCLES, END, INTERVALS, call_events, chase_events, snapshot, written
from test_own_program import REGION_PHASE, whole
from test_page import Document, drawn_at
from test_source_lines import built

from p5lab import page
from p5lab.describe import experiment
from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.execute.runner import Runner
from p5lab.keep import gc, selection, store
from p5lab.page import (
    chart_files,
    charts,
    figure,
    figures,
    results,
    summary,
    svg,
    theme,
)
from p5lab.page.run_figures import intervals as run_intervals
from p5lab.page.run_figures import timeline as run_timeline
from p5lab.prepare import prepare
from p5lab.present import column
from p5lab.present.comparison import Comparison
from p5lab.present.figure_size import FigureSize

SWEEP = ("--sweep", f"l2.size={','.join(CYCLES)}")
KEYS = ("l2.size",)


@pytest.fixture
def p5lab(lab, p5lab):
    lab._put("configs/claims.toml", "schema_version = 1\n")
    return p5lab


@pytest.fixture
def swept(lab, results_by_size):
    """Returns a lab with a stored run for each point. The run with the machine's own size was made
    without an overlay.
    """
    shutil.copytree(results_by_size, lab.results)
    return lab


def drawn(lab):
    """Returns the figures of the sweep by their identifiers."""
    groups = selection.groups(lab, ["tests"])
    found = Comparison(results.of_stored(groups).shown, (), KEYS)
    return {figure.id: figure for figure in figures.of(found)}


def two_guests(lab):
    """Returns the comparison of two guests. The second guest takes ten times as long for a call."""
    lab._put(
        "guest-images/other/guest.toml",
        'schema_version = 1\nname = "other"\nbase = "toy"\ntitle = "slower"\n',
    )
    done = []
    for guest, more in (("toy", 0), ("other", 990)):
        lab.behave(events={"call": call_events(more=more), "chase": chase_events()})
        done += Runner(lab).run_all(experiment.load(lab, "tests", Filter(guests=(guest,))))
    return Comparison([store.stored(one.directory) for one in done])


def test_the_page_of_a_sweep_finds_the_run_without_an_overlay(p5lab, swept):
    """This run has the machine's own value, so the sweep did not execute it again."""
    status, out, err = p5lab("report", "tests", *SWEEP)
    assert (status, err) == (0, "")
    assert out.startswith(f"Page: {swept.results}/tests.html, ")
    text = (swept.results / "tests.html").read_text(encoding="utf-8")
    assert "executes the missing run" not in text
    assert "Compared systems: l2.size=64K; l2.size=256K; l2.size=1M." in text


def test_a_run_of_a_sweep_also_counts_as_the_run_of_the_experiment(p5lab, lab):
    assert p5lab("run", "tests", "--no-build", "--sweep", "l2.size=256K,512K")[0] == 0
    status, _, err = p5lab("report", "tests")
    assert (status, err) == (0, "")


def test_runs_with_and_without_the_machines_own_value_are_one_system(p5lab, lab):
    """One workload was stored by a sweep, the other workload without a sweep."""
    own = ("--sweep", "l2.size=256K,512K", "--workload", "call")
    assert p5lab("run", "tests", "--no-build", *own)[0] == 0
    status, out, err = p5lab("run", "tests", "--no-build")
    assert status == 0
    assert err.count("already stored") == 1
    assert "Counts per operation" in out
    assert "l2.size" not in out
    assert p5lab("report", "tests")[0] == 0
    text = (lab.results / "tests.html").read_text(encoding="utf-8")
    assert "Compared systems" not in text


def test_a_run_with_other_values_does_not_count(p5lab, lab):
    assert p5lab("run", "tests", "--no-build", "--set", "l2.size=512K")[0] == 0
    status, _, err = p5lab("report", "tests")
    assert status == 2
    assert "tests has no results" in err


def test_the_swept_key_is_on_a_logarithmic_axis(p5lab, swept):
    effect = drawn(swept)["effect-of-l2-size-on-all-benchmarks"]
    assert (effect.form, effect.axis, effect.is_size, effect.log) == (
        "curve",
        "l2.size, bytes",
        True,
        True,
    )
    rows = effect.frame[effect.frame["series"] == "call"]
    assert list(rows["point"]) == [64 << 10, 256 << 10, 1 << 20]
    assert list(rows["value"].round(3)) == [1, 0.512, 0.268]
    (panel,) = charts.panels(effect)
    assert panel.title == "time, relative to the lowest l2.size"
    labels = json.dumps(charts.single(panel))
    assert '"type": "log"' in labels


def test_each_benchmark_has_its_metrics_over_the_swept_key(p5lab, swept):
    made = drawn(swept)["benchmark-call-by-l2-size-one-call"]
    cycles = made.frame[made.frame["metric"] == "busy cycles"]
    assert dict(zip(cycles["point"], cycles["value"], strict=True)) == {
        64 << 10: 410,
        256 << 10: 210,
        1 << 20: 110,
    }


def test_the_numbers_of_a_sweep_have_a_row_for_each_point(p5lab, swept):
    assert p5lab("report", "tests", *SWEEP, "--workload", "call")[0] == 0
    text = (swept.results / "tests.html").read_text(encoding="utf-8")
    for name in ("effect-of-l2-size-on-all-benchmarks", "benchmark-call-by-l2-size-one-call"):
        table = text.partition(f'<figure id="{name}">')[2].partition("</table>")[0]
        rows = table.partition("<thead>")[2].split("<tr>")[1:]
        assert [Document(row).texts[0] for row in rows] == [
            "l2.size",
            "64 KB",
            "256 KB",
            "1 MB",
        ]
    assert ">410</td>" in rows[1]
    assert ">110</td>" in rows[3]


def test_one_missing_run_is_not_plural(p5lab, lab):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    p5lab("report", "tests")
    text = (lab.results / "tests.html").read_text(encoding="utf-8")
    assert "1 run of the experiment is missing: chase" in text
    assert "executes the missing run." in text


def test_the_user_chooses_the_metric_of_a_sweep(p5lab, swept, tmp_path):
    arguments = ("--metric", "cycles", "--export", str(tmp_path / "figures"))
    assert p5lab("report", "tests", *SWEEP, *arguments)[0] == 0
    table = pd.read_csv(tmp_path / "figures/benchmark-call-by-l2-size-one-call.csv")
    assert list(table["metric"].unique()) == ["busy cycles"]
    table = pd.read_csv(tmp_path / "figures/effect-of-l2-size-on-all-benchmarks.csv")
    assert list(table["metric"].unique()) == ["busy cycles, relative to the lowest l2.size"]


def test_an_event_can_be_a_panel(p5lab, swept):
    groups = selection.groups(swept, ["tests"])
    found = Comparison(results.of_stored(groups).shown, (), KEYS)
    effect, *_ = figures.of(found, columns=column.parse(["data_write_misses,data_writes"]))
    # Without write misses, there is no ratio of write misses.
    (panel,) = charts.panels(effect)
    assert panel.title == "data writes, relative to the lowest l2.size"
    assert figure.title_of("l2_read_misses") == "event l2_read_misses"


def test_values_that_are_no_numbers_have_bars(p5lab, lab):
    arguments = ("--sweep", "l1d.write_allocate=false,true")
    assert p5lab("run", "tests", "--no-build", *arguments)[0] == 0
    groups = selection.groups(lab, ["tests"])
    keys = ("l1d.write_allocate",)
    found = Comparison(results.of_stored(groups).shown, (), keys)
    series = {name for figure in figures.of(found) for name in figure.series}
    assert {"l1d.write_allocate=false", "l1d.write_allocate=true"} <= series


def test_a_page_about_runs(p5lab, swept):
    ids = sorted(path.name for path in swept.results.glob("tests/*"))
    status, out, _ = p5lab("report", *(one[:8] for one in ids[:2]))
    assert status == 0
    name = f"runs-{ids[0][:8]}-{ids[1][:8]}.html"
    assert out.startswith(f"Page: {swept.results}/{name}, ")
    text = (swept.results / name).read_text(encoding="utf-8")
    assert all(f'id="run-{one}"' in text for one in ids[:2])
    assert ids[2] not in text
    assert "This page shows 2 runs. " in text
    assert 'id="claims"' not in text


def test_a_page_about_one_run_has_a_summary(p5lab, swept):
    run = next(iter(swept.results.glob("tests/*"))).name
    assert p5lab("report", run)[0] == 0
    document = Document((swept.results / f"runs-{run[:8]}.html").read_text(encoding="utf-8"))
    assert "At a glance" in document.texts
    assert "Means of one operation" in document.texts


def test_a_page_about_programs(p5lab, lab, tmp_path):
    for name, more in (("first", 0), ("second", 100)):
        (tmp_path / name).write_bytes(test_program.elf() + name.encode())
        lab.behave(events={"@program": call_events(more=more)})
        program = ("--program", str(tmp_path / name), "--guest", "toy")
        assert p5lab("run", *program, "--no-build")[0] == 0
    status, out, _ = p5lab("report", "program")
    assert (status, out.startswith(f"Page: {lab.results}/program.html, ")) == (0, True)
    text = (lab.results / "program.html").read_text(encoding="utf-8")
    assert "<h1>Programs of your own</h1>" in text
    assert "first" in text
    assert "second" in text
    assert p5lab("report", "program", "--only", "second")[0] == 0
    text = (lab.results / "program.html").read_text(encoding="utf-8")
    assert "first, toy" not in text
    assert "second, toy" in text
    # The options of `run` select the same runs.
    assert p5lab("report", *program, "--seed", "0-1")[0] == 0
    text = (lab.results / "program.html").read_text(encoding="utf-8")
    assert "second, toy" in text
    # `program` is not the name of an experiment that `run` accepts.
    command = shlex.join(["run", *program, "--seed", "0-1"])
    assert f"The command ./p5lab {command} executes the missing run." in text


def test_a_program_without_a_sweep_has_single_values(p5lab, lab, tmp_path):
    """The sweep of one program once gave every other program an empty figure over the key."""
    lab.behave(events={"@program": call_events()})
    for name, *more in (("first", "--sweep", "l2.size=256K,512K"), ("second",)):
        (tmp_path / name).write_bytes(test_program.elf() + name.encode())
        program = ("--program", str(tmp_path / name), "--guest", "toy", *more)
        assert p5lab("run", *program, "--no-build")[0] == 0
    found = Comparison(results.of_stored(selection.groups(lab, ["program"])).shown, (), KEYS)
    made = {figure.id: figure.frame for figure in figures.of(found)}
    assert set(made) == {
        "effect-of-l2-size-on-all-benchmarks",
        "benchmark-first-by-l2-size-one-bracket",
        "benchmarks-without-a-sweep",
    }
    assert all(frame["value"].notna().any() for frame in made.values())
    assert set(made["effect-of-l2-size-on-all-benchmarks"]["benchmark"]) == {"first"}
    assert set(made["benchmarks-without-a-sweep"]["benchmark"]) == {"second"}


def test_two_programs_on_two_machines_have_their_own_values(p5lab, lab, tmp_path):
    lab.behave(events={"@program": call_events()})
    for name, key in (("first", "l2.size=128K"), ("second", "l2.size=512K")):
        (tmp_path / name).write_bytes(test_program.elf() + name.encode())
        program = ("--program", str(tmp_path / name), "--guest", "toy", "--set", key)
        assert p5lab("run", *program, "--no-build")[0] == 0
    found = Comparison(results.of_stored(selection.groups(lab, ["program"])).shown, (), KEYS)
    made = figures.of(found)
    assert {figure.id for figure in made} == {"all-benchmarks", "first", "second"}
    assert all(figure.frame["value"].notna().any() for figure in made)


def test_two_programs_with_one_name_stay_apart(lab, tmp_path):
    """Once, a table had the mean of both. A run with --region of the same program is not a second
    measurement of the whole program, either."""
    for number, cycles in enumerate((90, 190)):
        mine = tmp_path / str(number) / "mine"
        mine.parent.mkdir()
        mine.write_bytes(test_program.elf() + bytes([number]))
        stop = snapshot("end", WHOLE_PHASE, [900, 0, 180], [cycles, 0, 45])
        begin = snapshot("begin", WHOLE_PHASE, [500, 0, 100], [10, 0, 5])
        lab.behave(events={"@program": [whole()["@program"][0], begin, stop, END]})
        choice = Filter(guests=("toy",))
        Runner(lab).run_all(prepare(lab, Request(UserProgram(mine), choice)).runs)
    found = Comparison(results.of_stored(selection.groups(lab, ["program"])).shown)
    assert len(found.questions) == 2
    for question in found.questions:
        assert re.fullmatch(r"mine \[[0-9a-f]{4}\]", question.what)
        assert len(found.any_cell(question).seeds) == 1
    assert {item.why for item in gc.results(lab)} == set()


def test_of_two_runs_with_the_same_seed_the_newer_counts(lab, tmp_path):
    (tmp_path / "mine").write_bytes(test_program.elf())
    for limit in (100, 200):
        lab.behave(events=whole())
        choice = Filter(guests=("toy",), limit=limit)
        Runner(lab).run_all(prepare(lab, Request(UserProgram(tmp_path / "mine"), choice)).runs)
    runs = sorted(store.all_runs(lab), key=lambda one: one.record["started"])
    (question,) = Comparison(runs).questions
    assert len(Comparison(runs).any_cell(question).seeds) == 1


def test_the_operation_of_a_region_is_a_call(p5lab, lab, tmp_path):
    begin = snapshot("begin", REGION_PHASE, [500, 0, 100], [20, 0, 10])
    end = snapshot("end", REGION_PHASE, [500, 0, 100], [26, 0, 12])
    lab.behave(events=whole(begin, end))
    words = ("--program", str(built(tmp_path)), "--region", "work", "--guest", "toy")
    assert p5lab("run", *words, "--no-build")[0] == 0
    assert p5lab("report", "program")[0] == 0
    text = (lab.results / "program.html").read_text(encoding="utf-8")
    assert "Operations: prog, work: one call; prog, whole: one run." in text
    shown = " ".join(p5lab("show", "program")[1].split())
    assert "Each number is for one run of the program or one call of the function" in shown


def test_options_of_an_experiment_do_not_apply_to_stored_runs(p5lab, swept):
    run = next(iter(swept.results.glob("tests/*"))).name
    status, _, err = p5lab("report", run, "--set", "l2.size=1M")
    assert status == 2
    assert err.startswith(f"p5lab: report {run}: --set: expected only with one experiment;")
    assert not list(swept.results.glob("*.html"))


def test_runs_of_one_kind_are_shown_once(p5lab, lab):
    """After a change of the engine, the new run replaces the old run."""
    for text in ("one", "two"):
        with lab.engine.open("a") as engine:
            engine.write(f"\n# {text}\n")
        assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    assert len(list(lab.results.glob("tests/*"))) == 2
    (same,) = selection.groups(lab, ["tests"])
    assert len(same) == 2
    assert same[0].record["started"] >= same[1].record["started"]


# --- the order of a page ------------------------------------------------------------------------


def test_ratios_come_first(lab):
    found = two_guests(lab)
    (grid,) = summary.of(found)
    assert grid.heads[:3] == ["", "other\nratio", "toy\nus"]
    assert grid.rows[0][:2] == ("call", "10.0")
    first = figures.of(found)[0]
    assert first.metrics == ["time relative to toy"]
    values = first.frame.set_index("benchmark")["value"]
    assert values["call"] == pytest.approx(10)
    assert values["chase guest, 1 KB"] == pytest.approx(1)
    forms = [figure.form for figure in figures.of(found)]
    assert forms.index("bars") > forms.index("curve")  # bars of single benchmarks come last


def test_a_title_begins_with_a_capital_letter(p5lab, swept):
    assert p5lab("report", "tests", *SWEEP)[0] == 0
    text = (swept.results / "tests.html").read_text(encoding="utf-8")
    titles = []
    for tag in ("h1", "h2", "h3", "h4", 'p class="caption"', "summary"):
        titles += [part.split("<")[0] for part in text.split(f"<{tag}>")[1:]]
    assert len(titles) > 10
    assert [title for title in titles if not title[:1].isupper()] == []


# --- the inside of runs -------------------------------------------------------------------------


def traced(lab):
    """Adds a trace of two crossings to a stored run and returns the run."""
    (directory,) = lab.results.glob("tests/*")
    registers = {"instructions": 1, "cr3": [1, 1], "eax": 41, "ebx": 0}
    lines = [
        {"kind": "begin", "phase": 0, "tsc": 100},
        {"kind": "int", "vector": 0x80, "tsc": 110, "ring": [3, 0], **registers},
        {"kind": "iret", "vector": None, "tsc": 1130, "ring": [0, 3], **registers},
        {"kind": "end", "phase": 0, "tsc": 1135},
    ]
    (directory / "crossings.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return store.stored(directory)


def test_a_traced_run_has_a_timeline(p5lab, lab):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    stored = traced(lab)
    (figure,) = run_timeline.of([stored])
    assert figure.title == "Timeline of call, toy, p90-premiere2: call"
    steps = figure.frame[["benchmark", "point", "value", "why"]].to_numpy().tolist()
    assert steps == [
        ["program", 0, 10, "dup"],
        ["kernel", 10, 1020, "IRET to program"],
        ["program", 1030, 5, "end of the bracket"],
    ]
    (panel,) = charts.panels(figure)
    assert "kernel, call: 1,020 clocks, until IRET to program" in panel.description
    assert p5lab("report", stored.id)[0] == 0
    document = Document((lab.results / f"runs-{stored.id[:8]}.html").read_text(encoding="utf-8"))
    assert figure.title in document.texts
    assert {"IRET to program", "1,020"} <= set(document.texts)


def test_the_steps_of_a_timeline_are_divided_by_component(p5lab, lab):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    stored = traced(lab)
    path = stored.directory / "crossings.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line, (pairs, waits, idle) in zip(
        lines, [(0, 0, 0), (4, 6, 0), (104, 906, 20), (109, 906, 20)], strict=True
    ):
        line["counts"] = {"cpi.pairs": pairs, "cpi.code.l2": waits, "cycles.idle": idle}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (figure,) = run_timeline.of([stored])
    marks = figure.frame[["benchmark", "series", "point", "value"]].to_numpy().tolist()
    issue, code = "pairs and single instructions", "waits for code"
    assert marks == [
        ["program", issue, 0, 4],
        ["program", code, 4, 6],
        ["kernel", issue, 10, 100],
        ["kernel", code, 110, 900],  # 20 idle clocks follow
        ["program", issue, 1030, 5],
    ]
    assert "Idle clocks have no colour" in figure.caption[0]
    (panel,) = charts.panels(figure)
    assert "kernel, call, waits for code: 900 clocks" in panel.description


def test_a_long_timeline_is_cut_and_says_so(p5lab, lab, monkeypatch):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    monkeypatch.setattr(run_timeline, "STEPS", 2)
    (figure,) = run_timeline.of([traced(lab)])
    assert len(figure.frame) == 2
    assert "The figure shows the first 2 of 3 steps." in figure.caption[0]


def test_a_run_with_intervals_has_figures_over_time(p5lab, lab):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    (directory,) = lab.results.glob("tests/*")
    written(directory / "intervals.jsonl", INTERVALS)
    stored = store.stored(directory)
    areas, curves = run_intervals.of([stored])
    assert areas.title == "CPI stack of call, toy, p90-premiere2 over time"
    issue, code = "pairs and single instructions", "waits for code"
    assert areas.series == [issue, code]
    # The parts of an interval are shares of its clocks: 50 of 100, nothing of 400, 60 of 50. The
    # last point is the end.
    begins = [0, 100 / 9e4, 500 / 9e4, 550 / 9e4]
    assert areas.frame["point"].unique().tolist() == pytest.approx(begins)
    shares = areas.frame.pivot(index="point", columns="series", values="value")
    assert shares[issue].tolist() == [50, 0, 80, 80]
    assert shares[code].tolist() == [40, 0, 20, 20]
    assert curves.metrics[0] == "cycles per instruction"
    cycles = curves.frame[curves.frame["metric"] == curves.metrics[0]]
    assert cycles["value"].tolist() == [1.5, 1.25]
    assert curves.caption[-1].startswith("Where the processor was idle, there is no point")
    (panel,) = charts.panels(areas)
    assert panel.description.startswith("Parts over ms since the end of the boot")
    assert p5lab("report", stored.id)[0] == 0
    document = Document((lab.results / f"runs-{stored.id[:8]}.html").read_text(encoding="utf-8"))
    assert {areas.title, curves.title} <= set(document.texts)


def test_many_intervals_are_joined(p5lab, lab, monkeypatch):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    (directory,) = lab.results.glob("tests/*")
    events = [name for name in INTERVALS[0]["events"] if not name.startswith("cpi.")]
    lines = [INTERVALS[0] | {"events": events}]
    for line in INTERVALS[1:-1]:
        lines.append(line | {"rings": [[ring, counts[:3]] for ring, counts in line["rings"]]})
    written(directory / "intervals.jsonl", [*lines, INTERVALS[-1]])
    monkeypatch.setattr(run_intervals, "POINTS", 2)
    (curves,) = run_intervals.of([store.stored(directory)])
    assert curves.title == "Cycles and misses of call, toy, p90-premiere2 over time"
    assert len(curves.frame["point"].unique()) == 2
    assert len(curves.caption) == 1  # no part is idle


def test_the_title_of_a_page_about_many_runs_is_short(p5lab, swept):
    groups = selection.groups(swept, ["tests"])
    output = swept.root / "page.html"
    page.write_stored(swept, "runs", groups, output)
    assert "<h1>6 runs</h1>" in output.read_text(encoding="utf-8")


def test_the_numbers_of_dots_have_room():
    """The number after the largest value is inside its own panel, also on a logarithmic axis."""
    values = {"dup": 642.9, "exec-static": 480_156.0}
    marks = [
        figure.mark(
            benchmark=name, series="linux", metric="busy cycles", unit="cycles", value=value
        )
        for name, value in values.items()
    ]
    overview = figure.Figure("all", "All", "dots", figure.frame(marks), ())
    drawing = ElementTree.fromstring(svg.panel(charts.panels(overview)[0]))
    width = float(drawing.get("viewBox").split()[2])
    (text,) = (one for one in drawing.iter() if one.text == "480,156")
    assert drawn_at(drawing, text) + len(text.text) * theme.LETTER <= width


@pytest.mark.parametrize("form", ["groups", "dots", "curve", "areas", "timeline", "stack"])
def test_a_figure_in_a_file_names_its_series(form):
    """The page has a legend of its own, and a picture of a panel has none."""
    marks = [
        figure.mark(
            benchmark=f"benchmark {at}",
            series=name,
            point=at,
            metric="L2 misses",
            value=at,
            unit="1",
        )
        for at in (1.0, 2.0)
        for name in ("first system", "other system")
    ]
    one = figure.of_marks("one", "One", form, marks, axis="points")
    for spec in (charts.whole(one)[""], charts.whole(one, FigureSize(240))[""]):
        text = chart_files.written(spec, ".svg").decode()
        assert {"first system", "other system", "L2 misses"} <= set(re.findall(r">([^<]+)</", text))
    texts = svg.panel(charts.panels(one)[0])
    assert ">first system</text>" not in texts


@pytest.mark.parametrize("form", ["groups", "bars", "ratios", "waterfall"])
def test_a_number_stands_beyond_the_end_of_its_bar(form):
    """Also of a bar to the left, where the axis has room for it."""
    marks = [
        figure.mark(
            benchmark=name,
            series=name if form == "bars" else "a",
            metric="m",
            value=value,
            point=at,
            unit="times" if form == "ratios" else "cycles",
        )
        for at, (name, value) in enumerate({"less": 0.25, "more": 3.5, "little": 0.875}.items())
    ]
    if form != "ratios":
        for one in marks:
            one["value"] = one["value"] - 1
    (panel,) = charts.panels(figure.of_marks("one", "One", form, marks))
    drawing = ElementTree.fromstring(svg.panel(panel))
    bars, numbers = (
        [one for one in drawing.iter(tag) if one.find("title") is not None and one.get("fill")]
        for tag in ("path", "text")
    )
    for bar, text, is_left in zip(bars, numbers, (True, False, True), strict=True):
        begin, length = map(float, re.findall(r"^M([-\d.]+),.*?h([-\d.]+)", bar.get("d"))[0])
        left, place = drawn_at(drawing, bar) + begin, drawn_at(drawing, text)
        written = theme.LETTER * len(text.text)
        if is_left:
            assert text.get("text-anchor") == "end"
            assert written < place < left
        else:
            assert text.get("text-anchor") == "start"
            assert left + length < place < charts.drawing.PAGE - written


@pytest.mark.parametrize("series", [2, 9, 20])
def test_a_legend_of_curves_has_their_lines(series):
    """A piece of each line with its own dashes; the outlines of the marks have none."""
    names = [f"series {at}" for at in range(series)]
    marks = [
        figure.mark(benchmark="", series=name, point=at, metric="m", value=at + place, unit="1")
        for at in (1.0, 2.0)
        for place, name in enumerate(names)
    ]
    one = figure.of_marks("one", "One", "curve", marks, axis="points")
    for spec in (charts.whole(one)[""], charts.whole(one, FigureSize(240))[""]):
        text = chart_files.written(spec, ".svg").decode()
        drawn, _, legend = text.partition("role-legend-entry")
        keys = re.findall(r'role-legend-symbol.*? d="([^"]+)" stroke="([^"]+)"', legend)
        lines = re.findall(r'"line mark"[^>]* stroke="([^"]+)"', drawn)
        dashes = re.findall(r'"line mark"[^>]* stroke-dasharray="([^"]+)"', drawn)
        assert [color for _, color in keys] == lines[:series]
        assert "stroke-dasharray" not in legend
        pieces = [len(re.findall(r"M[-\d.]+,0L[-\d.]+,0M", path)) for path, _ in keys]
        for piece, dash in zip(pieces, dashes[:series], strict=True):
            assert (piece == 1) == (dash == "1,0")
        assert len({*zip(lines, dashes, strict=True)}) == series


@pytest.mark.parametrize("form", ["dots", "ratios", "curve"])
def test_a_ratio_of_zero_is_shown_beside_large_ones(form):
    marks = [
        figure.mark(benchmark=name, series="a", point=at, metric="m", value=value, unit="times")
        for at, (name, value) in enumerate({"none": 0.0, "half": 0.5, "many": 80.0}.items())
    ]
    (panel,) = charts.panels(figure.of_marks("one", "One", form, marks, axis="points"))
    drawing = svg.panel(panel)
    assert "NaN" not in drawing and ": 0 times" in drawing


def test_a_page_of_systems_begins_with_the_answer(p5lab, two):
    """`call` takes 110 cycles and twice as many on the second guest; `chase` takes the same."""
    assert p5lab("report", "tests", "--guest", "toy", "--guest", "slower")[0] == 0
    text = (two.results / "tests.html").read_text()
    answer = text.partition('<p class="answer">')[2].partition("</p>")[0]
    assert "1.41 times the time of toy on slower" in answer  # the root of 2
    assert "call" in answer and "2.00 times" in answer
    assert text.index("1.41 times") < text.index("This page shows")
    assert p5lab("report", "tests", "--guest", "toy")[0] == 0
    assert 'class="answer"' not in (two.results / "tests.html").read_text()
