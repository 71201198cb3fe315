# SPDX-License-Identifier: MIT
"""Crossing traces: steps, names of the parts, the choice of a typical bracket, damaged files."""

import json

import pytest

from p5stats import StatsError, crossings

PROGRAM, UML, OTHER, IDLE = 0x1000, 0x2000, 0x3000, 0x4000


class Trace:
    """Writes lines in the engine's format. Each line adds 10 clocks."""

    def __init__(self, cr3=PROGRAM):
        self.lines, self.tsc, self.ring, self.cr3 = [], 100, 3, cr3

    def mark(self, kind, phase=0):
        self.tsc += 10
        self.lines.append({"kind": kind, "phase": phase, "tsc": self.tsc})
        return self

    def cross(self, kind, *, vector=None, ring=None, cr3=None, eax=0, ebx=0):
        self.tsc += 10
        ring = self.ring if ring is None else ring
        cr3 = self.cr3 if cr3 is None else cr3
        self.lines.append(
            {
                "kind": kind,
                "vector": vector,
                "tsc": self.tsc,
                "instructions": self.tsc // 2,
                "ring": [self.ring, ring],
                "cr3": [self.cr3, cr3],
                "mode": ["prot32", "prot32"],
                "eip": 0,
                "eax": eax,
                "ebx": ebx,
                "ecx": 0,
                "edx": 0,
                "cr2": 0,
            }
        )
        self.ring, self.cr3 = ring, cr3
        return self

    def call(self, number, ebx=0):
        return self.cross("int", vector=0x80, ring=0, eax=number, ebx=ebx)

    def back(self, cr3=None):
        if cr3 is not None and cr3 != self.cr3:
            self.cross("cr3", cr3=cr3)
        return self.cross("iret", ring=3)

    def read(self, tmp_path):
        path = tmp_path / "crossings.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return crossings.read(path)


def steps(bracket):
    return [(step.who, step.end) for step in bracket.steps]


def test_a_call_of_a_kernel_in_ring_0(tmp_path):
    (bracket,) = Trace().mark("begin").call(41).back().mark("end").read(tmp_path)[0]
    assert steps(bracket) == [
        ("program", "dup"),
        ("kernel", "IRET to program"),
        ("program", "end of the bracket"),
    ]
    assert [step.clocks for step in bracket.steps] == [10, 10, 10]
    assert bracket.clocks == 30
    assert [step.crosses for step in bracket.steps] == [True, True, False]


def test_a_call_of_a_kernel_in_user_mode(tmp_path):
    trace = Trace().mark("begin").call(41).back(UML).call(26, 12).back().call(26, 31).back(PROGRAM)
    (bracket,) = trace.mark("end").read(tmp_path)[0]
    assert steps(bracket) == [
        ("program", "dup"),
        ("host kernel", "CR3: space of UML kernel"),
        ("host kernel", "IRET to UML kernel"),
        ("UML kernel", "ptrace GETREGS"),
        ("host kernel", "IRET to UML kernel"),
        ("UML kernel", "ptrace SYSEMU"),
        ("host kernel", "CR3: space of program"),
        ("host kernel", "IRET to program"),
        ("program", "end of the bracket"),
    ]
    assert sum(step.switches for step in bracket.steps) == 2


def test_faults_interrupts_and_other_programs(tmp_path):
    trace = Trace().mark("begin").call(11).cross("cr3", cr3=IDLE).back(OTHER)
    trace.cross("exception", vector=14, ring=0).back()
    trace.cross("interrupt", vector=0x30, ring=0).back().call(999).cross("cr3").back(PROGRAM)
    (bracket,) = trace.mark("end").read(tmp_path)[0]
    assert steps(bracket)[:4] == [
        ("program", "execve"),
        ("kernel", "CR3: space of kernel"),
        ("kernel", "CR3: space of new program"),
        ("kernel", "IRET to new program"),
    ]
    ends = [step.end for step in bracket.steps]
    assert ends[4] == "page fault"
    assert ends[6] == "interrupt 0x30"
    assert ends[8:10] == ["system call 999", "CR3 again"]


def test_the_typical_bracket_is_the_first_of_the_most_frequent_shape(tmp_path):
    trace = Trace()
    trace.mark("begin").call(41).cross("interrupt", vector=0x30, ring=0).back().mark("end")
    trace.mark("begin").call(41).back().mark("end").mark("begin").call(41)
    trace.tsc += 500
    brackets = trace.back().mark("end").read(tmp_path)[0]
    assert len(brackets) == 3
    assert crossings.typical(brackets) is brackets[1]
    with pytest.raises(StatsError, match="no bracket"):
        crossings.typical([])


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"kind": "int", "tsc": 2}',
        '{"kind": "end", "phase": 0, "tsc": 0}',
        '{"kind": "end", "phase": 1, "tsc": 5}',
        "[]",
    ],
)
def test_a_damaged_trace_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "crossings.jsonl"
    path.write_text('{"kind": "begin", "phase": 0, "tsc": 1}\n' + line + "\n")
    with pytest.raises(StatsError, match=r"crossings\.jsonl:2: not (a line of a trace|valid JSON)"):
        crossings.read(path)
    with pytest.raises(StatsError, match="cannot read"):
        crossings.read(tmp_path / "none")


def test_registers_of_a_kernel_of_64_bits_are_read(tmp_path):
    trace = Trace().mark("begin").cross("cr3", ring=0, eax=1 << 63, ebx=(1 << 64) - 1).mark("end")
    assert len(trace.read(tmp_path)[0][0].steps) == 2
    trace.lines[1]["ebx"] = 1 << 64
    with pytest.raises(StatsError, match="ebx"):
        trace.read(tmp_path)


def test_a_trace_that_ends_in_a_bracket_is_refused(tmp_path):
    with pytest.raises(StatsError, match="ends inside a bracket"):
        Trace().mark("begin").call(20).read(tmp_path)
