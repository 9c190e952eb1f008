# SPDX-License-Identifier: BSL-1.0
#
# A server that is another process: started, checked byte for byte before it is timed, and watched from
# outside, so that it need not know it is being measured.
"""Starts a program, for instance one that understands `--workload echo|http --threads N --port P`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import re
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

READY_SECONDS_MAX = 10.0
ANSWER_SECONDS_MAX = 5.0  # Nobody needs so long; a stalled machine might.
END_SECONDS_MAX = 5.0

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PORTS_MAX = 3
TAKEN = re.compile("address (is )?already in use", re.IGNORECASE)
SYS_PIDFD_GETFD = 438  # The same on all architectures.

BODY = b"There is nothing here.\r\n"


def response(keeps_alive: bool) -> bytes:
    """The one of baseline/requests.hpp, which every server of the suite sends."""
    connection = b"Connection: keep-alive\r\n" if keeps_alive else b"Connection:      close\r\n"
    return (b"HTTP/1.1 404 Not Found\r\n" + connection + b"Content-Type: text/plain\r\n"
            b"Content-Length: 24\r\n\r\n" + BODY)


class Refused(Exception):
    """A program, or this machine, cannot do what is to be measured, and says why: there is no row."""


class Unusable(Exception):
    """A run has failed, or its figures may not be kept; says why. Somebody has to look at it."""


def free_port() -> int:
    """A port outside of the range from which the clients' own are taken."""
    chooser = random.SystemRandom()
    for _ in range(100):
        port = chooser.randrange(20_000, 32_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise Refused("no free port between 20,000 and 32,000")


def switches_between(before: dict[str, int], after: dict[str, int]) -> int | None:
    """Of all threads. None if one has ended: it took with it how often it had been switched since."""
    if any(after.get(thread, -1) < count for thread, count in before.items()):
        return None
    return sum(after.values()) - sum(before.values())


class Child:
    """A program that says in a line when it is ready; ended by `stop` or at the end of a `with`."""

    def __init__(self, command: list[str], cores: set[int] | None = None,
                 environment: dict[str, str] | None = None):
        """Raises Refused if it ends with a reason instead. `environment` is added to ours."""

        def prepare() -> None:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # Who is killed cannot end it himself.
            if cores:
                os.sched_setaffinity(0, cores)

        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, preexec_fn=prepare, env=os.environ | (environment or {}))
        except OSError as error:
            raise Unusable(f"the server could not be started: {error}") from error
        try:
            self.said = self._next_line()
        except (Refused, Unusable):
            self.__exit__()
            raise

    def _next_line(self) -> str:
        readable, _, _ = select.select([self._process.stdout], [], [], READY_SECONDS_MAX)
        line = self._process.stdout.readline().strip() if readable else ""
        if line:
            return line
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS_MAX if readable else 0)
        if self._process.returncode is None:
            raise Unusable("the server has not become ready")
        errors = self._process.stderr.read().strip().splitlines()
        if self._process.returncode < 0 or not errors:
            raise Unusable(f"the server has ended with status {self._process.returncode}")
        raise Refused(errors[-1])

    def ask(self) -> str:
        """The line with which it answers an empty one. Raises Unusable if there is none."""
        with contextlib.suppress(BrokenPipeError):  # Why it has ended is what it said last.
            os.write(self._process.stdin.fileno(), b"\n")  # Past the buffer: closing would write it again.
        try:
            return self._next_line()
        except Refused as error:
            raise Unusable(str(error)) from error

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for each in (self._process.stdin, self._process.stdout, self._process.stderr):
            each.close()

    @property
    def id(self) -> int:
        return self._process.pid

    def processor_seconds(self) -> float:
        """User and system time of all its threads, those of the kernel that belong to it included."""
        clock = (~self.id << 3) | 2  # What clock_getcpuclockid(3) returns on Linux.
        return time.clock_gettime(clock)

    def context_switches(self) -> dict[str, int]:
        """Of each thread it has now."""
        found = {}
        for folder in Path("/proc", str(self.id), "task").iterdir():
            try:
                status = (folder / "status").read_text(encoding="utf-8")
            except OSError:
                continue  # It has just ended.
            found[folder.name] = sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status)))
        return found

    def stop(self) -> None:
        """Raises Unusable if it does not end soon, or with another status than 0."""
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            raise Unusable("the server has not ended after SIGTERM") from error
        if status != 0:
            raise Unusable(f"the server has ended with status {status}")


