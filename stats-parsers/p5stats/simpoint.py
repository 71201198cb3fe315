# SPDX-License-Identifier: MIT
"""SimPoint: chooses intervals that represent a run, and estimates the run's counts from these
intervals.

The file formats come from SimPoint 3.2 (section V of SimPoint's README). A frequency vector file
contains one line for each interval of execution. The ids are basic blocks:

    T:id:count :id:count ...

`count` is the number of executions of the block, multiplied by the number of instructions in the
block. The sum of the counts in a line is therefore the number of instructions in the interval. Ids
begin at 1. Lines that do not begin with T are comments. A line with T alone is an idle interval: it
has no instructions and belongs to no cluster. The probes of gem5, Valgrind and QEMU, PinPoints and
our own engine write this format. gem5 compresses the file.

A `.simpoints` file contains a line `interval cluster` for each cluster. A `.weights` file contains
a line `weight cluster` for each cluster. The weight of a cluster is the share of the run that the
cluster's interval represents. With `-coveragePct`, SimPoint omits the smallest clusters, and the
weights of the others add up to less than 1.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from p5stats.events import Events, Marker
from p5stats.lazy import np
from p5stats.problems import StatsError

# The defaults of SimPoint 3.2.
DIMENSIONS, SEEDS, THRESHOLD = 15, 5, 0.9
PROJECTION_SEED = 2042712918
# The smallest variance of normalised vectors. A cluster with a smaller variance is treated as a
# single point. An interval contains some million instructions. The smallest step of a block's share
# is therefore about 1e-6, and POINT is the square of this step.
POINT = 1e-12
# The misses that can stand beside the blocks, and the clocks of a miss of each kind on a Pentium PC
# of 90 to 100 MHz: an estimate. Only the proportions matter, because `cluster` scales them.
MISSES = {
    "code_misses": 6,
    "data_read_misses": 6,
    "data_write_misses": 6,
    "l2_read_misses": 20,
    "l2_write_misses": 10,
    "itlb_misses": 15,
    "dtlb_misses": 15,
}
_PAIR = re.compile(r"\s*:\s*([0-9]{1,18})\s*:\s*([0-9]{1,18})(?=[\s:]|$)")
# A weight in a file has two or more digits after the point, so the sum of n weights can exceed 1 by
# this share of n.
ROUNDING = 0.005
_GZIP = b"\x1f\x8b"


IDLE_INTERVAL = -1  # the label of an interval without instructions


@dataclass(frozen=True)
class Vectors:
    """The content of a frequency vector file: the counts of each interval, by block."""

    intervals: tuple[dict[int, int], ...]

    @property
    def lengths(self) -> list[int]:
        """The number of instructions of each interval."""
        return [sum(counts.values()) for counts in self.intervals]


@dataclass(frozen=True)
class SimPoint:
    """A chosen interval (from 0), its cluster, and the share of the run that it represents."""

    interval: int
    cluster: int
    weight: float


@dataclass(frozen=True)
class Clustering:
    """The result of `cluster`.

    points: the chosen intervals, in the order of the run. labels: the cluster of each interval, or
    IDLE_INTERVAL.
    scores: scores[k - 1] is the BIC score of k clusters.
    """

    points: tuple[SimPoint, ...]
    labels: tuple[int, ...]
    scores: tuple[float, ...]


# --- files --------------------------------------------------------------------------------------


def read_vectors(path: Path) -> Vectors:
    """Reads a frequency vector file, compressed or not. A StatsError names the first wrong line."""
    intervals: list[dict[int, int]] = []
    for where, line in _lines(path):
        if not line.startswith("T"):
            continue
        counts: dict[int, int] = {}
        at = 1
        while at < len(line):
            pair = _PAIR.match(line, at)
            if not pair:
                text = line[at:].split(maxsplit=1)[0][:60]
                raise StatsError(f"{where}: expected `T:id:count :id:count ...`, found {text!r}")
            block, count, at = int(pair[1]), int(pair[2]), pair.end()
            if block < 1:
                raise StatsError(f"{where}: expected block ids of at least 1, found {block}")
            counts[block] = counts.get(block, 0) + count
        intervals.append(counts if any(counts.values()) else {})
    if not intervals:
        raise StatsError(f"{path}: expected lines that begin with T, one for each interval")
    if not any(intervals):
        raise StatsError(f"{path}: expected an interval with instructions in it")
    return Vectors(tuple(intervals))


def is_packed(path: Path) -> bool:
    """Whether a file is compressed by gzip, whatever its name is."""
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the place (`file:number`) and the text of each line."""
    try:
        with gzip.open(path, "rb") if is_packed(path) else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield f"{path}:{number}", line.decode("ascii", "replace").strip()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise StatsError(f"{path}: the compressed file was cut short or is damaged") from None
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None


def write_points(points: Sequence[SimPoint]) -> tuple[str, str]:
    """Returns the texts of a .simpoints file and of a .weights file."""
    return (
        "".join(f"{point.interval} {point.cluster}\n" for point in points),
        "".join(f"{point.weight:.9g} {point.cluster}\n" for point in points),
    )


