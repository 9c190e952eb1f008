#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Every server of the suite, as it was built, keeps to the command line and sends the right bytes; one that
# only seems to would win.
"""Drives the servers in FOLDER.

    servers_test.py FOLDER
"""

import json
import random
import select
import socket
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from baseline_server import END_SECONDS_MAX, Server, free_port, verify_http  # noqa: E402

FOLDER = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path(".")
SERVERS = {
    "lab_baseline_gyre": ("io_uring", "epoll"),
    "lab_baseline_raw_uring": ("io_uring", "io_uring_sqpoll"),
    "lab_baseline_raw_epoll": ("epoll",),
    "lab_baseline_asio_callback": ("epoll",),
    "lab_baseline_asio_coroutine": ("epoll",),
    "lab_baseline_asio_callback_uring": ("io_uring",),
    "lab_baseline_asio_coroutine_uring": ("io_uring",),
}
COMMANDS = [[str(FOLDER / name), "--backend", backend]
            for name, backends in SERVERS.items() for backend in backends]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=END_SECONDS_MAX)


def send_until_stuck(peer: socket.socket, message: bytes) -> int:
    """Repeats `message` until both directions are full. Returns how many bytes were taken."""
    sent = 0
    while select.select([], [peer], [], 0.3)[1]:
        sent += peer.send(message[sent % len(message):], socket.MSG_DONTWAIT)
    return sent


class EveryServer(unittest.TestCase):
    def test_sends_the_right_response_however_it_is_asked(self):
        for command in COMMANDS:
            with self.subTest(command):
                with Server(command) as server:
                    server.verify()
                    for _ in range(200):  # More connections than it can have prepared for.
                        with socket.create_connection(("127.0.0.1", server.port)):
                            pass
                    server.verify()
                    server.stop()

    def test_serves_on_several_threads(self):
        for command in COMMANDS:
            with self.subTest(command):
                with Server(command, threads=3) as server:
                    for _ in range(12):
                        verify_http(server.port)
                    server.stop()

    def test_sends_back_what_comes_in_order(self):
        chooser = random.Random(20_110)
        for command in COMMANDS:
            with self.subTest(command):
                with Server(command, workload="echo") as server, \
                        socket.create_connection(("127.0.0.1", server.port), timeout=5) as peer:
                    for size in (1, 512, 2018, 4096, 100_000, 3):
                        message = chooser.randbytes(size)
                        peer.sendall(message)
                        returned = b""
                        while len(returned) < size:
                            returned += peer.recv(size)
                        self.assertEqual(returned, message)
                    server.stop()

    def test_waits_for_a_client_that_reads_late(self):
        message = random.Random(20_110).randbytes(1 << 20)
        for command in COMMANDS:
            with self.subTest(command):
                with Server(command, workload="echo") as server, \
                        socket.create_connection(("127.0.0.1", server.port), timeout=5) as peer:
                    sent = send_until_stuck(peer, message)
                    returned = b""
                    while len(returned) < sent:
                        returned += peer.recv(1 << 20)
                    repeated = message * (sent // len(message) + 1)
                    self.assertTrue(returned == repeated[:sent])

    def test_a_taken_port_is_one_line_and_1(self):
        for command in COMMANDS:
            with self.subTest(command):
                with socket.create_server(("127.0.0.1", free_port())) as taken:
                    ended = run(*command, "--port", str(taken.getsockname()[1]), "--workload", "http")
                self.assertEqual((ended.returncode, ended.stdout, ended.stderr.count("\n")), (1, "", 1))

    def test_an_unknown_argument_is_one_line_and_2(self):
        for command in COMMANDS:
            with self.subTest(command):
                for wrong in (["--speed", "high"], ["--workload", "ftp"], ["--port", "0"], []):
                    ended = run(*command, *wrong)
                    self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1), ended.stderr)

    def test_the_version_is_library_version_and_backend(self):
        for command in COMMANDS:
            with self.subTest(command):
                ended = run(*command, "--version")
                self.assertRegex(ended.stdout, rf"^\S+ \S+ {command[-1]}\n$")
                self.assertEqual(ended.returncode, 0)


def last_line_of(ended: subprocess.CompletedProcess) -> dict:
    return json.loads(ended.stdout.splitlines()[-1])


class Watchers(unittest.TestCase):
    def test_calls_that_could_not_be_counted_are_not_none_made(self):
        nobody = 2**31 - 1
        said = last_line_of(run(str(FOLDER / "lab_baseline_calls"), str(nobody)))
        self.assertNotIn("system_calls", said)
        self.assertTrue(said["system_calls_not_counted"])

    def test_the_echo_clients_say_how_busy_they_were_and_what_they_saw(self):
        said = last_line_of(run(
            str(FOLDER / "lab_baseline_echo"), "--connections", "3", "--message-bytes", "512",
            "--warm-up-ms", "20", "--measured-ms", "200", "--", str(FOLDER / "lab_baseline_raw_epoll")))
        self.assertIs(said["no_delay_seen"], True)
        self.assertGreater(said["memory_megabytes"], 0.5)
        self.assertLess(0, said["load_processor_seconds"])
        self.assertLessEqual(said["load_processor_seconds"], said["seconds"])


if __name__ == "__main__":
    unittest.main()
