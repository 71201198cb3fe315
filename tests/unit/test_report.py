# SPDX-License-Identifier: MIT
"""Reports on several systems: columns, ratios, seeds, and output for programs."""

import csv
import io
import json
import shutil

import fakelab
import pytest
from fakelab import call_events, chase_events

from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.present import counts, one_system, several_systems
from p5lab.present.comparison import Comparison
from p5lab.present.tables import Grid, times
from p5stats.metrics import View, shown_in


def scaled_chase(factor):
    """Returns chase_events with all cycles multiplied by `factor`."""
    lines = chase_events()
    for line in lines:
        for bank in line.get("banks", []):
            bank[2][0] *= factor
    return lines


def with_slower_guest(lab):
    """Returns the lab with a second guest."""
    lab._put(
        "guest-images/other/guest.toml",
        'schema_version = 1\nname = "other"\nbase = "toy"\ntitle = "slower"\n',
    )
    path = lab.experiments / "tests.toml"
    path.write_text(path.read_text().replace('["toy"]', '["toy", "other"]'))
    return lab


@pytest.fixture(scope="module")
def results_of_two(tmp_path_factory):
    """Returns results of two guests. The calls of the second guest take ten times as long, and its
    chases take twice as long.
    """
    lab = with_slower_guest(fakelab.make(tmp_path_factory.mktemp("two") / "lab"))
    Runner(lab).run_all(experiment.load(lab, "tests", Filter(guests=("toy",))))
    lab.behave(events={"call": call_events(more=990), "chase": scaled_chase(2)})
    Runner(lab).run_all(experiment.load(lab, "tests", Filter(guests=("other",))))
    return lab.results


@pytest.fixture
def two(lab, results_of_two):
    """Returns a lab with a second guest. Both guests have run."""
    shutil.copytree(results_of_two, lab.results, dirs_exist_ok=True)
    return with_slower_guest(lab)


