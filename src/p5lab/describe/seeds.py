# SPDX-License-Identifier: MIT
"""Seeds of runs, from an experiment's file and from --seed."""

import re

from p5lab.describe import tomlfile
from p5lab.describe.tomlfile import type_name
from p5lab.errors import UserError

SEED_LIMIT, SEEDS = 1 << 31, 1000
TICK = 0.01  # seconds between two ticks of the clock of p5lab's guests (HZ = 100)
GOLDEN, WORD = 0x9E3779B9, 0xFFFFFFFF  # 2^32 divided by the golden ratio


def of_table(table: tomlfile.TomlTable) -> tuple[int, ...]:
    """`seeds` of an experiment's file: a list of numbers, or a text in the form of --seed. Raises
    UserError for anything else."""
    if isinstance(table.data.get("seeds"), str):
        return parse(table.text("seeds"), table.at("seeds"))
    seeds = table.items("seeds", [0])
    if not seeds or not all(type(seed) is int and 0 <= seed < SEED_LIMIT for seed in seeds):
        raise UserError(
            f"{table.at('seeds')}: expected a list of whole numbers, 0 to {SEED_LIMIT - 1},"
            f" found {type_name(seeds)}"
        )
    return tuple(dict.fromkeys(seeds))


def parse(text: str, where: str = "--seed") -> tuple[int, ...]:
    """The seeds in a text: numbers and ranges, such as 0,1,2 or 0-9. `where` begins the message.
    Raises UserError for text in another form and for too many seeds."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r" *([0-9]{1,9})(?:-([0-9]{1,9}))? *", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < first + SEEDS:
            raise UserError(
                f"{where}: expected at most {SEEDS} whole numbers, such as 3 or 0,1,2 or 0-9;"
                f" found {text!r}"
            )
        seeds |= dict.fromkeys(range(first, last + 1))
    return tuple(seeds)


def count(text: str) -> tuple[int, ...]:
    """The seeds in the argument of --seeds: a number of seeds, such as 5 for 0 to 4, or a list in
    the form of --seed. Raises UserError as `parse` does, and for 0."""
    number = text.strip()
    if not number.isdecimal():
        return parse(text, "--seeds")
    if not 0 < int(number) <= SEEDS:
        raise UserError(f"--seeds: expected 1 to {SEEDS} seeds, or a list; found {number}")
    return tuple(range(int(number)))


def phase(seed: int, clock_hz: int) -> int:
    """The time that passes before the guest's ready marker, in core clocks: 0 to TICK seconds. So
    the ready marker is at another moment between two ticks of the guest's clock for each seed. The
    moments are the multiples of the golden ratio modulo 1, which are evenly distributed for any
    number of successive seeds (D. Knuth, The Art of Computer Programming 3, section 6.4). Seed 0
    has no such time."""
    return (seed * GOLDEN & WORD) * int(clock_hz * TICK) >> 32
