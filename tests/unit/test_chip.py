# SPDX-License-Identifier: MIT
"""A folder of the engine includes only its own files and files of the layers below it.

The Pentium model includes no file of its observers or surroundings. A session includes no device by
name and no file of the emulator.
"""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "engine"
# tools/declare.py makes these files. They include engine/base only.
GENERATED = {"declared.hh", "events.hh", "policies.hh"}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def includes(folder: str) -> dict[str, list[str]]:
    """Returns the files of a folder of the engine, and our own files that each of them includes."""
    files = [file for file in sorted((ENGINE / folder).iterdir()) if file.suffix in (".hh", ".cc")]
    assert files
    return {file.name: INCLUDE.findall(file.read_text()) for file in files}


@pytest.mark.parametrize(
    ("folder", "may_use"),
    [
        ("base", ("base",)),
        ("p5", ("p5", "base")),
        ("measure", ("measure", "p5", "base")),
        ("devices", ("devices", "base")),
        ("session", ("session", "devices", "measure", "p5", "base", "restore")),
    ],
)
def test_a_folder_includes_only_what_is_below_it(folder: str, may_use: tuple[str, ...]) -> None:
    # If the tested folder includes files of the folder `devices`, these must be shared files, not
    # files of a single device.
    below = GENERATED | {
        file.name
        for part in may_use
        for file in (ENGINE / part).glob("*.hh" if part == "devices" else "**/*.hh")
    }
    wrong = {
        f"{file} includes {name}"
        for file, names in includes(folder).items()
        for name in names
        if Path(name).name not in below
    }
    assert not wrong
