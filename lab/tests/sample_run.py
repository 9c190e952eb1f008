#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A run that was never measured: for tests of the analysis, and for looking at a report without waiting for
# hours.
#
# It has what real runs have and what breaks pages: every suite and case, many contenders, a noisy case, rows
# that some refuse, rates that were not reached, intervals of very different width. Its figures mean nothing.
"""sample_run.py FILE.jsonl: writes a made-up run there."""

from __future__ import annotations

import json
import math
import random
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import suites
from measure.processes import CONTROL, PROTOCOLS

BLOCKS, ROUNDS = 5, 6
# Name: family, speed. What a suite has of them follows.
CONTENDERS = {
    "gyre_uring": ("gyre", 1.9), "gyre_epoll": ("gyre", 1.3), "gyre_uring_leases": ("gyre", 1.8),
    "gyre_uring_spin": ("gyre", 5.7), "gyre_uring_turn_8": ("gyre", 1.9),
    "gyre_uring_told_5ms": ("gyre", 0.5),
    "asio_callback": ("asio", 1.0), "asio_coroutine": ("asio", 0.9),
    "asio_callback_uring": ("asio", 0.96), "asio_coroutine_uring": ("asio", 0.83),
    "asio_callback_per_thread": ("asio", 1.3), "asio_callback_spin": ("asio", 5.0),
    "asio_spawn": ("asio", 0.85),
    "libuv": ("libuv", 1.35), "go": ("go", 0.7), "tokio": ("tokio", 1.1), "monoio": ("monoio", 1.7),
    "crossbeam": ("crossbeam", 2.5),
    "beast": ("beast", 0.9), "hyper": ("hyper", 1.2), "nginx": ("nginx", 1.25), "asio_ssl": ("asio", 1.0),
    "tungstenite": ("tungstenite", 1.1), "node_ws": ("node", 0.3),
    "netty_epoll": ("netty", 0.8), "netty_io_uring": ("netty", 0.75), "uvloop": ("uvloop", 0.4),
    "raw_syscalls": ("floor", 2.2), "raw_epoll": ("floor", 1.5), "raw_uring": ("floor", 1.97),
    "raw_uring_multishot": ("floor", 1.8), "load_ceiling": ("floor", 2.4), "bare": ("floor", 1.3),
    "host": ("floor", 1.0),
}
BOTH = ("gyre_uring", "gyre_epoll", "asio_callback", "asio_coroutine")
LIBRARIES = (*BOTH, "asio_callback_uring", "asio_coroutine_uring")
PEERS = ("asio_spawn", "libuv", "go", "tokio", "monoio", "netty_epoll", "netty_io_uring", "uvloop")
WORK_NS = {"dispatch": 40, "throughput": 9000, "latency": 6000, "http": 6500, "timers": 180, "churn": 20_000,
           "fan_out": 70, "files": 7000, "channels": 80}
SHAPE = {"min": 0.6, "p25": 0.85, "p50": 0.95, "p75": 1.1, "p90": 1.3, "p95": 1.5, "p99": 2.4, "p99.9": 6.0,
         "p99.99": 17.0, "max": 60.0, "mean": 1.0, "std": 0.5}
FACILITY = ("min", "p50", "p95", "p99", "p99.9", "p99.99", "max", "mean")
SOURCE = {"compile": ("s", 4.0), "compile_wall": ("s", 4.1), "object": ("KB", 150.0),
          "lines": ("lines", 99.0)}
COSTS = {"compile_time": {"compile": ("s", 2.0), "compile_wall": ("s", 2.1), "object": ("KB", 90.0)},
         "proxy_source": SOURCE, "chat_source": SOURCE,
         "proxy_run": {"cpu": ("ns/op", 6500.0)}, "chat_run": {"cpu": ("ns/op", 2000.0)},
         "program_size": {"text_and_data": ("KiB", 300.0), "file": ("KiB", 400.0)},
         "idle_connections": {"per_connection": ("B", 900.0), "rss": ("MiB", 5.0),
                              "rss_with_all": ("MiB", 20.0)},
         "steady_state": {"rss_busy": ("MiB", 6.0), "allocations": ("1/op", 0.5),
                          "system_calls": ("1/op", 1.1)}}


NOISE = ("gaps_10us", "gaps_100us", "gaps_1ms", "gap_longest", "lost")  # What a host by itself has.
MARKET_DATA = ("tcp_1", "json_1000", "json_1000_10_silent")


def exchange_cases(suite: str) -> list[suites.Case]:
    wanted = [f"{scenario}_{book}_{rate}" for scenario in ("1", "2", "2b", "3", "4", "5", "6", "7", "8")
              for book in ("empty", "filled") for rate in ("1000", "10000", "100000", "200000", "unbounded")
              if (scenario, book) != ("2b", "empty") and not (scenario == "8" and rate[1:] == "00000")]
    tuned = ["1_filled_1000", "1_filled_100000", "4_filled_10000", "8_filled_unbounded"]
    if suite == "exchange_jitter":
        tuned = ["2_filled_20000"]
    elif suite.startswith("exchange_market_data"):
        tuned = MARKET_DATA
    return [suites.listed_case(suite, {"case": each, "description": f"{each}, 100000 events", "threads": 2},
                               "full")
            for each in (wanted if suite == "exchange" else tuned)]


