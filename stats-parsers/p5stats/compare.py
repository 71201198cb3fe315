# SPDX-License-Identifier: MIT
"""Computes the numbers that the papers print. The input is the tidy table.

A bracket itself has a cost. A correction removes this cost:

* chen95 measures an operation between start() and stop() of a counter device. The counters also
  count these two system calls. The Null benchmark of chen95 measures an empty bracket, and the
  paper subtracts the mean of Null from every other result. Counts that a program reads through the
  device (/dev/p5ctr) need the same correction: a call of `correct` with the counts of the `null`
  workload.
* Our markers cost no cycles, and the engine does not count them. A count between two markers
  therefore contains no call of the device and needs no Null correction. In addition to the
  operation, the count contains only the few ordinary instructions that load a marker's registers.
  Each workload measures these instructions by an empty bracket (phase `empty`). `correct` with the
  counts of phase `empty` removes these instructions. The result is comparable with a Null-corrected
  result of chen95, because the two results contain only the bracketed operation.

The two corrections use the same formula: subtract the baseline from each iteration. A corrected
count can be slightly negative, because the caches are in another state in the empty bracket.
Negative counts are not changed to zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from p5stats.lazy import np, pd
from p5stats.metrics import CROSSINGS as CROSSINGS
from p5stats.metrics import KERNEL
from p5stats.metrics import Counts as Counts
from p5stats.metrics import Dividends as Dividends
from p5stats.metrics import Metric as Metric
from p5stats.metrics import evaluate as evaluate
from p5stats.metrics import metrics as metrics
from p5stats.problems import StatsError
from p5stats.tidy import ORIGIN, VECTOR

KEYS = [*ORIGIN, "phase"]
SOURCE = ["run", "geometry", "feedback"]  # the KEYS that identify the counters of a row
# Engines that report no vectors of interrupts, and do not divide cycles by ring.
UNDIVIDED = ("gem5",)


def counts(frame: pd.DataFrame, undivided: Collection[str] = UNDIVIDED) -> pd.DataFrame:
    """Counts of each bracket, summed over all rings and address spaces.

    Index: KEYS and iteration. Columns: events. chen95 reports all rings together, because systems
    differ in the code that runs in ring 0. The column KERNEL contains the busy cycles of ring 0. If
    an engine does not count an event, the event is NaN in the engine's runs, never zero. The column
    VECTOR is NaN for runs of `undivided` engines, which report no vectors and no rings. StatsError
    if the table is empty or lacks a column.
    """
    keys = [*KEYS, "iteration"]
    if missing := [name for name in (*keys, "ring", "event", "value") if name not in frame]:
        raise StatsError(f"the table has no column {missing[0]}: expected all of p5stats.tidy")
    if frame.empty:
        raise StatsError("no brackets: the table is empty")
    # Most of the twelve keys have the same value in all rows of a run. Such keys are not part of
    # the pivot, because the time of the pivot is proportional to the number of keys.
    same = {key: frame[key].iloc[0] for key in keys if (frame[key] == frame[key].iloc[0]).all()}
    differ = [key for key in keys if key not in same] or ["iteration"]
    wide = frame.pivot_table(index=differ, columns="event", values="value", aggfunc="sum")
    wide.columns.name = None
    busy = frame[(frame["event"] == "cycles.busy") & (frame["ring"] == 0)]
    wide[KERNEL] = busy.groupby(differ, observed=True)["value"].sum().reindex(wide.index)
    index = wide.index.to_frame(index=False).assign(**{k: same[k] for k in keys if k not in differ})
    wide.index = pd.MultiIndex.from_frame(index[keys])
    vectors = [event for event in wide.columns if event.startswith(VECTOR)]
    divided = ~wide.index.get_level_values("engine").isin(undivided)
    wide.loc[~divided, KERNEL] = math.nan
    if not divided.all():
        wide[VECTOR] = np.where(divided, 0, math.nan)
    # A bracket has no row for an event that did not occur: if its source counts the event, it is 0.
    counted = frame[[*SOURCE, "event"]].drop_duplicates().assign(counts=True)
    counted = counted.pivot(index=SOURCE, columns="event", values="counts").reindex(_sources(wide))
    counts_it = counted.reindex(columns=wide.columns).notna().to_numpy()
    for event, of in ((KERNEL, "cycles.busy"), *((vector, "hw_interrupts") for vector in vectors)):
        if of in counted:
            counts_it[:, wide.columns.get_loc(event)] |= divided & counted[of].notna().to_numpy()
    return wide.mask(wide.isna() & counts_it, 0)


def _sources(values: pd.DataFrame) -> pd.MultiIndex:
    """The SOURCE of each row of a table of `counts`."""
    return values.index.droplevel([name for name in values.index.names if name not in SOURCE])


def correct(values: pd.DataFrame, cost: pd.Series) -> pd.DataFrame:
    """Subtracts a cost from each iteration of `values`, a table of `counts`.

    `cost`: the number to subtract, for each event.

    chen95's Null correction is `correct(values, null.mean())`.
    """
    return values.sub(cost.reindex(values.columns, fill_value=0), axis="columns")


def without_empty(values: pd.DataFrame, empty: str = "empty") -> pd.DataFrame:
    """Subtracts the empty bracket of the same SOURCE from all other phases.

    The function does not change runs without an empty bracket. The cost is the median of the empty
    brackets. The first empty bracket runs with cold caches, and a clock tick can occur in another
    empty bracket. Cold caches and clock ticks are not part of the cost of a marker, but they hardly
    change the median.
    """
    is_empty = values.index.get_level_values("phase") == empty
    cost = values[is_empty].groupby(level=SOURCE, sort=False).median()
    if cost.empty:
        return values
    rest = values[~is_empty]
    return rest - cost.reindex(_sources(rest)).fillna(0).to_numpy()


def parameter(values: pd.DataFrame, name: str) -> pd.Series:
    """The value of a numeric workload parameter in each row, from the index level `parameters`.

    StatsError if a row does not have the parameter.
    """

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
