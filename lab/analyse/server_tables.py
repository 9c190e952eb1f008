# SPDX-License-Identifier: BSL-1.0
#
# The tables of the suites that look at whole programs: `echo`, `baseline`, `cost`, `programs` and those of
# protocols.
#
# Their shapes are those of the tables that they reproduce: a block of figures for each echo server, a server
# as per cent of a plain one, a line of costs for each program.
"""From a run of such a suite to tables, and to blocks of text as echo clients print them."""

from __future__ import annotations

import re
from collections.abc import Callable

from analyse.frame import Run
from analyse.tables import (
    Cell,
    Row,
    Table,
    find_winner,
    format_cell,
    format_ratio,
    format_value,
    table_of_cases,
)
from measure.processes import FLOOR_FAMILY

# ---- echo --------------------------------------------------------------------------------------

CEILING = "load_ceiling"  # A floor that is no server: it never sleeps.
MESSAGES = ("64", "1K", "16K", "100K")
CONNECTIONS = (1, 16, 100, 1000)
BLOCK = re.compile(r"(?:threads_(?P<threads>\d+)_)?(?P<paced>paced_)?"
                   r"block_(?P<size>\d+K)_(?P<connections>\d+)")
BLOCK_BYTES = {"1K": 1_000, "10K": 10 << 10, "100K": 100 << 10}
MATRIX = {f"{message}_{count}": f"{message} B, {count}".replace("K B", " KiB")
          for message in MESSAGES for count in CONNECTIONS}
QUANTILES = ("p25", "p50", "p75", "p90", "p99", "p99.99")

# Columns of a block's table: metric, header, and what a figure is divided by for it.
COLUMNS = (("messages", "messages", 1), ("min", "min μs", 1), ("max", "max ms", 1000),
           ("mean", "mean μs", 1), ("std", "std μs", 1), *((each, f"{each[1:]} %", 1) for each in QUANTILES),
           ("transfer", "MiB/s", 1), ("cpu", "cpu ns", 1), ("load_busy", "load %", 1))


def echo(run: Run) -> list[Table]:
    titles = (("cpu", "Echo server alone, processor time, ns per request (less is better)"),
              ("throughput", "Echo server alone, Kops/s (more is better)"),
              ("p99", "Echo server alone, closed loop, p99, μs (less is better)"))
    return [*(_block_table(run, case) for case in block_cases(run)),
            _load_table(run),
            _against_plain(run),
            *(table_of_cases(run, "echo", title, "Message, connections", MATRIX, metric)
              for metric, title in titles)]


def block_cases(run: Run) -> list[str]:
    return [case for case in run.cases("echo") if BLOCK.fullmatch(case)]


def heading(case: str) -> str:
    """What a case is, for people: `10 KiB, 100 connections, 2 threads`."""
    found = BLOCK.fullmatch(case)
    connections, threads = int(found["connections"]), int(found["threads"] or 1)
    size = "1,000 B" if found["size"] == "1K" else found["size"].replace("K", " KiB")
    return (f"{size}, {connections} {'connections' if connections > 1 else 'connection'}, "
            f"{threads} {'threads' if threads > 1 else 'thread'}"
            f"{', open loop' if found['paced'] else ', closed loop'}")


def _block_table(run: Run, case: str) -> Table:
    """A row for each server, the fastest first."""
    rates = {each: value for each in run.contenders
             if (value := run.value("echo", case, "throughput", each)) is not None}
    winner, _ = find_winner(run, "echo", case, "throughput")
    rows = []
    for each in sorted(rates, key=rates.__getitem__, reverse=True):
        reference = run.reference("echo", case, "throughput", each)
        ratio = run.ratio("echo", case, "throughput", each, reference) if reference else None
        rate = Cell(format_value(rates[each], "ops/s"), format_ratio(ratio.ratio) if ratio else "",
                    each == winner)
        rows.append(Row(each, [rate, *(_figure(run, case, each, *column) for column in COLUMNS)]))
    return Table(f"Echo, {heading(case)}: latencies and what they cost", "Server",
                 ["Kops/s", *(header for _, header, _ in COLUMNS)], rows, "")


def _figure(run: Run, case: str, contender: str, metric: str, _: str, divisor: float) -> Cell:
    value = run.value("echo", case, metric, contender)
    return Cell("-" if value is None else format_value(value / divisor, ""))


