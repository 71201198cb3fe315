# SPDX-License-Identifier: MIT
"""From the tidy table to the numbers the papers print.

What a bracket costs beside what it brackets, and who takes it out:

* chen95 brackets with start() and stop() on a counter device, two system calls that are themselves
  counted. Its Null benchmark measures a bracket around nothing, and that mean is removed from every
  other result. Counts read through the device (/dev/p5ctr) need the same: `correct` with the counts
  of the `null` workload.
* Our markers cost no cycles and count as nothing, so a count between two markers holds no call of
  the device and needs no Null correction. What remains is the handful of ordinary instructions that
  load a marker's registers. Each workload measures them by an empty bracket (phase `empty`), and
  `correct` with that phase removes them. What is left is comparable with a Null-corrected result
  of chen95: both hold the bracketed operation and nothing else.

The formula is the same: subtract the baseline from each iteration. A corrected count can be
slightly negative (the caches are in another state in the empty bracket); that is kept.
"""

import math
from collections.abc import Collection

import numpy as np
import pandas as pd

from p5stats.metrics import CROSSINGS as CROSSINGS
from p5stats.metrics import KERNEL
from p5stats.metrics import Counts as Counts
from p5stats.metrics import Metric as Metric
from p5stats.metrics import evaluate as evaluate
from p5stats.metrics import metrics as metrics
from p5stats.problems import StatsError
from p5stats.tidy import VECTOR

KEYS = [
    "experiment",
    "run",
    "engine",
    "machine",
    "geometry",
    "feedback",
    "guest",
    "seed",
    "workload",
    "parameters",
    "phase",
]
SOURCE = ["run", "geometry", "feedback"]  # of KEYS: what has counted
# Engines that report neither the vectors of interrupts nor the ring of a cycle.
UNDIVIDED = ("gem5",)


def counts(frame: pd.DataFrame, undivided: Collection[str] = UNDIVIDED) -> pd.DataFrame:
    """Counts per bracket over all rings and address spaces.

    Index: KEYS and iteration. Columns: events. chen95 reports all rings together, because what runs
    in ring 0 differs between systems; the column KERNEL keeps the busy cycles of ring 0. What an
    engine does not count is missing in its runs (NaN), never zero; the column VECTOR is NaN for
    runs of `undivided` engines, which report no vectors and no rings.
    """
    keys = [*KEYS, "iteration"]
    if frame.empty:
        raise StatsError("no brackets: the table is empty")
    # Most of the twelve have one value in a run, and each costs as much as any other.
    same = {key: frame[key].iloc[0] for key in keys if (frame[key] == frame[key].iloc[0]).all()}
    differ = [key for key in keys if key not in same] or ["iteration"]
    wide = frame.pivot_table(index=differ, columns="event", values="value", aggfunc="sum")
    wide.columns.name = None
    busy = frame[(frame["event"] == "cycles.busy") & (frame["ring"] == 0)]
    wide[KERNEL] = busy.groupby(differ, observed=True)["value"].sum().reindex(wide.index)
    index = wide.index.to_frame(index=False).assign(**{k: same[k] for k in keys if k not in differ})
    wide.index = pd.MultiIndex.from_frame(index[keys])
    vectors = [event for event in wide.columns if event.startswith(VECTOR)]
    without = wide.index.get_level_values("engine").isin(undivided)
    wide.loc[without, KERNEL] = math.nan
    if without.any():
        wide[VECTOR] = np.where(without, math.nan, 0)
    by_source = frame.groupby(SOURCE)["event"].unique()
    parts = []
    for source, rows in wide.groupby(level=SOURCE, sort=False):
        events = set(by_source[source])
        if rows.index.get_level_values("engine")[0] not in undivided:
            events |= {KERNEL} if "cycles.busy" in events else set()
            # A vector has rows only where it was taken.
            events |= set(vectors) if "hw_interrupts" in events else set()
        missing = [event for event in rows.columns[rows.isna().any()] if event in events]
        parts.append(rows.fillna(dict.fromkeys(missing, 0)) if missing else rows)
    return pd.concat(parts)


def correct(values: pd.DataFrame, cost: pd.Series) -> pd.DataFrame:
    """Each iteration of `values`, as `counts` gives them, less a cost per event.

    chen95's Null correction is `correct(values, null.mean())`.
    """
    return values.sub(cost.reindex(values.columns, fill_value=0), axis="columns")


def without_empty(values: pd.DataFrame, empty: str = "empty") -> pd.DataFrame:
    """All other phases less the same source's empty bracket; runs without one as they are.

    The median of the empty brackets is what counts: the first one runs on cold caches and the
    clock may tick in another, and neither belongs to the cost of a marker.
    """
    parts = []
    for _, run in values.groupby(level=SOURCE, sort=False):
        is_empty = run.index.get_level_values("phase") == empty
        parts.append(correct(run[~is_empty], run[is_empty].median()) if is_empty.any() else run)
    return pd.concat(parts)


def parameter(values: pd.DataFrame, name: str) -> pd.Series:
    """A numeric workload parameter of each row, taken from the `parameters` column of its index."""

    def value(text: str) -> float:
        settings = dict(part.split("=", 1) for part in text.split())
        if name not in settings:
            raise StatsError(f"no parameter {name!r} in {text!r}")
        return float(settings[name])

    texts = values.index.get_level_values("parameters")
    return pd.Series([value(text) for text in texts], index=values.index, name=name)


def summary(values: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over the iterations of each phase. Columns: (event, statistic)."""
    return values.groupby(level=KEYS, sort=False).agg(["mean", "min", "max"])
