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


def counts(found: list[Standing]) -> dict[str, int]:
    return {verdict: sum(each.verdict == verdict for each in found) for verdict in VERDICTS}


def losses(run: Run) -> list[tuple[Loss, Standing]]:
    """Where gyre loses, with the interval."""
    by_key = {(each.suite, each.case, each.metric, each.contender): each for each in standings(run)}
    return [(loss, by_key[loss.suite, loss.case, loss.metric, loss.contender])
            for loss in evidence.losses(run)]
