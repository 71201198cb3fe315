# SPDX-License-Identifier: MIT
"""Reads the claims of configs/claims.toml (docs/evidence/claims.md).

The module checks that the machines, experiments, guests and workloads of a claim exist.
"""

import csv
import math
import re
from dataclasses import replace
from typing import Any

from p5lab.describe import experiment, papers, tomlfile
from p5lab.describe import guest as guests
from p5lab.describe import machine as machines
from p5lab.describe import workload as workloads
from p5lab.describe.keys import BY_NAME
from p5lab.describe.machine import Machine
from p5lab.describe.tomlfile import Table, type_name
from p5lab.describe.workload import EMPTY_NAME, Workload
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab
from p5stats import StatsError
from p5stats.claims import (
    CROSSING,
    FITTED,
    INPUT,
    PLATEAU_END,
    PLATEAU_START,
    PREDICTED,
    ROLES,
    SHAPES,
    STATISTICS,
    SYSTEM,
    TAGS,
    UNTESTABLE,
    Claim,
    Measure,
    Selection,
    size_of,
)

SCHEMA_VERSION = 1
GUEST = "linux"
TIMING = "timing."  # prefix in `keys` for a row of the timing table
_PLACE = re.compile(
    r"(chapter|section|table|figure|listing) [0-9]+(\.[0-9]+)*|appendix( [A-Z][0-9]+)?"
    r"|file \w[\w./-]*"
)
_COMMON = ("source", "quantity", "tag", "unit", "role")
_OF_SELECTION = ("parameters", "phases", "set")  # keys of a measure that less and over can change
_WHERE = ("experiment", "guest", "workload")
_HOW = (*_OF_SELECTION, "count", "per", "times")


def load(lab: Lab) -> list[Claim]:
    """All claims, in the order of the file. Raises UserError if a claim is wrong. The message names
    the claim and the key."""
    table = tomlfile.load(lab.claims, schema_version=SCHEMA_VERSION)
    loader = _Loader(lab)
    return [claim for name in table.data for claim in loader.claims(name, table.table(name))]


