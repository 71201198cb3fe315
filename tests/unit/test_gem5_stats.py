# SPDX-License-Identifier: MIT
"""p5stats.gem5: the three formats of gem5's statistics. The files follow gem5's source code."""

import gzip
import json
import math
import subprocess
import sys
import tomllib
import tracemalloc

import h5py
import numpy as np
import pytest
from fakelab import REPO
from hypothesis import given
from hypothesis import strategies as st

from p5stats import StatsError
from p5stats.gem5 import names, sections
from p5stats.gem5.__main__ import main
from p5stats.gem5.text import BEGIN, END

DATA = REPO / "tests/data/gem5"
TEXT = f"""
{BEGIN}
simSeconds                                   0.000057                       # Number of seconds simulated (Second)
hostTickRate                              12345678901                       # The number of ticks simulated per host second (ticks/s) ((Tick/Second))
system.cpu.numCycles                           114934                       # Number of cpu cycles simulated (Cycle)
system.cpu.cpi                                    nan                       # CPI: cycles per instruction ((Cycle/Count))
system.cpu.ipc                                    inf                       # (Ratio)
system.cpu.opType::IntAlu                        7500     75.00%     75.00% # Class of committed instruction. (Count)
system.cpu.opType::MemRead                       2500     25.00%    100.00% # Class of committed instruction. (Count)
system.cpu.opType::total                        10000                       # Class of committed instruction. (Count)
system.cpu.bare                                    12                      (Count)
system.mem.sizes::samples                           3                       # sizes (Byte)
system.mem.sizes::mean                       2.500000                       # sizes (Byte)
system.mem.sizes::stdev                           nan                       # sizes (Byte)
system.mem.sizes::underflows                        0      0.00%      0.00% # sizes (Byte)
system.mem.sizes::-4--1                             1     33.33%     33.33% # sizes (Byte)
system.mem.sizes::1e+06-1.5e+06                     2     66.67%    100.00% # sizes (Byte)
system.mem.sizes::overflows                         0      0.00%    100.00% # sizes (Byte)
system.mem.sizes::total                             3                       # sizes (Byte)
system.ruby.reads                 |           3     30.00%     30.00% |           7     70.00%    100.00% # Types of reads (Unspecified)
system.old                                          4                       # ticks (restored from checkpoints and never reset)
system.links_1::cpu.data                            9                       # a row of a matrix (Count)

{END}
"""  # noqa: E501


def put(tmp_path, content, name="stats.txt"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path, wanted=None):
    return list(sections(path, wanted))


def values(section):
    return {
        f"{statistic}::{element}" if element else statistic: number.value
        for statistic, element, number in section
    }


# --- text -----------------------------------------------------------------------------------------


def test_each_kind_of_line(tmp_path):
    (found,) = read(put(tmp_path, TEXT))
    assert found["simSeconds"] == 0.000057
    assert found["hostTickRate"] == 12345678901
    assert math.isnan(found["system.cpu.cpi"])
    assert found["system.cpu.ipc"] == math.inf
    assert found["system.cpu.opType::MemRead"] == 2500
    assert found.statistics["system.cpu.opType"]["MemRead"].share == 0.25
    assert found.statistics["system.cpu.opType"]["MemRead"].cumulative == 1
    assert found.statistics["system.mem.sizes"]["1e+06-1.5e+06"].value == 2
    assert found["system.mem.sizes::-4--1"] == 1
    assert found.statistics["system.mem.sizes"]["total"].share is None
    assert [found[f"system.ruby.reads::{index}"] for index in (0, 1)] == [3, 7]
    assert found.statistics["system.ruby.reads"]["1"].share == 0.7
    assert found["system.links_1::cpu.data"] == 9


def test_units_and_descriptions(tmp_path):
    (found,) = read(put(tmp_path, TEXT))

    def said(name, element=""):
        number = found.statistics[name][element]
        return number.description, number.unit

    assert said("hostTickRate") == (
        "The number of ticks simulated per host second (ticks/s)",
        "(Tick/Second)",
    )
    assert said("system.cpu.ipc") == ("", "Ratio")
    assert said("system.cpu.bare") == ("", "Count")
    assert said("system.old") == ("ticks (restored from checkpoints and never reset)", "")
    assert said("system.ruby.reads", "0") == ("Types of reads", "Unspecified")


