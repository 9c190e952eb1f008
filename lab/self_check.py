#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Does the lab see differences where there are none?
"""self_check.py FILE.json: everybody against itself, from a run with `--twins`.

In such a run each contender took part twice in each round, the second time as its own twin. So the true
ratio of each pair is 1, and an interval of 95 % has to contain it 95 times in 100. Prints how often that
was so, for each suite and together, and which pairs are farthest apart; the exit code is 1 if it was less
often than chance explains, or if nobody has a twin. Void cases count like all others.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import evidence
from evidence import Run

SHARE = 1 - evidence.SIGNIFICANCE
CHANCE = 0.001
SHOWN_MAX = 10


@dataclass(frozen=True)
class Pair:
    """A contender and its twin, in one judged metric of one case."""

    suite: str
    case: str
    metric: str
    contender: str
    low: float
    high: float
    p: float

    @property
    def agrees(self) -> bool:
        return self.low <= 1 <= self.high


def pairs_of(run: Run) -> list[Pair]:
    """Those of judged metrics that have more than one round and a ratio in each of them."""
    found = []
    for (suite, case, metric, contender), row in run.rows.items():
        twin = run.row(suite, case, metric, contender + evidence.TWIN_SUFFIX)
        if twin is None or metric not in (evidence.JUDGED[suite] or (evidence.HEADLINES[suite],)):
            continue
        ratios = evidence.paired_ratios(row["samples"], twin["samples"], row["better"])
        if len(ratios) > 1:
            found.append(Pair(suite, case, metric, contender, *evidence.interval(ratios),
                              evidence.paired_p_value(ratios)))
    return found


def fewest_expected(count: int) -> int:
    """How few of `count` intervals may agree, if each does with a probability of 95 %: fewer come about in
    less than one of a thousand runs (binomial distribution)."""
    total = 0.0
    for agreeing in range(count + 1):
        total += math.exp(math.lgamma(count + 1) - math.lgamma(agreeing + 1)
                          - math.lgamma(count - agreeing + 1)
                          + agreeing * math.log(SHARE) + (count - agreeing) * math.log(1 - SHARE))
        if total > CHANCE:
            return agreeing
    return count


def line_of(title: str, pairs: list[Pair]) -> str:
    agreeing = sum(each.agrees for each in pairs)
    return f"{title:<18} {len(pairs):>6} {agreeing:>6} {100 * agreeing / len(pairs):>7.1f} %"


def report_of(pairs: list[Pair]) -> list[str]:
    lines = [f"{'suite':<18} {'pairs':>6} {'agree':>6} {'share':>9}"]
    for suite in dict.fromkeys(each.suite for each in pairs):
        lines.append(line_of(suite, [each for each in pairs if each.suite == suite]))
    lines.append(line_of("all", pairs))
    apart = sorted((each for each in pairs if not each.agrees), key=lambda each: each.p)
    for each in apart[:SHOWN_MAX]:
        lines.append(f"  {each.suite} {each.case} {each.metric}, {each.contender}: "
                     f"{each.low:.3f} to {each.high:.3f}")
    if len(apart) > SHOWN_MAX:
        lines.append(f"  and {len(apart) - SHOWN_MAX} more, less far apart")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares everybody with itself.")
    parser.add_argument("file", type=Path, metavar="FILE.json", help="of a run with --twins")
    path = parser.parse_args().file
    try:
        pairs = pairs_of(Run(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, json.JSONDecodeError, KeyError) as error:
        sys.exit(f"self_check: {path}: {error}")
    if not pairs:
        sys.exit(f"self_check: {path}: nobody has a twin; run with --twins and two rounds at least")
    print("\n".join(report_of(pairs)))
    fewest = fewest_expected(len(pairs))
    print(f"chance explains {fewest} of {len(pairs)} and more")
    return 0 if sum(each.agrees for each in pairs) >= fewest else 1


if __name__ == "__main__":
    sys.exit(main())
