#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A figure of the wrong process, of a cached compiler or of fewer connections looks like a good one.
"""Tests of cost.py and cost_probes.py that need no build."""

import json
import os
import shlex
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import cost
import cost_probes as probes
from baseline_server import Refused, Unusable
from cost_probes import Program

# Listens, says where, and sends back what comes. It keeps some memory for each connection, and says that it
# has allocated as often as it is told to, at its start and for each message.
SERVER = r"""#!{python}
import os, selectors, signal, socket, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
def allocate():
    if name := os.environ.get("LAB_ALLOCATIONS"):
        with open(name, "r+b") as file:
            count = int.from_bytes(file.read(), "little") + {allocations}
            file.seek(0)
            file.write(count.to_bytes(8, "little"))
allocate()
listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
print(listener.getsockname()[1], flush=True)
waiting = selectors.DefaultSelector()
waiting.register(listener, selectors.EVENT_READ)
kept = []
while True:
    for key, _ in waiting.select():
        if key.fileobj is listener:
            waiting.register(listener.accept()[0], selectors.EVENT_READ)
            kept.append(b"x" * {bytes_each})
        elif arrived := key.fileobj.recv(64):
            allocate()
            key.fileobj.sendall({answer})
        else:
            waiting.unregister(key.fileobj)
            key.fileobj.close()
"""


def program_in(folder: str, bytes_each: int = 0, answer: str = "arrived", allocations: int = 3) -> Program:
    program = Program(Path(folder), "lab_minimal_test")
    text = SERVER.format(python=sys.executable, bytes_each=bytes_each, answer=answer, allocations=allocations)
    program.file.write_text(text, encoding="utf-8")
    program.file.chmod(0o755)
    return program


class Compiling(unittest.TestCase):
    def command(self, words: str, program: str = "lab_minimal_gyre") -> tuple[list[str], str]:
        """`words` are how it is compiled, with OUT for the output."""
        other = {"command": "no -o CMakeFiles/lab_minimal_gyre_leases.dir/x.o", "directory": "/no"}
        wanted = {"command": words.replace("OUT", f"CMakeFiles/{program}.dir/x.o"), "directory": "/build"}
        return probes.compile_command([other, wanted], "lab_minimal_gyre")

    def test_the_build_s_command_without_its_output_at_o2(self):
        self.assertEqual(self.command("clang++ -Iinclude -O0 -o OUT -c gyre.cpp"),
                         (["clang++", "-Iinclude", "-O0", "-c", "gyre.cpp", "-O2"], "/build"))

    def test_a_launcher_that_caches_is_left_out(self):
        self.assertEqual(self.command("/usr/bin/ccache g++ -o OUT -c a.cpp")[0][0], "g++")

    def test_a_program_that_the_build_does_not_compile_is_an_error(self):
        with self.assertRaisesRegex(Unusable, "does not compile lab_minimal_gyre"):
            self.command("clang++ -o OUT -c gyre.cpp", program="gyre")

    def compile(self, code: str) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            command = shlex.join([sys.executable, "-c", code, "-o", "lab/test.dir/x.o"])
            Path(folder, "compile_commands.json").write_text(
                json.dumps([{"command": command, "directory": folder}]), encoding="utf-8")
            return probes.compile_time(Program(Path(folder, "lab"), "test"))

    def test_what_a_compiler_spends_is_its_own_and_its_children_s(self):
        spin = ("import os, time; os.fork() or os._exit(any(time.process_time() > 0.2 for _ in iter(int, 1)))"
                "; os.wait()")
        found = self.compile(spin)
        self.assertGreater(found["compile"], 0.2)
        self.assertLess(found["compile"], 5.0)
        self.assertGreaterEqual(found["compile_wall"], 0.2)

    def test_no_cache_is_asked(self):
        self.compile("import os; assert os.environ['CCACHE_DISABLE'] == '1'")

    def test_a_source_that_does_not_compile_is_an_error_that_says_why(self):
        with self.assertRaisesRegex(Unusable, "test does not compile: no luck"):
            self.compile("import sys; sys.exit('no luck')")


class Sizes(unittest.TestCase):
    def test_text_and_data_are_added(self):
        text = "   text\t   data\t    bss\t    dec\tfilename\n 161000\t   2000\t    500\t 163500\tx\n"
        self.assertEqual(probes.parse_size(text), 163_000)
        with self.assertRaisesRegex(Unusable, "size has printed ''"):
            probes.parse_size("")

    def test_symbols_do_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Program(Path(folder), "lab_minimal_test")
            program.file.write_bytes(Path(sys.executable).resolve().read_bytes() + bytes(1 << 20))
            found = probes.program_size(program)
            self.assertLess(1024 * found["file"], program.file.stat().st_size - (1 << 20) + 4096)
            self.assertLess(found["text_and_data"], found["file"] + 1024)

    def test_a_tool_that_is_missing_is_named(self):
        with mock.patch("shutil.which", return_value=None), \
                self.assertRaisesRegex(Refused, "size is not installed"):
            probes.program_size(Program(Path("/"), "x"))


