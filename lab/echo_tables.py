# SPDX-License-Identifier: BSL-1.0
#
# The tables of the suite `echo`, and the block of figures that each server gets in the table it reproduces.
#
# There, servers stand below each other with all that is known of them; elsewhere in the lab they stand
# beside each other with one figure each. So this is a shape of its own, and not in tables.py.
"""From a run of `echo` to tables, and to blocks of text as echo clients print them."""

from __future__ import annotations

import re

import numpy

import evidence
from evidence import Run
from tables import Cell, Row, Table, find_winner, format_ratio, format_value, make_table

SUITE = "echo"
CEILING = "load_ceiling"  # A floor that is no server: see load_ceiling.cpp.

MESSAGES = ("64", "1K", "16K", "100K")
CONNECTIONS = (1, 16, 100, 1000)

BLOCK = re.compile(r"(?:threads_(?P<threads>\d+)_)?(?P<paced>paced_)?"
                   r"block_(?P<size>\d+K)_(?P<connections>\d+)")
BLOCK_BYTES = {"1K": 1_000, "10K": 10 << 10, "100K": 100 << 10}
QUANTILES = ("p25", "p50", "p75", "p90", "p99", "p99.99")

# Columns of a block's table: metric, header, and what a figure is divided by for it.
COLUMNS = (("messages", "messages", 1), ("min", "min μs", 1), ("max", "max ms", 1000),
           ("mean", "mean μs", 1), ("std", "std μs", 1), *((each, f"{each[1:]} %", 1)
                                                           for each in QUANTILES),
           ("transfer", "MiB/s", 1), ("cpu", "cpu ns", 1), ("load_busy", "load %", 1))


def tables(run: Run) -> list[Table | None]:
    titles = (("cpu", "Echo server alone, processor time, ns per request (less is better)"),
              ("throughput", "Echo server alone, Kops/s (more is better)"),
              ("p99", "Echo server alone, closed loop, p99, μs (less is better)"))
    return [*(_block_table(run, case) for case in block_cases(run)),
            _load_table(run),
            _against_plain(run),
            *(make_table(run, title, "Message, connections",
                         [(label, SUITE, case, metric) for label, case in _matrix()])
              for metric, title in titles)]


def block_cases(run: Run) -> list[str]:
    return [case for case in run.cases(SUITE) if BLOCK.fullmatch(case)]


def heading(case: str) -> str:
    """What a case is, for people: `10 KiB, 100 connections, 2 threads`."""
    found = BLOCK.fullmatch(case)
    connections, threads = int(found["connections"]), int(found["threads"] or 1)
    size = "1,000 B" if found["size"] == "1K" else found["size"].replace("K", " KiB")
    return (f"{size}, {connections} {'connections' if connections > 1 else 'connection'}, "
            f"{threads} {'threads' if threads > 1 else 'thread'}"
            f"{', open loop' if found['paced'] else ', closed loop'}")


def _block_table(run: Run, case: str) -> Table | None:
    """A row for each server, the fastest first."""
    rated = [(run.summary(SUITE, case, "throughput", each), each) for each in run.contenders()]
    present = sorted(((summary.median, each) for summary, each in rated if summary), reverse=True)
    winner, _ = find_winner(run, SUITE, case, "throughput")
    rows = [Row(each, [_rate_cell(run, case, each, each == winner),
                       *(_figure(run, case, each, *column) for column in COLUMNS)], "",
                run.is_void(SUITE, case, "throughput"))
            for _, each in present]
    return Table(f"Echo, {heading(case)}: latencies and what they cost, medians of the rounds",
                 "Server", ["Kops/s", *(header for _, header, _ in COLUMNS)], rows,
                 "") if rows else None


def _rate_cell(run: Run, case: str, contender: str, wins: bool) -> Cell:
    row = run.row(SUITE, case, "throughput", contender)
    text = format_value(evidence.summarise(row["samples"]).median, "ops/s")
    reference = run.reference(SUITE, case, "throughput", contender)
    if reference is None:
        return Cell(text, winner=wins)
    ratios = evidence.paired_ratios(
        row["samples"], run.row(SUITE, case, "throughput", reference)["samples"], "higher")
    return Cell(text, format_ratio(float(numpy.median(ratios))) if len(ratios) else "", wins)


def _figure(run: Run, case: str, contender: str, metric: str, _: str, divisor: float) -> Cell:
    summary = run.summary(SUITE, case, metric, contender)
    return Cell(format_value(summary.median / divisor, "") if summary else "-")


