# SPDX-License-Identifier: MIT
"""A trace of a fragment's instructions for the viewer Konata, in its log format Kanata 4.

The model has no pipeline stages: it knows when an instruction begins, how many clocks it holds the
pipes, and for what it waits. The stages are drawn from this by the rule of a pipeline in order
[INTEL-DM 2]: a pair enters a stage when the pair before it has left it. F waits for code, D1
decodes prefixes, D2 waits for an address (AGI), X has all other clocks, and W follows. After a
mispredicted branch the stages are empty, and the clocks of the branch fill them again.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from p5lab.describe.fragment import Fragment, Issue
from p5lab.present import pipes

HEADER = "Kanata\t0004"
STAGES = ("F", "D1", "D2", "X", "W")


@dataclass(frozen=True)
class _Pair:
    """The clocks in which the stages of a pair begin, and the clock after X."""

    fetch: int
    decode: int
    address: int
    execute: int
    end: int


def trace(fragment: Fragment, issues: Sequence[Issue]) -> str:
    """The text of the trace: the instructions of the fragment in its last call."""
    at: defaultdict[int, list[str]] = defaultdict(list)
    number, pair, refill = 0, None, 0
    for issue, following in pairwise(issues):
        if not fragment.contains(issue.address):
            continue
        waits = pipes.stalls(issue.counts)
        if issue.counts.get(pipes.IN_V) and pair:
            end = max(following.clock, pair.execute + 1)
            pair = _Pair(pair.fetch, pair.decode, pair.address, pair.execute, end)
        else:
            pair = _issued(issue, following.clock, waits, pair, refill)
        refill = int(waits.get("branches", 0))
        for line, clock in _lines(fragment, number, issue, waits, pair):
            at[clock].append(line)
        number += 1
    lines, before = [HEADER], None
    for clock in sorted(at):
        lines.append(f"C=\t{clock}" if before is None else f"C\t{clock - before}")
        lines += at[clock]
        before = clock
    return "\n".join(lines) + "\n"


def _issued(
    issue: Issue, end: int, waits: dict[str, float], before: _Pair | None, refill: int
) -> _Pair:
    """The stages of an instruction that goes into U. `end`: the clock at which the next instruction
    begins. `refill`: the clocks in which the stages were filled again before it."""
    code = sum(int(value) for name, value in waits.items() if name.startswith(("code.", "itlb")))
    prefixes, interlock = int(waits.get("prefixes", 0)), int(waits.get("agi", 0))
    execute = issue.clock + code + prefixes + interlock
    address = execute - interlock - 1
    decode = address - prefixes - 1
    fetch = decode - code - 1
    if before and not refill:
        fetch = min(fetch, before.decode)
        if not code:
            decode, address = min(decode, before.address), min(address, before.execute)
    elif before:
        fetch = min(fetch, issue.clock - refill)
    return _Pair(fetch, decode, address, execute, max(end, execute + 1))


def _lines(
    fragment: Fragment, number: int, issue: Issue, waits: dict[str, float], pair: _Pair
) -> list[tuple[str, int]]:
    pipe = "V" if issue.counts.get(pipes.IN_V) else "U"
    said = [f"pipe {pipe}", *pipes.reasons(issue.counts)]
    said += [f"{name} {pipes.amount(value)}" for name, value in waits.items()]
    begins = (pair.fetch, pair.decode, pair.address, pair.execute, pair.end)
    lines = [
        (f"I\t{number}\t{number}\t0", pair.fetch),
        (f"L\t{number}\t0\t{issue.address:x}: {fragment.text(issue.address)}", pair.fetch),
        (f"L\t{number}\t1\t{'; '.join(said)}", pair.fetch),
    ]
    lines += [
        (f"S\t{number}\t0\t{stage}", clock) for stage, clock in zip(STAGES, begins, strict=True)
    ]
    return [*lines, (f"R\t{number}\t{number}\t0", pair.end + 1)]