def without_cycles(lines):
    """Returns the events that the x86-64 engine would write. They contain no events in cycles."""
    header = lines[0]
    keep = [i for i, unit in enumerate(header["units"]) if unit != "cycles"]
    lines = [
        {**header, **{key: [header[key][i] for i in keep] for key in ("events", "units")}},
        *lines[1:],
    ]
    for line in lines:
        for bank in line.get("banks", []):
            bank[2] = [bank[2][i] for i in keep if i < len(bank[2])]
    return lines


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Returns a lab with the toy guest and a guest for x86-64. Both guests have run."""
    lab = fakelab.make(tmp_path_factory.mktemp("wide") / "lab")
    lab._put(
        "guest-images/wide/guest.toml",
        'schema_version = 1\nname = "wide"\nbase = "toy"\ntitle = "64 bits"\nisa = "x86-64"\n',
    )
    Runner(lab).run_all(experiment.load(lab, "tests"))
    lab.behave(
        events={"call": without_cycles(call_events()), "chase": without_cycles(chase_events())}
    )
    Runner(lab).run_all(experiment.load(lab, "tests", Filter(guests=("wide",))))
    return lab


@pytest.fixture
def p5lab(two, p5lab):
    """Runs one command in the laboratory with two guests."""
    return p5lab


def table(out, title):
    """Returns the lines of one printed table, split into cells."""
    lines = iter(out.splitlines())
    for line in lines:
        if line.strip().startswith(title):
            break
    else:
        raise AssertionError(f"no table {title!r} in\n{out}")
    rows = []
    for line in lines:
        if not line.strip():
            if rows:
                return rows
            continue
        if "──" not in line:
            rows.append([cell for cell in line.strip().split("  ") if cell.strip()])
    return rows


def row(rows, name):
    (found,) = (cells for cells in rows if cells[0] == name)
    return [cell.strip() for cell in found[1:]]


def test_the_summary_has_a_line_for_each_benchmark(p5lab):
    status, out, _ = p5lab("run", "tests", "--no-build")
    assert status == 0
    rows = table(out, "Time of one operation")
    assert row(rows, "call") == ["1.222", "12.22", "110", "1,100", "10.0"]
    # The last point of the curve: 8 and 16 cycles per load.
    assert row(rows, "chase guest, 1 KB") == ["0.08889", "0.1778", "8", "16", "2.00"]


def test_each_benchmark_has_its_metrics_beside_the_ratio(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--all-tables")
    rows = table(out, "call: one call (of one call)")
    assert rows[0] == ["other"] or "other" in rows[0][-1]
    assert row(rows, "iterations") == ["3", "3"]
    assert row(rows, "busy cycles") == ["110", "1,100", "10.0"]
    assert row(rows, "lowest") == ["100", "1,090", "10.9"]
    assert row(rows, "instructions") == ["40", "40", "1.00"]
    assert row(rows, "data writes") == ["2", "2", "1.00"]
    assert row(rows, "mode changes") == ["0", "0", "-"]
    assert [cells[0] for cells in rows[2:-1]].index("busy cycles") < len(one_system.METRICS)


def test_chen95s_event_tables(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--all-tables")
    assert row(table(out, "Segment register loads"), "call") == ["0", "0", "-"]
    # The scripted engine counts no hardware interrupts. The report subtracts the clock tick from
    # this count, so the result is negative.
    assert row(table(out, "Non-clock interrupts"), "call") == ["-0.3333", "-0.3333", "1.00"]
    for title in shown_in(View.OWN_TABLE).values():
        assert title in out


def test_curves_stand_side_by_side(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--all-tables")
    rows = table(out, "chase guest: counts of one load")
    assert row(rows, "512 B")[:3] == ["2", "4", "2.00"]
    assert row(rows, "1 KB")[:3] == ["8", "16", "2.00"]


def test_a_workload_that_moves_bytes_has_their_rate(lab, capsys):
    """At 90 MHz, a load of 4 bytes takes 2 cycles in phase 512 B and 8 cycles in phase 1 KB. A call
    moves no bytes.
    """
    path = lab.root / "workloads/micro/chase/workload.toml"
    path.write_text(path.read_text().replace('"loads"\n', '"loads"\nbytes = 4\n'))
    assert cli.main(["run", "tests", "--no-build"], lab) == 0
    out = capsys.readouterr().out
    rows = table(out, "chase guest: counts per load")
    assert (row(rows, "512 B")[:2], row(rows, "1 KB")[:2]) == (["180", "2"], ["45", "8"])
    assert row(table(out, "Counts per operation"), "MB/s") == ["-", "45"]


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal(p5lab, columns):
    _, out, _ = p5lab("run", "tests", "--no-build", columns=columns)
    assert max(map(len, out.splitlines())) <= columns


def test_no_number_is_cut_off_on_a_narrow_terminal(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", columns=50)
    assert "…" not in out
    # The ratio matters more than the cycles, which do not fit beside it.
    assert row(table(out, "Time of one operation"), "call") == ["1.222", "12.22", "10.0"]
    _, out, _ = p5lab("run", "tests", "--no-build", columns=40)
    calls = [line.split()[1:] for line in out.splitlines() if line.startswith("  call ")]
    assert calls == [["1.222", "12.22"], ["10.0"]]


def test_systems_that_do_not_fit_are_compared_in_several_tables(lab):
    names = ["toy"]
    for i in range(5):
        names.append(f"other{i}")
        (lab.guests / names[-1]).mkdir()
        (lab.guests / names[-1] / "guest.toml").write_text(
            f'schema_version = 1\nname = "{names[-1]}"\nbase = "toy"\ntitle = "x"\n'
        )
    choice = Filter(guests=tuple(names), workloads=("call",))
    results = Runner(lab).run_all(experiment.load(lab, "tests", choice))
    stored = [store.Stored(one.directory, store.read(one.directory)) for one in results]
    grids = several_systems.summary(Comparison(stored), 100)
    assert len(grids) > 1
    shown = [head.split("\n")[0] for grid in grids for head in grid.heads if head.endswith("\nus")]
    assert all(grid.heads[1] == "toy\nus" for grid in grids)
    assert set(shown) == set(names)


def test_a_guest_that_cannot_is_said_and_is_no_failure(p5lab, two):
    path = two.guests / "other/guest.toml"
    path.write_text(path.read_text() + '[cannot]\ncall = "nobody to call"\n')
    status, out, err = p5lab("run", "tests", "--no-build")
    assert status == 0
    rows = table(out, "Time of one operation")
    assert row(rows, "call") == ["1.222", "cannot", "110", "-", "-"]
    assert "Not run: guest other cannot run call: nobody to call." in out
    assert "failed" not in out + err


def test_an_instruction_without_a_timing_class_is_reported_once_for_a_run(lab, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = call_events()
    note = {"type": "note", "what": "unknown-class", "name": "0fff", "count": 3}
    lab.behave(events={"call": [*lines[:-1], note, lines[-1]], "chase": chase_events()})
    assert cli.main(["run", "tests", "--no-build"], lab) == 0
    out = capsys.readouterr().out
    said = "instruction 0fff has no timing class. The instruction was executed 3 times"
    assert out.count(said) == 1
    assert out.count("no timing class") == 1


def test_in_what_a_gem5_differs_from_the_machine_is_said_once(lab):
    results = Runner(lab).run_all(experiment.load(lab, "tests"))
    note = {"what": "gem5 differs from the machine", "reason": "a write miss fills a line"}
    runs = []
    for result in results:
        record = {**store.read(result.directory), "engine": "gem5", "notes": [note]}
        runs.append(store.Stored(result.directory, record))
    found = counts.notes(Comparison(runs))
    assert found.count("gem5 differs from the machine: a write miss fills a line.") == 1


def test_the_empty_bracket_is_mentioned_only_if_a_run_has_one(lab):
    runs = experiment.load(lab, "tests")
    stored = [
        store.Stored(one.directory, store.read(one.directory)) for one in Runner(lab).run_all(runs)
    ]
    without = [one for one in stored if one.record["workload"]["name"] == "chase"]
    for shown, is_subtracted in ((stored, True), (without, False)):
        found = Comparison(shown)
        notes = counts.notes(found)
        assert (counts.SUBTRACTED in notes[0]) is is_subtracted
        assert counts.footers(found, notes) == []  # no note names a paper
        assert notes[0].startswith("Each number is")
        about = counts.about(counts.grids(found, 80), found)
        assert "one placement" in about[-1] and "seed 0" in about[-1]
        grid = Grid("", ["", "a"])
        grid.add("x", "0")
        assert counts.DASH not in counts.about([grid], found)
        grid.add("y", "-")
        assert counts.about([grid], found)[0] == counts.DASH


def test_a_run_that_failed_is_seen_in_the_summary(p5lab, two):
    two.behave(events={"call": call_events(), "chase": chase_events()})
    status, out, _ = p5lab("run", "tests", "--no-build", "--seed", "7", "--guest", "toy")
    assert status == 0
    two.behave(events={"call": call_events(status=3), "chase": scaled_chase(2)})
    status, out, _ = p5lab("run", "tests", "--no-build", "--seed", "7")
    assert status == 1
    assert row(table(out, "Time of one operation"), "call") == ["1.222", "failed", "110", "-", "-"]


def test_seeds_show_their_mean_and_spread(lab, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    for seed, more in ((0, 0), (1, 100), (2, 290)):
        lab.behave(events={"call": call_events(more=more)})
        choice = Filter(workloads=("call",), seeds=(seed,))
        (result,) = Runner(lab).run_all(experiment.load(lab, "tests", choice))
        assert result.status == "ok"
    arguments = [
        "run",
        "tests",
        "--no-build",
        "--workload",
        "call",
        "--seed",
        "0-2",
        "--all-tables",
    ]
    assert cli.main(arguments, lab) == 0
    out = capsys.readouterr().out
    rows = table(out, "Time of one operation")
    assert row(rows, "call") == ["2.667", "1.222-4.444", "240"]
    rows = table(out, "call: one call")
    assert row(rows, "busy cycles") == ["240", "110-400"]
    assert row(rows, "instructions") == ["40", "40"]
    assert "Values are means over the seeds 0, 1, 2. The lowest" in out
    lab.behave()
    Runner(lab).run_all(experiment.load(lab, "tests", Filter(workloads=("chase",))))
    assert cli.main(["show", "tests"], lab) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "means over the seeds 0, 1, 2; some have fewer of these seeds." in out


def test_csv_has_a_row_for_each_number(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    (busy,) = (
        one
        for one in rows
        if (one["guest"], one["phase"], one["metric"]) == ("other", "call", "busy cycles")
    )
    assert (busy["value"], busy["ratio"], busy["unit"]) == ("1100.0", "10.0", "cycles")
    assert (busy["experiment"], busy["parameters"]) == ("tests", "iterations=3")
    # The ratio cannot be calculated, so its cell is empty and not zero.
    (share,) = (
        one
        for one in rows
        if (one["guest"], one["phase"], one["metric"]) == ("toy", "512 B", "mode changes")
    )
    assert (share["value"], share["ratio"]) == ("0.0", "")


def test_json_is_valid_and_says_what_was_not_run(p5lab, two):
    path = two.guests / "other/guest.toml"
    path.write_text(path.read_text() + '[cannot]\ncall = "nobody to call"\n')
    _, out, _ = p5lab("run", "tests", "--no-build", "--format", "json")
    data = json.loads(out)
    assert data["schema_version"] == 1
    assert data["cannot"] == [{"guest": "other", "workload": "call", "reason": "nobody to call"}]
    assert data["failed"] == []
    assert "NaN" not in out
    values = {
        (one["guest"], one["phase"]): one["value"]
        for one in data["rows"]
        if one["metric"] == "busy cycles"
    }
    assert values == {
        ("toy", "call"): 110,
        ("toy", "512 B"): 2,
        ("other", "512 B"): 4,
        ("toy", "1 KB"): 8,
        ("other", "1 KB"): 16,
    }


def test_markdown_has_the_same_tables(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--format", "markdown")
    lines = out.splitlines()
    start = lines.index("**Time of one operation**")
    assert lines[start + 2] == (
        "|  | toy us | other us | toy cycles | other cycles | other ratio |"
    )
    assert lines[start + 3] == "| --- | ---: | ---: | ---: | ---: | ---: |"
    assert lines[start + 4] == "| call | 1.222 | 12.22 | 110 | 1,100 | 10.0 |"


def test_one_run_for_programs(p5lab, two):
    name = next(path.name for path in two.results.glob("tests/*"))
    _, out, _ = p5lab("show", name, "--format", "json")
    assert {one["runs"] for one in json.loads(out)["rows"]} == {name}


def test_texts_of_a_grid_are_never_markup(capsys):
    grid = Grid("[bold]title", ["", "a|b"])
    grid.add("[red]x", "1")
    grid.print(counts.stdout())
    out = capsys.readouterr().out
    assert "[bold]title" in out
    assert "[red]x" in out
    assert "a\\|b" in grid.markdown()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0041, "0.0041"),
        (0, "0.00"),
        (1, "1.00"),
        (9.994, "9.99"),
        (10, "10.0"),
        (1234.5, "1,234.5"),
        (float("nan"), "-"),
    ],
)
def test_ratios_have_two_decimals_or_one(value, text):
    assert times(value) == text


def shown(lab, capsys, monkeypatch, *arguments):
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.main(["run", "tests", "--no-build", *arguments], lab) == 0
    return capsys.readouterr().out


def test_a_guest_of_x86_64_has_counts_and_no_cycles(wide, capsys, monkeypatch):
    out = shown(wide, capsys, monkeypatch, "--guest", "wide")
    rows = table(out, "Counts per operation")
    labels = [cells[0].strip() for cells in rows]
    assert not {"busy cycles", "microseconds", "lowest", "CPI (busy)", "kernel share"} & {*labels}
    assert row(rows, "instructions")[0] == "40"
    assert "Guest wide ran on a processor of x86-64" in out

    (run,) = [
        one
        for one in store.all_runs(wide)
        if one.record["label"].startswith("call, wide") and one.record["seed"] == 0
    ]
    assert run.record["machine"]["values"]["cpu.isa"] == "x86-64"
    assert run.record["feedback"] == "off"


def test_beside_a_pentium_its_times_are_missing(wide, capsys, monkeypatch):
    both = ("--guest", "toy", "--guest", "wide")
    out = shown(wide, capsys, monkeypatch, *both, "--all-tables")
    assert row(table(out, "Time of one operation"), "call") == ["1.222", "-", "110", "-", "-"]
    assert row(table(out, "call: one call"), "instructions") == ["40", "40", "1.00"]
    asked = shown(wide, capsys, monkeypatch, *both, "--format", "json")
    values = {
        (one["guest"], one["metric"]): one["value"]
        for one in json.loads(asked)["rows"]
        if one["workload"] == "call"
    }
    assert values["wide", "busy cycles"] is values["wide", "microseconds"] is None
    assert values["wide", "instructions"] == 40


def test_systems_of_x86_64_alone_are_summed_up_by_instructions(wide, capsys, monkeypatch):
    out = shown(wide, capsys, monkeypatch, "--guest", "wide", "--seed", "0,1")
    assert row(table(out, "Instructions of one operation"), "call")[0] == "40"
    assert "Time of one operation" not in out