def _load_table(run: Run) -> Table:
    """How near the fastest library comes to what the load can do: by the time that the load has worked,
    which other programs on the machine do not change, and by a server that never sleeps, which they do."""
    libraries = [each for each in run.contenders if run.family(each) != FLOOR_FAMILY]
    rows = []
    for case in block_cases(run):
        best = run.best("echo", case, "throughput", libraries)
        busy = run.value("echo", case, "load_busy", best) if best else None
        if not busy:
            continue
        rate = run.value("echo", case, "throughput", best)
        rows.append(Row(heading(case), [
            Cell(format_value(rate, "ops/s")), Cell(f"{busy:.0f}"),
            Cell(format_value(100 * rate / busy, "ops/s")),
            Cell(format_cell(run, "echo", case, "throughput", CEILING))], best))
    return Table("Echo, is the load the bottleneck? Kops/s of the fastest library, of a load that "
                 "never waits, and with a server that never sleeps", "Case",
                 ["fastest", "load busy, %", "load alone", CEILING], rows, "Fastest")


def _against_plain(run: Run) -> Table:
    """How much more processor time a library takes than the best server without one."""
    plain = [each for each in run.floors if each != CEILING]
    libraries = [each for each in run.contenders if each not in run.floors and
                 any(run.row("echo", case, "cpu", each) for case in MATRIX)]
    rows = []
    for case, label in MATRIX.items():
        best = run.best("echo", case, "cpu", plain)
        if best is None:
            continue
        shares = [run.share("echo", case, "cpu", each, best) for each in libraries]
        rows.append(Row(label, [Cell(f"{each.ratio:.2f}" if each else "-") for each in shares], best))
    return Table("Echo server alone, processor time over that of the best plain server (less is better)",
                 "Message, connections", libraries, rows, "Plain server")


def echo_blocks(run: Run) -> list[str]:
    """What an echo client prints about each server, five lines each."""
    return [block for case in block_cases(run) for each in run.contenders
            if (block := _block(run, case, each)) is not None]


def _block(run: Run, case: str, contender: str) -> str | None:
    needed = ("messages", "seconds", "throughput", "transfer", "min", "max", "mean", "std")
    value = {metric: found for metric in (*needed, *QUANTILES)
             if (found := run.value("echo", case, metric, contender)) is not None}
    if not all(each in value for each in needed):
        return None
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


# ---- baseline ----------------------------------------------------------------------------------

UTILITIES = {
    "ab_close": "apache bench (120 bytes)",
    "ab_keepalive": "apache bench (120 bytes), keep-alive",
    "wrk_close": "wrk (120 bytes)",
    "wrk_keepalive": "wrk (120 bytes), keep-alive",
    "echo_512": "echo (512 bytes)",
    "echo_2018": "echo (2018 bytes)",
}
# Which server as per cent of which, and what that tells.
PAIRS = [
    ("gyre_uring", "raw_uring", "Without SQPOLL, 100 concurrent clients"),
    ("gyre_epoll", "raw_epoll", "On epoll, 100 concurrent clients"),
    ("gyre_uring", "gyre_epoll", "io_uring or epoll, by gyre"),
    ("raw_uring", "raw_epoll", "io_uring or epoll, by hand"),
    ("raw_uring_sqpoll", "raw_uring", "With SQPOLL or without, by hand"),
    ("gyre_uring_sqpoll", "raw_uring_sqpoll", "With SQPOLL, 100 concurrent clients"),
]
PER_CENT = {"QPS": "throughput", "Throughput": "transfer", "Processor time": "cpu"}
OVERVIEWS = {
    "throughput": "Requests per second, thousands (more is better)",
    "transfer": "Received by the clients, MB/s (more is better)",
    "cpu": "Processor time of the server, ns per request (less is better)",
    "p50": "Latency seen by the clients, p50, μs (less is better)",
    "p99": "Latency seen by the clients, p99, μs (less is better)",
}


def per_cent(run: Run, case: str, metric: str, contender: str, against: str) -> str | None:
    """What `contender` has or takes as a share of `against`, with the interval."""
    found = run.share("baseline", case, metric, contender, against)
    if found is None:
        return None
    known = found.low > 0 and found.high < 10
    interval = f" ({100 * found.low:.0f}-{100 * found.high:.0f})" if known else ""
    return f"{100 * found.ratio:.0f}%{interval}"


