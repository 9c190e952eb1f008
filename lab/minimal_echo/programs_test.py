#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The programs of the suite `cost` are compared as if they did the same: here they have to. And what counts
# their allocations has to count.
"""Drives the programs in FOLDER.

    programs_test.py FOLDER
"""

import contextlib
import ctypes
import functools
import os
import random
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from baseline_server import Child  # noqa: E402

FOLDER = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path(".")
PROGRAMS = sorted(FOLDER.glob("lab_minimal_*"))
COMMANDS = [(program, backend) for program in PROGRAMS
            for backend in (("uring", "epoll") if "gyre" in program.name else (None,))]
SECONDS_MAX = 10
SYS_PIDFD_GETFD = 438  # The same on all architectures.


def connect(server: Child) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(server.said)), timeout=SECONDS_MAX)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size and (piece := connection.recv(size - len(received))):
        received += piece
    return received


def no_delay_seen(server: Child, client: socket.socket) -> list[int]:
    """TCP_NODELAY of the server's end of that connection, taken out of its process."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    process = os.pidfd_open(server.id)
    try:
        for name in os.listdir(f"/proc/{server.id}/fd"):
            if not os.readlink(f"/proc/{server.id}/fd/{name}").startswith("socket:"):
                continue
            taken = libc.syscall(SYS_PIDFD_GETFD, process, int(name), 0)
            if taken < 0:
                raise unittest.SkipTest(os.strerror(ctypes.get_errno()))
            with socket.socket(fileno=taken) as theirs, contextlib.suppress(OSError):
                if theirs.getpeername() == client.getsockname():  # A listener has no peer.
                    found.append(theirs.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
    finally:
        os.close(process)
    return found


def with_each(test):
    """Runs a test with every program in every way, when it is ready."""
    @functools.wraps(test)
    def run(self: unittest.TestCase) -> None:
        self.assertGreaterEqual(len(COMMANDS), 4, f"few programs in {FOLDER}")
        for program, backend in COMMANDS:
            with self.subTest(program=program.name, backend=backend), \
                    Child([str(program), "0"], None, {"GYRE_BACKEND": backend or ""}) as server:
                test(self, server)
    return run


class EveryProgram(unittest.TestCase):
    @with_each
    def test_sends_back_a_byte(self, server):
        with connect(server) as client:
            client.sendall(b"\x00")
            self.assertEqual(client.recv(2), b"\x00")

    @with_each
    def test_sends_back_what_comes_in_pieces(self, server):
        message = random.Random(20_118).randbytes(64 * 1024)
        with connect(server) as client:
            returned = b""
            for begin in range(0, len(message), 7_001):
                piece = message[begin:begin + 7_001]
                client.sendall(piece)
                returned += receive(client, len(piece))
            self.assertTrue(returned == message)

    @with_each
    def test_sends_back_what_a_full_socket_had_to_wait_for(self, server):
        message = random.Random(20_118).randbytes(1 << 20)
        with connect(server) as client:
            client.settimeout(0.2)  # Both directions are full when nothing more is taken.
            sent = 0
            try:
                while True:
                    sent += client.send(message[sent % len(message):])
            except TimeoutError:
                client.settimeout(SECONDS_MAX)
            returned = receive(client, sent)
            self.assertTrue(returned == (message * (sent // len(message) + 1))[:sent])

    @with_each
    def test_keeps_two_connections_apart(self, server):
        with connect(server) as one, connect(server) as other:
            for number in range(10):
                one.sendall(b"one %d" % number)
                other.sendall(b"other %d" % number)
                self.assertEqual(receive(other, 7), b"other %d" % number)
                self.assertEqual(receive(one, 5), b"one %d" % number)

    @with_each
    def test_serves_others_when_somebody_has_left(self, server):
        for number in range(50):
            with connect(server) as client:
                client.sendall(bytes([number]))
                self.assertEqual(client.recv(2), bytes([number]))

    @with_each
    def test_sets_no_delay(self, server):
        with connect(server) as client:
            client.sendall(b"?")
            self.assertEqual(client.recv(2), b"?")
            self.assertEqual(no_delay_seen(server, client), [1])

    @with_each
    def test_ends_when_it_is_told_to(self, server):
        with connect(server) as client:
            client.sendall(b"?")
            self.assertEqual(client.recv(2), b"?")
        server.stop()

    def test_a_port_that_is_taken_is_an_error(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            for program, backend in COMMANDS:
                with self.subTest(program=program.name):
                    ended = subprocess.run([program, str(taken.getsockname()[1])], capture_output=True,
                                           timeout=SECONDS_MAX,
                                           env=os.environ | {"GYRE_BACKEND": backend or ""})
                    self.assertNotEqual(ended.returncode, 0)


class Counting(unittest.TestCase):
    def count(self, code: str) -> int:
        """Calls of malloc of an interpreter that runs `code`, which asks for memory by ctypes."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(8))
            file.flush()
            counter = FOLDER / "liblab_allocation_counter.so"
            subprocess.run([sys.executable, "-c", "import ctypes; c = ctypes.CDLL(None); f = c.malloc;"
                            f"f.argtypes = [ctypes.c_size_t]; {code}"], check=True,
                           env=os.environ | {"LD_PRELOAD": str(counter), "LAB_ALLOCATIONS": file.name,
                                             "PYTHONMALLOC": "pymalloc", "PYTHONHASHSEED": "0"})
            return int.from_bytes(Path(file.name).read_bytes(), "little")

    def test_every_call_of_malloc_is_counted(self):
        few = self.count("[f(64) for _ in range(1_000)]")
        many = self.count("[f(64) for _ in range(51_000)]")
        self.assertAlmostEqual(many - few, 50_000, delta=2_000)  # The interpreter makes some itself.


class Load(unittest.TestCase):
    def test_the_load_says_how_many_messages_have_come_back(self):
        with Child([str(PROGRAMS[0]), "0"]) as server, \
                Child([str(FOLDER / "lab_steady_load"), server.said, "2", "64", "20", "50"]) as clients:
            self.assertEqual(clients.said, "warm")
            self.assertGreater(int(clients.ask()), 100)


if __name__ == "__main__":
    unittest.main()
