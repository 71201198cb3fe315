# SPDX-License-Identifier: MIT
"""`./p5lab docs` lists every generated document, and each document contains its generated parts.
The parts that need no run are up to date. The end-to-end tests check the parts that need runs.
"""

import re

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.errors import UserError
from p5lab.evidence import (
    block,
    calls,
    counter_method,
    documents,
    lower_bound,
    numbers,
    places,
    recorded,
)
from p5lab.lab import Lab

LAB = Lab(REPO)
MADE = re.compile(r"^<!-- (?!end -->|SPDX)(.*) -->$", re.MULTILINE)
# The pattern of a document matches the first words of each marked block in the document.
BEGINNINGS = {
    "formats": r"\./p5lab docs formats",
    "cpi-stack": r"\./p5lab docs cpi-stack",
    "matrix": r"\./p5lab matrix",
    "validation": r"\./p5lab validate",
    "claims-systems": r"\./p5lab validate",
    "boards": r"\./p5lab docs boards",
    "crossings": r"(steps|services) of \S+ on \S+",
    "mach": r"(steps|services) of \S+ on \S+",
    "period": r"\./p5lab docs period: (systems|core|calls|claims|record)",
    "applications": r"\./p5lab docs applications: "
    r"(rows|processes|libraries|Andrew (phases|rows|files)|claims|untestable|record)",
    "chen95-method": r"method of \S+|lower bound",
    "cross-check": r"\./p5lab cross-check( .*)?",
}
WHOLE = ("machine-keys", "papers", "dup")  # the whole file is generated


def no_run(runs):
    raise AssertionError("this document needs no run")


@pytest.mark.parametrize("document", documents.ALL, ids=lambda one: one.name)
def test_a_document_is_there_and_up_to_date(document):
    """Checks a whole document if the document needs no run. In any other document, checks the
    marked blocks."""
    text = documents.read(LAB, document)
    if not document.needs:
        evidence = documents.Evidence(LAB, no_run, no_run)
        assert documents.render(evidence, document, text) == text, f"./p5lab docs {document.name}"
    if document.name not in WHOLE:
        blocks = MADE.findall(text)
        assert blocks
        assert text.count(block.END) == len(blocks)
        for one in blocks:
            assert re.fullmatch(BEGINNINGS[document.name], one), one


def test_tables_are_found_where_documents_have_them():
    """The patterns of the analyses must match the documents. If a pattern did not match, its table
    would never be updated.
    """
    for name in ("crossings", "mach"):
        text = documents.read(LAB, documents.BY_NAME[name])
        assert len(calls.TABLE.findall(text)) == len(MADE.findall(text))
    text = documents.read(LAB, documents.BY_NAME["chen95-method"])
    tables = [*counter_method.TABLE.findall(text), *lower_bound.BLOCK.findall(text)]
    assert len(tables) == len(MADE.findall(text))


def test_the_lower_bound_is_as_the_document_says():
    text = documents.read(LAB, documents.BY_NAME["chen95-method"])
    (found,) = lower_bound.BLOCK.finditer(text)
    rows = [line.split(" | ")[3:] for line in found[2].splitlines()[2:]]
    shares = [[float(cell.strip(" |")) for cell in row] for row in rows]
    assert len(shares) >= 18
    for code_bound, code, data_bound, data in shares:
        assert code_bound <= code, "the bound holds in each row"
        assert data_bound <= data, "the bound holds in each row"
        if code_bound >= 1:
            assert 1.5 < code / code_bound < 2.5, "about twice the bound"
    (read,) = [line for line in found[2].splitlines() if line.startswith("| cached-read | linux |")]
    code_bound, code, data_bound, data = (float(cell) for cell in read.strip(" |").split(" | ")[3:])
    assert code_bound > data_bound, "by the bound, the waits for code are longer"
    assert code < data, "counted, the waits for data are longer"


def test_no_other_file_has_a_generated_part():
    known = {REPO / one.file for one in documents.ALL}
    paths = [*REPO.glob("docs/**/*.md"), *REPO.glob("*.md"), *REPO.glob("*/README.md")]
    others = [path for path in paths if path not in known]
    assert others
    assert [path.name for path in others if MADE.search(path.read_text(encoding="utf-8"))] == []


def test_names_and_files_are_unique():
    assert len(documents.BY_NAME) == len({one.file for one in documents.ALL}) == len(documents.ALL)


def test_claims_run_once_for_both_of_their_documents(monkeypatch):
    asked = []
    monkeypatch.setattr(documents.validate, "select", lambda lab, source: [])
    monkeypatch.setattr(
        documents.validate, "run", lambda *given: asked.append(given) or Validation([], "found")
    )
    shown = []
    monkeypatch.setattr(
        documents.validate, "render", lambda text, found, **more: shown.append((found, more))
    )
    evidence = documents.Evidence(LAB, no_run, no_run)
    for name in ("validation", "claims-systems"):
        documents.render(evidence, documents.BY_NAME[name], "")
    assert len(asked) == 1
    assert shown == [("found", {}), ("found", {"systems": True})]


class Validation:
    def __init__(self, failed, results):
        self.failed, self.results = failed, results


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def docs(lab, capsys, monkeypatch):
    """Returns the command in a miniature laboratory with one document that needs no run."""
    monkeypatch.delenv("P5LAB_GEM5", raising=False)
    document = documents.BY_NAME["matrix"]
    lab._put(document.file, "# Title\n<!-- ./p5lab matrix -->\nold\n<!-- end -->\nbelow\n")
    lab._put(places.FILE, "schema_version = 1\n")
    lab._put(recorded.FILE, recorded.Record().text())
    monkeypatch.setattr(documents, "ALL", (document, documents.BY_NAME["cross-check"]))

    def run(*words):
        status = cli.main(["docs", "--no-build", *words], lab)
        out, err = capsys.readouterr()
        return status, out, err, (lab.root / document.file).read_text()

    return run


def test_the_command_checks_and_writes(docs):
    file = documents.BY_NAME["matrix"].file
    skipped = documents.BY_NAME["cross-check"].file
    status, out, _, text = docs("--check")
    assert (status, out.splitlines()[0]) == (1, f"{file}: out of date")
    assert out.splitlines()[1] == f"{skipped}: skipped: needs a gem5: P5LAB_GEM5 is not set"
    assert "old" in text
    status, out, _, text = docs("matrix")
    assert (status, out) == (0, f"{file}: written\n")
    assert "old" not in text
    assert text.startswith("# Title\n<!-- ./p5lab matrix -->\n|")
    assert text.endswith("<!-- end -->\nbelow\n")
    assert docs("matrix")[:2] == (0, f"{file}: up to date\n")
    assert docs("--check")[0] == 0
    assert docs(numbers.NAME)[:2] == (0, f"{recorded.FILE}: up to date\n")


def test_what_is_wrong_is_one_line(docs, lab):
    status, _, err, _ = docs("matrics")
    assert (status, err) == (2, "p5lab: docs: unknown document 'matrics'; did you mean 'matrix'?\n")
    document = documents.BY_NAME["matrix"]
    lab._put(document.file, "nothing\n")
    status, _, err, _ = docs("matrix")
    assert status == 2
    assert err.startswith(f"p5lab: {document.file}: expected a line <!-- ./p5lab matrix -->")
    (lab.root / document.file).unlink()
    with pytest.raises(UserError, match=f"^cannot read {document.file}: No such file"):
        documents.read(lab, document)