def _pair_table(run: Run, contender: str, against: str, title: str) -> Table:
    rows = []
    for case, label in UTILITIES.items():
        cells = [per_cent(run, case, metric, contender, against) for metric in PER_CENT.values()]
        if cells[0] is not None:
            both = " : ".join(f"{format_cell(run, 'baseline', case, 'throughput', each)} K/s"
                              for each in (contender, against))
            rows.append(Row(label, [Cell(each or "-") for each in cells], both))
    return Table(f"{title}: {contender} as per cent of {against}", "utility", list(PER_CENT), rows,
                 "QPS")


def _busy_table(run: Run) -> Table:
    """How far a server was from its limits; there is no winner."""
    columns = [each for each in run.contenders if any(run.row("baseline", case, "busy", each)
                                                      for case in UTILITIES)]
    rows = [Row(label, [Cell("-" if value is None else f"{value:.0f}%") for value in found])
            for case, label in UTILITIES.items()
            if any(found := [run.value("baseline", case, "busy", each) for each in columns])]
    return Table("Part of its core that the server used: little, and the clients were the bottleneck",
                 "utility", columns, rows, "")


def baseline(run: Run) -> list[Table]:
    """Per cent first; then absolute values, with the ratios to the best Asio row."""
    return [*(_pair_table(run, *each) for each in PAIRS),
            *(table_of_cases(run, "baseline", title, "utility", UTILITIES, metric)
              for metric, title in OVERVIEWS.items()),
            _busy_table(run)]


# ---- cost --------------------------------------------------------------------------------------

COMPILED = "asio_coroutine"  # Compile times are shares of its own.
# Header, case and metric of each column; after the first, compile time as a share.
PROGRAM = [
    ("compile, s", "compile_time", "compile"),
    ("text and data, KiB", "program_size", "text_and_data"),
    ("file, KiB", "program_size", "file"),
    ("RSS, MiB", "idle_connections", "rss"),
    ("busy, MiB", "steady_state", "rss_busy"),
    ("bytes per idle connection", "idle_connections", "per_connection"),
    ("allocations per request", "steady_state", "allocations"),
    ("system calls per request", "steady_state", "system_calls"),
]
JUDGED = {
    ("compile_time", "compile"): "Compile time at -O2, processor seconds (less is better)",
    ("idle_connections", "per_connection"): "Memory per idle connection, bytes (less is better)",
}


Columns = list[tuple[str, str, str]]


def _program(run: Run, suite: str, columns: Columns, contender: str) -> list[Cell]:
    first, *others = [Cell(format_cell(run, suite, case, metric, contender)) for _, case, metric in columns]
    ours, theirs = (run.value(suite, *columns[0][1:], each) for each in (contender, COMPILED))
    return [first, Cell(f"{100 * ours / theirs:.0f}%" if ours and theirs else "-"), *others]


def _matrix(run: Run, suite: str, title: str, columns: Columns) -> Table:
    """Nothing wins it, as its columns have no common measure."""
    lines = {each: _program(run, suite, columns, each) for each in run.contenders}
    rows = [Row(contender, cells) for contender, cells in lines.items()
            if any(cell.text != "-" for cell in cells)]
    first, *others = [header for header, _, _ in columns]
    return Table(title, "program", [first, f"of {COMPILED}", *others], rows, "")


def cost(run: Run) -> list[Table]:
    """What each costs; then what is judged."""
    return [_matrix(run, "cost", "A minimal echo program: what it costs to compile and to run", PROGRAM),
            *(table_of_cases(run, "cost", title, "Case", {case: case}, metric)
              for (case, metric), title in JUDGED.items())]


# ---- programs ----------------------------------------------------------------------------------

WRITTEN_TWICE = {"proxy": ("TCP proxy", "request and its answer"),
                 "chat": ("chat server", "line for one member")}


def programs(run: Run) -> list[Table]:
    """As docs/guide/beside_asio.md has them; then what is judged."""
    def columns(program: str, operation: str) -> Columns:
        source = f"{program}_source"
        return [("compile, s", source, "compile"), ("object, KB", source, "object"),
                ("lines of code", source, "lines"), (f"ns for a {operation}", f"{program}_run", "cpu")]

    def judged(probe: str, metric: str, title: str) -> Table:
        cases = {f"{program}_{probe}": name for program, (name, _) in WRITTEN_TWICE.items()}
        return table_of_cases(run, "programs", f"{title} (less is better)", "Program", cases, metric)

    return [*(_matrix(run, "programs", f"A {name}: what it costs to write, to compile and to run",
                      columns(program, operation)) for program, (name, operation) in WRITTEN_TWICE.items()),
            judged("source", "compile", "Compile time at -O2, processor seconds"),
            judged("run", "cpu", "Processor time, ns per request or delivered line")]