OF_SUITE = {
    "echo": (*LIBRARIES, "gyre_uring_leases", "raw_epoll", "raw_uring", "raw_uring_multishot"),
    "baseline": (*BOTH, "raw_uring", "raw_epoll"), "cost": (*LIBRARIES, "gyre_uring_leases", "libuv"),
    "programs": ("gyre_uring", "gyre_epoll", "asio_coroutine"),
    "files": ("gyre_uring", "gyre_epoll", "asio_coroutine_uring", "tokio", "raw_uring"),
    "channels": ("gyre_uring", "gyre_epoll", "gyre_uring_spin", "asio_coroutine", "tokio", "crossbeam"),
    "http_server": ("gyre_uring", "gyre_epoll", "beast", "go", "hyper", "nginx", "raw_uring", "raw_epoll"),
    "websocket": ("gyre_uring", "gyre_epoll", "beast", "tungstenite", "node_ws"),
    "tls": ("gyre_uring", "gyre_epoll", "asio_ssl", "go", "nginx"),
    "exchange": (*BOTH, "bare"), "exchange_tuning": (*BOTH, "bare"),
    "exchange_end_to_end": ("gyre_uring", "gyre_epoll"),
    "exchange_end_to_end_tuning": ("gyre_uring", "gyre_uring_spin", "gyre_uring_turn_8"),
    "exchange_jitter": ("gyre_uring", "gyre_epoll", "host"),
    "exchange_market_data": ("gyre_uring", "gyre_epoll"),
    "exchange_market_data_tuning": ("gyre_uring", "gyre_uring_told_5ms"),
} | dict.fromkeys(("throughput", "latency", "http", "churn"), (*LIBRARIES, "raw_syscalls"))


def contenders_of(case: suites.Case) -> tuple[str, ...]:
    if "block" in case.name:
        spinning = () if case.name.startswith("threads") else ("gyre_uring_spin", "asio_callback_spin",
                                                               "load_ceiling")
        return (*LIBRARIES, *PEERS, *spinning)
    if case.name.startswith("threads") and case.suite not in PROTOCOLS:
        return (*LIBRARIES, "asio_callback_per_thread")
    return OF_SUITE.get(case.suite, LIBRARIES)