class _Loader:
    """Reads claims. Each workload, machine and list of names is loaded once."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._workloads = workloads.load(lab)
        self._experiments = experiment.names(lab)
        self._guests = guests.names(lab)
        self._machines = machines.names(lab)
        self._boards: dict[str, Machine] = {}

    def _board(self, name: str) -> Machine:
        if name not in self._boards:
            self._boards[name] = machines.load(self._lab, name)
        return self._boards[name]

    def claims(self, name: str, table: Table) -> list[Claim]:
        """The claim in a table, or several claims: one for each entry of the table's `values`."""
        source = table.text("source")
        paper, _, place = source.partition(" ")
        if paper not in papers.here() or not _PLACE.fullmatch(place):
            raise UserError(
                f"{table.at('source')}: expected a paper ({', '.join(papers.here())}) and a"
                f" chapter, section, table, figure, listing, appendix or file; found {source!r}"
            )
        role = table.choice("role", ROLES)
        common = {
            "source": source,
            "quantity": table.text("quantity"),
            "tag": table.choice("tag", TAGS),
            "unit": table.text("unit"),
            "role": role,
        }
        if role == UNTESTABLE:
            return self._untestable(name, table, common)
        table.only([*_COMMON, "value", "machine", "keys", "measure", "reason", "note"])
        machine = table.text("machine")
        if machine not in self._machines:
            raise unknown("machine", machine, self._machines, where=table.at("machine"))
        claim = Claim(
            id=name,
            value=_value(table, common["tag"]),
            machine=machine,
            keys=self._keys(table, role, machine),
            measure=(
                self._measure(table.table("measure"), machine, shape=common["tag"] in SHAPES)
                if "measure" in table.data
                else None
            ),
            reason=table.text("reason", ""),
            note=table.text("note", ""),
            **common,
        )
        if claim.measure is None and (role != INPUT or len(claim.keys) != 1):
            raise UserError(f"{table.where}: expected a measure, or the role input with one key")
        if claim.measure is None and claim.keys[0].startswith(TIMING):
            raise UserError(
                f"{table.where}: expected a measure, because the clocks of a row in the timing"
                " table depend on the use of this row"
            )
        if claim.tag in SHAPES and claim.measure is None:
            raise UserError(f"{table.where}: expected a measure: a shape needs a curve")
        return [claim]

    def _untestable(self, name: str, table: Table, common: dict[str, Any]) -> list[Claim]:
        """The claims in a table with the role `untestable`. The table can contain `values`: several
        numbers, each with a name."""
        several = "values" in table.data
        table.only([*_COMMON, "values" if several else "value", "machine", "reason"])
        values = table.table("values", {})
        numbers = {f", {one}": _number(values, one) for one in values.data}
        return [
            Claim(
                id=name + one.replace(",", "", 1),
                value=value,
                machine=table.text("machine", ""),
                reason=table.text("reason"),
                **{**common, "quantity": common["quantity"] + one},
            )
            for one, value in (numbers or {"": _value(table, common["tag"])}).items()
        ]

    def _keys(self, table: Table, role: str, machine: str) -> tuple[str, ...]:
        keys = tuple(table.texts("keys", []))
        where = table.at("keys")
        if keys and role in (PREDICTED, SYSTEM):
            raise UserError(
                f"{where}: expected no keys, because a {role} number does not come from a key"
            )
        if not keys and role == FITTED:
            raise UserError(f"{where}: expected the machine keys that were fitted to this number")
        for key in keys:
            if key.startswith(TIMING):
                rows = self._timing_rows(machine)
                if key.removeprefix(TIMING) not in rows:
                    raise unknown(
                        "row of the timing table", key.removeprefix(TIMING), rows, where=where
                    )
            elif key not in BY_NAME:
                raise unknown("machine key", key, BY_NAME, where=where)
        return keys

    def _timing_rows(self, machine: str) -> list[str]:
        values = self._board(machine).values
        with self._lab.timing(str(values["cpu.timing"])).open(encoding="utf-8") as file:
            rows = csv.reader(line for line in file if not line.startswith("#"))
            return [row[0] for row in rows][1:]

    def _measure(self, table: Table, machine: str, *, shape: bool) -> Measure:
        table.only([*_HOW, *_WHERE, "statistic", "at", "less", "over", "base", "bandwidth", "by"])
        where = table.where
        workload = self._where(
            table, table.text("experiment"), table.text("guest", GUEST), table.text("workload")
        )
        by = _swept(table, workload)
        statistic = _statistic(table, workload, by)
        if shape:
            if {"statistic", "less", "over"} & set(table.data):
                raise UserError(
                    f"{where}: expected one curve and no statistic, because the tag is a shape"
                )
            chosen = [] if by else table.texts("phases", []) or _points(workload)
            _check_phases(workload, chosen, where, sizes=True)
        counted = table.texts("count")
        if not counted:
            raise UserError(f"{where}: count: expected at least one event or parameter")
        if "bandwidth" in table.data and "base" not in table.data:
            raise UserError(
                f"{where}: bandwidth: expected only with base; base is the bandwidth of a"
                " Microvax II"
            )
        own: dict[str, Any] = {key: table.data[key] for key in _OF_SELECTION if key in table.data}
        board = self._board(machine)
        return Measure(
            experiment=table.text("experiment"),
            guest=table.text("guest", GUEST),
            workload=workload.name,
            select=_selection(workload, board, table.with_data(own)),
            count=tuple(counted),
            per=tuple(table.texts("per", [])),
            times=_number(table, "times") if "times" in table.data else 1.0,
            statistic=statistic,
            at=table.text("at", ""),
            less=self._other(table, "less", own, board),
            over=self._other(table, "over", own, board),
            base=_number(table, "base") if "base" in table.data else 0.0,
            bandwidth=table.flag("bandwidth", False),
            by=by,
        )

    def _where(self, table: Table, asked: str, guest: str, name: str) -> Workload:
        """The workload. Raises UserError if the workload, the experiment or the guest is
        unknown."""
        for kind, one, known in (
            ("experiment", asked, self._experiments),
            ("guest", guest, self._guests),
            ("workload", name, list(self._workloads)),
        ):
            if one not in known:
                raise unknown(kind, one, known, where=table.where)
        return self._workloads[name]

    def _other(
        self, measure: Table, key: str, own: dict[str, Any], board: Machine
    ) -> Selection | None:
        """The selection that a measure contains under `key`, or None if the measure does not
        contain `key`. The selection `less` is subtracted, and the selection `over` is the divisor.

        If the selection names no workload, the selection inherits the measure's parameters and
        phases. If the selection names no machine, the selection inherits the measure's machine
        settings.
        """
        if key not in measure.data:
            return None
        table = measure.table(key)
        table.only([*_HOW, *_WHERE, "machine"])
        name = table.text("workload", measure.text("workload"))
        experiment_name = table.text("experiment", measure.text("experiment"))
        guest = table.text("guest", measure.text("guest", GUEST))
        workload = self._where(table, experiment_name, guest, name)
        machine = table.text("machine", "")
        if machine and machine not in self._machines:
            raise unknown("machine", machine, self._machines, where=table.where)
        given: dict[str, Any] = {key: table.data[key] for key in _OF_SELECTION if key in table.data}
        inherited = [key for key in own if "workload" not in table.data or key == "set"]
        if machine:
            board = self._board(machine)
            inherited = [key for key in inherited if key != "set"]
        given = {key: own[key] for key in inherited} | given
        return replace(
            _selection(workload, board, table.with_data(given)),
            workload=table.text("workload", ""),
            experiment=table.text("experiment", ""),
            guest=table.text("guest", ""),
            machine=machine,
            count=tuple(table.texts("count", [])),
            per=tuple(table.texts("per")) if "per" in table.data else None,
            times=_number(table, "times") if "times" in table.data else None,
        )


