# SPDX-License-Identifier: BSL-1.0
#
# The tables of the suite `exchange`, shaped like those of the paper that it reproduces.
#
# A row is a rate, a table is a scenario with one state of its book, and a cell says by how many per cent
# a contender differs from another: a shape that no other suite has.
"""From a run of `exchange` to tables of differences, then absolute values and what they cost."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy
from analyse.frame import Run
from analyse.tables import Cell, Row, Table, format_value, table_of_cases
from measure.processes import CONTROL, REFERENCE_FAMILY

SUITE = "exchange"
END_TO_END_SUITE = "exchange_end_to_end"  # The same cases, with a gateway in front.
TUNING_SUITE = "exchange_tuning"  # A few of the same cases, by contenders that differ in one thing.

SCENARIOS = {
    "1": "Scenario 1 - Place GTC Order and then Cancel",
    "2": "Scenario 2 - Enter IOC, No Execution",
    "2b": "Scenario 2b - Enter FOK, No Execution",
    "3": "Scenario 3 - Order Amends, Quantity Only",
    "4": "Scenario 4 - Two Orders Resulting in a Trade",
    "5": "Scenario 5 - Sweep 10 Orders at Same Level",
    "6": "Scenario 6 - Sweep 10 Close Orders at Different Levels",
    "7": "Scenario 7 - Sweep 10 Sparse Orders at Different Levels",
    "8": "Scenario 8 - Mass Cancel Orders across 100 Markets",
}
BOOKS = {"empty": "Empty Book", "filled": "Filled Book"}

# The columns of the paper, then what we add; a metric each.
COLUMNS = {"Min": "min", "Max": "max", "Mean": "mean", "P50": "p50", "P95": "p95", "P99": "p99",
           "P99.9": "p99.9", "P99.99": "p99.99", "Avg Rate (events/s)": "events_rate",
           "Avg Rate (orders/s)": "orders_rate"}

# All cases side by side: metric, title.
OVERVIEWS = {
    "p50": "Inside the facility, p50, μs (less is better)",
    "p99": "Inside the facility, p99, μs (less is better)",
    "p99.9": "Inside the facility, p99.9, μs (less is better)",
    "net": "Inside the facility, p50 without the core's own, μs (less is better)",
    "core": "The core's own, p50, μs",
    "wire_p50": "From when it was due to the client's last message, p50, μs (less is better)",
    "wire_p99": "From when it was due to the client's last message, p99, μs (less is better)",
    "wire_p99.9": "From when it was due to the client's last message, p99.9, μs (less is better)",
    "way_in": "Of that, until the facility had read it, p50, μs (less is better)",
    "way_out": "Of that, behind the facility's last write, p50, μs (less is better)",
    "worst_second_p99.9": "p99.9 of the worst second (the worst turn, if that is shorter), to the client's "
                          "last message, μs (less is better)",
    "orders_rate": "Inbound messages carried out, thousands per second (more is better)",
}

COSTS = {
    "cpu": "Processor time of the facility, its gateway included, per inbound message, ns",
    "system_calls": "System calls of the facility per inbound message",
    "allocations": "Allocations of the facility per inbound message",
    "receptions": "Reads that brought messages, per inbound message",
    "flushes": "Batches of input, each flushed as a whole, per inbound message",
    "reads": "Reads, per inbound message",
    "writes": "Writes to sessions, per inbound message",
    "datagrams": "Datagrams of the feed, per inbound message",
    "feed_requests": "Requests for lost messages of the feed, per inbound message",
    "late_p99": "How late the load was, p99, μs",
}


@dataclass(frozen=True)
class Case:
    name: str
    scenario: str
    book: str
    rate: str  # As in the paper: 1,000, or the sign of infinity.

    @property
    def label(self) -> str:
        return f"{self.scenario}, {self.book}, {self.rate}"


def parse_case(name: str) -> Case | None:
    match = re.fullmatch(r"(\d+b?)_(empty|filled)_(\d+|unbounded)", name)
    if match is None or match[1] not in SCENARIOS:
        return None
    rate = "∞" if match[3] == "unbounded" else f"{int(match[3]):,}"
    return Case(name, match[1], match[2], rate)


def cases_of(run: Run, suite: str = SUITE) -> list[Case]:
    return [case for each in run.cases(suite) if (case := parse_case(each)) is not None]


def event_count(run: Run, case: str, contender: str) -> str:
    """How many it played: those of a turn, from the title of the case, in all turns of all rounds."""
    row, about = run.row(SUITE, case, "events_rate", contender), run.described(SUITE, case)
    found = re.search(r"(\d+) events", about["title"])
    return f"{int(found[1]) * sum(map(len, row.blocks.values())):,}" if found and row else "-"


def delta_table(run: Run, cases: list[Case], contender: str, against: str | None) -> Table:
    """One scenario with one book. `against` is a contender; None: the best Asio row of each case."""
    others = {case: against or best_asio(run, case.name) for case in cases}
    rows = [row for case, other in others.items() if other is not None and other != contender
            and (row := delta_row(run, case, contender, other)) is not None]
    title = (f"{SCENARIOS[cases[0].scenario]}, {BOOKS[cases[0].book]}: "
             f"{contender} against {against or 'the best Asio'}")
    return Table(title, "Feed Rate (msg/s)", ["Count", *COLUMNS], rows, remark="Against")


def delta_row(run: Run, case: Case, contender: str, other: str) -> Row | None:
    shares = [run.share(SUITE, case.name, metric, contender, other) for metric in COLUMNS.values()]
    if not any(shares):
        return None
    cells = [Cell(event_count(run, case.name, contender)),
             *(Cell(f"{100 * (each.ratio - 1):+.1f}%" if each else "-") for each in shares)]
    saturated = [each for each in (contender, other) if run.is_saturated(SUITE, case.name, each)]
    remark = other + (f"; saturated: {', '.join(saturated)}" if saturated else "")
    return Row(case.rate, cells, remark)


def best_asio(run: Run, case: str) -> str | None:
    """One contender for the whole row, so that its columns speak of the same program."""
    return run.reference(SUITE, case, "p50") or run.reference(SUITE, case, "orders_rate")


def groups_of(run: Run) -> list[list[Case]]:
    """Cases by scenario and book, in the order of the paper."""
    all_cases = cases_of(run)
    groups = [[each for each in all_cases if (each.scenario, each.book) == (scenario, book)]
              for scenario in SCENARIOS for book in BOOKS]
    return [each for each in groups if each]


def delta_tables(run: Run, against: list[str | None]) -> list[Table]:
    return [delta_table(run, group, contender, other)
            for contender in run.ours for other in against for group in groups_of(run)]


def control_table(run: Run) -> Table:
    """What a contender differs from itself: what is smaller says nothing."""
    rows = []
    for case in cases_of(run):
        title = next((each for each in run.contenders
                      if run.row(SUITE, case.name, "events_rate", each + CONTROL)), None)
        row = delta_row(run, case, title + CONTROL, title) if title else None
        if row is not None:
            row.label = case.label
            rows.append(row)
    return Table("Control: a contender against itself", "Case", ["Count", *COLUMNS], rows,
                 remark="Itself")


def seconds_of(run: Run, case: str, contender: str) -> list[float]:
    """p99.9 of each second, μs, the middle of the rounds; or of each turn, as they followed each other. None
    if it was saturated or too short."""
    rounds = run.seconds.get((SUITE, case, contender), [])
    if run.is_saturated(SUITE, case, contender) or not rounds:
        return []
    if run.described(SUITE, case)["turns"] > 1:
        return [second[SECOND_P999] for one in rounds for second in one]
    shortest = min(map(len, rounds))
    middle = numpy.median([[second[SECOND_P999] for second in one[:shortest]] for one in rounds], axis=0)
    return list(map(float, middle)) if shortest > 1 else []


SECOND_P999 = 2  # Where p99.9 stands among what the driver writes of each second.


def jitter_table(run: Run) -> Table:
    """How far the seconds of a run lie apart."""
    columns = [each for each in run.contenders
               if any(seconds_of(run, case.name, each) for case in cases_of(run))]
    rows = []
    for case in cases_of(run):
        found = [seconds_of(run, case.name, each) for each in columns]
        if any(found):
            cells = [Cell(" / ".join(format_value(value, "us") for value in
                                     (min(each), float(numpy.median(each)), max(each)))
                          if each else "-") for each in found]
            rows.append(Row(case.label, cells))
    return Table("Jitter: p99.9 to the client's last message in the best / the middle / the worst "
                 "second (turn, if that is shorter), μs",
                 "Scenario, book, rate", columns, rows, remark="")


def overview(run: Run, metric: str, title: str, suite: str = SUITE) -> Table:
    return table_of_cases(run, suite, title, "Scenario, book, rate",
                          {each.name: each.label for each in cases_of(run, suite)}, metric)


def exchange(run: Run) -> list[Table]:
    """Differences first, as the paper has them; then what they are worth; then absolute values."""
    return [*delta_tables(run, [None]), control_table(run),
            *(overview(run, metric, title) for metric, title in OVERVIEWS.items()),
            jitter_table(run)]


TUNED = ("p50", "p99.9", "wire_p50", "wire_p99.9", "orders_rate")


def end_to_end(run: Run) -> list[Table]:
    """What the gateway adds is in what the client sees; inside the facility nothing is another one."""
    return [overview(run, metric, title, END_TO_END_SUITE) for metric, title in OVERVIEWS.items()
            if metric not in ("net", "core")]


def tuning(run: Run) -> list[Table]:
    return [overview(run, metric, OVERVIEWS[metric], TUNING_SUITE) for metric in TUNED]


def costs(run: Run, suite: str = SUITE) -> list[Table]:
    """What it was paid with, and differences from each Asio contender by itself."""
    paid = [overview(run, metric, title, suite) for metric, title in COSTS.items()]
    peers = [each for each in run.contenders if run.family(each) == REFERENCE_FAMILY]
    return paid + (delta_tables(run, peers) if suite == SUITE and len(peers) > 1 else [])
