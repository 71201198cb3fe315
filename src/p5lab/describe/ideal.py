# SPDX-License-Identifier: MIT
"""Ideal parts: parts of the machine that take no time (the keys ideal.*), and the option --ideal.

The option makes the runs of an experiment on several machines: the plain machine, the machine with
each part ideal alone, the machine with all parts ideal, and the machine with all parts ideal except
one. So the cost of each part is known in two ways: what its time costs alone, and what is saved
last, when no other part takes time.
"""

from collections.abc import Iterable, Mapping

from p5lab.describe.keys import BY_NAME
from p5lab.describe.machine import Machine
from p5lab.describe.sweep import Axis
from p5lab.errors import UserError, unknown

PREFIX, OPTION, EACH = "ideal.", "--ideal", "each"
PARTS = tuple(name.removeprefix(PREFIX) for name in BY_NAME if name.startswith(PREFIX))
PLAIN: frozenset[str] = frozenset()  # no ideal part


def parse(text: str) -> tuple[Axis, ...]:
    """The argument of --ideal: names of parts separated by commas, or "each" for all parts. A
    machine leaves out the parts that it does not have. No axis for an empty text. Raises UserError
    for an unknown part."""
    if not text:
        return ()
    chosen = (
        PARTS if text == EACH else tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    )
    for part in chosen:
        if part not in PARTS:
            raise unknown("part", part, (*PARTS, EACH), where=OPTION)
    every = frozenset(chosen)
    sets = [PLAIN, *(frozenset({part}) for part in chosen), every]
    sets += [every - {part} for part in chosen]
    steps = [
        {f"{PREFIX}{part}": "true" for part in chosen if part in ideal}
        for ideal in dict.fromkeys(sets)
    ]
    return (Axis(OPTION, tuple(steps), optional=True),)


def check(text: str, machines: Iterable[Machine]) -> None:
    """Raises UserError if --ideal names a part that none of the machines has. `text`: the argument
    of --ideal."""
    if text in ("", EACH):
        return
    has = frozenset[str]().union(*(of(machine.overlay) for machine in machines))
    for part in text.split(","):
        if part.strip() not in has:
            raise UserError(
                f"{OPTION} {part.strip()}: no machine of these runs has this part; expected"
                " another part, or a machine with it (--set)"
            )


def of(values: Mapping[str, object]) -> frozenset[str]:
    """The ideal parts of a machine, from the values of its keys in canonical form. Records of older
    versions have no such keys."""
    return frozenset(part for part in PARTS if str(values.get(f"{PREFIX}{part}", "")) == "true")
