# SPDX-License-Identifier: MIT
"""Finds in gem5's output the reason why gem5 ended."""

import re
from pathlib import Path

from p5lab.files import last_lines

# gem5 prints memory usage and a backtrace after a line of this form.
_REASON = re.compile(r"(?:^|: )((?:p5lab|fatal|panic): .*)")


def reason(path: Path) -> str:
    """The last line that gives a reason; empty if no line gives a reason."""
    reasons = [match[1] for line in last_lines(path) if (match := _REASON.search(line))]
    return reasons[-1] if reasons else ""
