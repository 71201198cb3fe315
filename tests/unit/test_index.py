# SPDX-License-Identifier: MIT
"""The index of the results agrees with the run directories, even if index files are damaged."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fakelab import REPO, make
from hypothesis import given, settings
from hypothesis import strategies as st

from p5lab.api import tables
from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.keep import index, named, selection, store
from p5stats import record, tidy


@pytest.fixture(autouse=True)
def worthwhile(monkeypatch):
    monkeypatch.setattr(index, "WORTHWHILE", 1)


@pytest.fixture
def results(lab):
    return with_results(lab)


@pytest.fixture(scope="module")
def read_only(tmp_path_factory):
    """Returns the same results, for tests that only ask."""
    return with_results(make(tmp_path_factory.mktemp("read only") / "lab"))


def with_results(lab):
    """Makes four runs of two workloads on two machines. One run has failed."""
    for size in ("256K", "512K"):
        Runner(lab, jobs=2).run_all(
            experiment.load(lab, "tests", Filter(settings=(("l2.size", size),)))
        )
    bad = store.all_runs(lab)[0]
    store.write(bad.directory, {**bad.record, "status": "failed", "reason": "it had to fail"})
    return lab


def as_read(lab):
    """Reads the records in the run directories, and returns those members that the index also
    contains.
    """
    return [
        (one.directory, {key: one.record.get(key) for key in index._KEPT})
        for one in store.all_runs(lab)
    ]


def as_indexed(lab):
    return [
        (one.directory, {key: one.record.get(key) for key in index._KEPT})
        for one in index.runs(lab)
    ]


def files(lab):
    return list((lab.results / index.DIRECTORY).iterdir())


def test_it_says_what_the_directories_say(results, monkeypatch):
    expected = as_read(results)
    assert len(expected) == 4
    assert as_indexed(results) == expected
    (made,) = files(results)
    monkeypatch.setattr(store, "stored", None)  # no record is read again
    assert as_indexed(results) == expected
    assert files(results) == [made]


def test_what_changes_is_read_anew(results):
    index.runs(results)
    first, second, *_ = store.all_runs(results)
    store.write(first.directory, {**first.record, "reason": "another"})
    shutil.rmtree(second.directory)
    found = as_indexed(results)
    assert found == as_read(results)
    assert len(found) == 3
    assert found[0][1]["reason"] == "another"
    Runner(results).run_all(experiment.load(results, "tests", Filter(seeds=(1,))))
    assert as_indexed(results) == as_read(results)
    assert len(files(results)) == 1


def test_what_a_crash_left_running_is_seen(results):
    one = store.all_runs(results)[1]
    with store.locked(one.directory):
        store.write(one.directory, {**one.record, "status": "running"})
        assert [row.status for row in index.runs(results)].count("running") == 1
    assert store.CRASHED in [row.record["reason"] for row in index.runs(results)]


def test_it_is_seen_in_a_directory_that_cannot_be_written(results, monkeypatch):
    one = store.all_runs(results)[1]
    store.write(one.directory, {**one.record, "status": "running"})
    record = (one.directory / store.RECORD).read_bytes()
    read = Path.open

    def only_read(path, mode="r", **rest):
        if mode not in ("r", "rb"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return read(path, mode, **rest)

    def refuse(path, _):
        only_read(path, "wb")

    monkeypatch.setattr(Path, "open", only_read)
    monkeypatch.setattr(store, "replace_json", refuse)
    assert store.stored(one.directory).record["reason"] == store.CRASHED
    with store.locked(one.directory):  # of another user who still executes it
        assert store.stored(one.directory).status == "running"
    assert (one.directory / store.RECORD).read_bytes() == record
    (one.directory / store.LOCK).unlink()  # a copy without locks
    assert store.stored(one.directory).status == "running"


def test_labels_and_their_order_need_no_record(results, here, monkeypatch):
    """Only the records of the runs that are shown are read, and each once by a function."""
    for one in store.all_runs(results, "tests")[:2]:
        named.change(one.directory, label="base")
    asked = {one.id: one.asked for one in store.all_runs(results)}
    index.runs(results)
    read = []
    monkeypatch.setattr(
        record, "read", lambda path, own=record.read: read.append(path) or own(path)
    )
    assert {one.id: one.asked for one in index.runs(results)} == asked
    assert selection.is_label(results, "base") and not selection.is_label(results, "new")
    selection.check_clear(results, "tests")
    assert not read
    groups = selection.groups(results, ["base"])
    whole = {one.directory: one.record for one in store.all_runs(results)}
    assert [same[0].record for same in groups] == [whole[same[0].directory] for same in groups]
    read.clear()
    tables.load("tests")
    assert len(read) == len({*read}) > 0


def test_a_process_with_pyarrow_uses_it_for_fewer_runs(results, monkeypatch):
    monkeypatch.setattr(index, "WORTHWHILE", 1000)
    index.runs(results)
    assert not (results.results / index.DIRECTORY).exists()
    monkeypatch.setattr(index, "IF_LOADED", 4)
    expected = as_indexed(results)
    assert len(files(results)) == 1 and expected == as_read(results)


def foreign(lab):
    """Writes a foreign Parquet file with the name of an index."""
    path = lab.results / index.DIRECTORY / "x"
    shutil.copyfile(next(lab.results.glob("*/*/counts.parquet")), path)
    path.rename(path.with_name(index._name(path)))


@pytest.mark.parametrize("what", ["empty", "removed", "foreign", "newer", "no directory"])
def test_without_a_good_index_it_is_made_again(results, what, monkeypatch):
    expected = as_indexed(results)
    (made,) = files(results)
    if what == "newer":
        monkeypatch.setattr(index, "SCHEMA_VERSION", index.SCHEMA_VERSION + 1)
        made.unlink()
        index.runs(results)
        monkeypatch.undo()
        monkeypatch.setattr(index, "WORTHWHILE", 1)
    elif what == "empty":
        made.write_bytes(b"")
    else:
        made.unlink()
    if what == "foreign":
        foreign(results)
    if what == "no directory":
        made.parent.rmdir()
        made.parent.write_text("a file")
    assert as_indexed(results) == expected
    if what != "no directory":
        assert files(results) == [made]


def test_a_damaged_index_is_never_believed(results):
    expected = as_indexed(results)
    (made,) = files(results)
    good = made.read_bytes()

    @settings(max_examples=30)
    @given(st.integers(0, len(good) - 1), st.integers(1, 255), st.booleans())
    def damage(place, change, cut):
        bad = bytearray(good)
        bad[place] ^= change
        made.write_bytes(bad[:place] if cut else bad)
        assert as_indexed(results) == expected
        assert made.read_bytes() == good

    damage()


def test_questions_in_sql(read_only):
    columns, rows = index.query(
        read_only, "SELECT status, count(*) AS n FROM runs GROUP BY ALL ORDER BY ALL"
    )
    assert (columns, rows) == (["status", "n"], [("failed", 1), ("ok", 3)])
    frame = tidy.load(read_only.results, all_runs=True)
    good = frame[
        frame["run"].isin([one.id for one in store.all_runs(read_only) if one.status == "ok"])
    ]
    _, rows = index.query(read_only, "SELECT run, event, sum(value) FROM counts GROUP BY ALL")
    expected = good.groupby(["run", "event"])["value"].sum()
    assert {(run, event): value for run, event, value in rows} == expected.to_dict()


def test_no_results_have_no_counts(lab):
    assert index.query(lab, "SELECT count(*) FROM counts")[1] == [(0,)]
    assert index.query(lab, "SELECT count(*) FROM runs")[1] == [(0,)]


def refusal(lab, sql):
    """Returns the message about a query that fails. The message must be one line."""
    with pytest.raises(UserError) as caught:
        index.query(lab, sql)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC 1", "query: Parser Error: syntax error"),
        ("SELECT 1 + FROM runs", "query: Parser Error"),
        ("SELECT", "query: Parser Error"),
        ("", "query: expected a statement with a result"),
        ("DELETE FROM runs", "query: expected a statement that reads, such as SELECT"),
        ("SELECT 1; DROP TABLE runs", "query: expected a statement that reads, such as SELECT"),
        ("COPY runs TO 'runs.csv'", "query: expected a statement that reads, such as SELECT"),
    ],
)
def test_a_question_that_makes_no_sense_is_one_line(read_only, sql, message):
    assert message in refusal(read_only, sql)


LISTS = r'; .*"DESCRIBE runs" lists all columns \(also keys, counts, counts_by\)$'


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT gest FROM runs", "unknown column 'gest'; did you mean 'guest'?"),
        ("SELECT runs.wrkload FROM runs", "unknown column 'wrkload'; did you mean 'workload'?"),
        ("SELECT * EXCLUDE (staus) FROM runs", "'staus'; did you mean 'status'"),
        # All names that are equally close, and no others.
        (
            "SELECT l2_miss FROM counts",
            "unknown column 'l2_miss'; did you mean 'itlb_misses', 'dtlb_misses' or"
            " 'l2_read_misses'? ",
        ),
        ("WITH t AS (SELECT guest AS mine FROM runs) SELECT mien FROM t", "did you mean 'mine'?"),
        # The names of events are texts of a column, not columns.
        (
            "SELECT cycle FROM counts",
            "did you mean 'cycles.busy' or 'cycles.idle'? 'cycles.busy' and 'cycles.idle' are"
            " events; a count is a row: ... FROM counts WHERE event = 'cycles.busy'",
        ),
        (
            "SELECT sum(instructions) FROM counts",
            "unknown column 'instructions'; 'instructions' is an event; a count is a row:"
            " ... FROM counts WHERE event = 'instructions'",
        ),
        # A text with double quotes, or without quotes, is the name of a column in SQL.
        ("FROM runs WHERE guest = toy", "'toy'; a text needs single quotes: 'toy'"),
        ('FROM runs WHERE status = "ok"', "'ok'; a text needs single quotes: 'ok'"),
        # Machine keys are in a table of their own.
        (
            'SELECT "l2.size" FROM runs',
            'keys: SELECT guest, "l2.size" FROM runs JOIN keys USING (run)',
        ),
        (
            "SELECT l2_size FROM runs",
            "'l2_size'; did you mean 'l2.size'? machine keys are columns of the table keys: SELECT",
        ),
        ("SELECT sum(count) FROM counts", "unknown column 'count'; did you mean 'value'?"),
        ("SELECT status FROM counts", "unknown column 'status'; it is a column of runs."),
        ("SELECT nothing_like_it FROM runs", "unknown column 'nothing_like_it'; ./p5lab query"),
    ],
)
def test_an_unknown_column_names_the_close_names(read_only, sql, message):
    text = refusal(read_only, sql)
    assert text.startswith("query: unknown column")
    assert message in text
    assert re.search(LISTS, text)


def test_the_columns_are_listed_as_the_message_says(read_only):
    for table, column in {"runs": "guest", "counts": "value", "keys": "l2.size"}.items():
        columns, rows = index.query(read_only, f"DESCRIBE {table}")
        assert columns[0] == "column_name"
        assert column in [row[0] for row in rows]


def test_machine_keys_and_parameters_are_columns(results, p5lab):
    p5lab("run", "tests", "--no-build", "--workload", "call", "--set", "l2.size=512K")
    _, rows = index.query(
        results,
        'SELECT "l2.size", "l2.present", "l1d.replacement", "parameters.iterations"'
        " FROM runs JOIN keys USING (run) WHERE workload = 'call' ORDER BY 1",
    )
    assert rows == [(262144, True, "lru", 3), (524288, True, "lru", 3)]


def test_keys_of_no_results_have_no_rows(lab):
    assert index.query(lab, 'SELECT "l2.size" FROM keys')[1] == []


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("FROM cunts", "query: unknown table 'cunts'; did you mean 'counts'? The tables are"),
        (
            "FROM run",
            "query: unknown table 'run'; did you mean 'runs'? The tables are runs, keys",
        ),
        (
            "SELECT r.guest FROM runs",
            "query: unknown table 'r'; the tables are runs, keys, counts and counts_by",
        ),
        ("SELECT l1i.size FROM runs", "unknown table 'l1i'; machine keys are columns of the"),
        (
            "FROM elsewhere",
            "query: unknown table 'elsewhere'; the tables are runs, keys, counts and counts_by",
        ),
        # These columns exist. DuckDB's own message says what is wrong.
        ("SELECT guest, count(*) FROM runs GROUP BY workload", "must appear in the GROUP BY"),
        ("SELECT experiment FROM runs, counts", "Ambiguous reference to column name"),
        ("SELECT 1; SELECT 2", "query: expected one statement; found 2"),
        ("SELECT cuont(*) FROM runs", "with name cuont does not exist! Did you mean 'count'?"),
    ],
)
def test_other_mistakes_are_one_line_too(read_only, sql, message):
    assert message in refusal(read_only, sql)


def test_a_damaged_table_is_named(results, p5lab):
    good = [one for one in store.all_runs(results) if one.status == "ok"]
    path = good[0].directory / "counts.parquet"
    path.write_bytes(b"damaged")
    with pytest.raises(UserError, match=r"counts of the results: .*counts\.parquet") as caught:
        index.query(results, "SELECT sum(value) FROM counts")
    assert "\n" not in str(caught.value)
    assert "`./p5lab run tests`" in str(caught.value)
    status, out, err = p5lab("show", "tests")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "counts.parquet" in err
    assert "`./p5lab run tests`" in err


@pytest.mark.parametrize("table", ["counts", "COUNTS_BY", '"counts"'])
def test_no_number_of_a_damaged_page_is_shown(results, table):
    good = next(one for one in store.all_runs(results) if one.status == "ok")
    path = good.directory / "counts.parquet"
    content = bytearray(path.read_bytes())
    content[200] ^= 1  # in the first column
    path.write_bytes(content)
    with pytest.raises(
        UserError, match=r"counts of the results: .*/counts\.parquet: damaged"
    ) as one:
        index.query(results, f"SELECT count(*) FROM {table}")
    assert one.value.status == 1
    assert index.query(results, "SELECT count(*) FROM runs")[1] == [(len(store.all_runs(results)),)]


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_query_prints(results, p5lab, form):
    status, out, err = p5lab("query", "SELECT workload, NULL AS none FROM runs", "--format", form)
    assert (status, err) == (0, "")
    assert out.count("call") == out.count("chase") == 2
    if form == "json":
        assert json.loads(out)["rows"][0]["none"] is None


def test_find_reads_only_what_it_may_be(results, monkeypatch):
    wanted = store.all_runs(results)[2]
    read = []
    monkeypatch.setattr(store, "stored", lambda place: read.append(place) or wanted)
    assert store.find(results, wanted.id[:8]) == wanted
    assert read == [wanted.directory]
    with pytest.raises(UserError, match="no run"):
        store.find(results, "*" * 4)


def test_start_up_loads_none_of_it():
    """A command loads a large library when it first needs it, so other commands start sooner."""
    large = {"duckdb", "distributed", "dask", "numpy", "pandas", "pyarrow", "altair"}
    code = f"import sys, p5lab.cli.main; print(*({large} & set(sys.modules)))"
    paths = f"{REPO / 'src'}:{REPO / 'stats-parsers'}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "\n"
