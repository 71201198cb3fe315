# SPDX-License-Identifier: MIT
"""Media of guests: images of floppies, disks and CD-ROMs, and messages about wrong ones."""

import hashlib
import os
import struct
from functools import partial
from pathlib import Path

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import disk_image, guest, media
from p5lab.describe.disk_image import Geometry
from p5lab.describe.request import Filter, Request, UserMedia
from p5lab.errors import UserError
from p5lab.execute import viewers
from p5lab.lab import Lab
from p5lab.prepare import prepare, raw_image

FLOPPY, CYLINDER = 1_474_560, 16 * 63 * 512
BOOT = b"\0" * 510 + b"\x55\xaa"
RAW = partial(raw_image.raw, Lab(REPO), False)  # of images that are raw already


@pytest.fixture
def refused(capsys, tmp_path):
    """Runs `run` with options that must be refused. Returns the one line of its message."""

    def run(*words):
        lab = Lab(REPO, tmp_path / "results")
        assert cli.main(["run", *map(str, words)], lab) == 2
        said = capsys.readouterr()
        assert said.out == ""
        (line,) = said.err.strip().split("\n")
        assert not lab.results.exists()
        return line

    return run


def image(place, name="my.img", content=BOOT, size=CYLINDER):
    path = place / name
    path.write_bytes(content.ljust(size, b"\0"))
    return path


def partition(number, start, length, heads, sectors, kind=6):
    """An entry of a partition table, as a program with this geometry writes it, and its offset."""

    def place(block):
        cylinder, rest = divmod(block, heads * sectors)
        if cylinder > 1023:
            return bytes((heads - 1, 0xC0 | sectors, 0xFF))
        head, sector = divmod(rest, sectors)
        return bytes((head, cylinder >> 8 << 6 | sector + 1, cylinder & 0xFF))

    entry = b"\x80" + place(start) + bytes((kind,)) + place(start + length - 1)
    return 446 + 16 * number, entry + struct.pack("<II", start, length)


def table(*entries):
    sector = bytearray(BOOT)
    for offset, entry in entries:
        sector[offset : offset + 16] = entry
    return bytes(sector)


# --- geometry -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heads, sectors", [(4, 17), (16, 63), (15, 63), (64, 32), (255, 63), (128, 63)]
)
def test_the_geometry_comes_from_the_partition_table(tmp_path, heads, sectors):
    cylinder = heads * sectors
    one = partition(0, sectors, 3 * cylinder - sectors, heads, sectors)
    two = partition(1, 3 * cylinder, 2 * cylinder, heads, sectors)
    size = 5 * cylinder * 512 + 512
    path = image(tmp_path, content=table(one, two), size=size)
    found = disk_image.disk(path, None, "test")
    assert (found.sectors, found.origin) == (sectors, "partition table")
    assert found.heads == min(heads, 16)
    # More heads than an IDE disk can have are those of a translating BIOS.
    assert found.translated == (heads > 16)
    assert size - found.heads * sectors * 512 < found.bytes <= size


def test_a_partition_beyond_cylinder_1023_still_gives_the_geometry():
    one = partition(0, 63, 2000 * 16 * 63 - 63, 16, 63)
    assert disk_image.of_table(table(one)) == (16, 63)


@pytest.mark.parametrize(
    "sector",
    [
        BOOT,
        table(partition(0, 63, 16 * 63, 16, 63)),  # does not end at the end of a cylinder
        table(partition(0, 17, 4 * 17 - 17, 4, 17), partition(1, 1008, 1008, 16, 63)),
        table(partition(0, 63, 1008 - 63, 16, 63))[:510] + b"\0\0",
        table((446, b"\x80" + bytes(3) + b"\x06" + bytes(11))),
    ],
)
def test_a_table_that_contradicts_itself_gives_no_geometry(tmp_path, sector):
    path = image(tmp_path, content=sector, size=10 * CYLINDER)
    assert disk_image.disk(path, None, "test") == Geometry(10, 16, 63, "default", True)