class Maker:
    def __init__(self, seed: int):
        self.dice = random.Random(seed)
        self.seed = seed

    def around(self, spread: float) -> float:
        return math.exp(self.dice.gauss(0, spread))

    def speed(self, case: suites.Case, name: str) -> float:
        luck = random.Random(zlib.crc32(f"{self.seed} {case.suite} {case.name} {name}".encode()))
        base = CONTENDERS[name][1]
        base = 1 + 0.06 * (base - 1) if case.suite.startswith("exchange") else base
        return base * math.exp(luck.gauss(0, 0.03 if case.suite.startswith("exchange") else 0.2))

    def block(self, case: suites.Case, name: str) -> dict:
        each = WORK_NS[case.suite] / self.speed(case, name) * self.around(0.006)
        noise = 0.12 if case.name == "uni_tcp_1M" else 0.008
        walls = [round(case.operations * each * self.around(noise)) for _ in range(ROUNDS)]
        latency = [wall / case.operations for wall in walls]
        buckets = [[round(each * factor), round(count)] for factor, count in
                   ((0.8, 300), (0.95, 4000), (1.0, 4000), (1.3, 900), (2.4, 90), (6.0, 9), (40.0, 1))]
        slices = {"wall_ns": walls, "cpu_ns": walls, "operations": [case.operations] * ROUNDS,
                  "allocations": [0] * ROUNDS, "context_switches": [2] * ROUNDS,
                  "counter visits": [case.operations // 9] * ROUNDS}
        finish: dict = {"memory_mb": 6.0}
        if case.suite in ("latency", "http", "churn", "files") or "concurrent_1" in case.name:
            slices |= {"latency mean": latency, "latency p50": [0.95 * one for one in latency]}
            finish |= {"buckets": buckets, "min": buckets[0][0], "max": buckets[-1][0]}
        return {"slices": slices, "finish": finish,
                "about": {"library": CONTENDERS[name][0], "version": "1.2.3", "backend": "epoll"}}

    def turn(self, case: suites.Case, name: str) -> dict:
        speed = self.speed(case, name) * self.around(0.01)
        if case.name in COSTS:
            found = {metric: (unit, "lower", value / speed)
                     for metric, (unit, value) in COSTS[case.name].items()}
        elif case.suite.startswith("exchange_market_data"):
            found = self.market_data(case, speed)
        else:
            found = self.exchange(case, speed) if case.suite.startswith("exchange") else self.server(speed)
        report = {"library": CONTENDERS[name][0], "version": "1.2.3", "backend": "epoll", "metrics": [
            {"metric": metric, "unit": unit, "better": better, "value": value * self.around(0.003)}
            for metric, (unit, better, value) in found.items()]}
        if name == "host":
            report["metrics"] = [each for each in report["metrics"] if each["metric"] in NOISE]
            return report
        if case.suite == "exchange_jitter":
            report["worst"] = [[900.0, 850.0, 20.0, "host"], [400.0, 10.0, 300.0, "turn"],
                               [300.0, 0.0, 0.0, "kernel"]]
        if case.suite in ("exchange", "exchange_jitter"):
            report["by_second"] = [[20.0, 60.0, 300.0 + 40 * self.dice.random(), 700.0, 900.0]
                                   for _ in range(9)]
        return report | ({"no_delay_seen": True} if case.suite == "echo" else {})

    def server(self, speed: float) -> dict:
        rate = 40_000 * speed
        times = {name: ("us", "lower", 1e6 / rate * factor) for name, factor in SHAPE.items()}
        return times | {"throughput": ("ops/s", "higher", rate), "messages": ("", "higher", 20 * rate),
                        "seconds": ("s", "lower", 18.0), "transfer": ("MiB/s", "higher", rate / 1000),
                        "load_busy": ("%", "lower", 55.0), "busy": ("%", "higher", 80.0),
                        "cpu": ("ns/op", "lower", 9000 / speed), "system_calls": ("1/op", "lower", 2.0),
                        "memory": ("MB", "lower", 7.0), "per_connection": ("B", "lower", 5000 / speed)}

    def market_data(self, case: suites.Case, speed: float) -> dict:
        longer = 2.0 if "silent" in case.name else 1.0
        return {name: ("us", "lower", 900.0 * longer * SHAPE[name] / speed) for name in FACILITY} | {
            "cpu": ("ns/op", "lower", 5000 / speed), "facility_cpu": ("ns/op", "lower", 20_000.0),
            "memory": ("MB", "lower", 30.0), "told": ("", "higher", 40_000.0),
            "saturated": ("share", "lower", 0.0)}

    def exchange(self, case: suites.Case, speed: float) -> dict:
        full = case.name.endswith("unbounded")
        rate = 400_000.0 if full else float(case.name.rsplit("_", 1)[1])
        shape = {prefix + name: ("us", "lower", base * SHAPE[name] / speed)
                 for prefix, base in (("", 12 + rate / 8000), ("wire_", 60 + rate / 3000))
                 for name in FACILITY}
        return shape | {"net": ("us", "lower", 9.0 / speed), "core": ("us", "lower", 1.6),
                        "worst_second_p99.9": ("us", "lower", 700.0),
                        "saturated": ("share", "lower", float(full)),
                        "orders_rate": ("ops/s", "higher", rate * (speed if full else 1)),
                        "cpu": ("ns/op", "lower", 3000 / speed),
                        "gaps_10us": ("1/s", "lower", 90.0), "gaps_100us": ("1/s", "lower", 9.0),
                        "gaps_1ms": ("1/s", "lower", 0.0), "gap_longest": ("ms", "lower", 0.81),
                        "lost": ("%", "lower", 0.2),
                        "events_rate": ("ops/s", "higher", rate), "system_calls": ("1/op", "lower", 0.4)}


def lines(seed: int = 11, wanted: list[str] | None = None, blocks: int = BLOCKS) -> list[dict]:
    make = Maker(seed)
    found = [{"kind": "run", "conditions": {"scale": "full"}, "seed": seed,
              "started": "2026-01-02T03:04:05+00:00",
              "machine": {"cpu": "A made-up processor", "cores": 2, "kernel": "Linux 6.18.5",
                          "compiler": "Clang 19.1.7", "flags": "-O2 -DNDEBUG", "build_type": "Release"},
              "contenders": [{"name": name, "family": family} for name, (family, _) in CONTENDERS.items()]}]
    names = wanted or suites.names()
    cases = suites.cases(names, "full") + [each for suite in names if suites.suite(suite).get("listed")
                                           for each in exchange_cases(suite)]
    for case in cases:
        found.append(suites.described(case))
        who = contenders_of(case)
        for number in range(blocks):
            play = make.block if case.mode == suites.SLICES else lambda *of: [make.turn(*of)]
            told = {name: play(case, name) for name in who} | {who[0] + CONTROL: play(case, who[0])}
            refused = {"asio_callback": "spawns no coroutines"} if case.name == "spawn" else {}
            refused |= {"uvloop": "has no threads"} if case.name.startswith("threads_2_block") else {}
            found.append({"kind": "block" if case.mode == suites.SLICES else "round", "suite": case.suite,
                          "case": case.name, "number": number, "seed": seed, "order": [],
                          "contenders": {name: each for name, each in told.items() if name not in refused},
                          "refused": refused, "broken": {}, "seconds": 0.5, "steal_percent": 0.1,
                          "load_average": 0.4, "sitting": "2026-01-02T03:04:05+00:00"})
    return found


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_text("".join(json.dumps(each) + "\n" for each in lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
