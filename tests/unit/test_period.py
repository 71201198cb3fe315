# SPDX-License-Identifier: MIT
"""docs/evidence/period.md follows from its record. A damaged page is refused in one line."""

import pytest
from fakelab import REPO
from recorded_page import record, with_record

from p5lab.describe import media
from p5lab.errors import UserError
from p5lab.evidence import period
from p5lab.lab import Lab
from p5lab.present.page import document, period_sections

LAB = Lab(REPO)
PAGE = REPO / "docs/evidence/period.md"


@pytest.fixture(autouse=True)
def no_media(monkeypatch):
    monkeypatch.delenv(media.VARIABLE, raising=False)


def render(text):
    """The page without media: nothing is executed."""
    return period.render(LAB, text, execute=None)


def test_the_page_follows_from_its_record():
    assert render(PAGE.read_text()) == PAGE.read_text()


def test_without_media_all_files_are_missing(monkeypatch, tmp_path):
    files = ["freedos-1.4MB.img", "JEMMEX.EXE", "HDPMI16.EXE", "HDPMI32.EXE"]
    files += ["basiclinux.img", "minix-2.img", "nt-4.0.img"]
    assert period.missing(LAB) == files
    (tmp_path / files[0]).touch()
    monkeypatch.setenv(media.VARIABLE, str(tmp_path))
    assert period.missing(LAB) == files[1:]


def test_a_changed_count_changes_the_table_and_the_verdict():
    changed = record(PAGE.read_text())
    changed["freedos-v86"]["counts"]["INT 21h 35h, 16-bit DPMI"]["mode_changes"] = 4
    page = render(with_record(PAGE.read_text(), changed))
    (line,) = [one for one in page.splitlines() if "a call that the host answers" in one]
    assert "| 4 | does not hold |" in line
    changed["linux-2.2"]["counts"]["getpid"]["cycles"] = 1234567
    page = render(with_record(PAGE.read_text(), changed))
    assert "| getpid, per call | - | - | 1,234,567 |" in page


def test_a_column_repeats_the_table_of_another_document():
    """The numbers of Wine stand once, in docs/concepts/debian32.md."""
    (row,) = [one for one in PAGE.read_text().splitlines() if one.startswith("| dup, per call")]
    table = (REPO / "docs/concepts/debian32.md").read_text()
    (line,) = [one for one in table.splitlines() if one.startswith("| `DuplicateHandle` |")]
    assert row.split("|")[-2] == line.split("|")[2]
    assert "wine" not in record(PAGE.read_text())


def test_a_missing_table_of_another_document_is_named(tmp_path):
    (tmp_path / "docs/concepts").mkdir(parents=True)
    (tmp_path / "docs/concepts/debian32.md").write_text("no table")
    with pytest.raises(UserError, match=r"debian32\.md: expected a table with \| Operation"):
        period.documented(Lab(tmp_path), period._load(LAB))


def test_the_record_has_no_content_of_the_media():
    for one in record(PAGE.read_text()).values():
        assert one.keys() <= {"title", "media", "ready", "says", "counts"}
        for digest in one.get("media", {}).values():
            assert len(digest) == 64


def test_a_page_without_a_record_is_refused():
    with pytest.raises(UserError, match="expected the record of the runs"):
        render(PAGE.read_text().replace("```json", "```"))


def test_the_page_of_the_experiment_has_the_sections_of_the_document(monkeypatch, tmp_path):
    sections = period_sections.of(LAB)
    titles = [one.title for one in sections]
    assert titles == [
        line.removeprefix("## ")
        for line in PAGE.read_text().splitlines()
        if line.startswith("## ") and line != "## The record"
    ]
    cells = [cell for one in sections for grid in one.tables for row in grid.rows for cell in row]
    # Each row of the document's tables is there: the systems, the core, the forms, the claims.
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    shown = sum(len(grid.rows) for one in sections for grid in one.tables)
    tables = sum(len(one.tables) for one in sections)
    assert (tables, shown) == (4, len(rows) - 2 * tables)
    assert {"does not hold", "holds"} <= set(cells)
    text = " ".join(line for one in sections for line in one.text)
    assert "A server behind messages. On MINIX, getpid is a message" in text
    assert "Windows for Workgroups, Windows NT 3.5, NetBSD" in text  # what nobody has tried
    for mark in ("**", "`", "](", "<!--", '"counts"'):
        assert mark not in text
    (note,) = sections[0].notes
    assert "Missing in P5LAB_MEDIA: freedos-1.4MB.img, JEMMEX.EXE, " in note
    for name in period.missing(LAB):
        (tmp_path / name).touch()
    monkeypatch.setenv(media.VARIABLE, str(tmp_path))
    assert "All media are here." in period_sections.of(LAB)[0].notes[0]


def test_a_page_shows_texts_as_texts():
    (_, core, *_) = period_sections.of(LAB)
    page = document.Page("period", "t", "l", [], [], [], [], [core], [])
    html = document.render(page)
    assert "<h2>The core</h2>" in html
    assert ">174</td>" in html  # getpid of Linux 2.2
