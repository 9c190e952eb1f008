# SPDX-License-Identifier: BSL-1.0
#
# A change that is claimed and is none costs a day; one that is there and is not named ships.
"""Compares runs whose differences are known."""

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

import compare
import evidence

STEADY = [1.0, 1.01, 0.99, 1.005, 0.995]
NAMES = {"gyre_uring": "gyre", "gyre_epoll": "gyre", "asio_callback": "asio", "raw_uring": "floor"}


def row(contender, values, suite="dispatch", case="post", metric="throughput", better="higher"):
    return {"suite": suite, "case": case, "contender": contender, "metric": metric,
            "unit": "Mops/s", "better": better, "samples": [float(each) for each in values]}


def scaled(by, values=STEADY):
    return [by * each for each in values]


def document(rows, **machine):
    cases = {(each["suite"], each["case"]) for each in rows}
    return {"machine": {"cpu": "a", "kernel": "Linux 6"} | machine,
            "run": {"scale": "full", "repetitions": 5},
            "contenders": [{"name": name, "family": family} for name, family in NAMES.items()],
            "controls": [{"suite": suite, "case": case, "contender": "gyre_uring"}
                         for suite, case in cases],
            "rows": rows}


def usual(ours=20.0, control=20.0, theirs=10.0, floor=30.0):
    return document([row("gyre_uring", scaled(ours)), row("gyre_uring (control)", scaled(control)),
                     row("asio_callback", scaled(theirs, STEADY[::-1])),
                     row("raw_uring", scaled(floor))])


def changes(before, after, absolute=False):
    found = compare.changes(evidence.Run(before), evidence.Run(after), absolute)
    return {each.contender: each for each in found}


