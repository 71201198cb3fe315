# SPDX-License-Identifier: MIT
"""Unpack an archive of headers into a directory that contains nothing else.

The sentinel is one header of the archive. The script sets the time of the sentinel last, after all
headers are written.
"""

import argparse
import shutil
import sys
import tarfile
from pathlib import Path

from archives import extract


def main() -> int:
    """Replaces the content of the directory with the archive's headers. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("sentinel", type=Path)
    options = parser.parse_args()
    directory = options.sentinel.parent
    try:
        shutil.rmtree(directory, ignore_errors=True)
        extract(options.archive, directory)
        options.sentinel.touch()
    except (OSError, tarfile.TarError) as error:
        print(f"p5lab: {directory}: {getattr(error, 'strerror', error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
