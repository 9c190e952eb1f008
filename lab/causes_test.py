# SPDX-License-Identifier: BSL-1.0
#
# A cause beside the wrong row, or one whose source says nothing of the kind, misleads.
"""Checks causes.py."""

import unittest
from pathlib import Path

import causes
import evidence

ROOT = Path(__file__).resolve().parent.parent


class Causes(unittest.TestCase):
    def test_a_row_finds_its_cause(self):
        found = causes.cause_of("timers", "fire_rate_1us", "cpu", "gyre_epoll")
        self.assertIn("timer slack", found.text)
        self.assertIsNone(causes.cause_of("timers", "fire_rate_1us", "cpu", "gyre_uring"))
        self.assertIsNone(causes.cause_of("latency", "tcp_64", "mean", "gyre_uring"))

    def test_a_cause_is_of_some_metrics(self):
        def found(case, metric):
            return causes.cause_of("exchange", case, metric, "gyre_epoll")

        self.assertIn("one sweep", found("7_filled_100000", "orders_rate").text)
        self.assertIn("waking", found("7_filled_10000", "p50").text)
        self.assertIsNone(found("7_filled_10000", "p99.9"))
        self.assertIsNone(found("7_filled_unbounded", "p50"))

    def test_a_case_may_have_one_cause_for_each_metric(self):
        def found(metric):
            return causes.cause_of("baseline", "wrk_close", metric, "gyre_uring").text

        self.assertIn("client", found("throughput"))
        self.assertIn("accept", found("cpu"))

    def test_every_cause_has_a_suite_and_a_source_that_exist(self):
        for each in causes.CAUSES:
            self.assertIn(each.suite, evidence.HEADLINES)
            self.assertTrue((ROOT / each.source).is_file(), each.source)


if __name__ == "__main__":
    unittest.main()
