# SPDX-License-Identifier: MIT
"""The declarations in engine/: expressions, keys, rules, policies, events, files of a run."""

import os
import shutil
import subprocess
import sys

import pytest
from fakelab import REPO

from p5lab.describe import declarations, keys, machine, media, observation, outputs
from p5lab.describe.expressions import Expression, Template, mean_seek
from p5lab.engines.bochs.engine import Bochs
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5stats import StatsError, declared, metrics

ENGINE = REPO / "engine"
SOURCES = ("*/*.toml", "devices/*/device.toml", "p5/replacement/*/policy.toml")


@pytest.fixture
def engine(tmp_path):
    """Returns a copy of all declarations, which a test can change."""
    for pattern in SOURCES:
        for path in ENGINE.glob(pattern):
            to = tmp_path / "engine" / path.relative_to(ENGINE)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
    shutil.copytree(REPO / "configs/disks", tmp_path / "configs/disks")
    return tmp_path / "engine"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("l1d.size % (l1d.ways * 32) == 0", True),
        ("l1d.size // 1000", 8),
        ("l1d.size / 16384", 0.5),
        ("not l2.present or l1d.ways > 4", False),
        ("l1d.ways != 2 or power_of_two(l1d.size)", True),
        ("-l1d.ways + 3", 1),
        ("l1d.replacement == 'lru' and beats(l2.read) == 4", True),
        ("cylinders(disk.zones)", 702),
        ("abs(1 - 3) + round(2.6)", 5),
        ("net.remote.cpu_us_per_kb", 50.0),
    ],
)
def test_expressions(text, value):
    values = {
        "l1d.size": 8192,
        "l1d.ways": 2,
        "l1d.replacement": "lru",
        "l2.present": True,
        "l2.read": "3-2-2-2",
        "disk.zones": "351x130,351x126",
        "net.remote.cpu_us_per_kb": 50.0,
    }
    expression = Expression.parse(text, "test")
    assert expression.value(values) == value
    assert set(expression.keys) <= set(values)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "l1d.size ** 2",
        "[1]",
        "1 < l1d.ways < 3",
        "f(1)",
        "(lambda: 1)()",
        "l1d['size']",
        "round(number=1)",
        "1 if l2.present else 2",
        "l1d.size ==",
        "None",
        "f'{1}'",
        "'a'.size",
    ],
)
def test_expressions_have_nothing_else_of_python(text):
    with pytest.raises(UserError, match=r"^test: .*(not allowed|not an expression)"):
        Expression.parse(text, "test")


def test_texts_with_expressions():
    text = Template.parse("{l1d.ways} ways of {l1d.size // 2} bytes, {l1d.ways / 3}", "test")
    values = {"l1d.ways": 2, "l1d.size": 8192}
    shown = text.fill(values, lambda name, value: f"{name}={value}")
    assert shown == "l1d.ways=2 ways of 4096 bytes, 0.667"


