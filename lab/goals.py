# SPDX-License-Identifier: BSL-1.0
#
# Where we want to stand, so that a run can be held against it.
#
# A goal names rows of the lab, against whom, and by which factor. It is judged by ratios of the same run
# alone: figures of other days and machines do not travel. To change a goal is to change this file.
"""The goals, and what a run says about each: met, missed or not judged, with figures."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass

import evidence
import standing
import tables
from evidence import Run

MET, MISSED, NOT_JUDGED = "met", "missed", "not judged"
VOID, NO_CONTROL = DOUBTS = ("void", "no control")
HOLE_US = 30_000  # Delayed acknowledgements are 40 ms; nothing else here takes that long.


@dataclass(frozen=True)
class Goal:
    """In each of these cases the better of `ours` is at least `factor` times as good as the best of
    `peers`, and in the metric `also`, if there is one, not worse than the same peer beyond the control.
    Patterns are those of fnmatch; several stand in one text, separated by blanks."""

    text: str
    suite: str
    cases: str
    metric: str
    peers: str = "@libraries"
    factor: float = 1.0
    ours: str = "gyre_*"
    beyond_control: bool = False  # Only what exceeds the control's spread is a miss.
    also: str | None = None
    paced: str = ""  # Cases that ask for a rate: they count only where one of the two falls short of it.


@dataclass(frozen=True)
class Bound:
    """In each of these cases the worst of ours is at most so much, whatever others do. That is no comparison,
    so no control is asked."""

    text: str
    suite: str
    cases: str
    metric: str
    most: float


@dataclass(frozen=True)
class Rise:
    """From each number of threads to the next, throughput does not fall beyond the controls' spread."""

    text: str
    suite: str
    pattern: str


def at_most(times: float) -> float:
    """The factor of a cost that may be `times` as high as the peer's."""
    return 1 / times


ASIO = "asio_*"
CALLBACKS = "asio_callback asio_callback_uring"
COROUTINES = "asio_coroutine asio_coroutine_uring"
EPOLL_ASIO = "asio_callback asio_coroutine"
PLAIN = "raw_uring raw_uring_multishot raw_epoll"
ECHO_CELLS = "64_* 1K_* 16K_* 100K_*"
ONE_THREAD_BLOCKS = "block_*"

GOALS: list[Goal | Bound | Rise] = [
    Goal("post a continuation from the loop's own thread: 4 x Asio's callbacks", "dispatch",
         "post post_batched interleaved_post", "throughput", CALLBACKS, 4.0),
    Goal("post from another thread: 2 x Asio", "dispatch", "foreign_post", "throughput", ASIO, 2.0),
    Goal("spawn a coroutine per item, one thread: 8 x Asio's coroutines", "dispatch",
         "spawn spawn_batched interleaved_spawn", "throughput", COROUTINES, 8.0),
    *(Rise(f"1, 2, 4, 8 threads never fall: {what}", "dispatch", pattern)
      for pattern, what in tables.SCALING["dispatch"].items()),
    Goal("8 threads: 2 x Asio", "dispatch", "threads_8 threads_8_*", "throughput", ASIO, 2.0),
    Goal("TCP ping-pong, 64 B, p50: at most 1.10 x bare system calls", "latency", "tcp_64", "p50",
         "raw_syscalls", at_most(1.10)),
    *(Goal(f"TCP ping-pong, 64 B, {metric}: no worse than any peer", "latency", "tcp_64", metric,
           beyond_control=True) for metric in ("p99", "p99.9")),
    Goal("Unix ping-pong, 64 B, p50: at most 1.20 x bare system calls", "latency", "unix_64", "p50",
         "raw_syscalls", at_most(1.20)),
    Goal("echo server on io_uring, processor time: at most 1.03 x the best plain server", "echo",
         ECHO_CELLS, "cpu", PLAIN, at_most(1.03), "gyre_uring gyre_uring_leases"),
    Goal("echo server on epoll, processor time: at most 1.05 x plain epoll", "echo", ECHO_CELLS, "cpu",
         "raw_epoll", at_most(1.05), "gyre_epoll gyre_epoll_leases"),
    Goal("HTTP, 32 connections, one thread: 1.25 x the best peer", "http", "32", "throughput", factor=1.25),
    Goal("HTTP, 32 connections, 2 threads: 1.25 x the best peer", "http", "threads_2", "throughput",
         factor=1.25),
    Goal("short connections one after the other: 0.93 x bare system calls", "churn", "sequential",
         "throughput", "raw_syscalls", 0.93),
    *(Goal(f"ab, wrk and echo clients, {what}: 0.97 x plain io_uring in every cell", "baseline", "*", metric,
           "raw_uring", 0.97, "gyre_uring")
      for metric, what in (("throughput", "requests"), ("cpu", "processor time"))),
    Goal("HTTP without keep-alive, io_uring: 1.3 x Asio on epoll", "baseline", "*_close", "throughput",
         EPOLL_ASIO, 1.3, "gyre_uring"),
    Goal("timers, schedule and cancel, waited for: 1.5 x Asio", "timers", "schedule_cancel_waited",
         "throughput", ASIO, 1.5),
    Goal("timers, schedule and cancel, nobody waits: no slower than Asio", "timers",
         "schedule_cancel_unwaited", "throughput", ASIO),
    Goal("echo of 1, 10, 100 KB: 1.15 x the best library, p99.99 no worse", "echo", ONE_THREAD_BLOCKS,
         "throughput", factor=1.15, also="p99.99"),
    *(Bound(f"{suite}, p99.9: no hole of 40 ms", suite, "*", "p99.9", HOLE_US)
      for suite in ("echo", "latency", "http")),
    Goal("exchange, p50: no row slower than the best Asio beyond the control", "exchange", "*", "p50", ASIO,
         beyond_control=True),
    Goal("exchange, messages per second: no row slower than the best Asio beyond the control", "exchange",
         "*", "orders_rate", ASIO, beyond_control=True, paced="*_1000 *_10000 *_?00000"),
    Goal("exchange, span without the core: at most 0.9 x the best Asio", "exchange", "*", "net", ASIO,
         at_most(0.9)),
    Goal("exchange, p99.9: no worse than the best Asio beyond the control", "exchange", "*", "p99.9", ASIO,
         beyond_control=True),
    Goal("minimal echo program, compile time at -O2: at most 0.4 x Asio's coroutines", "cost",
         "compile_time", "compile", "asio_coroutine", at_most(0.4)),
    Bound("idle connection: at most 1 KiB of user memory", "cost", "idle_connections", "per_connection",
          1024.0),
]


