# SPDX-License-Identifier: MIT
"""The records of runs, and the tables of the documents, which follow from them. The end-to-end
tests compare the records with new runs."""

import json

import pytest
import recorded_counts
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.errors import UserError
from p5lab.evidence import counts, measure, pages, records
from p5lab.keep import store
from p5lab.lab import Lab

LAB = Lab(REPO)


def test_every_table_of_the_documents_follows_from_the_records():
    changed = dict(pages.update(LAB, check=True))
    assert [name for name, differs in changed.items() if differs] == [], "./p5lab docs --no-runs"
    assert {"docs/evidence/validation.md", "docs/evidence/measurements.md"} <= set(changed)


def test_every_record_has_a_maker_and_a_canonical_text():
    files = {path.stem for path in (REPO / records.PLACE).iterdir()}
    assert files == set(measure.NAMES)
    for name in files:
        text = records.path(REPO, name).read_text()
        assert records.text(json.loads(text)) == text, f"./p5lab docs {name}"
    assert set(records.load(REPO, records.RUNS)) == set(measure.PARTS)


def test_a_new_clock_changes_few_files():
    """What `./p5lab docs` writes after a change of the model: one record, and these documents."""
    runs = records.load(REPO, records.RUNS)

    def changed(value):
        if isinstance(value, dict):
            return {name: changed(one) for name, one in value.items()}
        if isinstance(value, list):
            return [changed(one) for one in value]
        return value + 1 if isinstance(value, int | float) and value > 1 else value

    with pytest.MonkeyPatch.context() as patch:
        real = records.load
        patch.setattr(
            records,
            "load",
            lambda root, name: changed(runs) if name == "runs" else real(root, name),
        )
        written = [name for name, differs in pages.update(LAB, check=True) if differs]
    assert sorted(written) == ["docs/evidence/measurements.md", "docs/evidence/validation.md"]


def test_a_text_has_a_line_for_what_belongs_together():
    record = {"a": {"b": [1, 2.5], "c": None}, "long": [["x" * 150, 1], ["y" * 150, 2]]}
    text = records.text(record)
    assert json.loads(text) == record
    assert '"a": {"b": [1, 2.5], "c": null}' in text
    assert len(text.splitlines()) > 4
    assert records.short(1234567890.4) == 1234567890
    assert records.short(1 / 3) == 0.333333333


def test_a_missing_or_damaged_record_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"records/runs\.json: No such file"):
        records.load(tmp_path, "runs")
    file = records.path(tmp_path, "runs")
    file.parent.mkdir(parents=True)
    file.write_text("{")
    with pytest.raises(UserError, match=r"records/runs\.json: expected JSON"):
        records.load(tmp_path, "runs")


def test_an_unknown_table_is_named():
    with pytest.raises(UserError, match="'steps of dupp'"):
        pages.filled("<!-- table: steps of dupp -->\n<!-- end -->\n", pages.tables(LAB))
    assert pages.filled("text\n", {}) == "text\n"


def test_the_lower_bound_is_as_the_document_says():
    rows = records.load(REPO, records.RUNS)["lower bound"]
    assert len(rows) >= 18
    for benchmark, guest, _, code_bound, code, without, data_bound, data in rows:
        assert data_bound <= data, "the bound holds for data"
        # Lines that are fetched ahead are misses, too, and overlap with execution.
        assert code_bound <= 1.3 * code, "the bound is near the waits for code"
        if (benchmark, guest) == ("null", "linux"):
            continue  # fits into the cache, unless lines that are fetched ahead displace others
        assert code <= without, "what is fetched ahead shortens the waits"
        assert code_bound <= without, "without it, the bound holds for code"
    assert any(code_bound > code for *_, code_bound, code, _, _, _ in rows)
    (read,) = [one for one in rows if one[:2] == ["cached-read", "linux"]]
    _, _, _, code_bound, code, _, data_bound, data = read
    assert code_bound > data_bound, "by the bound, the waits for code are longer"
    assert code < data, "counted, the waits for data are longer"


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def docs(lab, p5lab, monkeypatch):
    """Returns the command in a miniature checkout with one document and one record."""
    monkeypatch.setattr(counts, "SOURCES", {"tests": ("tests", None)})
    monkeypatch.setattr(measure, "PARTS", {"counts": measure.PARTS["counts"]})
    monkeypatch.setattr(
        pages,
        "tables",
        lambda lab: {"counts": lambda: json.dumps(records.load(lab.root, "runs")) + "\n"},
    )
    lab._put("docs/a.md", "above\n<!-- table: counts -->\nold\n<!-- end -->\nbelow\n")
    return lambda *words: p5lab("docs", "--no-build", *words)


