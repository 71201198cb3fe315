# SPDX-License-Identifier: MIT
"""The arguments of a command, declared by a text that looks like its help text.

    WHAT  a positional argument; [WHAT] if it may be missing, WHAT... for one or more, [WHAT...]
    name=WHAT  the same with another name in the parsed arguments
    --flag  an option that is on or off
    --file FILE  an option with a value: a path for FILE and DIR, otherwise a text, empty by default
    --word* TEXT  an option that may be repeated: a list of values

Two spaces precede the help text, and its further lines are indented. argparse parses the arguments.
"""

import re
import textwrap
from argparse import _ActionsContainer
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p5lab.errors import UserError

PATHS = ("FILE", "DIR")


def add(parser: _ActionsContainer, text: str, **given: Mapping[str, Any]) -> None:
    """Adds the arguments of a text. `given`: the keywords of argparse for an argument whose kind
    does not follow from the text, by its name."""
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(text).strip()):
        head, *about = re.split(r"  +|\n", entry, maxsplit=1)
        words: dict[str, Any] = {"help": " ".join(about[0].split())} if about else {}
        name, _, value = head.partition(" ")
        if name.startswith("--"):
            words |= {"metavar": value} if value else {}
            words |= {"action": "append", "default": []} if name.endswith("*") else {}
            name, kind = name.rstrip("*"), _option(name, value)
        else:
            inner = head.strip("[]").removesuffix("...")
            several, missing = head.strip("[]").endswith("..."), head.startswith("[")
            name, _, value = inner.rpartition("=")
            name = name or value.lower()
            words |= {"metavar": value} if value != name else {}
            kind = {"nargs": "+"} if several else {}
            if missing:  # with a default, argparse does not call it required
                kind = {"nargs": "*", "default": []} if several else {"nargs": "?"}
        key = name.lstrip("-").replace("-", "_")
        parser.add_argument(name, **{**words, **given.get(key, kind)})


def check_output(
    path: Path | None, option: str = "--output", *, makes_directory: bool = False
) -> None:
    """Raises UserError if the file of an option is a directory or lies in no directory. A command
    checks this before its work. `makes_directory`: the command makes the directory of the file."""
    if path is None:
        return
    parent = path.parent
    while makes_directory and not parent.exists():
        parent = parent.parent
    if path.is_dir():
        raise UserError(f"{option} {path}: expected a file; found a directory")
    if not parent.is_dir():
        raise UserError(f"{option} {path}: expected a directory {parent}; there is none")


def _option(name: str, value: str) -> dict[str, Any]:
    if name.endswith("*") or value in PATHS:
        return {"type": Path} if value in PATHS else {}
    return {"default": ""} if value else {"action": "store_true"}
