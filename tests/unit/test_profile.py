# SPDX-License-Identifier: MIT
"""`profile`: files for callgrind_annotate, speedscope and Perfetto, and the page in a browser."""

import json
import re
import shutil
import subprocess

import fakelab
import pytest
from fakelab import written
from test_crossings import Trace
from test_misses import bracket, miss
from test_misses import lines as trace_of

import p5lab as p5lab_functions
from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5stats import attribution, profiles

DUP = 41
CROSSINGS = Trace().mark("begin").call(DUP).cross("iret", ring=3).mark("end").lines
EVENTS = ["cycles.busy", "instructions", "cpi.pairs"]
HEADER = {"type": "header", "schema_version": 1, "stacks": True, "events": EVENTS}
# The counts of each path of functions, the outermost first; the last has a negative correction.
STACKS = {
    ("main",): [30, 10, 30],
    ("main", "sys_dup"): [100, 40, 100],
    ("main", "sys_dup", "memcpy"): [50, 20, 50],
    ("main", "sys_dup", "memcpy", "sys_dup"): [7, 3, 7],
    ("main", "(idle)"): [4, -2, 4],
}


def lines(stacks, phase=0):
    """The lines of attribution.jsonl with these counts."""
    numbers, found = {}, [HEADER]
    for name in dict.fromkeys(name for path in stacks for name in path):
        numbers[name] = len(numbers) + 1
        module = "/bin/call" if name == "main" else "linux"
        found.append({"type": "function", "id": numbers[name], "name": name, "module": module})
    nodes = {(): 0}
    for path, counts in stacks.items():
        for depth in range(1, len(path) + 1):
            if path[:depth] in nodes:
                continue
            nodes[path[:depth]] = len(nodes)
            found.append(
                {
                    "type": "node",
                    "id": nodes[path[:depth]],
                    "parent": nodes[path[: depth - 1]],
                    "function": numbers[path[depth - 1]],
                    "cr3": 4096,
                    "ring": 0,
                    "entrance": 0,
                }
            )
        found.append({"type": "counts", "phase": phase, "node": nodes[path], "counts": counts})
    return [*found, {"type": "end"}]


@pytest.fixture
def runs(lab):
    """Two runs of the workload `call`. In the second, sys_dup has more cycles, `memcpy` is gone and
    `schedule` is new."""
    found = []
    for size, more in (("256K", 0), ("64K", 9)):
        lab.behave(events={"call": fakelab.call_events(more=more)})
        changed = Filter(settings=(("l2.size", size),), workloads=("call",))
        (done,) = Runner(lab).run_all(experiment.load(lab, "tests", changed))
        found.append(next(one for one in store.all_runs(lab) if one.id == done.id))
    written(found[0].directory / "attribution.jsonl", lines(STACKS))
    after = {("main",): [30, 10, 30], ("main", "sys_dup"): [160, 50, 160]}
    after |= {("main", "schedule"): [20, 5, 20]}
    written(found[1].directory / "attribution.jsonl", lines(after))
    return found


def callgrind_costs(text):
    """The own costs of each function and the inclusive costs of each call, as the specification of
    the format says: a line with a cost after `calls=` is the cost of the call."""
    own, calls, names = {}, {}, {}
    in_call = False
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if line.startswith("#") or not line or re.match(r"[a-z]+: ", line):
            continue
        if equals and key in ("ob", "fl", "fn", "cob", "cfi", "cfn"):
            names[key] = value
        elif key == "calls":
            assert re.fullmatch(r"[1-9]\d* \d+", value)
            in_call = True
        else:
            place, *numbers = map(int, line.split())
            assert place >= 0 and min(numbers) >= 0
            if in_call:
                calls[names["fn"], names["cfn"]] = numbers
            else:
                own[names["fn"]] = [
                    a + b
                    for a, b in zip(own.get(names["fn"], [0] * len(numbers)), numbers, strict=True)
                ]
            in_call = False
    return own, calls


