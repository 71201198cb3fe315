# SPDX-License-Identifier: MIT
"""The arguments of the functions of `import p5lab`: a value of another kind is one line, UserError,
before anything runs."""

import functools
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from p5lab.errors import UserError
from p5lab.keep import store
from p5stats import StatsError
from p5stats.lazy import pd

LONGEST = 60  # characters of a value in a message


@functools.cache
def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with UserError in the place of StatsError."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        try:
            return function(*args, **named)
        except StatsError as error:
            raise UserError(store.explained(error)) from None

    return call


def shown(value: object) -> str:
    """A value in a message."""
    if isinstance(value, pd.DataFrame):
        return "a table"
    return textwrap.shorten(repr(value), LONGEST, placeholder=" ...")


def plain(value: object) -> Any:  # noqa: ANN401
    """A value of Python itself. numpy and pandas have numbers of their own types, which the kinds
    of machine keys do not accept."""
    return value.item() if hasattr(value, "item") else value


def texts(what: str, value: object, expected: str = "a text or a list of texts") -> tuple[str, ...]:
    """The texts of an argument, which is one text or several."""
    several = isinstance(value, Iterable) and not isinstance(value, str | pd.DataFrame)
    given: tuple[Any, ...] = tuple(value) if several else (value,)  # type: ignore[arg-type]
    for text in given:
        if not isinstance(text, str):
            raise UserError(f"{what}: expected {expected}; found {shown(text)}")
    return given


def names(what: str, value: object, expected: str) -> list[str]:
    """The names of an argument: one or more, and none is empty."""
    given = texts(what, value, expected)
    if not given or "" in given:
        raise UserError(f"{what}: expected {expected}; found {shown(value)}")
    return list(given)


def runs(function: str, value: object) -> list[str]:
    """The ids of the runs of a table, or the names of stored runs."""
    if not isinstance(value, pd.DataFrame):
        return names(function, value, "a run, an experiment, a label, or a table of run or load")
    if "run" not in table(function, value):
        raise UserError(f"{function}: the table has no column run: expected one of run or load")
    return list(map(str, value["run"].unique()))


def table(function: str, value: object, expected: str = "run or load") -> "pd.DataFrame":
    """A table with rows."""
    if not isinstance(value, pd.DataFrame):
        raise UserError(f"{function}: expected a table of {expected}; found {shown(value)}")
    if value.empty:
        raise UserError(f"{function}: the table has no rows")
    return value


def keyed(what: str, value: object, example: str) -> Mapping[str, Any]:
    """The values by key of an argument, which is a dictionary or None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UserError(f"{what}: expected a dictionary, such as {example}; found {shown(value)}")
    return value


def jobs(value: object) -> int | None:
    """The number of runs at a time. Without a value None: one on each core."""
    return None if value is None else whole("jobs", value)


def whole(name: str, value: object) -> int:
    """The value of an argument that is a whole number, at least 1."""
    number = plain(value)
    if type(number) is not int or number < 1:
        raise UserError(f"{name}: expected a whole number, at least 1; found {shown(value)}")
    return number


def flags(**values: object) -> None:
    """Raises UserError for a value that is neither True nor False."""
    for name, value in values.items():
        if type(plain(value)) is not bool:
            raise UserError(f"{name}: expected True or False; found {shown(value)}")
