# SPDX-License-Identifier: MIT
"""The parsers of the commands. The modules of p5lab.cli.commands are the commands."""

import argparse
import functools
import importlib
import pkgutil
import re
from collections.abc import Iterable
from types import ModuleType
from typing import Any, NoReturn

from p5lab.cli import commands
from p5lab.errors import UserError, unknown
from p5lab.lab import VARIABLE
from p5lab.version import __version__

LIST = "WHAT"  # the argument of `list`, for messages
EXIT_STATUS = """exit status:
  0    done
  1    a run, a build or a check has failed, or a file cannot be read
  2    bad input; nothing was run
  130  stopped by the user (Ctrl-C, SIGTERM); finished runs are kept"""


@functools.cache
def names() -> tuple[str, ...]:
    """Returns the names of all commands, in alphabetical order."""
    return tuple(
        module.name.replace("_", "-") for module in pkgutil.iter_modules(commands.__path__)
    )


def module(name: str) -> ModuleType:
    """Returns the module of a command. Only this module is loaded, because the modules of all
    commands take half a second."""
    return importlib.import_module(f"p5lab.cli.commands.{name.replace('-', '_')}")


def texts(name: str) -> list[str]:
    """Returns the paragraphs of the help of a command, which are the docstring of its module: one
    line about the command, the text above the options if there is one, and the examples."""
    title, *above, examples = (module(name).__doc__ or "").strip().split("\n\n")
    title = title.partition(": ")[2].removesuffix(".")
    return [title, *(" ".join(text.split()) for text in above), examples]


@functools.cache
def of_all() -> argparse.ArgumentParser:
    """Returns the parser of all commands. Each command sets `command`, the function that main calls
    with the arguments and the lab."""
    return _top(names())


@functools.cache
def of_one(name: str) -> argparse.ArgumentParser:
    """Returns a parser of the command line that knows only one command."""
    return _top([name])


@functools.cache
def of_command(name: str) -> argparse.ArgumentParser:
    """Returns the parser of the words after a command's name."""
    return commands_of(of_one(name))[name]


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Returns the parsers of the commands, by the name of the command."""
    return {
        name: command
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, command in action.choices.items()
    }


class _Help(argparse.HelpFormatter):
    """Wraps a text that has no line breaks. A text that has line breaks remains unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _Once(argparse._StoreAction):
    """Stores the value of an option. A second value that differs is an error; argparse would keep
    the last one without a word."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("given", {})
        if option_string and given.setdefault(self.dest, values) != values:
            raise argparse.ArgumentError(self, "expected one value; found two")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser that raises UserError. The error message is one line and proposes the most
    similar valid name."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        # The parser of all commands gives those of the commands options that differ between
        # versions of Python (from 3.14 on also `color`).
        super().__init__(allow_abbrev=False, formatter_class=_Help, **options)
        self.register("action", None, _Once)
        self._negative_number_matcher = re.compile(r"-[\d.]")  # values, such as -3G

    def error(self, message: str) -> NoReturn:
        match = re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if match:
            option, choice, known = match.groups()
            what = {"COMMAND": "command", LIST: "list"}.get(option, f"{option} value")
            raise unknown(what, choice, re.findall(r"[\w-]+", known))
        raise UserError(f"{message} (see `{self.prog} --help`)")


def _top(chosen: Iterable[str]) -> argparse.ArgumentParser:
    top = _Parser(prog="p5lab", description="A simulated Pentium PC laboratory.")
    top.add_argument("--version", action="version", version=f"p5lab {__version__}")
    parsers = top.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    for name in chosen:
        command = module(name)
        title, *above, examples = texts(name)
        description = " ".join(above) or None
        parser = parsers.add_parser(name, help=title, description=description, epilog=examples)
        try:
            command.add(parser)
        except argparse.ArgumentError as error:  # each option of the checkout has one name
            raise UserError(f"{VARIABLE}: {error}; rename the directory of the observer") from None
        parser.set_defaults(command=command.run, command_name=name)
    top.epilog = f"{EXIT_STATUS}\n\n./p5lab COMMAND --help has examples."
    return top