class Changes(unittest.TestCase):
    def test_a_run_has_not_changed_against_itself(self):
        found = changes(usual(), usual())
        self.assertEqual({each.verdict for each in found.values()}, {"no difference"})
        self.assertEqual({each.ratio for each in found.values()}, {1.0})

    def test_what_became_slower_is_worse_by_how_much(self):
        found = changes(usual(), usual(ours=15.0, control=15.0))
        self.assertEqual(found["gyre_uring"].verdict, "worse")
        self.assertAlmostEqual(found["gyre_uring"].ratio, 0.75, delta=0.01)
        self.assertLess(found["gyre_uring"].low, 0.75)
        self.assertGreater(found["gyre_uring"].high, 0.75)
        self.assertLess(found["gyre_uring"].high, 1.0)
        self.assertEqual(list(found), ["gyre_uring"])

    def test_less_of_what_should_be_little_is_better(self):
        def times(ours):
            how = ("latency", "tcp_64", "mean", "lower")
            return document([row("gyre_uring", scaled(ours), *how),
                             row("gyre_uring (control)", scaled(ours), *how),
                             row("asio_callback", scaled(9.0), *how)])

        found = changes(times(8.0), times(4.0))["gyre_uring"]
        self.assertEqual(found.verdict, "better")
        self.assertAlmostEqual(found.ratio, 2.0, delta=0.02)

    def test_a_slower_machine_is_no_change_unless_values_are_asked_for(self):
        slow = usual(ours=10.0, control=10.0, theirs=5.0, floor=15.0)
        found = changes(usual(), slow)
        self.assertNotIn("asio_callback", found)
        self.assertEqual({each.verdict for each in found.values()}, {"no difference"})
        values = changes(usual(), slow, absolute=True)
        self.assertEqual({name: each.verdict for name, each in values.items()}, {"gyre_uring": "worse"})

    def test_a_drift_that_all_share_is_no_change(self):
        drift = [1.0, 0.8, 0.6, 0.9, 0.7]
        after = document([row("gyre_uring", scaled(20.0, drift)),
                          row("gyre_uring (control)", scaled(20.0, drift)),
                          row("asio_callback", scaled(10.0, drift))])
        self.assertEqual(changes(usual(), after)["gyre_uring"].verdict, "no difference")

    def test_a_case_whose_control_varies_says_nothing(self):
        found = changes(usual(), usual(ours=15.0, control=20.0))
        self.assertEqual(found["gyre_uring"].verdict, "void")

    def test_a_case_that_lost_its_control_in_one_run_says_nothing(self):
        after = usual(ours=10.0, control=10.0)
        after["controls"] = []
        self.assertEqual(changes(usual(), after)["gyre_uring"].verdict, "no control")

    def test_what_two_rounds_suggest_is_undecided(self):
        def two(first, second):
            return document([row("gyre_uring", [first, second]),
                             row("gyre_uring (control)", [first, second]),
                             row("asio_callback", [10.0, 10.0])])

        self.assertEqual(changes(two(20.0, 24.0), two(18.0, 21.0))["gyre_uring"].verdict,
                         "undecided")

    def test_all_rows_are_judged_together(self):
        def rows(ours, cases):
            return document([row(name, each, case=case) for name in ("gyre_uring", "gyre_uring (control)")
                             for case, each in zip(cases, [ours] + [STEADY] * len(cases))])

        before, after = STEADY, scaled(0.985)  # By itself, one such row in fifty is chance.
        alone = changes(rows(before, ["0"]), rows(after, ["0"]))["gyre_uring"]
        self.assertEqual(alone.verdict, "worse")
        cases = [str(number) for number in range(50)]
        found = compare.changes(evidence.Run(rows(before, cases)), evidence.Run(rows(after, cases)))
        self.assertEqual({each.verdict for each in found if each.case == "0"}, {"undecided"})

    def test_rows_of_other_suites_and_single_rounds_are_no_family_of_a_row(self):
        def with_others(ours, count):
            rows = [row(name, ours) for name in ("gyre_uring", "gyre_uring (control)")]
            rows += [row("gyre_uring", STEADY, suite="latency", metric="mean", case=str(each))
                     for each in range(count)]
            rows += [row("gyre_uring", [1.0], case=str(each)) for each in range(count)]
            return document(rows)

        found = changes(with_others(STEADY, 50), with_others(scaled(0.985), 50))
        self.assertEqual([each.verdict for each in compare.changes(
            evidence.Run(with_others(STEADY, 50)), evidence.Run(with_others(scaled(0.985), 50)))
            if each.case == "post"], ["worse"])
        self.assertEqual(len(found), 1)

    def test_the_reference_is_the_best_row_of_asio_that_both_have(self):
        before = usual()
        before["contenders"].append({"name": "asio_spawn", "family": "asio"})
        before["rows"].append(row("asio_spawn", scaled(15.0)))
        self.assertEqual(changes(before, usual())["gyre_uring"].reference, "asio_callback")

    def test_by_itself_if_nobody_of_asio_took_part_in_both(self):
        alone = document([row("gyre_uring", scaled(20.0)), row("gyre_uring (control)", scaled(20.0))])
        found = changes(usual(), alone)["gyre_uring"]
        self.assertIsNone(found.reference)
        self.assertEqual(found.verdict, "no difference")

    def test_a_row_of_nothing_but_zeros_is_left_out(self):
        none = document([row("gyre_uring", [0.0] * 5), row("asio_callback", scaled(1.0))])
        self.assertEqual(changes(none, none), {})


class Drift(unittest.TestCase):
    def said(self, before, after, absolute=False):
        return compare.drift(evidence.Run(before), evidence.Run(after), absolute)

    def test_a_slower_machine_is_said_and_is_no_difference_of_peers(self):
        slow = usual(ours=10.0, control=10.0, theirs=5.0, floor=15.0)
        self.assertEqual(self.said(usual(), slow), [
            "the machine: peers are 0.50x as good as before by value (0.50x to 0.50x, 2 rows)"])

    def test_peers_that_changed_against_asio_are_a_machine_that_differs(self):
        self.assertEqual(self.said(usual(), usual(floor=24.0))[1:], [
            "the machine differs: in dispatch, peers changed by 0.80x to 0.80x in 1 of 1 rows"])
        self.assertEqual(self.said(usual(), usual(ours=10.0, control=10.0))[1:], [])


