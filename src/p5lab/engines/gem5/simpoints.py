# SPDX-License-Identifier: MIT
"""Reads the chosen intervals from two files of SimPoint 3.2: NAME.simpoints and NAME.weights."""

from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import UserError

# The weights in a file are rounded, so the sum of n weights can exceed 1 by this share of n.
ROUNDING = 0.005


@dataclass(frozen=True)
class Interval:
    """One interval. `weight`: the share of all instructions that the interval represents (0 to
    1)."""

    number: int  # from 0
    cluster: int
    weight: float

    def start(self, length: int, warm_up: int) -> int:
        """The number of the first instruction of the interval's warm-up."""
        return max(0, self.number * length - warm_up)


def read(simpoints: Path) -> tuple[list[Interval], float]:
    """The intervals in a .simpoints file and in the .weights file beside it, and the sum of the
    weights in the file. SimPoint's option -coveragePct omits clusters, so the sum can be less than
    1; the weights of the result always add up to 1. Raises UserError if a file cannot be read, or
    if the two files do not fit together."""
    numbers = _pairs(simpoints, int)
    weights = _pairs(simpoints.with_suffix(".weights"), float)
    if numbers.keys() != weights.keys():
        raise UserError(f"{simpoints}: expected the same clusters as in its .weights file")
    coverage = sum(weights.values())
    if not 0 < coverage <= 1 + ROUNDING * len(weights) or min(weights.values()) < 0:
        raise UserError(
            f"{simpoints.with_suffix('.weights')}: expected weights that add up to 1, or to the"
            f" share of -coveragePct, found {coverage:g}"
        )
    chosen = [
        Interval(int(number), cluster, weights[cluster] / coverage)
        for cluster, number in sorted(numbers.items(), key=lambda item: item[1])
    ]
    return chosen, coverage


def _pairs(path: Path, kind: type[int] | type[float]) -> dict[int, float]:
    """The values in a file, by cluster. Each line has the form VALUE CLUSTER."""
    found: dict[int, float] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    for number, line in enumerate(lines, 1):
        try:
            value, cluster = line.split()
            found[int(cluster)] = kind(value)
        except ValueError:
            raise UserError(f"{path}:{number}: expected a value and a cluster") from None
    if not found:
        raise UserError(f"{path}: expected at least one line with a cluster")
    return found
