# SPDX-License-Identifier: MIT
"""The numbers of the markers are those of the documented protocol, which programs of users follow:
docs/reference/marker-protocol.md."""

import re
from pathlib import Path

from p5lab.describe.markers import NUMBERS

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/marker-protocol.md"
OF_OUR_GUESTS = {"P5_OP_READY", "P5_OP_BOOTROM", "P5_OP_PROGRAM"}


def test_the_header_has_the_numbers_of_the_protocol():
    text = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w ]+) \| (\d+) \| [^|\n]*\| [^|\n]*\|$", text, re.MULTILINE))
    names = {
        "detect": "P5_OP_DETECT",
        "begin of a bracket": "P5_OP_BEGIN",
        "end of a bracket": "P5_OP_END",
        "the run fails": "P5_OP_ABORT",
        "the run ends": "P5_OP_EXIT",
        "read a counter": "P5_OP_READ_COUNTER",
        "twelve bytes of the job": "P5_OP_JOB",
        "up to four bytes of output": "P5_OP_OUTPUT",
        "text": "P5_OP_TEXT",
        "job": "P5_OP_JOB_TEXT",
        "name of a phase": "P5_OP_NAME",
    }
    assert {names[row]: int(number) for row, number in rows.items()} == {
        name: number
        for name, number in NUMBERS.items()
        if name.startswith("P5_OP_") and name not in OF_OUR_GUESTS
    }
    assert f"EAX = {NUMBERS['P5_MARKER_ABI']}, EBX = {NUMBERS['P5_MARKER_MAGIC']:X}h" in text
    assert f"the leaf {NUMBERS['P5_MARKER_LEAF']:X}h" in text
    assert f"from 0 to {NUMBERS['P5_PHASE_WINDOW'] - 1:X}h" in text
    assert f"Phase {NUMBERS['P5_PHASE_EMPTY']:X}h is the empty bracket" in text
