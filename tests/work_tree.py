# SPDX-License-Identifier: MIT
"""The files of a work tree, as git knows them."""

import subprocess
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
