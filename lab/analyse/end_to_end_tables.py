# SPDX-License-Identifier: BSL-1.0
#
# Tables of the exchange's further suites: market data, jitter, and what one screw turned at a time changes.
# The eight scenarios are exchange_tables.py's.
"""From runs of `exchange_market_data`, `exchange_jitter`, and the suites that end in `tuning`, to tables."""

from __future__ import annotations

import re

import numpy
from analyse import exchange_tables
from analyse.frame import Run
from analyse.stats import OPEN
from analyse.tables import Cell, Row, Table, format_estimate, format_ratio, format_value, table_of_cases

MARKET_DATA_SUITE = "exchange_market_data"

TOLD = {
    "p50": "From when an order was due until a subscriber had read its level, p50, μs (less is better)",
    "p99": "The same, p99, μs (less is better)",
    "p99.9": "The same, p99.9, μs (less is better)",
    "max": "The same, longest, μs",
    "cpu": "Processor time of the distributor per level and subscriber, ns (less is better)",
    "facility_cpu": "Processor time of the facility per order, which makes way for an older one, ns",
    "memory": "Memory of the distributor at most, MB (less is better)",
}


def label_of(case: str) -> str:
    """Of a case of market data: "1,000 of whom 10 never read, JSON"."""
    match = re.fullmatch(r"(tcp|json)_(\d+)(?:_(\d+)_silent)?", case)
    if match is None:
        return case
    silent = f" of whom {match[3]} never read" if match[3] else ""
    return f"{int(match[2]):,}{silent}, {'SBE' if match[1] == 'tcp' else 'JSON'}"


def market_data(run: Run) -> list[Table]:
    cases = {each: label_of(each) for each in run.cases(MARKET_DATA_SUITE)}
    return [*(table_of_cases(run, MARKET_DATA_SUITE, title, "Subscribers", cases, metric)
              for metric, title in TOLD.items()), beside_silent(run)]


def beside_silent(run: Run) -> Table:
    """What subscribers that never read cost the others: two cases have no rounds in common, so these are
    ratios of values without an interval."""
    suite, rows = MARKET_DATA_SUITE, []
    for case in run.cases(suite):
        alone = re.sub(r"_\d+_silent$", "", case)
        for metric in ("p50", "p99", "cpu") if alone != case else ():
            values = [(run.value(suite, case, metric, each), run.value(suite, alone, metric, each))
                      for each in run.contenders]
            if any(one and other for one, other in values):
                rows.append(Row(f"{label_of(case)}, {metric}",
                                [Cell(format_ratio(one / other) if one and other else "-")
                                 for one, other in values]))
    return Table("With subscribers that never read: times the value without them", "Subscribers",
                 run.contenders, rows, remark="")


JITTER_SUITE = "exchange_jitter"
DUE = "From when it was due to the client's last message"
JITTER = {
    "wire_p50": f"{DUE}, p50, μs (less is better)", "wire_p99": f"{DUE}, p99, μs (less is better)",
    "wire_p99.9": f"{DUE}, p99.9, μs (less is better)", "wire_p99.99": f"{DUE}, p99.99, μs (less is better)",
    "wire_max": f"{DUE}, longest, μs",
}
NOISE = {
    "gaps_10us": "gaps of 10 μs and more, per second", "gaps_100us": "of 100 μs and more, per second",
    "gaps_1ms": "of 1 ms and more, per second", "gap_longest": "the longest, ms", "lost": "time lost, %",
}
QUANTILES_OF_SECOND = 4  # Of a second the driver writes p50, p99, p99.9, p99.99, and the maximum.
CAUSES = {"host": "host", "turn": "loop turn", "kernel": "kernel"}
WORST_COLUMNS = ("delays", "at least, μs", "longest, μs",
                 *(column for each in CAUSES.values() for column in (each, f"longest of {each}, μs")))


def jitter(run: Run) -> list[Table]:
    tables = []
    for case in run.cases(JITTER_SUITE):
        tables += [by_second(run, case), noise(run, case), worst(run, case)]
    cases = {each.name: each.label for each in exchange_tables.cases_of(run, JITTER_SUITE)}
    return [*(table_of_cases(run, JITTER_SUITE, title, "Case", cases, metric)
              for metric, title in JITTER.items()), *tables]


def by_second(run: Run, case: str) -> Table:
    """Of each second of a turn the middle of the rounds, whichever was saturated: it is what happened."""
    found = {}
    for each in run.contenders:
        rounds = run.seconds.get((JITTER_SUITE, case, each), [])
        shortest = min(map(len, rounds), default=0)
        if shortest:
            found[each] = numpy.median([one[:shortest] for one in rounds], axis=0)
    rows = []
    for second in range(max(map(len, found.values()), default=0)):
        rows.append(Row(str(second + 1), [
            Cell(" / ".join(format_value(value, "us") for value in of[second][:QUANTILES_OF_SECOND])
                 if second < len(of) else "-") for of in found.values()]))
    return Table(f"{case}: p50 / p99 / p99.9 / p99.99 of each second, μs, the middle of the rounds", "Second",
                 list(found), rows, remark="")


