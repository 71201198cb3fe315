# SPDX-License-Identifier: MIT
"""The commit of a work tree, as git knows it."""

import subprocess
from functools import cache
from pathlib import Path


@cache
def commit(root: Path) -> str:
    """The commit of the work tree `root`: the first 12 digits, and `-dirty` if a file of the commit
    has changed. Empty if `root` is not the top of a work tree, or if git is not installed."""
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
