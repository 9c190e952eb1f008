# SPDX-License-Identifier: BSL-1.0
#
# What has changed between two stored runs: before and after a commit, one compiler and another.
"""run.py compare BEFORE AFTER [--absolute] [--all]

The same machine is not equally fast at two times, so values of two runs say little. What is compared is how
many times better a contender was than the best Asio row of the same case, beside which it ran: the machine's
speed cancels. Where there is no such row, or with --absolute, values themselves are compared.

Judged are gyre's rows in the headline of each case with two blocks at least in both runs; those of a suite
are one family. What became of all other contenders is told apart: their programs are the same, so it tells
whether the machine is. A row of gyre's that AFTER lacks is worse, too, for whatever reason it does. Ends with
1 if something has become worse, so that it can guard a change, and with 2 if the runs are of different
machines, scales or work.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
from analyse import stats, tables
from analyse.frame import Run, load
from analyse.stats import AHEAD, BEHIND, OPEN, Estimate

# Of the first line: what may differ, and what has to be the same.
ALLOWED = {"machine": ("compiler", "flags", "build_type"), "conditions": ("blocks", "rounds", "turns")}
ESSENTIAL = {"machine": ("cpu", "cores", "kernel"), "conditions": ("scale",)}
WORDS = {AHEAD: "better", BEHIND: "worse", OPEN: "open"}


@dataclass(frozen=True)
class Change:
    """`estimate`: how many times better it has become, widened by the controls of both runs."""

    suite: str
    case: str
    metric: str
    contender: str
    reference: str | None  # None: values were compared.
    before: float
    after: float
    unit: str
    estimate: Estimate
    verdict: str = ""


def reference_of(before: Run, after: Run, suite: str, case: str, metric: str) -> str | None:
    """The best Asio row of the first run, of those that the second has, too."""
    asio = [each for each in before.libraries if before.family(each) == "asio"
            and after.row(suite, case, metric, each)]
    return before.best(suite, case, metric, asio)


def change_of(before: Run, after: Run, key: tuple, absolute: bool) -> Change | None:
    suite, case, metric, contender = key
    rows = [run.row(*key) for run in (before, after)]
    if None in rows:
        return None
    reference = None if absolute else reference_of(before, after, suite, case, metric)
    if reference == contender:
        return None  # It is what the others are measured by.
    first, second = (run.values(*key, reference) if reference else run.logarithms(*key)
                     for run in (before, after))
    if not first or not second:
        return None
    found = stats.difference(second, first)
    for run in (before, after):
        found = found.widened(run.control(suite, case, metric))
    return Change(*key, reference, rows[0].value, rows[1].value, rows[0].unit, found)


def is_judged(change: Change | None) -> bool:
    return change is not None and not math.isinf(change.estimate.half)


def judged(run: Run, suite: str, names: list[str]) -> list[tuple[str, str, str, str]]:
    """Suite, case, metric and contender of what may have a row."""
    return [(suite, case, run.headline(suite, case), name) for case in run.cases(suite)
            if run.described(suite, case)["judged"] for name in names]


def changes(before: Run, after: Run, absolute: bool = False, of_ours: bool = True) -> list[Change]:
    """Those of a suite are judged together."""
    names = before.ours if of_ours else [*before.libraries, *before.floors]
    result = []
    for suite in before.suites:
        found = (change_of(before, after, key, absolute) for key in judged(before, suite, names))
        family = [each for each in found if is_judged(each)]
        adjusted = stats.benjamini_hochberg([each.estimate.p for each in family])
        result += [replace(each, verdict=WORDS[stats.verdict(each.estimate, p)])
                   for each, p in zip(family, adjusted)]
    return result


def vanished(before: Run, after: Run, absolute: bool = False) -> dict[tuple[str, str, str], str]:
    """What one of ours could do before, and is not known to do now: suite, case, contender, and why."""
    reasons = dict.fromkeys(after.saturated, "saturated: it falls short of its rate now")
    reasons |= after.refused | after.broken
    found = {}
    for key in (key for suite in before.suites for key in judged(before, suite, before.ours)):
        place = key[:2] + key[3:]
        if before.row(*key) and not after.row(*key):
            found[place] = reasons.get(place, "was not measured")
        elif is_judged(change_of(before, before, key, absolute)) \
                and not is_judged(change_of(before, after, key, absolute)):
            found[place] = "has fewer than two blocks to compare"
    return found


def drift(before: Run, after: Run, absolute: bool = False) -> list[str]:
    """What became of all but gyre: by value, and, where it is confirmed, as gyre's rows are."""
    by_value = [each.estimate.ratio for each in changes(before, after, True, of_ours=False)]
    lines = [f"the machine: peers are {numpy.median(by_value):.2f}x as good as before by value "
             f"({min(by_value):.2f}x to {max(by_value):.2f}x, {len(by_value)} rows)"] if by_value else []
    others = changes(before, after, absolute, of_ours=False)
    for suite in dict.fromkeys(each.suite for each in others):
        rows = [each for each in others if each.suite == suite]
        moved = [each.estimate.ratio for each in rows if each.verdict != WORDS[OPEN]]
        if moved:
            lines.append(f"the machine differs: in {suite}, peers changed by {min(moved):.2f}x to "
                         f"{max(moved):.2f}x in {len(moved)} of {len(rows)} rows")
    return lines


