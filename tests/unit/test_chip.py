# SPDX-License-Identifier: MIT
"""The Pentium model stands alone: it includes no file of its observers or surroundings."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "engine"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def includes(folder: str) -> dict[str, list[str]]:
    """Files of a folder of the engine, and the files of our own that each includes."""
    files = [file for file in sorted((ENGINE / folder).iterdir()) if file.suffix in (".hh", ".cc")]
    assert files
    return {file.name: INCLUDE.findall(file.read_text()) for file in files}


@pytest.mark.parametrize(
    ("folder", "may_use"),
    [("p5", ("p5", "base")), ("measure", ("measure", "p5", "base"))],
)
def test_a_folder_includes_only_what_is_below_it(folder: str, may_use: tuple[str, ...]) -> None:
    below = {file.name for part in may_use for file in (ENGINE / part).rglob("*.hh")}
    wrong = {
        f"{file} includes {name}"
        for file, names in includes(folder).items()
        for name in names
        if Path(name).name not in below
    }
    assert not wrong