# ---- http_server, websocket, tls ---------------------------------------------------------------

PROTOCOL_CASES = {
    "http_server": {
        "text_512": "text, 512 connections", "text_4096": "text, 4,096 connections",
        "pipelined_16_512": "16 at once, 512 connections",
        "pipelined_16_4096": "16 at once, 4,096 connections",
        "ten_requests_512": "ten requests each, 512 connections",
        "ten_requests_4096": "ten requests each, 4,096 connections",
        "json_512": "1 KB of JSON, 512 connections", "sum_512": "query summed, 512 connections",
        "post_512": "small POST, 512 connections", "wrk_text_512": "text for wrk, 512 connections",
        "threads_2_text_512": "text, 512 connections, 2 threads",
        "threads_2_pipelined_512": "16 at once, 512 connections, 2 threads"},
    "websocket": {
        **{f"echo_{size}_{count}": f"echo of {label}, connections: {count:,}"
           for size, label in (("64", "64 B"), ("4K", "4 KiB"), ("64K", "64 KiB"))
           for count in (1, 64, 1000)},
        "broadcast_10000": "64 B for each of 10,000"},
    "tls": {
        "handshakes_full": "full handshakes", "handshakes_resumed": "resumed handshakes",
        "threads_2_handshakes_full": "full handshakes, 2 threads",
        **{f"bulk_{size}_{count}": f"{label}, connections: {count}"
           for size, label in (("16K", "16 KiB"), ("1M", "1 MiB")) for count in (1, 16)}},
}
OPERATIONS = {"http_server": "request", "websocket": "message", "tls": "answer"}


def protocol(suite: str) -> Callable[[Run], list[Table]]:
    cases, operation = PROTOCOL_CASES[suite], OPERATIONS[suite]
    titles = {"cpu": f"Processor time of the server, ns per {operation} (less is better)",
              "throughput": f"{operation.capitalize()}s per second, thousands (more is better)",
              "p50": "Latency seen by the clients, closed loop, p50, μs (less is better)",
              "p99": "Latency seen by the clients, closed loop, p99, μs (less is better)"}

    def tables(run: Run) -> list[Table]:
        found = [table_of_cases(run, suite, title, "Case", cases, metric)
                 for metric, title in titles.items()]
        if suite == "tls":
            bulk = {case: label for case, label in cases.items() if case.startswith("bulk")}
            found.insert(2, table_of_cases(run, suite, "Content received, MB/s (more is better)", "Case",
                                           bulk, "transfer"))
        if suite == "websocket":
            many = {case: label for case, label in cases.items() if case.endswith("000")}
            found.append(table_of_cases(run, suite, "Memory per open connection, bytes (less is better)",
                                        "Case", many, "per_connection"))
        if suite == "http_server":
            found.append(_against_plain_http(run))
        return [*found, _part_of_core(run, suite, "busy", "Processor time of the server"),
                _part_of_core(run, suite, "load_busy", "Processor time of the load")]

    return tables


def _against_plain_http(run: Run) -> Table:
    """How much of a server is not what any server has to do, for its system calls."""
    pairs = [("gyre_uring", "raw_uring"), ("gyre_epoll", "raw_epoll"), ("beast", "raw_epoll"),
             ("hyper", "raw_epoll")]
    rows = []
    for case, label in PROTOCOL_CASES["http_server"].items():
        found = [run.share("http_server", case, "cpu", *pair) for pair in pairs]
        if any(found):
            rows.append(Row(label, [Cell("-" if each is None else f"{100 * each.ratio:.0f}%")
                                    for each in found]))
    columns = [f"{ours} of {plain}" for ours, plain in pairs]
    return Table("Processor time per request as per cent of a plain server's", "Case", columns, rows, "")


def _part_of_core(run: Run, suite: str, metric: str, whose: str) -> Table:
    """There is no winner: it tells who waited for whom."""
    columns = [each for each in run.contenders
               if any(run.row(suite, case, metric, each) for case in PROTOCOL_CASES[suite])]
    rows = [Row(label, [Cell("-" if value is None else f"{value:.0f}%") for value in found])
            for case, label in PROTOCOL_CASES[suite].items()
            if any(found := [run.value(suite, case, metric, each) for each in columns])]
    return Table(f"{whose} as a part of one core", "Case", columns, rows, "")
