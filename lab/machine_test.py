# SPDX-License-Identifier: BSL-1.0
#
# A disturbance that one sitting has seen must not vanish behind a quiet last one.
"""Checks what machine.py says of a run that was measured piece by piece."""

import os
import unittest
from unittest import mock

import machine


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