def test_a_given_geometry_replaces_the_table(tmp_path):
    sector = table(partition(0, 63, 1008 - 63, 16, 63))
    path = image(tmp_path, content=sector, size=306 * 4 * 17 * 512)
    given = disk_image.parse_geometry("306/4/17", "test")
    assert disk_image.disk(path, given, "test") == Geometry(306, 4, 17)


# --- wrong images -------------------------------------------------------------------------------


def test_each_wrong_image_is_one_line(refused, tmp_path):
    whole = image(tmp_path)
    cases = {
        ("--disk", tmp_path): "is a directory",
        ("--disk", tmp_path / "absent.img"): "absent.img: no such file",
        ("--disk", "absent.img"): "--disk absent.img: no such file",
        ("--disk", image(tmp_path, "empty", b"", 0)): "0 bytes; expected a multiple of 512",
        ("--disk", image(tmp_path, "cut", size=CYLINDER - 100)): "expected a multiple of 512",
        ("--disk", image(tmp_path, "tiny", size=512)): "less than one cylinder of 16 heads",
        ("--disk", image(tmp_path, "dead", b"")): "its first sector does not end with 55 AA",
        ("--disk", image(tmp_path, 'a"b')): "expected a path without '\"'",
        ("--floppy", whole): "516,096 bytes is not the size of a floppy",
        ("--floppy", image(tmp_path, "f", size=FLOPPY - 512)): "1,474,048 bytes is not the size",
        ("--floppy", image(tmp_path, "g", size=1000)): "`truncate -s 1474560 COPY` makes a copy",
        ("--floppy", image(tmp_path, "h", size=FLOPPY + 1)): "`truncate -s 1720320 COPY`",
        ("--floppy", image(tmp_path, "i", size=2 * FLOPPY + 1)): "2,949,120 bytes",
        ("--cdrom", image(tmp_path, "c", size=2048 * 20 + 1)): "expected a multiple of 2048",
        ("--cdrom", image(tmp_path, "d", size=2048 * 20)): "no El Torito boot record",
        ("--disk", whole, "--geometry", "2/16/63"): "geometry 2/16/63 has 1,032,192 bytes, but",
        ("--disk", whole, "--geometry", "0/16/63"): "expected CYLINDERS/HEADS/SECTORS",
        ("--disk", whole, "--geometry", "1/17/63"): "at most 65535/16/63",
        ("--disk", whole, "--geometry", "many"): "expected CYLINDERS/HEADS/SECTORS",
    }
    for words, expected in cases.items():
        line = refused(*words)
        assert expected in line, line
        assert str(words[0]) in line or "--geometry" in line
        assert line.count(str(words[1])) == 1 or "--geometry" in line, line


