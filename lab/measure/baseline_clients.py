# SPDX-License-Identifier: BSL-1.0
#
# Clients that are not ours know nothing of metrics: how each is asked, and how what it prints is read.
"""ab and wrk: from a case to a command, from its output to figures."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from measure.watched import Unusable

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


def missing(client: str) -> str | None:
    """Why this machine cannot play cases of that client."""
    if client in PACKAGES and shutil.which(client) is None:
        return f"{client} is not installed (Debian package {PACKAGES[client]})"
    return None


def ab_command(case: dict, port: int, requests: int, table: Path) -> list[str]:
    keeping = ["-k"] if case["keep_alive"] else []
    return ["ab", "-q", "-d", *keeping, "-c", str(min(case["connections"], requests)), "-n", str(requests),
            "-e", str(table), f"http://127.0.0.1:{port}{PATH}"]


def wrk_command(case: dict, port: int, seconds: float) -> list[str]:
    keeping = [] if case["keep_alive"] else ["-H", "Connection: close"]
    return ["wrk", "-t", "1", "-c", str(case["connections"]), "-d", f"{max(1, round(seconds))}s", "--latency",
            *keeping, f"http://127.0.0.1:{port}{PATH}"]


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
