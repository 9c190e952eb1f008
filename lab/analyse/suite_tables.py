# SPDX-License-Identifier: BSL-1.0
#
# The tables of each suite, shaped like those that it set out to reproduce. Those of the in-process suites
# differ in words only, so they are data; whole programs have shapes of their own: server_tables.py and
# exchange_tables.py.
"""Which tables a suite has, and what people call its cases; plots.py uses the same words."""

from __future__ import annotations

from analyse import end_to_end_tables, exchange_tables, server_tables
from analyse.frame import COUNTED, Run
from analyse.tables import Cell, Row, Table, table_of_cases

TRANSPORTS = {"tcp": "TCP", "unix": "Unix sockets"}
QUANTILES = ("mean", "p50", "p90", "p99", "p99.9", "min", "max")
THREADS = (1, 2, 4, 8, 16)  # Not all suites have all of them.

POSTED = {
    "post": "post, then run", "post_batched": "post on the loop, 1,000 at a time",
    "interleaved_post": "interleaved post/run, 100", "foreign_post": "post from another thread",
    "spawn": "spawn, then run", "spawn_batched": "spawn on the loop, 1,000 at a time",
    "interleaved_spawn": "interleaved spawn/run, 100", "foreign_spawn": "spawn from another thread",
}
POSTED_TOGETHER = {
    "concurrent_post": "4 threads post, then run", "threads_4_from_4": "4 others post, 4 run",
    "concurrent_spawn": "4 threads spawn, then run", "threads_4_from_4_spawn": "4 others spawn, 4 run",
}
BUFFERS = ("1K", "4K", "16K", "64K", "256K", "1M")
CONNECTIONS = {each: each for each in ("1", "4", "16", "32")}
TIMERS_ONE_BY_ONE = {
    "schedule_cancel_waited": "schedule and cancel, waited for",
    "schedule_cancel_unwaited": "schedule and cancel, nothing waits",
    "fire_rate": "fire, 0 s", "fire_rate_1us": "fire, 1 μs",
    "push_back_10K": "push back one of 10,000", "push_back_1M": "push back one of 1,000,000",
}
TIMERS_PAID = TIMERS_ONE_BY_ONE | {"push_back_1M_paced": "push back one of 1,000,000, 100,000/s"}
TIMERS_TOGETHER = {f"concurrent_{count}": f"{count:,}" for count in (10, 100, 1_000, 100_000)}
CHURN = {
    "sequential": "sequential, 1 listener", "4_listeners": "sequential, 4 listeners",
    "16_listeners": "sequential, 16 listeners", "two_sides": "two sides", "burst_10": "bursts of 10",
    "burst_100": "bursts of 100", "http_1_0": "HTTP/1.0",
}
FAN_OUT = {
    "1": "1 child", "4": "4 children", "16": "16 children", "64": "64 children",
    "nested": "4 children that fork 4 each", "4_parents": "4 parents of 16",
    "16_parents": "16 parents of 16",
}
FILES = {
    "read_4K_64_cached": "random reads of 4 KiB, 64 under way, cached",
    "read_4K_64_direct": "random reads of 4 KiB, 64 under way, O_DIRECT",
    "write_1M_cached": "16 x 1 MiB and fdatasync", "write_1M_direct": "16 x 1 MiB and fdatasync, O_DIRECT",
    "stream_write_1M": "16 x 1 MiB in order and fdatasync",
    "stream_read_64K": "reads of 64 KiB in order, cached",
    "commit_4K_8": "durable records of 4 KiB, 8 committers",
    "commit_4K_64": "durable records of 4 KiB, 64 committers",
}
COMMITS = {each: label for each, label in FILES.items() if each.startswith(("commit", "read_4K"))}
CHANNELS = {f"{senders}_to_1_{capacity}_{taking}": f"{senders} to 1, room for {capacity:,}, {how}"
            for taking, how in (("each", "one by one"), ("many", "up to 64 at once"))
            for senders in (1, 4) for capacity in (64, 1024, 16384)}

