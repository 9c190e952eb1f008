# SPDX-License-Identifier: BSL-1.0
#
# What a row of samples allows one to say.
#
# Everything that turns samples into a claim is here, apart from measuring and from drawing, so
# that it can be tested without either (evidence_test.py) and applied again to a stored run.
"""Medians, spreads, paired ratios, the A/A control and the judgement of many rows together.

The unit of evidence is a *row*: the samples of one metric of one case by one contender, one
sample per round. Samples of the same round were taken within seconds of each other, so ratios are
formed round by round, which cancels what drifts slowly (clock frequency, neighbours).
"""

from __future__ import annotations

import fnmatch
import functools
import math
from dataclasses import dataclass

import numpy

from student import SIGNIFICANCE, holm, interval, interval_text, paired_p_value

CONTROL_SUFFIX = " (control)"
TWIN_SUFFIX = " (twin)"  # Of a contender in a run of everybody against itself.
SPIN_SUFFIX = "_spin"  # Of one that does not sleep when it has nothing to do.
CONTROL_SPREAD_MAX = 0.05
OUR_FAMILY = "gyre"
REFERENCE_FAMILY = "asio"
FLOOR_FAMILY = "floor"

# The metric that decides whether a case is void and has to be measured again.
HEADLINES = {
    "dispatch": "throughput",
    "throughput": "throughput",
    "latency": "mean",
    "http": "throughput",
    "echo": "cpu",
    "timers": "cpu",
    "churn": "throughput",
    "fan_out": "throughput",
    "baseline": "throughput",
    "cost": "compile",
    "exchange": "p50",
    "exchange_tuning": "p50",
}

# The same for cases whose runs have no metric in common with the others of their suite.
CASE_HEADLINES = {
    ("cost", "program_size"): "text_and_data",
    ("cost", "idle_connections"): "rss_with_all",
    ("cost", "steady_state"): "rss_busy",
}

# The same for a row that did not reach the rate that was asked for, and so has no latency.
SATURATED_HEADLINES = {"exchange": "orders_rate", "exchange_tuning": "orders_rate"}

# What is judged. Other metrics are shown with their ratios, but no claim is made about them.
JUDGED = {
    "dispatch": ("throughput",),
    "throughput": ("throughput",),
    "latency": ("mean", "p50", "p99"),
    "http": ("throughput", "p99"),
    "echo": ("cpu", "throughput"),
    "timers": ("cpu",),
    "churn": ("throughput", "p99"),
    "fan_out": ("throughput",),
    "baseline": ("throughput", "cpu"),
    "cost": ("compile", "per_connection"),
    "exchange": ("p50", "p99.9", "net", "orders_rate"),
    "exchange_tuning": (),  # To learn from; every claim is about what stands in `exchange`.
}

# The same for cases, by pattern, whose rate is given: they tell when answers come, not how many.
CASE_JUDGED = {("echo", "paced_*"): ("cpu", "p50", "p99")}

METHOD = (
    "Ratios say how many times better a contender is than the best Asio row of the same case "
    "(above 1: better, whatever the direction of the metric). They are the median of the ratios "
    "of the single rounds; the interval is Student's, of 95 %, of the logarithms. Where a round is several "
    "short turns of each, a sample is their median, of extremes the most extreme. A row is "
    "void if the A/A control, the same program under a second name, typically differs from itself "
    "by more than 5 %, and without such a control nothing is claimed; a difference smaller than the "
    "control's own is no difference. What is judged are gyre's rows, each against the best Asio row and, "
    "where another library is faster than that, also against the best row of all libraries, which is "
    "where losses come from. All these comparisons of a suite, but for what was measured once, are one "
    "family: the p-values of paired t-tests on the logarithms of the ratios are corrected with Holm's "
    "method, so that at most one suite in twenty contains a false claim. What is left is undecided: measure "
    "more rounds. Rows of other libraries are shown, and not judged. Who spins in place of sleeping is "
    "compared with others who do, where there are any, and who sleeps with those who sleep."
)


@dataclass(frozen=True)
class Summary:
    """A row in three numbers and a half."""

    median: float
    mad: float  # Median absolute deviation from the median.
    low: float
    high: float

    @property
    def relative_mad(self) -> float:
        return self.mad / self.median if self.median else 0.0


