# SPDX-License-Identifier: MIT
"""Workloads. The file workloads/SUITE/NAME/workload.toml describes the program NAME.c beside it.
The file lists the parameters, the brackets and the needed capabilities of the program."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from p5lab.describe import tomlfile
from p5lab.describe.markers import EMPTY_PHASE
from p5lab.describe.tomlfile import TomlTable, Where, begin, type_name
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

EMPTY_NAME = "empty"  # of the empty brackets, EMPTY_PHASE
# The name of WHOLE_PHASE, the guest's bracket around a delivered program. This bracket begins
# before fork() and ends after wait().
WHOLE_NAME = "whole"
# The directories of workloads/ with programs for our own guests.
SUITES = ("micro", "apps", "mach", "net", "tests")
# Earlier versions of p5lab had a single file with the descriptions of all workloads.
FORMER = "workloads/workloads.toml"
PARAMETER_KEYS = ("like", "default", "unit", "doc", "minimum", "choices", "needs")
_SUFFIX = {"": 1, "K": 1024, "M": 1024 * 1024}
# By needed capability: the reason why the workload does not run without this capability.
Needs = Mapping[str, str]


@dataclass(frozen=True)
class Parameter:
    """A workload argument: a whole number (at least `minimum`) or one of `choices`.

    `least`: the name of the parameter whose value this one must reach; empty if there is none.
    `needs`: the capabilities that each choice needs.
    """

    name: str
    default: int | str
    unit: str
    doc: str
    minimum: int
    choices: tuple[str, ...]
    needs: Mapping[str, Needs] = field(default_factory=dict)
    least: str = ""

    def parse(self, value: Any, where: Where) -> int | str:  # noqa: ANN401
        """A value from an experiment file or the command line. Sizes may have the suffix K or M
        (1024). Raises UserError for any other value; `where` begins the message."""
        if self.choices:
            if value not in self.choices:
                expected = ", ".join(f'"{choice}"' for choice in self.choices)
                raise UserError(
                    f"{begin(where, self.name)}: {self.name}: expected one of {expected};"
                    f" found {type_name(value)}"
                )
            return value
        number = value if type(value) is int else None
        if isinstance(value, str) and (match := re.fullmatch(r"([0-9]{1,9})([KM]?)", value)):
            number = int(match[1]) * _SUFFIX[match[2]]
        if number is None or not self.minimum <= number <= 0x7FFFFFFF:
            raise UserError(
                f"{begin(where, self.name)}: {self.name}: expected a whole number of {self.unit},"
                f" at least {self.minimum}; found {type_name(value)}"
            )
        return number


@dataclass(frozen=True)
class Workload:
    """One benchmark program.

    `bracket`: a text that describes the code between the begin marker and the end marker.
    `operations`: the number of operations (calls, loads) in one bracket, or the name of the
        parameter with this number.
    `bytes`: the number of bytes that one operation moves, 0 if the workload moves no data. A copy
        counts each byte once.
    `phases`: the names of the phase ids.
    `curve`: the unit of the phase names if the phases are points of a curve.
    `needs`: the capabilities that every run needs.
    `packages`: the packages that the program needs on the disk of a distribution.
    `headers`: products of the build that the program includes.
    `starts`: further programs and libraries of build/workloads that the program needs in the guest.
    `file`: the path of the description, None for a program of the user.
    """

    name: str
    title: str
    source: str
    bracket: str
    operation: str
    operations: int | str = 1
    bytes: int = 0
    phases: dict[int, str] = field(default_factory=dict)
    curve: str = ""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    needs: Needs = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    file: Path | None = field(default=None, compare=False)

    @property
    def program(self) -> Path | None:
        """The C file beside the description."""
        return self.file.with_name(f"{self.name}.c") if self.file else None

    def resolve(self, given: dict[str, Any], where: Where) -> dict[str, int | str]:
        """All parameters: the given values after a check, and the defaults of the other parameters.
        Raises UserError for an unknown parameter or a wrong value."""
        for name in given:
            if name not in self.parameters:
                raise unknown(
                    f"parameter of {self.name}", name, self.parameters, where=begin(where, name)
                )
        values = {
            name: parameter.parse(given[name], where) if name in given else parameter.default
            for name, parameter in self.parameters.items()
        }
        for name, parameter in self.parameters.items():
            least = values.get(parameter.least, 0)
            if parameter.least and int(values[name]) < int(least):
                at = begin(where, name if name in given else parameter.least)
                raise UserError(
                    f"{at}: {name}: expected at least the value of {parameter.least}, {least};"
                    f" found {values[name]}"
                )
        return values

    def operations_in(self, parameters: dict[str, int | str]) -> int:
        """The number of operations in one bracket of a run with these parameters."""
        if isinstance(self.operations, int):
            return self.operations
        value = parameters[self.operations]
        assert isinstance(value, int)
        return value

    def needed(self, parameters: Mapping[str, int | str]) -> Iterator[tuple[str, str]]:
        """The capabilities that a run with these parameters needs, each with the reason why the
        workload does not run without the capability."""
        yield from self.needs.items()
        for name, parameter in self.parameters.items():
            yield from parameter.needs.get(str(parameters.get(name)), {}).items()


def load(lab: Lab) -> dict[str, Workload]:
    """All workloads by name, in alphabetical order. Raises UserError for a wrong description."""
    read = reader(lab)
    return {name: read(name) for name in names(lab)}


def names(lab: Lab) -> list[str]:
    """The names of all workloads, in alphabetical order."""
    return list(lab.files("workload"))


def reader(lab: Lab) -> Callable[[str], Workload]:
    """A function that reads the description of the workload with a name.

    Both raise UserError: the reader for a wrong file that all workloads use, its result for a wrong
    description.
    """
    if (lab.root / FORMER).exists():
        raise UserError(
            f"{lab.root / FORMER}: expected one description beside each program; move table [NAME]"
            " to workloads/micro/NAME/workload.toml and NAME.c beside it"
        )
    shelf = _Shelf(capabilities(lab), tomlfile.load(lab.parameters))
    for name, table in shelf.parameters.inner().items():
        _parameter(name, table, shelf)
    files = lab.files("workload")

    def read(name: str) -> Workload:
        return _workload(name, files[name], shelf)

    return read


def unknown_workload(lab: Lab, name: str, known: Iterable[str]) -> UserError:
    """The error for an unknown workload. The message names a description with this name that lies
    at the wrong depth of a directory of P5LAB_PATH."""
    for directory in lab.path:
        for file in directory.glob("workloads/**/workload.toml"):
            if file.parent.name == name:
                return UserError(
                    f"unknown workload {name!r}; {file}: expected as"
                    f" {directory}/workloads/{name}/workload.toml"
                )
    return unknown("workload", name, known)


def shown(known: Mapping[str, Workload]) -> dict[str, Workload]:
    """These workloads without the tests of the laboratory itself."""
    return {name: workload for name, workload in known.items() if not is_test(workload.title)}


def is_test(title: str) -> bool:
    """Whether the workload with this title is a test of the laboratory itself."""
    return title.startswith("test: ")


def capabilities(lab: Lab) -> dict[str, str]:
    """All capabilities. The text of a capability is the reason why a workload does not run without
    the capability."""
    return tomlfile.load(lab.capabilities, ["capabilities"]).table("capabilities").pairs()


def programs(lab: Lab, suites: Sequence[str] = SUITES) -> dict[str, Path]:
    """The C files in these directories of workloads/, by the name of the program. Some of these
    programs have no description, so they are not workloads: a workload starts them."""
    return {
        path.stem: path
        for suite in suites
        for path in sorted((lab.root / "workloads" / suite).glob("*/*.c"))
    }


@dataclass(frozen=True)
class _Shelf:
    """The tables that the descriptions of all workloads use."""

    capabilities: dict[str, str]
    parameters: TomlTable

    def needs(self, table: TomlTable, key: str) -> Needs:
        """The capabilities in a list of the table, each with its reason."""
        reasons = {}
        for name in table.texts(key, []):
            if name not in self.capabilities:
                raise unknown("capability", name, self.capabilities, where=table.at(key))
            reasons[name] = self.capabilities[name]
        return reasons

    def merged(self, table: TomlTable) -> TomlTable:
        """The table of a parameter. The field `like` names a shared parameter. A table that
        does not set a field inherits this field from the shared parameter."""
        if "like" not in table.data:
            return table
        like = table.text("like")
        if like not in self.parameters.data:
            raise unknown("parameter", like, self.parameters.data, where=table.at("like"))
        shared = self.parameters.table(like)
        needs = {**shared.table("needs", {}).data, **table.table("needs", {}).data}
        return table.with_data({**shared.data, **table.data, "needs": needs})


def _workload(name: str, path: Path, shelf: _Shelf) -> Workload:
    table = tomlfile.load(path)
    if not path.with_name(f"{name}.c").is_file():
        raise UserError(f"{path}: expected the program {name}.c beside this file")
    described = table.table("parameters", {}).inner()
    parameters = {key: _parameter(key, own, shelf) for key, own in described.items()}
    for key, parameter in parameters.items():
        least = parameter.least
        if least and (least not in parameters or parameters[least].choices):
            at = described[key].at("minimum")
            raise UserError(f"{at}: expected a number or a numeric parameter; found {least!r}")
    operations = table.data.get("operations", 1)
    if not isinstance(operations, str):
        table.number("operations", 1, least=1)
    elif operations not in parameters or parameters[operations].choices:
        raise UserError(f"{table.at('operations')}: expected a number or a numeric parameter")
    table.number("bytes", 1, least=1)
    phases = table.table("phases")
    for phase in phases.data:
        if not re.fullmatch(r"[0-9]{1,9}", phase):
            raise UserError(f"{phases.where}: expected phase ids (whole numbers), found {phase!r}")
    return table.record(
        Workload,
        ("operations", "phases", "parameters", "needs", "with"),
        name=name,
        operations=operations,
        phases={int(phase): name for phase, name in phases.pairs().items()}
        | {EMPTY_PHASE: EMPTY_NAME},
        parameters=parameters,
        needs=shelf.needs(table, "needs"),
        starts=tuple(table.texts("with", [])),
        file=path,
    )


def _parameter(name: str, own: TomlTable, shelf: _Shelf) -> Parameter:
    own.only(PARAMETER_KEYS)
    table = shelf.merged(own)
    choices = tuple(table.texts("choices", []))
    needs = table.table("needs", {})
    needs.only(choices)
    is_named = isinstance(table.data.get("minimum"), str)  # by another parameter
    parameter = Parameter(
        name=name,
        default=0,
        unit=table.text("unit", ""),
        doc=table.text("doc"),
        minimum=0 if is_named else table.number("minimum", 0),
        choices=choices,
        needs={choice: shelf.needs(needs, choice) for choice in needs.data},
        least=table.text("minimum") if is_named else "",
    )
    default = parameter.parse(table.data.get("default"), lambda _: table.at("default"))
    return replace(parameter, default=default)