def test_the_command_makes_the_runs_and_the_tables(docs, lab):
    status, out, err = docs()
    assert (status, out.splitlines()) == (
        0,
        [f"{records.PLACE}/runs.json: written", "docs/a.md: written"],
    ), err
    found = records.load(lab.root, "runs")["counts"]["tests"]["counts"]
    assert found["toy | call"]["busy cycles"] == 110
    text = (lab.root / "docs/a.md").read_text()
    assert text.startswith("above\n") and text.endswith("<!-- end -->\nbelow\n")
    assert "110" in text and "old" not in text
    status, out, _ = docs("--check")
    assert (status, {line.split(": ")[1] for line in out.splitlines()}) == (0, {"up to date"})
    lab._put("docs/a.md", text.replace("110", "111"))
    status, out, _ = docs("--no-runs", "--check")
    assert (status, out) == (1, "docs/a.md: out of date\n")
    assert "111" in (lab.root / "docs/a.md").read_text()


def test_a_run_that_fails_changes_nothing(docs, lab):
    lab.behave(exit=3)
    status, out, _ = docs()
    assert (status, out) == (1, "")
    assert not records.path(lab.root, "runs").exists()


@pytest.mark.parametrize(
    ("name", "named"), [("perod", "'period'"), ("period", "P5LAB_MEDIA")], ids=["name", "media"]
)
def test_what_a_record_lacks_is_named(name, named, monkeypatch, capsys):
    monkeypatch.delenv("P5LAB_MEDIA", raising=False)
    assert cli.main(["docs", "--no-build", name], LAB) != 0
    assert named in capsys.readouterr().err


# --- counts ---------------------------------------------------------------------------------------


def test_names_tell_runs_apart(lab):
    assert cli.main(["run", "tests", "--no-build", "--set", "l2.size=512K"], lab) == 0
    found = counts.counts_of(store.all_runs(lab))
    assert found["toy, l2.size=512K | call"]["busy cycles"] == 110
    assert found["toy, l2.size=512K | chase, 1 KB"]["busy cycles"] == 8


def test_the_same_tools_give_the_same_counts_and_other_tools_near_ones(lab):
    assert cli.main(["run", "tests", "--no-build", "--workload", "call"], lab) == 0
    runs = store.all_runs(lab)
    source = {"tools": counts.tools_of(runs), "counts": counts.counts_of(runs)}
    record = {"tests": source}

    def wrong(runs):
        lines = recorded_counts.differences(record, "tests", runs)
        return [line.partition(": recorded")[0] for line in lines]

    assert wrong(runs) == []
    own = source["counts"]["toy | call"]
    own["busy cycles"] = 111
    assert wrong(runs) == ["tests: toy | call: busy cycles"]
    source["tools"] = "another compiler"
    assert wrong(runs) == []
    own |= {"busy cycles": 180, "nothing": 1}
    assert wrong(runs) == ["tests: toy | call: busy cycles", "tests: toy | call: nothing"]
    assert wrong([]) == []
    assert not recorded_counts.near(6, 5, exact=False)  # small whole numbers are equal