def test_a_mean_seek_is_the_engines():
    """tests/engine/config_test.cc has the same numbers as limits of the seek curve."""
    assert mean_seek("300x100,300x80", 200, 1, 18, 1) == pytest.approx(3.5290299)
    assert mean_seek("300x100,300x80", 200, 1, 18, 18) == pytest.approx(14.364825)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["l1d.ways=16", "l1d.replacement=plru"],
            "--set: l1d.ways = 16: expected 1, 2, 4 or 8 with replacement plru (a tree of bits)",
        ),
        (
            ["btb.ways=3"],
            "--set: btb.entries = 256: expected 3 ways x a power of two; for example 192 or 384"
            " with btb.ways = 3",
        ),
        (
            ["l1d.ways=3"],
            "--set: l1d.size = 8K: expected 3 ways x 32 bytes x a power of two; for example 6K or"
            " 12K with l1d.ways = 3 and l1d.line = 32",
        ),
        (
            ["cpu.clock_mhz=133"],
            "--set: cpu.clock_mhz = 133: expected 1, 1.5, 2, ... times cpu.bus_mhz; found 2.22"
            " times; for example 120 or 150 with cpu.bus_mhz = 60",
        ),
        (
            ["dram.page=3000"],
            "--set: dram.page = 3000: expected a power of two; for example 2K or 4K",
        ),
        (
            ["l1i.line=64", "l1d.line=64", "l2.line=64"],
            "--set: l2.read = 4-2-2-2: expected 8 transfers of 8 bytes for a line of 64 bytes",
        ),
        (
            ["itlb.entries=33"],
            "--set: itlb.entries = 33: expected 4 ways x a power of two; for example 32 or 64 with"
            " itlb.ways = 4",
        ),
        (
            ["l1d.line=24"],
            "--set: l1d.line = 24: expected a power of two; for example 16 or 32",
        ),
        (
            ["disk.count=16"],
            "--set: disk.count = 16: expected at most 15 disks for each adapter of disk.adapters",
        ),
        (
            ["disk.segments=16", "disk.buffer=4K"],
            "--set: disk.segments = 16: expected at most one segment for each sector of 512 bytes"
            " in disk.buffer",
        ),
        (
            ["disk.write_seek_single_ms=0.5"],
            "--set: disk.write_seek_single_ms = 0.5: expected at least disk.read_seek_single_ms",
        ),
        (
            ["disk.seek_knee=3509"],
            "--set: disk.seek_knee = 3509: expected at most the number of cylinders minus 2, 3508",
        ),
        (
            ["disk.seek_knee=3000", "disk.read_seek_average_ms=16.5"],
            "--set: disk.seek_knee = 3000: expected another knee: with this knee no curve of seek"
            " times contains disk.read_seek_single_ms, _average_ms and _full_ms",
        ),
    ],
)
def test_a_rule_between_keys_says_what_fits(settings, message):
    p90 = machine.load(REPO / "configs/machines", "p90-premiere2")
    with pytest.raises(UserError) as caught:
        p90.with_set(machine.parse_settings(settings), "--set")
    assert str(caught.value) == message


def test_a_constraint_is_checked_with_nothing_built(tmp_path):
    """The check runs in a copy of the sources, in an interpreter without a build directory."""
    for name in ("src", "stats-parsers", "engine", "configs", "guest-images", "workloads"):
        shutil.copytree(REPO / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}/src:{tmp_path}/stats-parsers"}

    words = [
        ["run", "smoke", "--set", "btb.ways=3"],
        ["keys", "--markdown"],
        ["completion", "bash"],
    ]
    program = f"from p5lab.cli.main import main\nprint([main(words) for words in {words}])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.startswith("p5lab: --set: btb.entries = 256: expected 3 ways x a power")
    assert done.stderr.count("\n") == 1
    assert "`btb.ways`" in done.stdout
    assert "l1d.replacement=" in done.stdout
    assert done.stdout.endswith("[2, 0, 0]\n")
    assert not (tmp_path / "build").exists()


def test_a_policy_is_a_directory(engine):
    (engine / "p5/replacement/mru").mkdir()
    (engine / "p5/replacement/mru/policy.toml").write_text(
        'schema_version = 1\ndoc = "most recent first"\nsource = "choice: a test"\n'
        'holds = "ways > 1"\nexpected = "at least 2"\n'
    )
    parts = declarations.parts(engine)
    key = next(key for part in parts for key in part.keys if key.name == "l1d.replacement")
    assert key.parse("mru") == "mru"
    rule = next(
        rule
        for part in parts
        for rule in part.rules
        if rule.key == "l1d.ways" and "'mru'" in rule.holds.text
    )
    assert not rule.holds.value({"l1d.replacement": "mru", "l1d.ways": 1})
    assert rule.holds.value({"l1d.replacement": "mru", "l1d.ways": 2})
    assert rule.holds.value({"l1d.replacement": "lru", "l1d.ways": 1})


