# SPDX-License-Identifier: MIT
"""Machine files and overlays, and the messages for wrong files."""

import os

import pytest
from fakelab import REPO

from p5lab.describe import keys, machine
from p5lab.errors import UserError

MACHINES = REPO / "configs/machines"


@pytest.fixture
def p90():
    return machine.load(MACHINES, "p90-premiere2")


def written(tmp_path, change):
    """Returns a copy of the P90's file with one text replaced."""
    text = (MACHINES / "p90-premiere2.toml").read_text()
    assert change[0] in text
    (tmp_path / "p90-premiere2.toml").write_text(text.replace(*change, 1))
    return tmp_path


def test_p90_is_the_machine_of_chen95(p90):
    assert p90.clock_hz == 90_000_000
    assert p90.values["l1d.size"] == 8192
    assert p90.values["l1d.write_allocate"] is False
    assert p90.values["l2.size"] == 256 * 1024
    assert p90.values["dram.size"] == 32 * 1024 * 1024
    assert (p90.values["itlb.entries"], p90.values["dtlb.entries"]) == (32, 64)


def test_every_machine_of_the_repository_loads():
    for name in machine.names(MACHINES):
        assert machine.load(MACHINES, name).name == name


def test_engine_conf_has_every_key_in_canonical_units(p90):
    conf = p90.engine_conf()
    assert set(conf) == {key.name for key in keys.KEYS if key.target == "engine"}
    assert conf["cpu.clock_mhz"] == "90"
    assert conf["cpu.signature"] == "0x524"
    assert conf["l2.size"] == "262144"
    assert conf["l2.present"] == "true"
    assert conf["memory.uncached"] == "0xa0000-0xfffff,0x2000000-0xffffffff"


def test_every_value_has_a_source(p90):
    wanted = {key.name for key in keys.KEYS if key.target != "record"}
    assert set(p90.sources) == wanted


def test_a_value_without_source_is_refused(tmp_path):
    directory = written(tmp_path, ("agi = 1               # clocks; INTEL-OPT, AGN-MA", "agi = 1"))
    with pytest.raises(UserError, match=r"p90-premiere2.toml:\d+: penalty.agi has no source"):
        machine.load(directory, "p90-premiere2")


def test_overlay_changes_and_names_the_geometry(p90):
    other = p90.with_set({"l2.size": "512K", "l2.ways": "2"}, "--set")
    assert other.values["l2.size"] == 524288
    assert other.geometry == "l2.size=524288 l2.ways=2"
    assert p90.geometry == ""
    assert p90.values["l2.size"] == 262144


def test_the_same_size_written_differently_is_the_same(p90):
    texts = {p90.with_set({"l2.size": size}, "x").geometry for size in ("512K", 524288, "524288")}
    assert len(texts) == 1


def test_sizes_are_shown_as_people_write_them(p90):
    overlaid = p90.with_set({"l2.size": "512K", "dtlb.entries": 32}, "--set")
    assert keys.readable(overlaid.geometry) == "dtlb.entries=32 l2.size=512K"
    for other in ("", "no-l2", "l2.size=", "l2.size=x", "l2.size=" + 5000 * "9", "a.b=4096"):
        assert keys.readable(other) == other


def test_pci_space_follows_memory_size(p90):
    conf = p90.with_set({"dram.size": "64M"}, "--set").engine_conf()
    assert conf["memory.uncached"].endswith(",0x4000000-0xffffffff")


def test_a_machine_has_the_keys_of_its_drive(p90):
    assert p90.values["disk.model"] == "st32550n"
    assert p90.values["disk.rpm"] == 7200
    assert p90.sources["disk.read_seek_average_ms"].endswith("SEAGATE-2LP 5.2.1")


def test_another_drive_brings_its_keys_and_what_was_set_stays(p90):
    other = p90.with_set({"disk.model": "hp-c3725"}, "--set")
    assert other.values["disk.rpm"] == 5400
    assert other.geometry == "disk.model=hp-c3725"
    slow = p90.with_set({"disk.rpm": "3600"}, "overlay")
    assert slow.with_set({"disk.model": "hp-c3725"}, "--set").values["disk.rpm"] == 3600
    both = p90.with_set({"disk.rpm": "4500", "disk.model": "hp-c3725"}, "--set")
    assert both.values["disk.rpm"] == 4500
    assert both.values["disk.heads"] == 9


def test_flags_are_on_and_off_too(p90):
    assert p90.with_set({"disk.write_cache": "on"}, "--set").values["disk.write_cache"] is True
    assert p90.with_set({"disk.read_ahead": "off"}, "--set").values["disk.read_ahead"] is False