def no_delay_at(process: int, client: socket.socket) -> bool | None:
    """Whether TCP_NODELAY is set at the other end of a connection, which that process holds. None where one
    may not look into another process, or the connection is not found."""
    with contextlib.suppress(OSError), open(os.pidfd_open(process), "rb", buffering=0) as its:
        for name in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                if not os.readlink(f"/proc/{process}/fd/{name}").startswith("socket:"):
                    continue
                taken = LIBC.syscall(SYS_PIDFD_GETFD, its.fileno(), int(name), 0)
                if taken < 0:
                    return None
                with socket.socket(fileno=taken) as theirs:
                    other = theirs.getpeername()
                    # Ports only: the address may be written as one of IPv6. Other families have none.
                    if isinstance(other, tuple) and other[1:2] == client.getsockname()[1:]:
                        return theirs.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
    return None


class Server(Child):
    """One of the suite, which is told what to do and says `ready`."""

    def __init__(self, command: list[str], cores: set[int] | None = None, workload: str = "http",
                 threads: int = 1):
        """Raises Refused if it says why it cannot, Unusable if it does not become ready otherwise. Somebody
        else may have taken the port meanwhile: that is no reason, and it is given another one."""
        for left in reversed(range(PORTS_MAX)):
            self.port = free_port()
            try:
                super().__init__([*command, "--workload", workload, "--threads", str(threads),
                                  "--port", str(self.port)], cores)
                break
            except (Refused, Unusable) as failure:
                if left == 0 or not TAKEN.search(str(failure)):
                    raise
        if self.said != "ready":
            self.__exit__()
            raise Unusable(f"the server said {self.said!r} and not 'ready'")

    def verify(self) -> bool:
        """Raises Unusable unless all it sends back is right, however it was asked, and if it is seen to delay
        small messages. Returns whether it was seen not to."""
        try:
            verify_http(self.port)
            with _connect(self.port) as connection:
                connection.sendall(STAYING)
                _receive(connection, len(response(True)))  # Now it has been accepted.
                no_delay = no_delay_at(self.id, connection)
        except OSError as error:
            raise Unusable(f"verifying: {error}") from error
        if no_delay is False:
            raise Unusable("the server does not set TCP_NODELAY")
        return no_delay is True


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _receive(connection: socket.socket, size: int) -> bytes:
    """Less than `size` only at the end of the stream."""
    received = b""
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            break
        received += piece
    return received


def _expect(received: bytes, wanted: bytes, what: str) -> None:
    if received != wanted:
        raise Unusable(f"{what}: {received[:200]!r} and not {wanted[:200]!r}")


HOST = b"Host: 127.0.0.1\r\n"
STAYING = b"GET /404 HTTP/1.1\r\n" + HOST + b"\r\n"
OLD = b"GET /404 HTTP/1.0\r\n" + HOST
LAST = [(OLD + b"\r\n", "HTTP/1.0"),
        (b"GET /404 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", "close")]


def verify_http(port: int) -> None:
    with _connect(port) as connection, _connect(port) as other:

        def ask(request: bytes, wanted: bytes, what: str, to: socket.socket = connection) -> None:
            to.sendall(request)
            _expect(_receive(to, len(wanted)), wanted, what)

        ask(STAYING, response(True), "keep-alive")
        for begin, end in ((0, 20), (20, len(STAYING) - 1)):
            ask(STAYING[begin:end], b"", "part of a request")
            # So that the part is read alone. The first answer may come from the turn in which both were
            # ready, and before the part is read; the second one is of a later turn.
            ask(STAYING, response(True), "keep-alive", other)
            ask(STAYING, response(True), "keep-alive", other)
        ask(STAYING[-1:], response(True), "a request in three parts")
        ask(STAYING + STAYING, response(True) * 2, "two requests at once")
        ask(OLD + b"Connection: Keep-Alive\r\n\r\n", response(True), "HTTP/1.0 with keep-alive")
        ask(STAYING, response(True), "after HTTP/1.0 with keep-alive")
    for request, what in LAST:
        with _connect(port) as connection:
            connection.sendall(request)
            _expect(_receive(connection, len(response(False))), response(False), what)
            _expect(_receive(connection, 1), b"", f"{what}: the end of the stream")