def test_callgrind_has_own_and_inclusive_costs(runs, p5lab, tmp_path):
    path = tmp_path / "callgrind.out.call"
    status, _, _ = p5lab("profile", runs[0].id, "--as", "callgrind", "--output", str(path))
    assert status == 0
    text = path.read_text()
    own, calls = callgrind_costs(text)
    assert own == {
        "main": [30, 10, 30],
        "sys_dup": [107, 43, 107],
        "memcpy": [50, 20, 50],
        "_(idle)": [4, 0, 4],  # the format has no negative numbers
    }
    assert calls["main", "sys_dup"] == [157, 63, 157]
    assert calls["sys_dup", "memcpy"] == [57, 23, 57]
    assert "events: cycles_busy instructions cpi_pairs\n" in text
    assert "totals: 191 73 191\n" in text
    assert "instructions is 71" in text


@pytest.mark.skipif(not shutil.which("callgrind_annotate"), reason="no callgrind_annotate")
def test_callgrind_annotate_reads_the_file(runs, p5lab, tmp_path):
    path = tmp_path / "callgrind.out.call"
    p5lab("profile", runs[0].id, "--as", "callgrind", "--output", str(path))
    words = ["callgrind_annotate", "--threshold=100", "--show=cycles_busy", "--show-percs=no", path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = {
        line.split()[1]: line.split()[0] for line in done.stdout.splitlines() if "linux:" in line
    }
    assert shown == {"linux:sys_dup": "107", "linux:memcpy": "50", "linux:_(idle)": "4"}
    assert re.search(r"191 +PROGRAM TOTALS", done.stdout)


def test_speedscope_has_the_same_counts(runs, p5lab, tmp_path):
    path = tmp_path / "out.json"
    words = ("--as", "speedscope", "--event", "cycles.busy", "--output", str(path))
    status, _, _ = p5lab("profile", runs[1].id, *words)
    assert status == 0
    (profile,) = json.loads(path.read_text())["profiles"]
    assert profile["endValue"] == sum(profile["weights"]) == 210


def test_a_trace_has_the_fields_of_its_format(runs, p5lab, tmp_path):
    """Trace Event Format: complete events (X) have ts and dur, counters (C) have numbers in args,
    and metadata (M) names a thread. Times are in microseconds."""
    written(runs[0].directory / "crossings.jsonl", CROSSINGS)
    written(runs[0].directory / "intervals.jsonl", fakelab.INTERVALS)
    begun = CROSSINGS[0]["tsc"]
    missed = miss(begun + 1, loaded=[0, begun - 9, 0x5000], lost=[1, begun - 5, 0x7000])
    written(runs[0].directory / "misses.jsonl", trace_of(bracket(begun, missed)))
    path = tmp_path / "trace.json"
    status, _, _ = p5lab("profile", runs[0].id, "--as", "trace", "--output", str(path))
    assert status == 0
    document = json.loads(path.read_text())
    assert document["displayTimeUnit"] in ("ms", "ns")
    threads, spans, counters = set(), [], []
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str) and event["pid"] == 1
        if event["ph"] == "M":
            threads.add(event["tid"])
        elif event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0 and event["tid"] in threads
            spans.append(event)
        else:
            assert event["ph"] == "C"
            assert all(isinstance(value, int) for value in event["args"].values())
            counters.append(event)
    begin, end = CROSSINGS[0]["tsc"], CROSSINGS[-1]["tsc"]
    assert min(one["ts"] for one in spans) == pytest.approx(begin * 1e6 / fakelab.CLOCK_HZ)
    assert max(one["ts"] + one["dur"] for one in spans) == pytest.approx(
        end * 1e6 / fakelab.CLOCK_HZ
    )
    missed = [one for one in spans if "lost_to" in one["args"]]
    assert [(one["name"], one["args"]["lost_to"]) for one in missed] == [("main", "sys_dup")]
    assert missed[0]["dur"] == pytest.approx(12e6 / fakelab.CLOCK_HZ)
    busy = [one["args"]["ring 0"] for one in counters if one["name"] == "cycles.busy"]
    assert busy == [60, 50]


