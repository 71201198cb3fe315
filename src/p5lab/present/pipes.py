# SPDX-License-Identifier: MIT
"""The columns about the pipes in a table of instructions: the pipe, why an instruction did not go
into V, and its other clocks by component. All come from counts of the events of one instruction
(docs/concepts/cpi-stack.md)."""

from collections.abc import Mapping
from dataclasses import dataclass

from p5stats import cpi

BUSY, IN_V = "cycles.busy", "instructions.v"
# The reasons why an instruction is alone or has not gone into V, by component.
REASONS = {
    "cpi.single.first": "takes no companion",
    "cpi.single.second": "cannot go into V",
    "cpi.single.registers": "register of the one before",
    "cpi.single.new_code": "code is new in L1I",
}
_ISSUE = frozenset((*REASONS, "cpi.pairs", "cpi.single.other"))


@dataclass(frozen=True)
class Instruction:
    """An instruction with its counts. `place`: its source file, or its label. `line`: of its
    source; 0 if it is not known. `times`: its executions. A pair's clock belongs to its instruction
    in U."""

    address: int
    place: str
    line: int
    text: str
    times: float
    counts: Mapping[str, float]

    @property
    def clocks(self) -> float:
        """Busy clocks."""
        return self.counts.get(BUSY, 0)

    @property
    def pipe(self) -> str:
        """U or V, or U+V if the instruction was in both."""
        share = self.counts.get(IN_V, 0) / self.times if self.times else 0
        return "U+V" if 0 < share < 1 else "V" if share else "U"

    @property
    def why(self) -> str:
        """Why it is alone or not in V, and its further clocks by component."""
        further = (f"{name} {amount(n)}" for name, n in stalls(self.counts).items())
        return "; ".join(filter(None, [*self.reasons, ", ".join(further)]))

    @property
    def reasons(self) -> list[str]:
        """Why it is alone or not in V."""
        return reasons(self.counts)

    def row(self) -> dict[str, object]:
        """The columns for csv, json and Python."""
        return {
            "line": self.line or None,
            "instruction": self.text,
            "times": self.times,
            "in_v": self.counts.get(IN_V, 0),
            "clocks": self.clocks,
            "not_in_v": "; ".join(self.reasons),
            "stalls": " ".join(f"{name}={n:g}" for name, n in stalls(self.counts).items()),
        }


def reasons(counts: Mapping[str, float]) -> list[str]:
    """Why the instruction is alone in U: the reason of its own, or the reason that concerns it and
    the instruction before."""
    return [text for component, text in REASONS.items() if counts.get(component, 0) > 0]


def stalls(counts: Mapping[str, float]) -> dict[str, float]:
    """The clocks beyond the first one by component, the largest first. The names are those of the
    components without `cpi.`."""
    clocks = {
        name.removeprefix(cpi.PREFIX): value
        for name, value in counts.items()
        if name.startswith(cpi.PREFIX) and name not in _ISSUE and value
    }
    return dict(sorted(clocks.items(), key=lambda item: -item[1]))


def amount(value: float) -> str:
    """A number of clocks or executions: whole numbers without decimals, others with two."""
    return f"{value:,.0f}" if abs(value - round(value)) < 0.005 else f"{value:,.2f}"