def read_points(
    simpoints: Path, weights: Path, intervals: float = math.inf
) -> tuple[SimPoint, ...]:
    """Reads the chosen intervals of a run from a .simpoints and a .weights file. The weights of the
    result add up to 1; `coverage` is their sum in the file.

    intervals: the number of intervals in the run, if it is known. Raises StatsError if a file is
    malformed, or if the two files do not match.
    """
    chosen, shares = _pairs(simpoints, int), _pairs(weights, float)
    if chosen.keys() != shares.keys():
        raise StatsError(f"{weights}: expected the same clusters as in {simpoints.name}")
    for interval in chosen.values():
        if not 0 <= interval < intervals:
            raise StatsError(f"{simpoints}: interval {interval}: expected 0 to {intervals - 1}")
    total = coverage(weights)
    points = [SimPoint(int(chosen[c]), c, shares[c] / total) for c in chosen]
    return tuple(sorted(points, key=lambda point: point.interval))


def coverage(weights: Path) -> float:
    """The share of the run that the clusters of a .weights file represent, more than 0. It is 1
    except for rounding, unless SimPoint ran with `-coveragePct`. Raises StatsError for weights that
    cannot be shares of one run."""
    shares = _pairs(weights, float).values()
    total = sum(shares)
    if not 0 < total <= 1 + ROUNDING * len(shares) or min(shares) < 0:
        raise StatsError(
            f"{weights}: expected weights that add up to 1, or to the share of -coveragePct, found"
            f" {total:g}"
        )
    return total


def _pairs(path: Path, kind: type[int] | type[float]) -> dict[int, float]:
    """Reads the lines `value cluster` of a file. Returns the value of each cluster."""
    values: dict[int, float] = {}
    for where, line in _lines(path):
        try:
            value, cluster = line.split()
            if int(cluster) in values:
                raise StatsError(f"{where}: cluster {cluster} a second time")
            values[int(cluster)] = kind(value)
        except ValueError as error:
            if isinstance(error, StatsError):
                raise
            raise StatsError(f"{where}: expected `value cluster`, found {line!r}") from None
    if not values:
        raise StatsError(f"{path}: empty: expected a line for each cluster")
    return values


# --- clustering ---------------------------------------------------------------------------------


def cluster(
    vectors: Vectors,
    max_k: int,
    misses: np.ndarray | None = None,
    *,
    seeds: int = SEEDS,
    threshold: float = THRESHOLD,
) -> Clustering:
    """Groups the intervals into clusters, as SimPoint 3.2 does with `-fixedLength off`. Idle
    intervals belong to no cluster.

    The vectors are normalised. A random projection reduces the vectors to 15 dimensions. k-means
    runs for every k up to max_k, from `seeds` starting points. The result uses the smallest k with
    a sufficient BIC score: at least worst score + `threshold` x (best score - worst score). The
    interval nearest to the centre of a cluster represents the cluster. Equal input gives equal
    output, because all random numbers have fixed seeds.

    misses: the clocks of the misses of each kind in each interval (`miss_clocks`), shape
    (intervals, kinds). They become further dimensions, with the same total variance as the blocks.
    """
    from sklearn.cluster import KMeans  # slow to import, and only one command needs it

    busy = [number for number, counts in enumerate(vectors.intervals) if counts]
    weights = np.asarray([vectors.lengths[number] for number in busy], dtype=float)
    points = _project([vectors.intervals[number] for number in busy]) / weights[:, np.newaxis]
    if misses is not None:
        points = _beside(points, misses[busy] / weights[:, np.newaxis], weights)
    most = min(max_k, len(np.unique(points, axis=0)))
    runs = [
        KMeans(k, n_init=seeds, random_state=k).fit(points, sample_weight=weights)
        for k in range(1, most + 1)
    ]
    scores = [_bic(points, weights, run.labels_, run.cluster_centers_) for run in runs]
    chosen = runs[_smallest(scores, threshold)]
    distances = ((points - chosen.cluster_centers_[chosen.labels_]) ** 2).sum(axis=1)
    # The clusters are numbered in the order in which they first appear in the run. The numbers from
    # k-means are not used.
    number = {label: new for new, label in enumerate(dict.fromkeys(chosen.labels_))}
    picked = []
    for label in number:
        members = np.flatnonzero(chosen.labels_ == label)
        nearest = members[np.argmin(distances[members])]
        share = weights[members].sum() / weights.sum()
        picked.append(SimPoint(busy[nearest], number[label], float(share)))
    labels = dict(zip(busy, chosen.labels_, strict=True))
    return Clustering(
        tuple(sorted(picked, key=lambda point: point.interval)),
        tuple(
            number[labels[interval]] if interval in labels else IDLE_INTERVAL
            for interval in range(len(vectors.intervals))
        ),
        tuple(scores),
    )


