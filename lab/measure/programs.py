# SPDX-License-Identifier: BSL-1.0
#
# A turn of the suite `programs`: what a proxy and a chat server, written for each library as one would keep
# them (docs/guide/beside_asio.md), cost to write, to compile and to run.
"""play(case, folder, command, cores): looks at a program whose source is one of examples/.

A case is {"probe": "source"}, or {"probe": "proxy" | "chat", "requests"}. A proxy carries 64 bytes there and
back for 16 connections, which send one each and then wait for all; the lines of one member of a chat are
heard by 20, and nothing is sent before all have heard it. Programs say where they listen; their time on a
core is what the kernel says of their threads. Clients are Python's, so these are quiet servers.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from measure import cost, machine
from measure.processes import Broken, Refused, last_line, pin
from measure.watched import connect, receive

SOURCE = "/examples/"
CONNECTIONS, MEMBERS, BYTES = 16, 20, 64
WARM_UP_ROUNDS = 50
START_SECONDS_MAX = 10.0


# --- what it costs to write and to build -----------------------------------------------------------


def lines_of(text: str) -> int:
    """Lines of code: neither blank nor a comment alone."""
    return sum(1 for line in map(str.strip, text.splitlines()) if line and not line.startswith("//"))


def source(program: Path) -> list[dict]:
    command, _ = cost.how_compiled(program, SOURCE)
    text = Path(command[command.index("-c") + 1]).read_text(encoding="utf-8")
    lines = {"metric": "lines", "unit": "lines", "better": "lower", "value": lines_of(text)}
    return [*cost.metrics_of(cost.compile_time(program, SOURCE)), lines]


# --- what it costs to run --------------------------------------------------------------------------


class Server:
    """A program that has said where it listens; killed at the end of a `with`."""

    def __init__(self, command: list[str], core: set[int]):
        try:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             text=True, preexec_fn=pin(core))
        except OSError as error:
            raise Broken(f"the program could not be started: {error}") from error
        said = select.select([self._process.stdout], [], [], START_SECONDS_MAX)[0]
        line = self._process.stdout.readline() if said else ""
        port = line.strip().rpartition(":")[2]
        if not port.isdecimal():
            complaint = self._end()
            raise Refused(last_line(complaint)) if complaint else Broken("does not say where it listens")
        self.port = int(port)

    def seconds_on_core(self) -> float:
        """Of all its threads, those that the kernel has made for it included."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text(encoding="ascii").split()[0]) for each in tasks) / 1e9

    def _end(self) -> str:
        self._process.send_signal(signal.SIGKILL)
        return self._process.communicate()[1]

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


def expect(connection: socket.socket, size: int) -> None:
    if len(receive(connection, size)) < size:
        raise Broken("the program has ended a connection")


@contextmanager
def echo() -> Iterator[str]:
    """Where a proxy may carry to: a thread for each connection sends back what comes."""
    def serve(peer: socket.socket) -> None:
        with peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while piece := peer.recv(4096):
                peer.sendall(piece)

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(peer,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # Which ends an accept, as closing does not.
            accepting.join()


def timed(server: Server, play: Callable[[], None], rounds: int) -> float:
    """Seconds that the server has spent on so many rounds."""
    for _ in range(WARM_UP_ROUNDS):
        play()
    before = server.seconds_on_core()
    for _ in range(rounds):
        play()
    return server.seconds_on_core() - before


def proxy(command: list[str], core: set[int], requests: int) -> float:
    """Nanoseconds on a core of a request and its answer."""
    request, rounds = b"r" * BYTES, max(1, requests // CONNECTIONS)
    with ExitStack() as all_of_it:
        target = all_of_it.enter_context(echo())
        server = all_of_it.enter_context(Server([*command, "127.0.0.1:0", target], core))
        clients = [all_of_it.enter_context(connect(server.port)) for _ in range(CONNECTIONS)]

        def play() -> None:
            for each in clients:
                each.sendall(request)
            for each in clients:
                expect(each, BYTES)

        return 1e9 * timed(server, play, rounds) / (rounds * CONNECTIONS)


def chat(command: list[str], core: set[int], requests: int) -> float:
    """Nanoseconds on a core of a line that is delivered to one member."""
    line, rounds = b"l" * (BYTES - len("m000: \n")) + b"\n", max(1, requests // MEMBERS)
    with ExitStack() as all_of_it:
        server = all_of_it.enter_context(Server([*command, "127.0.0.1:0"], core))
        members: list[socket.socket] = []
        for number in range(MEMBERS):
            members.append(all_of_it.enter_context(connect(server.port)))
            expect(members[-1], len("your name?\n"))
            members[-1].sendall(b"m%03d\n" % number)
            for each in members:
                expect(each, len("m000 has come\n"))

        def play() -> None:
            members[0].sendall(line)
            for each in members:
                expect(each, BYTES)

        return 1e9 * timed(server, play, rounds) / (rounds * MEMBERS)


def run(case: dict, command: list[str], cores: set[int] | None) -> float:
    """The program has the first of the cores, and clients the others, where there are any."""
    first, *others = sorted(cores or machine.AVAILABLE)
    ours = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, others or {first})
        return {"proxy": proxy, "chat": chat}[case["probe"]](command, {first}, case["requests"])
    except OSError as error:
        raise Broken(f"{case['probe']}: {error}") from error
    finally:
        os.sched_setaffinity(0, ours)


def play(case: dict, folder: Path, command: list[str], cores: set[int] | None = None) -> dict:
    """Raises Refused if the program says why there is none of it, or Broken if something is wrong."""
    if case["probe"] == "source":
        return {"metrics": source(Path(command[-1]))}
    return {"metrics": [{"metric": "cpu", "unit": "ns/op", "better": "lower",
                         "value": run(case, command, cores)}]}