def _load_table(run: Run) -> Table | None:
    """How near the fastest library comes to what the load can do: by the time that the load has worked,
    which other programs on the machine do not change, and by a server that never sleeps, which they do."""
    libraries = [each for each in run.contenders()
                 if run.family(each) != evidence.FLOOR_FAMILY]
    rows = []
    for case in block_cases(run):
        best = run.best(SUITE, case, "throughput", libraries)
        busy = run.summary(SUITE, case, "load_busy", best) if best else None
        if busy is None:
            continue
        rate = run.summary(SUITE, case, "throughput", best).median
        top = run.summary(SUITE, case, "throughput", CEILING)
        rows.append(Row(heading(case), [
            Cell(format_value(rate, "ops/s")), Cell(f"{busy.median:.0f}"),
            Cell(format_value(100 * rate / busy.median, "ops/s")),
            Cell(format_value(top.median, "ops/s") if top else "-")], best,
                        run.is_void(SUITE, case, "throughput")))
    return Table("Echo, is the load the bottleneck? Kops/s of the fastest library, of a load that "
                 "never waits, and with a server that never sleeps", "Case",
                 ["fastest", "load busy, %", "load alone", CEILING], rows,
                 "Fastest") if rows else None


def _matrix() -> list[tuple[str, str]]:
    return [(f"{message} B, {count}".replace("K B", " KiB"), f"{message}_{count}")
            for message in MESSAGES for count in CONNECTIONS]


def _against_plain(run: Run) -> Table | None:
    """How much more processor time a library takes than the best server without one."""
    floors = [each for each in run.contenders() if run.family(each) == evidence.FLOOR_FAMILY]
    plain = [each for each in floors if each != CEILING and not each.endswith(evidence.TWIN_SUFFIX)]
    libraries = [each for each in run.contenders() if each not in floors and
                 any(run.row(SUITE, case, "cpu", each) for _, case in _matrix())]
    rows = []
    for label, case in _matrix():
        best = run.best(SUITE, case, "cpu", plain)
        if best is None:
            continue
        theirs = run.row(SUITE, case, "cpu", best)
        cells = []
        for each in libraries:
            row = run.row(SUITE, case, "cpu", each)
            ratios = (evidence.paired_ratios(row["samples"], theirs["samples"], row["better"])
                      if row else [])
            cells.append(Cell(f"{1 / float(numpy.median(ratios)):.2f}" if len(ratios) else "-"))
        rows.append(Row(label, cells, best, run.is_void(SUITE, case)))
    return Table("Echo server alone, processor time over that of the best plain server (less is "
                 "better)", "Message, connections", libraries, rows) if rows else None


def blocks(run: Run) -> list[str]:
    """What an echo client prints about each server, five lines each."""
    return [block for case in block_cases(run) for each in run.contenders()
            if (block := _block(run, case, each)) is not None]


def _block(run: Run, case: str, contender: str) -> str | None:
    found = {metric: run.summary(SUITE, case, metric, contender)
             for metric in ("messages", "seconds", "throughput", "transfer", "min", "max", "mean",
                            "std", *QUANTILES)}
    if not all(found[metric] for metric in found if metric not in QUANTILES):
        return None
    value = {metric: summary.median for metric, summary in found.items() if summary}
    kibibytes = BLOCK_BYTES[BLOCK.fullmatch(case)["size"]] / 1024
    size = f"{kibibytes:.2f}" if kibibytes < 1 else f"{kibibytes:.1f}"

    def milliseconds(metric: str, digits: int = 3) -> str:
        return f"{round(value[metric] / 1000, digits):g}ms"

    share = 100 * value["std"] / value["mean"] if value["mean"] else 0.0
    distribution = "; ".join(
        f"{quantile[1:]}% under {milliseconds(quantile) if quantile in value else '-'}"
        for quantile in QUANTILES)  # Too few messages for a quantile leave it out.
    return "\n".join([
        f"## {contender}: {heading(case)}",
        f"{value['messages']:.0f} {size}KiB messages in {value['seconds']:.3g} seconds",
        f"Latency: min {milliseconds('min')}; max {milliseconds('max', 2)}; "
        f"mean {milliseconds('mean')}; std: {milliseconds('std')} ({share:.2f}%)",
        f"Latency distribution: {distribution}",
        f"Requests/sec: {value['throughput']:.2f}",
        f"Transfer/sec: {value['transfer']:.2f}MiB",
    ])
