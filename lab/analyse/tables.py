# SPDX-License-Identifier: BSL-1.0
#
# The tables of the lab, shaped like those that each suite set out to reproduce.
#
# A table is built once, as cells, and drawn twice: here as text, in report.html as HTML. So the two cannot
# disagree.
"""From a run to tables: which rows and columns there are, what a cell says, which contender won."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from analyse.frame import COUNTED, Run
from analyse.stats import Estimate
from measure.processes import FLOOR_FAMILY


@dataclass
class Cell:
    text: str
    ratio: str = ""
    winner: bool = False


@dataclass
class Row:
    label: str
    cells: list[Cell]
    winner: str = ""


@dataclass
class Table:
    title: str
    corner: str  # The header of the column of labels.
    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    remark: str = "Winner"  # The header of the last column, which holds what rows call their winner.


def format_value(value: float, unit: str) -> str:
    """In the units of the tables: ops/s as thousands, MB/s as GB/s from 1,000 on."""
    if unit == "ops/s":
        return _digits(value / 1000)
    if unit == "MB/s" and value >= 1000:
        return f"{value / 1000:.2f} GB"
    return _digits(value)


def _digits(value: float) -> str:
    if value == 0 or value >= 1000:
        return f"{value:,.0f}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) >= 0.001 else 5
    return f"{value:.{min(decimals, 4)}f}"


def format_ratio(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 100 else f"{ratio:.0f}x"


def format_estimate(of: Estimate) -> str:
    """A ratio, and half of its interval in per cent of it."""
    if math.isinf(of.half):
        return f"{format_ratio(of.ratio)} ±?"
    half = 100 * math.expm1(of.half)
    return f"{format_ratio(of.ratio)} ±{half:.0f}%" if half < 1000 else f"{format_ratio(of.ratio)} ±?"


def format_cell(run: Run, suite: str, case: str, metric: str, contender: str) -> str:
    row = run.row(suite, case, metric, contender)
    return "-" if row is None else format_value(row.value, row.unit)


def make_row(run: Run, columns: list[str], label: str, suite: str, case: str, metric: str) -> Row | None:
    """One case and metric across some contenders; None if none of them has it."""
    if not any(run.row(suite, case, metric, each) for each in columns):
        return None
    winner, remark = find_winner(run, suite, case, metric)
    cells = []
    for each in columns:
        cells.append(Cell(format_cell(run, suite, case, metric, each), _ratio(run, suite, case, metric, each),
                          each == winner))
    return Row(label, cells, remark)


def _ratio(run: Run, suite: str, case: str, metric: str, contender: str) -> str:
    """To the best Asio row."""
    reference = run.reference(suite, case, metric, contender)
    if reference is None or run.row(suite, case, metric, contender) is None:
        return ""
    if reference == contender:
        return "1x"
    found = run.compare(suite, case, metric, contender, reference)
    return format_estimate(found.estimate) if found else ""


def find_winner(run: Run, suite: str, case: str, metric: str) -> tuple[str | None, str]:
    """The best, and how many times better it is than the best of any other library; a tie if the interval
    holds 1."""
    if metric in COUNTED:
        return None, ""  # These explain a row; more is not worse.
    players = [each for each in run.contenders if run.family(each) != FLOOR_FAMILY]
    winner = run.best(suite, case, metric, players)
    if winner is None:
        return None, ""
    rivals = [each for each in players if run.family(each) != run.family(winner)]
    second = (run.best(suite, case, metric, rivals) or
              run.best(suite, case, metric, [each for each in players if each != winner]))
    if second is None:
        return winner, winner
    found = run.compare(suite, case, metric, winner, second)
    if found is None or found.estimate.low <= 1:
        return None, "tie"
    return winner, f"{winner} {format_ratio(found.ratio)}"


def make_table(run: Run, title: str, corner: str, lines: Iterable[tuple[str, str, str, str]]) -> Table | None:
    """From (label, suite, case, metric) of each line; None if the run has none of them."""
    lines = list(lines)
    columns = [each for each in run.contenders
               if any(run.row(suite, case, metric, each) for _, suite, case, metric in lines)]
    rows = [row for line in lines if (row := make_row(run, columns, *line)) is not None]
    return Table(title, corner, columns, rows) if rows else None


THREADS = (1, 2, 4, 8, 16)  # Not all suites have all of them.
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


def _scaling(run: Run, suite: str) -> list[Table | None]:
    """For each family of rows that differ in the number of threads: how fast, and how much faster than
    on one."""
    found = []
    for pattern, what in SCALING[suite].items():
        lines = [(str(threads), suite, pattern.format(threads), "throughput")
                 for threads in THREADS]
        found.append(make_table(run, f"Threads: {what}, {SCALING_UNITS[suite]} (more is better)",
                                "Threads", lines))
        found.append(_speedup(run, f"Threads: {what}, speedup over one thread", lines))
    return found


def _speedup(run: Run, title: str, lines: list[tuple[str, str, str, str]]) -> Table | None:
    """Ratios of values: rows of different cases have no rounds in common."""
    _, suite, first, metric = lines[0]
    columns = [each for each in run.contenders if run.row(suite, first, metric, each)]
    alone = {each: run.value(suite, first, metric, each) for each in columns}
    rows = []
    for label, _, case, _ in lines[1:]:
        values = {each: run.value(suite, case, metric, each) for each in columns}
        if any(values.values()):
            rows.append(Row(label, [Cell(f"{value / alone[each]:.2f}" if value else "-")
                                    for each, value in values.items()]))
    return Table(title, "Threads", columns, rows, "") if rows else None


def _dispatch(run: Run) -> list[Table | None]:
    labels = {
        "post": "post, then run", "post_batched": "post on the loop, 1,000 at a time",
        "interleaved_post": "interleaved post/run, 100", "foreign_post": "post from another thread",
        "spawn": "spawn, then run", "spawn_batched": "spawn on the loop, 1,000 at a time",
        "interleaved_spawn": "interleaved spawn/run, 100",
        "foreign_spawn": "spawn from another thread",
    }
    together = {
        "concurrent_post": "4 threads post, then run", "threads_4_from_4": "4 others post, 4 run",
        "concurrent_spawn": "4 threads spawn, then run",
        "threads_4_from_4_spawn": "4 others spawn, 4 run",
    }
    return [make_table(run, title, "Scenario", [(label, "dispatch", case, "throughput")
                                                for case, label in cases.items()])
            for title, cases in (("Handler dispatch, Mops/s (more is better)", labels),
                                 ("Concurrent post and run, Mops/s (more is better)", together))
            ] + _scaling(run, "dispatch")


BUFFERS = ("1K", "4K", "16K", "64K", "256K", "1M")


def _throughput(run: Run) -> list[Table | None]:
    tables = []
    for transport, named in (("tcp", "TCP"), ("unix", "Unix sockets")):
        for direction, how in (("uni", "Unidirectional"), ("bidi", "Bidirectional")):
            lines = [(size, "throughput", f"{direction}_{transport}_{size}", "throughput")
                     for size in BUFFERS]
            tables.append(make_table(
                run, f"{how} throughput, {named}, MB/s (more is better)", "Buffer", lines))
    return tables + _scaling(run, "throughput")


QUANTILES = ("mean", "p50", "p90", "p99", "p99.9", "min", "max")


def _latency(run: Run) -> list[Table | None]:
    tables = []
    for transport, named in (("tcp", "TCP"), ("unix", "Unix sockets")):
        for metric in ("mean", "p99"):
            tables.append(make_table(
                run, f"Ping-pong round trip, {named}, {metric}, μs (less is better)", "Message",
                [("1 byte", "latency", f"{transport}_1", metric),
                 ("64 bytes", "latency", f"{transport}_64", metric),
                 ("1024 bytes", "latency", f"{transport}_1024", metric),
                 ("64 bytes, two sides", "latency", f"{transport}_64_two_sides", metric)]))
        tables.append(make_table(
            run, f"Distribution at 64 bytes, {named}, μs (less is better)", "Percentile",
            [(metric, "latency", f"{transport}_64", metric) for metric in QUANTILES]))
        tables.append(make_table(
            run, f"Concurrent pairs, 64 bytes, {named}, μs (less is better)", "Pairs",
            [(f"{pairs}, {metric}", "latency", f"{transport}_64{suffix}", metric)
             for metric in ("mean", "p99")
             for pairs, suffix in ((1, ""), (4, "_4pairs"), (16, "_16pairs"))]))
    return tables


def _http(run: Run) -> list[Table | None]:
    connections = (1, 4, 16, 32)
    return [
        make_table(run, "HTTP, one connection, sequential, Kops/s (more is better)", "Metric",
                   [("throughput", "http", "1_sequential", "throughput")]),
        make_table(run, "HTTP, one connection, sequential, latency, μs (less is better)",
                   "Metric", [(each, "http", "1_sequential", each) for each in QUANTILES]),
        make_table(run, "HTTP, concurrent connections, one thread, Kops/s (more is better)",
                   "Connections", [(str(each), "http", str(each), "throughput")
                                   for each in connections]),
        make_table(run, "HTTP, latency under concurrency, μs (less is better)", "Connections",
                   [(f"{each}, {metric}", "http", str(each), metric)
                    for metric in ("mean", "p99") for each in connections]),
        *_scaling(run, "http"),
        make_table(run, "HTTP, 32 connections on threads, latency, μs (less is better)", "Threads",
                   [(f"{each}, {metric}", "http", f"threads_{each}", metric)
                    for metric in ("mean", "p99") for each in THREADS]),
    ]


TIMERS_ONE_BY_ONE = {
    "schedule_cancel_waited": "schedule and cancel, waited for",
    "schedule_cancel_unwaited": "schedule and cancel, nothing waits",
    "fire_rate": "fire, 0 s", "fire_rate_1us": "fire, 1 μs",
    "push_back_10K": "push back one of 10,000", "push_back_1M": "push back one of 1,000,000",
}
TIMERS_TOGETHER = {f"concurrent_{count}": f"{count:,}" for count in (10, 100, 1_000, 100_000)}


def _timers(run: Run) -> list[Table | None]:
    paid = TIMERS_ONE_BY_ONE | {"push_back_1M_paced": "push back one of 1,000,000, 100,000/s"}
    return [
        make_table(run, "Timers, Mops/s (more is better)", "Scenario",
                   [(label, "timers", case, "throughput")
                    for case, label in TIMERS_ONE_BY_ONE.items()]),
        make_table(run, "Timers, processor time, ns each (less is better)", "Scenario",
                   [(label, "timers", case, "cpu") for case, label in paid.items()]),
        make_table(run, "Concurrent timers, processor time, ns from arming to firing (less is "
                   "better)", "Pending", [(label, "timers", case, "cpu")
                                          for case, label in TIMERS_TOGETHER.items()]),
        make_table(run, "Concurrent timers, how late they fire, μs (less is better)", "Pending",
                   [(f"{label}, {metric}", "timers", case, metric)
                    for metric in ("mean", "p99") for case, label in TIMERS_TOGETHER.items()]),
    ]


CHURN = {
    "sequential": "sequential, 1 listener", "4_listeners": "sequential, 4 listeners",
    "16_listeners": "sequential, 16 listeners", "two_sides": "two sides", "burst_10": "bursts of 10",
    "burst_100": "bursts of 100", "http_1_0": "HTTP/1.0",
}


def _churn(run: Run) -> list[Table | None]:
    return [
        make_table(run, "Connections of one byte, thousands per second (more is better)",
                   "Scenario", [(label, "churn", case, "throughput")
                                for case, label in CHURN.items()]),
        make_table(run, "From connecting to closing, μs (less is better)", "Scenario",
                   [(f"{label}, {metric}", "churn", case, metric)
                    for metric in ("mean", "p99") for case, label in CHURN.items()]),
        make_table(run, "One after the other, distribution, μs (less is better)", "Percentile",
                   [(metric, "churn", "sequential", metric) for metric in QUANTILES]),
    ]


FAN_OUT = {
    "1": "1 child", "4": "4 children", "16": "16 children", "64": "64 children",
    "nested": "4 children that fork 4 each", "4_parents": "4 parents of 16",
    "16_parents": "16 parents of 16",
}


def _fan_out(run: Run) -> list[Table | None]:
    return [make_table(run, "Children started, ended and joined, millions per second (more is "
                       "better)", "Fork", [(label, "fan_out", case, "throughput")
                                           for case, label in FAN_OUT.items()])]


COSTS = {
    "cpu": "Processor time, ns per operation (less is better)",
    "allocations": "Allocations per operation (less is better)",
    "system_calls": "System calls per operation (less is better)",
    "context_switches": "Context switches per operation (less is better)",
}

def _per_case(run: Run, suite: str, metric: str, title: str) -> Table | None:
    return make_table(run, f"{title}: {suite}", "Case",
                      [(case, suite, case, metric) for case in run.cases(suite)])


def _cost(run: Run, suite: str) -> list[Table | None]:
    counted = {metric: title for metric, title in COUNTED.items() if _ever(run, suite, metric)}
    return [_per_case(run, suite, metric, title) for metric, title in (COSTS | counted).items()]


def _ever(run: Run, suite: str, metric: str) -> bool:
    """Whether a contender counted more than none."""
    return any((run.value(suite, case, metric, each) or 0) > 0
               for case in run.cases(suite) for each in run.contenders)


SUITES: dict[str, Callable] = {
    "dispatch": _dispatch, "throughput": _throughput, "latency": _latency, "http": _http,
    "timers": _timers, "churn": _churn, "fan_out": _fan_out}
BLOCKS: dict[str, Callable] = {}  # What a suite says about each contender by itself.
SUITE_COSTS: dict[str, Callable] = {}  # Of suites whose cost tables are not like all others.


def tables_of(run: Run, suite: str) -> list[Table]:
    """The tables of a suite in the order in which they are read."""
    from analyse import exchange_tables, server_tables  # They need this module, and add themselves to it.
    assert exchange_tables and server_tables
    return [table for table in SUITES.get(suite, lambda _: [])(run) if table is not None]


def blocks_of(run: Run, suite: str) -> list[str]:
    return BLOCKS.get(suite, lambda _: [])(run)


def cost_tables_of(run: Run, suite: str) -> list[Table]:
    """What the results were paid with."""
    return [table for table in SUITE_COSTS.get(suite, _cost)(run, suite) if table is not None]


def draw(table: Table) -> str:
    """As text, in columns."""
    header = [table.corner, *table.columns, table.remark]
    ratios = [max(len(row.cells[column].ratio) for row in table.rows) for column in range(len(table.columns))]

    def text_of(cell: Cell, width: int) -> str:
        return f"{cell.text} {cell.ratio:>{width}}" if width else cell.text

    lines = [[row.label, *map(text_of, row.cells, ratios), row.winner] for row in table.rows]
    widths = [max(len(line[column]) for line in [header, *lines]) for column in range(len(header))]

    def aligned(line: list[str]) -> str:
        middle = [text.rjust(width) for text, width in zip(line[1:-1], widths[1:-1])]
        return "  ".join([line[0].ljust(widths[0]), *middle, line[-1]]).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([table.title, rule, aligned(header), rule, *map(aligned, lines)])