def test_a_device_is_a_directory(engine):
    (engine / "devices/clock").mkdir()
    (engine / "devices/clock/device.toml").write_text(
        'schema_version = 1\ntitle = "A clock"\npresent = ["clock.on"]\n[keys]\n'
        '"clock.on" = { kind = "flag", default = false, doc = "whether there is one" }\n[events]\n'
        '"clock.ticks" = { enum = "ClockTicks", depends = "clocks", counts = "ticks" }\n'
    )
    part = next(part for part in declarations.parts(engine) if part.name == "clock")
    assert part.keys[0].default is False
    assert part.in_machine({"clock.on": True})
    assert not part.in_machine({"clock.on": False})
    events = list(declared.events(engine))
    # The numbers of existing events do not change.
    assert events[: len(declared.events())] == list(declared.events())
    assert events[-1] == "clock.ticks"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("p5/keys.toml", 'kind = "flag"', 'kind = "flog"', "expected .*found 'flog'"),
        ("p5/keys.toml", 'holds = "l1i.line ==', 'holds = "l1i.lime ==', "unknown machine key"),
        ("p5/keys.toml", 'key = "l1i.line"', 'key = "l1i.lime"', "unknown machine key 'l1i.lime'"),
        ("p5/keys.toml", "{l1d.line // 8}", "{l1d.line ** 8}", "not allowed in an expression"),
        ("p5/keys.toml", '"btb.ways" = {', '"btb.ways" = { colour = 1,', "unknown key 'colour'"),
        ("devices/scsi/device.toml", '["disk.count",', '["disk.heads",', "a default 'disk.heads'"),
        ("devices/scsi/device.toml", "default = 0", "default = 99", "default: expected a whole"),
        ("devices/scsi/device.toml", '"disk.heads"', '"l2.ways"', "l2.ways is also declared in"),
        ("p5/replacement/plru/policy.toml", "source", "sauce", "unknown key 'sauce'"),
    ],
)
def test_wrong_declarations_say_file_and_key(engine, file, old, new, message):
    edit(engine / file, old, new)
    with pytest.raises(UserError, match=message) as caught:
        declarations.parts(engine)
    assert str(engine) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('enum = "DataReads"', 'enum = "DataWrites"', "a name and an enum of its own"),
        ('depends = "program"', 'depends = "weather"', "depends: expected one of program"),
        ("counts =", "count =", "unknown key 'count'"),
        ('enum = "Flops", ', "", "enum is missing"),
        ("codes = [0x16]", "codes = 0x16", "codes: expected a list, found 22"),
    ],
)
def test_wrong_events_say_file_and_event(engine, old, new, message):
    edit(engine / "p5/events.toml", old, new)
    with pytest.raises(StatsError, match=message):
        declared.events(engine)


def test_an_event_with_a_row_is_in_reports(monkeypatch):
    event = declared.Event(
        "l3_misses", "L3Misses", "p5", "reads", report="L3", report_unit="misses"
    )
    events = {**declared.events(), "l3_misses": event}
    monkeypatch.setattr(metrics, "events", lambda: events)
    metrics.metrics.cache_clear()
    try:
        shown = metrics.evaluate({"l3_misses": 8}, 2, 1, None)
    finally:
        metrics.metrics.cache_clear()
    assert shown["L3"] == 4
    assert list(shown)[-1] == "L3"


def test_events_are_those_of_the_engine_before():
    """Existing files events.jsonl contain the names of the events in this order. Therefore the
    names and the order must not change. An event that an option requests is not in them.
    """
    events = {name: event for name, event in declared.events().items() if not event.when}
    assert len(events) == 87
    assert list(events)[:3] == ["cycles.busy", "cycles.idle", "instructions"]
    assert list(events)[64] == "mode_changes.64bit"
    assert list(events)[65:68] == ["newer.instructions", "newer.cycles", "disk.reads"]
    assert list(events)[-1] == "net.remote_busy"
    shadowed = [event.name for event in declared.of_geometries()]
    assert shadowed[4:7] == ["code_misses", "uncached_reads", "itlb_misses"]
    assert len(shadowed) == 16


