# SPDX-License-Identifier: BSL-1.0
#
# A stored run, read once: everything that is drawn or claimed asks here.
"""From the lines of a run's file to rows, and to comparisons.

A row is one metric of one contender in one case, with its samples by block. What is compared: every contender
of gyre's with the best library of others, in the one metric that is judged in a case, and in further ones
without a verdict.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
from analyse import stats
from analyse.stats import Estimate
from measure import journal, suites
from measure.processes import CONTROL, FLOOR_FAMILY, OUR_FAMILY, REFERENCE_FAMILY, TWIN

SPIN = "_spin"  # Of a contender that does not sleep when it has nothing to do.
QUANTILES = {"p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
EXTREMES = {"min": min, "max": max, "wire_min": min, "wire_max": max, "worst_second_p99.9": max,
            "gap_longest": max}
BROKEN_MAX = 1

# What gyre's loops count themselves.
COUNTED = {
    "visits": "Calls of io_uring_enter or epoll_wait per operation",
    "wakeups": "Sleeping loops woken by another thread, per operation",
    "rearms": "Operations begun again because nothing was there, per operation",
    "shortages": "Leased reads without a block at hand, per operation",
    "blocks_made": "Blocks fetched from malloc, per operation",
    "stolen": "Items stolen from another loop, per operation",
}


@dataclass(frozen=True)
class Row:
    """One metric of one contender in one case; `value` is what a table shows."""

    unit: str
    better: str
    blocks: dict[int, numpy.ndarray]
    value: float
    spread: float  # Half of the middle half of the samples, as a share of the value.


@dataclass(frozen=True)
class Comparison:
    """How many times better a contender is than another one; the interval is widened by the control."""

    suite: str
    case: str
    metric: str
    contender: str
    reference: str
    estimate: Estimate
    control: Estimate | None
    judged: bool
    verdict: str = ""  # Of what is judged.
    p_adjusted: float = 1.0
    others: int = 0  # That were judged together with it.

    @property
    def ratio(self) -> float:
        return self.estimate.ratio

    @property
    def is_unconfirmed_loss(self) -> bool:
        """By itself it would be behind; beside so many others it may have come about by chance."""
        return self.verdict == stats.OPEN and self.estimate.high < 1


def original(title: str) -> str:
    return title.removesuffix(CONTROL).removesuffix(TWIN)


def spins(title: str) -> bool:
    return original(title).endswith(SPIN)


def load(path: Path) -> Run:
    lines = journal.read(path)
    for number, each in enumerate(lines, 1):
        if each.get("suite", suites.names()[0]) not in suites.names():
            raise journal.Unusable(f"{path}:{number}: there is no suite {each['suite']}")
    try:
        return Run(lines)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise journal.Unusable(f"{path} is no run of this lab: {error!r}") from error


class Run:
    """A stored run, whole or not."""

    def __init__(self, lines: list[dict]):
        self.head = lines[0]
        self.machine: dict = self.head.get("machine", {})
        self.conditions: dict = self.head.get("conditions", {})
        self.lines = lines
        self.cases_by_key = {(each["suite"], each["case"]): each for each in lines if each["kind"] == "case"}
        self.families = {each["name"]: each["family"] for each in self.head.get("contenders", [])}
        self.parts = [each for each in lines if each["kind"] in ("block", "round")]
        self.histograms: dict[tuple[str, str, str], dict[float, int]] = {}
        self.identities: dict[str, dict] = {}
        self.no_delay: dict[tuple[str, str, str], bool] = {}
        self.seconds: dict[tuple[str, str, str], list] = {}  # Of the exchange: per round, by second.
        self.worst: dict[tuple[str, str, str], list] = {}  # Its longest delays, of all rounds.
        self.refused, self.broken, self.retried = self._without_rows()
        self._found = self._rows()

    # ---- reading -------------------------------------------------------------------------------------------

    def _without_rows(self) -> tuple[dict, dict, dict]:
        """Reasons, by suite, case and contender. A part that lacks a contender that broke in it is forgiven
        once."""
        refused, failed, retried = {}, {}, {}
        for line in self.parts:
            for title, reason in line["refused"].items():
                refused[line["suite"], line["case"], title] = reason
            for title, reason in line["broken"].items():
                failed.setdefault((line["suite"], line["case"], title), []).append(reason)
            for title, reason in line.get("retried", {}).items():
                retried[line["suite"], line["case"], title] = reason
        count = {key: sum((each["suite"], each["case"]) == key[:2] for each in self.parts) for key in failed}
        broken = {key: reasons[-1] for key, reasons in failed.items()
                  if len(reasons) > BROKEN_MAX or count[key] <= len(reasons)}
        retried |= {key: reasons[-1] for key, reasons in failed.items() if key not in broken}
        return refused, broken, retried

    def _rows(self) -> dict[tuple[str, str, str, str], Row]:
        """By suite, case, metric and contender."""
        blocks: dict[tuple, dict[int, numpy.ndarray]] = {}
        told_of: dict[tuple, tuple[str, str]] = {}  # Unit and direction.

        def add(place: tuple, number: int, metric: str, unit: str, better: str, samples) -> None:
            key = (place[0], place[1], metric, place[2])
            blocks.setdefault(key, {})[number] = numpy.asarray(samples, dtype=float)
            told_of[key] = unit, better

        for line in self.parts:
            for title, told in line["contenders"].items():
                place = (line["suite"], line["case"], title)
                if (*place[:2], original(title)) not in self.broken:
                    of = self._of_block if line["kind"] == "block" else self._of_round
                    for each in of(place, told):
                        add(place, line["number"], *each)
        for line in self.lines:
            for name, calls in line["per_operation"].items() if line["kind"] == "calls" else ():
                add((line["suite"], line["case"], name), 0, "system_calls", "1/op", "lower", [calls])
        found = {key: self._row(key, *told_of[key], of) for key, of in blocks.items()}
        self.saturated = {key[:2] + key[3:] for key, row in found.items()
                          if key[2] == "saturated" and row.value >= 0.5}
        # How long something took that grew longer and longer says nothing but that.
        return {key: row for key, row in found.items()
                if row.unit != "us" or key[:2] + key[3:] not in self.saturated}

    def _row(self, key: tuple, unit: str, better: str, blocks: dict[int, numpy.ndarray]) -> Row:
        value = self._shown(key, blocks)
        samples = numpy.sort(numpy.concatenate(list(blocks.values())))
        quarter = len(samples) // 4
        spread = float(samples[-1 - quarter] - samples[quarter]) / 2 / value if value else 0.0
        return Row(unit, better, blocks, value, spread)

    def _of_block(self, place: tuple, told: dict) -> list[tuple]:
        """Metric, unit, direction and samples."""
        record = self.cases_by_key[place[:2]]["record"]
        columns = {key: numpy.asarray(each, dtype=float) for key, each in told["slices"].items()
                   if None not in each}
        self.identities.setdefault(original(place[2]), told["about"])
        if "wall_ns" not in columns:
            return []
        operations = columns["operations"]
        # Without the time for which another program had the processor, where that is known: of one thread.
        own = columns["wall_ns"] - columns.get("kept_ns", 0.0)
        found = [("cpu", "ns/op", "lower", columns["cpu_ns"] / operations)]
        rate = suites.suite(place[0])["rate"]
        if has_speed(record):
            amount = operations * (record["bytes"] if rate.get("of_bytes") else 1)
            found.append(("throughput", rate["unit"], "higher", amount / own * 1e9 / rate["per_second"]))
            found.append(("time", "ns", "lower", own / operations))
        for key, each in columns.items():
            if key.startswith("counter ") or key in ("allocations", "context_switches"):
                found.append((key.removeprefix("counter "), "1/op", "lower", each / operations))
            elif key == "latency mean":  # In a closed loop it is as much longer as the slice.
                found.append(("mean", "us", "lower", each / 1000 * own / columns["wall_ns"]))
            elif key.startswith("latency "):
                found.append((key.removeprefix("latency "), "us", "lower", each / 1000))
        return found + self._of_finish(place, told["finish"])

    def _of_finish(self, place: tuple, finish: dict) -> list[tuple]:
        """One value of a block each; extremes and tails of all blocks together are the histogram's."""
        found = [("memory", "MB", "lower", [finish["memory_mb"]])] if finish.get("memory_mb") else []
        buckets = {float(value): count for value, count in finish.get("buckets", [])}
        self._merge(place, buckets)
        for name in ("min", "max"):
            if finish.get(name) is not None:
                found.append((name, "us", "lower", [finish[name] / 1000]))
        for name in ("p90", "p99", "p99.9"):
            value = stats.quantile_of(buckets, QUANTILES[name])
            if value is not None:
                found.append((name, "us", "lower", [value / 1000]))
        return found

    def _merge(self, place: tuple, buckets: dict[float, int]) -> None:
        whole = self.histograms.setdefault(place, {}) if buckets else {}
        for value, count in buckets.items():
            whole[value] = whole.get(value, 0) + count

    def _of_round(self, place: tuple, reports: list[dict]) -> list[tuple]:
        values: dict[str, list[float]] = {}
        about: dict[str, dict] = {}
        for report in reports:
            for each in report["metrics"]:
                values.setdefault(each["metric"], []).append(each["value"])
                about[each["metric"]] = each
            self._merge(place, {float(value): count for value, count in report.get("latency_buckets", [])})
            if "library" in report:
                self.identities.setdefault(original(place[2]), {key: report.get(key, "") for key in
                                                                ("library", "version", "backend")})
            if "no_delay_seen" in report:
                self.no_delay[place] = self.no_delay.get(place, True) and bool(report["no_delay_seen"])
        by_second = [second for report in reports for second in report.get("by_second", [])]
        if by_second:
            self.seconds.setdefault(place, []).append(by_second)
        worst = [each for report in reports for each in report.get("worst", [])]
        if worst:
            self.worst.setdefault(place, []).extend(worst)
        return [(name, about[name]["unit"], about[name]["better"],
                 [EXTREMES[name](samples)] if name in EXTREMES else samples)
                for name, samples in values.items() if len(samples) == len(reports)]

    def _shown(self, key: tuple, blocks: dict[int, numpy.ndarray]) -> float:
        """The middle of the blocks' middles, as ratios are; of tails, what all blocks have seen together."""
        suite, case, metric, title = key
        whole = self.histograms.get((suite, case, title))
        if whole and metric in QUANTILES:
            value = stats.quantile_of(whole, QUANTILES[metric])
            if value is not None:
                return value / 1000
        middles = numpy.array([stats.middle(each) for each in blocks.values()])
        if metric in ("min", "max"):
            return float(middles.min() if metric == "min" else middles.max())
        if (middles > 0).all():
            return float(math.exp(numpy.log(middles).mean()))
        return float(middles.mean())

    # ---- asking --------------------------------------------------------------------------------------------

    @functools.cached_property
    def contenders(self) -> list[str]:
        """Those of the tables, in their order: no controls, no twins."""
        there = {original(key[3]) for key in self._found} | {key[2] for key in self.refused | self.broken}
        return [each for each in self.families if each in there]

    def family(self, title: str) -> str:
        return self.families.get(original(title), "")

    @functools.cached_property
    def ours(self) -> list[str]:
        return [each for each in self.contenders if self.family(each) == OUR_FAMILY]

    @functools.cached_property
    def libraries(self) -> list[str]:
        """Of others; a floor is no library."""
        return [each for each in self.contenders if self.family(each) not in (OUR_FAMILY, FLOOR_FAMILY)]

    @functools.cached_property
    def floors(self) -> list[str]:
        return [each for each in self.contenders if self.family(each) == FLOOR_FAMILY]

    @functools.cached_property
    def suites(self) -> list[str]:
        measured = {each["suite"] for each in self.parts}
        return [each for each in suites.names() if each in measured]

    @functools.cache  # noqa: B019 (a run lives as long as the program)
    def cases(self, suite: str) -> list[str]:
        return list(dict.fromkeys(each["case"] for each in self.parts if each["suite"] == suite))

    def described(self, suite: str, case: str) -> dict:
        return self.cases_by_key[suite, case]

    def row(self, suite: str, case: str, metric: str, contender: str) -> Row | None:
        return self._found.get((suite, case, metric, contender))

    def value(self, suite: str, case: str, metric: str, contender: str) -> float | None:
        row = self.row(suite, case, metric, contender)
        return None if row is None else row.value

    def metrics(self, suite: str, case: str) -> list[str]:
        return list(dict.fromkeys(key[2] for key in self._found if key[:2] == (suite, case)))

    def is_saturated(self, suite: str, case: str, contender: str) -> bool:
        """Whether it fell short of the rate that was asked for, in most rounds."""
        return (suite, case, contender) in self.saturated

    @functools.cache  # noqa: B019 (a run lives as long as the program)
    def headline(self, suite: str, case: str) -> str:
        """The metric that is judged. Where gyre falls short of its rate there is no latency to judge."""
        usual = self.described(suite, case)["headline"]
        short = {each for each in self.ours if self.is_saturated(suite, case, each)}
        mine = {key[3] for key in self._found if key[:2] == (suite, case)} if short else set()
        is_short = short and short >= mine & set(self.ours)
        return suites.suite(suite).get("saturated_headline", usual) if is_short else usual

    def best(self, suite: str, case: str, metric: str, among: list[str]) -> str | None:
        rows = {each: row for each in among if (row := self.row(suite, case, metric, each)) is not None}
        if not rows:
            return None
        higher = next(iter(rows.values())).better == "higher"
        return (max if higher else min)(rows, key=lambda each: rows[each].value)

    def best_alike(self, suite: str, case: str, metric: str, among: list[str], of: str = "") -> str | None:
        """The best of those that spin, or do not, as `of`: that buys latency with processor time, so neither
        kind is a measure of the other. The best of all where none is of its kind."""
        alike = [each for each in among if spins(each) == spins(of)]
        return self.best(suite, case, metric, alike) or self.best(suite, case, metric, among)

    def reference(self, suite: str, case: str, metric: str, of: str = "") -> str | None:
        """The best row of Asio, for the contender `of`."""
        asio = [each for each in self.libraries if self.family(each) == REFERENCE_FAMILY]
        return self.best_alike(suite, case, metric, asio, of)

    def values(self, suite: str, case: str, metric: str, contender: str, reference: str) -> list[float]:
        """A number for each block that has both: the logarithm of how many times better `contender` is."""
        one, two = (self.row(suite, case, metric, each) for each in (contender, reference))
        if one is None or two is None:
            return []
        sign = 1.0 if one.better == "higher" else -1.0
        found = (stats.block_value(one.blocks[each], two.blocks[each]) for each in one.blocks
                 if each in two.blocks)
        return [sign * each for each in found if each is not None]

    def logarithms(self, suite: str, case: str, metric: str, contender: str) -> list[float]:
        """Of how good each block was; more is better."""
        row = self.row(suite, case, metric, contender)
        sign = 1.0 if row.better == "higher" else -1.0
        return [sign * stats.middle(numpy.log(each)) for each in row.blocks.values() if (each > 0).all()]

    @functools.cache  # noqa: B019 (a run lives as long as the program)
    def ratio(self, suite: str, case: str, metric: str, contender: str, reference: str) -> Estimate | None:
        """With its own interval, not widened."""
        values = self.values(suite, case, metric, contender, reference)
        return stats.estimate(values) if values else None

    def share(self, suite: str, case: str, metric: str, contender: str, of: str) -> Estimate | None:
        """How many times the value of `of` the value of `contender` is, whichever is better."""
        found = self.ratio(suite, case, metric, contender, of)
        is_lower = found is not None and self.row(suite, case, metric, contender).better == "lower"
        return replace(found, centre=-found.centre) if is_lower else found

    @functools.cache  # noqa: B019 (a run lives as long as the program)
    def control(self, suite: str, case: str, metric: str) -> Estimate | None:
        """A contender against itself."""
        title = next((each for each in self.families if self.row(suite, case, metric, each + CONTROL)), None)
        return self.ratio(suite, case, metric, title + CONTROL, title) if title else None

    def compare(self, suite: str, case: str, metric: str, contender: str,
                reference: str) -> Comparison | None:
        found = self.ratio(suite, case, metric, contender, reference)
        if found is None:
            return None
        control = self.control(suite, case, metric)
        judged = metric == self.headline(suite, case) and self.described(suite, case)["judged"]
        return Comparison(suite, case, metric, contender, reference, found.widened(control), control, judged)

    @functools.cached_property
    def comparisons(self) -> list[Comparison]:
        """Gyre's rows against the best library of others, with verdicts: those of a suite are one family."""
        found = []
        for suite in self.suites:
            rows = [each for case in self.cases(suite) for mine in self.ours
                    if (each := self._against_best(suite, case, mine)) is not None]
            found += with_verdicts([each for each in rows if each.judged])
        return found

    def _against_best(self, suite: str, case: str, mine: str) -> Comparison | None:
        metric = self.headline(suite, case)
        peer = self.best_alike(suite, case, metric, self.libraries, mine)
        return self.compare(suite, case, metric, mine, peer) if peer else None

    def of_suite(self, suite: str) -> list[Comparison]:
        return [each for each in self.comparisons if each.suite == suite]

    def against(self, suite: str, reference: str) -> list[Comparison]:
        """Every case, against one contender, in the headline; judged together."""
        rows = []
        for case in self.cases(suite):
            metric = self.headline(suite, case)
            rows += [each for mine in self.ours if spins(mine) == spins(reference)
                     and (each := self.compare(suite, case, metric, mine, reference)) is not None]
        return with_verdicts(rows)


def with_verdicts(rows: list[Comparison]) -> list[Comparison]:
    """One family, of which few may be false together."""
    adjusted = stats.benjamini_hochberg([each.estimate.p for each in rows])
    return [replace(each, verdict=stats.verdict(each.estimate, p), p_adjusted=p, others=len(rows) - 1)
            for each, p in zip(rows, adjusted)]


def has_speed(record: dict) -> bool:
    """What fires at given moments, or is pushed back in given numbers a second, has no speed of its own."""
    return record.get("kind") != "fire_together" and not record.get("per_tick")
