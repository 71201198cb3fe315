# SPDX-License-Identifier: MIT
"""The tables of a sweep: a row for each point, and the columns that the user chooses."""

import json
import re
import shutil
from functools import partial

import pytest
from fakelab import CYCLES, EXPERIMENT, call_events

from p5lab.keep import store
from p5lab.present import column, sweep_table
from p5lab.present.comparison import Comparison


@pytest.fixture
def p5lab(p5lab):
    return partial(p5lab, columns=80)


@pytest.fixture
def swept(lab, results_by_size):
    """Returns the command line of a sweep with stored runs. The run with the machine's own value
    was made without the sweep, so its record contains no overlay.
    """
    shutil.copytree(results_by_size, lab.results)
    lab.behave(exit=1)  # all runs are stored, so the engine does not start again
    return ("run", "tests", "--no-build", "--sweep", f"l2.size={','.join(CYCLES)}")


def tables(out):
    """Returns the printed tables: for each title, its rows as lists of cells."""
    found, title = {}, ""
    for line in out.splitlines():
        if line and not line.startswith(" "):
            title = line
        elif "──" in line:
            found[title] = []
        elif title in found and line.strip():
            found[title].append(line.split())
    return found


CALL, CHASE = "call: counts of one call", "chase guest, 1 KB: counts of one load"


def test_each_point_has_a_row_with_its_value(p5lab, swept):
    status, out, _ = p5lab(*swept)
    assert status == 0
    assert "p90-premiere2" not in out
    found = tables(out)
    assert list(found) == [CALL, CHASE]
    # Busy cycles of the means, and the ratio of the times to the first row.
    assert [row[:4] for row in found[CALL]] == [
        ["l2.size=64K", "4.556", "1.00", "410"],
        ["l2.size=256K", "2.333", "0.51", "210"],
        ["l2.size=1M", "1.222", "0.27", "110"],
    ]


def test_the_tables_fit_80_columns(p5lab, swept):
    _, out, _ = p5lab(*swept)
    assert max(map(len, out.splitlines())) <= 80
    assert len(tables(out)[CALL][0]) >= 5


def test_many_benchmarks_share_a_table_that_stays_visible(p5lab, lab):
    """A screen has 40 lines. Each benchmark is compared with its own first point."""
    text = EXPERIMENT + "".join(
        f'[[run]]\nworkload = "call"\nparameters = {{ iterations = {count} }}\n'
        for count in (4, 5, 6)
    )
    (lab.experiments / "tests.toml").write_text(text)
    arguments = ("run", "tests", "--no-build", "--sweep", "l2.size=128K,512K")
    _, out, _ = p5lab(*arguments)
    assert len(out.splitlines()) < 36
    assert max(map(len, out.splitlines())) <= 80
    (rows,) = tables(out).values()
    assert [row[:5] for row in rows[:4]] == [
        ["call", "l2.size=128K", "1.222", "1.00", "110"],
        ["l2.size=512K", "1.222", "1.00", "110", "40"],
        ["chase", "guest,", "1", "KB", "l2.size=128K"],
        ["l2.size=512K", "0.08889", "1.00", "8", "1"],
    ]
    assert len(rows) == 10
    _, out, _ = p5lab(*arguments, "--all-tables")
    assert {CALL, CHASE} <= set(tables(out))


def test_columns_are_metrics_and_events(p5lab, swept):
    _, out, _ = p5lab(*swept, "--metric", "cycles,data_reads", "--metric", "Kernel-Share")
    # A bracket has 6 data reads. 60 of the cycles are in ring 0.
    assert tables(out)[CALL] == [
        ["l2.size=64K", "410", "1.00", "6", "0.1463"],
        ["l2.size=256K", "210", "0.51", "6", "0.2857"],
        ["l2.size=1M", "110", "0.27", "6", "0.5455"],
    ]


def test_columns_that_do_not_fit_continue_in_a_second_table(p5lab, swept):
    chosen = "cycles,instructions,data reads,data writes,L2 misses,kernel share"
    _, out, _ = p5lab(*swept, "--workload", "call", "--metric", chosen, columns=60)
    assert max(map(len, out.splitlines())) <= 60
    assert out.count(CALL) == 2
    assert out.count("l2.size=256K") == 2
    assert out.count("0.2857") == 1


