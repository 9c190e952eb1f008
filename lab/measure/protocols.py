# SPDX-License-Identifier: BSL-1.0
#
# A turn of the suites `http_server`, `websocket` and `tls`: a server, checked by questions that the load
# does not ask, then loaded by the lab's clients (lab/load/talk.hpp), or by wrk.
"""play(case, folder, command, cores): starts the server, verifies it, loads it, and tells what was seen.

A case is what lab_talk_load takes, {"protocol", "profile", "connections", "at_once", "each_lives", "bytes"},
and {"threads" of the server, "warm_up_ms", "measured_ms", "client": "wrk" in place of ours}.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import http.client
import json
import os
import resource
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path

from measure import baseline
from measure.processes import Broken, Refused, last_line, pin, run_once
from measure.watched import Watched, counting_option

LOAD = "lab_talk_load"
ANSWER_SECONDS_MAX = 60.0
END_SECONDS_MAX = 10.0
HELLO = b"Hello, World!"
PAGE = os.sysconf("SC_PAGESIZE")


# --- what is right ---------------------------------------------------------------------------------


def json_text() -> bytes:
    """As servers/web.cpp makes it."""
    items = [{"id": i, "name": f"article {i}", "price": i * 199, "stock": 1000 - i * 7,
              "tags": ["new", "sold"]} for i in range(1, 13)]
    return json.dumps({"items": items, "count": 12}, separators=(",", ":")).encode()


def content_of(size: int) -> bytes:
    period = bytes(ord("0") + i % 75 for i in range(251))
    return (period * (size // 251 + 1))[:size]


REQUESTS = {
    "text": ("GET", "/text", None, "text/plain", HELLO),
    "json": ("GET", "/json", None, "application/json", json_text()),
    "sum": ("GET", "/sum?a=13&b=42", None, "text/plain", b"55"),
    "post": ("POST", "/sum?a=13&b=42", b"20", "text/plain", b"75"),
}


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise Broken(f"{what}: {str(found)[:200]} and not {str(wanted)[:200]}")


def verify_http_server(port: int, profile: str) -> None:
    """By Python's own client, which reads answers as strictly as it can; twice on one connection, then one
    that is told to close."""
    method, target, body, kind, wanted = REQUESTS[profile]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with contextlib.closing(connection):
        for fields in ({}, {}, {"Connection": "close"}):
            connection.request(method, target, body, fields)
            answer = connection.getresponse()
            expect((answer.status, answer.version), (200, 11), f"{method} {target}")
            expect(answer.getheader("Content-Type", "").split(";")[0], kind, "Content-Type")
            expect(answer.getheader("Date") is not None, True, "there is a Date")
            expect(answer.read(), wanted, f"{method} {target}")
            if fields:
                expect(connection.sock, None, "the connection after `Connection: close`")


def verify_websocket(port: int, profile: str) -> None:
    """A handshake with a key of the day, a message in two fragments, and an orderly end."""
    key = hashlib.sha1(os.urandom(8)).digest()[:16]
    accept = hashlib.sha1(_base64(key).encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(f"GET /{profile} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                           f"Connection: Upgrade\r\nSec-WebSocket-Key: {_base64(key)}\r\n"
                           "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        reader = connection.makefile("rb")
        expect(reader.readline().split()[1:2], [b"101"], "the status of the handshake")
        fields = dict(line.strip().lower().split(b": ", 1) if i != 0 else line for i, line in
                      enumerate(iter(reader.readline, b"\r\n"), 1))
        expect(fields.get(b"sec-websocket-accept"), _base64(accept).lower().encode(), "the accepted key")
        mask = bytes(4)
        connection.sendall(bytes((0x02, 0x83)) + mask + b"abc" + bytes((0x80, 0x83)) + mask + b"def")
        expect(reader.read(8), bytes((0x82, 6)) + b"abcdef", "a message in two fragments")
        connection.sendall(bytes((0x88, 0x82)) + mask + (1000).to_bytes(2, "big"))
        expect(reader.read(4), bytes((0x88, 2)) + (1000).to_bytes(2, "big"), "the answer to a close")


def _base64(what: bytes) -> str:
    return base64.b64encode(what).decode()


def verify_tls(port: int, size: int) -> None:
    """By Python's OpenSSL: versions, content, and that the end is one."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    settings.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0x80)  # Python sets it; 3.12 named it.
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain, \
            settings.wrap_socket(plain, suppress_ragged_eofs=False) as connection:
        expect(connection.version(), "TLSv1.3", "the version")
        for closing in ("", "Connection: close\r\n"):
            connection.sendall(f"GET /bytes/{size} HTTP/1.1\r\nHost: a\r\n{closing}\r\n".encode())
            reader = connection.makefile("rb")
            expect(reader.readline().split()[1:2], [b"200"], "the status")
            for line in iter(reader.readline, b"\r\n"):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    expect(int(value), size, "Content-Length")
            expect(hashlib.sha1(reader.read(size)).digest(), hashlib.sha1(content_of(size)).digest(),
                   f"{size} bytes")
        expect(connection.recv(1), b"", "the end behind close_notify")


def verify(case: dict, port: int) -> None:
    by = {"http_server": verify_http_server, "websocket": verify_websocket, "tls": verify_tls}
    try:
        by[case["protocol"]](port, case["bytes"] if case["protocol"] == "tls" else case["profile"])
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Broken(f"verifying: {error!r}") from error


