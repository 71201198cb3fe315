# SPDX-License-Identifier: MIT
"""A folder of the engine includes only its own files and files of the layers below it.

The Pentium model includes no file of its observers or surroundings. A session includes no device by
name and no file of the emulator.
"""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "engine"
SEEN_BY_BOCHS = {"isa.hh"}  # Bochs includes it without its folder
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
        ("observe", ("observe", "measure", "p5", "base")),
        ("session", ("session", "devices", "observe", "measure", "p5", "base", "restore")),
    ],
)
def test_a_folder_includes_only_what_is_below_it(folder: str, may_use: tuple[str, ...]) -> None:
    # A folder may use the shared files of `devices`, but not the files of a single device.
    wrong = {
        f"{file} includes {name}"
        for file, names in includes(folder).items()
        for name in names
        if not name.startswith("../../workloads/")  # shared with the programs in the guest
        and (name.split("/")[0] not in may_use or re.match(r"devices/\w+/", name))
        and name not in SEEN_BY_BOCHS
    }
    assert not wrong