@dataclass(frozen=True)
class Finding:
    """One case of a goal. `slack`: how many times better than asked; below 1 the goal is missed."""

    case: str
    slack: float
    figures: str
    doubt: str | None = None  # Why nothing can be said: one of DOUBTS.


@dataclass(frozen=True)
class Judgement:
    text: str
    suite: str
    verdict: str  # MET, MISSED or NOT_JUDGED.
    figures: str


def judge_all(run: Run) -> list[Judgement]:
    return [judge(run, each) for each in GOALS]


def judge(run: Run, goal: Goal | Bound | Rise) -> Judgement:
    find = {Goal: _compare, Bound: _bound, Rise: _rise}[type(goal)]
    found = find(run, goal)
    valid = [each for each in found if each.doubt is None]
    if not valid:
        doubts = (f"{doubt}: {', '.join(cases)}" for doubt in DOUBTS
                  if (cases := [each.case for each in found if each.doubt == doubt]))
        return Judgement(goal.text, goal.suite, NOT_JUDGED, "; ".join(doubts) or "not in this run")
    met = sum(each.slack >= 1 for each in valid)
    worst = min(valid, key=lambda each: each.slack)
    count = "" if len(found) == 1 else f"{met} of {len(valid)} cases; the farthest off is " \
        if met < len(valid) else f"all {len(valid)} cases; the closest is "
    left_out = [f"; {number} {doubt}" for doubt in DOUBTS
                if (number := sum(each.doubt == doubt for each in found))]
    verdict = MISSED if met < len(valid) else MET if 2 * len(valid) >= len(found) else NOT_JUDGED
    return Judgement(goal.text, goal.suite, verdict,
                     f"{count}{worst.case}: {worst.figures}{''.join(left_out)}")


def _matching(names: list[str], patterns: str) -> list[str]:
    return [each for each in names if any(fnmatch.fnmatchcase(each, one) for one in patterns.split())]


def _cases(run: Run, goal: Goal | Bound) -> list[str]:
    return _matching(run.cases_wanted(goal.suite), goal.cases)


def _lacking(run: Run, goal: Goal | Bound, case: str, ours: list[str]) -> list[Finding]:
    """A case in which none of ours has a row is missed, if one of them failed there or falls short of its
    rate; who was not asked has missed nothing."""
    reasons = [f"{each} has no row: {run.refusals[goal.suite, case, each]}" for each in ours
               if (goal.suite, case, each) in run.broken]
    reasons += [f"{each} is saturated" for each in ours if run.is_saturated(goal.suite, case, each)]
    return [Finding(case, 0.0, reasons[0])] if reasons else []


def _ours(run: Run, patterns: str) -> list[str]:
    return _matching(standing.ours(run), patterns)