# --- the load --------------------------------------------------------------------------------------


class Talk:
    """lab_talk_load: a line in, a line of JSON out."""

    def __init__(self, folder: Path, case: dict, port: int, cores: set[int]):
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [str(folder / LOAD), "--port", str(port), "--case", json.dumps(case)], text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, preexec_fn=pin(cores))
        except OSError as error:
            raise Refused(f"{LOAD} is not built: {error.strerror}") from error

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for each in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                each.close()

    def ask(self, request: str, seconds_max: float = ANSWER_SECONDS_MAX) -> dict:
        with contextlib.suppress(OSError):  # It has ended: what it wrote last says why.
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], seconds_max)
        line = self._process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        if ready:
            self._process.wait(END_SECONDS_MAX)
        self._errors.seek(0)
        raise Broken(last_line(self._errors.read()) if ready else f"{request}: no answer")


@functools.cache
def certificate() -> tuple[str, str]:
    """Files of a certificate of ECDSA on P-256 and of its key: of this run, and gone with it."""
    if shutil.which("openssl") is None:
        raise Refused("openssl is not installed (Debian package openssl)")
    folder = tempfile.TemporaryDirectory(prefix="lab_tls_")
    certificate.folder = folder
    names = tuple(str(Path(folder.name) / each) for each in ("certificate.pem", "key.pem"))
    run_once(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
              "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
              "-out", names[0], "-keyout", names[1]], None)
    return names


def resident_bytes(process: int) -> int:
    return PAGE * int(Path(f"/proc/{process}/statm").read_text().split()[1])


def metrics_of(case: dict, seen: dict, cost: dict, per_connection: float | None) -> list[dict]:
    count, seconds = seen["messages"], seen["seconds"]
    found = [("throughput", "ops/s", "higher", count / seconds),
             ("transfer", "MB/s", "higher", seen["bytes"] / seconds / 1e6),
             ("cpu", "ns/op", "lower", 1e9 * cost["processor_seconds"] / count),
             *((name.removesuffix("_ns"), "us", "lower", value / 1e3) for name, value in seen.items()
               if name.endswith("_ns")),
             ("busy", "%", "higher", 100 * cost["processor_seconds"] / seconds),
             ("memory", "MB", "lower", cost["memory_megabytes"]),
             *((name, "1/op", "lower", cost[name] / count)
               for name in ("context_switches", "system_calls") if name in cost)]
    if "processor_seconds" in seen:
        found.append(("load_busy", "%", "lower", 100 * seen["processor_seconds"] / seconds))
    if per_connection is not None:
        found.append(("per_connection", "B", "lower", per_connection))
    return [dict(zip(("metric", "unit", "better", "value"), each)) for each in found]


def with_ours(case: dict, folder: Path, server: Watched) -> tuple[dict, dict, float | None]:
    with Talk(folder, case, server.port, server.load_cores) as clients:
        before = resident_bytes(server.id)
        clients.ask("open")
        grown = resident_bytes(server.id) - before
        clients.ask(f"play {case['warm_up_ms']}")
        server.begin()
        seen = clients.ask(f"play {case['measured_ms']}")
        cost = server.end()
    stays = case["protocol"] == "websocket" and case["connections"] >= 1000
    return seen, cost, grown / case["connections"] if stays else None


def with_wrk(case: dict, server: Watched) -> tuple[dict, dict, None]:
    def load(seconds: float) -> str:
        return run_once(["wrk", "-t", "1", "-c", str(case["connections"]), "-d",
                         f"{max(1, round(seconds))}s", "--latency",
                         f"http://127.0.0.1:{server.port}{REQUESTS[case['profile']][1]}"],
                        server.load_cores, ANSWER_SECONDS_MAX)

    load(case["warm_up_ms"] / 1e3)
    server.begin()
    printed = load(case["measured_ms"] / 1e3)
    cost = server.end()
    if "Non-2xx" in printed:
        raise Broken("wrk saw an answer that was not 200")
    seen = baseline.read_wrk(printed)
    content = len(REQUESTS[case["profile"]][4])
    return {"messages": seen.requests, "bytes": seen.requests * content, "seconds": seen.seconds,
            **{f"{name}_ns": 1e3 * value for name, value in seen.latency_us.items()}}, cost, None


def play(case: dict, folder: Path, command: list[str], cores: set[int] | None = None) -> dict:
    """Raises Refused, or Broken if it has failed."""
    is_wrk = case.get("client") == "wrk"
    if is_wrk and baseline.is_missing("wrk"):
        raise Refused("wrk is not installed (Debian package wrk)")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # Servers inherit it.
    if case["protocol"] == "tls":
        command = [*command, *(word for pair in zip(("--certificate", "--key"), certificate())
                               for word in pair)]
    counting = counting_option(case)
    with Watched(folder, command, case["protocol"], case["threads"], counting, cores) as server:
        verify(case, server.port)
        seen, cost, per_connection = with_wrk(case, server) if is_wrk else with_ours(case, folder, server)
        server.stop()
    report = {"metrics": metrics_of(case, seen, cost, per_connection)}
    if "latency_buckets" in seen:
        report["latency_buckets"] = seen["latency_buckets"]
    if counting and "system_calls" not in cost:
        report["system_calls_not_counted"] = server.calls_refused or "the counter cannot be read"
    return report
