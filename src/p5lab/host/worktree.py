# SPDX-License-Identifier: MIT
"""The files of a work tree, as git knows them."""

import subprocess
from functools import cache
from pathlib import Path


def files(root: Path, *patterns: str) -> list[str]:
    """Returns the names of the files in the work tree `root` that match a pattern of git, or all
    names without a pattern. New files are included, build products and deleted files are not.
    Raises CalledProcessError if `root` is not a work tree of git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return sorted(name for name in listed.split("\0") if name and (root / name).is_file())


@cache
def commit(root: Path) -> str:
    """The commit of the work tree `root`: the first 12 digits, and `-dirty` if a file of the commit
    has changed. Empty if `root` is not the top of a work tree, or if git is not installed."""
    if not (root / ".git").exists():
        return ""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
        )
    except OSError:
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
