# SPDX-License-Identifier: MIT
"""Differences between runs, and reruns from their records."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fakelab import call_events
from rich.console import Console
from test_runner import CALL, execute

from p5lab.describe import experiment
from p5lab.describe.machine import parse_settings
from p5lab.describe.observation import BlockVectors, Observation, Sample, SampledInterval, Trace
from p5lab.describe.request import Filter
from p5lab.execute.runner import Runner
from p5lab.files import digest_of
from p5lab.keep import store
from p5lab.prepare import rerun
from p5lab.present import diff, diff_tables
from p5lab.present.headline import LINES

LARGE = Filter(workloads=("call",), settings=(("l2.size", "512K"),))


def _again(lab, name):
    stored = store.find(lab, name)
    return rerun.run_of(lab, stored.record, stored.id)


@pytest.fixture
def two(lab):
    """Returns a run of the unchanged machine, and a run with another cache. With that cache, each
    call takes 50 more cycles in ring 3.
    """
    (first,) = execute(lab)
    lab.behave(events={"call": call_events(more=50)})
    (second,) = execute(lab, LARGE)
    assert (first.status, second.status) == ("ok", "ok")
    return first.id, second.id


def test_only_what_differs_is_shown(lab, two):
    found = diff.between([store.find(lab, run) for run in two])
    assert [(one.what, one.values) for one in found.made] == [("l2.size", ("262144", "524288"))]
    (cycles,) = found.counted
    assert (cycles.phase, cycles.ring, cycles.event) == ("call", "all", "cycles.busy")
    # In the first run, the three brackets take 105, 115 and 125 cycles and 44 instructions each.
    # The command does not subtract the 5 cycles of an empty bracket.
    assert cycles.values == (115, 165)
    assert cycles.ratio == (1, 165 / 115)
    assert cycles.per_1000 == pytest.approx((1000 * 115 / 44, 1000 * 165 / 44))


def test_each_ring_for_itself(lab, two):
    found = diff.between([store.find(lab, run) for run in two], rings=True)
    (cycles,) = found.counted
    assert (cycles.ring, cycles.values) == ("3", (55, 105))
    assert cycles.per_1000[0] == 1000 * 55 / 24


def test_every_form(p5lab, two):
    status, out, err = p5lab("diff", *two)
    assert (status, err) == (0, "")
    assert any(line.split() == ["l2.size", "256K", "512K"] for line in out.splitlines())
    assert "--all-rows" in out
    more = p5lab("diff", *two, "--all-rows")[1]
    assert "1000 instr." in more and "1000 instr." not in out
    assert "cycles.busy" in out and "data_reads" not in out
    found = json.loads(p5lab("diff", *two, "--format", "json")[1])
    assert found["made_of"] == [{"what": "l2.size", "values": ["262144", "524288"]}]
    assert [run["run"] for run in found["runs"]] == list(two)
    rows = list(csv.DictReader(io.StringIO(p5lab("diff", *two, "--format", "csv")[1])))
    assert [(row["run"], row["value"]) for row in rows] == [(two[0], "115.0"), (two[1], "165.0")]
    assert "| cycles.busy | 115 | 165 | 1.43 |" in p5lab("diff", *two, "--format", "markdown")[1]


# --- the tables -----------------------------------------------------------------------------------

NAMES = ("1a2b3c4d00000000", "5e6f7a8b00000000", "9c0d1e2f00000000", "0a1b2c3d00000000")
LONG_FILE = "file guests/linux/kernel-image-with-a-long-name/arch/x86/boot/bzImage.compressed"
COUNTS = {  # of the first and of the second run
    "data_reads": (81_234, 82_345),
    "hw.rare": (0.02, 0.2),  # ten times as often, but far less than once in a bracket
    "l2_read_misses": (12_986, 1_204),
    "instructions": (82_955, 83_000),
    "stall.read": (41_143, 107),
    "crossings.int": (1, 7),
    "branches.taken_or_btb_hit": (9_000, 9_001),
    "cycles.busy": (480_156, 470_001),
}
ORDER = [
    "cycles.busy",
    "instructions",
    "l2_read_misses",
    "crossings.int",
    "data_reads",
    "stall.read",
    "hw.rare",
    "branches.taken_or_btb_hit",
]


def counted(phase, event, values):
    ratios = tuple(value / values[0] for value in values)
    return diff.EventDifference(phase, "all", event, "events", values, ratios, values)


def difference(runs=2, phases=("exec",), inputs=3, further=0):
    """Returns a difference between runs: `inputs` machine keys, a file with a long name, and the
    events of COUNTS and `further` events in each phase."""
    stored = tuple(
        store.Stored(Path(name), {"label": f"exec-static, linux, p90-premiere2, seed {number}"})
        for number, name in enumerate(NAMES[:runs])
    )
    made = [
        diff.InputDifference(f"dram.page_miss_{number}", tuple(str(one) for one in range(runs)))
        for number in range(inputs)
    ]
    made.append(
        diff.InputDifference(LONG_FILE, tuple("0123456789ab" for _ in stored), chosen=False)
    )
    events = {**COUNTS, **{f"vector.irq.{number}": (100, 99) for number in range(further)}}
    counts = [
        counted(phase, event, (first, *([second] * (runs - 1))))
        for phase in phases
        for event, (first, second) in events.items()
    ]
    return diff.Difference(stored, made, counts)


def printed(found, **options):
    """Returns the lines of the table in a terminal of 80 characters."""
    console = Console(width=80, file=io.StringIO())
    diff_tables.show(console, found, "table", **options)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    return lines


def events_of(lines):
    words = [line.split()[0] for line in lines if line.strip()]
    return [word for word in words if word in COUNTS]


def test_the_most_important_differences_stand_first():
    lines = printed(difference())
    assert events_of(lines) == ORDER
    assert len(lines) <= 30
    said = " ".join(" ".join(lines).split())
    assert "`run` and `show` subtract the empty bracket (the cost of the markers); this" in said
    cycles = next(line for line in lines if "cycles.busy" in line)
    assert cycles.split() == ["cycles.busy", "480,156", "470,001", "0.98"]
    # The input that the user chose is shown. The file follows from it.
    assert any(line.split() == ["dram.page_miss_0", "0", "1"] for line in lines)
    assert "bzImage" not in " ".join(lines)
    assert "Shown: 3 of 4 inputs that differ, 8 of 8 counts that differ." in " ".join(lines)


@pytest.mark.parametrize("runs", [2, 3, 4])
@pytest.mark.parametrize("phases", [1, 2, 5, 40])
def test_a_large_difference_fits_on_a_screen(runs, phases):
    names = [f"phase-{number}" for number in range(phases)]
    lines = printed(difference(runs, names, inputs=60, further=90))
    assert len(lines) + diff_tables.RESERVED <= LINES
    total = phases * (len(COUNTS) + 90)
    text = " ".join(" ".join(lines).split())
    found = re.search(rf"(\d+) of 61 inputs that differ, (\d+) of {total} counts that differ", text)
    assert int(found[1]) == 8
    ids = " ".join(name[:8] for name in NAMES[:runs])
    assert text.endswith(f"Everything, also per 1000 instructions: ./p5lab diff {ids} --all-rows")
    shown = int(found[2])
    events = sum("cycles.busy" in line or " vector." in line for line in lines)
    events += sum(word in COUNTS and word != "cycles.busy" for word in events_of(lines))
    assert shown == events >= min(phases, diff_tables.FEWEST)


def test_phases_have_rows_of_their_own_while_there_is_room():
    lines = printed(difference(phases=("small", "large"), further=90))
    places = [number for number, line in enumerate(lines) if line.strip() in ("small", "large")]
    assert len(places) == 2
    for place in places:
        assert lines[place + 1].split()[0] == "cycles.busy"
        assert lines[place + 2].split()[0] == "instructions"


def test_the_phase_that_changed_most_is_the_first():
    found = difference(phases=[f"{size} KB" for size in range(1, 50)])
    grown = counted("31 KB", "cycles.busy", (100.0, 800.0))
    found = replace(found, counted=[*found.counted, grown])
    rows = [line for line in printed(found) if "KB: cycles.busy" in line]
    assert rows[0].split() == ["31", "KB:", "cycles.busy", "100", "800", "8.00"]


def test_everything_on_demand_divides_no_word():
    found = difference(further=90)
    lines = printed(found, all_rows=True)
    assert sum("vector.irq." in line for line in lines) == 2 * 90  # counts, and per 1000
    assert any("1000 instr." in line for line in lines)
    assert not any("Shown:" in line for line in lines)
    place = next(number for number, line in enumerate(lines) if line.startswith("  file guests"))
    pieces = [LONG_FILE[5:]]
    while pieces[-1]:
        piece = lines[place].removeprefix("  file ").split()[0]
        assert pieces[-1].startswith(piece)
        pieces[-1:] = [piece, pieces[-1][len(piece) :]]
        place += 1
    assert len(pieces) > 2
    assert all(piece[-1] in "/,=._-" for piece in pieces[:-2])


def test_equal_counts_are_said():
    found = replace(difference(), counted=[])
    text = " ".join(printed(found))
    assert "All counts are equal." in text
    assert "3 of 4 inputs" in text


def test_an_event_that_one_run_lacks(lab, two):
    stored = [store.find(lab, run) for run in two]
    path = stored[1].directory / store.COUNTS
    frame, clock_hz = diff.tidy.read(path)
    diff.tidy.write(path, frame[frame["event"] != "segment_loads"], clock_hz=clock_hz)
    digests = {**stored[1].record["digests"], store.COUNTS: digest_of(path)}
    store.write(stored[1].directory, {**stored[1].record, "digests": digests})
    lacking = [one for one in diff.between(stored).counted if one.event == "segment_loads"]
    assert [str(value) for value in lacking[0].values] == ["0.0", "nan"]


def test_runs_without_counts_and_too_few_runs(lab, p5lab):
    (good,) = execute(lab)
    lab.behave(exit=3)
    (bad,) = execute(lab, LARGE)
    status, out, err = p5lab("diff", good.id, bad.id)
    assert (status, out) == (2, "")
    assert f"run {bad.id} is failed and has no counts" in err
    assert p5lab("diff", good.id, good.id[:6])[0] == 2


@pytest.mark.parametrize(
    "choice",
    [
        CALL,
        LARGE,
        Filter(workloads=("chase",), seeds=(3,)),
        Filter(
            workloads=("call",),
            feedback=False,
            observation=Observation.of(Trace(("crossings",))),
        ),
        Filter(workloads=("call",), model=False),
        Filter(workloads=("call",), observation=Observation.of(BlockVectors(5000))),
    ],
)
def test_a_record_gives_its_run_again(lab, choice):
    (result,) = execute(lab, choice)
    assert _again(lab, result.id) == result.run


def test_a_sample_is_run_again_too(lab):
    (run,) = experiment.load(lab, "tests", CALL)
    sample = Sample((SampledInterval(3, 30, 40, 100),), 5, "3 0\n", "1 0\n")
    asked = replace(run, observation=Observation.of(sample))
    (result,) = Runner(lab).run_all([asked])
    assert (result.status, result.reason) == (
        "failed",
        "interval 3 was not simulated: the run ended before the interval began",
    )
    stored = store.find(lab, result.id)
    assert (stored.directory / "simpoint.simpoints").read_text() == "3 0\n"
    assert rerun.run_of(lab, stored.record, stored.id) == asked


def test_shadows_are_run_again_too(lab):
    path = lab.experiments / "tests.toml"
    text = path.read_text().replace('title = "tests"', 'title = "tests"\nevents = "misses"')
    path.write_text(text + '[[sweep]]\ngrid = { l2.size = ["512K"] }\n')
    (run,) = experiment.load(lab, "tests", CALL)
    (result,) = execute(lab)
    again = _again(lab, result.id)
    assert (again.shadows, again.job) == (run.shadows, run.job)


def test_rerun_is_the_same_run(lab, p5lab):
    (result,) = execute(lab)
    status, out, err = p5lab("rerun", result.id[:8], "--no-build")
    assert (status, out) == (0, "")
    assert f"Run {result.id}: the events are the same again." in err
    assert len(lab.starts()) == 2


def test_rerun_fails_when_the_events_differ(lab, p5lab):
    (result,) = execute(lab)
    lab.behave(events={"call": call_events(more=1)})
    status, _out, err = p5lab("rerun", result.id, "--no-build")
    assert status == 1
    assert "not repeatable" in err


def test_rerun_with_another_engine_is_another_run(lab, p5lab):
    (result,) = execute(lab)
    lab.engine.write_text(lab.engine.read_text() + "# changed\n")
    lab.behave(events={"call": call_events(more=1)})
    status, out, err = p5lab("rerun", result.id, "--no-build")
    assert status == 0
    assert "the inputs of the run have changed" in err
    assert "file engine" in out and "cycles.busy" in out


def test_machine_keys_that_changed_since_are_set_to_what_they_were(lab):
    (result,) = execute(lab)
    path = lab.machines / "p90-premiere2.toml"
    text = path.read_text()
    assert text.count("page_miss = ") == 1
    line = next(line for line in text.splitlines() if line.startswith("page_miss = "))
    value = int(line.split()[2])
    path.write_text(text.replace(line, line.replace(str(value), str(value + 1), 1)))
    again = _again(lab, result.id)
    assert again.machine.overlay == parse_settings([f"dram.page_miss={value}"])


def test_what_cannot_be_run_again_says_why(lab, p5lab):
    (result,) = execute(lab)
    record = store.read(result.directory)
    for change, message in (
        ({"request": None}, "recorded by an older p5lab"),
        ({"engine": "native"}, "measured this host"),
        ({"experiment": "program"}, "a program of your own"),
        ({"workload": {**record["workload"], "name": "cal"}}, "unknown workload 'cal'"),
    ):
        store.write(result.directory, {**record, **change})
        status, out, err = p5lab("rerun", result.id, "--no-build")
        assert (status, out) == (2, "")
        assert message in err


@pytest.mark.parametrize(
    ("kind", "file", "source"),
    [
        ("machine", "machines/own.toml", "configs/machines/p90-premiere2.toml"),
        ("guest", "guests/own/guest.toml", "guest-images/toy/guest.toml"),
    ],
)
def test_a_description_of_a_directory_of_p5lab_path_is_missed_by_name(
    lab, p5lab, tmp_path, kind, file, source
):
    place = tmp_path / "mine"
    (place / file).parent.mkdir(parents=True)
    text = (lab.root / source).read_text()
    (place / file).write_text(re.sub(r'(?m)^name = ".*"', 'name = "own"', text))
    lab._put("build/workloads/own/call", "call")
    theirs = replace(lab, path=(place,))
    asked = experiment.load(theirs, "tests", replace(CALL, **{f"{kind}s": ("own",)}))
    (result,) = Runner(theirs).run_all(asked)
    assert _again(theirs, result.id) == result.run
    status, _, err = p5lab("rerun", result.id, "--no-build")
    assert status == 2
    assert f"{kind} own came from a directory of P5LAB_PATH: expected P5LAB_PATH={place}\n" in err
    (place / file).unlink()
    err = p5lab("rerun", result.id, "--no-build")[2]
    assert f"P5LAB_PATH={place}, but there is no {place / file} now" in err
