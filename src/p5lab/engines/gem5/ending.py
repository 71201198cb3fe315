# SPDX-License-Identifier: MIT
"""The reason of gem5's end, from its output."""

import re
from pathlib import Path

from p5lab.host.files import last_lines

# Memory usage and a backtrace follow such a line.
_REASON = re.compile(r"(?:^|: )((?:p5lab|fatal|panic): .*)")


def reason(path: Path) -> str:
    """The last line that gives a reason; empty if there is none."""
    found = [match[1] for line in last_lines(path) if (match := _REASON.search(line))]
    return found[-1] if found else ""
