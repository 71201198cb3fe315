# SPDX-License-Identifier: MIT
"""The rows of observers in counts.parquet, beside the rows of the markers (`p5stats.tidy`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from p5stats.lazy import pa, pd

TOTAL = "total."  # begins an event that includes nested calls; its unit is that of the event
OBSERVER, MARKERS = "observer", "markers"  # a column, and its value in the rows of the markers
# The columns of an observer's table that have other names in counts.parquet.
STORED = {"space": "address_space", "count": "value"}
GROUP = 1 << 17  # rows of a row group, so that a large table needs little memory


@dataclass(frozen=True)
class Counted:
    """The counts of one observer. `frame`: the columns `phase`, the observer's dimensions, `event`
    and `count`. The phase is a number, as in the file, or a name. `events`: all events that the
    observer counts, also those that did not happen."""

    frame: pd.DataFrame
    events: tuple[str, ...]

    @property
    def summary(self) -> dict[str, list[str]]:
        """What the metadata of counts.parquet contain: columns and events."""
        return {"columns": list(self.frame), "events": list(self.events)}


def fields(observed: Mapping[str, Counted], plain: pa.Schema) -> list[pa.Field]:
    """The columns of a table with these observers: those of `plain`, `observer`, and a column for
    each dimension. A dimension with whole numbers only is a number, any other a text."""
    frames = [counted.frame.rename(columns=STORED) for counted in observed.values()]
    names = dict.fromkeys(name for frame in frames for name in frame if name not in plain.names)
    whole = {
        name: all(frame[name].dtype.kind == "i" for frame in frames if name in frame)
        for name in names
    }
    own = [pa.field(name, pa.int64() if whole[name] else pa.string()) for name in names]
    return [*plain, pa.field(OBSERVER, pa.string()), *own]


def rows(
    name: str,
    counted: Counted,
    origin: Mapping[str, Any],
    units: Mapping[str, str],
    into: pa.Schema,
) -> Iterator[pa.Table]:
    """The rows of an observer in the form of counts.parquet, in groups. `origin`: the values of the
    columns that describe the run. `units`: the unit of each event."""
    for begin in range(0, len(counted.frame), GROUP):
        frame = counted.frame.iloc[begin : begin + GROUP].rename(columns=STORED)
        unit = frame["event"].str.removeprefix(TOTAL).map(units)
        frame = frame.assign(**origin, **{OBSERVER: name, "unit": unit})
        for field in into:
            if field.name not in frame:
                frame[field.name] = None
            elif field.type == pa.string():
                frame[field.name] = frame[field.name].astype(str)
        yield pa.Table.from_pandas(frame[into.names], schema=into, preserve_index=False)


def of_table(table: pa.Table, summary: Mapping[str, list[str]]) -> Counted:
    """The counts of an observer from its rows and its `Counted.summary`."""
    names = [STORED.get(name, name) for name in summary["columns"]]
    frame = table.select(names).replace_schema_metadata(None).to_pandas()
    return Counted(frame.set_axis(summary["columns"], axis="columns"), tuple(summary["events"]))
