# SPDX-License-Identifier: MIT
"""Run a build command with downloaded sources. The path of a verified file replaces `@NAME@`.

with_sources.py PROGRAM ... @musl@ ...     (build/sources/musl.json names the file)
"""

import re
import subprocess
import sys
from pathlib import Path

from p5lab.errors import UserError
from p5lab.host.fetch import Fetcher, read_resolved


def main() -> int:
    command = []
    try:
        for word in sys.argv[1:]:
            if name := re.fullmatch(r"@([\w-]+)@", word):
                record = read_resolved(Path(f"build/sources/{name[1]}.json"))
                word = str(Fetcher.here(Path.cwd()).obtain(record))
            command.append(word)
    except (UserError, OSError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return 1
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
