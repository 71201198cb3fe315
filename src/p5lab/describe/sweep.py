# SPDX-License-Identifier: MIT
"""Sweeps: the [[sweep]] tables of an experiment, and the option --sweep. Sweeps expand to the
points of a grid.

A [[sweep]] has one of three forms. A key is a machine key or `parameters.NAME`:

    grid = { l2.size = ["128K", "256K"], l1d.ways = [1, 2] }           every combination
    zip  = { l1i.size = ["8K", "16K"], l1d.size = ["8K", "16K"] }      first with first, and so on
    list = [{ l2.present = false }, { l2.size = "1M", l2.ways = 4 }]   each as written

Several sweeps multiply: every step of a sweep is combined with every step of the other sweeps.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from p5lab.describe import tomlfile
from p5lab.describe.tomlfile import TomlTable, Where, begin, type_name
from p5lab.errors import UserError

PARAMETERS = "parameters."
POINTS = 100_000  # more points are a mistake: their expansion would take a day
OPTION = "--sweep"


@dataclass(frozen=True)
class SweepPoint:
    """One combination of values. `machine`: the values of machine keys. `parameters`: the values of
    parameters, for the workloads that have these parameters. `optional`: the values of machine keys
    for the machines that have the part of the key."""

    machine: Mapping[str, Any]
    parameters: Mapping[str, Any]
    optional: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """One [[sweep]] or --sweep: a list of steps. A step sets one value for each of its keys.
    `optional`: a machine without the part of a key leaves out the key. `where`: the beginning of a
    message about a key."""

    where: Where
    steps: tuple[Mapping[str, Any], ...]
    optional: bool = False


def axes(table: TomlTable) -> list[Axis]:
    """The [[sweep]] tables of an experiment."""
    return [_axis(sweep) for sweep in table.tables("sweep")]


def parse(options: Iterable[str]) -> tuple[Axis, ...]:
    """The arguments of --sweep: KEY=VALUE,VALUE,..."""
    axes = []
    for option in options:
        key, equals, values = (part.strip() for part in option.partition("="))
        words = [word.strip() for word in values.split(",")]
        if not key or not equals or not all(words):
            raise UserError(
                f"{OPTION} {option}: expected KEY=VALUE,VALUE,..., such as l2.size=128K,256K,512K"
            )
        axes.append(Axis(OPTION, tuple({key: _number(key, word)} for word in words)))
    return tuple(axes)


def points(axes: Iterable[Axis]) -> list[SweepPoint]:
    """Every combination of steps, with one step of each axis. Without axes, the result is one empty
    point. Raises UserError for too many points and for a key that two axes set."""
    axes = list(axes)
    _check_keys(axes)
    total = 1
    for axis in axes:
        total *= len(axis.steps)
    if total > POINTS:
        place = begin(axes[-1].where, "")
        raise UserError(f"{place}: {total:,} points: expected at most {POINTS:,}")
    result = []
    for steps in itertools.product(*(axis.steps for axis in axes)):
        values, optional = (
            {
                key: value
                for axis, step in zip(axes, steps, strict=True)
                if axis.optional is wanted
                for key, value in step.items()
            }
            for wanted in (False, True)
        )
        result.append(
            SweepPoint(
                {key: value for key, value in values.items() if not key.startswith(PARAMETERS)},
                {
                    key.removeprefix(PARAMETERS): value
                    for key, value in values.items()
                    if key.startswith(PARAMETERS)
                },
                optional,
            )
        )
    return result


def where(axes: Iterable[Axis], key: str) -> str:
    """The beginning of a message about a value of a swept key: the first axis with this key."""
    owners = [axis.where for axis in axes if any(key in step for step in axis.steps)]
    return begin(owners[0], key) if owners else OPTION


def keys(axes: Iterable[Axis]) -> tuple[str, ...]:
    """The keys that have at least two values in the axes, in the order of the axes."""
    values: dict[str, set[str]] = {}
    for axis in axes:
        for step in axis.steps:
            for key, value in step.items():
                values.setdefault(key, set()).add(str(value))
    return tuple(key for key, different in values.items() if len(different) > 1)


def without_machine(points: Iterable[SweepPoint]) -> list[SweepPoint]:
    """The distinct combinations of parameters, without machine keys."""
    different = {str(point.parameters): point.parameters for point in points}
    return [SweepPoint({}, parameters) for parameters in different.values()]


def _axis(table: TomlTable) -> Axis:
    table.only(["grid", "zip", "list"])
    if len(table.data) != 1:
        raise UserError(f"{table.where}: expected one of grid, zip and list")
    if "list" in table.data:
        where: Where = table.where
        steps = [tomlfile.flatten(step.data) for step in table.tables("list")]
    else:
        form = next(iter(table.data))
        where = table.table(form).near
        lists = _lists(table.table(form))
        lengths = {key: len(values) for key, values in lists.items()}
        if form == "zip" and len(set(lengths.values())) > 1:
            shown = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            raise UserError(f"{table.at('zip')}: expected lists of equal length; {shown}")
        combine = zip if form == "zip" else itertools.product
        steps = [dict(zip(lists, values, strict=True)) for values in combine(*lists.values())]
    if not steps or not all(steps):
        raise UserError(f"{table.where}: expected at least one key with at least one value")
    return Axis(where, tuple(steps))


def _lists(table: TomlTable) -> dict[str, list[Any]]:
    lists = tomlfile.flatten(table.data)
    for key, values in lists.items():
        if not isinstance(values, list) or not values:
            raise UserError(
                f"{table.at(key)}: expected a list of values, such as"
                f' ["128K", "256K"]; found {type_name(values)}'
            )
    return lists


def _check_keys(axes: list[Axis]) -> None:
    """Raises UserError if two axes set the same key, because the later value would silently replace
    the other value."""
    owners: dict[str, Axis] = {}
    for axis in axes:
        for key in dict.fromkeys(key for step in axis.steps for key in step):
            if owners.setdefault(key, axis) is not axis:
                place, other = begin(axis.where, key), begin(owners[key].where, key)
                raise UserError(f"{place}: {key}: {other} already sweeps this key")


def _number(key: str, word: str) -> int | str:
    """A value of --sweep. The value of a workload's parameter becomes a whole number if it consists
    of digits. A machine key parses its text itself."""
    return int(word) if key.startswith(PARAMETERS) and word.isdecimal() else word
