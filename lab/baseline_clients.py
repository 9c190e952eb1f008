# SPDX-License-Identifier: BSL-1.0
#
# Clients that are not ours know nothing of metrics: how each is asked, and how what it prints is read.
"""ab, wrk and the lab's own echo clients: from a case to a command, from its output to figures."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from baseline_server import Refused, Unusable

CONNECTIONS = 100
PATH = "/404"
RESPONSE_BYTES = 120
PACKAGES = {"ab": "apache2-utils", "wrk": "wrk"}


@dataclass(frozen=True)
class Figures:
    """What a client has seen of a server."""

    requests: int  # That were answered within `seconds`.
    seconds: float
    bytes_per_second: float
    latency_us: dict[str, float] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


@dataclass(frozen=True)
class Cost:
    """What the server has spent meanwhile."""

    processor_seconds: float
    context_switches: int | None  # None where threads ended meanwhile.
    system_calls: int | None = None
    system_calls_not_counted: str | None = None  # Why, if they were to be.
    # Of those clients that say so.
    load_processor_seconds: float | None = None
    memory_megabytes: float | None = None
    no_delay_seen: bool = False  # TCP_NODELAY was seen to be set in the server's process.


@dataclass(frozen=True)
class Size:
    """How much a client does."""

    requests: int = 0  # Of ab.
    seconds: float = 0.0  # Of all others.


@dataclass(frozen=True)
class BaselineCase:
    name: str
    description: str
    client: str  # ab, wrk or echo
    workload: str  # Of the server.
    quick: Size
    full: Size
    keeps_alive: bool = True
    message_bytes: int = 0

    def size(self, scale: str) -> Size:
        return self.full if scale == "full" else self.quick


def _http(client: str, keeps_alive: bool, quick: Size, full: Size) -> BaselineCase:
    how = "kept-alive connections" if keeps_alive else "a connection for each request"
    return BaselineCase(f"{client}_{'keepalive' if keeps_alive else 'close'}",
                        f"a response of 120 bytes for {client}, 100 clients, {how}", client, "http",
                        quick, full, keeps_alive)


def _echo(message_bytes: int) -> BaselineCase:
    return BaselineCase(f"echo_{message_bytes}",
                        f"echo of {message_bytes} bytes for the lab's own clients, 100 of them",
                        "echo", "echo", Size(seconds=0.4), Size(seconds=5.0),
                        message_bytes=message_bytes)


# One request per connection leaves the server with an end in TIME-WAIT for each, as it closes first; so
# their number is bounded, and the clients' ports can be used again at once.
CASES = [
    _http("ab", False, Size(requests=6_000), Size(requests=100_000)),
    _http("ab", True, Size(requests=20_000), Size(requests=400_000)),
    _http("wrk", False, Size(seconds=1), Size(seconds=8)),
    _http("wrk", True, Size(seconds=1), Size(seconds=8)),
    _echo(512),
    _echo(2018),
]
WARM_UP_PART = 0.25


def find_case(name: str) -> BaselineCase:
    return next(each for each in CASES if each.name == name)


def missing(case: BaselineCase) -> str | None:
    """Why this machine cannot play the case."""
    if case.client in PACKAGES and shutil.which(case.client) is None:
        return f"{case.client} is not installed (Debian package {PACKAGES[case.client]})"
    return None


def ab_command(case: BaselineCase, port: int, requests: int, table: Path) -> list[str]:
    keeping = ["-k"] if case.keeps_alive else []
    return ["ab", "-q", "-d", *keeping, "-c", str(min(CONNECTIONS, requests)), "-n", str(requests),
            "-e", str(table), f"http://127.0.0.1:{port}{PATH}"]


def wrk_command(case: BaselineCase, port: int, seconds: float) -> list[str]:
    keeping = [] if case.keeps_alive else ["-H", "Connection: close"]
    return ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{max(1, round(seconds))}s", "--latency",
            *keeping, f"http://127.0.0.1:{port}{PATH}"]


def echo_command(case: BaselineCase, program: Path, seconds: float, server: list[str]) -> list[str]:
    """These clients start the server by themselves, and watch it."""
    return [str(program), "--connections", str(CONNECTIONS),
            "--message-bytes", str(case.message_bytes),
            "--warm-up-ms", str(round(1000 * seconds * WARM_UP_PART) + 50),
            "--measured-ms", str(round(1000 * seconds)), "--", *server]


def _number(pattern: str, text: str, otherwise: str | None = None) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None and otherwise is None:
        raise Unusable(f"no line like {pattern!r} in what the client printed")
    return float(found[1] if found else otherwise)


def parse_ab(text: str, table: str, keeps_alive: bool) -> Figures:
    """`text` is what ab prints, `table` what it writes with -e: percentiles in ms."""
    complete = int(_number(r"^Complete requests: +(\d+)", text))
    failed = int(_number(r"^Failed requests: +(\d+)", text))
    wrong = complete - int(_number(r"^Non-2xx responses: +(\d+)", text, "0"))
    if complete == 0 or failed or wrong:
        raise Unusable(f"of {complete} requests {failed} failed, {wrong} were not answered with 404")
    kept = int(_number(r"^Keep-Alive requests: +(\d+)", text, "0"))
    if kept != (complete if keeps_alive else 0):
        raise Unusable(f"of {complete} requests {kept} left their connection alive")
    received = int(_number(r"^Total transferred: +(\d+) bytes", text))
    if received != complete * RESPONSE_BYTES:
        raise Unusable(f"{complete} responses of {RESPONSE_BYTES} bytes were {received} bytes together")
    quantiles = dict(line.split(",") for line in table.split()[2:] if "," in line)
    return Figures(
        requests=complete,
        seconds=_number(r"^Time taken for tests: +([\d.]+) seconds", text),
        bytes_per_second=1024 * _number(r"^Transfer rate: +([\d.]+) \[Kbytes/sec\]", text),
        latency_us={"mean": 1e3 * _number(r"^Time per request: +([\d.]+) \[ms\] \(mean\)$", text),
                    **{f"p{each}": 1e3 * float(quantiles[each]) for each in ("50", "90", "99")}})


SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def _with_unit(pattern: str, units: dict[str, float], text: str) -> float:
    found = re.search(pattern + r" *([\d.]+)([A-Za-z]+)", text, re.MULTILINE)
    if found is None or found[2] not in units:
        raise Unusable(f"no line like {pattern!r} in what wrk printed")
    return float(found[1]) * units[found[2]]


def parse_wrk(text: str) -> Figures:
    """Of wrk --latency."""
    requests = int(_number(r"^ *(\d+) requests in", text))
    broken = re.search(r"^ *Socket errors: (.*)$", text, re.MULTILINE)
    if broken:
        raise Unusable(f"socket errors: {broken[1]}")
    wrong = requests - int(_number(r"^ *Non-2xx or 3xx responses: (\d+)", text, "0"))
    if requests == 0 or wrong:
        raise Unusable(f"of {requests} requests {wrong} were not answered with 404")
    return Figures(
        requests=requests,
        seconds=requests / _number(r"^Requests/sec: +([\d.]+)", text),  # It rounds the seconds more.
        bytes_per_second=_with_unit(r"^Transfer/sec:", BYTES, text),
        latency_us={"mean": 1e6 * _with_unit(r"^ *Latency", SECONDS, text),
                    **{f"p{each}": 1e6 * _with_unit(rf"^ *{each}%", SECONDS, text)
                       for each in (50, 90, 99)}})


def parse_echo(text: str, message_bytes: int) -> tuple[Figures, Cost]:
    """Of lab_baseline_echo. Raises Refused if the server has said that it cannot."""
    try:
        seen = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unusable(f"the echo clients printed no JSON: {error}") from error
    if "cannot_run" in seen:
        raise Refused(seen["cannot_run"])
    if seen["requests"] == 0:
        raise Unusable("nothing was sent back")
    figures = Figures(requests=seen["requests"], seconds=seen["seconds"],
                      bytes_per_second=seen["requests"] * message_bytes / seen["seconds"],
                      latency_us=seen["latency_us"])
    return figures, Cost(seen["processor_seconds"], seen.get("context_switches"), seen.get("system_calls"),
                         seen.get("system_calls_not_counted"), seen.get("load_processor_seconds"),
                         seen.get("memory_megabytes"), bool(seen.get("no_delay_seen")))
