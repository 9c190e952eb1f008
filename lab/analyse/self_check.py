#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Does the lab see differences where there are none?
"""self_check.py FILE.json: everybody against itself, from a run with `--twins`.

In such a run each contender took part twice in each round, the second time as its own twin. So the true
ratio of each pair is 1, and an interval of 95 % has to contain it 95 times in 100. Prints how often that
was so, for each suite and together, which pairs are farthest apart, and what was left out; the exit code is 1
if it was less often than chance explains, or if nobody has a twin. Void cases count like all others.
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


def check(run: Run) -> tuple[list[Pair], dict[str, list[str]]]:
    """Pairs in judged metrics that have more than one round; and of what else is judged, by the reason why it
    was left out, the suites."""
    pairs, left_out = [], {}
    for row in run.document["rows"]:
        suite, case, metric, contender = (row[each] for each in ("suite", "case", "metric", "contender"))
        judged = evidence.judged_metrics(suite, case) or (evidence.HEADLINES[suite],)
        if metric not in judged or contender.endswith((evidence.TWIN_SUFFIX, evidence.CONTROL_SUFFIX)):
            continue
        twin = run.row(suite, case, metric, contender + evidence.TWIN_SUFFIX)
        ratios = evidence.paired_ratios(row["samples"], twin["samples"], row["better"]) if twin else []
        if run.row(suite, case, metric, contender) is None:
            left_out.setdefault("saturated", []).append(suite)
        elif twin is None:
            left_out.setdefault("without a twin", []).append(suite)
        elif len(ratios) < 2:
            left_out.setdefault("of fewer than two rounds", []).append(suite)
        else:
            pairs.append(Pair(suite, case, metric, contender, *evidence.interval(ratios),
                              evidence.paired_p_value(ratios)))
    return pairs, left_out


def left_out_lines(left_out: dict[str, list[str]]) -> list[str]:
    return [f"left out: {len(suites)} {reason} ("
            f"{', '.join(f'{suites.count(each)} of {each}' for each in dict.fromkeys(suites))})"
            for reason, suites in left_out.items()]


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
        pairs, left_out = check(Run(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, json.JSONDecodeError, KeyError) as error:
        sys.exit(f"self_check: {path}: {error}")
    if not pairs:
        sys.exit(f"self_check: {path}: nobody has a twin; run with --twins and two rounds at least")
    print("\n".join(report_of(pairs) + left_out_lines(left_out)))
    agreeing, fewest = sum(each.agrees for each in pairs), fewest_expected(len(pairs))
    reaches = "reaches" if agreeing >= SHARE * len(pairs) else "does not reach"
    print(f"the share {reaches} {100 * SHARE:.0f} %; chance explains {fewest} of {len(pairs)} and more")
    return 0 if agreeing >= fewest else 1


if __name__ == "__main__":
    sys.exit(main())
