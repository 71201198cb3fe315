# SPDX-License-Identifier: MIT
"""Runs the commands of docs/questions.md again, and writes their output and figures.

The document is the template: a block of commands, and behind it a place for the output of the last
of them. Runs that are stored are not made again. The commands write their figures into the
directory `figures`, and the SVG files of it move to docs/questions.

    .venv/bin/python tools/questions.py
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE, PLACE, FIGURES = ROOT / "docs/questions.md", ROOT / "docs/questions", ROOT / "figures"
ANSWER = re.compile(r"```\n((?:\./p5lab [^\n]+\n)+)```\n\n<!-- output -->\n.*?<!-- end -->", re.S)
COLUMNS = "100"


def said(command: str) -> str:
    """The output of a command. Exits if the command fails."""
    print(command, flush=True)
    environment = {**os.environ, "COLUMNS": COLUMNS}
    words = shlex.split(command)
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def answered(match: re.Match[str]) -> str:
    """A block of commands with the output of the last command."""
    commands = match[1].splitlines()
    output = [said(command) for command in commands][-1]
    return f"```\n{match[1]}```\n\n<!-- output -->\n```text\n{output}\n```\n<!-- end -->"


def main() -> None:
    """Writes the page and its figures."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    if FIGURES.exists():
        sys.exit(f"{FIGURES}: expected no such directory, because the commands make it")
    FIGURES.mkdir()
    try:
        text = ANSWER.sub(answered, PAGE.read_text(encoding="utf-8"))
        for figure in FIGURES.glob("*.svg"):
            shutil.copyfile(figure, PLACE / figure.name)
    finally:
        shutil.rmtree(FIGURES)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
