#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A run that nobody measured: for tests of the report, and for looking at it without waiting for hours.
#
# It has what real runs have and what breaks pages: every suite, many contenders, a void case, rows that
# some refuse, rates that were not reached, intervals of very different width. Its figures mean nothing.
"""sample_run.py FILE.json: writes a made-up result of run.py there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy

import baseline_tables
import echo_tables
import evidence
import exchange_tables
import tables

ROUNDS = 5
LIBRARIES = {"gyre_uring": ("gyre", 1.9), "gyre_epoll": ("gyre", 1.6), "asio_callback": ("asio", 1.0),
             "asio_coroutine": ("asio", 0.9), "asio_callback_uring": ("asio", 0.96),
             "asio_coroutine_uring": ("asio", 0.83)}
PER_THREAD = {"asio_callback_per_thread": ("asio", 1.3)}
BARE = {"raw_syscalls": ("floor", 2.2)}
PLAIN = {"raw_epoll": ("floor", 1.5), "raw_uring": ("floor", 1.97), "raw_uring_multishot": ("floor", 1.8)}
LANGUAGES = {"asio_spawn": ("asio", 0.85), "libuv": ("libuv", 1.05), "go": ("go", 0.7),
             "tokio": ("tokio", 1.1), "monoio": ("monoio", 1.7), "netty_epoll": ("netty", 0.8),
             "netty_io_uring": ("netty", 0.75), "uvloop": ("uvloop", 0.4), "load_ceiling": ("floor", 2.4)}
LEASES = {"gyre_uring_leases": ("gyre", 1.8)}
SPINNING = {"gyre_uring_spin": ("gyre", 5.7), "asio_callback_spin": ("asio", 5.0)}
EVERYBODY = LIBRARIES | LEASES | SPINNING | PER_THREAD | BARE | PLAIN | LANGUAGES

# Shares of the mean; quantiles far out differ more between contenders.
SHAPE = {"min": 0.6, "p25": 0.85, "p50": 0.95, "p75": 1.1, "p90": 1.3, "p95": 1.5, "p99": 2.4, "p99.9": 6.0,
         "p99.99": 17.0, "max": 60.0}
SEVEN = ("mean", "p50", "p90", "p99", "p99.9", "min", "max")
BLOCK = ("mean", "std", "p25", "p50", "p75", "p90", "p99", "p99.9", "p99.99", "min", "max")
FACILITY = ("min", "p50", "p95", "p99", "p99.9", "p99.99", "max", "mean")
RATES = (1_000, 10_000, 100_000, 200_000)
TUNED = ("1_filled_1000", "1_filled_100000", "4_filled_10000", "8_filled_unbounded")


class Maker:
    """Collects rows. Each (suite, case, contender) has one speed, from which all its metrics follow."""

    def __init__(self, seed: int = 11):
        self._random = numpy.random.default_rng(seed)
        self.rows: list[dict] = []
        self.controls: list[dict] = []
        self.refusals: list[dict] = []
        self.cases: list[dict] = []
        self.seconds: list[dict] = []

    def case(self, suite: str, case: str, who: dict, metrics: dict, noise: float = 0.006,
             luck: float = 0.15, description: str = "") -> None:
        """`metrics`: name to (unit, better, value of somebody with a speed of 1)."""
        first = next(iter(who))
        lucky = {name: float(numpy.exp(self._random.normal(0, luck))) for name in who}
        drift = numpy.exp(self._random.normal(0, noise, ROUNDS))
        spread = 0.0
        for name in [*who, first + evidence.CONTROL_SUFFIX]:
            original = name.removesuffix(evidence.CONTROL_SUFFIX)
            speed = who[original][1] * lucky[original]
            for metric, (unit, better, value) in metrics.items():
                own = numpy.exp(self._random.normal(0, noise * (3 if metric[-1] == "9" else 1), ROUNDS))
                samples = list(value * (speed if better == "higher" else 1 / speed) * drift * own)
                self._row(suite, case, name, metric, (unit, better), samples)
                if name != original and metric == evidence.HEADLINES[suite]:
                    spread = evidence.control_spread(samples, self._samples(suite, case, original, metric))
        which = {"suite": suite, "case": case}
        self.controls.append(which | {"contender": first, "spread": spread,
                                      "attempts": 3 if spread > evidence.CONTROL_SPREAD_MAX else 1})
        self.cases.append(which | {"description": description or f"{suite}, {case}, made up", "threads": 1})

    def _row(self, suite: str, case: str, name: str, metric: str, about: tuple[str, str],
             samples: list[float]) -> None:
        summary = evidence.summarise(samples)
        self.rows.append({"suite": suite, "case": case, "contender": name, "metric": metric, "unit": about[0],
                          "better": about[1], "samples": samples, "median": summary.median,
                          "mad": summary.mad, "min": summary.low, "max": summary.high})

    def _samples(self, suite: str, case: str, name: str, metric: str) -> list[float]:
        return next(each["samples"] for each in reversed(self.rows)
                    if (each["suite"], each["case"], each["contender"], each["metric"]) ==
                    (suite, case, name, metric))

    def refuse(self, suite: str, cases: list[str], contender: str, reason: str) -> None:
        self.refusals += [{"suite": suite, "case": each, "contender": contender, "reason": reason}
                          for each in cases]


def costs(nanoseconds: float) -> dict:
    return {"cpu": ("ns/op", "lower", nanoseconds), "context_switches": ("1/op", "lower", 0.002),
            "system_calls": ("1/op", "lower", 4.0), "allocations": ("1/op", "lower", 1.0)}


def latencies(mean: float, names: tuple[str, ...], prefix: str = "") -> dict:
    shape = SHAPE | {"mean": 1.0, "std": 0.5}
    return {prefix + each: ("us", "lower", mean * shape[each]) for each in names}


def _dispatch(make: Maker) -> None:
    one = ("post", "post_batched", "interleaved_post", "foreign_post")
    together = {"concurrent_post": "concurrent_spawn", "threads_4_from_4": "threads_4_from_4_spawn"}
    for kind, rate in (("post", 30.0), ("spawn", 5.0)):
        for case in one:
            who = LIBRARIES | BARE if case != "foreign_post" else LIBRARIES
            make.case("dispatch", case.replace("post", kind), who if kind == "post" else LIBRARIES,
                      {"throughput": ("Mops/s", "higher", rate)} | costs(1000 / rate))
        for case in together:
            name = case if kind == "post" else together[case]
            make.case("dispatch", name, LIBRARIES | PER_THREAD,
                      {"throughput": ("Mops/s", "higher", rate / 3)} | costs(3000 / rate))
    for pattern in tables.SCALING["dispatch"]:
        for threads in (1, 2, 4, 8):
            make.case("dispatch", pattern.format(threads), LIBRARIES | PER_THREAD,
                      {"throughput": ("Mops/s", "higher", 12.0 / threads ** 0.2)} | costs(90))
    make.refuse("dispatch", ["foreign_post"], "raw_syscalls", "has no queue that another thread could use")


def _throughput(make: Maker) -> None:
    for place, size in enumerate(tables.BUFFERS):
        for direction in ("uni", "bidi"):
            for transport in ("tcp", "unix"):
                make.case("throughput", f"{direction}_{transport}_{size}", LIBRARIES | BARE,
                          {"throughput": ("MB/s", "higher", 160.0 * 2.6 ** min(place, 4))} | costs(900),
                          noise=0.12 if size == "1M" and transport == "tcp" else 0.006)
    for threads in (1, 2, 4, 8):
        make.case("throughput", f"threads_{threads}", LIBRARIES | PER_THREAD,
                  {"throughput": ("MB/s", "higher", 5000.0 * min(threads, 2))} | costs(9000))


def _latency(make: Maker) -> None:
    for transport, mean in (("tcp", 6.0), ("unix", 3.2)):
        for case, times in (("1", 1), ("64", 1), ("1024", 1.1), ("64_4pairs", 4), ("64_16pairs", 16),
                            ("64_two_sides", 1.6)):
            make.case("latency", f"{transport}_{case}", LIBRARIES | BARE,
                      latencies(mean * times, SEVEN) | costs(6000))


def _http(make: Maker) -> None:
    for case in ("1_sequential", "1", "4", "16", "32"):
        make.case("http", case, LIBRARIES | BARE, {"throughput": ("ops/s", "higher", 150_000.0)} |
                  latencies(float(case.split("_")[0]) * 7, SEVEN) | costs(6500))
    for threads in tables.THREADS:
        make.case("http", f"threads_{threads}", LIBRARIES | PER_THREAD,
                  {"throughput": ("ops/s", "higher", 140_000.0 * min(threads, 2) ** 0.3)} |
                  latencies(200.0, SEVEN) | costs(6500))


def _echo(make: Maker) -> None:
    for place, message in enumerate(echo_tables.MESSAGES):
        for connections in echo_tables.CONNECTIONS:
            make.case("echo", f"{message}_{connections}", LIBRARIES | PLAIN,
                      {"throughput": ("ops/s", "higher", 90_000.0 / 2.2 ** place)} |
                      latencies(11.0 * connections * 2 ** place, BLOCK) | costs(7000.0 * 2 ** place))
    everybody = LIBRARIES | SPINNING | LANGUAGES
    blocks = [(f"{threads}block_{size}_{count}", size) for threads in ("", "threads_2_")
              for size in ("1K", "10K", "100K") for count in (1, 100)] + [("paced_block_1K_100", "1K")]
    for case, size in blocks:
        rate = {"1K": 60_000.0, "10K": 45_000.0, "100K": 9_000.0}[size]
        who = {name: each for name, each in everybody.items()
               if not (case.startswith("threads") and (evidence.spins(name) or
                                                       name in ("uvloop", "load_ceiling")))}
        make.case("echo", case, who, {
            "throughput": ("ops/s", "higher", rate), "messages": ("", "higher", 30 * rate),
            "seconds": ("s", "lower", 30.0), "transfer": ("MiB/s", "higher", rate / 1000),
            "load_busy": ("%", "lower", 55.0)} | latencies(1e6 / rate, BLOCK) | costs(9000))
    threaded = [case for case, _ in blocks if case.startswith("threads")]
    make.refuse("echo", threaded, "uvloop", "uvloop's documentation knows no way to use more than one thread")
    make.refuse("echo", threaded, "load_ceiling", "needs a core for each thread and one for the load")


def _others(make: Maker) -> None:
    for case in [*tables.TIMERS_ONE_BY_ONE, "push_back_1M_paced", *tables.TIMERS_TOGETHER]:
        make.case("timers", case, LIBRARIES, {"throughput": ("Mops/s", "higher", 20.0)} | costs(180) |
                  (latencies(40.0, SEVEN) if case in tables.TIMERS_TOGETHER else {}))
    for case in tables.CHURN:
        make.case("churn", case, LIBRARIES | BARE, {"throughput": ("ops/s", "higher", 50_000.0)} |
                  latencies(20.0, SEVEN) | costs(20_000))
    for case in tables.FAN_OUT:
        make.case("fan_out", case, LIBRARIES, {"throughput": ("Mops/s", "higher", 14.0)} | costs(70))
    for case in baseline_tables.CASES:
        make.case("baseline", case, {name: LIBRARIES[name] for name in
                                     ("gyre_uring", "gyre_epoll", "asio_callback", "asio_coroutine")} |
                  {"raw_uring": PLAIN["raw_uring"], "raw_epoll": PLAIN["raw_epoll"]},
                  {"throughput": ("ops/s", "higher", 25_000.0), "transfer": ("MB/s", "higher", 3.0),
                   "busy": ("%", "higher", 80.0)} | latencies(3000.0, ("p50", "p99")) | costs(30_000))


def _cost(make: Maker) -> None:
    values = {"compile": "s", "compile_wall": "s", "text_and_data": "KiB", "file": "KiB",
              "per_connection": "B", "rss": "MiB", "rss_busy": "MiB", "allocations": "1/op",
              "system_calls": "1/op"}
    metrics = {"compile_time": 2, "program_size": 4, "idle_connections": 6, "steady_state": 9}
    first = 0
    for case, end in metrics.items():
        make.case("cost", case, LIBRARIES | LEASES, {name: (unit, "lower", 3.0) for name, unit in
                                                     list(values.items())[first:end]})
        first = end


def _exchange(make: Maker) -> None:
    who = {name: LIBRARIES[name] for name in ("gyre_uring", "gyre_epoll", "asio_callback", "asio_coroutine")}
    who = {name: (family, 1 + 0.06 * (speed - 1)) for name, (family, speed) in who.items()}
    who["bare"] = ("floor", 1.3)
    names = [f"{scenario}_{book}_{rate}" for scenario in exchange_tables.SCENARIOS
             for book in exchange_tables.BOOKS for rate in (*RATES, "unbounded")
             if (scenario, book) != ("2b", "empty") and not (scenario == "8" and str(rate)[1:] == "00000")]
    for suite in ("exchange", "exchange_tuning"):
        for case in names if suite == "exchange" else TUNED:
            full = case.endswith("unbounded")
            rate = 400_000.0 if full else float(case.rsplit("_", 1)[1])
            make.case(suite, case, who, latencies(12.0 + rate / 8000, FACILITY) | latencies(
                60.0 + rate / 3000, FACILITY, "wire_") | {
                "net": ("us", "lower", 9.0), "core": ("us", "lower", 1.6),
                "worst_second_p99.9": ("us", "lower", 700.0), "orders_rate": ("ops/s", "higher", 2 * rate),
                "events_rate": ("ops/s", "higher", rate), "saturated": ("share", "lower", float(full)),
                "system_calls": ("1/op", "lower", 0.4)},
                luck=0.03, description=f"{case}, 100000 events")
            if suite == "exchange" and not full:
                make.seconds += [{"suite": suite, "case": case, "contender": name, "rounds": [
                    [[20.0, 60.0, 300.0 + 40 * abs((second * 7 + index) % 5), 700.0, 900.0]
                     for second in range(10)]] * 3} for index, name in enumerate(who)]


def document(seed: int = 11) -> dict:
    """What run.py would have stored."""
    make = Maker(seed)
    for add in (_dispatch, _throughput, _latency, _http, _echo, _others, _cost, _exchange):
        add(make)
    everybody = EVERYBODY | {"bare": ("floor", 1.3)}
    return {
        "machine": {"cpu": "A made-up processor", "cores": 2, "memory_gb": 8.2, "virtual_machine": True,
                    "kernel": "Linux 6.18.5", "governor": "not exposed", "compiler": "Clang 19.1.7",
                    "flags": "-O2 -DNDEBUG", "build_type": "Release", "c_library": "glibc 2.36",
                    "python": "3.11.2", "load_average_before": [0.1, 0.2, 0.1],
                    "load_average_after": [1.0, 0.9, 0.6], "steal_percent": 0.12},
        "run": {"scale": "full", "repetitions": ROUNDS, "reruns_max": 2, "sittings": 2, "seconds": 8123.4,
                "started": "2026-01-02T03:04:05+00:00"},
        "contenders": [{"name": name, "family": family, "library": family, "version": "1.2.3",
                        "backend": "epoll"} for name, (family, _) in everybody.items()],
        "cases": make.cases, "rows": make.rows, "cannot_run": make.refusals, "controls": make.controls,
        "system_calls_not_counted": "no tracefs is mounted", "by_second": make.seconds, "discarded": [],
    }


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_text(json.dumps(document()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
