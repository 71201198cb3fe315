# SPDX-License-Identifier: MIT
"""The command line. cli/parser.py explains the exit statuses."""

import argparse
import errno
import os
import signal
import sys
from collections.abc import Sequence

from p5lab.cli import misspelt, options
from p5lab.cli import parser as parsers
from p5lab.errors import STATUS_BAD_INPUT, STATUS_FAILED, UserError
from p5lab.keep import store
from p5lab.lab import Lab
from p5lab.terminal import for_terminal
from p5stats import StatsError

# Errors of a write to stdout. Errors of files have a file name.
NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
# Errors of the path of a file that the user names.
UNREACHED = (errno.ENAMETOOLONG, errno.EACCES)
STATUS_STOPPED = 130  # 128 plus the number of SIGINT, as in shells


def main(argv: Sequence[str] | None = None, lab: Lab | None = None) -> int:
    """Runs one command and returns its exit status. If the user caused an error, prints the error
    as one line on stderr.

    `argv`: the words of the command, by default the arguments of the process. `lab`: by default the
    lab of this checkout.
    """
    terminated = _Terminated()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, terminated)
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        lab = lab or Lab.here()
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
        print(f"p5lab: {for_terminal(store.explained(error))}", file=sys.stderr)
        return STATUS_FAILED
    except KeyboardInterrupt as stop:
        what = f": {for_terminal(str(stop))}" if str(stop) else ""
        print(f"p5lab: stopped{what}", file=sys.stderr)
        return STATUS_STOPPED
    except OSError as error:
        if error.errno in UNREACHED:
            print(f"p5lab: {for_terminal(f'{error.filename}: {error.strerror}')}", file=sys.stderr)
            return STATUS_BAD_INPUT
        if error.filename is not None or error.errno not in NO_OUTPUT:
            raise
        print(f"p5lab: the output: {error.strerror}", file=sys.stderr)
        # What is left in the buffer goes nowhere when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STATUS_FAILED


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """Returns the arguments of a command line. Raises UserError for a wrong command line."""
    for word in words:
        if (said := word.encode(errors="replace").decode()) != word:
            raise UserError(f"{said}: expected a text in UTF-8")
    name, *rest = words or [""]
    known = name in parsers.names()
    if known and getattr(parsers.module(name), "OWN_OPTIONS", False):
        return argparse.Namespace(words=words, command=parsers.module(name).run)
    parser = parsers.of_one(name) if known else parsers.of_all()
    try:
        # next_steps reads the words.
        return parser.parse_args(options.with_values(words), argparse.Namespace(words=words))
    except UserError as error:
        command = parsers.of_command(name) if known else None
        better = misspelt.option(command, rest) if command else misspelt.option(parser, words[:1])
        if better:
            raise better from None
        if command:  # the parser of all commands has found the mistake
            raise UserError(
                str(error).replace("`p5lab --help`", f"`{command.prog} --help`")
            ) from None
        raise


class _Terminated:
    """Stops the command at the first signal. timeout(1) sends a second one to the process group,
    and that must not end the work of stopping engines."""

    def __init__(self) -> None:
        self._is_stopping = False

    def __call__(self, number: int, frame: object) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            raise KeyboardInterrupt
