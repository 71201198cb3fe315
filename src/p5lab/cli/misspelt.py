# SPDX-License-Identifier: MIT
"""Finds a misspelt option in a command line that the parser has refused, and suggests the right
one."""

import argparse
import re
from collections.abc import Sequence

from p5lab.errors import UserError, listed, nearest


def option(parser: argparse.ArgumentParser, words: Sequence[str]) -> UserError | None:
    """Returns the error for the first unknown option of a command line, or None if all options are
    known. `parser`: the parser of the command. `words`: the words after the name of the command.
    """
    known = parser._option_string_actions
    values = False  # whether the word before is an option that takes a value
    for word in words:
        if word == "--":
            return None
        name, equals, _ = word.partition("=")
        if name in known:
            values = not equals and known[name].nargs != 0
            continue
        # argparse regards the same words as options. A text with a space is a value.
        if re.match(r"-[^\s\d.]", word) and " " not in word and not values:
            return _unknown(name, list(known), parser.prog)
        values = False
    return None


def _unknown(name: str, known: Sequence[str], command: str) -> UserError:
    full = {option.lstrip("-"): option for option in known if option.startswith("--")}
    near = nearest(name.lstrip("-"), full)
    meant = listed([full[option] for option in near], form=str) if near else ""
    hint = f"; did you mean {meant}?" if meant else f" (see `{command} --help`)"
    return UserError(f"unknown option {name}{hint}")
