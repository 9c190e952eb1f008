# SPDX-License-Identifier: BSL-1.0
#
# Who takes part in what is decided before the first number, so a mistake there shows in none.
"""Checks bench.py with programs that only say what they know, or nonsense."""

import io
import json
import subprocess
import tempfile
import time
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from unittest import mock

import bench
import setup
from bench import Bench, Case, Contender
from fake_bench import CASE, FLOOR, OURS


CELL = Case("exchange", "1_empty_1000", "", 2)


class ListingBench(Bench):
    """Programs that only know their cases."""

    def __init__(self, contenders, listings):
        self.contenders = contenders
        self.asked = []
        self._scale = "quick"
        self._listings = listings

    def _start(self, contender, arguments, cores):
        self.asked.append(contender.command[0])
        if isinstance(self._listings[contender.command[0]], Exception):
            raise self._listings[contender.command[0]]
        return "\n".join(json.dumps({"suite": suite, "case": case, "description": "", "threads": 1})
                         for suite, case in self._listings[contender.command[0]])


class AnsweringBench(Bench):
    """A program that prints the same to everybody, or ends in some other way."""

    def __init__(self, answer):
        self._scale = "quick"
        self._answer = answer

    def _start(self, contender, arguments, cores):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


GOOD = {"metric": "throughput", "unit": "Mops/s", "better": "higher", "value": 1.5}


def report(*metrics, **more) -> str:
    return json.dumps({"library": "gyre", "version": "1", "backend": "uring", "metrics": metrics} | more)


class Reports(unittest.TestCase):
    """Whatever a program prints, there is a row, or a reason why there is none."""

    def broken(self, answer) -> str:
        found = AnsweringBench(answer).run(OURS, CASE)
        self.assertTrue(found.pop("broken"))
        self.assertEqual(list(found), ["cannot_run"])
        return found["cannot_run"]

    def test_a_good_one_is_taken_as_it_is(self):
        text = report(GOOD, GOOD | {"metric": "cpu", "value": 0}, by_second=[])
        self.assertEqual(AnsweringBench(text).run(OURS, CASE), json.loads(text))

    def test_a_refusal_is_taken_at_its_word(self):
        self.assertEqual(AnsweringBench('{"cannot_run": "no ring"}').run(OURS, CASE),
                         {"cannot_run": "no ring"})

    def test_what_is_no_object_is_broken(self):
        for text in ("", "\ufffd", "[" * 100_000):
            self.assertRegex(self.broken(text), "printed what is no JSON")
        for text in ("null", "[]", "1.5"):
            self.assertEqual(self.broken(text), "printed JSON that is no object")

    def test_what_lacks_something_is_broken(self):
        self.assertRegex(self.broken(json.dumps({"metrics": [GOOD]})), "did not say all of library")
        self.assertRegex(self.broken(report(GOOD, library=None)), "did not say all of library")
        for metrics in (None, 3, {}, [3]):
            self.assertEqual(self.broken(report(metrics=metrics)), "reported no list of metrics")
        self.assertEqual(self.broken(report()), "reported nothing as its throughput")

    def test_a_metric_that_is_none_is_broken(self):
        for wrong in ({"metric": None}, {"unit": 3}, {"better": "more"}):
            self.assertRegex(self.broken(report(GOOD | wrong)), "reported a metric that is none")
        self.assertRegex(self.broken(report(GOOD, GOOD)), "reported a metric that is none")
        for value in (None, "1", True, float("nan"), float("inf"), 10**400, [], 0, -1):
            self.assertRegex(self.broken(report(GOOD | {"value": value})), "reported .* as its throughput")

    def test_the_headline_of_who_fell_short_of_its_rate_is_another_one(self):
        rate = [GOOD | {"metric": "orders_rate"}, GOOD | {"metric": "saturated", "value": 1}]
        self.assertEqual(len(bench.parse_report(report(*rate), CELL)["metrics"]), 2)
        with self.assertRaisesRegex(bench.Broken, "reported nothing as its p50"):
            bench.parse_report(report(*rate[:1]), CELL)

    def test_a_program_that_cannot_be_pinned_or_started_is_broken(self):
        for error in (subprocess.SubprocessError("preexec_fn"), OSError("no such file")):
            self.assertEqual(self.broken(error), f"could not be started: {error}")
        self.assertEqual(self.broken(subprocess.CalledProcessError(2, "a", stderr="b\nc\n")),
                         "failed with status 2: c")
        self.assertRegex(self.broken(subprocess.TimeoutExpired("a", 1)), "did not finish within")

    def test_bytes_that_are_no_text_are_broken_like_any_nonsense(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "lab").mkdir()
            (folder / "lab/build_info.json").write_text('{"contenders": []}', encoding="utf-8")
            with redirect_stderr(io.StringIO()):
                programs = Bench(folder, "quick")
            noise = Contender("noise", "gyre", ("/bin/sh", "-c", "printf '\\377\\376'"), ("dispatch",))
            self.assertRegex(programs.run(noise, CASE)["cannot_run"], "printed what is no JSON")


