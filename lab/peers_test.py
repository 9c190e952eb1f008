# SPDX-License-Identifier: BSL-1.0
#
# A peer that loses a byte, waits for an acknowledgement or shares its port would win or lose for the wrong
# reason. So each one is held to the same promises before it is measured.
"""Holds every peer that setup.py has built to what README.md says of peers.

    peers_test.py [--build DIR] [-v]

Ends with 77, which means "skipped" to ctest, if none are built.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from baseline_server import TAKEN, no_delay_at

SKIPPED = 77
SECONDS_MAX = 30.0  # For anything that a peer is asked for; a JVM starts in one or two.
PORTS_MAX = 5
MEBIBYTE = 1 << 20

HEAD = b"HTTP/1.1 404 Not Found\r\nConnection: "
REST = b"\r\nContent-Type: text/plain\r\nContent-Length: 24\r\n\r\nThere is nothing here.\r\n"
KEPT = HEAD + b"keep-alive" + REST
CLOSING = HEAD + b"     close" + REST
REQUEST = b"GET /some/thing HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n"
REQUEST_1_0 = b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"


def free_port() -> int:
    """Below the ports that the kernel gives to clients, so nobody takes it by chance meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """A peer that is ready, until the end of a `with`."""

    def __init__(self, command: list[str], workload: str, threads: int):
        command = [*command, "--workload", workload, "--threads", str(threads), "--port"]
        for _ in range(PORTS_MAX):  # Somebody may take a port after it was found to be free.
            self.port = free_port()
            self.process = subprocess.Popen(
                [*command, str(self.port)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
            if not select.select([self.process.stdout], [], [], SECONDS_MAX)[0]:
                self.process.kill()
            first_line = self.process.stdout.readline()
            if first_line == "ready\n":
                return
            self.process.kill()
            why = self.process.communicate()[1]
            if not TAKEN.search(why):
                break
        raise AssertionError(f"it says {first_line!r}: {why}")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> int:
        """Asks it to end."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        return self.process.returncode

    def connect(self, receive_buffer_bytes: int | None = None) -> socket.socket:
        client = socket.socket()
        client.settimeout(SECONDS_MAX)
        if receive_buffer_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        client.connect(("127.0.0.1", self.port))
        return client


def noise(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)


def read_exactly(client: socket.socket, size: int) -> bytes:
    parts = []
    while size > 0:
        part = client.recv(min(size, 1 << 16))
        if not part:
            raise AssertionError(f"the peer closed with {size} bytes missing")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def send_in_odd_slices(client: socket.socket, content: bytes) -> None:
    """Sizes that fit no buffer of anybody's."""
    sizes = random.Random(len(content))
    at = 0
    while at < len(content):
        size = sizes.choice([1, 3, 61, 509, 4_093, 16_381, 65_537, 131_071])
        client.sendall(content[at:at + size])
        at += size


def processor_time(pid: int) -> dict[str, tuple[str, int]]:
    """Of each thread: its name, and for how many nanoseconds it has run."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # It has ended meanwhile.
            ran = (thread / "schedstat").read_text(encoding="ascii").split()[0]
            found[thread.name] = (thread / "comm").read_text(encoding="ascii"), int(ran)
    return found


class PeerCase(unittest.TestCase):
    peer: dict

    def refused(self, *arguments: str) -> tuple[int, str]:
        """What a peer answers that cannot start."""
        ended = subprocess.run([*self.peer["command"], *arguments], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        return ended.returncode, ended.stderr


class Serving(PeerCase):
    """With a number of threads. Most tests share a server: starting a JVM takes longer than they do."""

    threads: int
    servers: dict[str, Server]

    @classmethod
    def setUpClass(cls) -> None:
        cls.servers = {}

    @classmethod
    def tearDownClass(cls) -> None:
        for server in cls.servers.values():
            server.end()

    def serve(self, workload: str) -> contextlib.AbstractContextManager[Server]:
        if workload not in self.servers:
            self.servers[workload] = Server(self.peer["command"], workload, self.threads)
        return contextlib.nullcontext(self.servers[workload])

    # --- echo ------------------------------------------------------------------------------------

    def test_every_byte_comes_back_in_order(self):
        content = noise(MEBIBYTE, 1)
        with self.serve("echo") as server, server.connect() as client:
            sender = threading.Thread(target=send_in_odd_slices, args=(client, content))
            sender.start()
            received = read_exactly(client, len(content))
            sender.join()
        self.assertEqual(received, content)

    def test_a_client_that_reads_late_and_little_loses_nothing(self):
        content = noise(16 * MEBIBYTE, 2)
        with self.serve("echo") as server, server.connect(receive_buffer_bytes=4096) as client:
            client.setblocking(False)
            sent = 0
            # Until nothing moves any more: the server has to keep what its socket does not take.
            while sent < len(content) and select.select([], [client], [], 0.3)[1]:
                sent += client.send(content[sent:sent + 65_537])
            client.setblocking(True)
            client.settimeout(SECONDS_MAX)
            self.assertGreater(sent, 0)
            sender = threading.Thread(target=client.sendall, args=(content[sent:],))
            sender.start()
            received = read_exactly(client, len(content))
            sender.join()
        self.assertEqual(received, content)

    def test_connections_do_not_mix(self):
        with self.serve("echo") as server, contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.connect()) for _ in range(50)]
            for turn in range(3):
                contents = [noise(2018, 100 * turn + i) for i in range(len(clients))]
                for client, content in zip(clients, contents):
                    client.sendall(content)
                for client, content in zip(clients, contents):
                    self.assertEqual(read_exactly(client, len(content)), content)

    def test_all_threads_serve(self):
        message = noise(16_381, 3)
        with self.serve("echo") as server, contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.connect()) for _ in range(60)]
            before = processor_time(server.process.pid)
            for _ in range(50):
                for client in clients:
                    client.sendall(message)
                for client in clients:
                    read_exactly(client, len(message))
            after = processor_time(server.process.pid)
        by_name: dict[str, list[int]] = {}
        for thread, (name, ran) in after.items():
            by_name.setdefault(name, []).append(ran - before.get(thread, (name, 0))[1])
        # Threads that serve have one name, in all of the peers. A collector of garbage has another.
        shares = [sorted(each)[-self.threads] / max(each) for each in by_name.values()
                  if len(each) >= self.threads and max(each) > 0]
        self.assertGreater(max(shares, default=0), 0.1, by_name)

    def test_one_that_goes_away_disturbs_nobody(self):
        with self.serve("echo") as server, server.connect() as stays:
            for _ in range(20):
                client = server.connect()
                client.sendall(b"some bytes that nobody reads")
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.close()  # With a reset.
            stays.sendall(b"still here")
            self.assertEqual(read_exactly(stays, 10), b"still here")

    def test_small_messages_do_not_wait(self):
        for workload, message in (("echo", b"x"), ("http", REQUEST)):
            with self.subTest(workload), self.serve(workload) as server, server.connect() as client:
                client.sendall(message)
                client.recv(4096)  # Now the connection has been accepted.
                found = no_delay_at(server.process.pid, client)
                if found is None:
                    self.skipTest("a process may not look into its child here")
                self.assertTrue(found)

    # --- http ------------------------------------------------------------------------------------

    def test_requests_are_answered_and_the_connection_is_kept(self):
        with self.serve("http") as server, server.connect() as client:
            for _ in range(3):
                client.sendall(REQUEST)
                self.assertEqual(read_exactly(client, len(KEPT)), KEPT)

    def test_requests_that_come_together_are_each_answered(self):
        with self.serve("http") as server, server.connect() as client:
            client.sendall(REQUEST * 2)
            self.assertEqual(read_exactly(client, 2 * len(KEPT)), 2 * KEPT)
            client.sendall(REQUEST * 700)
            self.assertEqual(read_exactly(client, 700 * len(KEPT)), 700 * KEPT)

    def test_a_request_may_come_in_parts(self):
        with self.serve("http") as server, server.connect() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # The next part leaves when an answer shows that the last one was read.
            for cut in (1, 20, len(REQUEST) - 3, len(REQUEST) - 1):
                client.sendall(REQUEST + REQUEST[:cut])
                self.assertEqual(read_exactly(client, len(KEPT)), KEPT)
                client.sendall(REQUEST[cut:])
                self.assertEqual(read_exactly(client, len(KEPT)), KEPT)

    def test_a_connection_ends_as_http_says(self):
        for head, answer in (
                (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", CLOSING),
                (b"GET / HTTP/1.1\r\nCONNECTION:Close\r\nHost: a\r\n\r\n", CLOSING),
                (REQUEST_1_0, CLOSING),
                (b"GET / HTTP/1.0\r\n\r\n", CLOSING)):
            with self.subTest(head), self.serve("http") as server, server.connect() as client:
                client.sendall(head)
                self.assertEqual(read_exactly(client, len(answer)), answer)
                self.assertEqual(client.recv(1), b"")

    def test_an_old_client_may_ask_to_stay(self):
        with self.serve("http") as server, server.connect() as client:
            for _ in range(2):
                client.sendall(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: a\r\n\r\n")
                self.assertEqual(read_exactly(client, len(KEPT)), KEPT)

    def test_nothing_is_answered_after_the_last_request(self):
        with self.serve("http") as server, server.connect() as client:
            client.sendall(REQUEST + REQUEST_1_0 + REQUEST)
            self.assertEqual(read_exactly(client, len(KEPT + CLOSING)), KEPT + CLOSING)
            self.assertEqual(client.recv(1), b"")

    def test_a_request_without_end_ends_its_connection_only(self):
        with self.serve("http") as server, server.connect() as stays, server.connect() as client:
            with contextlib.suppress(OSError):  # A reset, if it is quick.
                client.sendall(b"GET / HTTP/1.1\r\n" + b"X-Long: 0123456789\r\n" * 10_000)
                self.assertEqual(client.recv(1), b"")
            stays.sendall(REQUEST)
            self.assertEqual(read_exactly(stays, len(KEPT)), KEPT)

    # --- the process -----------------------------------------------------------------------------

    def test_it_ends_when_asked(self):
        with Server(self.peer["command"], "echo", self.threads) as server, server.connect() as client:
            client.sendall(b"x")
            read_exactly(client, 1)
            self.assertEqual(server.end(), 0)

    def test_a_port_that_is_taken_is_an_error(self):
        for shared in (False, True):
            with self.subTest(shared=shared), socket.socket() as other:
                if shared:
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                other.bind(("127.0.0.1", 0))
                other.listen()
                code, said = self.refused("--workload", "echo", "--threads", str(self.threads),
                                          "--port", str(other.getsockname()[1]))
                self.assertEqual(code, 1)
                self.assertRegex(said, TAKEN)


class Starting(PeerCase):
    def test_arguments_that_it_does_not_know_are_errors(self):
        for arguments, named in ((["--wrong"], "--wrong"), (["--workload", "udp"], "udp"),
                                 (["--threads", "none"], "none"), (["--port", "65536"], "65536"),
                                 (["--port"], "--port"), ([], "--port")):
            with self.subTest(arguments):
                code, said = self.refused(*arguments)
                self.assertEqual(code, 2)
                self.assertIn(named, said)

    def test_it_tells_its_version(self):
        said = subprocess.run([*self.peer["command"], "--version"], capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=True).stdout
        self.assertEqual(said, self.peer["version"] + "\n")
        self.assertEqual(len(said.split(" ")), 3)

    def test_more_threads_than_it_can_use_are_an_error(self):
        most = self.peer["threads_max"]
        if most is None:
            self.skipTest("it can use any number")
        code, said = self.refused("--workload", "echo", "--port", "0", "--threads", str(most + 1))
        self.assertEqual(code, 2)
        self.assertIn(str(most + 1), said)


def make_suite(peers: list[dict]) -> unittest.TestSuite:
    suite = unittest.TestSuite()
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    for peer in peers:
        suite.addTest(load(type(peer["name"], (Starting,), {"peer": peer})))
        for threads in range(1, min(peer["threads_max"] or 2, 2) + 1):
            name = f"{peer['name']}_on_{threads}"
            suite.addTest(load(type(name, (Serving,), {"peer": peer, "threads": threads})))
    return suite


def main(arguments: list[str]) -> int:
    build = Path(__file__).resolve().parent.parent / "build/release"
    if arguments[:1] == ["--build"]:
        build, arguments = Path(arguments[1]), arguments[2:]
    try:
        peers = json.loads((build / "lab/peers/peers.json").read_text(encoding="utf-8"))
    except OSError as error:
        print(f"no peers are built: {error}")
        return SKIPPED
    for peer in peers:
        if peer["missing"]:
            print(f"absent: {peer['name']}: {peer['missing']}")
    present = [peer for peer in peers if not peer["missing"]]
    if not present:
        return SKIPPED
    runner = unittest.TextTestRunner(verbosity=2 if "-v" in arguments else 1)
    return 0 if runner.run(make_suite(present)).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
