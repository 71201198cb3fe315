# SPDX-License-Identifier: MIT
"""Workloads: workloads/workloads.toml says what each program takes and what its brackets hold."""

import re
from dataclasses import dataclass
from typing import Any

from p5lab.describe import tomlfile
from p5lab.describe.tomlfile import Table, type_name
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

SCHEMA_VERSION = 1
# Every workload brackets nothing under this id (workloads/lib/p5w.h).
EMPTY_PHASE = 0xFFFFFFFF
EMPTY_NAME = "empty"
_SUFFIX = {"": 1, "K": 1024, "M": 1024 * 1024}


@dataclass(frozen=True)
class Parameter:
    """A workload argument: a whole number (at least `minimum`) or one of `choices`."""

    name: str
    default: int | str
    unit: str
    doc: str
    minimum: int
    choices: tuple[str, ...]

    def parse(self, value: Any, where: str) -> int | str:  # noqa: ANN401
        """A value of an experiment file or the command line; sizes take K and M (1024)."""
        if self.choices:
            if value not in self.choices:
                expected = ", ".join(f'"{choice}"' for choice in self.choices)
                raise UserError(
                    f"{where}: {self.name}: expected one of {expected}; found {type_name(value)}"
                )
            return value
        number = value if type(value) is int else None
        if isinstance(value, str) and (match := re.fullmatch(r"([0-9]{1,9})([KM]?)", value)):
            number = int(match[1]) * _SUFFIX[match[2]]
        if number is None or not self.minimum <= number <= 0x7FFFFFFF:
            raise UserError(
                f"{where}: {self.name}: expected a whole number of {self.unit}, at least"
                f" {self.minimum}; found {type_name(value)}"
            )
        return number


@dataclass(frozen=True)
class Workload:
    """One benchmark program.

    bracket: what lies between begin and end, in words. operations: how many of the thing that is
    reported (calls, loads) one bracket holds: a number or the name of a parameter. bytes: how many
    one operation moves, of a copy once; 0: it is none that moves data. phases: names of the phase
    ids. curve: what the phase names count (bytes, ...) when they are points of a curve.
    """

    name: str
    title: str
    source: str
    bracket: str
    operation: str
    operations: int | str
    bytes: int
    phases: dict[int, str]
    curve: str
    parameters: dict[str, Parameter]

    def resolve(self, given: dict[str, Any], where: str) -> dict[str, int | str]:
        """All parameters: those given, checked, and the defaults of the others."""
        for name in given:
            if name not in self.parameters:
                raise unknown(f"parameter of {self.name}", name, self.parameters, where=where)
        return {
            name: parameter.parse(given[name], where) if name in given else parameter.default
            for name, parameter in self.parameters.items()
        }

    def operations_in(self, parameters: dict[str, int | str]) -> int:
        """Operations in one bracket of a run with these parameters."""
        if isinstance(self.operations, int):
            return self.operations
        value = parameters[self.operations]
        assert isinstance(value, int)
        return value


def load(lab: Lab) -> dict[str, Workload]:
    """All workloads by name."""
    table = tomlfile.load(lab.workloads, schema_version=SCHEMA_VERSION)
    return {name: _workload(name, table.table(name)) for name in table.data}


def _workload(name: str, table: Table) -> Workload:
    table.only(
        [
            "title",
            "source",
            "bracket",
            "operation",
            "operations",
            "bytes",
            "phases",
            "curve",
            "parameters",
        ]
    )
    parameter_tables = table.table("parameters", {})
    parameters = {
        key: _parameter(key, parameter_tables.table(key)) for key in parameter_tables.data
    }
    operations = table.data.get("operations", 1)
    if isinstance(operations, str):
        if operations not in parameters or parameters[operations].choices:
            raise UserError(f"{table.where}: operations: expected a number or a numeric parameter")
    elif table.number("operations", 1) < 1:
        raise UserError(f"{table.where}: operations: expected at least 1")
    if table.number("bytes", 1) < 1:
        raise UserError(f"{table.where}: bytes: expected at least 1")
    phases = table.table("phases")
    for phase in phases.data:
        if not re.fullmatch(r"[0-9]{1,9}", phase):
            raise UserError(f"{phases.where}: expected phase ids (whole numbers), found {phase!r}")
    return Workload(
        name=name,
        title=table.text("title"),
        source=table.text("source"),
        bracket=table.text("bracket"),
        operation=table.text("operation"),
        operations=operations,
        bytes=table.number("bytes", 0),
        phases={int(phase): phases.text(phase) for phase in phases.data}
        | {EMPTY_PHASE: EMPTY_NAME},
        curve=table.text("curve", ""),
        parameters=parameters,
    )


def _parameter(name: str, table: Table) -> Parameter:
    table.only(["default", "unit", "doc", "minimum", "choices"])
    choices = tuple(table.texts("choices", []))
    parameter = Parameter(
        name=name,
        default=0,
        unit=table.text("unit", ""),
        doc=table.text("doc"),
        minimum=table.number("minimum", 0),
        choices=choices,
    )
    default = parameter.parse(table.data.get("default"), f"{table.where}: default")
    return Parameter(name, default, parameter.unit, parameter.doc, parameter.minimum, choices)
