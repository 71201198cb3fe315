# SPDX-License-Identifier: MIT
"""A copy of this checkout for a test that changes files."""

import shutil
from pathlib import Path

from fakelab import REPO

# Products, results, and files that other test processes write and rename at the same time.
LEFT_OUT = ("build", "results", ".venv", ".git", ".*_cache", ".hypothesis", "__pycache__")


def copied(root: Path) -> Path:
    """Copies the sources to `root`, which must not exist. Returns `root`."""
    return Path(shutil.copytree(REPO, root, ignore=shutil.ignore_patterns(*LEFT_OUT)))
