# SPDX-License-Identifier: BSL-1.0
#
# Does the lab see differences where there are none?
"""run.py self-check SUITE...: each contender against itself.

Each contender takes part twice, the second time as its own twin. The true ratio of such a pair is 1, and an
interval of 95 % has to contain it 95 times in 100. Prints how often that was so and how wide the intervals
are, for each suite and together, as they are in a report: widened by the control. Ends with 1 if fewer
contain 1 than chance explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy
from analyse import stats
from analyse.frame import Run, load, original
from analyse.stats import Estimate
from measure.processes import TWIN

SHARE = 1 - stats.SIGNIFICANCE
CHANCE = 0.001
SHOWN_MAX = 10


@dataclass(frozen=True)
class Pair:
    suite: str
    case: str
    contender: str
    own: Estimate
    widened: Estimate

    @property
    def agrees(self) -> bool:
        return self.widened.low <= 1 <= self.widened.high


def pairs_of(run: Run) -> list[Pair]:
    found = []
    for suite in run.suites:
        for case in run.cases(suite):
            metric = run.headline(suite, case)
            for name in run.contenders:
                own = run.ratio(suite, case, metric, name + TWIN, original(name))
                if own is not None and not math.isinf(own.half):
                    found.append(Pair(suite, case, name, own, own.widened(run.control(suite, case, metric))))
    return found


def fewest_expected(count: int) -> int:
    """How few of `count` intervals may agree, if each does with a probability of 95 %: fewer come about in
    less than one of a thousand runs (binomial distribution)."""
    total = 0.0
    for agreeing in range(count + 1):
        total += math.comb(count, agreeing) * SHARE ** agreeing * (1 - SHARE) ** (count - agreeing)
        if total > CHANCE:
            return agreeing
    return count


def line_of(title: str, pairs: Iterable[Pair]) -> str:
    pairs = list(pairs)
    halves = [100 * math.expm1(each.widened.half) for each in pairs]
    agree = sum(each.agrees for each in pairs)
    alone = sum(each.own.low <= 1 <= each.own.high for each in pairs)
    return (f"{title:<12} {len(pairs):>6} {100 * agree / len(pairs):>12.1f} % "
            f"{100 * alone / len(pairs):>12.1f} % "
            f"{numpy.median(halves):>12.2f} % {numpy.percentile(halves, 90):>10.2f} %")


def lines(pairs: list[Pair]) -> list[str]:
    found = [f"{'suite':<12} {'pairs':>6} {'contain 1':>14} {'not widened':>14} {'median half':>14} "
             f"{'90 % of':>12}"]
    for suite in dict.fromkeys(each.suite for each in pairs):
        found.append(line_of(suite, (each for each in pairs if each.suite == suite)))
    found.append(line_of("all", pairs))
    apart = sorted((each for each in pairs if not each.agrees), key=lambda each: each.widened.p)
    found += [f"  {each.suite} {each.case}, {each.contender}: {stats.interval_text(each.widened, 3)}"
              for each in apart[:SHOWN_MAX]]
    return found + ([f"  and {len(apart) - SHOWN_MAX} more"] if len(apart) > SHOWN_MAX else [])


def report(path: Path) -> int:
    pairs = pairs_of(load(path))
    if not pairs:
        print(f"self-check: {path} has no contender with a twin and two blocks")
        return 1
    agree, fewest = sum(each.agrees for each in pairs), fewest_expected(len(pairs))
    print(*lines(pairs), sep="\n")
    print(f"{agree} of {len(pairs)} intervals contain 1; chance explains {fewest} and more")
    return 0 if agree >= fewest else 1
