# SPDX-License-Identifier: MIT
"""The intervals that a SimPoint 3.2 pair of files chooses: NAME.simpoints and NAME.weights."""

from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import UserError


@dataclass(frozen=True)
class Interval:
    """One of them, and the share of all instructions that it stands for."""

    number: int  # from 0
    cluster: int
    weight: float

    def start(self, length: int, warm_up: int) -> int:
        """The instruction that its warm-up begins with."""
        return max(0, self.number * length - warm_up)


def read(simpoints: Path) -> list[Interval]:
    """The file and the .weights beside it; UserError for what makes no sense."""
    numbers = _pairs(simpoints, int)
    weights = _pairs(simpoints.with_suffix(".weights"), float)
    if numbers.keys() != weights.keys():
        raise UserError(f"{simpoints}: expected the clusters of its .weights")
    return [
        Interval(int(number), cluster, weights[cluster])
        for cluster, number in sorted(numbers.items(), key=lambda item: item[1])
    ]


def _pairs(path: Path, kind: type[int] | type[float]) -> dict[int, float]:
    """VALUE CLUSTER, a line each; cluster -> value."""
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
        raise UserError(f"{path}: no interval in it")
    return found