def test_a_wrong_profile_is_one_line(runs, p5lab, tmp_path):
    for words, status, said in (
        ((runs[0].id, "--as", "trace"), 2, "--trace crossings"),
        ((runs[0].id, runs[1].id, "--as", "callgrind"), 2, "one run"),
        ((runs[0].id, "--event", "cpi"), 2, "speedscope"),
        ((runs[0].id, "--as", "speedscope", "--event", "cycels"), 2, "did you mean 'cycles.busy'"),
        ((runs[0].id, "--output", str(tmp_path / "no" / "page.html")), 2, "no; there is none"),
        ((runs[0].id, "--output", str(tmp_path)), 2, "expected a file; found a directory"),
    ):
        done, out, err = p5lab("profile", *words)
        assert (done, out, err.count("\n")) == (status, "", 1)
        assert said in err
    (runs[0].directory / "attribution.jsonl").unlink()
    done, _, err = p5lab("profile", runs[0].id)
    assert (done, "--by caller" in err) == (2, True)


def test_a_label_of_two_runs_is_their_difference(runs, p5lab, tmp_path):
    path = tmp_path / "page.html"
    for one in runs:
        assert p5lab("label", one.id, "both")[0] == 0
    assert p5lab("profile", "both", "--output", str(path))[0] == 0
    assert len(page_data(path)["systems"]) == 2
    status, _, err = p5lab("profile", "both", "--as", "callgrind")
    assert status == 2 and all(one.id[:8] in err for one in runs)
    status, out, _ = p5lab("show", "both", "--format", "csv")
    assert status == 0 and all(one.id in out for one in runs)


def test_an_experiment_without_the_counts_says_how_to_make_them(runs, p5lab):
    for one in runs:
        (one.directory / "attribution.jsonl").unlink()
    status, _, err = p5lab("profile", "tests")
    assert status == 2 and "run tests --by caller" in err and "no results" not in err


def page_data(path):
    text = path.read_text()
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def test_the_page_has_the_counts_of_both_runs(runs, p5lab, tmp_path):
    path = tmp_path / "page.html"
    status, _, _ = p5lab("profile", runs[0].id, runs[1].id, "--output", str(path))
    assert status == 0
    data = page_data(path)
    assert [one["divisors"] for one in data["systems"]] == [[3], [3]]  # three brackets
    (phase,) = data["phases"]
    cycles = [one["name"] for one in data["events"]].index("cycles.busy")
    self_counts = {}
    for name, parent, _, counts in phase["nodes"]:
        above = data["names"][phase["nodes"][parent][0]] if parent >= 0 else ""
        self_counts[above, data["names"][name]] = counts.get(str(cycles), [0, 0])
    assert self_counts["main", "sys_dup"] == [100, 160]
    assert self_counts["sys_dup", "memcpy"] == [50, 0]
    assert self_counts["main", "schedule"] == [0, 20]
    assert sum(one[0] for one in self_counts.values()) == 191
    assert sum(one[1] for one in self_counts.values()) == 210


def test_python_has_the_page_of_the_command(runs, here, p5lab, tmp_path):
    ids = [one.id for one in runs]
    found = p5lab_functions.profile(ids)
    page = tmp_path / "page.html"
    found.save(page)
    assert p5lab("profile", *ids, "--output", str(tmp_path / "other.html"))[0] == 0
    assert page.read_text() == (tmp_path / "other.html").read_text()
    assert found._repr_html_().startswith("<iframe") and len(repr(found)) < 100
    changed = Filter(settings=(("l2.size", "128K"),), workloads=("call",))
    (third,) = Runner(here).run_all(experiment.load(here, "tests", changed))
    with pytest.raises(UserError, match=r"expected one run, or two.*found 3"):
        p5lab_functions.profile([*ids, third.id])


def test_a_hostile_name_cannot_leave_the_page(runs, p5lab, tmp_path):
    evil = "</script><script>alert(1)</script>"
    written(runs[0].directory / "attribution.jsonl", lines({("main", evil): [1, 1, 1]}))
    path = tmp_path / "page.html"
    assert p5lab("profile", runs[0].id, "--output", str(path))[0] == 0
    assert path.read_text().count("<script") == 2
    assert evil in page_data(path)["names"]


def test_totals_of_callgrind_are_those_of_the_run(write_attribution):
    found = attribution.read(write_attribution(lines(STACKS)))
    text = profiles.callgrind(found, {0}, "a run\nof two lines")
    assert "cmd: a run of two lines\n" in text
    own, _ = callgrind_costs(text)
    assert sum(counts[0] for counts in own.values()) == sum(one[0] for one in STACKS.values())
