# SPDX-License-Identifier: BSL-1.0
#
# Which pictures a suite has beside its ratios: what its tables hold, where a shape tells more than figures.
"""From a run to groups of pictures; cases are called as in suite_tables.py."""

from __future__ import annotations

from analyse import exchange_tables, server_tables
from analyse import suite_tables as words
from analyse.frame import Row, Run
from analyse.plots import Group, Picture, curves, parts, quantiles, ratios, stepwise, values

ABOUT = "Values as in the tables."
NINES = "Each further nine takes as much space as the one before. Tails are those of all blocks together."


def same(*names: str) -> dict[str, str]:
    """Cases that are called as they are."""
    return {each: each for each in names}


def by_quantile(cases: dict[str, str], title: str = "Latency by quantile", prefix: str = "") -> tuple:
    return (f"{prefix}quantiles", title, NINES,
            [(quantiles, label, case, prefix) for case, label in cases.items()])


# Of each suite groups: name, title, about, and pictures: who draws one, and what of.
PICTURES: dict[str, list[tuple]] = {
    "dispatch": [("values", "Items per second", ABOUT, [
        (values, "continuations posted", "throughput",
         same("post", "post_batched", "interleaved_post", "foreign_post", "concurrent_post",
              "threads_4_from_4")),
        (values, "coroutines spawned", "throughput",
         same("spawn", "spawn_batched", "interleaved_spawn", "foreign_spawn", "concurrent_spawn",
              "threads_4_from_4_spawn"))])],
    "throughput": [("buffers", "Throughput by size of buffers", ABOUT, [
        (stepwise, f"{how}, {named}", "throughput",
         {f"{direction}_{transport}_{size}": size for size in words.BUFFERS}, "buffer, bytes")
        for transport, named in words.TRANSPORTS.items()
        for direction, how in (("uni", "one way"), ("bidi", "both ways"))])],
    "latency": [by_quantile({
        f"{transport}_{case}": f"{named}, {label}" for transport, named in words.TRANSPORTS.items()
        for case, label in (("1", "1 byte"), ("64", "64 bytes"), ("1024", "1024 bytes"),
                            ("64_two_sides", "64 bytes, two sides"), ("64_4pairs", "64 bytes, 4 pairs"),
                            ("64_16pairs", "64 bytes, 16 pairs"))})],
    "http": [
        ("connections", "Requests per second by connections", ABOUT,
         [(stepwise, "one thread", "throughput", words.CONNECTIONS, "connections")]),
        by_quantile({"1_sequential": "1 connection, sequential", "4": "4 connections",
                     "16": "16 connections", "32": "32 connections",
                     "threads_2": "32 connections, 2 threads"})],
    "timers": [
        ("values", "Processor time of a timer", ABOUT,
         [(values, "one by one", "cpu", same(*words.TIMERS_PAID))]),
        ("pending", "By number of pending timers", ABOUT, [
            (stepwise, "processor time from arming to firing", "cpu", words.TIMERS_TOGETHER,
             "timers pending"),
            (stepwise, "how late they fire, p99", "p99", words.TIMERS_TOGETHER, "timers pending")])],
    "churn": [
        ("values", "Connections per second", ABOUT, [(values, "all plays", "throughput", words.CHURN)]),
        by_quantile(words.CHURN, "From connecting to closing, by quantile")],
    "fan_out": [("values", "Children started, ended and joined", ABOUT, [
        (stepwise, "one parent", "throughput", same("1", "4", "16", "64"), "children of a fork"),
        (values, "several parents", "throughput",
         {case: label for case, label in words.FAN_OUT.items() if not case.isdigit()})])],
    "baseline": [
        ("values", "Plain servers and libraries", ABOUT, [
            (values, title, metric, same(*server_tables.UTILITIES))
            for metric, title in (("throughput", "requests per second"),
                                  ("cpu", "processor time per request"))]),
        by_quantile(server_tables.UTILITIES, "Latency that clients see, by quantile")],
} | {
    suite: [("values", "Servers", ABOUT, [
                (values, "processor time of the server", "cpu", cases),
                (values, "per second", "throughput", cases)]),
            by_quantile(cases, "Latency that clients see, by quantile")]
    for suite, cases in server_tables.PROTOCOL_CASES.items()
}


