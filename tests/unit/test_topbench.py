# SPDX-License-Identifier: MIT
"""TOPBENCH's times: the entry on the screen, the errors, and the files of the user."""

import hashlib
import shutil

import pytest
from fakelab import REPO

from p5lab.describe import media, script
from p5lab.errors import UserError
from p5lab.evidence import records, topbench
from p5lab.lab import Lab

LAB = Lab(REPO)
# A screen of our own in the form of the program's database.
SCREEN = """B:\\>type db.ini
[UID1]
MemoryTest=70
OpcodeTest=71
MemEATest=72
3DGameTest=73
Score=1

[UID2]
MemoryTest=52
OpcodeTest=16
VidramTest=303
MemEATest=9
3DGameTest=20
"""
TIMES = {"MemoryTest": 52, "OpcodeTest": 16, "MemEATest": 9, "3DGameTest": 20}


def test_the_last_entry_on_the_screen_counts():
    assert topbench.times(SCREEN) == TIMES
    with pytest.raises(UserError, match=r"screen\.txt: expected a line MemEATest="):
        topbench.times(SCREEN.replace("MemEATest", "OtherTest"))


@pytest.mark.parametrize(
    "published, here, error",
    [(10, 10, 0), (4, 5, 0.125), (4, 3, -0.125), (52, 62, 9.5 / 52)],
)
def test_an_error_begins_at_half_a_microsecond(published, here, error):
    assert topbench.error(published, here) == pytest.approx(error)


def test_the_table_has_each_test_of_each_machine():
    record = records.load(REPO, "topbench")
    (grid,) = topbench.tables(LAB, record).values()
    assert len(grid.rows) == len(record) * len(topbench.TESTS)
    record["p133-triton"]["MemoryTest"] = 64
    (grid,) = topbench.tables(LAB, record).values()
    (row,) = [row for row in grid.rows if row[:2] == ("memory", "`p133-triton`")]
    assert row[3:] == ("32 µs", "64 µs", "+98 %", "predicted", "does not hold")
    fitted = {row[1] for row in grid.rows if row[6] == "fitted"}
    assert fitted == {"`p90-premiere2`"}


def test_the_program_is_known_by_its_digest(monkeypatch, tmp_path):
    monkeypatch.delenv(media.VARIABLE, raising=False)
    with pytest.raises(UserError, match=r"missing TOPBENCH\.EXE .*sha256 [0-9a-f]{64}"):
        topbench.measured(LAB, lambda runs: [])
    monkeypatch.setenv(media.VARIABLE, str(tmp_path))
    ours = b"MZ, another program"
    (tmp_path / "TOPBENCH.EXE").write_bytes(ours)
    with pytest.raises(UserError, match="another content than"):
        topbench.measured(LAB, lambda runs: [])
    root = tmp_path / "lab"
    for name in ("configs", "guest-images"):
        shutil.copytree(REPO / name, root / name)
    described = root / topbench.FILE
    known = hashlib.sha256(ours).hexdigest()
    lines = described.read_text().splitlines(keepends=True)
    described.write_text(
        "".join(f'sha256 = "{known}"\n' if line.startswith("sha256") else line for line in lines)
    )
    with pytest.raises(UserError, match=r"missing freedos-1\.4MB\.img"):
        topbench.measured(Lab(root), lambda runs: [])


def test_the_script_is_one():
    steps = script.load(REPO / "guest-images/freedos/topbench.toml")
    assert steps
