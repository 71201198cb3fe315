# SPDX-License-Identifier: MIT
"""Runs the examples of docs/start/analysis.md and puts the output of each example below the
example."""

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/start/analysis.md"
EXAMPLE = re.compile(r"(```python\n(.*?)```\n\n```text\n)(.*?)(```)", re.DOTALL)


def render(text: str) -> str:
    """Returns the document with new outputs. All examples share a name space, as in a notebook."""
    names: dict[str, object] = {}

    def printed(example: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(example[2], str(DOCUMENT), "exec"), names)
        lines = [line.rstrip() + "\n" for line in out.getvalue().splitlines()]
        return example[1] + "".join(lines) + example[4]

    return EXAMPLE.sub(printed, text)


def outputs(text: str) -> list[str]:
    return [found[3] for found in EXAMPLE.finditer(text)]


if __name__ == "__main__":
    DOCUMENT.write_text(render(DOCUMENT.read_text()))
