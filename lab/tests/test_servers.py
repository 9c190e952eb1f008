# SPDX-License-Identifier: BSL-1.0
#
# What every server has to do before it is measured, ours and peers alike: a server that does other work than
# the others would win. One that was not built is skipped and named.
"""Drives each server of LAB_BUILD (build/release): those of build_info.json, and the peers."""

from __future__ import annotations

import contextlib
import random
import re
import select
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import BUILD, FOLDER
from measure.processes import Build
from measure.watched import Watched, receive, response, verify_http

SECONDS_MAX = 20
MEBIBYTE = 1 << 20
TAKEN = re.compile("address (is )?already in use", re.IGNORECASE)
REQUEST = b"GET /anything HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
REQUEST_1_0 = b"GET / HTTP/1.0\r\nHost: a\r\n\r\n"
KEPT, CLOSING = response(True), response(False)


@dataclass(frozen=True)
class Program:
    command: tuple[str, ...]
    serves_http: bool
    threads_max: int | None  # None: any number.

    @property
    def title(self) -> str:
        return " ".join([Path(self.command[0]).name, *(word for word in self.command[1:] if "/" not in word)])


def programs() -> list[Program]:
    """Each way in which run.py starts a server of the build, or a peer that setup has seen serve."""
    found: dict[tuple[str, ...], Program] = {}
    try:
        contenders = Build(BUILD).contenders
    except OSError:
        return []
    for each in contenders:
        command = tuple(word for word in each.command if word not in ("--buffer", "{buffer}"))
        if each.absent is None and set(each.suites) & {"echo", "baseline", "cost"} and starts(command):
            serves_http = "baseline" in each.suites or (command in found and found[command].serves_http)
            found[command] = Program(command, serves_http, 1 if is_minimal(command) else each.threads_max)
    return list(found.values())


def is_minimal(command: tuple[str, ...]) -> bool:
    return "lab_echo_" in command[0] and "spawn" not in command[0]


def starts(command: tuple[str, ...]) -> bool:
    """Not a program of a library that is lacking, nor a backend that there is none of. Peers do start."""
    if not Path(command[0]).name.startswith("lab_"):
        return True
    if not Path(command[0]).is_file() or ("io_uring_sqpoll" in command and "gyre" in command[0]):
        return False
    return subprocess.run([*command, "--version"], capture_output=True).returncode == 0


PROGRAMS = programs()
if not PROGRAMS:
    pytest.skip(f"no servers in {FOLDER}", allow_module_level=True)

Way = tuple[Program, int]  # And on how many threads.
WAYS = [(each, threads) for each in PROGRAMS for threads in (1, 2)
        if threads == 1
        or ((each.threads_max or threads) >= threads and "load_ceiling" not in each.command[0])]


def title_of(way: Way) -> str:
    return f"{way[0].title} on {way[1]}"


# The tests of a server are run together and share it: starting a JVM takes longer than they do, and one that
# spins must not do so beside others.
@pytest.fixture(scope="module", params=WAYS, ids=title_of)
def echo(request):
    program, threads = request.param
    with Watched(FOLDER, list(program.command), "echo", threads) as server:
        server.threads = threads
        yield server


@pytest.fixture(scope="module", params=[way for way in WAYS if way[0].serves_http], ids=title_of)
def http(request):
    program, threads = request.param
    with Watched(FOLDER, list(program.command), "http", threads) as server:
        yield server


def connect(server: Watched, receive_buffer_bytes: int | None = None) -> socket.socket:
    client = socket.socket()
    client.settimeout(SECONDS_MAX)
    if receive_buffer_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    client.connect(("127.0.0.1", server.port))
    return client


def noise(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)


def ask(client: socket.socket, request: bytes, answer: bytes) -> None:
    client.sendall(request)
    assert receive(client, len(answer)) == answer


# --- echo ----------------------------------------------------------------------------------------


def test_every_byte_comes_back_in_order(echo):
    content = noise(MEBIBYTE, 1)

    def send_in_odd_slices(client: socket.socket) -> None:
        """Sizes that fit no buffer of any server's."""
        sizes = random.Random(2)
        at = 0
        while at < len(content):
            size = sizes.choice([1, 3, 61, 509, 4_093, 16_381, 65_537, 131_071])
            client.sendall(content[at:at + size])
            at += size

    with connect(echo) as client:
        sender = threading.Thread(target=send_in_odd_slices, args=(client,))
        sender.start()
        received = receive(client, len(content))
        sender.join()
    assert received == content


def test_a_client_that_reads_late_and_little_loses_nothing(echo):
    content = noise(16 * MEBIBYTE, 2)
    with connect(echo, receive_buffer_bytes=4096) as client:
        client.setblocking(False)
        sent = 0
        # Until nothing moves any more: the server has to keep what its socket does not take.
        while sent < len(content) and select.select([], [client], [], 0.3)[1]:
            sent += client.send(content[sent:sent + 65_537])
        client.settimeout(SECONDS_MAX)
        assert sent > 0
        sender = threading.Thread(target=client.sendall, args=(content[sent:],))
        sender.start()
        received = receive(client, len(content))
        sender.join()
    assert received == content


def test_connections_do_not_mix(echo):
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(echo)) for _ in range(50)]
        for turn in range(3):
            contents = [noise(2018, 100 * turn + i) for i in range(len(clients))]
            for client, content in zip(clients, contents):
                client.sendall(content)
            for client, content in zip(clients, contents):
                assert receive(client, len(content)) == content


