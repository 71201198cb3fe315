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
from p5lab.describe.tomlfile import TomlTable, Where
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

GUEST = "linux"
TIMING = "timing."  # prefix in `keys` for a row of the timing table
_PLACE = re.compile(
    r"(chapter|section|table|figure|listing) [0-9]+(\.[0-9]+)*|appendix( [A-Z][0-9]+)?"
    r"|file \w[\w./-]*"
)
_OF_SELECTION = ("parameters", "phases", "set")  # keys of a measure that less and over can change


def load(lab: Lab) -> list[Claim]:
    """All claims, in the order of the file. Raises UserError if a claim is wrong. The message names
    the claim and the key."""
    described = tomlfile.load(lab.claims).inner()
    loader = _Loader(lab)
    return [claim for name, table in described.items() for claim in loader.claims(name, table)]


class _Loader:
    """Reads claims. Each workload, machine and list of names is loaded once."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._workloads = workloads.load(lab)
        self._experiments = experiment.names(lab)
        self._guests = guests.names(lab)
        self._boards: dict[str, Machine] = {}

    def _board(self, name: str, where: Where) -> Machine:
        """The machine. Raises UserError for an unknown name; `where` begins the message."""
        if name not in self._boards:
            self._boards[name] = machines.load(self._lab, name, where)
        return self._boards[name]

    def claims(self, name: str, table: TomlTable) -> list[Claim]:
        """The claim in a table, or several claims: one for each entry of the table's `values`."""
        source = table.text("source")
        paper, _, place = source.partition(" ")
        if paper not in papers.here() or not _PLACE.fullmatch(place):
            raise UserError(
                f"{table.at('source')}: expected a paper ({', '.join(papers.here())}) and a"
                f" chapter, section, table, figure, listing, appendix or file; found {source!r}"
            )
        role, tag = table.choice("role", ROLES), table.choice("tag", TAGS)
        if role == UNTESTABLE:
            return self._untestable(name, table, tag)
        claim = table.record(Claim, ["value", "measure"], id=name, value=math.nan, measure=None)
        board = self._board(claim.machine, lambda _: table.at("machine"))
        self._check_keys(table, claim, board)
        if "measure" in table.data:
            measure = self._measure(table.table("measure"), board, shape=tag in SHAPES)
            return [replace(claim, value=_value(table, tag), measure=measure)]
        if role != INPUT or len(claim.keys) != 1:
            raise UserError(f"{table.where}: expected a measure, or the role input with one key")
        if claim.keys[0].startswith(TIMING):
            raise UserError(
                f"{table.where}: expected a measure, because the clocks of a row in the timing"
                " table depend on the use of this row"
            )
        if tag in SHAPES:
            raise UserError(f"{table.where}: expected a measure: a shape needs a curve")
        return [replace(claim, value=_value(table, tag))]

    def _untestable(self, name: str, table: TomlTable, tag: str) -> list[Claim]:
        """The claims in a table with the role `untestable`. The table can contain `values`: several
        numbers, each with a name."""
        given = {"machine": table.text("machine", ""), "reason": table.text("reason")}
        nothing = {"keys": (), "measure": None, "note": ""}
        numbers = "values" if "values" in table.data else "value"
        claim = table.record(Claim, [numbers, *given], id=name, value=math.nan, **given, **nothing)
        if numbers == "value":
            return [replace(claim, value=_value(table, tag))]
        values = table.table(numbers)
        return [
            replace(
                claim,
                id=f"{name} {what}",
                quantity=f"{claim.quantity}, {what}",
                value=values.real(what),
            )
            for what in values.data
        ]

    def _check_keys(self, table: TomlTable, claim: Claim, board: Machine) -> None:
        """Raises UserError for a wrong key, and for keys that do not fit the role of the claim."""
        where = table.at("keys")
        if claim.keys and claim.role in (PREDICTED, SYSTEM):
            raise UserError(
                f"{where}: expected no keys, because a {claim.role} number does not come from a key"
            )
        if not claim.keys and claim.role == FITTED:
            raise UserError(f"{where}: expected the machine keys that were fitted to this number")
        for key in claim.keys:
            row = key.removeprefix(TIMING)
            if row != key and row not in (rows := self._timing_rows(board)):
                raise unknown("row of the timing table", row, rows, where=where)
            if row == key and key not in BY_NAME:
                raise unknown("machine key", key, BY_NAME, where=where)

    def _timing_rows(self, board: Machine) -> list[str]:
        with self._lab.timing(str(board.values["cpu.timing"])).open(encoding="utf-8") as file:
            rows = csv.reader(line for line in file if not line.startswith("#"))
            return [row[0] for row in rows][1:]

    def _measure(self, table: TomlTable, board: Machine, *, shape: bool) -> Measure:
        measure = table.record(
            Measure,
            (*_OF_SELECTION, "guest", "less", "over"),
            guest=table.text("guest", GUEST),
            select=Selection(),
            less=None,
            over=None,
        )
        where = table.where
        workload = self._where(table, measure.experiment, measure.guest, measure.workload)
        _check_swept(table, workload, measure.by)
        _check_statistic(table, workload, measure)
        if shape:
            if {"statistic", "less", "over"} & set(table.data):
                raise UserError(
                    f"{where}: expected one curve and no statistic, because the tag is a shape"
                )
            chosen = [] if measure.by else table.texts("phases", []) or _points(workload)
            _check_phases(workload, chosen, where, sizes=True)
        if not measure.count:
            raise UserError(f"{where}: count: expected at least one event or parameter")
        if "bandwidth" in table.data and "base" not in table.data:
            raise UserError(
                f"{where}: bandwidth: expected only with base; base is the bandwidth of a"
                " Microvax II"
            )
        own = {key: table.data[key] for key in _OF_SELECTION if key in table.data}
        return replace(
            measure,
            select=_selection(workload, board, table.with_data(own), Selection()),
            less=self._other(table, "less", own, board),
            over=self._other(table, "over", own, board),
        )

    def _where(self, table: TomlTable, asked: str, guest: str, name: str) -> Workload:
        """The workload. Raises UserError if the workload, the experiment or the guest is
        unknown."""
        for kind, wanted, known in (
            ("experiment", asked, self._experiments),
            ("guest", guest, self._guests),
            ("workload", name, list(self._workloads)),
        ):
            if wanted not in known:
                raise unknown(kind, wanted, known, where=table.where)
        return self._workloads[name]

    def _other(
        self, measure: TomlTable, key: str, own: dict[str, Any], board: Machine
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
        selection = table.record(Selection, _OF_SELECTION, parameters={}, phases=(), geometry="")
        workload = self._where(
            table,
            selection.experiment or measure.text("experiment"),
            selection.guest or measure.text("guest", GUEST),
            selection.workload or measure.text("workload"),
        )
        inherited = {key: own[key] for key in own if not selection.workload or key == "set"}
        if selection.machine:
            board = self._board(selection.machine, table.where)
            inherited.pop("set", None)
        given = {key: table.data[key] for key in _OF_SELECTION if key in table.data}
        return _selection(workload, board, table.with_data(inherited | given), selection)


def _check_swept(table: TomlTable, workload: Workload, by: str) -> None:
    """Raises UserError if the parameter over which the curve of a measure goes (`by`; empty for the
    phases of the workload) does not count KB, or if there is not one phase."""
    if by and (by not in workload.parameters or workload.parameters[by].unit != "KB"):
        in_kb = [key for key, parameter in workload.parameters.items() if parameter.unit == "KB"]
        raise unknown("parameter that counts KB", by, in_kb, where=f"{table.where}: by")
    if by and len(table.texts("phases", [])) != 1:
        raise UserError(f"{table.where}: phases: expected one phase, because `by` is given")


def _check_statistic(table: TomlTable, workload: Workload, measure: Measure) -> None:
    """Raises UserError for an unknown statistic, and for a plateau or a crossing without the keys
    that it needs."""
    where = table.where
    plateau = measure.statistic in (PLATEAU_END, PLATEAU_START)
    known = (*STATISTICS, PLATEAU_END, PLATEAU_START, CROSSING)
    if measure.statistic not in known:
        raise unknown("statistic", measure.statistic, known, where=where)
    if plateau != ("at" in table.data):
        raise UserError(
            f"{where}: at: expected a phase on the plateau if the statistic is the end or start"
            " of a plateau; expected no `at` for any other statistic"
        )
    if plateau:
        _check_phases(workload, [measure.at], f"{where}: at", sizes=True, known=not measure.by)
    if measure.statistic == CROSSING:
        if "less" not in table.data or "over" in table.data:
            raise UserError(
                f"{where}: a crossing: expected `less` for the other curve, and no `over`"
            )
        _check_phases(workload, [] if measure.by else _points(workload), where, sizes=True)


def _selection(
    workload: Workload, board: Machine, table: TomlTable, selection: Selection
) -> Selection:
    """A selection with the parameters, phases and machine settings of the table."""
    given = table.table("parameters", {})
    resolved = workload.resolve(given.data, given.near)
    phases = table.texts("phases", [])
    _check_phases(workload, phases, table.where)
    settings = tomlfile.flatten(table.table("set", {}).data)
    return replace(
        selection,
        parameters={name: str(resolved[name]) for name in given.data},
        phases=tuple(phases),
        geometry=board.with_set(settings, table.table("set").near).geometry if settings else "",
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


def _value(table: TomlTable, tag: str) -> float:
    """The published number of a claim. The result is NaN for a claim about a shape, which has no
    number."""
    if tag not in SHAPES:
        return table.real("value")
    if "value" in table.data:
        raise UserError(
            f"{table.at('value')}: expected no value, because the tag {tag!r} is a shape"
        )
    return math.nan