# Of each suite: title, header of the labels, cases, metrics.
TABLES: dict[str, list[tuple]] = {
    "dispatch": [
        ("Handler dispatch, Mops/s (more is better)", "Scenario", POSTED, "throughput"),
        ("Concurrent post and run, Mops/s (more is better)", "Scenario", POSTED_TOGETHER, "throughput")],
    "throughput": [
        (f"{how} throughput, {named}, MB/s (more is better)", "Buffer",
         {f"{direction}_{transport}_{size}": size for size in BUFFERS}, "throughput")
        for transport, named in TRANSPORTS.items()
        for direction, how in (("uni", "Unidirectional"), ("bidi", "Bidirectional"))],
    "latency": [
        table for transport, named in TRANSPORTS.items() for table in (
            *((f"Ping-pong round trip, {named}, {metric}, μs (less is better)", "Message",
               {f"{transport}_1": "1 byte", f"{transport}_64": "64 bytes",
                f"{transport}_1024": "1024 bytes", f"{transport}_64_two_sides": "64 bytes, two sides"},
               metric) for metric in ("mean", "p99")),
            (f"Distribution at 64 bytes, {named}, μs (less is better)", "Percentile",
             {f"{transport}_64": ""}, *QUANTILES),
            (f"Concurrent pairs, 64 bytes, {named}, μs (less is better)", "Pairs",
             {f"{transport}_64": "1", f"{transport}_64_4pairs": "4", f"{transport}_64_16pairs": "16"},
             "mean", "p99"))],
    "http": [
        ("HTTP, one connection, sequential, Kops/s (more is better)", "Metric",
         {"1_sequential": "throughput"}, "throughput"),
        ("HTTP, one connection, sequential, latency, μs (less is better)", "Metric", {"1_sequential": ""},
         *QUANTILES),
        ("HTTP, concurrent connections, one thread, Kops/s (more is better)", "Connections", CONNECTIONS,
         "throughput"),
        ("HTTP, latency under concurrency, μs (less is better)", "Connections", CONNECTIONS, "mean", "p99"),
        ("HTTP, 32 connections on threads, latency, μs (less is better)", "Threads",
         {f"threads_{each}": str(each) for each in THREADS}, "mean", "p99")],
    "timers": [
        ("Timers, Mops/s (more is better)", "Scenario", TIMERS_ONE_BY_ONE, "throughput"),
        ("Timers, processor time, ns each (less is better)", "Scenario", TIMERS_PAID, "cpu"),
        ("Concurrent timers, processor time, ns from arming to firing (less is better)", "Pending",
         TIMERS_TOGETHER, "cpu"),
        ("Concurrent timers, how late they fire, μs (less is better)", "Pending", TIMERS_TOGETHER, "mean",
         "p99")],
    "churn": [
        ("Connections of one byte, thousands per second (more is better)", "Scenario", CHURN, "throughput"),
        ("From connecting to closing, μs (less is better)", "Scenario", CHURN, "mean", "p99"),
        ("One after the other, distribution, μs (less is better)", "Percentile", {"sequential": ""},
         *QUANTILES)],
    "fan_out": [
        ("Children started, ended and joined, millions per second (more is better)", "Fork", FAN_OUT,
         "throughput")],
    "files": [
        ("Blocks of files, thousands per second (more is better)", "Play", FILES, "throughput"),
        ("From request to result, μs (less is better)", "Play", COMMITS, "mean", "p99")],
    "channels": [
        ("Numbers between two threads, millions per second (more is better)", "Channel", CHANNELS,
         "throughput"),
        ("Processor time of both threads, ns each (less is better)", "Channel", CHANNELS, "cpu")],
}
OTHER_TABLES = {"echo": server_tables.echo, "baseline": server_tables.baseline, "cost": server_tables.cost,
                "programs": server_tables.programs,
                **{each: server_tables.protocol(each) for each in server_tables.PROTOCOL_CASES},
                "exchange": exchange_tables.exchange, "exchange_end_to_end": exchange_tables.end_to_end,
                "exchange_tuning": exchange_tables.tuning,
                "exchange_end_to_end_tuning": end_to_end_tables.end_to_end_tuning,
                "exchange_jitter": end_to_end_tables.jitter,
                "exchange_market_data": end_to_end_tables.market_data,
                "exchange_market_data_tuning": end_to_end_tables.market_data_tuning}

