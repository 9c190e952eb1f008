# SPDX-License-Identifier: BSL-1.0
#
# The tables of the suite `baseline`, shaped like those that it reproduces: a server as per cent of another.
#
# What a framework costs is the distance to the program one would write without it, so that is the unit
# here, and not the distance to the best library as elsewhere.
"""From a run of `baseline` to per cent of a plain server, then to absolute values."""

from __future__ import annotations

import numpy

import evidence
from evidence import Run
from tables import Cell, Row, Table, format_value, make_table

SUITE = "baseline"

CASES = {
    "ab_close": "apache bench (120 bytes)",
    "ab_keepalive": "apache bench (120 bytes), keep-alive",
    "wrk_close": "wrk (120 bytes)",
    "wrk_keepalive": "wrk (120 bytes), keep-alive",
    "echo_512": "echo (512 bytes)",
    "echo_2018": "echo (2018 bytes)",
}

# Who as per cent of whom, and what that tells.
PAIRS = [
    ("gyre_uring", "raw_uring", "Without SQPOLL, 100 concurrent clients"),
    ("gyre_epoll", "raw_epoll", "On epoll, 100 concurrent clients"),
    ("gyre_uring", "gyre_epoll", "io_uring or epoll, by gyre"),
    ("raw_uring", "raw_epoll", "io_uring or epoll, by hand"),
    ("raw_uring_sqpoll", "raw_uring", "With SQPOLL or without, by hand"),
    ("gyre_uring_sqpoll", "raw_uring_sqpoll", "With SQPOLL, 100 concurrent clients"),
]
METRICS = {"QPS": "throughput", "Throughput": "transfer", "Processor time": "cpu"}

OVERVIEWS = {
    "throughput": "Requests per second, thousands (more is better)",
    "transfer": "Received by the clients, MB/s (more is better)",
    "cpu": "Processor time of the server, ns per request (less is better)",
    "p50": "Latency seen by the clients, p50, μs (less is better)",
    "p99": "Latency seen by the clients, p99, μs (less is better)",
}


def per_cent(run: Run, case: str, metric: str, contender: str, against: str) -> str | None:
    """The median of the rounds' ratios and its interval."""
    ours, theirs = (run.row(SUITE, case, metric, each) for each in (contender, against))
    if ours is None or theirs is None:
        return None
    ratios = 100 * evidence.paired_ratios(ours["samples"], theirs["samples"], "higher")
    if len(ratios) == 0:
        return None
    text = f"{float(numpy.median(ratios)):.0f}%"
    if len(ratios) < 2:
        return text
    low, high = evidence.interval(ratios)
    return f"{text} ({low:.0f}-{high:.0f})"


def absolute(run: Run, case: str, contender: str, against: str) -> str:
    """Both sides of the first column."""
    rows = [run.row(SUITE, case, "throughput", each) for each in (contender, against)]
    return " : ".join(f"{format_value(each['median'], each['unit'])} K/s" for each in rows)


def pair_table(run: Run, contender: str, against: str, title: str) -> Table | None:
    rows = []
    for case, label in CASES.items():
        cells = [per_cent(run, case, metric, contender, against) for metric in METRICS.values()]
        if cells[0] is not None:
            rows.append(Row(label, [Cell(each or "-") for each in cells],
                            absolute(run, case, contender, against), run.is_void(SUITE, case)))
    return Table(f"{title}: {contender} as per cent of {against}", "utility", list(METRICS), rows,
                 remark="QPS") if rows else None


def overview(run: Run, metric: str, title: str) -> Table | None:
    return make_table(run, title, "utility",
                      [(label, SUITE, case, metric) for case, label in CASES.items()])


def busy_table(run: Run) -> Table | None:
    """Nobody wins by it, so there is no winner: it tells how far a server was from its limits."""
    columns = [each for each in run.contenders()
               if any(run.row(SUITE, case, "busy", each) for case in CASES)]
    rows = [Row(label, [Cell(f"{row['median']:.0f}%" if row else "-") for row in found], "")
            for case, label in CASES.items()
            if any(found := [run.row(SUITE, case, "busy", each) for each in columns])]
    return Table("Part of its core that the server used: little, and the clients were the bottleneck",
                 "utility", columns, rows, remark="") if rows else None


def tables(run: Run) -> list[Table | None]:
    """Per cent first; then absolute values, with the ratios to the best Asio row."""
    return [*(pair_table(run, *each) for each in PAIRS),
            *(overview(run, metric, title) for metric, title in OVERVIEWS.items()),
            busy_table(run)]
