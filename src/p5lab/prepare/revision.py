# SPDX-License-Identifier: MIT
"""A source file of the user at a revision of git: `--program join.c@HEAD~1`."""

import os
import subprocess
import tempfile
from pathlib import Path

from p5lab.errors import UserError, disk_error
from p5lab.lab import Lab

PLACE = "build/programs/revisions"


def divided(name: str) -> tuple[Path, str]:
    """The file and the revision of FILE@REVISION. The revision is empty if the name has none, and
    for a file whose own name contains `@`."""
    file, at, revision = name.rpartition("@")
    return (Path(file), revision) if at and file and not Path(name).exists() else (Path(name), "")


def checked_out(lab: Lab, file: Path, revision: str) -> Path:
    """A copy of the file at this revision, with the other files of its directory, which it may
    include. Raises UserError if the directory belongs to no work tree of git, and for an unknown
    revision or a file that it does not have."""
    where = f"--program {file}@{revision}"
    home = file.absolute().parent
    if not home.is_dir():
        raise UserError(f"{where}: no directory {file.parent}")
    tree = _git(where, home, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not tree:
        raise UserError(f"{where}: {home} is no work tree of git with a revision {revision!r}")
    directory = _git(where, home, "rev-parse", "--verify", "--quiet", f"{tree}:./")
    place = lab.root / PLACE / directory
    if directory and not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(dir=place.parent) as work:
                files = Path(work, "files")
                index = {"GIT_INDEX_FILE": str(Path(work, "index"))}
                # In a directory below the top, git would leave out all files outside of it.
                top = Path(_git(where, home, "rev-parse", "--show-toplevel"))
                _git(where, top, "read-tree", directory, **index)
                _git(where, top, "checkout-index", "--all", f"--prefix={files}/", **index)
                files.rename(place)
        except OSError as error:
            raise disk_error(error, place) from None
    if not directory or not (place / file.name).is_file():
        raise UserError(f"{where}: revision {revision} has no such file")
    return place / file.name


def _git(where: str, directory: Path, *words: str, **more: str) -> str:
    """What git prints, without the end of the line; empty if git reports an error."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=directory, env=os.environ | more, capture_output=True, text=True
        )
    except OSError as error:
        raise UserError(f"{where}: git: {error.strerror}") from None
    return done.stdout.strip() if done.returncode == 0 else ""
