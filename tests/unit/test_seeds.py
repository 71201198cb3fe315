# SPDX-License-Identifier: MIT
"""The phase of the clock tick that belongs to a seed."""

from itertools import pairwise

import pytest

from p5lab.describe import experiment, seeds
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner

HZ = 90_000_000
TICK = 900_000  # clocks


def test_seed_0_changes_no_phase():
    assert seeds.phase(0, HZ) == 0


def test_the_phases_of_successive_seeds_are_far_apart():
    for first in (1, 100, seeds.SEED_LIMIT - 5):
        phases = sorted(seeds.phase(seed, HZ) for seed in range(first, first + 5))
        assert phases[0] >= 0
        assert phases[-1] < TICK
        around = [*phases, phases[0] + TICK]
        assert min(b - a for a, b in pairwise(around)) > TICK / 10
    assert seeds.phase(3, 2 * HZ) // 2 == seeds.phase(3, HZ)


def test_the_engine_gets_the_phase_of_its_seed(lab):
    runs = experiment.load(lab, "tests", Filter(seeds=(0, 3)))
    for result in Runner(lab).run_all(runs):
        text = (result.directory / "boot.conf").read_text()
        phase = f"run.phase = {seeds.phase(3, result.run.machine.clock_hz)}\n"
        assert (phase in text) == (result.run.seed == 3)
        assert ("run.phase" in text) == (result.run.seed == 3)


def test_a_number_of_seeds():
    assert seeds.count("3") == (0, 1, 2)
    assert seeds.count("0,4-5") == (0, 4, 5)
    for text in ("0", "1001", "x"):
        with pytest.raises(UserError, match="--seeds: expected"):
            seeds.count(text)
