#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A server that does other work than the others must not get a row, so each way of doing so is tried here.
"""Tests of baseline_server.py."""

import os
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from baseline_server import (Child, Refused, Server, Unusable, free_port, response,
                             switches_between)

# A server that is right, or wrong in the one way that its first argument names.
PROGRAM = r"""
import selectors, signal, socket, sys

fault, port = sys.argv[1], int(sys.argv[sys.argv.index("--port") + 1])
sys.path.insert(0, sys.argv[2])
from baseline_server import response

def answer(connection, asked):
    while b"\r\n\r\n" in asked:
        request, asked = asked.split(b"\r\n\r\n", 1)
        old = b"HTTP/1.0" in request and b"Keep-Alive" not in request
        stays = not old and b"close" not in request
        reply = response(stays)
        if fault == "another body":
            reply = reply.replace(b"nothing", b"NOTHING")
        if fault == "a byte more":
            reply += b"!"
        connection.sendall(reply)
        if fault == "one answer only":
            asked = b""
        if not stays and fault != "never closes":
            forget(connection)
            return b""
    return b"" if fault == "whole requests only" else asked

def forget(connection):
    connections.unregister(connection)
    connection.close()

if fault == "ends at once":
    sys.exit("port 1: Address already in use")
status = 3 if fault == "ends badly" else 0
signal.signal(signal.SIGTERM, lambda *_: sys.exit(status))
listener = socket.create_server(("127.0.0.1", port))
print("steady" if fault == "says something else" else "ready", flush=True)
connections = selectors.DefaultSelector()
connections.register(listener, selectors.EVENT_READ)
unfinished = {}
while True:
    for key, _ in connections.select():
        if key.fileobj is listener:
            accepted = listener.accept()[0]
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, fault != "small messages wait")
            connections.register(accepted, selectors.EVENT_READ)
            continue
        arrived = key.fileobj.recv(4096)
        asked = unfinished.pop(key.fileobj, b"") + arrived
        if arrived:
            unfinished[key.fileobj] = answer(key.fileobj, asked)
        else:
            forget(key.fileobj)
"""


def start(fault: str) -> Server:
    here = os.path.dirname(os.path.abspath(__file__))
    return Server([sys.executable, "-c", PROGRAM, fault, here])


class Verification(unittest.TestCase):
    def fault_of(self, fault: str) -> str:
        with start(fault) as server, self.assertRaises(Unusable) as caught:
            server.verify()
        return str(caught.exception)

    def fault_of_silence(self, fault: str) -> str:
        with mock.patch("baseline_server.ANSWER_SECONDS_MAX", 1.0):
            return self.fault_of(fault)

    def test_a_server_that_is_right_is_accepted(self):
        with start("none") as server:
            self.assertTrue(server.verify())
            server.stop()

    def test_a_server_that_lets_small_messages_wait_is_an_error(self):
        self.assertEqual(self.fault_of("small messages wait"), "the server does not set TCP_NODELAY")

    def test_what_cannot_be_looked_up_is_not_seen(self):
        with start("none") as server, mock.patch("baseline_server.no_delay_at", return_value=None):
            self.assertFalse(server.verify())

    def test_another_body_of_the_same_length_is_an_error(self):
        self.assertIn("There is NOTHING here.", self.fault_of("another body"))

    def test_a_byte_more_is_an_error(self):
        self.assertRegex(self.fault_of("a byte more"), "keep-alive: b'!HTTP")

    def test_one_answer_to_two_requests_is_an_error(self):
        self.assertIn("verifying: timed out", self.fault_of_silence("one answer only"))

    def test_a_server_that_needs_whole_requests_is_an_error(self):
        self.assertRegex(self.fault_of_silence("whole requests only"), "verifying: timed out")

    def test_a_server_that_does_not_close_is_an_error(self):
        self.assertRegex(self.fault_of_silence("never closes"), "verifying: timed out")

    def test_the_response_has_120_bytes_either_way(self):
        self.assertEqual({len(response(each)) for each in (True, False)}, {120})


