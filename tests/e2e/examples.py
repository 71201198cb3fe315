# SPDX-License-Identifier: MIT
"""Runs the Python examples of documents and puts the output of each example below the example.

PYTHONPATH=src:stats-parsers .venv/bin/python tests/e2e/examples.py [DOCUMENT...]
"""

import contextlib
import io
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT, PYTHON = ROOT / "docs/start/analysis.md", ROOT / "docs/start/python.md"
# An example, and its output if the example prints something.
EXAMPLE = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def render(text: str) -> str:
    """Returns the document with new outputs. All examples share a name space, as in a notebook."""
    names: dict[str, object] = {}

    def printed(example: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(example[1], "example", "exec"), names)
        lines = "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
        shown = f"\n```text\n{lines}```\n" if lines else ""
        return f"```python\n{example[1]}```\n{shown}"

    return EXAMPLE.sub(printed, text)


def outputs(text: str) -> list[str]:
    """Returns the output below each example, or an empty text for an example without output."""
    return [found[2] or "" for found in EXAMPLE.finditer(text)]


if __name__ == "__main__":
    for document in [Path(name) for name in sys.argv[1:]] or [DOCUMENT, PYTHON]:
        document.write_text(render(document.read_text()))
