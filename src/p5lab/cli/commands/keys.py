# SPDX-License-Identifier: MIT
#: 180 keys                list all machine keys that --set can change
"""`keys`: list all machine keys with unit and meaning.

examples:
  ./p5lab keys
  ./p5lab keys l2
  ./p5lab keys associativity --machine p133-triton
  ./p5lab keys --json
"""

import argparse

from rich.table import Table

from p5lab.cli import arguments, options
from p5lab.describe import experiment, keys, machine
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.present import counts
from p5lab.terminal import markup

LONGEST = 24  # characters of a value


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `keys`."""
    arguments.add(
        parser,
        """
        [TEXT]  only the keys with TEXT in the name, or about TEXT, such as associativity or colour
        --machine  show the values of this machine (default: %(default)s)
        --markdown  print the table of docs/reference/machine-keys.md
        """,
        machine={"default": experiment.PROGRAM_MACHINE},
    )
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `keys`."""
    if args.markdown:
        if args.text:
            raise UserError("keys --markdown: expected without TEXT; it prints all keys")
        print(keys.reference(), end="")
        return 0
    board = machine.load(lab, args.machine)
    chosen = keys.matching(args.text or "")
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
                        "value": _value(board, key),
                        "meaning": key.doc,
                    }
                    for key in chosen
                ]
            }
        )
        return 0
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("key", no_wrap=True)
    table.add_column(board.name, no_wrap=True, max_width=LONGEST)
    table.add_column("meaning and range", overflow="fold")
    for key in chosen:
        value = f"{_value(board, key)} {'' if key.unit == 'bytes' else key.unit}".strip()
        table.add_row(key.name, markup(value), markup(f"{key.doc}; {key.expected}"))
    counts.stdout().print(table)
    return 0


def _value(board: machine.Machine, key: keys.Key) -> str:
    """The value of a machine, as --set takes it. Empty if the machine has none."""
    if key.name not in board.values:
        return ""
    text = key.canonical(board.values[key.name])
    return keys.size_text(int(text)) if key.unit == "bytes" else text
