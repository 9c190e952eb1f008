#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Cases have their names in C++; tables, goals and causes look for them in Python. A case that is renamed
# there would be measured, and fall out of the report without a word.
"""names_test.py BUILD: holds the names that the report knows against those that the programs list."""

import fnmatch
import sys
import unittest
from pathlib import Path

import causes
import echo_tables
import evidence
import exchange_tables
import goals
import sample_run
import tables
from bench import Bench
from evidence import Run

BUILD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/release")
UNITS = {"throughput": "ops/s", "orders_rate": "ops/s"}


def listed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for scale in ("quick", "full"):
        cases, missing = Bench(BUILD, scale).cases(list(evidence.HEADLINES))
        if missing:
            raise AssertionError(f"suites without cases: {missing}")
        for each in cases:
            if each.name not in found.setdefault(each.suite, []):
                found[each.suite].append(each.name)
    return found


def run_of(suite: str, case: str) -> Run:
    """Two contenders in one case, in each metric that is judged or decides there."""
    metrics = {evidence.headline_of(suite, case, []), *evidence.judged_metrics(suite, case), "cpu",
               "throughput"}
    rows = [{"suite": suite, "case": case, "contender": name, "metric": metric, "better": "lower",
             "unit": UNITS.get(metric, "us"), "samples": [1.0, 1.0]}
            for metric in metrics for name in ("gyre_uring", "asio_callback")]
    return Run({"machine": {}, "rows": [row | {"median": 1.0} for row in rows],
                "contenders": [{"name": "gyre_uring", "family": "gyre"},
                               {"name": "asio_callback", "family": "asio"}]})


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.listed = listed()

    def check_patterns(self, what: str, suite: str, patterns: str) -> None:
        for pattern in patterns.split():
            with self.subTest(what, pattern=pattern):
                self.assertTrue(fnmatch.filter(self.listed[suite], pattern))

    def test_each_goal_has_its_cases(self):
        for goal in goals.GOALS:
            if isinstance(goal, goals.Rise):
                for threads in (1, 2, 4, 8):
                    self.check_patterns(goal.text, goal.suite, goal.pattern.format(threads))
            else:
                self.check_patterns(goal.text, goal.suite, goal.cases)

    def test_each_cause_has_its_cases(self):
        for each in causes.CAUSES:
            self.check_patterns(each.text, each.suite, each.cases)

    def test_what_is_judged_otherwise_is_there(self):
        for suite, pattern in (*evidence.CASE_JUDGED, *evidence.CASE_HEADLINES):
            self.check_patterns("evidence", suite, pattern)

    def test_each_case_stands_in_a_table_of_its_suite(self):
        for suite, cases in self.listed.items():
            for case in cases:
                with self.subTest(suite=suite, case=case):
                    drawn = [each for each in tables.tables_of(run_of(suite, case), suite) if each.rows]
                    self.assertTrue(drawn)

    def test_the_names_that_are_taken_apart_can_be(self):
        for suite in (exchange_tables.SUITE, exchange_tables.TUNING_SUITE):
            self.assertTrue(all(map(exchange_tables.parse_case, self.listed[suite])))
        matrix = {f"{size}_{count}" for size in echo_tables.MESSAGES for count in echo_tables.CONNECTIONS}
        self.assertEqual(matrix - set(self.listed["echo"]), set())

    def test_the_made_up_run_makes_up_no_case(self):
        made_up = Run(sample_run.document())
        for suite in made_up.suites():
            self.assertEqual(set(made_up.cases(suite)) - set(self.listed[suite]), set(), suite)


if __name__ == "__main__":
    unittest.main()
