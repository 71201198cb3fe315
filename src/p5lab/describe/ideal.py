# SPDX-License-Identifier: MIT
"""Ideal parts: parts of the machine that take no time (the keys ideal.*), and the option --ideal.

The option makes the runs of an experiment on several machines: the plain machine, the machine with
each part ideal alone, the machine with all parts ideal, and the machine with all parts ideal except
one. So the cost of each part is known in two ways: what its time costs alone, and what is saved
last, when no other part takes time.
"""

from collections.abc import Mapping

from p5lab.describe.keys import BY_NAME
from p5lab.describe.sweep import Axis
from p5lab.errors import unknown

PREFIX, OPTION, EACH = "ideal.", "--ideal", "each"
PARTS = tuple(name.removeprefix(PREFIX) for name in BY_NAME if name.startswith(PREFIX))
PLAIN: frozenset[str] = frozenset()  # no ideal part


def parse(text: str) -> tuple[Axis, ...]:
    """The argument of --ideal: "each", or names of parts separated by commas. No axis for an empty
    text. Raises UserError for an unknown part."""
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
        {f"{PREFIX}{part}": "true" for part in chosen if part in one} for one in dict.fromkeys(sets)
    ]
    return (Axis(OPTION, tuple(steps)),)


def of(values: Mapping[str, object]) -> frozenset[str]:
    """The ideal parts of a machine, from the values of its keys in canonical form. Records of older
    versions have no such keys."""
    return frozenset(part for part in PARTS if str(values.get(f"{PREFIX}{part}", "")) == "true")