# A dump of the form of 2006 to 2009. The shares of buckets are a hundred times too large, and those
# of types are right.
OLD = f"""
{BEGIN}
sim_ticks                                 40758469000                       # Number of ticks simulated
system.cpu.commit.COM:per_cycle.start_dist                     # Number of insts commited each cycle
system.cpu.commit.COM:per_cycle.samples            80                      
system.cpu.commit.COM:per_cycle.min_value            0                      
                               0           60   7500.00%           
                              16           20   2500.00%           
system.cpu.commit.COM:per_cycle.max_value           31                      
system.cpu.commit.COM:per_cycle.end_dist

system.cpu.iq.ISSUE:FU_type_0                      50                       # Type of FU issued
system.cpu.iq.ISSUE:FU_type_0.start_dist
                          IntAlu           40     80.00%            # Type of FU issued
                         MemRead           10     20.00%            # Type of FU issued
system.cpu.iq.ISSUE:FU_type_0.end_dist
system.cpu1.kern.mode_switch_good_idle   <err: div-0>                       # fraction of switches
system.cpu.dcache.avg_blocked_cycles::no_mshrs     no_value                       # average number
system.cpu.dcache.avg_uncacheable_latency     no value                       # average latency
**Ignore: system.disk.seek_TOT                     12                       # seeks
system.l2c.WriteReqNoAck|Writeback_hits             7                       # number of hits

{END}
"""  # noqa: E501, W291


def test_statistics_of_older_releases(tmp_path):
    (found,) = read(put(tmp_path, OLD))
    assert found["sim_ticks"] == 40758469000
    cycles = found.statistics["system.cpu.commit.COM:per_cycle"]
    assert {name: number.value for name, number in cycles.items()} == {
        "samples": 80,
        "min_value": 0,
        "0": 60,
        "16": 20,
        "max_value": 31,
    }
    assert cycles["16"].share == 0.25  # 20 of 80
    types = found.statistics["system.cpu.iq.ISSUE:FU_type_0"]
    assert (types["MemRead"].value, types["MemRead"].share) == (10, 0.2)
    assert types["IntAlu"].description == "Type of FU issued"
    assert found["system.l2c.WriteReqNoAck|Writeback_hits"] == 7
    assert found.total("system.cpu.iq.ISSUE:FU_type_0") == 50
    assert found.total("system.cpu.commit.COM:per_cycle") == 80
    for name in (
        "system.cpu1.kern.mode_switch_good_idle",
        "system.cpu.dcache.avg_blocked_cycles::no_mshrs",
        "system.cpu.dcache.avg_uncacheable_latency",
    ):
        assert math.isnan(found[name])
    assert values(read(put(tmp_path, OLD), lambda name: name.endswith("::16"))[0]) == {
        "system.cpu.commit.COM:per_cycle::16": 20
    }


@pytest.mark.parametrize("content", [TEXT, OLD])
def test_other_line_ends_and_white_space_change_nothing(tmp_path, content):
    (expected,) = read(put(tmp_path, content))
    for changed in (
        content.replace("\n", "\r\n"),
        "# made by a student\n" + content.replace("\n\n", "\n# a note\n\n"),
        content.replace("                       #", "\t#"),
    ):
        (found,) = read(put(tmp_path, changed))
        assert str(values(found)) == str(values(expected))


def test_sections_one_after_the_other(tmp_path):
    path = put(tmp_path, TEXT + TEXT.replace("114934", "5"))
    first, second = read(path)
    assert (first.number, first["system.cpu.numCycles"]) == (0, 114934)
    assert (second.number, second["system.cpu.numCycles"]) == (1, 5)
    stream = sections(path)
    assert next(stream).number == 0  # the first section is available before the second is read
    assert read(put(tmp_path, gzip.compress(path.read_bytes()), "stats.txt.gz"))[1].number == 1


