# SPDX-License-Identifier: MIT
"""The counts of our engine are the counts that gem5's tracer must give for the same program."""

from pathlib import Path

from rings import EVENTS, SECTIONS, expected

SOURCE = Path(__file__).parent / "rings.S"
FIRST, LAST = 4, 8  # instructions of a marker after and before its CPUID


def test_the_engine_counts_what_gem5s_tracer_counts(boot, bare_program):
    booted = boot("rings", bare=bare_program(SOURCE, bits=64), isa="x86-64", limit_seconds=10)
    assert booted.outcome.status == "ok", booted.outcome.reason
    names = [name.replace(".", "_") for name in booted.events.units]

    def counted(bracket, wanted):
        found = dict.fromkeys(EVENTS, 0)
        for (space, ring), after in bracket.end.banks.items():
            before = bracket.begin.banks.get((space, ring), [])
            for name, value, at_begin in zip(names, after, before + [0] * len(after), strict=False):
                if ring == wanted and name in found:
                    found[name] += value - at_begin
        return {event: value for event, value in found.items() if value}

    brackets = {bracket.phase: bracket for bracket in booted.events.brackets}
    sections = [index for index in SECTIONS if index < 17]  # the later sections use the local APIC
    assert [*brackets] == [*sections, 17]
    for index in sections:
        counts = counted(brackets[index], 0), counted(brackets[index], 3)
        assert counts == expected(index, first=FIRST, last=LAST), index