@dataclass(frozen=True)
class Comparison:
    """One contender against the best row of Asio, or of all libraries, in one metric of one case."""

    suite: str
    case: str
    metric: str
    contender: str
    reference: str
    ratio: float
    low: float
    high: float
    control_spread: float | None  # None if the case had no control.
    p: float
    p_corrected: float | None  # None if this comparison is not among those that are judged.
    verdict: str  # better, worse, no difference, undecided, void, no control, or not judged


def spins(contender: str) -> bool:
    return contender.removesuffix(CONTROL_SUFFIX).removesuffix(TWIN_SUFFIX).endswith(SPIN_SUFFIX)


def judged_metrics(suite: str, case: str) -> tuple[str, ...]:
    for (of_suite, pattern), metrics in CASE_JUDGED.items():
        if suite == of_suite and fnmatch.fnmatchcase(case, pattern):
            return metrics
    return JUDGED.get(suite, ())


def judged_in(suite: str) -> tuple[str, ...]:
    """Everything that is judged in any case of a suite."""
    of_cases = (metric for (of_suite, _), metrics in CASE_JUDGED.items() if of_suite == suite
                for metric in metrics)
    return tuple(dict.fromkeys((*JUDGED.get(suite, ()), *of_cases)))


def headline_of(suite: str, case: str, saturated: list[float]) -> str:
    """What decides whether a case is void.

    `saturated` holds, for each round of the controlled contender, whether it fell short of its rate.
    """
    if saturated and summarise(saturated).median >= 0.5:
        return SATURATED_HEADLINES.get(suite, HEADLINES[suite])
    return CASE_HEADLINES.get((suite, case), HEADLINES[suite])


def summarise(samples: list[float]) -> Summary:
    values = numpy.asarray(samples, dtype=float)
    median = float(numpy.median(values))
    mad = float(numpy.median(numpy.abs(values - median)))
    return Summary(median, mad, float(values.min()), float(values.max()))


def paired_ratios(samples: list[float], reference: list[float], better: str) -> numpy.ndarray:
    """How many times better `samples` are than `reference`, round by round.

    Rounds in which either is zero (no allocations at all, say) have no ratio and are left out.
    """
    rounds = min(len(samples), len(reference))
    ours = numpy.asarray(samples[:rounds], dtype=float)
    theirs = numpy.asarray(reference[:rounds], dtype=float)
    usable = (ours > 0) & (theirs > 0)
    ratios = ours[usable] / theirs[usable]
    return ratios if better == "higher" else 1.0 / ratios


def control_spread(samples: list[float], control: list[float]) -> float:
    """How much a program typically differs from itself within a round, as a share."""
    ratios = paired_ratios(samples, control, "higher")
    if len(ratios) == 0:
        return 0.0
    return float(math.expm1(numpy.median(numpy.abs(numpy.log(ratios)))))


def is_better(value: float, than: float, better: str) -> bool:
    return value > than if better == "higher" else value < than