def test_a_long_file_takes_no_more_memory(tmp_path):
    def peak(dumps):
        path = put(tmp_path, TEXT * dumps)
        tracemalloc.start()
        assert sum(1 for _ in sections(path)) == dumps
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)  # memory that is allocated once
    assert peak(1000) < len(TEXT * 1000) / 10


def test_without_descriptions_and_spaces(tmp_path):
    """The format of text://stats.txt?desc=False;spaces=False."""
    lines = ["simTicks 57", "cpu.opType::IntAlu 3 100.00% 100.00%", "cpu.cpi nan"]
    (found,) = read(put(tmp_path, "\n".join(["", BEGIN, *lines, "", END, ""])))
    assert found["simTicks"] == 57
    assert found.statistics["cpu.opType"]["IntAlu"].cumulative == 1
    assert math.isnan(found["cpu.cpi"])


def test_what_is_absent(tmp_path):
    (found,) = read(put(tmp_path, TEXT))
    assert found.get("system.cpu.dcache.misses") == 0
    assert found.get("system.cpu.cpi::total", 7) == 7
    assert "system.cpu.opType" not in found  # a vector itself has no value
    with pytest.raises(StatsError, match=r"section 0 .*no statistic 'system\.cpu\.opType'"):
        found["system.cpu.opType"]


def test_totals(tmp_path):
    (found,) = read(put(tmp_path, TEXT))
    assert found.total("system.cpu.opType") == 10000
    assert found.total("system.cpu.numCycles") == 114934
    assert found.total("system.ruby.reads") == 10
    assert found.total("system.nothing", -1) == -1


