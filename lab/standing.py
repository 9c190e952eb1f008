# SPDX-License-Identifier: BSL-1.0
#
# How gyre stands: each of its rows against the best row of anybody else's library.
#
# Ratios in tables are against the best Asio row, whatever else took part. Whoever reads a report wants to
# know whether something else would have been faster, and that is asked here.
"""Won, tied, undecided, lost or void, for every judged row of gyre's contenders."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy

import evidence
from evidence import Loss, Run

VERDICTS = ("won", "tied", "undecided", "lost", "void")
_WORDS = {"better": "won", "no difference": "tied", "undecided": "undecided", "no control": "undecided",
          "worse": "lost", "void": "void"}


@dataclass(frozen=True)
class Standing:
    """One of ours against the best peer, in one judged metric of one case."""

    suite: str
    case: str
    metric: str
    contender: str
    peer: str
    ratio: float  # How many times better ours is: the median of the rounds' ratios.
    low: float
    high: float
    control_spread: float | None
    verdict: str  # One of VERDICTS.


def ours(run: Run) -> list[str]:
    return [each for each in run.contenders() if run.family(each) == evidence.OUR_FAMILY]


def ratios_of(run: Run, suite: str, case: str, metric: str, contender: str,
              peer: str) -> numpy.ndarray | None:
    """Round by round; None if one of the two has no such row or no ratio."""
    mine, theirs = (run.row(suite, case, metric, each) for each in (contender, peer))
    if mine is None or theirs is None:
        return None
    ratios = evidence.paired_ratios(mine["samples"], theirs["samples"], mine["better"])
    return ratios if len(ratios) else None


@functools.lru_cache(maxsize=4)
def standings(run: Run) -> list[Standing]:
    """All of a run, judged together as all comparisons of evidence.py are."""
    found = (run.peer_comparison(suite, case, metric, contender)
             for suite in run.suites() for case in run.cases(suite)
             for metric in evidence.judged_metrics(suite, case) for contender in ours(run))
    return [Standing(each.suite, each.case, each.metric, each.contender, each.reference, each.ratio, each.low,
                     each.high, each.control_spread, _WORDS[each.verdict])
            for each in found if each is not None]


def of_suite(run: Run, suite: str, metric: str | None = None) -> list[Standing]:
    return [each for each in standings(run) if each.suite == suite and metric in (None, each.metric)]


# What tables show beside what is judged, and what somebody may choose a library for. The rest explains rows.
SHOWN = ("p99", "p99.9", "p99.99", "wire_p50", "wire_p99", "wire_p99.9", "cpu", "memory", "allocations",
         "system_calls", "text_and_data", "rss", "rss_busy", "rss_with_all")


@dataclass(frozen=True)
class Behind:
    """The better of ours behind the best peer, in what is shown and not judged."""

    suite: str
    case: str
    metric: str
    contender: str
    peer: str
    ratio: float  # Below 1.


def behind(run: Run) -> list[Behind]:
    """Beyond what the control differs from itself, if there is one; the farthest first."""
    found = []
    for suite in run.suites():
        for case in run.cases(suite):
            for metric in SHOWN:
                if metric in evidence.judged_metrics(suite, case):
                    continue
                mine = run.best(suite, case, metric, ours(run))
                peer = run.peer(suite, case, metric, mine) if mine else None
                ratios = ratios_of(run, suite, case, metric, mine, peer) if peer else None
                if ratios is None:
                    continue
                ratio = evidence.summarise(list(ratios)).median
                if ratio * (1 + (run.control_spread(suite, case, metric) or 0.0)) < 1:
                    found.append(Behind(suite, case, metric, mine, peer, ratio))
    return sorted(found, key=lambda each: each.ratio)


def without_row(run: Run, suite: str | None = None) -> list[tuple[str, str, str, str]]:
    """Where one of ours should have a row and has none, as it failed: suite, case, contender and why."""
    return [(*key, run.refusals[key]) for key in run.refusals
            if key in run.broken and run.family(key[2]) == evidence.OUR_FAMILY and suite in (None, key[0])]


def counts(found: list[Standing]) -> dict[str, int]:
    return {verdict: sum(each.verdict == verdict for each in found) for verdict in VERDICTS}


def losses(run: Run) -> list[tuple[Loss, Standing]]:
    """Where gyre loses, with the interval."""
    by_key = {(each.suite, each.case, each.metric, each.contender): each for each in standings(run)}
    return [(loss, by_key[loss.suite, loss.case, loss.metric, loss.contender])
            for loss in evidence.losses(run)]