def test_every_table_has_room_for_the_ratio_of_its_first_column(p5lab, lab, swept):
    p5lab(*swept)
    found = Comparison(store.all_runs(lab), (), ["l2.size"])
    chosen = column.parse(["cycles,instructions,data reads,data writes,L2 misses,kernel share"])
    for width in range(50, 110, 7):
        assert all(one.width <= width for one in sweep_table.grids(found, chosen, width))


def test_columns_that_differ_between_the_points_come_first(p5lab, swept):
    _, out, _ = p5lab(*swept, columns=50)
    head = out[: out.index("──")]
    assert "CPI" in head
    assert "instruc-" not in head


def test_all_other_tables_are_printed_on_demand(p5lab, swept):
    _, out, _ = p5lab(*swept)
    assert "Time of one operation" not in out
    assert "--all-tables" in out
    _, out, _ = p5lab(*swept, "--all-tables")
    assert out.index(CALL) < out.index("Time of one operation")
    assert "Protection boundary crossings" in out
    # The other tables name the points in the same way.
    assert "p90-premiere2" not in out


def test_two_keys_have_two_columns(p5lab, lab):
    arguments = ("--sweep", "l2.size=128K,256K", "--sweep", "l2.ways=1,2", "--workload", "call")
    _, out, _ = p5lab("run", "tests", "--no-build", *arguments)
    assert [row[:2] for row in tables(out)[CALL]] == [
        [f"l2.size={size}", f"l2.ways={ways}"] for size in ("128K", "256K") for ways in (1, 2)
    ]


def test_each_part_of_a_table_has_all_keys(p5lab, lab):
    """Once, a second part had the names of the benchmarks only."""
    sweeps = ("--sweep", "l2.size=128K,256K", "--sweep", "l2.ways=1,2")
    p5lab("run", "tests", *sweeps, "--workload", "call", "--seeds", "2", "--no-build")
    found = Comparison(store.all_runs(lab), (), ["l2.size", "l2.ways"])
    (grid,) = sweep_table.grids(found, column.parse(["cycles"]), 80, together=True)
    assert grid.heads == ["benchmark", "", "", "cycles", "min-max", "ratio"]
    assert grid.keys == 3
    parts = grid._parts(grid.width - 1)
    assert [part[:3] for part in parts] == [[0, 1, 2]] * 2


def test_three_keys_share_a_column(p5lab, lab):
    sweeps = ("l2.size=128K,256K", "l2.ways=1,2", "dtlb.entries=64,128")
    arguments = [word for text in sweeps for word in ("--sweep", text)]
    _, out, _ = p5lab("run", "tests", "--no-build", "--workload", "call", *arguments, columns=120)
    rows = tables(out)[CALL]
    assert len(rows) == 8
    assert rows[0][:3] == ["l2.size=128K", "l2.ways=1", "dtlb.entries=64"]