def _swept(table: Table, workload: Workload) -> str:
    """The parameter over which the curve of a measure goes (`by`); empty for the phases of the
    workload. Raises UserError if the parameter does not count KB, or if there is not one phase."""
    by = table.text("by", "")
    if by and (by not in workload.parameters or workload.parameters[by].unit != "KB"):
        counted_in_kb = [one.name for one in workload.parameters.values() if one.unit == "KB"]
        raise unknown("parameter that counts KB", by, counted_in_kb, where=f"{table.where}: by")
    if by and len(table.texts("phases", [])) != 1:
        raise UserError(f"{table.where}: phases: expected one phase, because `by` is given")
    return by


def _statistic(table: Table, workload: Workload, by: str) -> str:
    """The statistic of a measure. `by`: the swept parameter, or empty. Raises UserError for an
    unknown statistic, and for a plateau or a crossing without the keys that it needs."""
    where = table.where
    statistic = table.text("statistic", "mean")
    plateau = statistic in (PLATEAU_END, PLATEAU_START)
    known = (*STATISTICS, PLATEAU_END, PLATEAU_START, CROSSING)
    if statistic not in known:
        raise unknown("statistic", statistic, known, where=where)
    if plateau != ("at" in table.data):
        raise UserError(
            f"{where}: at: expected a phase on the plateau if the statistic is the end or start"
            " of a plateau; expected no `at` for any other statistic"
        )
    if plateau:
        _check_phases(workload, [table.text("at")], f"{where}: at", sizes=True, known=not by)
    if statistic == CROSSING:
        if "less" not in table.data or "over" in table.data:
            raise UserError(
                f"{where}: a crossing: expected `less` for the other curve, and no `over`"
            )
        _check_phases(workload, [] if by else _points(workload), where, sizes=True)
    return statistic


def _selection(workload: Workload, board: Machine, table: Table) -> Selection:
    given = table.table("parameters", {})
    resolved = workload.resolve(given.data, given.near)
    phases = table.texts("phases", [])
    _check_phases(workload, phases, table.where)
    settings = tomlfile.flatten(table.table("set", {}).data)
    return Selection(
        {name: str(resolved[name]) for name in given.data},
        tuple(phases),
        board.with_set(settings, table.table("set").near).geometry if settings else "",
    )


def _check_phases(
    workload: Workload, phases: list[str], where: str, *, sizes: bool = False, known: bool = True
) -> None:
    for phase in phases:
        if known and phase not in workload.phases.values():
            raise unknown(f"phase of {workload.name}", phase, workload.phases.values(), where=where)
        if sizes:
            try:
                size_of(phase)
            except StatsError as error:
                raise UserError(f"{where}: {error}") from None


def _points(workload: Workload) -> list[str]:
    return [name for name in workload.phases.values() if name != EMPTY_NAME]


def _value(table: Table, tag: str) -> float:
    """The published number of a claim. The result is NaN for a claim about a shape, which has no
    number."""
    if tag not in SHAPES:
        return _number(table, "value")
    if "value" in table.data:
        raise UserError(
            f"{table.at('value')}: expected no value, because the tag {tag!r} is a shape"
        )
    return math.nan


def _number(table: Table, key: str) -> float:
    value = table.data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        found = f"found {type_name(value)}" if key in table.data else "found none"
        raise UserError(f"{table.at(key)}: expected a number, {found}")
    return float(value)