def _doubt(run: Run, suite: str, metric: str, *cases: str) -> str | None:
    """A goal that needs several cases is in doubt if one of them is."""
    if any(run.control_spread(suite, case, metric) is None for case in cases):
        return NO_CONTROL
    return VOID if any(run.is_void(suite, case, metric) for case in cases) else None


def _compare(run: Run, goal: Goal) -> list[Finding]:
    peers = run.peers() if goal.peers == "@libraries" else _matching(run.contenders(), goal.peers)
    found = []
    for case in _cases(run, goal):
        ours = _ours(run, goal.ours)
        best = run.best(goal.suite, case, goal.metric, ours)
        peer = run.best(goal.suite, case, goal.metric, peers)
        if peer and not best:
            found += _lacking(run, goal, case, ours)
        elif best and peer and not _kept_pace(run, goal, case, best, peer):
            ratios = standing.ratios_of(run, goal.suite, case, goal.metric, best, peer)
            if ratios is not None:
                found.append(_finding(run, goal, case, best, peer, ratios))
    return found


def _kept_pace(run: Run, goal: Goal, case: str, best: str, peer: str) -> bool:
    """Both were as fast as they were asked to be, which is no difference between them."""
    return bool(_matching([case], goal.paced)) and not any(
        run.is_saturated(goal.suite, case, each) for each in (best, peer))


def _finding(run: Run, goal: Goal, case: str, best: str, peer: str, ratios) -> Finding:
    ratio = evidence.summarise(list(ratios)).median
    asked = goal.factor / (_allowance(run, goal.suite, case, goal.metric) if goal.beyond_control else 1.0)
    figures = (f"{best} {ratio:.2f}x ({evidence.interval_text(*evidence.interval(ratios))}) of {peer}, "
               f"asked {asked:.2f}x")
    doubt = _doubt(run, goal.suite, goal.metric, case)
    if goal.also is None:
        return Finding(case, ratio / asked, figures, doubt)
    beside = standing.ratios_of(run, goal.suite, case, goal.also, best, peer)
    if beside is None:
        return Finding(case, ratio / asked, f"{figures}; {goal.also} unknown", doubt)
    also = evidence.summarise(list(beside)).median
    also_asked = 1 / _allowance(run, goal.suite, case, goal.also)
    return Finding(case, min(ratio / asked, also / also_asked),
                   f"{figures}; {goal.also} {also:.2f}x, asked {also_asked:.2f}x", doubt)


def _allowance(run: Run, suite: str, case: str, metric: str) -> float:
    """What a difference has to exceed to be one."""
    return 1 + (run.control_spread(suite, case, metric) or 0.0)


def _bound(run: Run, bound: Bound) -> list[Finding]:
    found = []
    for case in _cases(run, bound):
        of_case = [(evidence.summarise(row["samples"]).median, each, row["unit"])
                   for each in standing.ours(run)
                   if (row := run.row(bound.suite, case, bound.metric, each))]
        found += _lacking(run, bound, case, standing.ours(run))
        if of_case:
            median, worst, unit = max(of_case)
            figures = f"{worst} {tables.format_value(median, '')} {unit}, at most {bound.most:,.0f}"
            found.append(Finding(case, bound.most / median if median else float("inf"), figures))
    return found


def _rise(run: Run, rise: Rise) -> list[Finding]:
    """Ratios of medians, of the best of ours at each number: different cases share no rounds."""
    found = []
    for fewer, more in zip(tables.THREADS, tables.THREADS[1:]):
        cases = [rise.pattern.format(each) for each in (fewer, more)]
        best = [run.best(rise.suite, case, "throughput", standing.ours(run)) for case in cases]
        if None in best:
            continue
        before, after = (run.summary(rise.suite, case, "throughput", each).median
                         for case, each in zip(cases, best))
        allowed = 1.0
        for case in cases:
            allowed /= _allowance(run, rise.suite, case, "throughput")
        figures = f"{best[1]} {after / before:.2f}x of {fewer}, asked {allowed:.2f}x"
        found.append(Finding(f"{more} threads", after / before / allowed, figures,
                             _doubt(run, rise.suite, "throughput", *cases)))
    return found


def lines(run: Run) -> list[str]:
    """For the terminal."""
    found = judge_all(run)
    judged = [each for each in found if each.verdict != NOT_JUDGED]
    if not judged:
        return ["Goals: none of them can be judged by this run."]
    met = sum(each.verdict == MET for each in judged)
    return [f"Goals: {met} met, {len(judged) - met} missed, {len(found) - len(judged)} not judged.",
            *(f"  {each.verdict:<7}{each.text}; {each.figures}" for each in judged)]
