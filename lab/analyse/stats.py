# SPDX-License-Identifier: BSL-1.0
#
# The arithmetic of claims, apart from where samples come from, so that it can be tried on made-up ones.
# docs/decisions/0023-short-slices.md has the figures that led to it.
"""From slices to an interval and a verdict.

The unit is the *block*: within it a contender's process is the same, so what that process has by accident is
in all of its slices, and only blocks are independent. A block gives one number, the median over its rounds of
the logarithm of the ratio of two slices of the same round: a slice that was hit by something moves no median.
The interval is Student's over these numbers. The control, a contender against itself, then widens it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import mpmath
import numpy

SIGNIFICANCE = 0.05
AHEAD, BEHIND, OPEN = "ahead", "behind", "open"
VERDICTS = (AHEAD, OPEN, BEHIND)
CLOSE = math.log(1.03)  # An open interval within 3 % either way is as good as level.


def student_tail(t: float, degrees: float) -> float:
    """The probability that |T| exceeds |t| (scipy's Debian package cannot stand beside Boost 1.81's)."""
    if math.isinf(t):
        return 0.0
    return float(mpmath.betainc(degrees / 2, 0.5, 0, degrees / (degrees + t * t), regularized=True))


@functools.cache
def student_quantile(degrees: float, tail: float = SIGNIFICANCE) -> float:
    """What |T| exceeds with this probability."""
    low, high = 0.0, 1.0
    while student_tail(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, degrees) > tail else (low, middle)
    return high


@dataclass(frozen=True)
class Estimate:
    """A ratio on the logarithmic scale. `half` is that of its 95 % interval; infinite for a single block."""

    centre: float
    half: float
    degrees: float

    @property
    def ratio(self) -> float:
        return math.exp(self.centre)

    @property
    def low(self) -> float:
        return math.exp(self.centre - self.half)

    @property
    def high(self) -> float:
        return math.exp(self.centre + self.half) if self.half < 700 else math.inf

    @property
    def p(self) -> float:
        """Two-sided, of "the ratio is 1": below 0.05 if and only if the interval leaves 1 out."""
        if not math.isfinite(self.half) or not math.isfinite(self.centre):
            return 1.0
        if self.half == 0.0:
            return 1.0 if self.centre == 0.0 else 0.0
        return student_tail(self.centre / self.half * student_quantile(self.degrees), self.degrees)

    def widened(self, control: Estimate | None) -> Estimate:
        """By how far the control was from its true ratio, which is 1: both add up as independent errors
        do."""
        return self if control is None else replace(self, half=math.hypot(self.half, control.centre))

    @property
    def is_close(self) -> bool:
        return abs(self.centre) + self.half <= CLOSE


def block_value(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """The median logarithm of ratios within a block. Pairs in which either is zero have no ratio."""
    pairs = min(len(ours), len(theirs))
    mine, other = (numpy.asarray(each[:pairs], dtype=float) for each in (ours, theirs))
    usable = (mine > 0) & (other > 0)
    return middle(numpy.log(mine[usable] / other[usable])) if usable.any() else None


def middle(values: numpy.ndarray) -> float:
    """The median; of a handful of values much sooner than numpy's."""
    ordered = numpy.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def estimate(values: Iterable[float]) -> Estimate:
    """Of the numbers of blocks."""
    found = numpy.asarray(list(values), dtype=float)
    if len(found) < 2:
        return Estimate(float(found.mean()) if len(found) else 0.0, math.inf, 1)
    error = float(found.std(ddof=1)) / math.sqrt(len(found))
    return Estimate(float(found.mean()), student_quantile(len(found) - 1) * error, len(found) - 1)


def difference(after: Sequence[float], before: Sequence[float]) -> Estimate:
    """Of two runs, which share no blocks: Welch's."""
    one, two = numpy.asarray(after, dtype=float), numpy.asarray(before, dtype=float)
    centre = float(one.mean() - two.mean())
    if min(len(one), len(two)) < 2:
        return Estimate(centre, math.inf, 1)
    parts = [float(each.var(ddof=1)) / len(each) for each in (one, two)]
    if sum(parts) == 0.0:
        return Estimate(centre, 0.0, 1)
    degrees = sum(parts) ** 2 / sum(part ** 2 / (len(each) - 1) for part, each in zip(parts, (one, two)))
    degrees = max(1.0, math.floor(2 * degrees) / 2 if degrees < 10
                  else math.floor(degrees))  # So that few differ.
    return Estimate(centre, student_quantile(degrees) * math.sqrt(sum(parts)), degrees)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: of what is at most 0.05, one in twenty is false at most, on average."""
    count = len(p_values)
    order = sorted(range(count), key=lambda index: p_values[index], reverse=True)
    adjusted, least = [1.0] * count, 1.0
    for rank, index in zip(range(count, 0, -1), order):
        least = min(least, p_values[index] * count / rank)
        adjusted[index] = least
    return adjusted


def verdict(of: Estimate, p_adjusted: float) -> str:
    if p_adjusted > SIGNIFICANCE or of.p > SIGNIFICANCE:
        return OPEN
    return AHEAD if of.centre > 0 else BEHIND


def interval_text(of: Estimate, digits: int = 2) -> str:
    return "one block" if math.isinf(of.half) else f"{of.low:.{digits}f}-{of.high:.{digits}f}"


def quantile_of(buckets: dict[float, int], part: float) -> float | None:
    """Of a histogram; None if fewer than five values lie beyond it: it would be an accident."""
    count = sum(buckets.values())
    if count * (1 - part) < 5 - 1e-9:
        return None
    wanted, seen = part * count, 0
    for value in sorted(buckets):
        seen += buckets[value]
        if seen >= wanted:
            return float(value)
    return None