class Run:
    """A stored run, with its rows found by name."""

    def __init__(self, document: dict):
        self.document = document
        self.machine: dict = document["machine"]
        self.saturated = {
            (row["suite"], row["case"], row["contender"])
            for row in document["rows"]
            if row["metric"] == "saturated" and summarise(row["samples"]).median >= 0.5
        }
        # How long something took that grew longer and longer says nothing but that.
        self.rows = {
            (row["suite"], row["case"], row["metric"], row["contender"]): row
            for row in document["rows"]
            if row["unit"] != "us" or
            (row["suite"], row["case"], row["contender"]) not in self.saturated
        }
        self._medians: dict[tuple[str, str, str, str], float] = {}
        self.families = {each["name"]: each["family"] for each in document.get("contenders", [])}
        self.controlled = {
            (each["suite"], each["case"]): each["contender"]
            for each in document.get("controls", [])
        }
        self.refusals = {
            (each["suite"], each["case"], each["contender"]): each["reason"]
            for each in document.get("cannot_run", [])
        }
        # Those who did not say themselves that they cannot run, but failed.
        self.broken = {(each["suite"], each["case"], each["contender"])
                       for each in document.get("cannot_run", []) if each.get("broken")}

    def contenders(self) -> list[str]:
        """Those of the tables, in their order: no controls."""
        return self._contenders

    @functools.cached_property
    def _contenders(self) -> list[str]:
        named = list(self.families)
        others = {key[3] for key in self.rows if not key[3].endswith(CONTROL_SUFFIX)}
        return named + sorted(others - set(named))

    def family(self, contender: str) -> str:
        return self.families.get(contender, contender.split("_")[0])

    def suites(self) -> list[str]:
        """Also those in which nobody has a row."""
        return list(dict.fromkeys([*self._cases, *(suite for suite, _, _ in self.refusals)]))

    def turns(self, suite: str, case: str) -> int:
        """How many of each contender were a round."""
        return self._turns.get((suite, case), 1)

    @functools.cached_property
    def _turns(self) -> dict[tuple[str, str], int]:
        return {(each["suite"], each["case"]): each.get("turns", 1)
                for each in self.document.get("cases", [])}

    def cases_wanted(self, suite: str) -> list[str]:
        """Whether or not anybody has a row there."""
        wanted = [each["case"] for each in self.document.get("cases", []) if each["suite"] == suite]
        return list(dict.fromkeys([*wanted, *self.cases(suite)]))

    def cases(self, suite: str) -> list[str]:
        return self._cases.get(suite, [])

    @functools.cached_property
    def _cases(self) -> dict[str, list[str]]:
        """By suite, all in the order in which they were measured."""
        found: dict[str, dict[str, None]] = {}
        for row in self.document["rows"]:
            found.setdefault(row["suite"], {})[row["case"]] = None
        return {suite: list(cases) for suite, cases in found.items()}

    def row(self, suite: str, case: str, metric: str, contender: str) -> dict | None:
        return self.rows.get((suite, case, metric, contender))

    def summary(self, suite: str, case: str, metric: str, contender: str) -> Summary | None:
        row = self.row(suite, case, metric, contender)
        return summarise(row["samples"]) if row else None

    def control_spread(self, suite: str, case: str, metric: str) -> float | None:
        original = self.controlled.get((suite, case))
        if original is None:
            return None
        row = self.row(suite, case, metric, original)
        twin = self.row(suite, case, metric, original + CONTROL_SUFFIX)
        return control_spread(row["samples"], twin["samples"]) if row and twin else None

    def is_saturated(self, suite: str, case: str, contender: str) -> bool:
        """Whether it fell short of the rate that was asked for, in most rounds."""
        return (suite, case, contender.removesuffix(CONTROL_SUFFIX)) in self.saturated

    def headline(self, suite: str, case: str) -> str:
        original = self.controlled.get((suite, case), "")
        saturated = self.row(suite, case, "saturated", original)
        return headline_of(suite, case, saturated["samples"] if saturated else [])

    def is_void(self, suite: str, case: str, metric: str | None = None) -> bool:
        spread = self.control_spread(suite, case, metric or self.headline(suite, case))
        return spread is not None and spread > CONTROL_SPREAD_MAX

    def best(self, suite: str, case: str, metric: str, among: list[str]) -> str | None:
        """The contender with the best median; None if none of them has this row."""
        winner, winning = None, None
        for contender in among:
            row = self.row(suite, case, metric, contender)
            if row is None:
                continue
            median = self._median((suite, case, metric, contender))
            if winning is None or is_better(median, winning, row["better"]):
                winner, winning = contender, median
        return winner

    def _median(self, key: tuple[str, str, str, str]) -> float:
        """Kept: the best of many is asked for once per contender of a case."""
        if key not in self._medians:
            self._medians[key] = summarise(self.rows[key]["samples"]).median
        return self._medians[key]

    def reference(self, suite: str, case: str, metric: str, of: str = "") -> str | None:
        """The best row of Asio, for the contender `of`."""
        asio = [each for each in self.contenders() if self.family(each) == REFERENCE_FAMILY]
        return self._best_alike(suite, case, metric, asio, of)

    def peers(self) -> list[str]:
        """Libraries of others, Asio among them; a floor is no library."""
        return [each for each in self.contenders()
                if self.family(each) not in (OUR_FAMILY, FLOOR_FAMILY)]

    def peer(self, suite: str, case: str, metric: str, of: str = "") -> str | None:
        """The best row of any library but ours, for the contender `of`."""
        return self._best_alike(suite, case, metric, self.peers(), of)

    def _best_alike(self, suite: str, case: str, metric: str, among: list[str], of: str) -> str | None:
        """The best of those who spin, or do not, as `of`: that buys latency with processor time, so neither
        kind is a measure of the other. The best of all where nobody is of its kind."""
        alike = [each for each in among if spins(each) == spins(of)]
        return self.best(suite, case, metric, alike) or self.best(suite, case, metric, among)

    def comparison(self, suite: str, case: str, metric: str, contender: str) -> Comparison | None:
        """With the best row of Asio."""
        reference = self.reference(suite, case, metric, contender)
        return self._comparisons.get((suite, case, metric, contender, reference))

    def peer_comparison(self, suite: str, case: str, metric: str, contender: str) -> Comparison | None:
        """Of one of ours with the best row of any other library."""
        peer = self.peer(suite, case, metric, contender)
        return self._comparisons.get((suite, case, metric, contender, peer))

    def comparisons(self) -> list[Comparison]:
        """Those with the best rows of Asio."""
        return [each for each in self._comparisons.values()
                if each.reference == self.reference(each.suite, each.case, each.metric, each.contender)]

    @functools.cached_property
    def _comparisons(self) -> dict[tuple[str, str, str, str, str], Comparison]:
        return compare_all(self)


