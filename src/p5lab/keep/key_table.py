# SPDX-License-Identifier: MIT
"""The table `keys` of `./p5lab query`: the machine keys and workload parameters of each run."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from p5lab.describe.keys import BY_NAME
from p5lab.describe.sweep import PARAMETERS
from p5stats.record import plain

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "keys"


def of(records: Sequence[Mapping[str, Any]]) -> "pa.Table":
    """Returns a row for each run: its id, and a column for each machine key (`l2.size`) and each
    workload parameter of these runs (`parameters.size`).

    A column of numbers has numbers, and a column of truth values has truth values. A size is a
    number of bytes. A value is null if the run does not have the key.
    """
    import pyarrow as pa

    rows = [_values(record) for record in records]
    names = [*BY_NAME, *sorted(set[str]().union(*rows) - BY_NAME.keys())]
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    ids = pa.array([str(record["run"]) for record in records], pa.string())
    return pa.table({"run": ids, **columns})


def _values(record: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {PARAMETERS + name: value for name, value in record["parameters"].items()}
    return {**record["machine"].get("values", {}), **parameters}


def _column(texts: Sequence[object]) -> "pa.Array":
    import pyarrow as pa

    values = [plain(text) for text in texts]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pa.array(values, pa.float64())
    if len(kinds) == 1:
        return pa.array(values)
    return pa.array([None if text is None else str(text) for text in texts], pa.string())
