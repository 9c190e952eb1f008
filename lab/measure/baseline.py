# SPDX-License-Identifier: BSL-1.0
#
# A turn of the suite `baseline`: a server, loaded by a client that is not of the library's making. Such a
# client knows nothing of metrics, so here is how each is asked, and how what it prints is read.
"""play(case, folder, command, cores): starts the server, verifies it, loads it, and tells what was seen.

A case is {"client": "ab" | "wrk" | "echo", "keep_alive", "connections", "requests" (ab), "seconds" (wrk,
echo), "bytes" (echo), "count_system_calls"}; `folder` has the build's programs.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure.processes import Broken, Refused, run_once
from measure.watched import Watched, counting_option, run_echo_load

PATH = "/404"
RESPONSE_BYTES = 120
PACKAGES = {"ab": "apache2-utils", "wrk": "wrk"}
CLIENT_SECONDS_MAX = 60.0
WARM_UP_PART = 0.25
AB_WARM_UP_REQUESTS = {True: 5_000, False: 1_500}  # Before a short run of wrk, with keep-alive and without.
ECHO_METRICS = ("throughput", "mean", "p50", "p90", "p99", "cpu", "busy", "load_busy", "memory",
                "context_switches", "system_calls")
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


@dataclass(frozen=True)
class Figures:
    """What a client has seen of a server."""

    requests: int  # That were answered within `seconds`.
    seconds: float
    bytes_per_second: float
    latency_us: dict[str, float]


# --- ab and wrk ------------------------------------------------------------------------------------


def is_missing(client: str) -> bool:
    return client in PACKAGES and shutil.which(client) is None


def ab_command(case: dict, port: int, table: str) -> list[str]:
    keeping = ["-k"] if case["keep_alive"] else []
    clients = min(case["connections"], case["requests"])
    return ["ab", "-q", "-d", *keeping, "-c", str(clients), "-n", str(case["requests"]), "-e", table,
            f"http://127.0.0.1:{port}{PATH}"]


def wrk_command(case: dict, port: int) -> list[str]:
    keeping = [] if case["keep_alive"] else ["-H", "Connection: close"]
    return ["wrk", "-t", "1", "-c", str(case["connections"]), "-d", f"{max(1, round(case['seconds']))}s",
            "--latency", *keeping, f"http://127.0.0.1:{port}{PATH}"]


def number(pattern: str, text: str, otherwise: str | None = None, units: dict | None = None) -> float:
    """The number that follows `pattern` at the beginning of a line, and its unit, if it has one."""
    found = re.search(rf"^ *{pattern} *([\d.]+)({'|'.join(units or [''])})\b", text, re.MULTILINE)
    if found is None and otherwise is None:
        raise Broken(f"no line like {pattern!r} in what the client printed")
    return float(found[1] if found else otherwise) * (units[found[2]] if units else 1)


def answered(text: str, requests: int, failed: int, right: str) -> int:
    """`requests`, if every one of them was answered with 404."""
    wrong = requests - int(number(right, text, "0"))
    if requests == 0 or failed or wrong:
        raise Broken(f"of {requests} requests {failed} failed, {wrong} were not answered with 404")
    return requests


def parse_ab(text: str, table: str, keeps_alive: bool) -> Figures:
    """`text` is what ab prints, `table` what it writes with -e: percentiles in ms."""
    complete = answered(text, int(number("Complete requests:", text)), int(number("Failed requests:", text)),
                        "Non-2xx responses:")
    kept = int(number("Keep-Alive requests:", text, "0"))
    if kept != (complete if keeps_alive else 0):
        raise Broken(f"of {complete} requests {kept} left their connection alive")
    received = int(number("Total transferred:", text))
    if received != complete * RESPONSE_BYTES:
        raise Broken(f"{complete} responses of {RESPONSE_BYTES} bytes were {received} bytes together")
    quantiles = dict(line.split(",") for line in table.split()[2:] if "," in line)
    return Figures(complete, number("Time taken for tests:", text), 1024 * number("Transfer rate:", text),
                   {"mean": 1e3 * number("Time per request:", text),
                    **{f"p{each}": 1e3 * float(quantiles[str(each)]) for each in (50, 90, 99)}})


def read_wrk(text: str) -> Figures:
    """Of wrk --latency, whatever the status of the answers was."""
    found = re.search(r"^ *(\d+) requests in", text, re.MULTILINE)
    broken = re.search(r"^ *Socket errors: (.*)$", text, re.MULTILINE)
    if found is None or broken:
        raise Broken(f"socket errors: {broken[1]}" if broken else "no line of requests in what wrk printed")
    requests = int(found[1])
    if requests == 0:
        raise Broken("wrk has seen no answer")
    seconds = requests / number("Requests/sec:", text)  # The seconds that it prints are rounded more.
    return Figures(requests, seconds, number("Transfer/sec:", text, units=BYTES),
                   {"mean": 1e6 * number("Latency", text, units=SECONDS),
                    **{f"p{each}": 1e6 * number(f"{each}%", text, units=SECONDS) for each in (50, 90, 99)}})


def parse_wrk(text: str) -> Figures:
    """Of wrk --latency, if every answer was 404."""
    seen = read_wrk(text)
    answered(text, seen.requests, 0, "Non-2xx or 3xx responses:")
    return seen


def load(case: dict, port: int, cores: set[int]) -> Figures:
    if case["client"] == "wrk":
        return parse_wrk(run_once(wrk_command(case, port), cores, CLIENT_SECONDS_MAX))
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as table:
        printed = run_once(ab_command(case, port, table.name), cores, CLIENT_SECONDS_MAX)
        return parse_ab(printed, table.read(), case["keep_alive"])


def warm_up(case: dict, port: int, cores: set[int]) -> None:
    """A quarter of what is measured, by the same client; but wrk takes a second at least, so in a quick run
    ab does it, if it is there."""
    if case["client"] == "ab":
        load(case | {"requests": round(case["requests"] * WARM_UP_PART)}, port, cores)
    elif case["seconds"] * WARM_UP_PART >= 1:
        load(case | {"seconds": case["seconds"] * WARM_UP_PART}, port, cores)
    elif not is_missing("ab"):
        load(case | {"client": "ab", "requests": AB_WARM_UP_REQUESTS[case["keep_alive"]]}, port, cores)


# --- a turn ----------------------------------------------------------------------------------------


def metrics_of(seen: Figures, cost: dict) -> list[dict]:
    """`busy` tells where the bottleneck was: a server with little of it has waited for its clients."""
    found = [("throughput", "ops/s", "higher", seen.requests / seen.seconds),
             ("transfer", "MB/s", "higher", seen.bytes_per_second / 1e6),
             *((name, "us", "lower", value) for name, value in seen.latency_us.items()),
             ("cpu", "ns/op", "lower", 1e9 * cost["processor_seconds"] / seen.requests),
             ("busy", "%", "higher", 100 * cost["processor_seconds"] / seen.seconds),
             *((name, "1/op", "lower", cost[name] / seen.requests)
               for name in ("context_switches", "system_calls") if name in cost)]
    return [dict(zip(("metric", "unit", "better", "value"), each)) for each in found]


def play_http(case: dict, folder: Path, command: list[str], cores: set[int] | None) -> dict:
    counting = counting_option(case)
    with Watched(folder, command, "http", options=counting, cores=cores) as server:
        no_delay_seen = server.verify()
        warm_up(case, server.port, server.load_cores)
        server.begin()
        seen = load(case, server.port, server.load_cores)
        cost = server.end()
        server.stop()
    report = {"metrics": metrics_of(seen, cost), "no_delay_seen": no_delay_seen}
    if counting and "system_calls" not in cost:
        report["system_calls_not_counted"] = server.calls_refused or "the counter cannot be read"
    return report


def play_echo(case: dict, folder: Path, command: list[str], cores: set[int] | None) -> dict:
    work = {"bytes": case["bytes"], "connections": case["connections"],
            "warm_up_ms": round(1000 * (case["seconds"] * WARM_UP_PART + 0.05)),
            "measured_ms": round(1000 * case["seconds"])}
    report = run_echo_load(folder, work, command, cores, *counting_option(case))
    found = {each["metric"]: each for each in report["metrics"]}
    transfer = {"metric": "transfer", "unit": "MB/s", "better": "higher",
                "value": found["throughput"]["value"] * case["bytes"] / 1e6}
    report["metrics"] = [transfer, *(found[name] for name in ECHO_METRICS if name in found)]
    return report


def with_polling_core(command: list[str]) -> list[str]:
    """A core for the kernel's thread behind a polled ring, if there are more than this run was given."""
    others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
    polls = bool(others) and "io_uring_sqpoll" in command
    return [*command, "--polling-core", str(max(others))] if polls else command


def play(case: dict, folder: Path, command: list[str], cores: set[int] | None = None) -> dict:
    """Raises Refused, or Broken if it has failed."""
    if is_missing(case["client"]):
        raise Refused(f"{case['client']} is not installed (Debian package {PACKAGES[case['client']]})")
    by = play_echo if case["client"] == "echo" else play_http
    return by(case, folder, with_polling_core(command), cores)