def test_a_client_that_goes_away_disturbs_no_other(echo):
    with connect(echo) as stays:
        for number in range(100):
            client = connect(echo)
            client.sendall(b"some bytes that are never read")
            if number % 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()  # Every second time with a reset.
        ask(stays, b"still here", b"still here")


def test_small_messages_do_not_wait(echo):
    with connect(echo) as client:
        ask(client, b"x", b"x")  # Now the connection has been accepted.
        if not echo.no_delay_seen(client):
            pytest.skip("a process may not look into its child here")


def processor_time(pid: int) -> dict[str, tuple[str, int]]:
    """Of each thread: its name, and for how many nanoseconds it has run."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # It has ended meanwhile.
            ran = (thread / "schedstat").read_text(encoding="ascii").split()[0]
            found[thread.name] = (thread / "comm").read_text(encoding="ascii"), int(ran)
    return found


def test_all_threads_serve(echo):
    message = noise(16_381, 3)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(echo)) for _ in range(60)]
        before = processor_time(echo.id)
        for _ in range(30):
            for client in clients:
                client.sendall(message)
            for client in clients:
                assert receive(client, len(message)) == message
        after = processor_time(echo.id)
    by_name: dict[str, list[int]] = {}
    for thread, (name, ran) in after.items():
        by_name.setdefault(name.split("/")[0], []).append(ran - before.get(thread, (name, 0))[1])
    # Threads that serve have one name in each of the servers, apart from a number. A collector of garbage has
    # another.
    shares = [sorted(each)[-echo.threads] / max(each) for each in by_name.values()
              if len(each) >= echo.threads and max(each) > 0]
    assert max(shares, default=0) > 0.1, by_name


# --- http ----------------------------------------------------------------------------------------


def test_requests_are_answered_however_they_are_asked(http):
    http.verify()
    for _ in range(200):  # More connections than it can have prepared for.
        connect(http).close()
    verify_http(http.port)


def test_requests_that_come_together_are_each_answered(http):
    with connect(http) as client:
        for count in (2, 700):
            ask(client, REQUEST * count, KEPT * count)


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                                  b"GET / HTTP/1.1\r\nCONNECTION:Close\r\nHost: a\r\n\r\n", REQUEST_1_0,
                                  b"GET / HTTP/1.0\r\n\r\n"])
def test_a_connection_ends_as_http_says(http, head):
    with connect(http) as client:
        ask(client, head, CLOSING)
        assert client.recv(1) == b""


def test_nothing_is_answered_after_the_last_request(http):
    with connect(http) as client:
        ask(client, REQUEST + REQUEST_1_0 + REQUEST, KEPT + CLOSING)
        with contextlib.suppress(ConnectionResetError):  # It has not read the third one.
            assert client.recv(1) == b""


def test_a_request_without_end_ends_its_connection_only(http):
    with connect(http) as stays, connect(http) as client:
        with contextlib.suppress(OSError):  # A reset, if it is quick.
            client.sendall(b"GET / HTTP/1.1\r\n" + b"X-Long: 0123456789\r\n" * 10_000)
            assert client.recv(1) == b""
        ask(stays, REQUEST, KEPT)


# --- the process -----------------------------------------------------------------------------------


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.title)
def program(request) -> Program:
    return request.param


def run(program: Program, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([*program.command, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=SECONDS_MAX)


def test_it_ends_when_it_is_told_to(program):
    with Watched(FOLDER, list(program.command), "echo") as server, connect(server) as client:
        ask(client, b"x", b"x")
        server.stop()


def test_any_port_may_be_asked_for(program):
    process = subprocess.Popen([*program.command, "--port", "0", "--workload", "echo"], text=True,
                               stdout=subprocess.PIPE)
    with process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 0


@pytest.mark.parametrize("shared", [False, True])
def test_a_port_that_is_taken_is_one_line_and_1(program, shared):
    with socket.socket() as other:
        if shared:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        for threads in range(1, min(program.threads_max or 2, 2) + 1):
            ended = run(program, "--workload", "echo", "--threads", str(threads), "--port",
                        str(other.getsockname()[1]))
            if ended.returncode == 2 and "core for each" in ended.stderr:
                continue  # The load's ceiling, which is told so first.
            assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1), ended.stderr
            assert TAKEN.search(ended.stderr)


@pytest.mark.parametrize("arguments, named", [
    (["--wrong"], "--wrong"), (["--workload", "udp", "--port", "1"], "udp"), (["--threads", "none"], "none"),
    (["--port", "65536"], "65536"), (["--port"], "--port"), ([], "--port")])
def test_an_argument_that_it_does_not_know_is_one_line_and_2(program, arguments, named):
    ended = run(program, *arguments)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended.stderr
    assert named in ended.stderr


def test_more_threads_than_it_can_use_are_an_error(program):
    if program.threads_max is None:
        pytest.skip("it can use any number")
    ended = run(program, "--workload", "echo", "--port", "0", "--threads", str(program.threads_max + 1))
    assert ended.returncode == 2
    assert str(program.threads_max + 1) in ended.stderr


def test_the_version_is_library_version_and_backend(program):
    ended = run(program, "--version")
    assert ended.returncode == 0
    assert len(ended.stdout.split(" ")) == 3 and ended.stdout.endswith("\n")
