# SPDX-License-Identifier: MIT
"""Run a build command with a downloaded source. The path of the verified file replaces `@SOURCE@`.

with_source.py build/sources/linux.json PROGRAM ... @SOURCE@ ...
"""

import subprocess
import sys
from pathlib import Path

from p5lab.errors import UserError
from p5lab.host.fetch import Fetcher, read_resolved


def main() -> int:
    record, *command = sys.argv[1:]
    try:
        source = Fetcher.here(Path.cwd()).obtain(read_resolved(Path(record)))
    except (UserError, OSError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return 1
    return subprocess.run([str(source) if x == "@SOURCE@" else x for x in command]).returncode


if __name__ == "__main__":
    sys.exit(main())
