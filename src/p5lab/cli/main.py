# SPDX-License-Identifier: MIT
"""The command line. cli/examples.py explains the exit statuses."""

import argparse
import errno
import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from p5lab import __version__
from p5lab.cli import (
    check,
    completion,
    examples,
    explain,
    guest,
    misspelt,
    notebook,
    options,
    results,
    run,
    simpoint,
    upkeep,
)
from p5lab.errors import STATUS_FAILED, UserError, unknown
from p5lab.host.terminal import for_terminal
from p5lab.lab import Lab
from p5stats import StatsError

GROUPS = (run, check, simpoint, guest, results, explain, notebook, upkeep, completion)
# Errors of a write to stdout. Errors of files have a file name.
NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
STATUS_STOPPED = 130  # 128 plus the number of SIGINT, as in shells


def main(argv: Sequence[str] | None = None, lab: Lab | None = None) -> int:
    """Runs one command and returns its exit status. If the user caused an error, prints the error
    as one line on stderr.

    `argv`: the words of the command, by default the arguments of the process. `lab`: by default the
    lab of this checkout.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _terminated)
    words = list(sys.argv[1:] if argv is None else argv)
    lab = lab or Lab.here()
    try:
        if words[:1] == ["bench"]:  # bench is a separate program with its own options
            return subprocess.run(
                [sys.executable, lab.root / "bench/run.py", *words[1:]]
            ).returncode
        args = _parsed(words)
        status = int(args.command(args, lab))
        sys.stdout.flush()
        return status
    except SystemExit as done:  # argparse has printed a help text
        return int(done.code or 0)
    except UserError as error:
        print(f"p5lab: {for_terminal(str(error), lines=True)}", file=sys.stderr)
        return error.status
    except StatsError as error:
        print(f"p5lab: {for_terminal(str(error))}", file=sys.stderr)
        return STATUS_FAILED
    except KeyboardInterrupt as stop:
        what = f": {for_terminal(str(stop))}" if str(stop) else ""
        print(f"p5lab: stopped{what}", file=sys.stderr)
        return STATUS_STOPPED
    except OSError as error:
        if error.filename is not None or error.errno not in NO_OUTPUT:
            raise
        print(f"p5lab: the output: {error.strerror}", file=sys.stderr)
        # What is left in the buffer goes nowhere when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STATUS_FAILED


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """Returns the arguments of a command line. Raises UserError for a wrong command line."""
    try:
        # next_steps reads the words.
        return parser().parse_args(options.with_values(words), argparse.Namespace(words=words))
    except UserError as error:
        name, *rest = words or [""]
        command = completion.commands(parser()).get(name)
        better = misspelt.option(command, rest) if command else misspelt.option(parser(), words[:1])
        if better:
            raise better from None
        if command:  # the parser of all commands has found the mistake
            raise UserError(
                str(error).replace("`p5lab --help`", f"`{command.prog} --help`")
            ) from None
        raise


def _terminated(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


class _Help(argparse.HelpFormatter):
    """Wraps a text that has no line breaks. A text that has line breaks remains unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _Parser(argparse.ArgumentParser):
    """A parser that raises UserError. The error message is one line and proposes the most
    similar valid name."""

    def __init__(self, *, prog: str, description: str | None = None) -> None:
        super().__init__(
            prog=prog, description=description, allow_abbrev=False, formatter_class=_Help
        )

    def error(self, message: str) -> NoReturn:
        found = re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if found:
            option, choice, known = found.groups()
            what = {"COMMAND": "command", results.KINDS: "list"}.get(option, f"{option} value")
            raise unknown(what, choice, re.findall(r"[\w-]+", known))
        raise UserError(f"{message} (see `{self.prog} --help`)")


def parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands. Each command sets `command`, the function that main calls
    with the arguments and the lab."""
    return _made()[0]


def names() -> tuple[str, ...]:
    """Returns the names of all commands."""
    return _made()[1]


@functools.cache
def _made() -> tuple[argparse.ArgumentParser, tuple[str, ...]]:
    top = _Parser(prog="p5lab", description="A simulated Pentium PC laboratory.")
    top.set_defaults(parser=top)  # completion reads it
    top.add_argument("--version", action="version", version=f"p5lab {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    for group in GROUPS:
        group.add(commands)
    usage = commands.add_parser("help", help="show this text, or the help of one command")
    usage.add_argument("topic", nargs="?", choices=list(commands.choices), metavar="COMMAND")
    usage.set_defaults(command=_help)
    for name, command in commands.choices.items():
        command.epilog = examples.of(name)
    top.epilog = f"{examples.EXIT_STATUS}\n\n./p5lab COMMAND --help has examples."
    return top, tuple(commands.choices)


def _help(args: argparse.Namespace, lab: Lab) -> int:
    return main([args.topic, "--help"] if args.topic else ["--help"], lab)