def _threads(suite: str) -> list[tuple]:
    steps = [(stepwise, what, "throughput", {pattern.format(each): str(each) for each in words.THREADS},
              "threads") for pattern, what in words.SCALING.get(suite, {}).items()]
    return [("threads", "Throughput by number of threads", ABOUT, steps)] if steps else []


def _echo(run: Run) -> list[tuple]:
    blocks = {case: server_tables.heading(case) for case in server_tables.block_cases(run)}
    by_connections = [
        (metric, title, ABOUT, [
            (stepwise, f"{message} B".replace("K B", " KiB"), metric,
             {f"{message}_{each}": str(each) for each in server_tables.CONNECTIONS}, "connections")
            for message in server_tables.MESSAGES])
        for metric, title in (("cpu", "Processor time of the server per request"),
                              ("throughput", "Requests per second by connections"))]
    return [*by_connections, ("blocks", "Requests per second, servers in other languages too", ABOUT,
                              [(values, "all servers", "throughput", same(*blocks))]),
            by_quantile(blocks)]


def _exchange(run: Run) -> list[tuple]:
    """Each scenario with a filled book, at the highest rate that was reached."""
    cases: dict[str, str] = {}
    rates = []
    for group in exchange_tables.groups_of(run):
        paced = [each for each in group if each.rate != "∞"]
        reached = [each for each in paced
                   if any(run.row("exchange", each.name, "p50", name) for name in run.contenders)]
        if reached and reached[-1].book == "filled":
            cases[reached[-1].name] = f"{reached[-1].label}/s"
            rates.append((stepwise, f"{reached[-1].scenario}, filled, p99", "wire_p99",
                          {each.name: each.rate for each in paced}, "events per second"))
    return [by_quantile(cases, "Inside the facility, by quantile"),
            by_quantile(cases, "To the client's last message, by quantile", "wire_"),
            ("rates", "To the client's last message, by rate", ABOUT, rates),
            ("seconds", "p99.9 over time, to the client's last message",
             "Of each second, the middle of the rounds; of short turns each, as they followed each other.",
             [(_seconds, label, case) for case, label in cases.items()])]


def _seconds(run: Run, suite: str, title: str, case: str) -> Picture | None:
    points = {}
    for name in run.contenders:
        row = run.row(suite, case, "p99.9", name) or run.row(suite, case, "p50", name)
        points[name] = [(float(at), Row("us", "lower", {}, value, 0.0)) for at, value in
                        enumerate(exchange_tables.seconds_of(run, case, name))] if row else []
    longest = max((len(found) for found in points.values()), default=0)
    step = 1 if longest <= 10 else 5
    unit = "turn" if run.described(suite, case)["turns"] > 1 else "second"
    return curves(run, title, points, [(float(at), str(at + 1)) for at in range(0, longest, step)], unit)


def _headlines(run: Run, suite: str) -> list[tuple]:
    """Of a suite that has no pictures of its own."""
    cases = run.cases(suite)
    metric = run.headline(suite, cases[0])
    return [("values", f"All contenders, {metric}", ABOUT,
             [(values, suite, metric, same(*part)) for part in parts(cases)])]


def groups_of(run: Run, suite: str) -> list[Group]:
    """The ratios first, then what they are made of."""
    own = _echo(run) if suite == "echo" else _exchange(run) if suite == "exchange" else \
        PICTURES[suite] if suite in PICTURES else _headlines(run, suite)
    found = [ratios(run, suite)]
    for name, title, about, pictures in [*own, *_threads(suite)]:
        there = [drawn for draw, *of in pictures if (drawn := draw(run, suite, *of)) is not None]
        if there:
            named = [each for each in run.contenders if any(f"var(--c-{each})" in one.svg for one in there)]
            found.append(Group(f"{suite}-{name}", title, about, there, named))
    return [each for each in found if each is not None]