def _project(intervals: Sequence[Mapping[int, int]]) -> np.ndarray:
    """A random linear projection to 15 dimensions. If there are at most 15 blocks, there is no
    projection: each block has its own dimension.
    """
    column = {block: i for i, block in enumerate(sorted(set().union(*intervals)))}
    places = (
        np.random.default_rng(PROJECTION_SEED).uniform(-1, 1, (len(column), DIMENSIONS))
        if len(column) > DIMENSIONS
        else np.eye(len(column))
    )
    return np.array(
        [
            np.fromiter(counts.values(), float) @ places[[column[block] for block in counts]]
            for counts in intervals
        ]
    )


def _beside(points: np.ndarray, misses: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Appends the columns of `misses`, scaled to the total variance of `points`."""

    def variance(columns: np.ndarray) -> float:
        centre = np.average(columns, axis=0, weights=weights)
        return float(np.average(((columns - centre) ** 2).sum(axis=1), weights=weights))

    scale = math.sqrt(variance(points) / max(variance(misses), POINT))
    return np.hstack([points, scale * misses])


def _bic(points: np.ndarray, weights: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> float:
    """Returns the Bayesian information criterion of a clustering. The model is a mixture of
    spherical Gaussians with the same variance (Pelleg and Moore, X-means). The intervals are
    weighted as in SimPoint 3.2.
    """
    count, dimensions = points.shape
    shares = weights / weights.sum()
    squares = ((points - centres[labels]) ** 2).sum(axis=1)
    variance = max(float(shares @ squares) / dimensions, POINT)
    sizes = np.bincount(labels, shares, len(centres))
    likelihood = count * (
        -dimensions * (math.log(2 * math.pi * variance) + 1) / 2
        + float(shares @ np.log(sizes[labels]))
    )
    parameters = len(centres) - 1 + centres.size + 1  # sizes, centres, variance
    return likelihood - parameters / 2 * math.log(count)


def _smallest(scores: Sequence[float], threshold: float) -> int:
    enough = min(scores) + threshold * (max(scores) - min(scores))
    return next(index for index, score in enumerate(scores) if score >= enough)


# --- estimates ----------------------------------------------------------------------------------

INSTRUCTIONS, BUSY, IDLE = "instructions", "cycles.busy", "cycles.idle"


def bounds(vectors: Vectors, points: Sequence[SimPoint]) -> dict[int, tuple[int, int]]:
    """The begin and end of each chosen interval, as numbers of instructions since the run began."""
    ends = list(accumulate(vectors.lengths))
    return {
        p.interval: (ends[p.interval] - vectors.lengths[p.interval], ends[p.interval])
        for p in points
    }


def counted(parsed: Events, empty: int, interval: int | None = None) -> dict[str, int]:
    """Returns the counts of all events inside the brackets, for the whole run or only for
    `interval`.

    Events in nested brackets are counted once. Brackets of the phase `empty` are ignored.
    """
    counts = dict.fromkeys(parsed.units, 0)
    begin, end = parsed.intervals[interval] if interval is not None else (None, None)
    inside, depth = begin is None, 0
    before: Marker | None = None
    marks = [*parsed.markers, *(mark for mark in (begin, end) if mark)]
    for mark in sorted(marks, key=lambda mark: mark.line):
        if before and inside and depth:
            for event, value in parsed.between(before, mark).items():
                counts[event] += value
        before = mark
        if mark is begin or mark is end:
            inside = mark is begin
        elif mark.op in ("begin", "end") and mark.arg != empty:
            depth += 1 if mark.op == "begin" else -1
    return counts


def miss_clocks(parsed: Events, empty: int, intervals: int) -> np.ndarray:
    """The clocks that the misses of each interval take, by the kinds and weights of MISSES; shape
    (intervals, kinds). StatsError if the run has no counts of an interval."""
    if missing := set(range(intervals)) - parsed.intervals.keys():
        raise StatsError(f"the run has no counts of interval {min(missing)}")
    counts = (counted(parsed, empty, interval) for interval in range(intervals))
    clocks = [[events.get(kind, 0) * cost for kind, cost in MISSES.items()] for events in counts]
    return np.array(clocks, float)


def elapsed(parsed: Events, empty: int) -> int:
    """Returns the clocks from the begin of the first bracket to the end of the last bracket.

    Brackets of the phase `empty` are ignored.
    """
    brackets = [bracket for bracket in parsed.brackets if bracket.phase != empty]
    begin = min(bracket.begin.tsc for bracket in brackets)
    return max(bracket.end.tsc for bracket in brackets) - begin


def estimate(parsed: Events, empty: int, points: Sequence[SimPoint]) -> dict[str, float]:
    """Estimates the events per instruction of the whole run from the counts of its chosen
    intervals.

    parsed: the run that simulated these intervals in detail. The estimate is the weighted mean of
    the intervals' rates. The weight of an interval is the share of the run that the interval
    represents. StatsError if an interval is missing.
    """
    rates = dict.fromkeys(parsed.units, 0.0)
    for point in points:
        if point.interval not in parsed.intervals:
            raise StatsError(
                f"interval {point.interval} was not simulated: the run ended before the"
                " interval began"
            )
        counts = counted(parsed, empty, point.interval)
        for event, value in counts.items():
            rates[event] += point.weight * value / counts[INSTRUCTIONS]
    return rates