def test_every_output_has_one_name():
    files = [output.file for output in outputs.here().values()]
    assert len(files) == len(set(files))
    assert outputs.here()["events"].file == "events.jsonl"
    assert "| `wire.pcap` | with `--pcap` |" in outputs.reference()


def test_the_engine_leaves_what_is_declared():
    assert sorted(Bochs.outputs) == sorted(one.file for one in outputs.here().values())
    asked = {one.file: one.when for one in outputs.here().values() if one.when}
    kinds = {name: kind.option for kind in observation.KINDS for name in kind.outputs}
    changed = {f"{role}.img" for role in (*media.FLOPPIES, *media.DISKS)}
    of_media = {"screen.txt", "screen.png", "steps.txt", "state.zip", *changed}
    assert asked.keys() - kinds.keys() == of_media
    assert kinds == {file: when.split()[0] for file, when in asked.items() if file in kinds}
    lines = Lab.here().bochsrc.read_text().splitlines()
    assert f"com1: enabled=1, mode=file, dev={outputs.file('serial')}" in lines
    assert f"log: {outputs.file('log')}" in lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'base = "p90-premier"',
            "variant.toml:2: base: unknown machine 'p90-premier'; did you mean 'p90-premiere2'",
        ),
        ('base = "variant"', "base: 'variant' is itself a variant of 'variant'"),
        ("base = 90", "variant.toml:2: base: expected a text in quotes"),
        ('base = "p90-premiere2"\nl2.size = "300K" # choice', "l2.size = 300K: expected 1 way x"),
        ('base = "p90-premiere2"\nl2.size = "1M"', r"variant.toml:\d: l2.size has no source"),
        ('base = "p90-premiere2"\nl2.sise = "1M" # choice', "unknown machine key 'l2.sise'"),
    ],
)
def test_wrong_variants_say_what(tmp_path, text, message):
    names = 'machine.name = "variant"\nmachine.title = "x"\n'
    (tmp_path / "variant.toml").write_text(f"schema_version = 1\n{text}\n{names}")
    with pytest.raises(UserError, match=message):
        machine.load(tmp_path, "variant")


def test_a_variant_has_its_base_but_for_what_it_gives(tmp_path):
    (tmp_path / "variant.toml").write_text(
        'schema_version = 1\nbase = "p90-premiere2"\n[machine]\nname = "variant"\n'
        'title = "Another"\n[l2]\nsize = "1M"  # choice: a test\n'
        '[disk]\nmodel = "st15150"  # choice\n'
    )
    base = machine.load(REPO / "configs/machines", "p90-premiere2")
    variant = machine.load(tmp_path, "variant")
    assert variant.values["l2.size"] == 1 << 20
    assert variant.sources["l2.size"] == "choice: a test"
    assert variant.sources["l2.ways"] == base.sources["l2.ways"]
    differs = {name for name, value in variant.values.items() if base.values[name] != value}
    given = {key.name for key in keys.KEYS if key.given_by}
    assert differs - given == {"machine.name", "machine.title", "l2.size", "disk.model"}
    assert variant.values["disk.heads"] == 21


def test_a_variant_has_a_name_of_its_own(tmp_path):
    (tmp_path / "variant.toml").write_text('schema_version = 1\nbase = "p90-premiere2"\n')
    with pytest.raises(UserError, match=r"variant\.toml: missing key machine\.name"):
        machine.load(tmp_path, "variant")


def test_a_machine_need_not_name_devices_that_it_does_not_have(tmp_path):
    text = (REPO / "configs/machines/p90-premiere2.toml").read_text()
    text = text[: text.index("[disk]")] + text[text.index("[devices]") :]
    (tmp_path / "p90-premiere2.toml").write_text(text)
    found = machine.load(tmp_path, "p90-premiere2")
    assert found.values["disk.count"] == 0
    assert found.values["net.card"] == "none"
    assert found.sources["net.card"] == "default of engine/devices/ne2000/device.toml"
    assert [part.name for part in keys.PARTS if not part.in_machine(found.values)] == [
        "scsi",
        "ne2000",
        "floppy",
    ]
