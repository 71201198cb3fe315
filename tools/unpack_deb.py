# SPDX-License-Identifier: MIT
"""Copy single files from a Debian package that `sources.toml` names."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from p5lab.errors import UserError
from p5lab.host.fetch import Fetcher, read_resolved


def main() -> int:
    """Writes the files that the command line names. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="build/sources/NAME.json")
    parser.add_argument("files", nargs="+", metavar="PACKED=OUTPUT")
    options = parser.parse_args()
    try:
        package = Fetcher.here(Path.cwd()).obtain(read_resolved(options.source))
        with tempfile.TemporaryDirectory() as work:
            subprocess.run(["dpkg-deb", "-x", package, work], check=True)
            for pair in options.files:
                packed, _, output = pair.partition("=")
                shutil.copyfile(Path(work, packed), output)
    except (UserError, OSError, subprocess.CalledProcessError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
