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
        found = causes.cause_of("timers", "fire_rate_1us", "gyre_epoll")
        self.assertIn("timer slack", found.text)
        self.assertIsNone(causes.cause_of("timers", "fire_rate_1us", "gyre_uring"))
        self.assertIsNone(causes.cause_of("latency", "tcp_64", "gyre_uring"))

    def test_the_first_that_fits_is_taken(self):
        found = {case: causes.cause_of("exchange", case, "gyre_epoll")
                 for case in ("7_filled_100000", "7_filled_1000", "7_filled_unbounded")}
        self.assertIn("one sweep", found["7_filled_100000"].text)
        self.assertIn("waking", found["7_filled_1000"].text)
        self.assertIsNone(found["7_filled_unbounded"])

    def test_every_cause_has_a_suite_and_a_source_that_exist(self):
        for each in causes.CAUSES:
            self.assertIn(each.suite, evidence.HEADLINES)
            self.assertTrue((ROOT / each.source).is_file(), each.source)


if __name__ == "__main__":
    unittest.main()