class Simulated(unittest.TestCase):
    """Three suites of twenty cases, with five contenders that are not ours, in rounds of 2 % scatter."""

    SEED = 20_261
    CONTENDERS = {"gyre_uring": "gyre", "gyre_epoll": "gyre", "asio_callback": "asio",
                  "asio_coroutine": "asio", "raw_uring": "floor", "tokio": "tokio", "go": "go"}

    def run_of(self, random, slow_suite=None, rounds=5) -> evidence.Run:
        rows = []
        for suite in ("dispatch", "http", "fan_out"):
            for case in range(20):
                for name in [*self.CONTENDERS, "gyre_uring (control)"]:
                    factor = 0.9 if suite == slow_suite and name.startswith("gyre") else 1.0
                    values = factor * numpy.exp(random.normal(0, 0.02, rounds))
                    rows.append(row(name, values, suite=suite, case=str(case)))
        given = document(rows)
        given["contenders"] = [{"name": name, "family": each} for name, each in self.CONTENDERS.items()]
        return evidence.Run(given)

    def named(self, random, slow_suite=None) -> list[compare.Change]:
        found = compare.changes(self.run_of(random), self.run_of(random, slow_suite))
        self.assertEqual(len(found), 120)
        return [each for each in found if each.verdict in ("worse", "better")]

    def test_a_tenth_slower_in_one_suite_is_named_there_and_nowhere_else(self):
        for seed in range(self.SEED, self.SEED + 5):
            named = self.named(numpy.random.default_rng(seed), slow_suite="http")
            worse = [each for each in named if (each.suite, each.verdict) == ("http", "worse")]
            self.assertGreaterEqual(len(worse), 15, f"seed {seed}")
            self.assertLessEqual(len(named) - len(worse), 1, f"seed {seed}")

    def test_the_same_program_twice_is_mostly_no_change(self):
        silent = sum(not self.named(numpy.random.default_rng(self.SEED + trial)) for trial in range(20))
        self.assertGreaterEqual(silent, 16, f"seeds from {self.SEED}")


class Conditions(unittest.TestCase):
    def test_other_machines_and_scales_are_named(self):
        other = document([row("gyre_uring", STEADY)], kernel="Linux 7")
        other["run"]["scale"] = "quick"
        found = compare.differences(evidence.Run(usual()), evidence.Run(other))
        self.assertEqual(found, ["machine: kernel was Linux 6, is Linux 7",
                                 "run: scale was full, is quick"])

    def test_other_libraries_and_other_turns_are_named(self):
        first, second = usual(), usual()
        for given, version, turns in ((first, "1.81", 1), (second, "1.83", 4)):
            given["contenders"] = [{"name": "asio_callback", "family": "asio", "library": "Boost.Asio",
                                    "version": version}]
            given["cases"] = [{"suite": "dispatch", "case": "post", "turns": turns}]
        self.assertEqual(compare.differences(evidence.Run(first), evidence.Run(second)),
                         ["library of asio_callback was Boost.Asio 1.81, is Boost.Asio 1.83",
                          "turns of dispatch post was 1, is 4"])

    def test_what_only_one_run_has_is_named(self):
        more = usual()
        more["rows"].append(row("gyre_epoll", STEADY))
        more["rows"].append(row("gyre_epoll", STEADY, case="spawn"))
        before, after = evidence.Run(usual()), evidence.Run(more)
        self.assertEqual(compare.only_in(before, after), [])
        self.assertEqual(compare.only_in(after, before),
                         ["dispatch of gyre_epoll, 2 rows: post throughput, spawn throughput"])

    def test_a_metric_that_is_gone_is_named_though_others_of_its_case_are_there(self):
        how = ("latency", "tcp_64")
        more = document([row("gyre_uring", STEADY, *how, metric, "lower") for metric in ("mean", "p99")])
        less = document([row("gyre_uring", STEADY, *how, "mean", "lower")])
        self.assertEqual(compare.only_in(evidence.Run(more), evidence.Run(less)),
                         ["latency of gyre_uring, 1 rows: tcp_64 p99"])


