# SPDX-License-Identifier: BSL-1.0
#
# A server as another process, watched from outside by lab_watch_server (lab/load), so that it need not know
# that it is being measured; and checked byte for byte before it is timed.
"""Starts a server that understands `--workload echo|http --threads N --port P`."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from measure.processes import Broken, Refused, last_line, pin, run_once

WATCHER = "lab_watch_server"
ECHO_LOAD = "lab_echo_load"
ANSWER_SECONDS_MAX = 5.0  # No server needs so long; a stalled machine might.
END_SECONDS_MAX = 10.0


def identity(command: list[str]) -> dict:
    """Raises Refused if the program says why there is none of it."""
    try:
        asked = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    except OSError as error:
        raise Broken(f"the server could not be started: {error}") from error
    if asked.returncode != 0:
        raise Refused(last_line(asked.stderr))
    library, version, backend = (asked.stdout.split(None, 2) + ["?"] * 3)[:3]
    return {"library": library, "version": version.strip("-"), "backend": backend.strip()}


def run_echo_load(folder: Path, work: dict, command: list[str], cores: set[int] | None,
                  *options: str) -> dict:
    """What the lab's own clients print: they start the server by themselves, and watch it. Raises Refused."""
    report = json.loads(run_once([str(folder / ECHO_LOAD), "--case", json.dumps(work), *options, "--",
                                  *command], cores))
    if "cannot_run" in report:
        raise Refused(report["cannot_run"])
    return report


def counting_option(case: dict) -> list[str]:
    return ["--count-system-calls"] if case.get("count_system_calls") else []


class Watched:
    """A server that is ready; ended by `stop` or at the end of a `with`."""

    def __init__(self, folder: Path, command: list[str], workload: str = "http", threads: int = 1,
                 options: Sequence[str] = (), cores: set[int] | None = None):
        """On the first of `cores`, or of all; `load_cores` are left. Raises Refused if the server says why it
        cannot."""
        try:
            self._watcher = subprocess.Popen(
                [str(folder / WATCHER), *options, workload, str(threads), *command], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=pin(cores))
        except OSError as error:
            raise Broken(f"{WATCHER} could not be started: {error}") from error
        try:
            said = self._line()
            if "cannot_run" in said:
                raise Refused(said["cannot_run"])
        except (Refused, Broken):
            self.__exit__()
            raise
        self.port, self.id = said["port"], said["process"]
        self.load_cores = set(said["load_cores"])
        self.calls_refused = said.get("system_calls_not_counted")

    def _line(self) -> dict:
        line = self._watcher.stdout.readline()
        if line:
            return json.loads(line)
        raise Broken(self._complaint())

    def _complaint(self) -> str:
        status = self._watcher.wait(END_SECONDS_MAX)
        errors = self._watcher.stderr.read().strip().splitlines()
        return errors[-1] if errors else f"the server's watcher has ended with status {status}"

    def _ask(self, request: str) -> dict:
        try:
            self._watcher.stdin.write(request + "\n")
            self._watcher.stdin.flush()
        except BrokenPipeError:
            pass  # Why it has ended is what it said last.
        return self._line()

    def begin(self) -> None:
        """The costs that `end` tells begin."""
        self._ask("begin")

    def end(self) -> dict:
        """`seconds`, `processor_seconds`, `memory_megabytes`, and `context_switches` and `system_calls` where
        they are known."""
        return self._ask("end")

    def no_delay_seen(self, client: socket.socket) -> bool:
        """Whether TCP_NODELAY could be looked up at the other end. Raises Broken if it is not set."""
        return self._ask(f"no_delay {client.getsockname()[1]}")["no_delay_seen"]

    def stop(self) -> None:
        """Raises Broken if the server does not end soon, or with another status than 0."""
        self._watcher.stdin.close()
        if self._watcher.wait(END_SECONDS_MAX) != 0:
            raise Broken(self._complaint())

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        if self._watcher.poll() is None:
            self._watcher.kill()  # The server dies with it.
            self._watcher.wait()
        for each in (self._watcher.stdin, self._watcher.stdout, self._watcher.stderr):
            each.close()

    def verify(self) -> bool:
        """Raises Broken unless all it sends back is right, however it was asked, and if it is seen to delay
        small messages. Returns whether it was seen not to."""
        try:
            verify_http(self.port)
            with connect(self.port) as connection:
                connection.sendall(STAYING)
                receive(connection, len(response(True)))  # Now it has been accepted.
                return self.no_delay_seen(connection)
        except OSError as error:
            raise Broken(f"verifying: {error}") from error


def connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection: socket.socket, size: int) -> bytes:
    """Less than `size` only at the end of the stream."""
    received = bytearray()
    while len(received) < size and (piece := connection.recv(size - len(received))):
        received += piece
    return bytes(received)


def await_read(connection: socket.socket) -> None:
    """Until the program at the other end, on this machine, has read all that was sent."""
    ends = [f":{end[1]:04X}" for end in (connection.getpeername(), connection.getsockname())]
    until = time.monotonic() + ANSWER_SECONDS_MAX
    while time.monotonic() < until:
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, remote, _, queues, *_ = line.split()
            if [local[-5:], remote[-5:]] == ends and int(queues.split(":")[1], 16) == 0:
                return
        time.sleep(0.001)
    raise TimeoutError("timed out")


# --- the one response, which every server sends (servers/answers.hpp) ------------------------------


def response(keeps_alive: bool) -> bytes:
    connection = b"Connection: keep-alive\r\n" if keeps_alive else b"Connection:      close\r\n"
    return (b"HTTP/1.1 404 Not Found\r\n" + connection + b"Content-Type: text/plain\r\n"
            b"Content-Length: 24\r\n\r\nThere is nothing here.\r\n")


HOST = b"Host: 127.0.0.1\r\n"
STAYING = b"GET /404 HTTP/1.1\r\n" + HOST + b"\r\n"
OLD = b"GET /404 HTTP/1.0\r\n" + HOST
LAST = [(OLD + b"\r\n", "HTTP/1.0"),
        (b"GET /404 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", "close")]


def verify_http(port: int) -> None:
    """Requests whole, in parts and two at once, with and without keep-alive."""
    def expect(received: bytes, wanted: bytes, what: str) -> None:
        if received != wanted:
            raise Broken(f"{what}: {received[:200]!r} and not {wanted[:200]!r}")

    with connect(port) as connection:
        def ask(request: bytes, wanted: bytes, what: str) -> None:
            connection.sendall(request)
            expect(receive(connection, len(wanted)), wanted, what)

        for _ in range(2):
            ask(STAYING, response(True), "keep-alive")
        cuts = (0, 1, 20, len(STAYING) - 3, len(STAYING) - 1)
        for begin, end in itertools.pairwise(cuts):
            connection.sendall(STAYING[begin:end])
            await_read(connection)  # So that the part is read alone.
        ask(STAYING[-1:], response(True), "a request in parts")
        ask(STAYING + STAYING, response(True) * 2, "two requests at once")
        ask(OLD + b"Connection: Keep-Alive\r\n\r\n", response(True), "HTTP/1.0 with keep-alive")
        ask(STAYING, response(True), "after HTTP/1.0 with keep-alive")
    for request, what in LAST:
        with connect(port) as connection:
            connection.sendall(request)
            expect(receive(connection, len(response(False))), response(False), what)
            expect(receive(connection, 1), b"", f"{what}: the end of the stream")