def test_every_drive_of_the_repository_fits_every_machine():
    for name in keys.DISKS:
        for board in machine.names(MACHINES):
            found = machine.load(MACHINES, board).with_set({"disk.model": name}, "--set")
            assert found.values["disk.model"] == name
            # The data of the first disk end at 456 MB.
            cylinders = [zone.split("x") for zone in str(found.values["disk.zones"]).split(",")]
            sectors = sum(int(c) * int(s) for c, s in cylinders) * int(found.values["disk.heads"])
            assert sectors * 512 > 2_000_000_000


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("l2.sise=512K", "--set: unknown machine key 'l2.sise'; did you mean 'l2.size'?"),
        ("sise=512K", r"did you mean '\w+\.size'"),
        ("l2.size=512KB", 'l2.size: expected bytes, .*such as "256K"; found .*512KB'),
        ("l2.size=-1", "l2.size: expected bytes"),
        ("l2.size=1", "^--set: l2.size: expected bytes, 512 to 16M; found 1$"),
        ("l2.size=0", "l2.size: expected bytes, 512 to 16M; found 0; l2.present=false .*"),
        ("dram.size=x", "--set: dram.size: expected bytes, 1M to 512M, as a .*; found x$"),
        ("dram.size=x\ny", r"found a text in quotes, 'x\\ny'$"),
        ("l1d.replacement=fifoo", 'expected one of "fifo", .*; found fifoo$'),
        ("l2.ways=four", "l2.ways: expected a whole number of ways, 1 to 32; found four$"),
        ("cpu.clock_mhz=90000000", "cpu.clock_mhz: expected a number of MHz, 16 to 400"),
        ("cpu.clock_mhz=90MHz", "cpu.clock_mhz: expected a number of MHz"),
        ("cpu.clock_mhz=100", r"expected 1, 1.5, 2, ... times cpu.bus_mhz; found 1.67 times"),
        ("l1d.write_policy=writeback", 'expected one of "write-back", "write-through"'),
        ("l1d.write_allocate=1", "l1d.write_allocate: expected true or false"),
        (
            "l2.size=300K",
            "l2.size = 300K: expected 1 way x 32 bytes x .*; for example 256K or 512K with l2.ways",
        ),
        ("l1i.size=1000", "l1i.size"),
        ("dtlb.entries=65", "dtlb.entries = 65: expected 4 ways x a power of two"),
        ("itlb.ways=3", "itlb"),
        ("l1d.line=64", "l1i.line = 32: expected the data cache's line length"),
        ("dram.read=7-4-4", "dram.read = 7-4-4: expected 4 transfers of 8 bytes"),
        ("dram.read=7,4,4,4", "dram.read: expected bus clocks of each 8-byte transfer"),
        ("memory.uncached=0xFFFFF-0xA0000", "memory.uncached: expected a list of physical"),
        ("machine.name=other", "machine.name cannot be set"),
        ("disk.model=st225", 'disk.model: expected one of "hp-c3725", "st15150", "st32550n"'),
        (
            "disk.count=16",
            "disk.count = 16: expected at most 15 disks for each adapter of disk.adapters",
        ),
        ("disk.count=25", "disk.count: expected a whole number of disks, 0 to 24"),
        ("disk.zones=351", "disk.zones: expected a list of CYLINDERSxSECTORS"),
        ("disk.zones=0x130", "disk.zones: expected a list of CYLINDERSxSECTORS"),
        ("disk.vendor=SEAGATE TECH", "disk.vendor: expected a text of at most 8 characters"),
        (
            "disk.buffer=1K",
            "disk.segments = 3: expected at most one segment for each sector of 512 bytes",
        ),
        (
            "disk.read_seek_average_ms=18",
            "expected a time between disk.read_seek_single_ms and disk.read_seek_full_ms",
        ),
        ("disk.write_seek_single_ms=0.5", "expected at least disk.read_seek_single_ms"),
        ("l2.size", "--set l2.size: expected KEY=VALUE"),
    ],
)
def test_wrong_settings_say_what_and_where(p90, setting, message):
    with pytest.raises(UserError, match=message) as caught:
        p90.with_set(machine.parse_settings([setting]), "--set")
    assert caught.value.status == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("ways = 1 ", "wais = 1 "),
            "toml:37: unknown machine key 'l2.wais'; did you mean 'l2.ways'?",
        ),
        (("ways = 1 ", 'ways = "one" '), "toml:37: l2.ways: expected a whole number of ways"),
        (("size =", 'size = "x" #'), "l1i.size: expected .*; found a text in quotes, 'x'$"),
        (("size =", 'size = "64M" #'), "l1i.size: expected bytes, 512 to [0-9]+[KM]; found 64M$"),
        (("ways = 1 ", "ways = true "), "toml:37: l2.ways: .*found true or false, true"),
        (("ways = 1 ", "ways = 1.0 "), "toml:37: l2.ways: .*found a number, 1.0"),
        (
            ("agi = 1", "# agi = 1"),
            "toml: missing key penalty.agi: expected a whole number of clocks",
        ),
        (('name = "p90-', 'name = "p91-'), "machine.name: expected the file's name"),
        (("schema_version = 1", "schema_version = 2"), "expected 1, found 2 .*newer p5lab"),
        (("schema_version = 1", ""), "missing key 'schema_version'"),
        (("[l2]", "[l2"), r"toml:34: not valid TOML: .*\(column 4\)"),
    ],
)
def test_wrong_files_say_file_and_key(tmp_path, change, message):
    with pytest.raises(UserError, match=message):
        machine.load(written(tmp_path, change), "p90-premiere2")


def test_unknown_machine_names_the_nearest():
    with pytest.raises(UserError, match="'p90-premier'; did you mean 'p90-premiere2'"):
        machine.load(MACHINES, "p90-premier")


def test_a_machine_in_a_fifo_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "mine.toml")
    with pytest.raises(UserError, match=r"mine\.toml: expected a regular file"):
        machine.load(tmp_path, "mine")