class Vanished(unittest.TestCase):
    PLACE = ("exchange", "4_filled_10000")

    def exchange(self, saturated) -> dict:
        rows = [row("gyre_uring", STEADY, *self.PLACE, metric, "lower") for metric in ("p50", "p99.9")]
        for each in rows:
            each["unit"] = "us"
        return document(rows + [row("gyre_uring", [float(saturated)] * 5, *self.PLACE, "saturated", "lower")])

    def test_what_is_saturated_now_is_worse(self):
        [found] = compare.vanished(evidence.Run(self.exchange(False)), evidence.Run(self.exchange(True)))
        self.assertEqual((found.suite, found.case, found.contender), (*self.PLACE, "gyre_uring"))
        self.assertEqual((found.metrics, found.reason[:9]), (("p50", "p99.9"), "saturated"))

    def test_what_was_saturated_before_is_not(self):
        full = evidence.Run(self.exchange(True))
        self.assertEqual(compare.vanished(full, full), [])

    def test_what_another_choice_of_cases_left_out_is_not(self):
        self.assertEqual(compare.vanished(evidence.Run(usual()), evidence.Run(self.exchange(True))), [])

    def test_peers_that_refuse_are_none_of_ours(self):
        after = usual()
        after["rows"] = [each for each in after["rows"] if each["contender"] != "raw_uring"]
        after["cannot_run"] = [{"suite": "dispatch", "case": "post", "contender": "raw_uring",
                                "reason": "no"}]
        self.assertEqual(compare.vanished(evidence.Run(usual()), evidence.Run(after)), [])


class CommandLine(unittest.TestCase):
    def run_with(self, *documents, options=()):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{index}.json" for index in range(len(documents))]
            for path, each in zip(paths, documents):
                path.write_text(each if isinstance(each, str) else json.dumps(each))
            return subprocess.run([sys.executable, compare.__file__, *map(str, paths), *options],
                                  capture_output=True, text=True, check=False)

    def test_it_ends_with_1_if_something_has_become_worse_and_names_it(self):
        done = self.run_with(usual(), usual(ours=15.0, control=15.0))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"worse:\n  dispatch +post +throughput +gyre_uring +0\.75x")
        self.assertIn("1 rows of gyre, judged together with those of the same suite: 1 worse, 0 better",
                      done.stdout)

    def test_it_ends_with_0_if_not(self):
        done = self.run_with(usual(), usual(ours=25.0, control=25.0))
        self.assertEqual(done.returncode, 0)
        self.assertIn("better:", done.stdout)
        self.assertNotIn("no difference:", done.stdout)

    def test_one_of_ours_that_breaks_now_is_worse_and_the_reason_is_said(self):
        broken = usual()
        broken["rows"] = [each for each in broken["rows"] if not each["contender"].startswith("gyre")]
        broken["cannot_run"] = [{"suite": "dispatch", "case": "post", "contender": "gyre_uring",
                                 "reason": "failed with status 2: lab: lost a byte", "broken": True}]
        done = self.run_with(usual(), broken)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"no row any more:\n  dispatch +post +throughput +gyre_uring +failed "
                                      "with status 2: lab: lost a byte")
        self.assertNotIn("gone: dispatch of gyre_uring", done.stdout)

    def test_rows_of_too_few_rounds_are_counted_and_not_judged(self):
        once = document([row("gyre_uring", [1.0]), row("gyre_uring (control)", [1.0])])
        done = self.run_with(once, once)
        self.assertEqual(done.returncode, 0)
        self.assertIn("0 rows of gyre", done.stdout)
        self.assertIn("1 rows have too few rounds to be judged: fewer than 2 in either run", done.stdout)

    def test_all_names_what_has_not_changed(self):
        done = self.run_with(usual(), usual(), options=["--all"])
        self.assertRegex(done.stdout, r"no difference:\n")

    def test_what_cannot_be_read_is_said(self):
        for bad in ("{", "[]", "{}", '{"rows": []}'):
            done = self.run_with(usual(), bad)
            self.assertEqual(done.returncode, 1)
            self.assertIn("is no result of run.py", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_runs_without_a_row_in_common_cannot_be_compared(self):
        other = copy.deepcopy(usual())
        for each in other["rows"]:
            each["case"] = "spawn"
        self.assertIn("no row in common", self.run_with(usual(), other).stderr)


if __name__ == "__main__":
    unittest.main()
