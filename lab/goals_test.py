# SPDX-License-Identifier: BSL-1.0
#
# A goal that is met because nobody looked, or by the wrong direction of a metric, is worse than none.
"""Checks goals.py on runs that are made up."""

import unittest

import goals
import sample_run
from evidence import Run
from goals import Bound, Goal, Rise

NOISE = (1.0, 1.01, 0.99)
FAMILIES = {"gyre_uring": "gyre", "gyre_epoll": "gyre", "asio_callback": "asio", "libuv": "libuv",
            "raw_syscalls": "floor"}


def run_of(values: dict[str, dict[str, float]], suite="http", metric="throughput", unit="ops/s",
           better="higher", control: float | None = 1.0) -> Run:
    """`values`: by case, then by contender. With None for `control` nobody has been measured twice."""
    rows, controls = [], []
    for case, of_case in values.items():
        first = next(iter(of_case))
        everybody = dict(of_case)
        if control is not None:
            controls.append({"suite": suite, "case": case, "contender": first})
            everybody[first + " (control)"] = of_case[first] * control
        for name, value in everybody.items():
            rows.append({"suite": suite, "case": case, "contender": name, "metric": metric, "unit": unit,
                         "better": better, "samples": [value * each for each in NOISE]})
    return Run({"machine": {}, "rows": rows, "controls": controls,
                "contenders": [{"name": name, "family": family} for name, family in FAMILIES.items()]})


TWICE = Goal("twice", "http", "32", "throughput", factor=2.0)


class Ratios(unittest.TestCase):
    def test_a_goal_is_met_or_missed_by_the_median(self):
        for ours, verdict in ((2.1, goals.MET), (1.9, goals.MISSED)):
            found = goals.judge(run_of({"32": {"gyre_uring": ours, "asio_callback": 1.0}}), TWICE)
            self.assertEqual(found.verdict, verdict)
            self.assertIn(f"gyre_uring {ours:.2f}x ({ours:.2f} to {ours:.2f}) of asio_callback",
                          found.figures)

    def test_the_best_of_ours_stands_against_the_best_of_the_peers(self):
        values = {"32": {"gyre_uring": 1.0, "gyre_epoll": 2.2, "asio_callback": 1.0, "libuv": 1.2}}
        found = goals.judge(run_of(values), TWICE)
        self.assertEqual(found.verdict, goals.MISSED)
        self.assertIn("gyre_epoll 1.83x", found.figures)
        self.assertIn("of libuv", found.figures)

    def test_a_floor_is_a_peer_only_where_a_goal_names_it(self):
        values = {"32": {"gyre_uring": 2.2, "asio_callback": 1.0, "raw_syscalls": 2.0}}
        self.assertEqual(goals.judge(run_of(values), TWICE).verdict, goals.MET)
        against = Goal("", "http", "32", "throughput", "raw_syscalls", 2.0)
        self.assertEqual(goals.judge(run_of(values), against).verdict, goals.MISSED)

    def test_of_costs_less_is_better(self):
        values = {"32": {"gyre_uring": 1.04, "asio_callback": 1.0}}
        run = run_of(values, metric="cpu", unit="ns/op", better="lower")
        for allowed, verdict in ((1.05, goals.MET), (1.03, goals.MISSED)):
            goal = Goal("", "http", "32", "cpu", factor=goals.at_most(allowed))
            self.assertEqual(goals.judge(run, goal).verdict, verdict)

    def test_one_case_that_misses_is_enough_and_is_named(self):
        values = {each: {"gyre_uring": 3.0, "asio_callback": 1.0} for each in ("16", "32")}
        values["4"] = {"gyre_uring": 1.5, "asio_callback": 1.0}
        found = goals.judge(run_of(values), Goal("", "http", "4 16 3*", "throughput", factor=2.0))
        self.assertEqual(found.verdict, goals.MISSED)
        self.assertTrue(found.figures.startswith("2 of 3 cases; the farthest off is 4: "), found.figures)

    def test_void_cases_judge_nothing(self):
        values = {"32": {"gyre_uring": 3.0, "asio_callback": 1.0}}
        found = goals.judge(run_of(values, control=1.3), TWICE)
        self.assertEqual((found.verdict, found.figures), (goals.NOT_JUDGED, "void: 32"))

    def test_a_case_without_its_control_judges_nothing_and_is_counted(self):
        values = {"32": {"gyre_uring": 3.0, "asio_callback": 1.0}}
        goal = Goal("", "http", "*", "throughput", beyond_control=True)
        alone = goals.judge(run_of(values, control=None), goal)
        self.assertEqual((alone.verdict, alone.figures), (goals.NOT_JUDGED, "no control: 32"))
        two = run_of(values | {"16": values["32"]})
        del two.controlled["http", "16"]
        beside = goals.judge(two, goal)
        self.assertEqual(beside.verdict, goals.MET)
        self.assertTrue(beside.figures.endswith("; 1 no control"), beside.figures)

    def test_a_case_in_which_ours_broke_is_a_miss_and_one_where_nobody_asked_us_is_not(self):
        run = run_of({"32": {"asio_callback": 1.0}})
        self.assertEqual(goals.judge(run, TWICE).verdict, goals.NOT_JUDGED)
        broken = {"suite": "http", "case": "32", "contender": "gyre_uring", "reason": "it crashed",
                  "broken": True}
        found = goals.judge(Run(run.document | {"cannot_run": [broken]}), TWICE)
        self.assertEqual((found.verdict, found.figures),
                         (goals.MISSED, "32: gyre_uring has no row: it crashed"))

    def test_few_cases_of_many_are_enough_to_miss_a_goal_and_not_to_meet_it(self):
        for ours, verdict in ((3.0, goals.NOT_JUDGED), (1.5, goals.MISSED)):
            run = run_of({each: {"gyre_uring": ours, "asio_callback": 1.0} for each in ("1", "16", "32")})
            for case in ("1", "16"):
                del run.controlled["http", case]
            found = goals.judge(run, Goal("", "http", "*", "throughput", factor=2.0))
            self.assertEqual(found.verdict, verdict)
            self.assertTrue(found.figures.endswith("; 2 no control"), found.figures)

    def test_what_is_not_in_a_run_is_not_judged(self):
        found = goals.judge(run_of({"16": {"gyre_uring": 3.0, "asio_callback": 1.0}}), TWICE)
        self.assertEqual((found.verdict, found.figures), (goals.NOT_JUDGED, "not in this run"))

    def test_no_worse_allows_what_the_control_differs(self):
        values = {"32": {"gyre_uring": 0.97, "asio_callback": 1.0}}
        goal = Goal("", "http", "32", "throughput", beyond_control=True)
        self.assertEqual(goals.judge(run_of(values, control=1.04), goal).verdict, goals.MET)
        self.assertEqual(goals.judge(run_of(values, control=1.01), goal).verdict, goals.MISSED)

    def test_who_keeps_the_pace_is_not_slower_than_who_keeps_it_too(self):
        goal = Goal("", "http", "*", "throughput", beyond_control=True, paced="*_1000")
        document = run_of({"1_1000": {"gyre_uring": 999.99, "asio_callback": 1000.0}}).document
        self.assertEqual(goals.judge(Run(document), goal).verdict, goals.NOT_JUDGED)
        for behind, others in (("gyre_uring", "asio_callback"), ("asio_callback", "gyre_uring")):
            run = run_of({"1_1000": {behind: 900.0, others: 1000.0}})
            row = dict(run.document["rows"][0], contender=behind, metric="saturated", samples=[1.0] * 3)
            judged = goals.judge(Run(run.document | {"rows": [*run.document["rows"], row]}), goal)
            self.assertEqual(judged.verdict, goals.MISSED if behind == "gyre_uring" else goals.MET)
        unpaced = run_of({"1_unbounded": {"gyre_uring": 990.0, "asio_callback": 1000.0}})
        self.assertEqual(goals.judge(unpaced, goal).verdict, goals.MISSED)


