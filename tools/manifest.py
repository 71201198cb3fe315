# SPDX-License-Identifier: MIT
"""Record the inputs of a product: {"digest": ..., "inputs": {name: SHA-256 or text}}.

The digest covers the name and content of all inputs. To compare two builds, their records are
therefore sufficient. The record contains no path outside the tree, no host and no date.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path


def main() -> int:
    """Writes the record of the files and texts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--text", action="append", default=[], metavar="NAME=TEXT")
    parser.add_argument("files", type=Path, nargs="*")
    options = parser.parse_args()
    inputs = {}
    for pair in options.text:
        name, _, text = pair.partition("=")
        inputs[name] = text
    for file in options.files:
        inputs[file.as_posix()] = hashlib.sha256(file.read_bytes()).hexdigest()
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    text = json.dumps({"digest": digest, "inputs": inputs}, indent=1, sort_keys=True)
    options.output.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