class SeveralPrograms(unittest.TestCase):
    def test_each_suite_is_listed_by_the_first_program_that_takes_part_in_it(self):
        programs = ListingBench(
            [Contender("ours", "gyre", ("a",), ("dispatch", "echo")),
             Contender("theirs", "asio", ("b",), ("dispatch",)),
             Contender("ours", "gyre", ("c",), ("exchange",))],
            {"a": [("dispatch", "post"), ("echo", "64_1")], "c": [("exchange", "1_empty_1000")]})
        suites = ["dispatch", "echo", "exchange"]
        found, missing = programs.cases(suites)
        self.assertEqual([(each.suite, each.name) for each in found],
                         [("dispatch", "post"), ("echo", "64_1"), ("exchange", "1_empty_1000")])
        self.assertEqual(missing, {})
        self.assertEqual(programs.asked, ["a", "c"])

    def test_who_takes_part_in_no_suite_that_is_wanted_is_not_asked(self):
        programs = ListingBench([OURS, Contender("ours", "gyre", ("c",), ("exchange",))],
                             {"c": [("exchange", "1_empty_1000"), ("dispatch", "post")]})
        self.assertEqual([each.name for each in programs.cases(["exchange"])[0]], ["1_empty_1000"])
        self.assertEqual(programs.asked, ["c"])

    def test_who_cannot_list_is_followed_by_the_next_and_suites_without_cases_are_told(self):
        programs = ListingBench(
            [OURS, Contender("theirs", "asio", ("b",), ("dispatch",)),
             Contender("theirs", "asio", ("c",), ("timers",))],
            {"a": OSError("gone"), "b": [("dispatch", "post")], "c": []})
        found, missing = programs.cases(["dispatch", "echo", "http", "timers"])
        self.assertEqual([(each.suite, each.name) for each in found], [("dispatch", "post")])
        self.assertEqual(missing, {
            "echo": "gyre_uring was asked for its cases and could not be started: gone",
            "http": bench.NOBODY, "timers": bench.NOBODY})

    def test_who_is_given_up_is_ended_with_all_that_it_has_started(self):
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder, "child")
            script = f"sleep 600 & echo $! > {told}.part; mv {told}.part {told}; wait"

            with self.assertRaises(subprocess.TimeoutExpired):
                bench.run_whole(["sh", "-c", script], 2.0, None)
            child = int(told.read_text(encoding="ascii"))
            state = Path("/proc", str(child), "stat")
            deadline = time.monotonic() + 10
            while state.exists() and state.read_text(encoding="ascii").rsplit(") ", 1)[1][0] != "Z":
                self.assertLess(time.monotonic(), deadline, "it runs on")

    def test_a_listing_may_say_how_many_turns_are_a_round(self):
        line = {"suite": "a", "case": "b", "description": "", "threads": 1}
        found = [bench.parse_listing(json.dumps(line | more))[0].turns for more in ({}, {"turns": 4})]
        self.assertEqual(found, [1, 4])

    def test_a_listing_that_is_none_is_broken(self):
        for text in ("[]", "null", '{"suite": "echo"}', '{"suite": "a", "case": "b", "description": "",'
                     ' "threads": "many"}'):
            with self.assertRaisesRegex(bench.Broken, "listed a case that is none"):
                bench.parse_listing(text)
        with self.assertRaisesRegex(bench.Broken, "printed what is no JSON"):
            bench.parse_listing("usage: a [OPTIONS]")


