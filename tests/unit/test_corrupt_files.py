# SPDX-License-Identifier: MIT
"""Damaged, truncated and foreign files for every reader of files.

A reader may accept a file, or refuse it with one line. It must never fail in another way. `check`
of each reader tests the accepted content. If a reader can detect that a file is wrong, it must not
accept the file. If a file has an end mark or a digest, the reader must detect any cut or change.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import struct
import tarfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import fakelab
import pandas as pd
import pytest
import test_attribution
import test_calls
import test_crossings
import test_gem5_events
import test_gem5_stats
import test_image_format
import test_misses
import test_modes_file
import test_program
import test_rootfs
import test_validate
from mutate import Mutator, dump_toml
from rich.console import Console

from p5lab.describe import (
    disk_image,
    experiment,
    guest,
    image_format,
    machine,
    media,
    program,
    workload,
)
from p5lab.describe.media import MediumFile
from p5lab.errors import UserError
from p5lab.evidence import published
from p5lab.execute import plan
from p5lab.execute.runner import Runner
from p5lab.files import digest_of
from p5lab.host import rootfs, sources
from p5lab.keep import index, store
from p5lab.lab import Lab
from p5lab.prepare import raw_image, rerun
from p5lab.present import runs
from p5stats import (
    StatsError,
    attribution,
    compare,
    crossings,
    events,
    gem5,
    gem5_events,
    intervals,
    misses,
    observers,
    profiles,
    record,
    simpoint,
    tidy,
)

CASES, FULL_CASES = 80, 100_000
ORIGIN = tidy.Origin("tests", "id", "bochs", "p90", "", "yes", "toy", 0, "call", "")


@dataclass
class Reader:
    """One reader of files. `read` takes the bytes of a file and returns the content."""

    form: str  # form for mutate.Mutator
    seeds: list[bytes]
    read: Callable[[bytes], object]
    check: Callable[[object], object] = lambda found: None
    ends: bool = False  # a cut file is never a whole file
    whole: bool = False  # the file has a digest, so any change is refused
    named: bool = False  # the seeds are refused, too


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# --- p5stats ---------------------------------------------------------------------------------


def of_events(tmp_path):
    def read(data):
        found = events.parse(put(tmp_path / "events.jsonl", data))
        frame = tidy.table(found, ORIGIN, {0: "call"})
        tidy.write(tmp_path / "counts.parquet", frame, clock_hz=found.clock_hz)
        return found, frame

    def check(read):
        found, frame = read
        assert found.clock_hz > 0
        assert found.status in events.STATUSES
        assert (frame["value"].between(0, 2**63 - 1)).all()
        assert (frame["ring"].between(0, 3)).all()
        if len(frame):
            assert len(compare.counts(frame))

    seeds = [fakelab.call_events(), fakelab.shadow_events(), fakelab.chase_events()]
    return Reader("jsonl", [lines(rows) for rows in seeds], read, check, ends=True)


def of_crossings(tmp_path):
    trace = (
        test_crossings.Trace()
        .mark("begin")
        .call(20)
        .back()
        .cross("exception", vector=14, ring=0)
        .back(0x3000)
        .mark("end")
    )

    def read(data):
        found = crossings.read(put(tmp_path / "crossings.jsonl", data))
        return [bracket for brackets in found.values() for bracket in brackets]

    def check(brackets):
        for bracket in brackets:
            assert bracket.clocks >= 0
            assert all(type(step.clocks) is int and step.clocks >= 0 for step in bracket.steps)
            assert sum(service.crossings for service in bracket.services()) <= len(bracket.steps)

    return Reader("jsonl", [lines(trace.lines)], read, check, ends=True)


def of_misses(tmp_path):
    def read(data):
        found = misses.read(put(tmp_path / "misses.jsonl", data))
        return found, misses.frame(found)

    def check(read):
        found, frame = read
        for brackets in found.values():
            assert misses.typical(brackets).end >= 0
        if len(frame):
            assert (frame[["at", "clocks", "address"]] >= 0).all(axis=None)
            assert (frame[["loaded_before", "lost_before"]].dropna() >= 0).all(axis=None)

    seed = test_misses.lines(test_misses.bracket(1000, test_misses.miss(1100)))
    return Reader("jsonl", [lines(seed)], read, check, ends=True)


def of_attribution(tmp_path):
    def read(data):
        return attribution.read(put(tmp_path / "attribution.jsonl", data))

    def check(found):
        frame = found.frame()
        # A further member of a node is a dimension of another observer.
        assert [one for one in frame.columns if one in attribution.COLUMNS] == attribution.COLUMNS
        assert frame["count"].abs().max() < 2**63
        assert profiles.speedscope(found, "instructions", "a run")["profiles"]

    return Reader("jsonl", [lines(test_attribution.LINES)], read, check, ends=True)


def of_calls(tmp_path):
    def read(data):
        return observers.read(put(tmp_path / "calls.jsonl", data), ("call", "kind"))

    def check(found):
        assert all(name.isprintable() for name in found.frame["call"])

    return Reader("jsonl", [lines(test_calls.LINES)], read, check, ends=True)


def of_modes(tmp_path):
    def read(data):
        return observers.read(put(tmp_path / "modes.jsonl", data), ("mode",))

    def check(found):
        assert list(found.frame.columns) == test_modes_file.COLUMNS
        vectors = found.frame["event"].str.startswith("vector.")
        assert not vectors.any() or found.frame[vectors]["count"].min() > 0

    return Reader("jsonl", [lines(test_modes_file.LINES)], read, check, ends=True)


def of_intervals(tmp_path):
    def read(data):
        return intervals.read(put(tmp_path / "intervals.jsonl", data))

    def check(found):
        assert list(found.frame().columns) == intervals.COLUMNS
        assert all(one.begin < one.end for one in found.intervals)

    return Reader("jsonl", [lines(fakelab.INTERVALS)], read, check, ends=True)


def of_counts(tmp_path):
    frame = tidy.table(
        events.parse(put(tmp_path / "events.jsonl", lines(fakelab.call_events()))), ORIGIN, {}
    )
    tidy.write(tmp_path / "seed.parquet", frame, clock_hz=1)
    seed = (tmp_path / "seed.parquet").read_bytes()
    directory = tmp_path / "run"
    put(
        directory / "run.json",
        lines([{"digests": {"counts.parquet": digest_of(tmp_path / "seed.parquet")}}]),
    )

    def read(data):
        path = put(directory / "counts.parquet", data)
        try:
            found, _ = tidy.read(path)  # without a record the run is unknown
            assert tuple(found.columns) == tidy.COLUMNS
        except StatsError:
            pass
        return tidy.read_run(directory)[0]

    return Reader(
        "bytes",
        [seed],
        read,
        lambda found: pd.testing.assert_frame_equal(found, frame, check_dtype=False),
        ends=True,
        whole=True,
    )


def of_gem5(name, form, *older):
    def reader(tmp_path):
        data = (fakelab.REPO / "tests/data/gem5" / name).read_bytes()

        def read(content):
            return list(gem5.sections(put(tmp_path / name, content)))

        def check(found):
            for number, section in enumerate(found):
                assert section.number == number
                for statistic, element, value in section:
                    assert statistic
                    assert isinstance(element, str)
                    assert isinstance(value.value, int | float)

        return Reader(form, [data, *older], read, check, ends=form != "text")

    return reader


def of_gem5_markers(tmp_path):
    test_gem5_events.put(tmp_path)
    seed = (tmp_path / "markers.jsonl").read_bytes()

    def read(data):
        put(tmp_path / "markers.jsonl", data)
        gem5_events.convert(tmp_path, tmp_path / "events.jsonl")
        return events.parse(tmp_path / "events.jsonl")

    return Reader("jsonl", [seed], read, lambda found: tidy.table(found, ORIGIN, {}))


def of_vectors(tmp_path):
    seed = b"# a comment\nT:1:100 :2:50 \nT\nT:2:7 :30:4000 \nT:1:1 \n"

    def check(found):
        assert any(length > 0 for length in found.lengths)
        assert all(block >= 1 for counts in found.intervals for block in counts)

    return Reader(
        "text", [seed], lambda data: simpoint.read_vectors(put(tmp_path / "a.bb", data)), check
    )


def of_points(tmp_path):
    """The input contains the file of points and the file of weights, separated by an empty line."""

    def read(data):
        chosen, _, weights = data.partition(b"\n\n")
        put(tmp_path / "a.simpoints", chosen + b"\n")
        put(tmp_path / "a.weights", weights)
        return simpoint.read_points(tmp_path / "a.simpoints", tmp_path / "a.weights", 10)

    def check(points):
        assert sum(point.weight for point in points) == pytest.approx(1)
        assert all(0 <= point.interval < 10 and point.weight >= 0 for point in points)

    return Reader("text", [b"3 0\n7 1\n\n0.25 0\n0.75 1\n"], read, check)


def of_image(role, *seeds, named=False):
    """Images of a medium that are not raw. A user's file ends as a raw image, or in a line that
    names its format and the command that converts it (`named`)."""

    def reader(tmp_path):
        images = partial(raw_image.raw, Lab(tmp_path / "lab"), False)

        def read(data):
            path = put(tmp_path / "user.img", data)
            form = image_format.of(path)
            try:
                (found,) = media.checked([MediumFile(role, str(path), "--medium")], images)
                return found, found.path.stat().st_size
            except UserError as error:
                if form and not form.unpack:
                    assert form.name in str(error)
                    assert form.command_for(path) in str(error)
                if form or image_format.is_iso(path):
                    assert "truncate" not in str(error)
                raise
            finally:
                assert path.read_bytes() == data  # the user's file never changes
                shutil.rmtree(tmp_path / "lab", ignore_errors=True)

        def check(found):
            medium, size = found
            if role == "floppy_a":
                assert size in disk_image.FLOPPIES
                assert medium.form
            elif role == "disk_1":
                assert 0 < medium.geometry.bytes <= size
            else:
                assert size % disk_image.CD_SECTOR == 0

        return Reader("bytes", list(seeds), read, check, named=named)

    return reader


def named_images():
    """Files of formats that p5lab names, and of a CD-ROM."""
    iso = bytes(0x8000) + b"\1CD001\1".ljust(0x1000, b"\0")
    files = [content for content, *_ in test_image_format.NAMED]
    return [one if len(one) > 1000 else one.ljust(1067, b"\0") for one in files] + [iso]


def small_disk():
    """A disk of one cylinder, 4 heads and 17 sectors, with a boot sector and a partition table."""
    entry = bytes([0x80, 0, 2, 0, 1, 3, 17, 0]) + struct.pack("<II", 1, 4 * 17 - 1)
    sector = b"\xfa\xf4".ljust(disk_image.TABLE, b"\0") + entry + bytes(48) + disk_image.SIGNATURE
    return sector + bytes(4 * 17 * 512 - 512)


def dosemu():
    header = b"DOSEMU\0" + struct.pack("<IIII", 4, 17, 1, 128)
    return header.ljust(128, b"\0") + small_disk()


# --- p5lab -----------------------------------------------------------------------------------


def of_record(tmp_path):
    """Reads run.json of a run with status `ok`, and calls the functions that use a record."""
    lab = fakelab.make(tmp_path / "lab")
    lab.behave()
    (run, *_) = experiment.load(lab, "tests")
    (result,) = Runner(lab, jobs=1).run_all([run])
    assert result.status == "ok"
    path = result.directory / store.RECORD
    seed = path.read_bytes()
    bare = json.loads(seed)
    del bare["sha256"]  # as in records of older versions
    console = Console(file=io.StringIO(), width=200)

    def read(data):
        put(path, data)
        (stored,) = store.all_runs(lab)
        if stored.record["label"] == "?":
            raise UserError(stored.record["reason"])
        runs.each(console, [stored])
        runs.show(console, stored)
        plan.Estimate(lambda: [stored])(run)
        if stored.status == "ok":
            tidy.load(lab.results)
            if isinstance(stored.record.get("request"), dict):
                rerun.run_of(lab, stored.record, stored.id)
        return stored

    def check(stored):
        assert stored.id == result.id
        assert store.run_id(stored.record["identity"]) == result.id

    return Reader("json", [seed, json.dumps(bare).encode()], read, check, ends=True)


def of_index(tmp_path):
    """Reads the index of the results. The index must agree with the records, whatever its file
    contains.
    """
    lab = fakelab.make(tmp_path / "lab")
    lab.behave()
    results = Runner(lab, jobs=1).run_all(experiment.load(lab, "tests"))
    records = sorted(one.directory / store.RECORD for one in results)
    known = index._rows(lab, records)
    (path,) = (lab.results / index.DIRECTORY).iterdir()
    seed = path.read_bytes()

    def read(data):
        put(path, data)
        assert index._rows(lab, records) == known  # lists and queries use these rows
        if path.read_bytes() != data:
            raise UserError("made again")
        return data

    return Reader("bytes", [seed], read, ends=True, whole=True)


def of_toml(where, load, seeds, check=lambda found: None):
    """Reads a TOML file of a miniature lab. `load` reads the file at `where`."""

    def reader(tmp_path):
        lab = fakelab.make(tmp_path / "lab")
        path = lab.root / where
        own = [path.read_bytes()] if path.exists() else []
        given = [seed if isinstance(seed, bytes) else seed.read_bytes() for seed in seeds]
        # Remove the comments, because a case without comments takes a third of the time.
        valid = [dump_toml(tomllib.loads(seed.decode())) for seed in (*own, *given)]

        def read(data):
            put(path, data)
            return load(lab)

        return Reader("toml", valid, read, check)

    return reader


def check_runs(runs):
    assert len(runs) < 100_000
    assert all(run.label.isprintable() and run.seed >= 0 and run.limit_seconds > 0 for run in runs)


SWEEP = b"""
schema_version = 1
title = "tests"
machines = ["p90-premiere2"]
guests = ["toy"]
seeds = "0-3"
events = "misses"
feedback = false
limit_seconds = 10
[[overlay]]
name = "big"
set = { l2.size = "1M", "l2.ways" = 2 }
[[sweep]]
grid = { "l2.size" = ["128K", "256K"], "parameters.iterations" = [1, 2] }
[[run]]
workload = "call"
parameters = { iterations = 4 }
"""


def of_programs(tmp_path):
    path = tmp_path / "a.out"
    seeds = [test_program.elf(), test_program.elf64()]
    return Reader(
        "bytes",
        seeds,
        lambda data: program.load(
            put(path, data), "", 1 << 24, "x86-64" if data[4:5] == b"\2" else "pentium"
        ),
        lambda found: found.job == "@program" or pytest.fail(found.job),
    )


def of_tarballs(tmp_path):
    seeds = []
    for mode in ("w", "w:gz"):
        packed = test_rootfs.packed(tmp_path / "in.tar", more=test_rootfs.links(), mode=mode)
        seeds.append(packed.read_bytes())
    seeds.append(hostile_tar(tmp_path))

    def read(data):
        rootfs.repack(put(tmp_path / "in.tar", data), tmp_path / "out.tar")
        with tarfile.open(tmp_path / "out.tar") as tar:
            return list(tar)

    return Reader("bytes", seeds, read, is_contained)


def is_contained(members):
    """Checks that all names are below the root, and that there are only files, directories and
    symbolic links.
    """
    for info in members:
        assert not info.name.startswith("/")
        assert ".." not in info.name.split("/")
        assert info.isreg() or info.isdir() or info.issym() or info.name.startswith("dev/")
        assert info.name.isprintable()


def hostile_tar(tmp_path):
    """Returns an archive of a root file system with a device, a link and a pipe. The reader must
    refuse an archive with any one of these members, because the member leads outside of the root.
    """
    more = [
        test_rootfs.member("dev/sda", tarfile.BLKTYPE, devmajor=8),
        test_rootfs.member("etc/link", tarfile.SYMTYPE, linkname="/etc"),
        test_rootfs.member("run/pipe", tarfile.FIFOTYPE),
    ]
    return test_rootfs.packed(tmp_path / "hostile.tar", more=more).read_bytes()


READERS = {
    "events.jsonl": of_events,
    "crossings.jsonl": of_crossings,
    "misses.jsonl": of_misses,
    "attribution.jsonl": of_attribution,
    "calls.jsonl": of_calls,
    "modes.jsonl": of_modes,
    "intervals.jsonl": of_intervals,
    "counts.parquet": of_counts,
    "gem5 stats.txt": of_gem5("stats.txt", "text", test_gem5_stats.OLD.encode()),
    "gem5 stats.json": of_gem5("stats.json", "json"),
    "gem5 stats.h5": of_gem5("stats.h5", "bytes"),
    "gem5 markers.jsonl": of_gem5_markers,
    "simpoint.bb": of_vectors,
    "simpoints and weights": of_points,
    "image ImageDisk": of_image(
        "floppy_a", test_image_format.imd_file(test_image_format.BOOT, 40, 1, 8)
    ),
    "image packed": of_image(
        "floppy_a",
        gzip.compress(test_image_format.BOOT),
        lzma.compress(test_image_format.BOOT),
        bz2.compress(test_image_format.BOOT),
        test_image_format.zipped(a_img=test_image_format.BOOT),
    ),
    "image of a floppy, named": of_image("floppy_a", *named_images(), named=True),
    "image of a disk, named": of_image("disk_1", *named_images(), named=True),
    "image of a disk, DOSEMU": of_image("disk_1", dosemu(), gzip.compress(small_disk(), 0)),
    "image of a CD-ROM": of_image(
        "cdrom",
        test_image_format.cdrom(2, bytes(2048)),
        gzip.compress(test_image_format.cdrom(0, bytes(2048)), 0),
    ),
    "run.json": of_record,
    "the index": of_index,
    "experiment": of_toml(
        "configs/experiments/tests.toml",
        lambda lab: experiment.load(lab, "tests"),
        [SWEEP],
        check_runs,
    ),
    "machine": of_toml(
        "configs/machines/p90-premiere2.toml",
        lambda lab: machine.load(lab.machines, "p90-premiere2"),
        [],
        lambda board: board.clock_hz > 0 or pytest.fail("no clock"),
    ),
    "guest.toml": of_toml("guest-images/toy/guest.toml", lambda lab: guest.load(lab, "toy"), []),
    "workload.toml": of_toml(
        "workloads/micro/chase/workload.toml",
        workload.load,
        [fakelab.REPO / "workloads/micro/getpid/workload.toml"],
    ),
    "capabilities.toml": of_toml(
        "workloads/capabilities.toml",
        workload.load,
        [fakelab.REPO / "workloads/capabilities.toml"],
    ),
    "parameters.toml": of_toml(
        "workloads/parameters.toml", workload.load, [fakelab.REPO / "workloads/parameters.toml"]
    ),
    "claims.toml": of_toml("configs/claims.toml", published.load, [test_validate.CLAIMS.encode()]),
    "sources.toml": of_toml(
        "sources.toml",
        lambda lab: sources.read_sources(lab.root / "sources.toml"),
        [fakelab.REPO / "sources.toml"],
    ),
    "a program": of_programs,
    "a tarball": of_tarballs,
}


def refused(reader, data, where):
    """Returns whether the reader refuses the file with a valid message. If the reader accepts the
    file, this function checks the content.
    """
    try:
        found = reader.read(data)
    except (UserError, StatsError) as error:
        said = str(error)
        assert said.strip(), where
        assert "\n" not in said, (where, said)
        return True
    except Exception as error:
        error.add_note(f"{where}: {data[:2000]!r}")
        raise
    reader.check(found)
    return False


def stress(name, tmp_path, cases):
    reader = READERS[name](tmp_path)
    for number, seed in enumerate(reader.seeds):
        if name != "a tarball" or number < 2:
            assert refused(reader, seed, f"{name}: seed {number}") == reader.named, name
    mutated = Mutator(reader.seeds, reader.form)
    taken = 0
    for case in range(cases):
        data = mutated()
        if refused(reader, data, f"{name}, case {case}"):
            continue
        taken += 1
        assert not reader.whole, f"{name}, case {case}"
    return taken


@pytest.mark.parametrize("name", READERS)
def test_what_went_wrong_is_refused_in_one_line_or_makes_sense(name, tmp_path):
    assert stress(name, tmp_path, CASES) < CASES


@pytest.mark.full
@pytest.mark.parametrize("name", READERS)
def test_the_same_a_hundred_thousand_times(name, tmp_path):
    cases = int(os.environ.get("P5LAB_MUTATIONS", FULL_CASES))
    taken = stress(name, tmp_path, cases)
    print(f"{name}: {cases} mutations, {taken} taken, the others refused")
    assert taken < cases


@pytest.mark.parametrize("name", READERS)
def test_what_is_cut_short_is_refused(name, tmp_path):
    reader = READERS[name](tmp_path)
    if not reader.ends:
        return  # its reader cannot detect this
    for seed in reader.seeds[:1]:
        step = max(1, len(seed) // 60)
        for length in (*range(0, len(seed) - 1, step), len(seed) - 2):
            assert refused(reader, seed[:length], f"{name}: {length} bytes"), length


def test_files_of_another_kind_are_refused(tmp_path):
    """Every reader gets the files of every other reader."""
    readers = {
        name: READERS[name](tmp_path / str(i))
        for i, name in enumerate(READERS)
        if (tmp_path / str(i)).mkdir() is None
    }
    for name, reader in readers.items():
        for other, donor in readers.items():
            if name.split(" ")[0] != other.split(" ")[0]:
                assert refused(reader, donor.seeds[0], f"{other} as {name}"), (other, name)


def test_links_out_of_a_tarball_and_devices(tmp_path):
    """An untrusted archive can contain members that reach files of the host (CVE-2007-4559)."""
    link = test_rootfs.member
    bad = [
        [link("../escape", size=0)],
        [link("/etc/escape", size=0)],
        [link("a/../../escape", size=0)],
        [link("hard", tarfile.LNKTYPE, linkname="/etc/passwd")],
        [link("hard", tarfile.LNKTYPE, linkname="../../etc/passwd")],
        [link("out", tarfile.SYMTYPE, linkname="/tmp"), link("out/escape", size=0)],
        [link("usr/bin/null", tarfile.CHRTYPE, devmajor=1, devminor=3)],
        [link("usr/bin/disk", tarfile.BLKTYPE, devmajor=8)],
        [link("usr/bin/pipe", tarfile.FIFOTYPE)],
    ]
    before = sorted(path.name for path in tmp_path.parent.iterdir())
    for number, members in enumerate(bad):
        path = test_rootfs.packed(tmp_path / f"{number}.tar", more=members, prefix="")
        with pytest.raises(UserError) as refusal:
            rootfs.repack(path, tmp_path / "out.tar")
        assert "\n" not in str(refusal.value)
        assert not (tmp_path / "out.tar").exists()
    assert sorted(path.name for path in tmp_path.parent.iterdir()) == before
    shutil.rmtree(tmp_path)


def test_a_request_that_is_no_table(tmp_path):
    """Mutation 984 of a record replaced the table `request` by a text, and tidy.load used this
    text as a table.
    """
    path = tmp_path / "run.json"
    path.write_text(json.dumps(record.sealed({"run": "0", "request": "power_cut"})))
    with pytest.raises(StatsError, match=r"run\.json: request: expected a table$"):
        record.read(path)


def test_mutations_are_the_same_each_time():
    seeds = [dump_toml({"a": 1, "b": [1, "x"], "c": {"d": True}})]
    first, second = (Mutator(seeds, "toml") for _ in range(2))
    drawn = [first() for _ in range(50)]
    assert drawn == [second() for _ in range(50)]
    assert len(set(drawn)) > 30
