# SPDX-License-Identifier: MIT
"""`completion`: what a shell needs to complete commands, options and names."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from p5lab.cli import options
from p5lab.describe.keys import BY_NAME
from p5lab.lab import VARIABLE, Lab

SHELLS = ("bash", "zsh", "fish", "tcsh")
# The names of each kind, by tools that every host has: starting Python at each TAB takes too long.
# `{root}` is the checkout. What stands outside of it is looked for in the directories of P5LAB_PATH
# as they are when TAB is pressed. No dollar sign and no double quotes: fish gets these commands
# inside of double quotes.
_FIND = (
    f"printenv {VARIABLE} | tr : '\\012' | sed 's,.*,&/{{place}},'"
    " | xargs -d '\\n' find {{root}}/{ours} 2>/dev/null | sed -n 's,{ending},,p' | sed 's,.*/,,'"
)
NAMES = {
    "experiment": _FIND.format(place="experiments", ours="configs/experiments", ending="[.]toml"),
    "machine": _FIND.format(place="machines", ours="configs/machines", ending="[.]toml"),
    "guest": _FIND.format(place="guests", ours="guest-images", ending="/guest[.]toml"),
    "workload": _FIND.format(place="workloads", ours="workloads", ending="/workload[.]toml"),
    "run": "ls -d {root}/results/*/*/run.json 2>/dev/null | sed 's,/run.json$,,; s,.*/,,'",
}
_ALIASES = {"runs": "run"}
# The options that take KEY=VALUE, and what they take beside machine keys.
_KEYS = {"settings": (), "sweeps": ("parameters.",)}


def add(parsers: options.Commands) -> None:
    """Adds `completion`."""
    complete = parsers.add_parser(
        "completion",
        help="what a shell needs to complete commands, options and names",
        description="Prints a script for the shell: commands and options, and the names of"
        " experiments, machines, guests, workloads and runs of this checkout and of P5LAB_PATH as"
        " they are when TAB is pressed. Machine keys are completed after --set and --sweep.",
    )
    complete.add_argument("shell", choices=SHELLS)
    complete.set_defaults(command=_completion)


def _completion(args: argparse.Namespace, lab: Lab) -> int:
    print(script(args.parser, args.shell, lab))
    return 0


def script(parser: argparse.ArgumentParser, shell: str, lab: Lab) -> str:
    """The completion script of a shell for all commands."""
    import shtab  # here: no other command needs it

    for one in commands(parser).values():
        for action in one._actions:
            name = _ALIASES.get(action.dest, action.dest)
            if name in NAMES and not action.choices:
                command = NAMES[name].format(root=shlex.quote(str(lab.root)))
                _tell(action, shtab.cmd(command))
            elif action.dest in _KEYS:
                _tell(action, shtab.cmd(_words([f"{key}=" for key in BY_NAME], action.dest)))
            elif action.type is Path:
                _tell(action, shtab.FILE)
    return str(shtab.complete(parser, shell))


def _words(names: list[str], option: str) -> str:
    """A command that prints words, one in a line, in every shell."""
    return f"echo {' '.join([*names, *_KEYS[option]])} | xargs -n 1 echo"


def _tell(action: argparse.Action, complete: dict[str, Any]) -> None:
    action.complete = complete  # type: ignore[attr-defined]


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of its commands, by name."""
    return {
        name: one
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, one in action.choices.items()
    }
