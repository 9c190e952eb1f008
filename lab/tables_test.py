# SPDX-License-Identifier: BSL-1.0
#
# What a cell says must be what the rounds say, however few they are; report_test.py has whole tables.
"""Checks tables.py on rows of two rounds."""

import unittest

import tables
from evidence import Run


def document(**samples) -> dict:
    rows = [{"suite": "dispatch", "case": "post", "contender": name, "metric": "throughput",
             "unit": "Mops/s", "better": "higher", "samples": values} for name, values in samples.items()]
    return {"machine": {}, "rows": rows}


class Winner(unittest.TestCase):
    def test_of_two_rounds_a_ratio_is_their_middle(self):
        run = Run(document(gyre_uring=[2.0, 3.0], asio_callback=[1.0, 1.0]))
        self.assertEqual(tables.find_winner(run, "dispatch", "post", "throughput"),
                         ("gyre_uring", "gyre_uring 2.50x"))


if __name__ == "__main__":
    unittest.main()
