# SPDX-License-Identifier: BSL-1.0
#
# Who takes part in what is decided before the first number, so a mistake there shows in none.
"""Checks bench.py with programs that only say what they know, or nonsense."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

import bench
from bench import Bench, Case, Contender
from fake_bench import FLOOR, OURS


class ListingBench(Bench):
    """Programs that only know their cases."""

    def __init__(self, contenders, listings):
        self.contenders = contenders
        self.asked = []
        self._scale = "quick"
        self._listings = listings

    def _start(self, contender, arguments, cores):
        self.asked.append(contender.command[0])
        return "\n".join(json.dumps({"suite": suite, "case": case, "description": "", "threads": 1})
                         for suite, case in self._listings[contender.command[0]])


class AnsweringBench(Bench):
    """A program that prints the same to everybody."""

    def __init__(self, text):
        self._scale = "quick"
        self._text = text

    def _start(self, contender, arguments, cores):
        return self._text


class SeveralPrograms(unittest.TestCase):
    def test_each_suite_is_listed_by_the_first_program_that_takes_part_in_it(self):
        programs = ListingBench(
            [Contender("ours", "gyre", ("a",), ("dispatch", "echo")),
             Contender("theirs", "asio", ("b",), ("dispatch",)),
             Contender("ours", "gyre", ("c",), ("exchange",))],
            {"a": [("dispatch", "post"), ("echo", "64_1")], "c": [("exchange", "1_empty_1000")]})
        suites = ["dispatch", "echo", "exchange"]
        self.assertEqual([(each.suite, each.name) for each in programs.cases(suites)],
                         [("dispatch", "post"), ("echo", "64_1"), ("exchange", "1_empty_1000")])
        self.assertEqual(programs.asked, ["a", "c"])

    def test_who_takes_part_in_no_suite_that_is_wanted_is_not_asked(self):
        programs = ListingBench([OURS, Contender("ours", "gyre", ("c",), ("exchange",))],
                             {"c": [("exchange", "1_empty_1000"), ("dispatch", "post")]})
        self.assertEqual([each.name for each in programs.cases(["exchange"])], ["1_empty_1000"])
        self.assertEqual(programs.asked, ["c"])


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
        self.assertEqual([each.name for each in found], ["swift", "dodo"])
        self.assertEqual(found[0].command, ("lab_peer", "--backend", "swift"))
        self.assertEqual([[Path(part).name for part in each.programs] for each in found],
                         [["peers.json", "swift"], ["peers.json"]])
        self.assertTrue(found[0].takes_part(Case("echo", "block_1K_1", "", 2)))
        self.assertTrue(found[0].takes_part(Case("echo", "threads_2_block_1K_1", "", 3)))
        self.assertFalse(found[0].takes_part(Case("echo", "64_1000", "", 2)))

    def test_one_that_setup_has_seen_may_refuse_more_threads_than_it_has_and_nothing_else(self):
        [seen] = self.found([{"name": "swift", "family": "birds", "command": ["swift"], "workloads": ["echo"],
                              "missing": None, "version": "swift 1 epoll", "threads_max": 1}])
        one, two = Case("echo", "block_1K_1", "", 2), Case("echo", "threads_2_block_1K_1", "", 3)
        programs = AnsweringBench('{"cannot_run": "status 1"}')
        self.assertEqual(programs.run(seen, one),
                         {"cannot_run": "is listed as one that serves: status 1", "broken": True})
        self.assertEqual(programs.run(seen, two), {"cannot_run": "status 1"})
        self.assertEqual(programs.run(OURS, one), {"cannot_run": "status 1"})

    def test_without_a_list_there_are_none_and_somebody_says_so(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as name, redirect_stderr(said):
            self.assertEqual(bench.peers_of(Path(name)), [])
        self.assertIn("./dev lab setup", said.getvalue())

    def test_floors_stand_behind_everybody_else(self):
        peer = Contender("swift", "birds", ("lab_peer",), ("echo",))
        self.assertEqual([each.name for each in bench.floor_last([OURS, FLOOR, peer])],
                         ["gyre_uring", "swift", "raw_syscalls"])


if __name__ == "__main__":
    unittest.main()