class Lives(unittest.TestCase):
    def test_what_a_server_says_last_is_why_it_has_not_started(self):
        with mock.patch("baseline_server.free_port", side_effect=[1, 2, 3]) as port, \
                self.assertRaisesRegex(Refused, "^port 1: Address already in use$"):
            start("ends at once")
        self.assertEqual(port.call_count, 3)  # It was given others before that was believed.

    def test_who_says_something_else_is_not_ready(self):
        with self.assertRaisesRegex(Unusable, "'steady' and not 'ready'"):
            start("says something else")

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(Unusable, "could not be started"):
            Server(["/nowhere/at/all"])

    def test_who_ends_without_a_word_has_failed_and_refused_nothing(self):
        for code, status in (("sys.exit(3)", "3"), ("os.kill(os.getpid(), 11)", "-11"),
                             ("print('lost', file=sys.stderr, flush=True); os.abort()", "-6")):
            with self.assertRaisesRegex(Unusable, f"ended with status {status}$"):
                Child([sys.executable, "-c", f"import os, sys; {code}"])

    def test_who_says_nothing_is_not_ready(self):
        with mock.patch("baseline_server.READY_SECONDS_MAX", 0.1), \
                self.assertRaisesRegex(Unusable, "has not become ready"):
            Child(["cat"])

    def test_a_child_is_asked_for_one_line_after_the_other(self):
        with Child(["sh", "-c", "echo first; read it; echo second; read it; echo why >&2; exit 1"]) as child:
            self.assertEqual((child.said, child.ask()), ("first", "second"))
            with self.assertRaisesRegex(Unusable, "^why$"):
                child.ask()

    def test_who_has_ended_meanwhile_has_no_answer(self):
        with Child(["sh", "-c", "echo first; exit 1"]) as child:
            os.waitid(os.P_PID, child.id, os.WEXITED | os.WNOWAIT)
            with self.assertRaisesRegex(Unusable, "ended with status 1"):
                child.ask()

    def test_a_server_that_ends_badly_is_an_error(self):
        with start("ends badly") as server, self.assertRaisesRegex(Unusable, "status 3"):
            server.stop()

    def test_a_server_that_was_killed_meanwhile_leaves_nothing_behind(self):
        with start("none") as server:
            process = server.id
        with self.assertRaises(ProcessLookupError):
            os.kill(process, 0)

    def test_a_server_does_not_outlive_who_has_started_it(self):
        starter = ("import os, sys; sys.path.insert(0, "
                   f"{os.path.dirname(os.path.abspath(__file__))!r}); "
                   "import baseline_server_test as test; server = test.start('none'); "
                   "print(server.id, flush=True); os.kill(os.getpid(), 9)")
        done = subprocess.run([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 10
        status = Path("/proc", done.stdout.strip(), "status")
        while status.exists() and "zombie" not in status.read_text(encoding="utf-8"):
            self.assertLess(time.monotonic(), deadline, "it is still running")

    def test_its_processor_time_is_its_own(self):
        with start("none") as server:
            before = server.processor_seconds()
            until = time.process_time() + 0.05
            while time.process_time() < until:
                pass
            self.assertLess(server.processor_seconds() - before, 0.02)
            for _ in range(5):
                server.verify()
            self.assertGreater(server.processor_seconds(), before)
            self.assertGreater(server.context_switches()[str(server.id)], 0)

    def test_context_switches_are_known_unless_a_thread_has_ended(self):
        before = {"1": 100, "2": 10}
        self.assertEqual(switches_between(before, {"1": 103, "2": 10, "3": 7}), 10)
        self.assertIsNone(switches_between(before, {"1": 103}))
        self.assertIsNone(switches_between(before, {"1": 103, "2": 4}))

    def test_a_free_port_is_free(self):
        with socket.create_server(("127.0.0.1", free_port())):
            pass


if __name__ == "__main__":
    unittest.main()
