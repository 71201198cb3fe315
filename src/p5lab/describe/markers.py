# SPDX-License-Identifier: MIT
"""The numbers of markers and of special phases: workloads/lib/marker_numbers.h, which the programs
in the guests and the engine include."""

import re
from pathlib import Path

HEADER = Path(__file__).resolve().parents[3] / "workloads/lib/marker_numbers.h"
_LINE = re.compile(r"^#define (P5_\w+) (0x[0-9A-F]+|\d+)", re.MULTILINE)
# The numbers by name, such as P5_PHASE_EMPTY.
NUMBERS = {
    name: int(number, 0) for name, number in _LINE.findall(HEADER.read_text(encoding="ascii"))
}
EMPTY_PHASE = NUMBERS["P5_PHASE_EMPTY"]
WHOLE_PHASE = NUMBERS["P5_PHASE_WHOLE"]
REGION_PHASE = NUMBERS["P5_PHASE_REGION"]
BOOT_PHASE = NUMBERS["P5_PHASE_BOOT"]
WINDOW_PHASE = NUMBERS["P5_PHASE_WINDOW"]
