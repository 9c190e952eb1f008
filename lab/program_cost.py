#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""What the programs of docs/guide/beside_asio.md cost to write, to compile and to run.

`lab/program_cost.py --flags="..." --libraries="..." [--rounds N] [--requests N]`, with clang++-19 and what a
release build compiles and links with. Each program is compiled by itself at -O2, then linked. A proxy carries
64 bytes there and back for 16 connections, in turn; the lines of one member of a chat are heard by 20, and
nothing is sent before all have heard it. Its time on a core is what the kernel says of its threads
(/proc/PID/task/*/schedstat). Of several rounds, which alternate between the programs, the least is kept:
others on the machine only add to it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROXIES = ("examples/port_forwarder.cpp", "examples/porting/proxy_asio.cpp")
CHATS = ("examples/chat_server.cpp", "examples/porting/chat_asio.cpp")
CONNECTIONS, MEMBERS, BYTES = 16, 20, 64
PATIENCE_SECONDS = 60


def lines_of(text: str) -> int:
    """Lines of code: neither blank nor a comment alone."""
    return sum(1 for line in map(str.strip, text.splitlines()) if line and not line.startswith("//"))


def compile_one(source: Path, into: Path, flags: list[str]) -> float:
    """Seconds of a core."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["clang++-19", "-std=c++20", "-O2", *flags, "-c", str(source), "-o", str(into)]
    subprocess.run(command, check=True, env=os.environ | {"CCACHE_DISABLE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds_on_core(process: int) -> float:
    """Of all its threads, those that the kernel has made for it included."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text(encoding="ascii").split()[0]) for each in tasks) / 1e9


class Server:
    """A program that has said where it listens."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def connect(self) -> socket.socket:
        it = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)
        it.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return it

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def receive(it: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = it.recv(size - len(received))
        if not piece:
            raise SystemExit("a server has ended a connection")
        received += piece
    return received


def echo(listener: socket.socket) -> None:
    """What is proxied: it sends back what comes, on a thread for each connection."""
    def serve(peer: socket.socket) -> None:
        with peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while piece := peer.recv(4096):
                peer.sendall(piece)

    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(peer,), daemon=True).start()


def proxied(program: str, requests: int) -> float:
    """Microseconds on a core of a request and its answer."""
    with ExitStack() as all_of_it:
        listener = all_of_it.enter_context(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=echo, args=(listener,), daemon=True).start()
        target = f"127.0.0.1:{listener.getsockname()[1]}"
        server = all_of_it.enter_context(Server(program, "127.0.0.1:0", target))
        clients = [all_of_it.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        request = b"r" * BYTES

        def play(rounds: int) -> None:
            for _ in range(rounds):
                for each in clients:
                    each.sendall(request)
                for each in clients:
                    receive(each, BYTES)

        play(50)
        before = seconds_on_core(server.process.pid)
        play(requests // CONNECTIONS)
        used = seconds_on_core(server.process.pid) - before
    return used / (requests // CONNECTIONS * CONNECTIONS) * 1e6


def chatted(program: str, lines: int) -> float:
    """Microseconds on a core of a line that is delivered to one member."""
    with ExitStack() as all_of_it:
        server = all_of_it.enter_context(Server(program, "127.0.0.1:0"))
        members = []
        for number in range(MEMBERS):
            members.append(all_of_it.enter_context(server.connect()))
            receive(members[-1], len("your name?\n"))
            members[-1].sendall(b"m%03d\n" % number)
            for each in members:
                receive(each, len("m000 has come\n"))
        line = b"l" * (BYTES - len("m000: \n")) + b"\n"

        def play(rounds: int) -> None:
            for _ in range(rounds):
                members[0].sendall(line)
                for each in members:
                    receive(each, BYTES)

        play(50)
        before = seconds_on_core(server.process.pid)
        play(lines)
        used = seconds_on_core(server.process.pid) - before
    return used / (lines * MEMBERS) * 1e6


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Measures programs on gyre and on Asio beside each other.")
    parser.add_argument("--flags", type=shlex.split, default=[], help="to compile with")
    parser.add_argument("--libraries", type=shlex.split, default=[], help="to link with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=20_000)
    options = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory() as folder:
        figures: dict[str, list[tuple[float, float]]] = {}
        for _ in range(options.rounds):
            for pair, play, count in ((PROXIES, proxied, options.requests),
                                      (CHATS, chatted, options.requests // MEMBERS)):
                for source in pair:
                    compiled = Path(folder, Path(source).stem + ".o")
                    program = str(compiled.with_suffix(""))
                    seconds = compile_one(ROOT / source, compiled, options.flags)
                    subprocess.run(["clang++-19", str(compiled), "-o", program, *options.libraries],
                                   check=True)
                    figures.setdefault(source, []).append((seconds, play(program, count)))
        print("| program | lines | s to compile | KB of object | us on a core |\n|---|---|---|---|---|")
        for source, seen in figures.items():
            size = Path(folder, Path(source).stem + ".o").stat().st_size
            lines = lines_of((ROOT / source).read_text(encoding="utf-8"))
            compiling, running = (min(each) for each in zip(*seen, strict=True))
            print(f"| {Path(source).stem} | {lines} | {compiling:.1f} | {size / 1000:.0f} | {running:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