class Others(unittest.TestCase):
    def test_a_bound_looks_at_the_worst_of_ours_alone_and_asks_for_no_control(self):
        values = {"32": {"gyre_uring": 700.0, "gyre_epoll": 900.0, "asio_callback": 5000.0}}
        for control in (1.0, 2.0, None):
            run = run_of(values, metric="idle_bytes", unit="B", better="lower", control=control)
            for most, verdict in ((1024.0, goals.MET), (800.0, goals.MISSED)):
                found = goals.judge(run, Bound("", "http", "*", "idle_bytes", most))
                self.assertEqual(found.verdict, verdict)
                self.assertIn("gyre_epoll 900", found.figures)

    def test_a_second_metric_is_asked_of_the_same_contender_against_the_same_peer(self):
        goal = Goal("", "http", "32", "throughput", factor=1.15, also="p99.99")
        values = {"gyre_uring": 1.3, "gyre_epoll": 1.0, "asio_callback": 1.0}
        for tail, verdict in ((0.9, goals.MET), (1.1, goals.MISSED)):
            run = run_of({"32": values})
            tails = run_of({"32": {"gyre_uring": tail, "gyre_epoll": 0.5, "asio_callback": 1.0}},
                           metric="p99.99", unit="us", better="lower")
            found = goals.judge(Run(run.document | {"rows": run.document["rows"] + tails.document["rows"]}),
                                goal)
            self.assertEqual(found.verdict, verdict, found)
            self.assertIn("gyre_uring 1.30x", found.figures)
            self.assertIn(f"p99.99 {1 / tail:.2f}x", found.figures)

    def test_throughput_may_not_fall_from_one_number_of_threads_to_the_next(self):
        rise = Rise("", "http", "threads_{}")
        for eight, verdict in ((3.0, goals.MET), (2.5, goals.MISSED)):
            values = {f"threads_{count}": {"gyre_uring": value}
                      for count, value in ((1, 1.0), (2, 2.0), (4, 2.9), (8, eight))}
            found = goals.judge(run_of(values), rise)
            self.assertEqual(found.verdict, verdict)
        self.assertIn("the farthest off is 8 threads: gyre_uring 0.86x of 4", found.figures)


class All(unittest.TestCase):
    def test_every_goal_finds_its_rows_in_a_run_of_all_suites(self):
        run = Run(sample_run.document())
        unjudged = [each.text for each in goals.judge_all(run)
                    if each.verdict == goals.NOT_JUDGED and each.suite in run.suites()]
        self.assertEqual(unjudged, [])

    def test_the_terminal_counts_them(self):
        lines = goals.lines(run_of({"32": {"gyre_uring": 3.0, "asio_callback": 1.0}}))
        self.assertEqual(lines[0], f"Goals: 1 met, 0 missed, {len(goals.GOALS) - 1} not judged.")
        self.assertIn("HTTP, 32 connections, one thread", lines[1])
        nothing = goals.lines(run_of({"post": {"asio_callback": 1.0}}))
        self.assertEqual(nothing, ["Goals: none of them can be judged by this run."])


if __name__ == "__main__":
    unittest.main()