def is_judged(run: Run, suite: str, case: str, metric: str, contender: str) -> bool:
    """Claims are made about gyre. What other libraries differ from Asio is shown, and counts in no family."""
    return metric in judged_metrics(suite, case) and run.family(contender) == OUR_FAMILY


def verdict_of(ratio: float, p_corrected: float, spread: float | None) -> str:
    if spread is None:
        return "no control"
    if spread > CONTROL_SPREAD_MAX:
        return "void"
    if abs(math.log(ratio)) <= math.log1p(spread):
        return "no difference"
    if p_corrected >= SIGNIFICANCE:
        return "undecided"
    return "better" if ratio > 1 else "worse"


def compare_all(run: Run) -> dict[tuple[str, str, str, str, str], Comparison]:
    """By row and reference: every row with the best one of Asio, ours also with the best one of any library.

    What is judged of them is a family for each suite, but for what was measured once: nothing can come of
    that, and it would take from the others. Where the best library is Asio, that is one comparison.
    """
    measured: dict[tuple[str, str, str, str, str], numpy.ndarray] = {}
    for key, row in run.rows.items():
        if key[3].endswith(CONTROL_SUFFIX):
            continue
        peer = run.peer(*key) if run.family(key[3]) == OUR_FAMILY else None
        for reference in dict.fromkeys((run.reference(*key), peer)):
            if reference in (None, key[3]):
                continue
            theirs = run.row(*key[:3], reference)
            ratios = paired_ratios(row["samples"], theirs["samples"], row["better"])
            if len(ratios):
                measured[(*key, reference)] = ratios

    judged = [key for key in measured if is_judged(run, *key[:4])]
    corrected = dict.fromkeys(judged, 1.0)
    for suite in run.suites():
        family = [key for key in judged if key[0] == suite and len(measured[key]) > 1]
        corrected |= zip(family, holm([paired_p_value(measured[key]) for key in family]))
    return {key: compare(run, key, ratios, corrected.get(key)) for key, ratios in measured.items()}


def compare(run: Run, key: tuple[str, str, str, str, str], ratios: numpy.ndarray,
            p_corrected: float | None) -> Comparison:
    ratio = float(numpy.median(ratios))
    spread = run.control_spread(*key[:3])
    verdict = "not judged" if p_corrected is None else verdict_of(ratio, p_corrected, spread)
    return Comparison(*key, ratio, *interval(ratios), spread, paired_p_value(ratios), p_corrected, verdict)


@dataclass(frozen=True)
class Loss:
    """A judged metric in which one of our contenders has a worse median than some peer."""

    suite: str
    case: str
    metric: str
    contender: str
    peer: str
    ratio: float  # Below 1, round by round.
    remark: str


REMARKS = {"worse": "confirmed", "void": "void: the control varies by more than 5 %",
           "no difference": "no difference: within the control's spread"}


def losses(run: Run) -> list[Loss]:
    """Where gyre loses: not only against Asio, and not only where it is statistically certain."""
    ours = [each for each in run.contenders() if run.family(each) == OUR_FAMILY]
    compared = [run.peer_comparison(suite, case, metric, contender)
                for suite in run.suites() for case in run.cases(suite)
                for metric in judged_metrics(suite, case) for contender in ours]
    found = [Loss(each.suite, each.case, each.metric, each.contender, each.reference, each.ratio,
                  REMARKS.get(each.verdict, each.verdict))
             for each in compared if each is not None and each.ratio < 1]
    return sorted(found, key=lambda loss: loss.ratio)
