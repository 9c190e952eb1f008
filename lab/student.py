# SPDX-License-Identifier: BSL-1.0
#
# Few samples say little, and exactly how little is arithmetic: Student's distribution, without scipy.
"""Student's tails, quantiles and intervals, tests of pairs and of two runs, and Holm's correction."""

from __future__ import annotations

import functools
import math

import numpy

SIGNIFICANCE = 0.05


def student_tail(t: float, degrees: int) -> float:
    """The probability that |T| exceeds |t|, for Student's distribution.

    Abramowitz and Stegun, 26.7.3 and 26.7.4: finite sums, exact for a whole number of degrees.
    """
    angle = math.atan(abs(t) / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term = cosine if degrees % 2 else 1.0
    total = 0.0 if degrees == 1 else term
    for k in range(3 if degrees % 2 else 2, degrees - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if degrees % 2:
        return 1.0 - (angle + sine * total) * 2 / math.pi
    return 1.0 - sine * total


@functools.cache
def student_quantile(degrees: int) -> float:
    """What |T| exceeds with a probability of 5 %."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, degrees) > SIGNIFICANCE else (low, middle)
    return high


def interval(ratios: numpy.ndarray) -> tuple[float, float]:
    """Where the true ratio lies, in 95 of 100 cases: Student's interval of the logarithms' mean.

    Of a single ratio nothing is known, so it is anywhere. docs/decisions/0018-intervals.md tells why this is
    no bootstrap.
    """
    logs = numpy.log(ratios)
    if len(logs) < 2:
        return 0.0, math.inf
    centre = float(logs.mean())
    half = student_quantile(len(logs) - 1) * float(logs.std(ddof=1)) / math.sqrt(len(logs))
    return math.exp(centre - half), math.exp(centre + half)


def interval_text(low: float, high: float, digits: int = 2) -> str:
    return "one round" if math.isinf(high) else f"{low:.{digits}f} to {high:.{digits}f}"


def paired_p_value(ratios: numpy.ndarray) -> float:
    """Two-sided p-value of "the ratio is 1", by a t-test on the logarithms."""
    if len(ratios) < 2:
        return 1.0
    logs = numpy.log(ratios)
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    if error == 0.0:
        return 1.0 if float(logs.mean()) == 0.0 else 0.0
    return max(0.0, student_tail(float(logs.mean()) / error, len(logs) - 1))


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down correction: the chance of any false claim stays below the level."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = largest
    return corrected


def _welch(before: numpy.ndarray, after: numpy.ndarray) -> tuple[float, float, int]:
    """The difference of the means, its standard error and Welch's degrees of freedom. These are rounded down,
    which errs on the side of saying nothing."""
    parts = [float(each.var(ddof=1)) / len(each) for each in (before, after)]
    difference = float(after.mean() - before.mean())
    if sum(parts) == 0.0:
        return difference, 0.0, 1
    degrees = sum(parts) ** 2 / sum(part ** 2 / (len(each) - 1)
                                    for part, each in zip(parts, (before, after)))
    return difference, math.sqrt(sum(parts)), max(1, int(degrees))


def welch_p_value(before: numpy.ndarray, after: numpy.ndarray) -> float:
    """Two-sided p-value of "both have the same mean", of logarithms."""
    if len(before) < 2 or len(after) < 2:
        return 1.0
    difference, error, degrees = _welch(before, after)
    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return max(0.0, student_tail(difference / error, degrees))


def welch_interval(before: numpy.ndarray, after: numpy.ndarray) -> tuple[float, float]:
    """Where the true ratio of two runs lies, in 95 of 100 cases, from their logarithms: two each at least."""
    difference, error, degrees = _welch(before, after)
    half = student_quantile(degrees) * error
    return math.exp(difference - half), math.exp(difference + half)
