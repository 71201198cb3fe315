# SPDX-License-Identifier: MIT
"""The screen at the end of a boot from media: in `show`, on the page of `report`, in Python."""

import base64
import json
import re

import pytest
from PIL import Image
from test_page import Document

import p5lab as scripts
from p5lab.api import checkout
from p5lab.keep import gc, store
from p5lab.present import invalid_opcodes
from p5stats import record

SHOWN = "╔══╗\n║Ω≈║ login:\n\n"
GRAPHICS = "(a graphics mode: 640 dots x 480 lines)\n"


@pytest.fixture
def booted(lab, p5lab, monkeypatch):
    """Makes a run, and turns its record into that of a boot from media with this screen."""
    lab._put("configs/claims.toml", "schema_version = 1\n")
    monkeypatch.setattr(checkout, "here", lambda: lab)

    def booted(text, picture=None, **changed):
        assert p5lab("run", "tests", "--workload", "call", "--no-build")[0] == 0
        (path,) = lab.results.glob("tests/*/run.json")
        made = record.read(path)
        medium = {"file": "my.img", "sha256": "ab" * 32, "known_as": "first", "form": "1_44"}
        made |= {"media": {"floppy_a": medium}, **changed}
        path.write_text(json.dumps(record.sealed(made)))
        if text is not None:
            (path.parent / "screen.txt").write_text(text)
        if picture:
            picture.save(path.parent / "screen.png")
        return path.parent

    return booted


def picture():
    image = Image.new("RGB", (640, 480), (1, 2, 3))
    image.putpixel((639, 0), (4, 5, 6))
    return image


def page_of(p5lab, run):
    status, _, err = p5lab("report", run.name)
    assert (status, err) == (0, "")
    return next(run.parents[1].glob("*.html")).read_text(encoding="utf-8")


def test_show_prints_the_characters_of_a_text_screen(booted, p5lab):
    run = booted(SHOWN)
    out = p5lab("show", run.name)[1]
    assert "the screen at the end:\n  ╔══╗\n  ║Ω≈║ login:\n" in out
    assert "picture" not in out


def test_show_names_the_picture(booted, p5lab):
    run = booted(GRAPHICS, picture())
    size = gc.human((run / "screen.png").stat().st_size)
    out = p5lab("show", run.name)[1]
    assert f"  {GRAPHICS}  picture: {run}/screen.png ({size})\n" in out


def test_the_page_has_the_text_screen_and_the_media(booted, p5lab):
    text = page_of(p5lab, booted(SHOWN, reason="`login:` on the screen at 1.000 s"))
    assert '<pre class="screen">╔══╗\n║Ω≈║ login:</pre>' in text
    document = Document(text)
    regions = [one.get("aria-label", "") for one in document.of("div")]
    assert sum(label.startswith("The screen of ") for label in regions) == 1
    said = "".join(document.texts)
    assert "ab" * 32 in said
    assert "End of the run: ok: `login:` on the screen at 1.000 s." in said
    assert not document.of("img")
    assert {"href": "#screens"} in document.of("a")


def test_the_page_contains_the_picture(booted, p5lab):
    run = booted(GRAPHICS, picture())
    document = Document(page_of(p5lab, run))
    (image,) = document.of("img")
    assert image["alt"].startswith("The screen of ")
    assert image["alt"].endswith(", a graphics mode: 640 dots x 480 lines")
    head, _, content = image["src"].partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(content) == (run / "screen.png").read_bytes()


def test_a_failed_boot_has_a_page_with_its_screen(booted, p5lab):
    run = booted(SHOWN, status="timeout", reason="`x` did not appear: limit reached")
    text = page_of(p5lab, run)
    assert "║Ω≈║ login:" in text
    assert "End of the run: timeout: `x` did not appear: limit reached." in text


def test_nothing_on_a_screen_becomes_markup(booted, p5lab):
    document = Document(page_of(p5lab, booted("<script>alert(1)</script>\x1b[2J\n")))
    assert not document.of("script")
    assert "<script>alert(1)</script>" in "".join(document.texts)
    assert "\x1b" not in "".join(document.texts)


def test_an_empty_screen_and_a_missing_one(booted, p5lab):
    run = booted("\n\n\n")
    assert "the screen at the end: empty\n" in p5lab("show", run.name)[1]
    assert "The screen is empty." in page_of(p5lab, run)
    (run / "screen.txt").unlink()
    assert "the screen" not in p5lab("show", run.name)[1]
    assert "The screen is empty." in page_of(p5lab, run)


def test_scripts_get_the_screen(booted):
    run = booted(SHOWN)
    found = scripts.screen(run.name[:8])
    assert found.text == str(found) == SHOWN
    assert found.picture is None
    assert found._repr_png_() is None
    assert "║Ω≈║" in found._repr_html_()
    with pytest.raises(scripts.UserError, match="this screen has no picture"):
        found.image()

    picture().save(run / "screen.png")
    found = scripts.screen(run.name)
    assert found.picture == run / "screen.png"
    assert found.image().size == (640, 480)
    assert found.image().getpixel((639, 0)) == (4, 5, 6)
    assert found._repr_png_() == (run / "screen.png").read_bytes()
    assert found._repr_html_() is None

    (run / "screen.png").write_bytes(b"P6")
    with pytest.raises(scripts.UserError, match=re.escape(f"cannot read {run}/screen.png: ")):
        found.image()
    (run / "screen.txt").unlink()
    with pytest.raises(scripts.UserError, match="has no screen: expected a boot from media"):
        scripts.screen(run.name)
    assert store.stored(run).id == run.name


@pytest.mark.parametrize(
    ("notes", "begin"),
    [
        ([], ""),
        ([{"what": "reset", "name": "machine", "count": 2}], ""),
        (
            [{"what": "invalid-opcode", "name": "0f 0b at 0x00007c00", "count": 1}],
            "The guest executed an invalid opcode: 0f 0b at 0x00007c00.",
        ),
        (
            [{"what": "invalid-opcode", "name": "0f 0b at 0x00007c00", "count": 12345}],
            "The guest executed 12,345 invalid opcodes, the first: 0f 0b at 0x00007c00.",
        ),
    ],
)
def test_invalid_opcodes_of_a_guest_that_hangs_are_a_sentence(notes, begin):
    said = invalid_opcodes.remark({"notes": notes})
    assert said.startswith(begin)
    assert bool(said) == bool(begin)