def test_a_pipe_is_no_image(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # to open it would wait for a writer
    assert "not a file" in refused("--disk", tmp_path / "pipe")


def test_a_file_that_cannot_be_read_is_one_line(refused, tmp_path, monkeypatch):
    path = image(tmp_path)
    real = type(path).open

    def fails(self, *args, **keys):
        if self == path:
            raise PermissionError(13, "Permission denied")
        return real(self, *args, **keys)

    monkeypatch.setattr(type(path), "open", fails)
    assert f"{path}: cannot be read: Permission denied" in refused("--disk", path)


def test_a_medium_that_does_not_boot_is_allowed_behind_one_that_does(tmp_path):
    disk = image(tmp_path, "disk", b"")
    floppy = image(tmp_path, "floppy", size=FLOPPY)
    wanted = [
        media.MediumFile("floppy_a", str(floppy), "--floppy"),
        media.MediumFile("disk_1", str(disk), "--disk"),
    ]
    found = media.checked(wanted, RAW)
    assert [one.role for one in media.in_boot_order(found)] == ["floppy_a", "disk_1"]
    assert found[0].sha256 == hashlib.sha256(floppy.read_bytes()).hexdigest()


# --- options ------------------------------------------------------------------------------------


def test_options_that_do_not_fit_are_one_line(refused, tmp_path):
    disk, floppy = image(tmp_path), image(tmp_path, "floppy", size=FLOPPY)
    cases = {
        ("--until", "x"): "--until: expected with --floppy, --disk, --cdrom or a guest",
        ("--keep", "x", "smoke"): "--keep: expected with --floppy",
        ("--geometry", "1/2/3"): "--geometry: expected with --floppy",
        ("--floppy", floppy, "--geometry", "1/2/3"): "--geometry: expected with --disk",
        ("--disk", disk, "smoke"): "smoke: expected without --floppy, --disk and --cdrom",
        ("--disk", disk, "--program", "x.c"): "--program: expected without --floppy",
        ("--disk", disk, "--guest", "linux"): "--guest: expected without",
        ("--disk", disk, "--state", disk, "--save-state", tmp_path / "new"): (
            "--save-state: expected without --state"
        ),
        ("--disk", disk, "--file", f"{disk}:/a"): "--put brings files to this guest",
        ("--disk", disk, "--stdin", disk): "--stdin: expected with --program guest:PATH",
        ("--disk", disk, "--disk", disk, "--disk", disk): "--disk: expected at most 2 times",
        ("--disk", disk, "--until", "two\nlines"): "expected printable ASCII in one line",
        ("--disk", disk, "--until", " x"): "without spaces at its ends",
        ("--disk", disk, "--seed", "1"): "--seed: not possible",
        ("--disk", disk, "--workload", "dup"): "--workload: not possible",
        ("--disk", disk, "--trace", "crossings"): "--trace: not possible",
        ("--disk", disk, "--engine", "native"): "expected the engine bochs",
        ("--disk", disk, "--keep", disk): "the file exists already",
        ("--disk", disk, "--keep", tmp_path / "no/file"): "no directory",
        ("--disk", disk, "--floppy", floppy, "--keep", tmp_path / "new"): (
            "expected MEDIUM=FILE with one of floppy_a, disk_1"
        ),
        ("--disk", disk, "--keep", f"floppy_a={tmp_path / 'new'}"): "with one of disk_1",
        ("--disk", disk, "--set", "l2.size=128K", "--sweep", "l1d.size=8K,16K", "--keep", "n"): (
            "--keep: expected one run, found 2"
        ),
    }
    for words, expected in cases.items():
        line = refused(*words)
        assert expected in line, line


# --- guest.toml ---------------------------------------------------------------------------------

GUEST = """
schema_version = 1
name = "small"
title = "a small system"
structure = "monolithic"
isa = "pentium"
[boot]
protocol = "bios"
until = "login:"
[media.disk_1]
file = "./small.img"
geometry = "306/4/17"
"""


@pytest.fixture
def lab(tmp_path):
    """Returns a function that makes a lab with a guest, whose file has some texts replaced."""

    def make(*changes):
        text = GUEST
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        place = tmp_path / "mine/guests/small"
        place.mkdir(parents=True, exist_ok=True)
        (place / "guest.toml").write_text(text)
        return Lab(REPO, tmp_path / "results", (tmp_path / "mine",))

    return make


def test_a_guest_is_read_without_its_media(lab, tmp_path):
    found = guest.load(lab(), "small")
    (one,) = found.media
    assert one.file == str(tmp_path / "mine/guests/small/small.img")
    assert (one.role, str(one.geometry), found.until) == ("disk_1", "306/4/17", "login:")
    assert isinstance(found, guest.MediaGuest)
    assert found.clock_vector == 8


def test_no_workload_runs_on_a_guest_with_media(lab, capsys):
    assert cli.main(["run", "smoke", "--guest", "small"], lab()) == 2
    assert "guest small cannot run dup: boots from its own media" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, expected",
    [
        (["shell", "small"], "shell: the screen of a guest needs a terminal, or --vnc"),
        (["run", "--program", "guest:/bin/ls", "--guest", "small"], "boots from its own media"),
        (["run", "--guest", "small", "--workers", "2"], "--workers, --scheduler: not possible"),
        (["run", "--guest", "small", "--guest", "linux"], "expected an experiment or --program"),
    ],
)
def test_what_is_not_possible_with_media_is_one_line(lab, tmp_path, capsys, words, expected):
    here = lab()
    image(tmp_path, "mine/guests/small/small.img", size=306 * 4 * 17 * 512)
    assert cli.main(words, here) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1


