# SPDX-License-Identifier: MIT
"""`completion`: prints a script for a shell. With this script, the shell completes commands,
options and names."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from p5lab.cli import options
from p5lab.describe.keys import BY_NAME
from p5lab.lab import VARIABLE, Lab

SHELLS = ("bash", "zsh", "fish", "tcsh")
# Shell commands that list the names of each kind. These commands use tools that every host has,
# because a start of Python at each press of TAB would take too long. `{root}` is the checkout. The
# commands also search the directories of P5LAB_PATH. The commands contain no dollar sign and no
# double quotes, because fish gets each command inside double quotes.
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
_ALIASES = {"runs": "run", "more": "run", "experiments": "experiment"}
# The options with an argument KEY=VALUE. In addition to machine keys, each option accepts the
# words in its tuple.
_KEYS = {"settings": (), "sweeps": ("parameters.",)}


def add(parsers: options.Commands) -> None:
    """Adds `completion` to the command line."""
    complete = parsers.add_parser(
        "completion",
        help="print a completion script for a shell",
        description="Prints a script with which the shell completes commands and options. With the"
        " script, the shell also completes the names of experiments, machines, guests, workloads"
        " and runs of this checkout and of P5LAB_PATH. The shell looks up these names when TAB is"
        " pressed. After --set and --sweep, the shell completes machine keys.",
    )
    complete.add_argument("shell", choices=SHELLS)
    complete.set_defaults(command=_completion)


def _completion(args: argparse.Namespace, lab: Lab) -> int:
    print(script(args.parser, args.shell, lab))
    return 0


def script(parser: argparse.ArgumentParser, shell: str, lab: Lab) -> str:
    """Returns the completion script of a shell (one of SHELLS) for all commands of `parser`."""
    import shtab  # imported here because no other command needs it

    for one in commands(parser).values():
        for action in one._actions:
            name = _ALIASES.get(action.dest, action.dest)
            if name in NAMES and not action.choices:
                command = NAMES[name].format(root=shlex.quote(str(lab.root)))
                _set_completion(action, shtab.cmd(command))
            elif action.dest in _KEYS:
                words = _words([f"{key}=" for key in BY_NAME], action.dest)
                _set_completion(action, shtab.cmd(words))
            elif action.type is Path:
                _set_completion(action, shtab.FILE)
    return str(shtab.complete(parser, shell))


def _words(names: list[str], option: str) -> str:
    """Returns a command that prints one word per line in every shell."""
    return f"echo {' '.join([*names, *_KEYS[option]])} | xargs -n 1 echo"


def _set_completion(action: argparse.Action, complete: dict[str, Any]) -> None:
    action.complete = complete  # type: ignore[attr-defined]


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Returns the subparsers of `parser`, by the name of the command."""
    return {
        name: one
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, one in action.choices.items()
    }
