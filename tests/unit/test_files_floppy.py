# SPDX-License-Identifier: MIT
"""`run --put`: the floppy with files of the user, and messages about files that it cannot have."""

import io
import struct
import tarfile

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe.supplied import TAR
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.prepare import fat_floppy, files_floppy, tar_floppy

BOOT = (b"\0" * 510 + b"\x55\xaa").ljust(1_474_560, b"\0")


def test_the_same_files_give_the_same_bytes_in_any_order():
    files = {"B.TXT": b"two", "A.TXT": b"one"}
    made = fat_floppy.image(files)
    assert len(made) == 1_474_560
    assert made == fat_floppy.image(dict(reversed(files.items())))
    assert made != fat_floppy.image({**files, "A.TXT": b"on"})


def test_the_parameters_of_the_boot_sector_are_those_of_a_floppy_of_1440_kb():
    # The values of the table "media types" of the FAT specification, for F0h.
    made = fat_floppy.image({})
    assert struct.unpack_from("<HBHBHHBHHH", made, 11) == (
        *(512, 1, 1, 2, 224, 2880),
        *(0xF0, 9, 18, 2),
    )
    assert made[510:512] == b"\x55\xaa"
    assert made[512:515] == made[512 + 9 * 512 :][:3] == b"\xf0\xff\xff"


def test_a_chain_of_clusters_has_twelve_bits_for_each():
    made = fat_floppy.image({"A": bytes(1025), "B": b"x"})
    # 2 -> 3 -> 4 -> end; 5 -> end (in pairs: 0FF0h FFFh, 003h 004h, FFFh FFFh)
    assert made[512:521] == bytes.fromhex("f0ffff 034000 ffffff")
    first, size = struct.unpack_from("<HI", made, 19 * 512 + 32 + 26)
    assert (first, size) == (5, 1)
    assert made[(33 + 3) * 512 :][:2] == b"x\0"


def test_the_floppy_may_be_full_and_not_more():
    clusters = 2847
    full = fat_floppy.image({"A": bytes(512), "B": bytes([1]) * (512 * (clusters - 1))})
    assert len(full) == 1_474_560
    assert full.endswith(b"\1" * 512)
    with pytest.raises(ValueError, match="1,458,176 bytes; the floppy has 1,457,664"):
        fat_floppy.image({"A": b"x", "B": bytes(512 * clusters)})
    fat_floppy.image({f"F{number}": b"" for number in range(224)})
    with pytest.raises(ValueError, match="225 files"):
        fat_floppy.image({f"F{number}": b"" for number in range(225)})


@pytest.mark.parametrize(
    "name",
    ["long-name.txt", "a.text", "a b.c", ".bat", "a.", "x.y.z", "é.c", "con", "LPT1.TXT", ""],
)
def test_a_name_that_dos_does_not_have_is_refused(name):
    with pytest.raises(ValueError, match=r"expected a name|for a device"):
        fat_floppy.name_of(name)


def test_names_are_in_capitals():
    assert fat_floppy.name_of("run.bat") == "RUN.BAT"
    assert fat_floppy.name_of("com10") == "COM10"


def test_each_wrong_file_is_one_line(capsys, tmp_path):
    lab = Lab(REPO, tmp_path / "results")
    boots, other = tmp_path / "dos.img", tmp_path / "b.img"
    boots.write_bytes(BOOT)
    other.write_bytes(BOOT)
    for name in ("run.bat", "much-too-long.txt", "other/RUN.BAT"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "big").write_bytes(bytes(1_474_561))
    run = tmp_path / "run.bat"
    cases = {
        (tmp_path / "absent",): "no such file",
        (tmp_path / "other",): "a directory",
        (tmp_path / "much-too-long.txt",): "rename the file",
        (run, tmp_path / "other/RUN.BAT"): "a second file with the name RUN.BAT",
        (tmp_path / "big",): "1,474,561 bytes; expected at most 1,474,560 bytes; this is a floppy",
        (run, "--floppy", other): "drive B has the floppy",
    }
    for words, expected in cases.items():
        status = cli.main(["run", "--floppy", str(boots), "--put", *map(str, words)], lab)
        said = capsys.readouterr()
        assert (status, said.out) == (2, "")
        (line,) = said.err.strip().split("\n")
        assert line.startswith("p5lab: --put")
        assert expected in line
    assert cli.main(["run", "smoke", "--put", str(run)], lab) == 2
    assert "--put: expected with --floppy" in capsys.readouterr().err
    assert not lab.results.exists()


def test_the_floppy_is_stored_once(tmp_path):
    lab = Lab(tmp_path)
    file = tmp_path / "a.txt"
    file.write_text("text")
    first, second = (files_floppy.floppy(lab, [file], ()) for _ in range(2))
    assert first == second
    assert [one.name for one in (tmp_path / "build/put").iterdir()] == [first.file.split("/")[-1]]
    # A damaged image is replaced.
    (tmp_path / "build/put").joinpath(first.file).write_bytes(b"")
    assert files_floppy.floppy(lab, [file], ()) == first
    with pytest.raises(UserError, match="drive B has the floppy"):
        files_floppy.floppy(lab, [file], [first])


def test_a_tar_floppy_holds_the_files_and_has_the_same_bytes_in_any_order():
    files = {"run": b"#!/bin/sh\n", "core.c": b"x" * 1000}
    made = tar_floppy.image(files)
    assert len(made) == 1_474_560
    assert made == tar_floppy.image(dict(reversed(files.items())))
    with tarfile.open(fileobj=io.BytesIO(made)) as archive:
        found = {one.name: archive.extractfile(one).read() for one in archive}
    assert found == files


def test_a_tar_floppy_may_be_full_and_not_more():
    # One block for the head of the file, and two at the end; an archive has whole records of 10 KB.
    most = 1_474_560 // 10_240 * 10_240 - 3 * 512
    assert len(tar_floppy.image({"a": bytes(most)})) == 1_474_560
    with pytest.raises(
        ValueError, match="the archive has 1,484,800 bytes; the floppy has 1,474,560"
    ):
        tar_floppy.image({"a": bytes(most + 1)})


@pytest.mark.parametrize("name", ["a b", "fifteen-letters", "é", ""])
def test_a_name_that_old_systems_do_not_have_is_refused(name):
    with pytest.raises(ValueError, match="expected a name of at most 14 characters"):
        tar_floppy.name_of(name)


def test_the_form_decides_the_names(tmp_path):
    file = tmp_path / "cached-read"
    file.write_text("x")
    lab = Lab(tmp_path)
    files_floppy.floppy(lab, [file], (), TAR)
    with pytest.raises(UserError, match="rename the file"):
        files_floppy.floppy(lab, [file], ())
