# SPDX-License-Identifier: BSL-1.0
#
# Two busy programs on one core would be measured as two slow ones, and a disturbance that one sitting has
# seen must not vanish behind a quiet last one.
"""Tests of machine.py."""

import os
import subprocess
import unittest
from unittest import mock

import machine


def cores_for(threads: int, processors: set[int], core_of) -> set[int] | None:
    with mock.patch("os.sched_getaffinity", return_value=processors), \
            mock.patch("machine.physical_core_of", core_of):
        return machine.cores_for(threads)


class Cores(unittest.TestCase):
    def test_they_are_the_last_ones(self):
        self.assertEqual(cores_for(2, {0, 1, 2, 3}, lambda each: each), {2, 3})

    def test_processors_that_share_a_core_come_after_all_others(self):
        self.assertEqual(cores_for(2, {0, 1, 2, 3}, lambda each: each // 2), {1, 3})
        self.assertEqual(cores_for(2, {0, 1, 2, 3}, lambda each: each % 2), {2, 3})
        self.assertEqual(cores_for(3, {0, 1, 2, 3}, lambda each: each // 2), {1, 2, 3})

    def test_there_are_none_where_none_can_be_spared(self):
        self.assertIsNone(cores_for(1, {0}, lambda each: each))
        self.assertIsNone(cores_for(3, {0, 1}, lambda each: each))


class Kernel(unittest.TestCase):
    def test_what_it_says_of_siblings_is_read(self):
        for text, core in (("4-5\n", 4), ("2,34\n", 2), ("7\n", 7), ("", 6)):
            with mock.patch("pathlib.Path.read_text", return_value=text):
                self.assertEqual(machine.physical_core_of(6), core)
        self.assertEqual(machine.physical_core_of(100_000), 100_000)

    def test_whether_cores_are_shared_is_part_of_every_result(self):
        built = {"compiler": "", "flags": "", "build_type": ""}
        for text, said in (("1\n", "on"), ("0\n", "off"), ("?", "not exposed")):
            with mock.patch("pathlib.Path.read_text", return_value=text):
                self.assertEqual(machine.smt(), said)
        self.assertEqual(machine.facts(built)["smt"], machine.smt())


class Sources(unittest.TestCase):
    def test_a_result_names_the_commit_or_says_that_it_does_not_know(self):
        for done, said in ((mock.Mock(stdout="5628244-dirty\n"), "5628244-dirty"),
                           (mock.Mock(stdout=""), "unknown")):
            with mock.patch("subprocess.run", return_value=done):
                self.assertEqual(machine.sources(), said)
        for failure in (FileNotFoundError("git"), subprocess.TimeoutExpired("git", 10)):
            with mock.patch("subprocess.run", side_effect=failure):
                self.assertEqual(machine.sources(), "unknown")


def record(case, seconds, steal, load):
    return {"suite": "echo", "case": case, "seconds": seconds, "steal_percent": steal, "load_average": load}


class Disturbances(unittest.TestCase):
    def test_the_worst_and_the_mean_are_told_and_which_cases_were_robbed(self):
        found = machine.disturbances([record("a", 30.0, 4.0, 2.0), record("b", 90.0, 0.0, 1.0)])
        self.assertEqual(found, {"steal_percent": 1.0, "steal_percent_max": 4.0, "load_average_mean": 1.5,
                                 "load_average_max": 2.0, "cases_with_steal_above_1_percent": "echo a 4.0 %"})

    def test_a_quiet_run_has_none(self):
        found = machine.disturbances([record("a", 0.0, 0.0, 0.5)])
        self.assertEqual((found["steal_percent"], found["cases_with_steal_above_1_percent"]), (0.0, "none"))


class Identity(unittest.TestCase):
    def test_other_cores_are_another_machine(self):
        with mock.patch.object(os, "sched_getaffinity", return_value={0, 1}):
            both = machine.identity()
        with mock.patch.object(os, "sched_getaffinity", return_value={1}):
            one = machine.identity()
        self.assertTrue(both.endswith("cores 0,1") and one.endswith("cores 1"), (both, one))


if __name__ == "__main__":
    unittest.main()
