#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A matrix of nine units: a column under the header of its neighbour would be believed.
"""Checks cost_tables.py on runs that are made up."""

import unittest

import cost_tables
import evidence
import tables
from cost import UNITS
from evidence import Run

FAMILIES = {"gyre_uring": "gyre", "gyre_epoll": "gyre", "asio_coroutine": "asio"}
PLACES = {metric: case for _, case, metric in cost_tables.COLUMNS}
OURS = {"compile": 1.0, "text_and_data": 161.0, "file": 164.0, "rss": 3.14, "rss_busy": 3.25,
        "per_connection": 952.0, "allocations": 0.0, "system_calls": 0.24}
THEIRS = {each: 2 * value + 1 for each, value in OURS.items()}


def run_of(values: dict[str, dict[str, float]]) -> Run:
    rows = [{"suite": "cost", "case": PLACES[metric], "contender": name, "metric": metric,
             "unit": UNITS[metric], "better": "lower", "samples": [value], "median": value}
            for name, figures in values.items() for metric, value in figures.items()]
    return Run({"machine": {}, "rows": rows, "controls": [],
                "contenders": [{"name": each, "family": FAMILIES[each]} for each in values]})


RUN = run_of({"gyre_uring": OURS, "gyre_epoll": {"per_connection": 819.2}, "asio_coroutine": THEIRS})


class Matrix(unittest.TestCase):
    def line(self, contender: str, run: Run = RUN) -> dict[str, str]:
        table = cost_tables.matrix(run)
        row = next(each for each in table.rows if each.label == contender)
        return dict(zip(table.columns, (each.text for each in row.cells), strict=True))

    def test_each_figure_stands_under_its_header(self):
        self.assertEqual(self.line("gyre_uring"), {
            "compile, s": "1.00", "of asio_coroutine": "33%", "text and data, KiB": "161",
            "file, KiB": "164", "RSS, MiB": "3.14", "busy, MiB": "3.25",
            "bytes per idle connection": "952", "allocations per request": "0",
            "system calls per request": "0.240"})

    def test_the_reference_is_all_of_itself(self):
        self.assertEqual(self.line("asio_coroutine")["of asio_coroutine"], "100%")

    def test_who_was_not_measured_at_something_has_a_dash(self):
        found = self.line("gyre_epoll")
        self.assertEqual(found.pop("bytes per idle connection"), "819")
        self.assertEqual(set(found.values()), {"-"})

    def test_without_the_reference_there_is_no_share(self):
        self.assertEqual(self.line("gyre_uring", run_of({"gyre_uring": OURS}))["of asio_coroutine"], "-")

    def test_nobody_wins_the_matrix(self):
        self.assertFalse(any(row.winner for row in cost_tables.matrix(RUN).rows))

    def test_who_has_no_cost_has_no_line(self):
        rows = cost_tables.matrix(run_of({"gyre_uring": OURS, "gyre_epoll": {}})).rows
        self.assertEqual([each.label for each in rows], ["gyre_uring"])

    def test_a_run_without_the_suite_has_no_matrix(self):
        self.assertIsNone(cost_tables.matrix(run_of({})))


class Drawing(unittest.TestCase):
    def test_all_tables_can_be_drawn_the_matrix_first(self):
        found = tables.tables_of(RUN, "cost")
        self.assertEqual(len(found), 3)
        self.assertIn("A minimal echo program", tables.draw(found[0]))
        self.assertIn("gyre_uring 3.00x", tables.draw(found[1]))

    def test_what_is_judged_has_a_table(self):
        self.assertEqual({metric for _, metric in cost_tables.JUDGED}, set(evidence.JUDGED["cost"]))


if __name__ == "__main__":
    unittest.main()
