# SPDX-License-Identifier: MIT
"""The comparison of configs/period.toml: its tables follow from its record."""

import pytest
from fakelab import REPO

from p5lab.describe import media
from p5lab.evidence import period, records
from p5lab.lab import Lab
from p5lab.page import document, period_sections

LAB = Lab(REPO)


@pytest.fixture(autouse=True)
def no_media(monkeypatch):
    monkeypatch.delenv(media.VARIABLE, raising=False)


@pytest.fixture
def record():
    return records.load(REPO, "period")


def test_without_media_all_files_are_missing(monkeypatch, tmp_path):
    files = ["freedos-1.4MB.img", "JEMMEX.EXE", "HDPMI16.EXE", "HDPMI32.EXE"]
    files += ["basiclinux.img", "minix-2.img", "nt-4.0.img"]
    assert period.missing(LAB) == files
    (tmp_path / files[0]).touch()
    monkeypatch.setenv(media.VARIABLE, str(tmp_path))
    assert period.missing(LAB) == files[1:]


def test_a_changed_count_changes_the_table_and_the_verdict(record):
    record["freedos-v86"]["counts"]["INT 21h 35h, 16-bit DPMI"]["mode_changes"] = 4
    record["linux-2.2"]["counts"]["getpid"]["cycles"] = 1234567
    tables = period.tables(LAB, record)
    (claim,) = [row for row in tables["claims"].rows if "the host answers" in row[0]]
    assert list(claim[3:5]) == ["4", "does not hold"]
    (getpid,) = [row for row in tables["core"].rows if row[0].startswith("getpid")]
    assert "1,234,567" in getpid


def test_the_record_has_no_content_of_the_media(record):
    for one in record.values():
        assert one.keys() <= {"title", "media", "ready", "says", "counts", "each"}
        for digest in one.get("media", {}).values():
            assert len(digest) == 64


def test_the_page_of_the_experiment_shows_every_table_of_the_record(monkeypatch, tmp_path, record):
    sections = period_sections.of(LAB)
    shown = [grid.rows for one in sections for grid in one.tables]
    assert shown == [table.rows for table in period.tables(LAB, record).values()]
    assert all(one.text for one in sections)
    (note,) = sections[0].notes
    assert all(name in note for name in period.missing(LAB))
    for name in period.missing(LAB):
        (tmp_path / name).touch()
    monkeypatch.setenv(media.VARIABLE, str(tmp_path))
    assert "All media are here." in period_sections.of(LAB)[0].notes[0]


def test_a_page_shows_texts_as_texts():
    (_, core, *_) = period_sections.of(LAB)
    page = document.PageContents("period", "t", "l", [], [], [], [], [], [core], [])
    html = document.render(page)
    assert "<h2>The core</h2>" in html
    assert ">174</td>" in html  # getpid of Linux 2.2
