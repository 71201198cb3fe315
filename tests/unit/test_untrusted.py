# SPDX-License-Identifier: MIT
"""Texts of a guest or a foreign file are shown, but they do not control a terminal or a page."""

import io
import json
import unicodedata

import fakelab
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from p5lab.cli import main as cli
from p5lab.present.tables import Grid
from p5lab.progress import Progress
from p5lab.terminal import for_terminal, markup

# Texts that could mislead a terminal, a browser or a reader.
HOSTILE = (
    "\x1b[2J\x1b[31mred",  # clear the screen, change the colour
    "\x1b]8;;https://example.org/\x1b\\a link\x1b]8;;\x1b\\",  # OSC 8
    "\x1b]52;c;ZWNobyBoaQ==\x07",  # OSC 52: the clipboard
    "\x9b31m\x9d0;title\x9c",  # CSI, OSC and ST of eight bits
    "failed\rok    ",  # overwrites the earlier text
    "\x08\x08\x08ok\x7f",
    "user\u202eresu\u202c \u2066x\u2069",  # bidirectional overrides and isolates
    "\u200bhidden\ufeff\U000e0041",  # zero width, tags
    "nul\0nul",
    "line\u2028line\u2029",
    b"\xff\xfe invalid \xc3".decode("utf-8", "surrogateescape"),
    "<script>alert(1)</script> & [red]markup[/red] [link=https://example.org]x[/link]",
)


def is_harmless(text, lines=False):
    return all(
        unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or (lines and char in "\n\t")
        for char in text
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_by_numbers(text):
    shown = for_terminal(text)
    assert is_harmless(shown)
    assert shown.encode("utf-8")
    if not text.isprintable():
        assert shown != text
        assert "\\x" in shown or "\\u" in shown or "\\U" in shown


def test_what_is_visible_is_itself():
    for text in ("", "Größe 5 µs ≤ 東京", "back\\slash [x] <y>", "\u00a0"):
        assert for_terminal(text) == text
    assert for_terminal("a\nb\tc\r") == "a\\x0ab\\x09c\\x0d"
    assert for_terminal("a\nb\tc\r", lines=True) == "a\nb\tc\\x0d"
    assert for_terminal("\x1b\u202e\U000e0041") == "\\x1b\\u202e\\U000e0041"


@given(st.text(alphabet=st.characters(), max_size=40), st.booleans())
def test_any_text_becomes_harmless_and_loses_no_visible_character(text, lines):
    shown = for_terminal(text, lines=lines)
    assert is_harmless(shown, lines)
    assert for_terminal(shown, lines=lines) == shown
    kept = iter(shown)
    assert all(char in kept for char in text if char.isprintable())


def printed(show):
    """Returns the text that a colour terminal receives, without rich's own styles."""
    out = io.StringIO()
    show(Console(file=out, force_terminal=True, width=1000, color_system=None, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("text", HOSTILE)
def test_tables_and_messages_neutralise(text):
    grid = Grid(text, [text, text])
    grid.add(text, text, dim=True)
    for sent in (
        printed(lambda console: Grid("", ["a", "b"], [(text, text)]).print(console)),
        printed(lambda console: console.print(markup(text))),
        printed(lambda console: Progress(console).say(text)),
    ):
        assert for_terminal(text, lines=True) in sent
        assert is_harmless(sent, lines=True), sent
    markdown = grid.markdown()
    assert is_harmless(markdown, lines=True)
    assert "<script" not in markdown


@pytest.mark.parametrize("text", HOSTILE)
def test_every_report_on_a_run_neutralises(lab, capsys, text, monkeypatch):
    """The hostile texts are a guest's last line, an instruction's name, and a record from another
    person.
    """
    monkeypatch.setenv("COLUMNS", "1000")
    end = {"type": "end", "status": "ok", "reason": "", "guest_status": 3, "tsc": 9}
    output = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    lab.behave(events={"call": [fakelab.HEADER, end]}, output=output + "\n")
    assert cli.main(["run", "tests", "--workload", "call", "--no-build"], lab) == 1
    (path,) = lab.results.glob("tests/*/run.json")
    record = json.loads(path.read_text())
    assert record["status"] == "failed"
    said = capsys.readouterr()
    assert is_harmless(said.out + said.err, lines=True)
    del record["sha256"]
    record |= {"reason": text, "label": text, "versions": {"guest": text}}
    path.write_text(json.dumps(record))
    for command in (["list", "runs"], ["show", record["run"]]):
        assert cli.main(command, lab) == 0
        said = capsys.readouterr()
        assert is_harmless(said.out + said.err, lines=True)
        assert for_terminal(text)[:20] in said.out


@pytest.mark.parametrize("text", HOSTILE)
def test_an_error_quotes_without_obeying(lab, capsys, text):
    (lab.root / "configs/experiments/evil.toml").write_text(
        f"schema_version = 1\ntitle = 'x'\n{json.dumps(text)} = 1\n"
        if "\x7f" not in text and is_harmless(json.dumps(text))
        else "schema_version = '1'\n"
    )
    for words in (["run", "evil"], ["run", text], ["show", text], ["run", "tests", "--set", text]):
        assert cli.main(words, lab) == 2
        said = capsys.readouterr()
        assert said.err.startswith("p5lab: ")
        assert is_harmless(said.out + said.err, lines=True)
