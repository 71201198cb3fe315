# SPDX-License-Identifier: MIT
"""The bibliography: its entries, and the places that name a paper."""

import re
import subprocess
import sys

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import papers
from p5lab.errors import UserError

DOI = re.compile(r"10\.[0-9]{4,}/[\w./-]+\w")


def test_every_paper_of_the_claims_is_complete():
    found = papers.here()
    papers_of_systems = {"chen95", "lai96", "talagala97", "ousterhout90", "wpi92", "brown97"}
    papers_of_code = {"abrash97", "granlund03", "vandorst95", "polyakov20", "young97", "lavalys09"}
    assert set(found) == papers_of_systems | papers_of_code
    for name, paper in found.items():
        assert name.endswith(str(paper.year % 100))
        assert paper.authors
        assert paper.short.split()[0].rstrip(",") in paper.authors[0]
        assert not paper.doi or DOI.fullmatch(paper.doi)
        assert all((paper.title, paper.venue, paper.short_venue))


def test_a_citation_has_all_that_is_known():
    assert papers.here()["ousterhout90"].citation == (
        "John K. Ousterhout. Why Aren't Operating Systems Getting Faster As Fast As Hardware?"
        " Proceedings of the Summer 1990 USENIX Conference, 1990, pages 247-256."
    )
    chen95 = papers.here()["chen95"].citation
    assert "David Mazières, Antonio Dias, Margo Seltzer and Michael D. Smith. The Meas" in chen95
    assert "1995, doi:10.1145/224056.224079. Also in" in chen95


def test_a_longer_name_also_mentions_the_paper():
    found = papers.named(["as in lai96 figure 1", "chen95-core", "wpi921"])
    assert [paper.name for paper in found] == ["chen95", "lai96"]


def test_a_wrong_entry_is_one_line(tmp_path):
    path = tmp_path / "papers.toml"
    path.write_text('schema_version = 1\n[x90]\nauthors = ["A"]\ntitel = "T"\n')
    with pytest.raises(UserError, match="unknown key 'titel'; did you mean 'title'"):
        papers.read(path)


def test_the_document_is_up_to_date():
    text = (REPO / "docs/reference/papers.md").read_text(encoding="utf-8")
    assert papers.reference().strip() in text
    assert "(https://doi.org/10.1145/225535.225536)" in text


def test_a_damaged_bibliography_does_not_stop_other_commands():
    code = "from p5lab.describe import papers; papers.here = None; import p5lab.cli.main"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_terminal_explains_the_papers_that_it_names(lab, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["run", "tests", "--no-build"], lab) == 0
    assert "SOSP" not in capsys.readouterr().out  # no paper is named
    tests = lab.root / "configs/experiments/tests.toml"
    tests.rename(tests.with_name("chen95-tests.toml"))
    assert cli.main(["run", "chen95-tests", "--no-build"], lab) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == (
        "chen95: Chen and others, The Measured Performance of Personal Computer Operating Systems,"
        " SOSP 1995."
    )
    assert "Ousterhout" not in out
