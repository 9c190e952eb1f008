# SPDX-License-Identifier: BSL-1.0
#
# suites.toml says what is asked; this says what a run answers.
#
# A goal is judged by ratios of the same run alone: figures of other days and machines do not travel.
"""The goals, and what a run says about each: met, open, missed or not judged, with figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analyse import stats, suite_tables, tables
from analyse.frame import Run
from measure import suites

MET, OPEN, MISSED, NOT_JUDGED = "met", "open", "missed", "not judged"
VERDICTS = (MET, OPEN, MISSED, NOT_JUDGED)
NO_WORSE = 0.97  # What may be missing where nothing better is asked, but has to be shown.


@dataclass(frozen=True)
class Finding:
    """One case of a goal. `slack`: how many times better than asked."""

    case: str
    verdict: str
    slack: float
    figures: str


@dataclass(frozen=True)
class Judgement:
    text: str
    verdict: str
    figures: str


def judge_all(run: Run) -> list[Judgement]:
    return [judge(run, each) for each in suites.goals()]


def judge(run: Run, goal: dict) -> Judgement:
    find = _rise if "rise" in goal else _bound if "bound" in goal else _compare
    found = find(run, goal)
    if not found:
        return Judgement(goal["text"], NOT_JUDGED, "not in this run")
    missed = [each for each in found if each.verdict == MISSED]
    unmet = [each for each in found if each.verdict != MET]
    verdict = MISSED if missed else OPEN if unmet else MET
    worst = min(missed or unmet or found, key=lambda each: each.slack)
    count = "" if len(found) == 1 else f"{len(found) - len(unmet)} of {len(found)} cases met; " \
        f"{'closest' if verdict == MET else 'farthest off'}: "
    return Judgement(goal["text"], verdict, f"{count}{worst.case}: {worst.figures}")


def _matching(names: list[str], patterns: str) -> list[str]:
    return [each for each in names if suites.matches(each, patterns)]


def _compare(run: Run, goal: dict) -> list[Finding]:
    suite, found = goal["suite"], []
    for case in _matching(run.cases(suite), goal["cases"]):
        metric = goal.get("metric") or run.headline(suite, case)
        ours = _matching(run.ours, goal.get("ours", "gyre_*"))
        others = [each for each in run.contenders if each not in run.ours]
        peers = _matching(others, goal["against"]) if "against" in goal else run.libraries
        best, peer = run.best(suite, case, metric, ours), run.best(suite, case, metric, peers)
        if peer and not best:
            found += _lacking(run, suite, case, ours)
        elif best and peer and not _kept_pace(run, goal, case, best, peer):
            compared = run.compare(suite, case, metric, best, peer)
            if compared is not None:
                found.append(_finding(goal, case, compared))
    return found


def asked_of(goal: dict) -> float:
    return 1 / goal["most"] if "most" in goal else goal.get("least", 1.0)


def _finding(goal: dict, case: str, compared) -> Finding:
    asked, its = asked_of(goal), compared.estimate
    verdict = _verdict(its, asked, NO_WORSE * asked if goal.get("no_worse") else asked)
    return Finding(case, verdict, its.ratio / asked,
                   f"{compared.contender} {tables.format_ratio(its.ratio)} ({stats.interval_text(its)}) of "
                   f"{compared.reference}, asked {asked:.2f}x")


def _verdict(its: stats.Estimate, asked: float, shown: float) -> str:
    """Missed: the whole interval lies below what is asked. Met: none of it below what has to be shown."""
    return MISSED if its.high < asked else MET if its.low >= shown else OPEN


def _lacking(run: Run, suite: str, case: str, ours: list[str]) -> list[Finding]:
    """A case in which none of ours has a row is missed, if one of them failed there or falls short of its
    rate; a contender that was not asked has missed nothing."""
    reasons = [f"{each} has no row: {run.broken[suite, case, each]}" for each in ours
               if (suite, case, each) in run.broken]
    reasons += [f"{each} is saturated" for each in ours if run.is_saturated(suite, case, each)]
    return [Finding(case, MISSED, 0.0, reasons[0])] if reasons else []


def _kept_pace(run: Run, goal: dict, case: str, best: str, peer: str) -> bool:
    """Both were as fast as they were asked to be, which is no difference between them."""
    return suites.matches(case, goal.get("paced", "")) and not any(
        run.is_saturated(goal["suite"], case, each) for each in (best, peer))


def _bound(run: Run, goal: dict) -> list[Finding]:
    """The worst of ours, whatever others do."""
    found = []
    for suite in goal["suite"].split():
        for case in _matching(run.cases(suite), goal["cases"]):
            rows = {each: row for each in run.ours if (row := run.row(suite, case, goal["metric"], each))}
            found += _lacking(run, suite, case, [each for each in run.ours if each not in rows])
            if rows:
                worst = max(rows, key=lambda each: rows[each].value)
                value, unit = rows[worst].value, rows[worst].unit
                found.append(Finding(case, MET if value <= goal["bound"] else MISSED,
                                     goal["bound"] / value if value else math.inf,
                                     f"{worst} {tables.format_value(value, '')} {unit}, "
                                     f"at most {goal['bound']:,.0f}"))
    return found


def _rise(run: Run, goal: dict) -> list[Finding]:
    """From each number of threads to the next. Different cases share no rounds, so blocks are compared as
    those of two runs are."""
    suite, found = goal["suite"], []
    for pattern in goal["rise"]:
        for fewer, more in zip(suite_tables.THREADS, suite_tables.THREADS[1:]):
            before, after = (pattern.format(each) for each in (fewer, more))
            best = [run.best(suite, each, "throughput", run.ours) for each in (before, after)]
            if None in best:
                continue
            first, second = (run.logarithms(suite, case, "throughput", who)
                             for case, who in zip((before, after), best))
            change = stats.difference(second, first).widened(run.control(suite, after, "throughput"))
            found.append(Finding(after, _verdict(change, 1.0, NO_WORSE), change.ratio,
                                 f"{best[1]} {tables.format_ratio(change.ratio)} "
                                 f"({stats.interval_text(change)}) of {fewer} threads"))
    return found


def lines(run: Run) -> list[str]:
    """For the terminal."""
    found = judge_all(run)
    judged = [each for each in found if each.verdict != NOT_JUDGED]
    if not judged:
        return ["Goals: none of them can be judged by this run."]
    counts = ", ".join(f"{sum(each.verdict == verdict for each in found)} {verdict}" for verdict in VERDICTS)
    return [f"Goals: {counts}.", *(f"  {each.verdict:<7}{each.text}; {each.figures}" for each in judged)]