def differences(before: Run, after: Run, titles: dict[str, tuple[str, ...]]) -> list[str]:
    """Facts that were not the same, of those under these titles of a run's first line."""
    return [f"{title}: {name} was {one.get(name)}, is {two.get(name)}" for title, names in titles.items()
            for one, two in [(getattr(before, title), getattr(after, title))] for name in names
            if one.get(name) != two.get(name)]


def other_programs(before: Run, after: Run) -> list[str]:
    return [f"{name} was {' '.join(one.values())}, is {' '.join(two.values())}"
            for name, one in before.identities.items() if (two := after.identities.get(name, one)) != one]


def other_work(before: Run, after: Run) -> list[str]:
    return [f"{what} of {' '.join(key)} was {case[what]}, is {other[what]}"
            for key, case in before.cases_by_key.items() if (other := after.cases_by_key.get(key))
            for what in ("operations", "record", "turns") if other[what] != case[what]]


def describe(change: Change) -> str:
    values = (f"{tables.format_value(change.before, change.unit)} -> "
              f"{tables.format_value(change.after, change.unit)} {change.unit}")
    against = f"against {change.reference}" if change.reference else "by itself"
    return (f"  {change.suite:10} {change.case:28} {change.metric:12} {change.contender:22} "
            f"{change.estimate.ratio:5.2f}x ({stats.interval_text(change.estimate)}) {against}; {values}")


def report(before: Run, after: Run, absolute: bool, everything: bool) -> int:
    found, lost = changes(before, after, absolute), vanished(before, after, absolute)
    if not found and not lost:
        print("compare: the first run has no row of gyre with two blocks", file=sys.stderr)
        return 2
    forbidden = differences(before, after, ESSENTIAL) + other_work(before, after)
    for each in differences(before, after, ALLOWED) + other_programs(before, after) + forbidden:
        print(f"not the same, {each}")
    if lost:
        print("worse, as these rows are not there any more:")
    for (suite, case, contender), reason in lost.items():
        print(f"  {suite:10} {case:28} {contender:22} {reason}")
    for word in ("worse", "better", "open") if everything else ("worse", "better"):
        rows = sorted((each for each in found if each.verdict == word),
                      key=lambda each: -abs(each.estimate.centre))
        if rows:
            print(f"{word}:", *map(describe, rows), sep="\n")
    counts = ", ".join(f"{sum(each.verdict == word for each in found)} {word}" for word
                       in ("worse", "better", "open"))
    print(f"{len(found)} rows of gyre, judged together with those of the same suite: {counts}")
    print(*drift(before, after, absolute), sep="\n")
    if forbidden:
        print("compare: these runs have not measured the same work on the same machine", file=sys.stderr)
        return 2
    return int(bool(lost) or any(each.verdict == "worse" for each in found))


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="run.py compare", description=__doc__.splitlines()[2])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--absolute", action="store_true", help="compare values, not ratios to Asio")
    parser.add_argument("--all", action="store_true", help="name rows that have not changed, too")
    asked = parser.parse_args(words)
    return report(load(asked.before), load(asked.after), asked.absolute, asked.all)