def test_a_shell_without_a_build_says_that_the_vnc_server_is_missing(
    lab, tmp_path, capsys, monkeypatch
):
    here = lab()
    image(tmp_path, "mine/guests/small/small.img", size=306 * 4 * 17 * 512)
    monkeypatch.setattr(viewers, "program", lambda lab: tmp_path / "p5vnc")
    assert cli.main(["shell", "small", "--vnc", "--no-build"], here) == 2
    assert "--vnc: build/engine/p5vnc is missing" in capsys.readouterr().err


def test_another_file_name_is_searched_in_the_directories_of_media(lab, tmp_path, monkeypatch):
    here = lab(("./small.img", "small.img"))
    found = guest.load(here, "small").media
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("P5LAB_MEDIA", f"{tmp_path / 'first'}:{tmp_path / 'second'}")
    missing = r"missing medium small.img; put it into .*first or .*second"
    with pytest.raises(UserError, match=missing):
        media.checked(found, RAW)
    path = image(tmp_path / "second", "small.img", size=306 * 4 * 17 * 512)
    (one,) = media.checked(found, RAW)
    assert one.path == path


@pytest.mark.parametrize(
    "change, expected",
    [
        (("[media.disk_1]", "[media.disc_1]"), "unknown key 'disc_1'; did you mean 'disk_1'?"),
        (('protocol = "bios"', 'protocol = "linux"'), "together"),
        (('[media.disk_1]\nfile = "./small.img"\ngeometry = "306/4/17"\n', ""), "together"),
        (("306/4/17", "306x4x17"), "guest.toml:12: media: disk_1: geometry: '306x4x17'"),
        (("media.disk_1", "media.floppy_a"), "geometry: expected only for disk_1 and disk_2"),
        (('file = "./small.img"', "files = 1"), "unknown key 'files'; did you mean 'file'?"),
        (('until = "login:"', 'until = "a\\u00e9"'), "expected printable ASCII"),
        (('until = "login:"', 'kernel = "x"'), "unknown key 'kernel'"),
        (
            ('geometry = "306/4/17"', 'known = { "12" = "a name" }'),
            "'12': expected a SHA-256, 64 digits of 0-9 a-f",
        ),
    ],
)
def test_a_wrong_guest_file_is_one_line(lab, change, expected):
    with pytest.raises(UserError) as caught:
        guest.load(lab(change), "small")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_until_is_only_for_guests_with_media(lab, tmp_path):
    here = lab()
    (tmp_path / "mine/guests/small/guest.toml").write_text(
        'schema_version = 1\nname = "small"\ntitle = "t"\nbase = "linux"\n[boot]\nuntil = "x"\n'
    )
    with pytest.raises(UserError, match=r"until: expected only for a guest with \[media\]"):
        guest.load(here, "small")


def test_a_variant_inherits_the_media(lab, tmp_path):
    here = lab()
    place = tmp_path / "mine/guests/other"
    place.mkdir()
    (place / "guest.toml").write_text(
        'schema_version = 1\nname = "other"\ntitle = "t"\nbase = "small"\n[boot]\nuntil = "#"\n'
    )
    base, variant = guest.load(here, "small"), guest.load(here, "other")
    assert variant.until == "#"
    assert [one.role for one in variant.media] == [one.role for one in base.media]
    assert Path(variant.media[0].file) == tmp_path / "mine/guests/small/small.img"


def test_media_that_the_bios_never_tries_are_refused(tmp_path):
    wanted = [media.MediumFile("disk_2", str(image(tmp_path)), "--disk")]
    with pytest.raises(UserError, match="boots from none of these media; expected one of floppy_a"):
        media.checked(wanted, RAW)


def test_a_first_look_has_the_name_of_its_first_medium(tmp_path):
    lab = Lab(REPO, tmp_path / "results")
    choice = Filter(machines=("p90-premiere2",))
    asked = UserMedia(disks=(image(tmp_path, size=2 * CYLINDER),), until="a b")
    (run,) = prepare(lab, Request(asked, choice)).runs
    assert (run.guest.name, run.experiment) == ("disk:my.img", "media")
    assert run.label == "boot until 'a b', disk:my.img, p90-premiere2"
    assert run.parameter_text.endswith("until=a_b")
