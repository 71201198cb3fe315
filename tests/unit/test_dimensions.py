# SPDX-License-Identifier: MIT
"""Counts by dimension: exact totals for any division, and the tables of `show --by`."""

import itertools
import json

import fakelab
import pytest
from fakelab import written
from hypothesis import given, settings
from hypothesis import strategies as st

import p5lab
from p5lab.api import checkout
from p5lab.api import tables as api
from p5lab.describe import experiment
from p5lab.describe.observation import Observation, plugged
from p5lab.describe.request import Filter
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5stats import StatsError, dimensions
from p5stats.dimensions import DIMENSIONS, OBSERVERS, WHOLE_RUN

PHASE, CR3 = 0, 0x1000
FUNCTIONS = ["main", "sys_dup", "memcpy", "schedule"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The laboratory and the only run of the workload `call`, which has counts at its markers."""
    lab = fakelab.make(tmp_path_factory.mktemp("dimensions") / "lab")
    lab.behave()
    Runner(lab).run_all(experiment.load(lab, "tests"))
    (stored,) = (one for one in store.all_runs(lab) if one.record["workload"]["name"] == "call")
    return lab, stored


def marked(directory):
    """The counts of the phase `call` by ring and event, from the markers."""
    frame = dimensions.of_run(directory, OBSERVERS[0], ("ring",)).frame
    rows = frame[frame["phase"] == "call"]
    return {(row.ring, row.event): row.count for row in rows.itertuples(index=False)}


def events_of(banks):
    return sorted({event for _, event in banks if not event.startswith("vector.")})


def parts(draw, total, number):
    """Splits a count into `number` counts. A part can be negative."""
    own = [draw(st.integers(-5, total + 5)) for _ in range(number - 1)]
    return [*own, total - sum(own)]


def attribution(draw, banks):
    """The lines of a random attribution.jsonl with the same counts as the markers."""
    events = events_of(banks)
    lines = [{"type": "header", "schema_version": 1, "stacks": True, "events": events}]
    for number, name in enumerate(FUNCTIONS, 1):
        place = f"\ta.c:{number}" if draw(st.booleans()) else ""
        module = draw(st.sampled_from(["linux", "/bin/call"]))
        lines.append({"type": "function", "id": number, "name": name + place, "module": module})
    lines.append({"type": "entrance", "id": 1, "number": 41, "kind": "int", "vector": 128})
    nodes = draw(st.integers(2, 6))
    rings = [0, 3, *(draw(st.sampled_from([0, 3])) for _ in range(nodes - 2))]
    is_joint = draw(st.booleans())
    for number, ring in enumerate(rings, 1):
        node = {
            "type": "node",
            **(others(draw) if is_joint else {}),
            "id": number,
            "parent": draw(st.integers(0, number - 1)),
            "function": draw(st.integers(1, len(FUNCTIONS))),
            "cr3": draw(st.sampled_from([CR3, 2 * CR3])),
            "ring": ring,
            "entrance": draw(st.integers(0, 1)),
        }
        lines.append(node)
    counts = {number: [] for number in range(1, nodes + 1)}
    for event in events:
        for ring in (0, 3):
            own = [number for number, one in enumerate(rings, 1) if one == ring]
            split = parts(draw, banks.get((ring, event), 0), len(own))
            for number, count in zip(own, split, strict=True):
                counts[number].append(count)
    for number, own in counts.items():
        lines.append({"type": "counts", "phase": PHASE, "node": number, "counts": own})
    return [*lines, {"type": "end"}]


def others(draw):
    """The values of the observers of calls and modes; none beyond the engine's limit."""
    call = draw(st.sampled_from(["outside", "int:128:41", "hardware:48:", "gate::5"]))
    interval = draw(st.integers(0, 2))
    return draw(st.sampled_from([{}, {"call": call, "mode": "real", "interval": interval}]))


def joint(draw, banks):
    """The lines of random joint counts with the same counts as the markers."""
    events = events_of(banks)
    lines = [{"type": "header", "schema_version": 1, "events": events}]
    combinations = {tuple(others(draw).items()) for _ in range(3)}
    for ring in (0, 3):
        own = [parts(draw, banks.get((ring, event), 0), len(combinations)) for event in events]
        ticks = int(banks.get((ring, "vector.irq.48"), 0))
        for place, members in enumerate(sorted(combinations)):
            line = {"type": "joint", "phase": PHASE, "cr3": CR3, "ring": ring, **dict(members)}
            vectors = [["irq", 48, ticks]] if ticks and not place else []
            lines.append({**line, "counts": [one[place] for one in own], "vectors": vectors})
    return [*lines, {"type": "end"}]


def modes(draw, banks):
    """The lines of a random modes.jsonl with the same counts as the markers."""
    events = events_of(banks)
    lines = [{"type": "header", "schema_version": 1, "events": events}]
    names = draw(st.lists(st.sampled_from(["real", "v86", "prot32"]), min_size=1, unique=True))
    for ring in (0, 3):
        split = [parts(draw, banks.get((ring, event), 0), len(names)) for event in events]
        for place, name in enumerate(names):
            line = {"type": "mode", "phase": PHASE, "cr3": CR3, "ring": ring, "mode": name}
            ticks = banks.get((ring, "vector.irq.48"), 0)
            vectors = [["irq", 48, int(ticks)]] if ticks and not place else []
            lines.append({**line, "counts": [one[place] for one in split], "vectors": vectors})
    return [*lines, {"type": "end"}]


def calls(draw, banks):
    """The lines of a random calls.jsonl with the same cycles as the markers."""
    lines = [{"type": "header", "schema_version": 1, "events": ["cycles.busy", "calls"]}]
    for ring in (0, 3):
        known = ("outside", "int:128:41", "hardware:48:")
        split = parts(draw, banks.get((ring, "cycles.busy"), 0), len(known))
        for name, cycles in zip(known, split, strict=True):
            line = {"type": "call", "phase": PHASE, "cr3": CR3, "ring": ring, "call": name}
            lines.append({**line, "counts": [cycles, 2], "vectors": []})
    return [*lines, {"type": "end"}]


@settings(max_examples=12)
@given(data=st.data())
def test_the_sum_over_any_dimensions_is_the_count_at_the_markers(made, data):
    """For each observer and any two of its dimensions, and for each event that it counts."""
    directory = made[1].directory
    banks = {key: int(count) for key, count in marked(directory).items()}
    for lines in (attribution, modes, calls, joint):
        written(directory / f"{lines.__name__}.jsonl", lines(data.draw, banks))
    pair = data.draw(st.sets(st.sampled_from(sorted({*DIMENSIONS} - {"component"})), max_size=2))
    for observer in OBSERVERS:
        if not (directory / observer.file).exists() or not observer.has(pair):
            continue
        try:
            found = dimensions.of_run(directory, observer, sorted(pair))
        except dimensions.NotCounted as error:
            # No function has a source line, nothing counted misses by cause, and not each file has
            # joint counts.
            assert error.dimension in ("line", "evictions", "cause", *dimensions.OTHERS)
            continue
        rows = found.frame[found.frame["phase"] == "call"]
        sums = rows.groupby("event")["count"].sum()
        for event in found.events:
            if any(own == event for _, own in banks):  # not an event of this observer alone
                expected = sum(count for (_, own), count in banks.items() if own == event)
                assert sums.get(event, 0) == expected, (observer.what, pair, event)


def test_dimensions_that_exclude_each_other_are_named():
    assert dimensions.observers_of(["ring", "mode"])[0].what == "counts by mode"
    assert [one.what for one in dimensions.observers_of(["call", "mode"])] == [
        "joint counts",
        "joint counts by function",
    ]
    with pytest.raises(StatsError, match="call and part exclude each other"):
        dimensions.observers_of(["call", "part"])
    for one, other in itertools.combinations(DIMENSIONS, 2):
        try:
            assert dimensions.observers_of([one, other])
        except StatsError as error:
            assert one in str(error) and other in str(error)


@pytest.fixture
def stored(lab):
    """The only run of the workload `call`, with counts by function, mode and interval."""
    lab.behave()
    Runner(lab).run_all(experiment.load(lab, "tests"))
    (found,) = (one for one in store.all_runs(lab) if one.record["workload"]["name"] == "call")
    banks = {key: int(count) for key, count in marked(found.directory).items()}
    events = events_of(banks)
    lines = [
        {"type": "header", "schema_version": 1, "stacks": False, "events": events},
        {"type": "function", "id": 1, "name": "sys_dup", "module": "linux"},
        {"type": "function", "id": 2, "name": "main", "module": "/bin/call"},
    ]
    for number, ring in ((1, 0), (2, 3)):
        node = {"type": "node", "id": number, "parent": 0, "function": number, "cr3": CR3}
        counts = [banks.get((ring, event), 0) for event in events]
        lines.append({**node, "ring": ring, "entrance": 0})
        lines.append({"type": "counts", "phase": PHASE, "node": number, "counts": counts})
    written(found.directory / "attribution.jsonl", [*lines, {"type": "end"}])
    written(found.directory / "intervals.jsonl", fakelab.INTERVALS)
    return found


def test_show_by_divides_the_counts_of_one_operation(p5lab, stored):
    status, out, _ = p5lab("show", stored.id, "--by", "ring", "--json")
    assert status == 0
    rows = {(row["ring"], row["metric"]): row for row in json.loads(out)["rows"]}
    # Three brackets have 60 cycles each in ring 0, and 45, 55 and 65 in ring 3 (fakelab).
    assert rows["0", "busy cycles"]["value"] == 60
    assert rows["3", "busy cycles"]["value"] == 55
    assert rows["", "busy cycles"]["value"] == 115
    assert rows["3", "instructions"]["value"] == 24
    status, out, _ = p5lab("show", stored.id, "--by", "function", "--where", "ring=0")
    assert status == 0
    assert "sys_dup" in out and "main" not in out
    status, out, _ = p5lab("show", stored.id, "--by", "ring", "--per", "1000", "--json")
    rows = {(row["ring"], row["metric"]): row["value"] for row in json.loads(out)["rows"]}
    assert rows["", "instructions"] == pytest.approx(1000)
    assert rows["0", "busy cycles"] == pytest.approx(1000 * 60 / 44)


def test_show_by_component_and_by_interval(p5lab, stored):
    status, out, _ = p5lab("show", stored.id, "--by", "interval,component", "--json")
    assert status == 0
    rows = json.loads(out)["rows"]
    assert {row["phase"] for row in rows} == {WHOLE_RUN}
    values = {(row["interval"], row["component"]): row["value"] for row in rows}
    # The differences between the lines of fakelab.INTERVALS.
    assert values["0", "pairs"] == 20 + 30
    assert values["0", "code.l2"] == 40
    assert values["2", "pairs"] == 40
    assert values["", ""] == 90 + 50


def test_two_systems_stand_side_by_side(p5lab, lab, results_by_size, tmp_path):
    import shutil

    shutil.copytree(results_by_size, lab.results, dirs_exist_ok=True)
    status, out, _ = p5lab("show", "tests", "--only", "call*", "--by", "ring", "--json")
    assert status == 0
    rows = [row for row in json.loads(out)["rows"] if row["metric"] == "busy cycles"]
    by_ring = {}
    for row in rows:
        by_ring.setdefault(row["ring"], []).append(row)
    assert len(by_ring["3"]) == 3
    first = by_ring["3"][0]["value"]
    for row in by_ring["3"]:
        assert row["difference"] == pytest.approx(row["value"] - first)
        assert row["ratio"] == pytest.approx(row["value"] / first)
    assert {row["difference"] for row in by_ring["0"]} == {0}


def test_query_compare_and_plot_take_the_same_dimensions(p5lab, lab, results_by_size, tmp_path):
    import shutil

    shutil.copytree(results_by_size, lab.results, dirs_exist_ok=True)
    first, second, _ = [one.id for one in store.all_runs(lab, "tests") if is_call(one)]
    by = ("--by", "ring", "--metric", "cycles")
    rows = json.loads(p5lab("show", first, second, *by, "--json")[1])["rows"]
    assert json.loads(p5lab("compare", first, second, *by, "--json")[1])["rows"] == rows
    sql = "SELECT ring, system, value FROM divided ORDER BY ALL"
    found = json.loads(p5lab("query", sql, first, second, *by, "--json")[1])["rows"]
    assert len(found) == 4
    own = [{name: row[name] for name in ("ring", "system", "value")} for row in rows if row["ring"]]
    assert found == sorted(own, key=lambda row: (row["ring"], row["system"]))
    figure = tmp_path / "ring.svg"
    assert p5lab("plot", first, second, *by, "--output", str(figure))[0] == 0
    assert "busy cycles for one call" in figure.read_text()
    for words in (("query", sql, *by), ("query", sql, first), ("query", sql, "--where", "ring=0")):
        status, out, err = p5lab(*words)
        assert (status, out) == (2, "")
        assert "--by" in err
    status, _, err = p5lab("plot", first, *by, "--ratio", "--output", str(figure))
    assert status == 2
    assert "--ratio" in err
    two = ("--metric", "cycles,instructions", "--output", str(figure))
    assert "one number" in p5lab("plot", first, second, "--by", "ring", *two)[2]
    status, _, err = p5lab("plot", first, second, *two)
    assert status == 2 and "--ratio" in err
    assert p5lab("compare", first, first, second, *by)[2].count("\n") == 1
    for command in ("show", "compare"):
        status, out, err = p5lab(command, first, second, "--by", "ring", "--where", "guest=toy")
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert "--only" in err
    _, _, err = p5lab("compare", first, second, "--by", "ring", "--where", "nothing=toy")
    assert "--only" not in err
    status, _, err = p5lab("compare", first, second, "--top", "3")
    assert status == 2
    assert "--top" in err and "--by" in err


def is_call(one):
    return one.record["workload"]["name"] == "call"


def test_a_curve_shows_counts_over_intervals(stored, lab, monkeypatch):
    monkeypatch.setattr(checkout, "here", lambda: lab)
    table = p5lab.by(stored.id, "interval", metric="cycles")
    chart = p5lab.plot(table)
    assert sorted(chart.data["point"]) == [0, 1, 2][: len(table)]
    assert sorted(chart.data["value"]) == sorted(table["value"])
    most = p5lab.by(stored.id, "interval", metric="cycles", top=1)
    assert most["value"].sum() == table["value"].sum()
    with pytest.raises(p5lab.UserError, match="instructions"):
        p5lab.plot(table, "instructions")


def test_seeds_are_rows_or_a_mean(p5lab, lab, stored):
    lab.behave(events={"call": fakelab.call_events(more=6), "chase": fakelab.chase_events()})
    again = Filter(seeds=(1,), workloads=("call",))
    (second,) = Runner(lab).run_all(experiment.load(lab, "tests", again))

    def cycles(*words):
        words = ("show", stored.id, second.id, "--metric", "cycles", "--json", *words)
        rows = json.loads(p5lab(*words)[1])["rows"]
        return {row.get("seed", row.get("ring")): row["value"] for row in rows}

    by_seed, by_ring = cycles("--by", "seed"), cycles("--by", "ring")
    assert by_seed["0"] == 115 < by_seed["1"]
    assert by_ring[""] == (by_seed["0"] + by_seed["1"]) / 2
    assert cycles("--by", "ring", "--where", "seed=1")[""] == by_seed["1"]


def test_runs_of_an_experiment_without_the_counts_are_left_out_with_a_word(
    p5lab, lab, stored, monkeypatch
):
    others = {one.id for one in store.all_runs(lab)} - {stored.id}
    assert others
    status, out, err = p5lab("show", "tests", "--by", "function")
    assert status == 0
    assert "sys_dup" in out
    assert len(err.splitlines()) == 1
    assert all(one[:8] in err for one in others)
    status, out, err = p5lab("show", stored.id, *others, "--by", "function")
    assert (status, out) == (2, "")
    assert any(one in err for one in others)
    monkeypatch.setattr(checkout, "here", lambda: lab)
    with pytest.warns(UserWarning, match="function"):
        assert "sys_dup" in set(api.by("tests", "function")["function"])


def test_a_newer_run_without_the_counts_does_not_hide_them(p5lab, lab, stored):
    lab.behave(events={"call": fakelab.call_events(more=6), "chase": fakelab.chase_events()})
    calls = Filter(workloads=("call",), observation=Observation.of(plugged.KINDS["calls"]()))
    (newer,) = Runner(lab).run_all(experiment.load(lab, "tests", calls))
    assert newer.id != stored.id
    status, out, _ = p5lab("show", "tests", "--only", "call*", "--by", "function")
    assert status == 0
    assert "sys_dup" in out


def test_what_only_one_system_has_is_new_or_gone(p5lab, lab, stored):
    other = fakelab.call_events(more=7)
    lab.behave(events={"call": other, "chase": fakelab.chase_events()})
    changed = Filter(settings=(("l2.size", "64K"),), workloads=("call",))
    (done,) = Runner(lab).run_all(experiment.load(lab, "tests", changed))
    directory, second = done.directory, done.id
    text = (stored.directory / "attribution.jsonl").read_text()
    (directory / "attribution.jsonl").write_text(text.replace("sys_dup", "ksys_dup"))
    status, out, _ = p5lab("show", stored.id, second, "--by", "function")
    assert status == 0
    lines = {line.split()[0]: line for line in out.splitlines() if line.split()}
    assert "gone" in lines["sys_dup"]
    assert "new" in lines["ksys_dup"]
    assert "--map" not in out  # main is in both
    kernel = p5lab("show", stored.id, second, "--by", "function", "--where", "ring=0")[1]
    assert "no row in common" in kernel and "--map" in kernel
    names = lab.root / "names.toml"
    names.write_text('schema_version = 1\n[function]\nksys_dup = "sys_dup"\n')
    words = ("show", stored.id, second, "--by", "function", "--map", str(names))
    status, out, _ = p5lab(*words)
    assert status == 0
    assert "new" not in out and "gone" not in out
    status, out, err = p5lab("show", stored.id, second, "--by", "ring", "--map", str(names))
    assert (status, err.count("\n")) == (0, 1)
    assert "--map changes nothing" in err and "function" in err
    names.write_text('schema_version = 1\n[function]\nksys_dupp = "sys_dup"\n')
    status, _, err = p5lab(*words)
    assert status == 2
    assert "ksys_dupp" in err and "ksys_dup'" in err
    names.write_text('schema_version = 1\n[functions]\nksys_dup = "sys_dup"\n')
    status, _, err = p5lab(*words)
    assert status == 2
    assert "names.toml" in err and "functions" in err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--by", "funktion"), 2, ("funktion", "function")),
        (("--by", "call,part"), 2, ("call", "part", "exclude")),
        (("--by", "call,interval"), 2, ("run tests --by call,interval",)),
        (("--by", "mode"), 2, ("mode", "run tests --by mode")),
        (("--by", "line"), 2, ("line", "./p5lab run --program FILE --by line")),
        (("--by", "function,component"), 2, ("component", "--by function,component")),
        (("--by", "ring", "--where", "ring"), 2, ("--where", "ring=0")),
        (("--by", "ring", "--where", "rang=0"), 2, ("rang", "ring")),
        (("--by", "function", "--where", "function=sysdup"), 2, ("sysdup", "sys_dup")),
        (("--by", "component", "--metric", "instructions"), 2, ("component", "--metric cycles")),
        (("--by", "ring", "--metric", "cycels"), 2, ("cycels",)),
        (("--by", "ring", "--metric", "evictions"), 2, ("evictions", "busy cycles")),
        (("--by", "ring", "--map", "nowhere.toml"), 2, ("nowhere.toml",)),
        (("--where", "ring=0"), 2, ("--where", "--by")),
    ],
)
def test_a_wrong_question_is_one_line(p5lab, stored, words, status, said):
    done, out, err = p5lab("show", stored.id, *words)
    assert (done, out) == (status, "")
    assert len(err.splitlines()) == 1
    assert all(word in err for word in said)


def test_python_returns_the_same_rows(stored, lab, monkeypatch):
    monkeypatch.setattr(checkout, "here", lambda: lab)
    found = p5lab.by(stored.id, "ring", metric="cycles")
    assert dict(zip(found["ring"], found["value"], strict=True)) == {"0": 60, "3": 55}
    table = p5lab.load(stored.id)
    found = p5lab.by(table, ["function", "ring"], where={"ring": 0}, metric=["cycles", "cpi"])
    assert found["function"].unique().tolist() == ["sys_dup"]
    assert found["value"].tolist() == [60, 3]
    with pytest.raises(p5lab.UserError, match="funktion"):
        p5lab.by(table, "funktion")