def test_a_swept_parameter_has_its_value(p5lab, lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--sweep", "parameters.loads=5,20")
    found = tables(out)
    # `chase` has 20 cycles for all loads of the first size, and 80 cycles for the last size.
    assert [row[:4] for row in found[CHASE]] == [
        ["loads=5", "0.1778", "1.00", "16"],
        ["loads=20", "0.04444", "0.25", "4"],
    ]
    assert len(found[CALL]) == 1  # `call` does not have the parameter


def test_each_guest_is_compared_with_its_own_first_point(p5lab, lab):
    (lab.guests / "other").mkdir()
    (lab.guests / "other/guest.toml").write_text(
        'schema_version = 1\nname = "other"\nbase = "toy"\ntitle = "slower"\n'
    )
    common = ("run", "tests", "--no-build", "--workload", "call")
    for guest, size, more in (
        ("toy", "128K", 0),
        ("toy", "512K", 110),
        ("other", "128K", 890),
        ("other", "512K", 390),
    ):
        lab.behave(events={"call": call_events(more=more)})
        p5lab(*common, "--guest", guest, "--set", f"l2.size={size}")
    guests = ("--guest", "toy", "--guest", "other")
    _, out, _ = p5lab(*common, *guests, "--sweep", "l2.size=128K,512K", "--metric", "cycles")
    assert tables(out)[CALL] == [
        ["toy", "l2.size=128K", "110", "1.00"],
        ["toy", "l2.size=512K", "220", "2.00"],
        ["other", "l2.size=128K", "1,000", "1.00"],
        ["other", "l2.size=512K", "500", "0.50"],
    ]


def test_a_point_that_failed_says_so(p5lab, lab):
    common = ("run", "tests", "--no-build", "--workload", "call")
    p5lab(*common, "--set", "l2.size=128K")
    lab.behave(events={"call": call_events(status=3)})
    status, out, _ = p5lab(*common, "--sweep", "l2.size=128K,512K", "--metric", "cycles")
    assert status == 1
    assert tables(out)[CALL] == [["l2.size=128K", "110", "1.00"], ["l2.size=512K", "failed", "-"]]


def test_an_experiment_can_sweep_too(p5lab, lab):
    text = EXPERIMENT + '[[sweep]]\ngrid = { l2.size = ["128K", "256K"] }\n'
    (lab.experiments / "tests.toml").write_text(text)
    _, out, _ = p5lab("run", "tests", "--no-build")
    assert [row[0] for row in tables(out)[CALL]] == ["l2.size=128K", "l2.size=256K"]


def test_variants_of_an_experiment_are_still_side_by_side(p5lab, lab):
    text = EXPERIMENT + "[[overlay]]\nset = { l2.ways = 1 }\n[[overlay]]\nset = { l2.ways = 2 }\n"
    (lab.experiments / "tests.toml").write_text(text)
    _, out, _ = p5lab("run", "tests", "--no-build")
    assert "Time of one operation" in out


def test_stored_points_are_shown_in_the_order_of_their_values(p5lab, swept):
    """As texts, 1048576 would come before 262144 and 65536."""
    _, out, _ = p5lab("show", "tests", "--metric", "cycles")
    assert tables(out)[CALL] == tables(p5lab(*swept, "--metric", "cycles")[1])[CALL]
    _, out, _ = p5lab("show", "tests", "--only", "call", "--metric", "cycles")
    assert list(tables(out)) == [CALL]


def test_stored_runs_are_shown_together(p5lab, lab, swept):
    ids = [
        path.name
        for path in lab.results.glob("tests/*")
        if (record := json.loads((path / "run.json").read_text()))["workload"]["name"] == "call"
        and record["machine"]["values"]["l2.size"] != str(64 << 10)
    ]
    _, out, _ = p5lab("show", *(one[:8] for one in ids))
    assert [row[0] for row in tables(out)[CALL]] == ["l2.size=256K", "l2.size=1M"]


def test_without_a_sweep_the_rows_are_benchmarks(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--metric", "cycles,CPI")
    assert tables(out)["Means of one operation"] == [
        ["call", "110", "2.75"],
        ["chase", "guest,", "1", "KB", "8", "8"],
    ]


def test_markdown_has_unbroken_heads(p5lab, swept):
    chosen = ("--metric", "cycles,l2_read_misses", "--workload", "call")
    _, out, _ = p5lab(*swept, *chosen, "--format", "markdown")
    assert "|  | busy cycles | ratio | l2_read_misses |" in out
    assert "| l2.size=256K | 210 | 0.51 | 0 |" in out


def test_the_name_of_a_metric_may_contain_a_comma(p5lab, swept):
    chosen = ("--metric", "cycles,CR3 loads, changed,us", "--workload", "call")
    _, out, _ = p5lab(*swept, *chosen, "--format", "markdown")
    assert "|  | busy cycles | ratio | CR3 loads, changed | microseconds |" in out


def test_programs_get_the_point_of_every_run(p5lab, swept):
    rows = json.loads(p5lab(*swept, "--json")[1])["rows"]
    cycles = {
        row["geometry"]: row["value"]
        for row in rows
        if (row["workload"], row["metric"]) == ("call", "busy cycles")
    }
    assert cycles == {"l2.size=65536": 410, "l2.size=262144": 210, "l2.size=1048576": 110}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "cycels"], "--metric: unknown metric or event 'cycels'; did you mean 'cycl"),
        (
            ["--metric", "zzz"],
            "--metric: unknown metric or event 'zzz'; known: bandwidth, cpi, cycles, l1i misses,"
            " nominal cycles, time, us, rows of a report such as 'L2 misses', and events such as"
            " 'l2_read_misses'",
        ),
        (["--metric", "cycles,"], "--metric cycles,: expected NAME,NAME,..., such as cycles"),
        (
            ["--metric", "cycles", "--json"],
            "--metric: expected with --format table, markdown or latex;",
        ),
    ],
)
def test_a_wrong_choice_is_one_line_and_runs_nothing(p5lab, lab, arguments, message):
    status, out, err = p5lab("run", "tests", "--no-build", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"p5lab: {message}")
    assert lab.starts() == []


