#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Per cent of whom, and of what: a table that has them the wrong way round looks just as good.
"""Checks baseline_tables.py on runs that are made up."""

import unittest

import baseline_tables
import evidence
import tables
from evidence import Run

FAMILIES = {"gyre_uring": "gyre", "asio_callback": "asio", "raw_uring": "floor"}
METRICS = {"throughput": ("ops/s", "higher"), "transfer": ("MB/s", "higher"),
           "cpu": ("ns/op", "lower"), "busy": ("%", "higher")}


def run_of(values, case="ab_close", drift=(1.0, 1.1, 0.9)):
    """`values`: requests per second of each contender; all else follows from it."""
    def row(name, metric, value):
        unit, better = METRICS[metric]
        samples = [value / each if metric == "cpu" else value * each for each in drift]
        return {"suite": "baseline", "case": case, "contender": name, "metric": metric,
                "unit": unit, "better": better, "samples": samples,
                "median": evidence.summarise(samples).median}

    rows = [row(name, metric, value)
            for name, rate in values.items()
            for metric, value in (("throughput", rate), ("transfer", rate * 120 / 1e6),
                                  ("cpu", 5e8 / rate), ("busy", 50.0))]
    return Run({"machine": {}, "rows": rows, "controls": [],
                "contenders": [{"name": each, "family": FAMILIES[each]} for each in values]})


class PerCent(unittest.TestCase):
    RUN = run_of({"gyre_uring": 20_400.0, "asio_callback": 15_000.0, "raw_uring": 20_000.0})

    def table(self, run=RUN):
        return baseline_tables.pair_table(run, "gyre_uring", "raw_uring", "Without SQPOLL")

    def test_a_server_is_per_cent_of_the_plain_one(self):
        only = self.table().rows[0]
        self.assertEqual(only.label, "apache bench (120 bytes)")
        self.assertEqual([each.text for each in only.cells],
                         ["102% (102-102)", "102% (102-102)", "98% (98-98)"])

    def test_absolute_values_stand_beside_it(self):
        self.assertEqual(self.table().rows[0].winner, "20.4 K/s : 20.0 K/s")

    def test_without_the_plain_server_there_is_no_table(self):
        self.assertIsNone(self.table(run_of({"gyre_uring": 1.0, "asio_callback": 1.0})))

    def test_all_tables_can_be_drawn_and_their_order_is_per_cent_first(self):
        found = tables.tables_of(self.RUN, "baseline")
        self.assertIn("as per cent of raw_uring", found[0].title)
        drawn = "\n".join(map(tables.draw, found))
        self.assertIn("20.4", drawn)
        self.assertNotIn("gyre_epoll", drawn)

    def test_nobody_wins_by_being_busy(self):
        busy = baseline_tables.busy_table(self.RUN)
        self.assertEqual([each.text for each in busy.rows[0].cells], ["50%"] * 3)
        self.assertFalse(any(each.winner for each in busy.rows[0].cells))


if __name__ == "__main__":
    unittest.main()
