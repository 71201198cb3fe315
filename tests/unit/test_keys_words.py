# SPDX-License-Identifier: MIT
"""`keys` finds keys by the words of the field, and shows values and ranges. `help run` is in
groups."""

import pytest

from p5lab.cli import main as cli
from p5lab.cli import parser
from p5lab.cli.commands import run
from p5lab.describe import keys


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("colour", "l2.ways"),
        ("page colouring", "l2.size"),
        ("color", "l2.size"),
        ("associativity", "l1d.ways"),
        ("write-allocate", "l2.write_allocate"),
        ("write allocation", "l1d.write_allocate"),
        ("no-write-allocate", "l2.write_allocate"),
        ("write-back", "l2.write_policy"),
        ("bus speed", "cpu.bus_mhz"),
        ("clock rate", "cpu.clock_mhz"),
        ("Prefetch", "fetch.ahead"),
        ("line size", "l1d.line"),
        ("cache line", "l2.line"),
        ("page size", "dtlb.entries"),
        ("replacement", "l2.replacement"),
        ("eviction", "l2.replacement"),
        ("LRU", "l1i.replacement"),
        ("memory latency", "dram.read"),
        ("branch prediction", "btb.entries"),
        ("main memory", "dram.size"),
        ("L2.SIZE", "l2.size"),
    ],
)
def test_a_word_of_the_field_finds_its_keys(word, wanted):
    assert wanted in [key.name for key in keys.matching(word)]


def test_each_synonym_names_keys():
    for word, parts in keys.SYNONYMS.items():
        for part in parts:
            assert any(part in key.name for key in keys.KEYS), (word, part)


def test_a_name_is_not_widened():
    assert {key.name.split(".")[0] for key in keys.matching("l2.")} >= {"l2"}
    assert all("l1d.size" in key.name for key in keys.matching("l1d.size"))
    assert keys.matching("zzzz") == []


def test_the_value_of_the_machine_and_the_range(lab, capsys):
    for name, clock in (("p90-premiere2", "90 MHz"), ("p133-triton", "133")):
        assert cli.main(["keys", "cpu.clock_mhz", "--machine", name], lab) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert clock in said
        assert "16 to 400" in said
        assert name in said
    assert cli.main(["keys", "--machine", "none"], lab) == 2


def test_the_help_of_run_is_in_groups_and_complete():
    command = parser.of_command("run")
    groups = {group.title: group._group_actions for group in command._action_groups}
    assert [action.dest for action in groups["options"]] == ["help"]  # each other one has a group
    grouped = [action for group in groups.values() for action in group]
    assert len(grouped) == len({id(action) for action in grouped}) == len(command._actions)
    text = command.format_help()
    places = [text.index(f"\n{title}:") for title in run.GROUPS]
    assert places == sorted(places)
