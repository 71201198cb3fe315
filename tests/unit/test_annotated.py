# SPDX-License-Identifier: MIT
"""The table of the instructions of a function: why one begins alone, and code without a line."""

import io

import pytest
from rich.console import Console

from p5lab.page import annotation
from p5lab.present import annotated
from p5lab.present.annotated import NO_LINE, Annotated, Block, Code, CountedInstruction


def instruction(times, in_v=0, **single):
    counts = {f"cpi.single.{name}": count for name, count in single.items()}
    counts |= {"instructions": times, "instructions.v": in_v, "cycles.busy": times - in_v}
    return CountedInstruction(0x1000, "t.c", 9, "mov %ebx,(%edi)", times, counts)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        # It began a pair nearly always: its first execution says nothing about the others.
        ({"times": 4096, "new_code": 16}, ""),
        ({"times": 4096, "in_v": 4080, "registers": 16}, ""),
        ({"times": 4096, "in_v": 127, "registers": 3969}, "its register (3,969 of 4,096)"),
        ({"times": 100, "registers": 60, "new_code": 20}, "its register (60 of 100)"),
        ({"times": 100, "other": 60, "new_code": 20}, ""),
        ({"times": 128, "first": 128}, "takes no companion"),
        ({"times": 1, "new_code": 1}, "code is new in L1I"),
        ({"times": 1, "second": 1}, "the next cannot go into V"),
        ({"times": 0}, ""),
    ],
)
def test_the_most_frequent_reason_of_an_instruction_that_mostly_is_alone(counts, why):
    one = instruction(**counts)
    assert one.about.endswith(why) and bool(one.about) == bool(why)
    assert one.row()["not_in_v"] == one.about


def test_code_without_a_line_says_so():
    one = instruction(1)
    blocks = Block("t.c", 9, "b = a;", (one,)), Block("", 0, "", (one,))
    found = Annotated("t.c", 2, (Code("f", "t", blocks),))
    for form in ("table", "markdown"):
        console = Console(file=io.StringIO(), width=100)
        annotated.show(console, found, "", form)
        lines = [line for line in console.file.getvalue().splitlines() if NO_LINE in line]
        assert len(lines) == 1 and "b = a;" not in lines[0]
    assert annotation.page([found]).count(NO_LINE) == 1
