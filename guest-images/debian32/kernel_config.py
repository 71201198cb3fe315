#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the configuration of a kernel from fragments. A later fragment replaces single options.

Each fragment is a file of Kconfig lines (`CONFIG_NAME=value`, `# CONFIG_NAME is not set`) and
comments. If a later fragment has a line about an option, the line of the earlier fragment is left
out, so that no option occurs twice.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

OPTION = re.compile(r"(?:# )?(CONFIG_\w+)(?:=.*| is not set)")


def option(line: str) -> str:
    """Returns the option that a line sets or unsets. Empty for another line."""
    match = OPTION.fullmatch(line)
    return match[1] if match else ""


def merged(fragments: list[str]) -> str:
    """Returns the text of all fragments, with one line for each option. Raises ValueError if a
    fragment repeats a line of an earlier one.

    >>> merged(["CONFIG_A=y\\nCONFIG_B=y\\n", "# CONFIG_A is not set\\n"])
    'CONFIG_B=y\\n# CONFIG_A is not set\\n'
    """
    lines: list[str] = []
    for fragment in fragments:
        new = fragment.splitlines()
        for line in new:
            if option(line) and line in lines:
                raise ValueError(f"`{line}` is also in an earlier fragment")
        replaced = {option(line) for line in new} - {""}
        lines = [line for line in lines if option(line) not in replaced] + new
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("fragments", type=Path, nargs="+")
    args = parser.parse_args()
    try:
        args.output.write_text(merged([file.read_text() for file in args.fragments]))
    except (OSError, ValueError) as error:
        print(f"kernel_config: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
