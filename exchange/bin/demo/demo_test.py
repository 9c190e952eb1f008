#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of demo.py: what it reads, chooses and hears. exchange/tests/judges/page_judge.py runs the exchange.

Run it directly, or with `python3 -m unittest exchange/bin/demo/demo_test.py`.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import demo  # noqa: E402  (the path must be known first)

SUPERVISOR = """\
#!/bin/sh
trap 'echo "traders: sent 5 messages"; echo "traders: everything agrees"; {last}' TERM
echo "facility: ready: all of it"
echo "traders: seed 1"
echo "ready: 1 children"
while :; do sleep 0.05; done
"""


class ConfigurationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "run"

    def test_comments_are_left_out_and_addresses_are_none(self):
        self.assertEqual(demo.read_config('{"origin": "http://a" // "b": 1\n}'), {"origin": "http://a"})

    def test_each_port_is_found_once_and_none_in_a_comment(self):
        self.folder.mkdir()
        for name, text in (("a", '"at": "127.0.0.1:70", // "127.0.0.1:71"'), ("b", '"of": "127.0.0.1:70"')):
            (self.folder / f"{name}.json").write_text(text, encoding="utf-8")
        self.assertEqual(demo.ports_of(self.folder), [70])
        self.assertIn(7103, demo.ports_of(demo.CONFIGURATION))

    def test_a_copy_says_the_same_where_only_its_owner_reads_it(self):
        made = demo.prepare(demo.CONFIGURATION, self.folder, with_free_ports=False)
        source = demo.read_config((demo.CONFIGURATION / "gateway.json").read_text(encoding="utf-8"))
        self.assertEqual(made["gateway.json"], source)
        self.assertEqual(Path(made["web.json"]["page"]), demo.ROOT / "exchange" / "web" / "page")
        self.assertEqual({each.stat().st_mode & 0o777 for each in self.folder.iterdir()}, {0o600})

    def test_a_port_that_is_replaced_is_so_in_all_files(self):
        before = demo.prepare(demo.CONFIGURATION, self.folder, with_free_ports=False)
        made = demo.prepare(demo.CONFIGURATION, self.folder, with_free_ports=True)
        gateway, web = made["gateway.json"], made["web.json"]
        self.assertNotEqual(web["at"], before["web.json"]["at"])
        self.assertEqual(gateway["facility"]["at"], made["exchange.json"]["gateways"]["at"])
        self.assertEqual(gateway["order_entry"]["websocket_origin"], f"http://{web['at']}")
        self.assertEqual(web["order_entry"], gateway["order_entry"]["websocket_at"])
        self.assertNotEqual(made["exchange.json"]["feed"]["to"], before["exchange.json"]["feed"]["to"])
        self.assertEqual(made["distributor.json"]["feed"]["from"], made["exchange.json"]["feed"]["to"])
        texts = "".join(each.read_text(encoding="utf-8") for each in self.folder.glob("*.json"))
        old = {str(each) for each in demo.ports_of(demo.CONFIGURATION)}
        self.assertEqual(old & set(re.findall(r"127\.0\.0\.1:(\d+)", texts)), set())

    def test_a_port_that_is_taken_is_named(self):
        self.folder.mkdir()
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with self.subTest(kind), socket.socket(socket.AF_INET, kind) as held:
                # Below those that the kernel gives away.
                low = 20_000 + os.getpid() % 8_000
                port = next(each for each in range(low, 32_000) if demo.is_free(each))
                held.bind(("127.0.0.1", port))
                if kind == socket.SOCK_STREAM:
                    held.listen()
                (self.folder / "a.json").write_text(f'"127.0.0.1:{port}"', encoding="utf-8")
                with self.assertRaisesRegex(demo.Trouble, f"127.0.0.1: {port}\\."):
                    demo.check_ports(self.folder)
            demo.check_ports(self.folder)


class FiguresTest(unittest.TestCase):
    def test_a_quantile_is_of_what_came_between(self):
        before, after = [[10, 5], [20, 5]], [[10, 6], [20, 5], [30, 98], [40, 1]]
        self.assertEqual(demo.quantile(before, after, 0.005), 10)
        self.assertEqual(demo.quantile(before, after, 0.5), 30)
        self.assertEqual(demo.quantile(before, after, 0.999), 40)
        self.assertIsNone(demo.quantile(after, after, 0.5))

    def test_a_pulse_is_per_second(self):
        before = {"commands": 100, "feed_messages": 0, "orders_resting": 7}, [[1000, 1]]
        after = {"commands": 500, "feed_messages": 1000, "orders_resting": 9}, [[1000, 1], [50000, 10]]
        self.assertEqual(demo.Pulse.told(2.0, before, after),
                         "  200 orders/s, 9 rest in the books,   500 messages of the feed/s, "
                         "inside p50 50 us, p99 50 us")
        self.assertNotIn("p50", demo.Pulse.told(2.0, before, (after[0], before[1])))

    def test_a_process_that_is_away_is_no_pulse(self):
        self.assertEqual(demo.Pulse("127.0.0.1:1").line(), "the facility does not answer")


class ExchangeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def started(self, last: str) -> demo.Exchange:
        program = self.folder / "exchange_supervisor"
        program.write_text(SUPERVISOR.replace("{last}", last), encoding="utf-8")
        program.chmod(0o700)
        made = demo.Exchange(self.folder, self.folder)
        self.assertTrue(made.ready.wait(60))
        return made

    def test_what_traders_say_in_the_end_is_kept(self):
        exchange = self.started("exit 0")
        exchange.end()
        self.assertEqual(exchange.said, ["sent 5 messages", "everything agrees"])
        self.assertEqual(exchange.faults, [])
        self.assertIn("facility: ready: all of it", exchange.log.read_text(encoding="utf-8"))

    def test_a_supervisor_that_ends_badly_is_a_fault(self):
        exchange = self.started("exit 3")
        exchange.end()
        self.assertEqual(exchange.faults, ["the supervisor ended with 3"])

    def test_what_has_died_or_not_ended_well_is_a_fault(self):
        for was, how, faults in (
            ("ready", "killed by SIGKILL", ["gateway has died (killed by SIGKILL)"]),
            ("ready", "exited with 0", ["gateway has died (exited with 0)"]),
            ("draining", "exited with 1", ["gateway has not ended well (exited with 1)"]),
            ("draining", "exited with 0", []),
            ("replaced", "exited with 0", []),
            ("replaced", "killed by SIGKILL", ["gateway has not ended well (killed by SIGKILL)"]),
        ):
            with self.subTest(was=was, how=how):
                event = {"process": "exchange_supervisor", "event": "child_ended", "name": "gateway",
                         "how": how, "was": was}
                (self.folder / "event").write_text(json.dumps(event), encoding="utf-8")
                exchange = self.started(f"cat {self.folder}/event; exit 0")
                exchange.end()
                self.assertEqual(exchange.faults, faults)

    def test_a_replacement_that_failed_is_a_fault(self):
        event = {"process": "exchange_supervisor", "event": "replacement_failed", "name": "gateway",
                 "how": "exited with 1"}
        (self.folder / "event").write_text(json.dumps(event), encoding="utf-8")
        exchange = self.started(f"cat {self.folder}/event; exit 0")
        exchange.end()
        self.assertEqual(exchange.faults, ["gateway could not be replaced (exited with 1)"])


class ProgramTest(unittest.TestCase):
    """The whole of it, with a supervisor that only says that it is ready."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        programs = self.build / "exchange" / "bin"
        programs.mkdir(parents=True)
        self.supervisor = programs / "exchange_supervisor"
        self.say("exit 0")

    def say(self, last: str) -> None:
        self.supervisor.write_text(SUPERVISOR.replace("{last}", last), encoding="utf-8")
        self.supervisor.chmod(0o700)

    def start(self, *words: str) -> subprocess.Popen:
        started = subprocess.Popen(
            [sys.executable, "-B", demo.__file__, "--build", self.build, "--free-ports", "--no-measuring",
             *words], stdout=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(started.stdout.close)
        return started

    def test_it_ends_by_itself(self):
        begun = time.monotonic()
        done = self.start("--seconds", "1")
        said = done.communicate(timeout=120)[0]
        self.assertEqual(done.returncode, 0, said)
        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.assertRegex(said, r"page      http://127\.0\.0\.1:\d+/\n")
        self.assertIn("traders: everything agrees\n", said)
        self.assertIn("Next: ", said)

    def test_signals_end_it_in_order(self):
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(each):
                running = self.start("--seconds", "0")
                while "page  " not in running.stdout.readline():
                    pass
                running.send_signal(each)
                said = running.communicate(timeout=120)[0]
                self.assertEqual(running.returncode, 0, said)
                self.assertIn("traders: everything agrees\n", said)

    def test_what_went_wrong_makes_its_status(self):
        self.say("exit 3")
        done = self.start("--seconds", "1")
        said = done.communicate(timeout=120)[0]
        self.assertEqual(done.returncode, 1)
        self.assertIn("demo: the supervisor ended with 3\n", said)

    def test_an_exchange_that_cannot_start_is_told(self):
        self.supervisor.write_text("#!/bin/sh\nexit 2\n", encoding="utf-8")
        done = self.start()
        self.assertIn("demo: the exchange could not be started", done.communicate(timeout=120)[0])
        self.assertEqual(done.returncode, 1)

    def test_the_supervisor_hears_of_its_end_by_a_pipe(self):
        self.supervisor.write_text('#!/bin/sh\necho "ready: 1"\neval "cat <&$EXCHANGE_LIFELINE"\n'
                                   'echo > "$0.ended"\n', encoding="utf-8")
        running = self.start("--seconds", "0")
        while "page  " not in running.stdout.readline():
            pass
        running.kill()
        running.wait()
        end = time.monotonic() + 60
        ended = Path(f"{self.supervisor}.ended")
        while not ended.exists() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertTrue(ended.exists())


if __name__ == "__main__":
    unittest.main()
