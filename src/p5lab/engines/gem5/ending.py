# SPDX-License-Identifier: MIT
"""Why a gem5 ended, from what it printed."""

import re
from pathlib import Path

from p5lab.host.files import last_lines

# Behind such a line come memory usage and a backtrace.
_REASON = re.compile(r"(?:^|: )((?:p5lab|fatal|panic): .*)")


def reason(path: Path) -> str:
    """The last line that says why; empty: none does."""
    found = [match[1] for line in last_lines(path) if (match := _REASON.search(line))]
    return found[-1] if found else ""