class Fingerprints(unittest.TestCase):
    """Figures of other programs must not be put together."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "lab").mkdir()
        (self.folder / "lab/build_info.json").write_text('{"contenders": []}', encoding="utf-8")
        self.programs = Bench(self.folder, "quick")

    def assert_part_of(self, contender, program):
        before = self.programs.fingerprint([contender])
        program.write_text("another", encoding="utf-8")
        self.assertNotEqual(self.programs.fingerprint([contender]), before, program.name)

    def test_what_plays_the_baseline_is_part_of_them_for_those_who_take_part(self):
        baseline = Contender("ours", "gyre", ("/elsewhere/baseline.py", "--server", "a"), ("baseline",))
        lab = self.folder / "lab"
        for name in ("lab_baseline_echo", "lab_baseline_calls", "ab", "wrk", "baseline_clients.py",
                     "baseline_server.py"):
            with mock.patch.object(bench, "BASELINE", str(lab / "baseline.py")), \
                    mock.patch.object(bench.shutil, "which", lambda each: str(lab / each)):
                self.assert_part_of(baseline, lab / name)
        before = self.programs.fingerprint([OURS])
        (lab / "lab_baseline_echo").write_text("newer", encoding="utf-8")
        self.assertEqual(self.programs.fingerprint([OURS]), before)


class Peers(unittest.TestCase):
    """What lab/setup.py leaves behind, as contenders."""

    def found(self, listed) -> list[Contender]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "swift").write_text("", encoding="utf-8")
            (folder / "peers.json").write_text(json.dumps(listed), encoding="utf-8")
            return bench.peers_of(folder)

    def test_a_program_that_echoes_is_a_contender_whether_it_is_there_or_not(self):
        missing = {"missing": "no compiler", "version": None}
        found = self.found([
            {"name": "swift", "family": "birds", "command": ["swift", "--fast"],
             "workloads": ["echo", "http"], "missing": None, "version": "swift 1 epoll"},
            {"name": "dodo", "family": "birds", "command": ["dodo"], "workloads": ["echo"]} | missing,
            {"name": "ab", "family": "tools", "command": ["ab"], "workloads": ["http"]} | missing])
        self.assertEqual([(each.name, each.suites[0]) for each in found],
                         [("swift", "echo"), ("swift", "baseline"), ("dodo", "echo"), ("ab", "baseline")])
        self.assertEqual(found[0].command, ("lab_peer", "--backend", "swift"))
        self.assertEqual([[Path(part).name for part in each.programs] for each in found],
                         [["peers.json", "swift"], ["peers.json", "swift"], ["peers.json"], ["peers.json"]])
        self.assertEqual([each.absent for each in found], [None, None, "no compiler", "no compiler"])
        self.assertEqual((Path(found[1].command[0]).name, found[1].command[1], found[1].command[3]),
                         ("baseline.py", "--folder", "--server"))
        self.assertRegex(found[1].command[4], "^/.*/start/swift$")
        self.assertTrue(found[1].takes_part(Case("baseline", "ab_close", "", 2)))
        self.assertTrue(found[0].takes_part(Case("echo", "block_1K_1", "", 2)))
        self.assertTrue(found[0].takes_part(Case("echo", "threads_2_block_1K_1", "", 3)))
        self.assertFalse(found[0].takes_part(Case("echo", "64_1000", "", 2)))

    def test_one_that_setup_has_seen_may_refuse_more_threads_than_it_has_and_nothing_else(self):
        seen, _ = self.found([{"name": "swift", "family": "birds", "command": ["swift"],
                               "workloads": ["echo", "http"], "missing": None,
                               "version": "swift 1 epoll", "threads_max": 1}])
        one, two = Case("echo", "block_1K_1", "", 2), Case("echo", "threads_2_block_1K_1", "", 3)
        programs = AnsweringBench('{"cannot_run": "status 1"}')
        self.assertEqual(programs.run(seen, one),
                         {"cannot_run": "is listed as one that serves: status 1", "broken": True})
        self.assertEqual(programs.run(seen, two), {"cannot_run": "status 1"})
        self.assertEqual(programs.run(OURS, one), {"cannot_run": "status 1"})

    def test_without_a_list_all_that_setup_knows_are_missing_and_say_why(self):
        with tempfile.TemporaryDirectory() as name:
            for reason in ("has not run", "is no JSON"):
                found = bench.peers_of(Path(name))
                self.assertEqual({each.name for each in found},
                                 {peer.name for each in setup.PROGRAMS for peer in each.peers})
                self.assertTrue(all(reason in each.absent and "./dev lab setup" in each.absent
                                    for each in found))
                (Path(name) / "peers.json").write_text("[{", encoding="utf-8")

    def test_who_is_absent_says_so_and_is_not_started(self):
        programs = AnsweringBench(AssertionError("it was started"))
        dodo = Contender("dodo", "birds", ("lab_peer",), ("dispatch",), absent="no compiler")
        self.assertEqual(programs.run(dodo, CASE), {"cannot_run": "no compiler"})
        programs.contenders = [dodo]
        self.assertEqual(programs.cases(["dispatch"]), ([], {"dispatch": bench.NOBODY}))

    def test_floors_stand_behind_everybody_else(self):
        peer = Contender("swift", "birds", ("lab_peer",), ("echo",))
        self.assertEqual([each.name for each in bench.floor_last([OURS, FLOOR, peer])],
                         ["gyre_uring", "swift", "raw_syscalls"])


if __name__ == "__main__":
    unittest.main()