class Idle(unittest.TestCase):
    def test_memory_is_read_in_bytes(self):
        text = "55d0-7ffc ---p 00000000 00:00 0    [rollup]\nRss:    3204 kB\nAnonymous:    128 kB\n"
        self.assertEqual(probes.parse_memory(text), {"Rss": 3204 * 1024, "Anonymous": 128 * 1024})
        with self.assertRaisesRegex(Refused, "cannot be looked at"):
            probes.memory_of(0)

    def test_a_connection_costs_what_the_server_keeps_for_it(self):
        with tempfile.TemporaryDirectory() as folder:
            small = probes.idle_connections(program_in(folder, 0), 100)
            large = probes.idle_connections(program_in(folder, 100_000), 100)
        self.assertAlmostEqual(large["per_connection"] - small["per_connection"], 100_000, delta=10_000)
        self.assertGreater(large["rss_with_all"], large["rss"] + 9)

    def test_a_server_with_another_answer_has_no_figures(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(Unusable, "did not come back"):
            probes.idle_connections(program_in(folder, answer="b'!'"), 10)

    def test_too_few_descriptors_are_a_reason(self):
        with mock.patch("resource.getrlimit", return_value=(1024, 4096)):
            self.assertRaisesRegex(Refused, "10,000 connections need 10,200 descriptors, and the hard limit "
                                   "is 4,096", probes.raise_descriptor_limit, 10_000)

    def setUp(self):
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)


class Steady(unittest.TestCase):
    # Sends one message, and ten when it is asked to.
    LOAD = r"""#!{python}
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def play(count):
    for _ in range(count):
        peer.sendall(b"?")
        peer.recv(1)
play(1)
print("warm", flush=True)
sys.stdin.readline()
play(10)
print(10, flush=True)
sys.stdin.read()
"""

    def play(self, load=LOAD, allocations=3, **counted) -> probes.SteadyCost:
        with tempfile.TemporaryDirectory() as folder:
            program = program_in(folder, allocations=allocations)
            clients = Path(folder, probes.STEADY_LOAD)
            clients.write_text(load.format(python=sys.executable), encoding="utf-8")
            clients.chmod(0o755)
            counter = mock.Mock(**counted)
            with mock.patch.object(probes, "CallCounter", return_value=counter):
                return probes.steady_state(program, 0.1, counts_calls=True)

    def test_costs_are_those_of_the_measured_requests(self):
        found = self.play(refusal=None, **{"read.return_value": 25})
        self.assertEqual((found.figures["allocations"], found.figures["system_calls"]), (3.0, 2.5))
        self.assertGreater(found.figures["rss_busy"], 1)

    def test_a_counter_that_does_not_count_is_an_error_and_no_zero(self):
        with self.assertRaisesRegex(Unusable, "does not count"):
            self.play(allocations=0, refusal=None)

    def test_what_the_load_says_of_a_server_is_an_error_and_no_refusal(self):
        with self.assertRaisesRegex(Unusable, "^the load: the answer differs$"):
            self.play("#!{python}\nimport sys; sys.exit('the answer differs')")
        with self.assertRaisesRegex(Unusable, "^the answer differs$"):
            self.play("#!{python}\nimport sys; print('warm', flush=True); sys.exit('the answer differs')",
                      refusal=None)

    def test_without_a_counter_the_reason_stands_there(self):
        found = self.play(refusal="no tracefs", **{"read.return_value": None})
        self.assertEqual(found.system_calls_not_counted, "no tracefs")
        self.assertNotIn("system_calls", found.figures)


class Playing(unittest.TestCase):
    NOWHERE = Program(Path("/nowhere"), "lab_minimal_gyre")

    def test_a_library_that_is_missing_is_a_reason(self):
        self.assertEqual(cost.play(cost.find_case("compile_time"), 0, self.NOWHERE, lacking="no libuv"),
                         {"cannot_run": "no libuv"})

    def test_a_program_that_is_missing_is_an_error(self):
        with self.assertRaisesRegex(Unusable, "was not built"):
            cost.play(cost.find_case("program_size"), 0, self.NOWHERE)

    def test_what_a_probe_refuses_is_a_reason(self):
        with mock.patch.object(probes, "idle_connections", side_effect=Refused("too few")), \
                tempfile.TemporaryDirectory() as folder:
            self.assertEqual(cost.play(cost.find_case("idle_connections"), 9, program_in(folder)),
                             {"cannot_run": "too few"})

    def test_calls_are_counted_in_one_case_only(self):
        with tempfile.TemporaryDirectory() as folder:
            for each in ("compile_time", "program_size", "idle_connections"):
                self.assertEqual(cost.play(cost.find_case(each), 9, program_in(folder), counts_calls=True),
                                 {"metrics": []})

    def test_every_case_is_listed_and_has_its_rounds(self):
        self.assertEqual([(each.name, each.rounds("quick"), each.rounds("full")) for each in cost.CASES],
                         [("steady_state", 0, 0), ("idle_connections", 0, 3), ("program_size", 1, 1),
                          ("compile_time", 1, 0)])
        self.assertEqual(cost.find_case("idle_connections").size("full"), 10_000)


if __name__ == "__main__":
    unittest.main()