SCALING = {
    "dispatch": {
        "threads_{}": "continuations from one other thread",
        "threads_{}_queued": "continuations that are there before they are run",
        "threads_{}_batched": "continuations from within, 1,000 at a time",
        "threads_{}_spawn": "coroutines from one other thread",
        "threads_{}_queued_spawn": "coroutines that are there before they are run",
        "threads_{}_batched_spawn": "coroutines from within, 1,000 at a time",
    },
    "throughput": {"threads_{}": "a pair on each thread, both ways, TCP, 64K"},
    "http": {"threads_{}": "32 connections"},
}
SCALING_UNITS = {"dispatch": "Mops/s", "throughput": "MB/s", "http": "Kops/s"}

COSTS = {
    "cpu": "Processor time, ns per operation (less is better)",
    "allocations": "Allocations per operation (less is better)",
    "system_calls": "System calls per operation (less is better)",
    "context_switches": "Context switches per operation (less is better)",
}


def tables_of(run: Run, suite: str) -> list[Table]:
    """The tables of a suite in the order in which they are read; those that the run has rows for."""
    found = OTHER_TABLES[suite](run) if suite in OTHER_TABLES else \
        [table_of_cases(run, suite, *each) for each in TABLES[suite]]
    return [each for each in found + _scaling(run, suite) if each.rows]


def blocks_of(run: Run, suite: str) -> list[str]:
    """What a suite says about each contender by itself."""
    return server_tables.echo_blocks(run) if suite == "echo" else []


def _scaling(run: Run, suite: str) -> list[Table]:
    """For each family of rows that differ in the number of threads: how fast, and how much faster than
    on one."""
    found = []
    for pattern, what in SCALING.get(suite, {}).items():
        cases = {pattern.format(threads): str(threads) for threads in THREADS}
        found += [table_of_cases(run, suite, f"Threads: {what}, {SCALING_UNITS[suite]} (more is better)",
                                 "Threads", cases, "throughput"),
                  _speedup(run, suite, f"Threads: {what}, speedup over one thread", cases)]
    return found


def _speedup(run: Run, suite: str, title: str, cases: dict[str, str]) -> Table:
    """Ratios of values: rows of different cases have no rounds in common."""
    first, *others = cases
    alone = {each: value for each in run.contenders if (value := run.value(suite, first, "throughput", each))}
    rows = []
    for case in others:
        values = [(run.value(suite, case, "throughput", each), alone[each]) for each in alone]
        if any(value for value, _ in values):
            rows.append(Row(cases[case], [Cell(f"{value / one:.2f}" if value else "-")
                                          for value, one in values]))
    return Table(title, "Threads", list(alone), rows, "")


def cost_tables_of(run: Run, suite: str) -> list[Table]:
    """What the results were paid with."""
    if suite.startswith("exchange_market_data"):
        found = []
    elif suite.startswith("exchange"):
        found = exchange_tables.costs(run, suite)
    else:
        counted = {metric: title for metric, title in COUNTED.items() if _ever(run, suite, metric)}
        found = [table_of_cases(run, suite, f"{title}: {suite}", "Case",
                                {each: each for each in run.cases(suite)}, metric)
                 for metric, title in (COSTS | counted).items()]
    return [each for each in found if each.rows]


def _ever(run: Run, suite: str, metric: str) -> bool:
    """Whether a contender counted more than none."""
    return any((run.value(suite, case, metric, each) or 0) > 0
               for case in run.cases(suite) for each in run.contenders)
