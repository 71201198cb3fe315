# SPDX-License-Identifier: MIT
"""A program prints control sequences. No output of p5lab contains these control sequences."""

import json
import subprocess
import unicodedata
from pathlib import Path

import pytest

from p5lab.cli import main as cli
from p5lab.engines.bochs.engine import OUTPUT
from p5lab.lab import Lab

SOURCE = Path(__file__).with_name("hostile.S")
NAME = "a\x1b[31m\u202e<script>.out"  # a file name can also be hostile


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Builds the program. Returns a lab for its results, and the program's file."""
    place = tmp_path_factory.mktemp("hostile")
    binary, built = place / NAME, place / "hostile.o"
    subprocess.run(["as", "--32", "-o", built, SOURCE], check=True)
    subprocess.run(["ld", "-m", "elf_i386", "-o", binary, built], check=True)
    lab = Lab(Lab.here().root, place / "results")
    return lab, binary


def is_harmless(text):
    return all(
        char == "\n" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        for char in text
    )


def test_nothing_of_it_is_obeyed(failed, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    lab, binary = failed
    asked = ["run", "--program", str(binary), "--no-build"]
    assert cli.main(asked, lab) == 1
    said = capsys.readouterr()
    assert "ended with status 3" in said.err
    assert "<script>alert(1)</script> [red]x[/red] \\x1b[31m\\u202e" in said.err
    assert is_harmless(said.out + said.err)

    (directory,) = (path.parent for path in lab.results.glob("*/*/run.json"))
    assert b"\x1b]52;c;ZWNobyBoaQ==\x07" in (directory / OUTPUT).read_bytes()  # stored unchanged
    for words in (
        ["list", "runs"],
        ["show", directory.name],
        ["show", directory.name, "--json"],
        [*asked, "--format", "markdown"],
        [*asked, "--format", "csv"],
        [*asked, "--json"],
        ["plan", "--program", str(binary)],
    ):
        cli.main(words, lab)
        said = capsys.readouterr()
        assert is_harmless(said.out + said.err), words
        if words[-1] == "--json":
            json.loads(said.out)
        if words[-1] == "markdown":
            assert "<script" not in said.out
