# SPDX-License-Identifier: MIT
"""Every table fits into 80 characters, and the headline of an experiment into 40 lines."""

import csv
import io
import itertools
import re

import pytest
from fakelab import CALL, call_events, chase_events
from rich.console import Console

from p5lab.cli import main as cli
from p5lab.keep import store
from p5lab.present import counts, headline, query_table, runs
from p5lab.present.tables import Grid

RULE = re.compile(r" *─+ *")


@pytest.fixture
def p5lab(lab, capsys, monkeypatch):
    """Runs one command in the miniature checkout, without a terminal and without COLUMNS. Returns
    its stdout."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def command(*arguments):
        status = cli.main(list(arguments), lab)
        out, err = capsys.readouterr()
        assert status == 0, err
        return out

    return command


def lines(text):
    """Returns the lines of a text, which fit into 80 characters. A rule is never divided."""
    found = text.splitlines()
    assert [line for line in found if len(line) > 80] == []
    rules = [place for place, line in enumerate(found) if "─" in line]
    assert all(RULE.fullmatch(found[place]) for place in rules)
    assert not any(here + 1 == there for here, there in itertools.pairwise(rules))
    return found


@pytest.fixture
def many(lab):
    """Returns a lab with an experiment of twelve benchmarks with long names."""
    names = [f"call-of-a-function-{number}" for number in range(12)]
    text = 'schema_version = 1\ntitle = "m"\nmachines = ["p90-premiere2"]\nguests = ["toy"]\n'
    for name in (*names, "chase"):
        if name != "chase":
            lab.describe(name, CALL)
            lab._put(f"build/workloads/toy/{name}", name)
        text += f'[[run]]\nworkload = "{name}"\n'
    (lab.experiments / "many.toml").write_text(text)
    events = {name: call_events(more=place) for place, name in enumerate(names)}
    lab.behave(events={**events, "chase": chase_events(), "call": call_events()})
    return lab


def test_the_headline_of_many_benchmarks_stays_visible(p5lab, many):
    found = lines(p5lab("run", "many", "--no-build"))
    assert len(found) + headline.RESERVED <= headline.LINES
    rows = [line.split() for line in found if line.startswith("  call-of-a-function-")]
    assert len(rows) == 12
    assert rows[3][:4] == ["call-of-a-function-3", "1.256", "113", "40"]
    # The headline has the last point of a curve. The note names the rest.
    assert any(line.startswith("  chase, 1 KB ") for line in found)
    assert "--all-tables prints all metrics and all points of chase." in found


def test_all_tables_follow_on_demand(p5lab, many):
    text = p5lab("run", "many", "--no-build", "--all-tables")
    found = lines(text)
    assert len(found) > 100
    assert sum(line.startswith("  mode changes ") for line in found) >= 3
    assert any(line.startswith(" ") and line.split()[:2] == ["512", "B"] for line in found)
    assert "--all-tables" not in text


def test_a_small_experiment_shows_all_its_tables(p5lab):
    found = lines(p5lab("run", "tests", "--no-build"))
    assert len(found) + headline.RESERVED <= headline.LINES
    assert any(line.startswith("  data writes ") for line in found)
    assert any(line.split()[:2] == ["512", "B"] for line in found)
    # A row with only zeros says little. A note says that it is left out.
    assert not any(line.startswith("  mode changes ") for line in found)
    assert any(line.startswith("Rows that contain only zeros are left out") for line in found)


def test_several_systems_show_their_ratios_first(p5lab, many):
    found = lines(
        p5lab("run", "many", "--no-build", "--machine", "p90-premiere2", "--machine", "p100-plato")
    )
    assert len(found) + headline.RESERVED <= headline.LINES
    heads = [line for line in found[:8] if "ratio" in line]
    assert heads
    rows = [line.split() for line in found if line.startswith("  call-of-a-function-3 ")]
    assert len(rows) == 1
    assert rows[0][-1] == "1.00"  # the script counts the same events on every machine


def test_a_query_fits_and_is_limited(p5lab, many):
    p5lab("run", "many", "--no-build")
    text = p5lab("query", "SELECT * FROM counts")
    found = lines(text)
    assert len(found) <= headline.LINES
    end = next(place for place, line in enumerate(found) if line.startswith("Left out"))
    assert end == query_table.ROWS + 4  # blank lines, the heads and a rule are around the rows
    total = len(list(csv.reader(io.StringIO(p5lab("query", "FROM counts", "--format", "csv"))))) - 1
    assert total > 1000
    assert f"{query_table.ROWS} of {total:,} rows; --all-rows prints all rows." in found
    columns, everything = p5lab("query", "FROM counts LIMIT 1", "--format", "csv").splitlines()
    assert len(columns.split(",")) == len(everything.split(",")) > 10
    assert re.search(rf"^\d of {len(columns.split(','))} columns; name the columns", text, re.M)
    # The columns with one value in all rows are left out first.
    assert "experiment = many" in text
    assert "experiment" not in found[1].split()
    assert found[1].split()[-1] == columns.split(",")[-1] == "value"


def test_a_query_keeps_the_columns_that_are_asked_for():
    columns = ["run", "system", "runs", "call", "value", "per", "difference", "ratio"]
    rows = [[f"{at}" * 16 for _ in columns] for at in (1, 2)]
    shown = {}
    for wanted in ((), ("call", "value")):
        console = Console(file=io.StringIO(), width=60)
        query_table.show(console, columns, rows, wanted=wanted)
        text = console.file.getvalue()
        assert max(map(len, text.splitlines())) <= 60
        shown[wanted] = text.splitlines()[1].split()
    assert shown[()] == ["run", "...", "ratio"]
    assert shown["call", "value"] == ["...", "call", "value", "..."]


def test_all_rows_of_a_query(p5lab, many):
    p5lab("run", "many", "--no-build")
    found = lines(p5lab("query", "SELECT event, value FROM counts", "--all-rows"))
    assert len(found) > 1000
    assert "rows" not in found[-1]


def test_long_texts_of_a_query_continue_on_the_next_line(p5lab, many):
    p5lab("run", "many", "--no-build", "--workload", "chase")
    found = lines(p5lab("query", "SELECT run, repeat('word ', 40) AS text, 5 AS five FROM runs"))
    assert " ".join(found).count("word") == 40
    assert "columns" not in found[-1]


def test_list_and_diff_and_show_fit(p5lab, many, lab):
    arguments = ("run", "many", "--no-build", "--workload", "call-of-a-function-11")
    p5lab(*arguments)
    p5lab(*arguments, "--machine", "p133-triton", "--set", "l2.size=1M")
    p5lab("run", "tests", "--no-build")
    many_runs = [one.id for one in store.all_runs(lab) if one.record["experiment"] == "many"]
    for text in (
        p5lab("list"),
        p5lab("list", "runs"),
        p5lab("show", many_runs[0]),
        p5lab("diff", *many_runs),
        p5lab("diff", *many_runs, "--rings"),
        p5lab("keys"),
        p5lab("plan", "many"),
    ):
        lines(text)
    found = lines(p5lab("list", "runs"))
    for run in many_runs:
        (line,) = [line for line in found if line.strip().startswith(run[:10])]
        assert line.split()[1:3] == ["many", "ok"]
        assert "call-of-a-function-11," in line


def test_list_runs_names_the_reason_of_a_failure(p5lab, lab, capsys):
    lab.behave(events={}, exit=9, stderr="a reason of many words " * 4)
    assert cli.main(["run", "tests", "--no-build", "--workload", "call"], lab) == 1
    capsys.readouterr()
    assert any("a reason of many words" in line for line in lines(p5lab("list", "runs")))
    whole = lines(p5lab("show", store.all_runs(lab)[0].id))
    assert " ".join(" ".join(whole).split()).count("a reason of many words") == 4


def test_a_number_is_never_divided():
    grid = Grid("", ["", *(f"column {number}" for number in range(9))])
    grid.add("a row", *["123,456,789"] * 9)
    assert grid.width > 80
    assert grid.height(80) == 2 * (1 + 1 + 3)


REASON = (
    "invalid opcode (#UD) at 0x00011200, ring 3, CR3 0x002f8000: `ud2` (0f 0b) in main,"
    " /home/user/programs/hello.c:12; a compiler puts this instruction where the program must not"
    " continue"
)


def test_a_long_reason_takes_one_line_of_the_list(p5lab, lab):
    p5lab("run", "tests", "--no-build")
    first, second = store.all_runs(lab)
    for one, reason in ((first, REASON), (second, "program was killed by\nsignal 11")):
        store.write(one.directory, {**one.record, "status": "failed", "reason": reason})
    found = lines(p5lab("list", "runs"))
    assert len([line for line in found if first.id[:10] in line]) == 2  # its row, and its reason
    (cut,) = [line for line in found if "invalid opcode" in line]
    name, text = cut.split(maxsplit=1)
    assert name == first.id[:10]
    assert text.endswith(" ...")
    # Only whole words are shown, and as many as fit.
    words = text.removesuffix(" ...").split()
    assert words == REASON.split()[: len(words)]
    assert len(f"{cut} {REASON.split()[len(words)]}") > 80
    assert f"  {second.id[:10]}   program was killed by signal 11" in found
    assert found[-1] == "./p5lab show RUN prints the whole reason."
    whole = " ".join(" ".join(lines(p5lab("show", first.id))).split())
    assert f"failed {REASON}" in whole


def test_reasons_that_fit_need_no_remark(p5lab, lab):
    p5lab("run", "tests", "--no-build")
    first, _ = store.all_runs(lab)
    store.write(first.directory, {**first.record, "status": "failed", "reason": "[red]no[/red]"})
    found = lines(p5lab("list", "runs"))
    assert found[-1].split() == [first.id[:10], "[red]no[/red]"]


def test_a_word_longer_than_the_line_is_divided():
    assert runs.cut("a" * 100 + " b", 20) == "a" * 20
    assert runs.cut("東京 東京 東京", 9) == "東京 東京"
    assert runs.cut("short", 20) == "short"


def test_the_columns_are_divided_evenly():
    """Once, a terminal of 120 columns got a second table with a single column."""
    grid = Grid("", ["", *(f"column {number}" for number in range(7))])
    grid.add("row", *["123,456,789"] * 7)
    assert [len(part) - 1 for part in grid._parts(100)] == [4, 3]
    assert len(grid._parts(200)) == 1


def test_each_part_of_a_wide_table_names_its_rows(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    heads = ["component", "where", *(f"a long number {place}" for place in range(8))]
    grid = Grid("", heads, left={1}, keys=2)
    for component, where in itertools.product(("data.dram", "long"), ("dup", "open")):
        grid.add(component, where, *["1,000"] * 8)
    grid.print(counts.stdout())
    found = lines(capsys.readouterr().out)
    parts = sum("component" in line for line in found)
    assert parts > 1
    for component, where in itertools.product(("data.dram", "long"), ("dup", "open")):
        assert sum(line.split()[:2] == [component, where] for line in found) == parts


def test_names_that_need_most_of_the_width_are_repeated_in_less_of_it(capsys, monkeypatch):
    """Once, further parts had only some of the names, so that several rows looked equal."""
    monkeypatch.setenv("COLUMNS", "80")
    keys = ["function", "line", "call", "component"]
    grid = Grid("", [*keys, *("first", "second", "difference", "ratio")], left={1, 2, 3}, keys=4)
    where = ["account_system_time", "(no line)", "outside of any call"]
    components = ["data.dram", "writes.buffers", "writes.order"]
    for component in components:
        grid.add(*where, component, "3,971,497", "3,970,137", "-1,360", "1.00")
    grid.add("all", "", "", "", "9,971,497", "9,970,137", "-4,360", "1.00", dim=True)
    assert grid._with_room(80).dim == {len(grid._with_room(80).rows) - 1}
    grid.print(counts.stdout())
    found = lines(capsys.readouterr().out)
    heads = [place for place, line in enumerate(found) if line.split()[:4] == keys]
    assert len(heads) == 2
    for first, end in zip(heads, (heads[1], None), strict=True):
        text = " ".join(" ".join(found[first:end]).split())
        assert all(text.count(component.partition(".")[2]) for component in components)
        assert text.count("data.dram") == 1 and text.count("account_") == 3
    assert sum("1.00" in line for line in found) == 4


def test_many_names_leave_space_for_numbers(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    grid = Grid("", ["name of row", "other of row", "a number", "more"], keys=2)
    grid.add("a", "b", "123,456", "2")
    grid.print(counts.stdout())
    out = capsys.readouterr().out
    assert all(len(line) <= 40 for line in out.splitlines())
    rows = [line.split() for line in out.splitlines() if line.split()[:2] == ["a", "b"]]
    assert [cell for row in rows for cell in row[2:]] == ["123,456", "2"]


def test_names_that_leave_no_space_continue_in_further_rows(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    grid = Grid("", ["loser", "winner", "lost"], keys=2)
    grid.add("get_page_from_freelist", "mas_wr_store_entry.isra.0 of maple", "4,324")
    grid.print(counts.stdout())
    found = lines(capsys.readouterr().out)
    assert all(len(line) <= 60 for line in found)
    assert sum("4,324" in line for line in found) == 1
    assert sum("loser" in line for line in found) == 1
