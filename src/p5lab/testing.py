# SPDX-License-Identifier: MIT
"""`./p5lab test`: style, types, then all tests (pytest starts the compiled ones too)."""

import os
import subprocess
import sys
from collections.abc import Sequence

from p5lab.errors import STATUS_FAILED
from p5lab.lab import Lab

CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check", "src", "stats-parsers", "tests/unit"),
    ("mypy",),
    ("pytest",),
)


def run(lab: Lab, *, full: bool = False, arguments: Sequence[str] = ()) -> int:
    """Runs every check, also after one has failed; 0 when all are green.

    `full` sets P5LAB_FULL=1 for tests that have a reduced and a full count.
    """
    environment = {**os.environ, **({"P5LAB_FULL": "1"} if full else {})}
    failed = []
    for check in CHECKS:
        extra = arguments if check[0] == "pytest" else ()
        command = [sys.executable, "-m", *check, *extra]
        if subprocess.run(command, cwd=lab.root, env=environment).returncode != 0:
            failed.append(check[0])
    if failed:
        print(f"p5lab: failed: {', '.join(failed)}", file=sys.stderr)
    return STATUS_FAILED if failed else 0
