# SPDX-License-Identifier: MIT
#: 180 keys                list all machine keys that --set can change
"""`keys`: the machine keys that --set can change."""

import argparse

from rich.table import Table

from p5lab.cli import options
from p5lab.describe import keys
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.present import (
    counts,
)
from p5lab.terminal import markup

HELP = "list all machine keys with unit and meaning"
EXAMPLES = (
    "keys",
    "keys l2",
    "keys --json",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `keys`."""
    parser.add_argument(
        "text", nargs="?", metavar="TEXT", help="only the keys with TEXT in the name"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print the table of docs/reference/machine-keys.md"
    )
    options.add_json(parser)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `keys`."""
    if args.markdown:
        if args.text:
            raise UserError("keys --markdown: expected without TEXT; it prints all keys")
        print(keys.reference(), end="")
        return 0
    chosen = [key for key in keys.KEYS if (args.text or "").lower() in key.name]
    if not chosen:
        raise keys.unknown_key(args.text, "keys")
    if args.form == "json":
        options.print_json(
            {
                "keys": [
                    {
                        "key": key.name,
                        "unit": key.unit,
                        "expected": key.expected,
                        "meaning": key.doc,
                    }
                    for key in chosen
                ]
            }
        )
        return 0
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("key", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for key in chosen:
        table.add_row(key.name, key.unit, markup(key.doc))
    counts.stdout().print(table)
    return 0