def test_only_what_is_wanted(tmp_path):
    (found,) = read(put(tmp_path, TEXT), lambda name: name.startswith("system.cpu.opType::"))
    assert list(values(found)) == [
        "system.cpu.opType::IntAlu",
        "system.cpu.opType::MemRead",
        "system.cpu.opType::total",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT[: TEXT.index("nan")], r"section 0 from line 2: cut short in line 6: expected more"),
        (TEXT[: TEXT.index(END)], r"section 0 from line 2: cut short after line 23: expected '---"),
        (TEXT + TEXT[:-40], r"section 1 from line 26: cut short in line 48: expected more after"),
        (TEXT.replace(END, ""), r"section 0 from line 2: cut short"),
        (TEXT.replace(END, "") + TEXT, r"section 0 .* line 26: expected '.*End.* before the next"),
        (
            OLD.replace("system.cpu.commit.COM:per_cycle.end_dist\n", ""),
            r"line 4: expected system.cpu.commit.COM:per_cycle.end_dist before line 12",
        ),
        (f"\n{END}\n", r"line 2: '.*End.*' without its beginning"),
        ("simTicks 57\n", r"line 1: expected '.*Begin.*', found 'simTicks 57'"),
        (TEXT.replace("\nsystem.", "\n::", 1), r"expected the name of a statistic, found '::"),
        (TEXT.replace(" 114934 ", " many "), r"line 5: expected a name and a value, found 'system"),
        ("", "no statistics: expected '.*Begin"),
        (gzip.compress(TEXT.encode())[:-200], "cut short after line .*: expected more packed data"),
    ],
)
def test_errors_say_where(tmp_path, content, message):
    path = put(tmp_path, content)
    with pytest.raises(StatsError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_no_such_file(tmp_path):
    with pytest.raises(StatsError, match=r"cannot read .*: No such file"):
        sections(tmp_path / "none")


# Names that gem5 permits. Names of elements can be almost any text.
NAME = st.text("abZ0_.", min_size=1, max_size=12).map(lambda text: f"x{text}".replace("..", "._"))
ELEMENT = st.text("abZ09_.+-", min_size=1, max_size=8)
VALUE = st.one_of(
    st.integers(-(2**53), 2**53),
    st.sampled_from([math.nan, math.inf, -math.inf]),
    st.floats(-1e12, 1e12).map(lambda value: round(value, 6)),
)
UNIT = st.sampled_from(["Count", "Tick", "(Byte/Second)", "((Joule/Second)/Watt)", ""])
WORDS = st.text("aZ9(),./:#-| ", max_size=20).map(str.strip)
DUMP = st.dictionaries(
    NAME, st.tuples(st.dictionaries(ELEMENT, VALUE, max_size=4), VALUE, WORDS, UNIT), max_size=6
)


def written(value):
    """Formats a number like ValueToString of text.cc: a whole number has no digits after the
    point."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if value == round(value) else f"{value:.6f}"


def dumped(dump):
    lines = ["", BEGIN]
    for name, (elements, value, words, unit) in dump.items():
        comment = (f" # {words}" if words else "") + (f" ({unit})" if unit else "")
        for full, one in {f"{name}::{key}": one for key, one in elements.items()}.items():
            lines.append(f"{full:<40} {written(one):>12} {'12.50%':>10} {'':>10}{comment}")
        if not elements:
            lines.append(f"{name:<40} {written(value):>12} {'':>10} {'':>10}{comment}")
    return "\n".join([*lines, "", END, ""])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("gem5")


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


@given(st.lists(DUMP, min_size=1, max_size=3))
def test_what_is_written_is_read(place, dumps):
    path = put(place, "".join(map(dumped, dumps)))
    found = read(path)
    assert len(found) == len(dumps)
    for section, dump in zip(found, dumps, strict=True):
        for name, (elements, value, words, unit) in dump.items():
            numbers = section.statistics[name]
            assert set(numbers) == (set(elements) or {""})
            for element, number in numbers.items():
                assert same(number.value, elements.get(element, value))
                assert number.unit == unit
                assert number.description.strip() == words


@given(st.lists(DUMP, min_size=1, max_size=3), st.data())
def test_a_file_cut_short_is_never_taken_for_whole(place, dumps, data):
    texts = [dumped(dump) for dump in dumps]
    whole = "".join(texts).encode()
    ends = [len("".join(texts[: number + 1]).encode()) for number in range(len(texts))]
    cut = data.draw(st.integers(0, len(whole) - 2))
    path = put(place, whole[:cut])
    # A section is complete even if the cut removes its final line break. A section is also complete
    # if the cut leaves an empty line after the final line break.
    complete = sum(cut >= end - 1 for end in ends)
    found = []
    if any(end - 1 <= cut <= end + 1 for end in ends):
        assert len(read(path)) == complete
        return
    with pytest.raises(StatsError, match=r"line \d|no statistics"):
        for section in sections(path):
            found.append(section)
    assert len(found) == complete


@given(st.binary(max_size=300))
def test_garbage_is_refused_in_one_line(place, content):
    path = put(place, content)
    with pytest.raises(StatsError) as error:
        read(path)
    assert "\n" not in str(error.value)


# --- HDF5 -----------------------------------------------------------------------------------------


def series(group, name, rows, **attributes):
    """Returns a dataset like Hdf5::appendStat: unlimited in time, in chunks of ten dumps."""
    rows = np.array(rows, dtype="f8")
    dataset = group.create_dataset(
        name,
        data=rows,
        maxshape=(None, *rows.shape[1:]),
        chunks=(10, *rows.shape[1:]),
        compression="gzip",
        compression_opts=1,
    )
    for key, value in attributes.items():
        if isinstance(value, list):
            dataset.attrs.create(key, value, dtype=h5py.string_dtype("ascii"))
        else:
            dataset.attrs.create(key, [value.encode()], dtype=f"S{len(value) + 1}")
    return dataset


@pytest.fixture
def h5(tmp_path):
    path = tmp_path / "stats.h5"
    dumps = range(12)
    with h5py.File(path, "w") as file:
        series(file, "simTicks", [100 + dump for dump in dumps], description="ticks simulated")
        cpu = file.create_group("system").create_group("cpu")
        series(cpu, "cpi", [[math.nan if dump == 3 else 1.5] for dump in dumps], equation="a / b")
        series(cpu, "opType", [[dump, 2, 3] for dump in dumps], subnames=["IntAlu", "", "MemRead"])
        series(cpu, "lanes", [[1, dump] for dump in dumps])
        series(
            cpu,
            "links",
            [[[1, 2], [3, dump]] for dump in dumps],
            subnames=["a", "b"],
            y_subnames=["cpu.inst", "cpu.data"],
        )
    return path


def test_hdf5(h5):
    found = read(h5)
    assert [section.number for section in found] == list(range(12))
    assert values(found[11]) == {
        "simTicks": 111,
        "system.cpu.cpi": 1.5,
        "system.cpu.lanes::0": 1,
        "system.cpu.lanes::1": 11,
        "system.cpu.links_a::cpu.inst": 1,
        "system.cpu.links_a::cpu.data": 2,
        "system.cpu.links_b::cpu.inst": 3,
        "system.cpu.links_b::cpu.data": 11,
        "system.cpu.opType::IntAlu": 11,
        "system.cpu.opType::MemRead": 3,
    }
    assert math.isnan(found[3]["system.cpu.cpi"])
    assert isinstance(found[3]["simTicks"], int)
    assert found[0].statistics["simTicks"][""].description == "ticks simulated"
    assert found[11].total("system.cpu.lanes") == 12
    assert [values(one) for one in read(h5, lambda name: name.endswith("::1"))][5] == {
        "system.cpu.lanes::1": 5
    }


def test_hdf5_errors(h5, tmp_path):
    content = h5.read_bytes()
    with pytest.raises(StatsError, match=r"cut short: .*truncated file"):
        read(put(tmp_path, content[: len(content) // 2], "cut.h5"))
    with h5py.File(h5, "a") as file:
        file["system/cpu/cpi"].resize(9, axis=0)
    with pytest.raises(StatsError, match=r"/system/cpu/cpi: cut short: expected 12 dumps, as /sim"):
        read(h5)
    with h5py.File(tmp_path / "empty.h5", "w"):
        pass
    with pytest.raises(StatsError, match="no statistics: expected a dataset"):
        read(tmp_path / "empty.h5")
    heap = content.index(b"GCOL\1")
    free = next(at for at in range(heap + 16, len(content), 8) if content[at : at + 8] == bytes(8))
    damaged = content[: free + 8] + bytes(8) + content[free + 16 :]
    with pytest.raises(StatsError, match="not HDF5, or cut short: a damaged heap"):
        read(put(tmp_path, damaged, "heap.h5"))
    for name, values in (("words", ["a"]), ("wide", np.array([1], np.longdouble))):
        with h5py.File(tmp_path / "other.h5", "w") as file:
            file[name] = values
        with pytest.raises(StatsError, match=f"/{name}: expected numbers of up to 64 bits in one"):
            read(tmp_path / "other.h5")


# --- JSON -----------------------------------------------------------------------------------------


def scalar(value, unit="Count"):
    return {"value": value, "type": "Scalar", "description": "d", "unit": unit, "datatype": "f64"}


def vector(**elements):
    return {
        "type": "Vector",
        "description": "d",
        "value": {key: scalar(value) for key, value in elements.items()},
    }


JSON = {
    "creation_time": "2026-11-21T22:53:00",
    "time_conversion": None,
    "simulated_begin_time": 0,
    "simulated_end_time": 57,
    "type": "SimObject",
    "name": "root",
    "simTicks": scalar(57.0, "Tick"),
    "board": {
        "type": "SimObject",
        "name": "board",
        "time_conversion": None,
        "cores": {
            "type": "SimObjectVector",
            "time_conversion": None,
            "value": [
                {
                    "type": "SimObject",
                    "name": "cores",
                    "core": {
                        "type": "SimObject",
                        "ipc": scalar(math.nan),
                        "numCycles": scalar(9.0),
                        "opType": vector(IntAlu=2.0, MemRead=1.0),
                        "one": vector(total=3.0),
                    },
                },
            ],
        },
        "pairs": {
            "type": "SimObjectVector",
            "time_conversion": None,
            "value": [
                {"type": "SimObject", "a": scalar(1)},
                {"type": "SimObject", "a": scalar(2)},
            ],
        },
        "hist": {"type": "SparseHist", "value": {"-3.0": scalar(4)}, "description": "d"},
        "links": {
            "type": "Vector2d",
            "description": "d",
            "value": {"0": vector(x=1), "1": vector(x=5)},
        },
        "dist": {
            "type": "Distribution",
            "value": {"0": scalar(1.0), "1": scalar(2.0)},
            "description": "sizes",
            "min": 3,
            "max": 8,
            "num_bins": 2,
            "bin_size": 4,
            "sum": 15,
            "sum_squared": 90,
            "underflow": 0,
            "overflow": 1,
            "logs": None,
        },
    },
}


def test_json(tmp_path):
    (found,) = read(put(tmp_path, json.dumps(JSON, indent=4), "stats.json"))
    got = values(found)
    assert math.isnan(got.pop("board.cores.core.ipc"))
    assert got == {
        "simTicks": 57,
        "board.cores.core.numCycles": 9,
        "board.cores.core.opType::IntAlu": 2,
        "board.cores.core.opType::MemRead": 1,
        "board.cores.core.one": 3,
        "board.pairs0.a": 1,
        "board.pairs1.a": 2,
        "board.hist::-3": 4,
        "board.links_0": 1,
        "board.links_1": 5,
        "board.dist::bucket0": 1,
        "board.dist::bucket1": 2,
        "board.dist::underflows": 0,
        "board.dist::overflows": 1,
        "board.dist::min_value": 3,
        "board.dist::max_value": 8,
        "board.dist::bucket_size": 4,
        "board.dist::sum": 15,
        "board.dist::total": 4,
    }
    assert found.statistics["simTicks"][""].unit == "Tick"
    (some,) = read(tmp_path / "stats.json", lambda name: "pairs" in name)
    assert values(some) == {"board.pairs0.a": 1, "board.pairs1.a": 2}


def test_json_errors(tmp_path):
    text = json.dumps(JSON, indent=4)
    for content, message in (
        (text[:700], r"stats\.json, line \d+: not JSON, or cut short: "),
        ("{}", "no statistics: expected the tree"),
        (
            text.replace('"value": 9.0', '"value": "many"'),
            r"board\.cores\.core\.numCycles: value: expected a number",
        ),
        (json.dumps({"a": {"type": "Vector", "value": [1]}}), "a: value: expected an object of"),
        (json.dumps({"": {"type": "Scalar", "value": 1}}), "the tree: a member without a name"),
        (json.dumps({"a": {"b": {"": {}}}}), "a.b: a member without a name"),
    ):
        with pytest.raises(StatsError, match=message):
            read(put(tmp_path, content, "stats.json"))


# --- files that gem5's own code wrote (tests/data/gem5) -------------------------------------------


def test_text_and_hdf5_of_the_same_dumps_agree():
    text, hdf5 = (list(map(values, sections(DATA / name))) for name in ("stats.txt", "stats.h5"))
    assert len(text) == len(hdf5) == 3
    for one, other in zip(text, hdf5, strict=True):
        shared = one.keys() & other.keys()
        assert len(shared) >= 14
        assert all(same(one[name], other[name]) for name in shared)
        # HDF5 has the zeros, which text omits. The text format has totals, distributions and
        # histograms.
        assert all(other[name] == 0 for name in other.keys() - shared)
        missing = {name.partition("::")[0].rpartition(".")[2] for name in one.keys() - shared}
        assert missing <= {
            "opType",
            "links",
            "links_a",
            "links_b",
            "zero",
            "dist",
            "distline",
            "hist",
            "empty",
            "sparse",
        }


def test_json_as_gem5_writes_it():
    (found,) = sections(DATA / "stats.json")
    assert found["simTicks"] == 57
    assert found["board.cores.core.vec::3"] == 2
    assert found["board.cores.core.one"] == 4
    assert found["board.cores.core.d2_1::1"] == 7
    assert found["board.cores.core.sp::-3"] == 4
    assert found["board.cores.core.dist::overflows"] == 1
    assert found["board.cores.core.power.res"] == 5
    assert found["board.pair1.a"] == 2


# --- names of older releases ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sim_seconds", "simSeconds"),
        ("system.cpu.committedInsts", "system.cpu.commitStats0.numInsts"),
        ("system.cpu.exec_context.thread_0.numInsts", "system.cpu.commitStats0.numInsts"),
        (
            "system.cpu.exec_context.thread_0.numBusyCycles",
            "system.cpu.exec_context.thread_0.numBusyCycles",
        ),
        ("system.cpu.num_busy_cycles", "system.cpu.exec_context.thread_0.numBusyCycles"),
        ("system.cpu.num_load_insts", "system.cpu.commitStats0.numLoadInsts"),
        ("system.cpu.dcache.overall_misses::total", "system.cpu.dcache.overallMisses::total"),
        (
            "system.cpu.dcache.demand_avg_miss_latency::cpu.data",
            "system.cpu.dcache.demandAvgMissLatency::cpu.data",
        ),
        ("system.l2.ReadSharedReq_mshr_misses::total", "system.l2.ReadSharedReq.mshrMisses::total"),
        (
            "system.l2.WritebackDirty_accesses::writebacks",
            "system.l2.WritebackDirty.accesses::writebacks",
        ),
        ("system.cpu.dtb.rdMisses", "system.cpu.mmu.dtb.rdMisses"),
        ("system.cpu.mmu.dtb.rdMisses", "system.cpu.mmu.dtb.rdMisses"),
        (
            "system.cpu.itb.walker.pwrStateResidencyTicks::UNDEFINED",
            "system.cpu.mmu.itb.walker.pwrStateResidencyTicks::UNDEFINED",
        ),
        ("system.mem_ctrls.num_reads::total", "system.mem_ctrls.numReads::total"),
        ("system.cpu.numCycles", "system.cpu.numCycles"),
    ],
)
def test_names_of_older_releases(old, new):
    assert names.modern(old) == new
    assert names.modern(new) == new


# --- the command ----------------------------------------------------------------------------------


def test_command(tmp_path, capsys):
    path = put(tmp_path, TEXT + TEXT.replace("114934", "5"))
    assert main([str(path), "*.numCycles", "*::MemRead", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "section,statistic,element,value,unit,description",
        "0,system.cpu.numCycles,,114934,Cycle,Number of cpu cycles simulated",
        "0,system.cpu.opType,MemRead,2500,Count,Class of committed instruction.",
        "1,system.cpu.numCycles,,5,Cycle,Number of cpu cycles simulated",
        "1,system.cpu.opType,MemRead,2500,Count,Class of committed instruction.",
    ]
    assert main([str(path), "*.cpi", "*.numCycles", "--section", "1", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "section": 1,
        "statistics": {"system.cpu.cpi": None, "system.cpu.numCycles": 5},
    }
    assert main([str(path), "*.numCycles"]) == 0
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert words[2:] == [["section", "1"], ["system.cpu.numCycles", "5", "Cycle"]]


def test_command_errors(tmp_path, capsys):
    path = put(tmp_path, TEXT + TEXT[:-40])
    assert main([str(path), "simSeconds"]) == 1
    got = capsys.readouterr()
    assert got.out.startswith("section 0")  # complete sections are printed
    assert "section 1 from line 26: cut short" in got.err
    assert main([str(put(tmp_path, TEXT)), "--section", "3"]) == 1
    assert "no section 3: expected 0 to 0" in capsys.readouterr().err


def test_modern_names_in_the_command(tmp_path, capsys):
    old = put(tmp_path, f"\n{BEGIN}\nsystem.cpu.committedInsts 5\n\n{END}\n")
    assert main([str(old), "--modern", "*.numInsts"]) == 0
    assert "system.cpu.commitStats0.numInsts" in capsys.readouterr().out


def test_every_package_is_published():
    said = tomllib.loads((REPO / "stats-parsers/pyproject.toml").read_text())
    found = {path.parent for path in (REPO / "stats-parsers").rglob("__init__.py")}
    names = {".".join(path.relative_to(REPO / "stats-parsers").parts) for path in found}
    assert set(said["tool"]["setuptools"]["packages"]) == names


def test_it_stands_on_its_own(tmp_path):
    """p5stats.gem5 needs no module of the laboratory and no pandas."""
    path = put(tmp_path, TEXT)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from p5stats.gem5 import sections\n"
        "print(next(sections(sys.argv[2]))['system.cpu.numCycles'])\n"
        "print(sorted({'p5lab', 'pandas', 'pyarrow', 'h5py'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, REPO / "stats-parsers", path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["114934", "[]"]
