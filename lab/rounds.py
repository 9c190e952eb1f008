# SPDX-License-Identifier: BSL-1.0
#
# From single turns to rows: who runs when, what is measured again, and what is dropped.
"""All rounds of one case, every second one in the opposite order and each with a control.

What is short may have several turns in a round: then all contenders take their first one, then, in the
opposite order, their second, and so on, and a sample is the median of a contender's turns.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import evidence
from bench import IDENTITY, Bench, Case, Contender


@dataclass
class Attempt:
    """All rounds of one case. Samples are kept by contender, then by metric."""

    samples: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    metrics: dict[str, dict] = field(default_factory=dict)
    seconds: dict[str, list] = field(default_factory=dict)  # One list for each round that has one.
    refusals: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # Those of `refusals` that did not refuse, but failed.
    retried: dict[str, list[str]] = field(default_factory=dict)  # Turns that broke, and why.
    turns: dict[str, list[dict]] = field(default_factory=dict)  # Reports of the round under way.
    no_delay: dict[str, bool] = field(default_factory=dict)  # Of servers: seen to be set in each turn.
    controlled: str | None = None
    notes: list[tuple[str, str]] = field(default_factory=list)  # Of whom, and what.

    def add(self, name: str, report: dict) -> None:
        kept = self.samples.setdefault(name, {})
        for metric in report["metrics"]:
            self.metrics[metric["metric"]] = metric
            kept.setdefault(metric["metric"], []).append(metric["value"])
        if "by_second" in report:
            self.seconds.setdefault(name, []).append(report["by_second"])

    def finish_round(self) -> None:
        """One sample of each."""
        for name, reports in self.turns.items():
            self.add(name, pooled(reports))
        self.turns = {}

    def control_spread(self, metric: str) -> float:
        """Infinite if there is no control: nobody knows then what a difference is worth."""
        if self.controlled is None:
            return math.inf
        original, twin = (self.samples[name].get(metric)
                          for name in (self.controlled, self.controlled + evidence.CONTROL_SUFFIX))
        return evidence.control_spread(original, twin) if original and twin else math.inf

    def headline_spread(self, case: Case) -> float:
        if self.controlled is None:
            return math.inf
        saturated = self.samples[self.controlled].get("saturated", [])
        return self.control_spread(evidence.headline_of(case.suite, case.name, saturated))

    def is_quiet(self, case: Case) -> bool:
        return self.headline_spread(case) <= evidence.CONTROL_SPREAD_MAX

    def all_refused(self) -> bool:
        """Another attempt would end alike."""
        return not self.samples and not self.broken

    def rank(self, case: Case) -> tuple[bool, int, float]:
        """The least is kept: a quiet one, or else one in which the fewest failed, or the quietest."""
        return not self.is_quiet(case), len(self.broken), self.headline_spread(case)


# What is the middle of extremes is none.
EXTREMES = {"min": min, "max": max, "wire_min": min, "wire_max": max, "worst_second_p99.9": max}


def pooled(reports: list[dict]) -> dict:
    """One report of all turns of a round. A metric that one of them lacks is left out."""
    if len(reports) == 1:
        return reports[0]
    values: dict[str, list[float]] = {}
    for metric in (each for report in reports for each in report["metrics"]):
        values.setdefault(metric["metric"], []).append(metric["value"])
    metrics = [each | {"value": EXTREMES.get(each["metric"], statistics.median)(values[each["metric"]])}
               for each in reports[-1]["metrics"] if len(values[each["metric"]]) == len(reports)]
    seconds = [second for report in reports for second in report.get("by_second", [])]
    return {"metrics": metrics} | ({"by_second": seconds} if seconds else {})


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line for every twentieth."""

    def __init__(self, runs: int):
        self._expected = max(runs, 1)
        self._done = 0
        self._started = time.monotonic()
        self._printed = 0
        self._rewrites = sys.stderr.isatty()

    def expect(self, more: int) -> None:
        self._expected += more

    def step(self, what: str) -> None:
        self._done += 1
        self._expected = max(self._expected, self._done)  # Whoever fails takes turns away that it had.
        elapsed = time.monotonic() - self._started
        left = elapsed / self._done * max(0, self._expected - self._done)
        line = (f"{100 * self._done // self._expected:3d} %  "
                f"{_minutes(elapsed)} gone, about {_minutes(left)} left  {what}")
        if self._rewrites:
            print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)
        elif self._done * 20 // self._expected > self._printed:
            self._printed = self._done * 20 // self._expected
            print(line, file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        print(f"\r\033[K{line}" if self._rewrites else line, file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self._rewrites:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def turns_of_pass(contenders: list[Contender], attempt: Attempt,
                  forward: bool) -> Iterator[tuple[Contender, str]]:
    """Who runs when, and under which name, each once. Lazy: the first pass finds out who cannot run.

    The control is the first contender that can run; the list starts with our own. It runs at the
    other end than its twin: the worst place, so the honest one.
    """
    def control() -> Iterator[tuple[Contender, str]]:
        able = [each for each in contenders if each.name not in attempt.refusals]
        attempt.controlled = attempt.controlled or (able[0].name if able else None)
        for each in able:
            if each.name == attempt.controlled:
                yield each, each.name + evidence.CONTROL_SUFFIX

    if not forward:
        yield from control()
    for each in contenders if forward else reversed(contenders):
        if each.name not in attempt.refusals:
            yield each, each.name
    if forward:
        yield from control()


def measure(bench: Bench, contenders: list[Contender], case: Case, rounds: int,
            progress: Progress, identities: dict[str, dict]) -> Attempt:
    """All rounds of one case, every second pass in the opposite order. A turn that broke is taken once more,
    at once: one transient failure must not cost a contender all of its rounds."""
    attempt = Attempt()
    passes = rounds * case.turns
    for number in range(passes):
        for contender, name in turns_of_pass(contenders, attempt, forward=number % 2 == 0):
            report = bench.run(contender, case)
            could = name in attempt.turns or name in attempt.samples
            broke = report.get("broken") or ("cannot_run" in report and could)
            if broke:
                which = f"round {number // case.turns + 1}"
                attempt.retried.setdefault(name, []).append(f"{which}: {report['cannot_run']}")
                report = bench.run(contender, case)
            if "cannot_run" in report:
                attempt.refusals[contender.name] = report["cannot_run"]
                if broke:
                    attempt.broken.add(contender.name)
                progress.expect(number + 1 - passes)
            else:
                identities[contender.name] = {key: report[key] for key in IDENTITY}
                attempt.turns.setdefault(name, []).append(report)
                if "no_delay_seen" in report:
                    seen = attempt.no_delay.get(contender.name, True)
                    attempt.no_delay[contender.name] = seen and bool(report["no_delay_seen"])
            progress.step(f"{case.suite} {case.name}: {name}")
        if (number + 1) % case.turns == 0:
            attempt.finish_round()
    drop_incomplete(attempt, rounds)
    return attempt


def drop_incomplete(attempt: Attempt, rounds: int) -> None:
    """A contender that failed in a later round has no row: its other rounds may be wrong too."""
    for name in attempt.refusals:
        attempt.samples.pop(name, None)
        attempt.samples.pop(name + evidence.CONTROL_SUFFIX, None)
        if attempt.controlled == name:
            attempt.controlled = None
    for name, metrics in attempt.samples.items():
        for metric in [each for each, values in metrics.items() if len(values) < rounds]:
            del metrics[metric]  # Its samples cannot be told by rounds any more.
            attempt.notes.append((name, f"{metric} was not reported in each round, and is left out"))


def measure_until_quiet(bench: Bench, contenders: list[Contender], case: Case, rounds: int,
                        reruns: int, progress: Progress,
                        identities: dict[str, dict]) -> list[Attempt]:
    """Measures a case again while its control is too wide, or lost. The best attempt comes first."""
    attempts: list[Attempt] = []
    while True:
        latest = measure(bench, contenders, case, rounds, progress, identities)
        attempts.append(latest)
        if latest.is_quiet(case) or latest.all_refused():
            break
        spread = latest.headline_spread(case)
        why = ("the control was lost" if math.isinf(spread)
               else f"the control differs from itself by {100 * spread:.1f} %")
        again = len(attempts) <= reruns
        progress.say(f"{case.suite} {case.name}: void, {why}{'; measured again' if again else ''}")
        if not again:
            break
        progress.expect((len(contenders) + 1) * rounds * case.turns)
    return sorted(attempts, key=lambda each: each.rank(case))


# In these, calls are a compiler's, or nobody's.
UNCOUNTED = {("cost", "compile_time"), ("cost", "program_size"), ("cost", "idle_connections")}


class SystemCalls:
    """Counts once for each case and contender, until the kernel refuses.

    A quick run leaves out cases that it plays less often than others: counting would take as long as
    measuring.
    """

    def __init__(self, bench: Bench, quick: bool = False):
        self._bench = bench
        self._quick = quick
        self.refusal: str | None = None
        self.failures: list[dict] = []  # Of counting runs, of which nothing else is known.

    def add_to(self, attempt: Attempt, contenders: list[Contender], case: Case) -> None:
        if self._quick and case.rounds_max:
            return
        if (case.suite, case.name) in UNCOUNTED:
            return
        for contender in contenders:
            if self.refusal is not None or contender.name not in attempt.samples:
                continue
            report = self._bench.count_system_calls(contender, case)
            if "cannot_run" in report:
                self.failures.append({"suite": case.suite, "case": case.name, "contender": contender.name,
                                      "reason": report["cannot_run"]})
            self.refusal = report.get("system_calls_not_counted")
            counted = [each for each in report.get("metrics", [])
                       if each["metric"] == "system_calls"]
            attempt.add(contender.name, {"metrics": counted})


def refusals_of(case: Case, attempt: Attempt) -> list[dict]:
    """`broken`: of those who did not say themselves that they cannot run."""
    return [{"suite": case.suite, "case": case.name, "contender": name, "reason": reason}
            | ({"broken": True} if name in attempt.broken else {})
            for name, reason in attempt.refusals.items()]


def notes_of(case: Case, attempt: Attempt) -> list[dict]:
    retried = [(name, f"retried, {turn}") for name, turns in attempt.retried.items() for turn in turns]
    return [{"suite": case.suite, "case": case.name, "contender": name, "note": note}
            for name, note in attempt.notes + retried]


def rows_of(case: Case, attempt: Attempt) -> list[dict]:
    rows = []
    for name, metrics in attempt.samples.items():
        for metric, samples in metrics.items():
            about = attempt.metrics[metric]
            summary = evidence.summarise(samples)
            rows.append({"suite": case.suite, "case": case.name, "contender": name,
                         "metric": metric, "unit": about["unit"], "better": about["better"],
                         "samples": samples, "median": summary.median, "mad": summary.mad,
                         "min": summary.low, "max": summary.high}
                        | ({"retried": attempt.retried[name]} if name in attempt.retried else {}))
    return rows
