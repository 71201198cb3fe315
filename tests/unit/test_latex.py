# SPDX-License-Identifier: MIT
"""Tables as LaTeX with booktabs."""

import re
import shutil
import subprocess

import pytest

from p5lab.cli import main as cli
from p5lab.present.tables import Grid, document, tex

NASTY = r"a_b & 50 % of $x$ #1 {y} \z ~^ <p> | " + '"q"'


def unescaped(text):
    """The text that LaTeX prints, for the commands that tables use."""
    names = {
        "textbackslash": "\\",
        "textasciitilde": "~",
        "textasciicircum": "^",
        "textless": "<",
        "textgreater": ">",
        "textbar": "|",
        "textquotedbl": '"',
    }
    text = re.sub(r"\\(text\w+)\{\}", lambda match: names[match[1]], text)
    return re.sub(r"\\([&%$#_{}])", r"\1", text)


def test_every_character_is_escaped():
    assert unescaped(tex(NASTY)) == NASTY
    bare = re.sub(r"\\(?:text\w+\{\}|[&%$#_{}])", "", tex(NASTY))
    assert not set("&%$#_{}~^\\<>|") & set(bare)
    assert tex("-1,234") == "$-$1,234"
    assert tex("-") == "--"
    assert tex("l2-misses") == "l2-misses"


def test_a_table_has_the_rules_of_booktabs_and_equal_rows():
    grid = Grid("100 % of a_b", ["", "before\nus", "after"], left={2})
    grid.add("read_misses & more", "1,2", "x")
    text = document([grid, grid], ["one\nand two"], "latex")
    assert text.count(r"\begin{tabular}{lrl}") == 2
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert text.count(rule) == 2
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert len(rows) == 6  # two lines of heads and one of values, twice
    assert "% one\n% and two" in text


def test_commands_print_latex(lab, capsys):
    lab.behave()
    for words in (
        ["run", "tests", "--no-build"],
        ["run", "tests", "--no-build", "--sweep", "l2.size=128K,256K"],
        ["show", "tests"],
    ):
        assert cli.main([*words, "--format", "latex"], lab) == 0
        out = capsys.readouterr().out
        outside = re.sub(r"(?s)\\begin\{tabular\}.*?\\end\{tabular\}", "", out)
        assert len(outside) < len(out)
        assert all(not line or line.startswith("%") for line in outside.splitlines())
    # A view of several runs has this form, too, so the missing stacks are the mistake here.
    assert cli.main(["show", "tests", "--cpi", "--format", "latex"], lab) == 2
    assert "CPI stack" in capsys.readouterr().err
    assert cli.main(["query", "SELECT 1", "--format", "latex"], lab) == 2


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no LaTeX on this host")
def test_latex_accepts_a_table(tmp_path):
    grid = Grid(NASTY, [NASTY, "n"])
    grid.add(NASTY, "-5")
    body = document([grid], [NASTY], "latex")
    (tmp_path / "a.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\usepackage[T1]{fontenc}"
        f"\\begin{{document}}{body}\n\\end{{document}}"
    )
    command = ["pdflatex", "-halt-on-error", "a.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
