# SPDX-License-Identifier: BSL-1.0
#
# Whether an interval of 95 % is one cannot be seen in a report; it can where the truth is known.
"""Simulates blocks of slices on a machine like the ones that this lab is used on, and counts."""

import math

import numpy
import pytest
from analyse import stats
from analyse.stats import AHEAD, BEHIND, OPEN, Estimate

BLOCKS, ROUNDS = 6, 10  # A quick run's.


class Machine:
    """Slices of 10 ms: what a process has by accident, noise, preemption, steal, bursts that last some 100
    ms, and a clock that drifts."""

    def __init__(self, seed: int, busy: float = 0.0):
        self.dice = numpy.random.default_rng(seed)
        self.busy = busy
        self.left, self.slow, self.drift = 0.0, 0.0, 0.0

    def burst(self, milliseconds: float) -> float:
        self.left -= milliseconds
        if self.left <= 0:
            self.slow = 0.0 if self.slow else self.dice.uniform(0.1, 0.6)
            self.left = self.dice.exponential(150 if self.slow else 3000)
        return self.slow * milliseconds

    def slice(self, mine: float) -> float:
        self.drift += self.dice.normal(0, 0.002)
        wall = 10 * math.exp(mine + self.drift + self.dice.normal(0, 0.01))
        wall += self.burst(wall) + (self.dice.exponential(4) if self.dice.random() < 0.01 else 0)
        return wall + self.dice.poisson(self.busy) * self.dice.uniform(1, 4)

    def play(self, speeds: list[float]) -> list[list[list[float]]]:
        """Walls by contender, block and round."""
        walls: list[list[list[float]]] = [[] for _ in speeds]
        for _ in range(BLOCKS):
            accident = self.dice.normal(0, 0.01, len(speeds))
            for of in walls:
                of.append([])
            for _ in range(ROUNDS):
                for each in self.dice.permutation(len(speeds)):
                    walls[each][-1].append(self.slice(accident[each] - math.log(speeds[each])))
        return walls


def compared(walls, one: int, two: int) -> Estimate:
    return stats.estimate(stats.block_value(theirs, ours) for ours, theirs in zip(walls[one], walls[two]))


@pytest.mark.parametrize(("busy", "half_max"), [(0.0, 0.03), (0.25, 0.08)])
def test_intervals_of_a_contender_beside_itself_contain_1_and_are_narrow(busy, half_max):
    agree, halves = [], []
    for seed in range(60):
        walls = Machine(seed, busy).play([1.0] * 6)
        control = compared(walls, 4, 5)
        for pair in ((0, 1), (2, 3)):
            found = compared(walls, *pair).widened(control)
            agree.append(found.low <= 1 <= found.high)
            halves.append(found.half)

    assert numpy.mean(agree) >= 0.93  # 95 % and more were seen in thousands; 120 scatter.
    assert numpy.median(halves) <= half_max


def test_a_tenth_is_found_and_nothing_else_on_a_quiet_machine():
    found = [compared(Machine(seed).play([1.1, 1.0, 1.0]), 0, 1) for seed in range(40)]

    assert numpy.mean([each.low > 1 for each in found]) >= 0.9
    assert numpy.median([each.ratio for each in found]) == pytest.approx(1.1, abs=0.01)


def test_of_rows_that_are_called_one_in_twenty_is_false():
    false = total = 0
    for seed in range(40):
        dice = numpy.random.default_rng(seed)
        truth = [0.0] * 60 + [0.05] * 20
        rows = [stats.estimate(each + dice.normal(0, 0.012, BLOCKS)) for each in truth]
        adjusted = stats.benjamini_hochberg([each.p for each in rows])
        verdicts = [stats.verdict(each, p) for each, p in zip(rows, adjusted)]
        false += sum(each != OPEN for each in verdicts[:60])
        total += sum(each != OPEN for each in verdicts)

    assert total > 500
    assert false / total <= 0.06


def test_a_single_disturbed_slice_moves_no_block():
    quiet = [1.0, 1.01, 0.99, 1.0, 1.0]

    assert stats.block_value([*quiet[:4], 50.0], quiet) == pytest.approx(0.0, abs=0.01)


def test_pairs_with_a_zero_have_no_ratio():
    assert stats.block_value([0.0, 2.0], [1.0, 1.0]) == pytest.approx(math.log(2))
    assert stats.block_value([0.0], [1.0]) is None


@pytest.mark.parametrize(("degrees", "quantile"),
                         [(1, 12.706), (4, 2.776), (5, 2.571), (7.5, 2.334), (30, 2.042)])
def test_students_quantiles_are_those_of_the_tables(degrees, quantile):
    assert stats.student_quantile(degrees) == pytest.approx(quantile, abs=0.001)


def test_an_interval_and_its_p_value_never_contradict_each_other():
    dice = numpy.random.default_rng(5)
    for _ in range(50):
        found = stats.estimate(dice.normal(0.02, 0.02, 5)).widened(Estimate(dice.normal(0, 0.01), 0.1, 4))
        assert (found.p < 0.05) == (not found.low <= 1 <= found.high)


def test_the_control_widens_and_never_moves():
    found = stats.estimate([0.10, 0.11, 0.09, 0.10])

    wider = found.widened(Estimate(-0.03, 0.2, 3))

    assert wider.centre == found.centre
    assert wider.half == pytest.approx(math.hypot(found.half, 0.03))
    assert found.widened(None) == found


def test_a_ratio_of_five_beside_a_control_that_is_off_by_a_tenth_is_ahead():
    found = stats.estimate([1.58, 1.60, 1.62, 1.59]).widened(Estimate(math.log(1.1), 0.3, 3))

    assert stats.verdict(found, found.p) == AHEAD


def test_one_block_says_nothing():
    found = stats.estimate([0.7])

    assert (found.ratio, found.low, found.high, found.p) == (pytest.approx(math.exp(0.7)), 0.0, math.inf, 1.0)
    assert stats.interval_text(found) == "one block"
    assert stats.verdict(found, found.p) == OPEN


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_says_nothing(value):
    assert stats.estimate([value] * 3).p == 1.0
    assert stats.estimate([1.0, 1.0, value]).p == 1.0


def test_two_runs_are_compared_as_welch_does():
    found = stats.difference([0.31, 0.29, 0.30, 0.30], [0.01, -0.01, 0.02, -0.02])

    assert found.centre == pytest.approx(0.3)
    assert stats.verdict(found, found.p) == AHEAD
    assert stats.verdict(stats.difference([0.0, 0.01], [0.3, 0.31]), 0.01) == BEHIND


def test_quantiles_beyond_which_fewer_than_five_values_lie_are_left_out():
    buckets = {1.0: 495, 2.0: 5}

    assert stats.quantile_of(buckets, 0.5) == 1.0
    assert stats.quantile_of(buckets, 0.99) == 1.0
    assert stats.quantile_of(buckets, 0.999) is None
