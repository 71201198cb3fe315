# SPDX-License-Identifier: MIT
"""docs/evidence/period.md follows from its record. A damaged page is refused in one line."""

import json

import pytest
from fakelab import REPO

from p5lab.describe import media
from p5lab.errors import UserError
from p5lab.evidence import period
from p5lab.lab import Lab

LAB = Lab(REPO)
PAGE = REPO / "docs/evidence/period.md"


@pytest.fixture(autouse=True)
def no_media(monkeypatch):
    monkeypatch.delenv(media.VARIABLE, raising=False)


def render(text):
    """The page without media: nothing is executed."""
    return period.render(LAB, text, execute=None)


def record():
    return json.loads(PAGE.read_text().partition("```json\n")[2].partition("```")[0])


def with_record(changed):
    head, _, rest = PAGE.read_text().partition("```json\n")
    return head + "```json\n" + json.dumps(changed) + "\n```" + rest.partition("```")[2]


def test_the_page_follows_from_its_record():
    assert render(PAGE.read_text()) == PAGE.read_text()


def test_without_media_all_files_are_missing(monkeypatch, tmp_path):
    files = ["freedos-1.4MB.img", "JEMMEX.EXE", "HDPMI16.EXE", "HDPMI32.EXE"]
    files += ["basiclinux.img", "minix-2.img"]
    assert period.missing(LAB) == files
    (tmp_path / files[0]).touch()
    monkeypatch.setenv(media.VARIABLE, str(tmp_path))
    assert period.missing(LAB) == files[1:]


def test_a_changed_count_changes_the_table_and_the_verdict():
    changed = record()
    changed["freedos-v86"]["counts"]["INT 21h 35h, 16-bit DPMI"]["mode_changes"] = 4
    page = render(with_record(changed))
    (line,) = [one for one in page.splitlines() if "a call that the host answers" in one]
    assert "| 4 | does not hold |" in line
    changed["linux-2.2"]["counts"]["getpid"]["cycles"] = 1234567
    assert "| getpid, per call | - | - | 1,234,567 |" in render(with_record(changed))


def test_the_record_has_no_content_of_the_media():
    for one in record().values():
        assert one.keys() <= {"title", "media", "ready", "says", "counts"}
        for digest in one.get("media", {}).values():
            assert len(digest) == 64


def test_a_page_without_a_record_is_refused():
    with pytest.raises(UserError, match="expected the record of the runs"):
        render(PAGE.read_text().replace("```json", "```"))
