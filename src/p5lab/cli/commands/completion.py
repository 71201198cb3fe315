# SPDX-License-Identifier: MIT
#: 250 completion SHELL    print the completion script for bash, zsh, fish or tcsh
"""`completion`: print a completion script for a shell.

Prints a script with which the shell completes commands and options. With the script, the shell also
completes the names of experiments, machines, guests, workloads and runs of this checkout and of
P5LAB_PATH. The shell looks up these names when TAB is pressed. After --set and --sweep, the shell
completes machine keys and, if a key has only a few values, these values.

examples:
  ./p5lab completion bash > ~/.local/share/bash-completion/completions/p5lab
  ./p5lab completion zsh > ~/.zfunc/_p5lab
  ./p5lab completion fish > ~/.config/fish/completions/p5lab.fish
"""

import argparse
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from p5lab.cli import parser as parsers
from p5lab.describe.keys import KEYS, Key
from p5lab.errors import unknown
from p5lab.lab import RESULTS, VARIABLE, Lab
from p5lab.present import column

SHELLS = ("bash", "zsh", "fish", "tcsh")
# For each kind, a shell command that lists all names of this kind. The commands use tools that
# every host has. The commands do not start Python, because a start of Python at each press of TAB
# would take too long. `{root}` is the checkout. The commands also search the directories of
# P5LAB_PATH. The commands contain no dollar sign and no double quotes, because fish gets each
# command inside double quotes.
_FIND = (
    f"printenv {VARIABLE} | tr : '\\012' | sed 's,.*,&/{{place}},'"
    " | xargs -d '\\n' find {{root}}/{ours} 2>/dev/null | sed -n 's,{ending},,p' | sed 's,.*/,,'"
)
NAMES = {
    "experiment": _FIND.format(place="experiments", ours="configs/experiments", ending="[.]toml"),
    "machine": _FIND.format(place="machines", ours="configs/machines", ending="[.]toml"),
    "guest": _FIND.format(place="guests", ours="guest-images", ending="/guest[.]toml"),
    "workload": _FIND.format(place="workloads", ours="workloads", ending="/workload[.]toml"),
    "notebook": _FIND.format(place="notebooks", ours="notebooks", ending="[.]ipynb"),
    "run": f"(printenv {RESULTS} || echo {{root}}/results) | xargs -d '\\n' -I @ find @ -maxdepth 3"
    " -name run.json 2>/dev/null | sed 's,/run[.]json,,; s,.*/,,'",
}
_ALIASES = {"runs": "run", "more": "run", "experiments": "experiment"}
# The options with an argument KEY=VALUE. KEY is a machine key, or it begins with one of the words
# in the tuple of the option.
_KEYS = {"settings": (), "sweeps": ("parameters.",)}
# Bash divides a word at each =. This function joins the parts of KEY=VALUE before the completion,
# and removes KEY= from the offered words after it. There is no space after KEY=.
_BASH = r"""
_p5lab_settings() {
  local words=() number=0 index word= last=
  for index in "${!COMP_WORDS[@]}"; do
    word=${COMP_WORDS[index]}
    if [[ ${#words[@]} -gt 1 && ( $word == = || $last == *= ) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    last=$word
    [[ $index -eq $COMP_CWORD ]] && number=$((${#words[@]} - 1))
  done
  word=${words[number]}
  [[ $COMP_WORDBREAKS == *=* && $word == *=* ]] && last=${word%"${word##*=}"} || last=
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$number
  _shtab_p5lab
  COMPREPLY=("${COMPREPLY[@]#"$last"}")
  [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `completion`."""
    parser.add_argument("shell", type=_shell, choices=SHELLS)


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `completion`."""
    print(script(parsers.of_all(), args.shell, lab))
    return 0


def _shell(name: str) -> str:
    if name not in SHELLS:
        raise unknown("shell", name, SHELLS)
    return name


def script(parser: argparse.ArgumentParser, shell: str, lab: Lab) -> str:
    """Returns the completion script of a shell (one of SHELLS) for all commands of `parser`."""
    import shtab  # imported here because no other command needs it

    notebook = parsers.commands_of(parser).get("notebook")
    for command_parser in parsers.commands_of(parser).values():
        for action in command_parser._actions:
            name = _ALIASES.get(action.dest, action.dest)
            if command_parser is notebook and name == "name":
                name = "notebook"
            if name in NAMES and not action.choices:
                command = NAMES[name].format(root=shlex.quote(str(lab.root)))
                _set_completion(action, shtab.cmd(command))
            elif action.dest in _KEYS:
                settings = [word for key in KEYS for word in _settings(key)]
                _set_completion(action, shtab.cmd(_words(settings, action.dest)))
            elif action.dest == "metrics":
                _set_completion(action, shtab.cmd(_listed(column.words())))
            elif action.type is Path:
                _set_completion(action, shtab.FILE)
    text = str(shtab.complete(parser, shell))
    if shell == "bash":
        text = text.replace("-F _shtab_p5lab p5lab", "-F _p5lab_settings p5lab")
        return _BASH + text
    return text


def _settings(key: Key) -> list[str]:
    """Returns the words for a machine key: KEY= or, for a key with few values, each KEY=VALUE. The
    list is empty for a key that --set cannot change."""
    if key.target == "record":
        return []
    values = ("true", "false") if key.kind == "flag" else key.choices
    return [f"{key.name}={value}" for value in values or ("",)]


def _words(names: list[str], option: str) -> str:
    """Returns a command that prints one word per line in every shell."""
    return _listed([*names, *_KEYS[option]])


def _listed(words: Iterable[str]) -> str:
    return f"echo {' '.join(words)} | xargs -n 1 echo"


def _set_completion(action: argparse.Action, complete: dict[str, Any]) -> None:
    action.complete = complete  # type: ignore[attr-defined]