def test_the_examples_of_the_message_are_columns():
    row, event = column.parse(column.EXAMPLES)
    assert (row.is_event, event.is_event) == (False, True)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("test", "unknown run or experiment 'test'; did you mean 'tests'?"),
        ("program", "program has no results: run `./p5lab run --program FILE` first"),
    ],
)
def test_words_that_name_no_stored_run(p5lab, swept, word, message):
    for command in (["show", word], ["report", word]):
        status, out, err = p5lab(*command)
        assert status != 0
        assert (out, err) == ("", f"p5lab: {message}\n")


@pytest.mark.parametrize("option", ["--source", "--crossings"])
def test_the_inside_of_several_runs_cannot_be_shown(p5lab, swept, option):
    status, _, err = p5lab("show", "tests", option)
    assert (status, err.count("\n")) == (2, 1)
    assert re.match(rf"p5lab: show {option}: expected one run; found ", err)


@pytest.mark.parametrize(
    ("words", "views"),
    [
        (("--top", "3"), ["--by"]),
        (("--top", "20"), ["--by"]),  # the default
        (("--event", "cycles.busy"), ["--by", "--source", "--speedscope"]),
    ],
)
def test_an_option_without_the_view_that_uses_it_is_refused(lab, p5lab, swept, words, views):
    option = words[-2]
    (one, *_) = lab.results.glob("tests/*/run.json")
    for runs in (("tests",), (one.parent.name,)):
        status, out, err = p5lab("show", *runs, *words)
        assert (status, out) == (2, "")
        assert err.startswith(f"p5lab: show {option}: expected with {views[0]}")
        assert all(view in err for view in views)


def test_metrics_of_a_page_without_a_sweep_are_refused(lab, p5lab, swept):
    lab._put("configs/claims.toml", "schema_version = 1\n")
    (one, *_) = lab.results.glob("tests/*/run.json")
    for words in (("tests",), (one.parent.name,)):
        status, out, err = p5lab("report", *words, "--metric", "cycles")
        assert (status, out) == (2, "")
        assert err.startswith("p5lab: report --metric: expected a sweep over a machine key ")
        assert err.count("\n") == 1
        assert not list(lab.results.glob("*.html"))


def test_counts_by_ring_have_the_points_in_the_order_of_their_values(p5lab, swept):
    _, out, _ = p5lab("show", "tests", "--by", "ring", "--json")
    systems = dict.fromkeys(row["system"] for row in json.loads(out)["rows"])
    assert list(systems) == ["l2.size=64K", "as described", "l2.size=1M"]


def test_several_seeds_have_their_range_beside_the_mean(p5lab, lab):
    words = ("run", "tests", "--no-build", "--workload", "call", "--sweep", "l2.size=64K,1M")
    for seeds, more in (("1", 0), ("2", 50)):  # the second command makes only the second seed
        lab.behave(events={"call": call_events(more=more)})
        _, out, _ = p5lab(*words, "--seeds", seeds, "--metric", "cycles,code_misses")
    head = next(line for line in out.splitlines() if "min-max" in line)
    assert head.split()[:3] == ["cycles", "min-max", "ratio"]
    (rows,) = tables(out).values()
    assert [row[:4] for row in rows] == [
        ["l2.size=64K", "135", "110-160", "1.00"],
        ["l2.size=1M", "135", "110-160", "1.00"],
    ]