def noise(run: Run, case: str) -> Table:
    """Of the core that everything is carried out on; what a contender itself took is no gap."""
    columns = [each for each in run.contenders if run.row(JITTER_SUITE, case, "lost", each)]
    rows = []
    for metric, label in NOISE.items():
        found = [run.row(JITTER_SUITE, case, metric, each) for each in columns]
        rows.append(Row(label, [Cell(format_value(each.value, each.unit) if each else "-")
                                for each in found]))
    return Table(f"{case}: when the core was away for other reasons than what is measured", "Gaps", columns,
                 rows if columns else [], remark="")


def worst(run: Run, case: str) -> Table:
    """Whose fault the longest delays of all rounds were."""
    rows = []
    for each in run.contenders:
        found = run.worst.get((JITTER_SUITE, case, each), [])
        if not found:
            continue
        lengths = [took for took, *_ in found]
        cells = [str(len(found)), format_value(min(lengths), "us"), format_value(max(lengths), "us")]
        for cause in CAUSES:
            of = [took for took, _, _, whose in found if whose == cause]
            cells += [str(len(of)), format_value(max(of), "us") if of else "-"]
        rows.append(Row(each, list(map(Cell, cells))))
    return Table(f"{case}: the longest delays of each turn, and whose fault they were", "Contender",
                 list(WORST_COLUMNS), rows, remark="")


# What is turned, by what stands behind the name of the contender that it is turned at.
SCREWS = {
    "unpinned": "threads on any core", "spin": "looks for work for 100 μs before sleeping",
    "turn_8": "8 packets carried out before writing, not 64", "turn_512": "512 of them",
    "datagrams_4": "4 datagrams of the feed per call, not 64",
    "ring_32": "32 entries of the ring for submissions, not 256",
    "block_4K": "blocks of 4 KiB for leased reads, not 64",
    "slack_1us": "timers 1 μs late at most, not 50",
    "told_5ms": "changes told every 5 ms at most, not 1",
    "kernel_16K": "16 KiB in the kernel for each subscriber, not 64",
}
DOES_NOTHING = "nothing"  # Within 3 % either way.


def screws_of(run: Run, suite: str) -> dict[str, str]:
    """Contenders with one screw turned, and at which other one."""
    there = [each for each in run.contenders
             if any(run.metrics(suite, case) and run.row(suite, case, run.headline(suite, case), each)
                    for case in run.cases(suite))]
    return {each: base for each in there for base in there if each.startswith(base + "_")
            and each.removeprefix(base + "_") in SCREWS}


def screws(run: Run, suite: str, metrics: dict[str, str]) -> list[Table]:
    """A line for each screw: how many times better than without it, in each case."""
    cases = run.cases(suite)
    found = []
    for metric, title in metrics.items():
        rows = [screw_row(run, suite, metric, each, base) for each, base in screws_of(run, suite).items()]
        found.append(Table(f"One screw turned: {title}; times better than without", "Screw", cases,
                           [each for each in rows if each is not None], remark="What it does"))
    return found


def screw_row(run: Run, suite: str, metric: str, turned: str, base: str) -> Row | None:
    cells, told = [], []
    for case in run.cases(suite):
        found = run.compare(suite, case, metric, turned, base)
        if found is None:
            cells.append(Cell("-"))
            continue
        row = run.row(suite, case, metric, turned)
        cells.append(Cell(format_value(row.value, row.unit), format_estimate(found.estimate)))
        told.append(found.estimate)
    if not told:
        return None
    better, worse = (any(each.low > 1 for each in told), any(each.high < 1 for each in told))
    unseen = DOES_NOTHING if all(each.is_close for each in told) else OPEN
    effect = {(True, False): "better", (False, True): "worse", (True, True): "better and worse",
              (False, False): unseen}[better, worse]
    return Row(f"{base}: {SCREWS[turned.removeprefix(base + '_')]}", cells, effect)


def end_to_end_tuning(run: Run) -> list[Table]:
    return screws(run, "exchange_end_to_end_tuning",
                  {"wire_p50": "to the client's last message, p50, μs",
                   "wire_p99": "to the client's last message, p99, μs",
                   "orders_rate": "inbound messages, thousands per second"})


def market_data_tuning(run: Run) -> list[Table]:
    return screws(run, "exchange_market_data_tuning",
                  {"p50": "until a level is read, p50, μs", "p99": "until a level is read, p99, μs",
                   "cpu": "processor time per level and subscriber, ns"})
