# SPDX-License-Identifier: BSL-1.0
#
# What of a run is kept, told and left out must not depend on luck.
"""Drives run.py with a bench that measures nothing."""

import io
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import run
from bench import Case, Contender
from fake_bench import CALLBACK, CASE, OURS, FakeBench, measure
from journal import Journal


class WholeRuns(unittest.TestCase):
    """Several cases, with a journal between them and an interruption."""

    CASES = [Case("dispatch", "post", "", 1), Case("dispatch", "spawn", "", 1)]
    INFO = {"compiler": "", "flags": "", "build_type": "Release"}

    def run_all(self, bench, journal, cases=None) -> dict:
        bench.info = self.INFO
        with redirect_stderr(io.StringIO()):
            return run.run_suites(bench, [OURS, CALLBACK], cases or self.CASES, 3, 0, "full", journal)

    def test_what_was_measured_before_is_in_the_document_and_not_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "all.json"
            self.run_all(FakeBench({"gyre_uring": [7.0]}), Journal(result, {}), self.CASES[:1])
            later = FakeBench({"gyre_uring": [9.0]}, refuses_to_count=True)
            document = self.run_all(later, Journal(result, {}))
        self.assertEqual(later.ran.count("asio_callback"), 3)
        ours = {row["case"]: row["samples"] for row in document["rows"]
                if row["contender"] == "gyre_uring" and row["metric"] == "throughput"}
        self.assertEqual(ours, {"post": [7.0] * 3, "spawn": [9.0] * 3})
        self.assertEqual([each["case"] for each in document["controls"]], ["post", "spawn"])
        self.assertEqual(document["contenders"][0],
                         {"name": "gyre_uring", "family": "gyre", "library": "", "version": "",
                          "backend": ""})
        self.assertEqual(document["system_calls_not_counted"], "no tracefs")

    def test_what_disturbed_an_earlier_sitting_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "all.json"
            for cases, stolen in ((self.CASES[:1], 7.0), (self.CASES, 0.0)):
                with mock.patch.object(run.machine.StealMeter, "percent", lambda _, stolen=stolen: stolen):
                    document = self.run_all(FakeBench(), Journal(result, {}), cases)
        self.assertEqual(document["machine"]["steal_percent_max"], 7.0)
        self.assertEqual(document["machine"]["cases_with_steal_above_1_percent"], "dispatch post 7.0 %")

    def test_a_long_case_has_fewer_rounds_than_the_others(self):
        cases = [self.CASES[0], Case("dispatch", "long", "", 1, rounds_max=2)]
        document = self.run_all(FakeBench(), Journal(None, {}), cases)
        self.assertEqual({(row["case"], len(row["samples"])) for row in document["rows"]
                          if row["metric"] == "throughput"}, {("post", 3), ("long", 2)})

    def test_who_fails_is_a_row_that_says_so_in_each_case(self):
        document = self.run_all(FakeBench(refusing=("asio_callback",)), Journal(None, {}))
        self.assertEqual([(each["case"], each["reason"]) for each in document["cannot_run"]],
                         [("post", "because"), ("spawn", "because")])
        self.assertEqual(document["run"]["sittings"], 1)
        self.assertNotIn("broken", document["cannot_run"][0])

    def test_counts_that_failed_are_in_the_document(self):
        bench = FakeBench()
        bench.failing_to_count = ("asio_callback",)
        document = self.run_all(bench, Journal(None, {}))
        self.assertEqual([(each["case"], each["contender"]) for each in document["system_calls_failed"]],
                         [("post", "asio_callback"), ("spawn", "asio_callback")])

    def test_who_broke_is_told_from_who_refused(self):
        document = self.run_all(FakeBench(failing=("asio_callback",)), Journal(None, {}))
        self.assertEqual([each["broken"] for each in document["cannot_run"]], [True, True])

    def test_a_contender_of_several_programs_is_one_column(self):
        both = [OURS, Contender("gyre_uring", "gyre", ("c",), ("exchange",)), CALLBACK]
        found = run.described_once(both, {"gyre_uring": {"library": "gyre"}})
        self.assertEqual([each["name"] for each in found], ["gyre_uring", "asio_callback"])
        self.assertEqual(found[0]["library"], "gyre")


class Choice(unittest.TestCase):
    """Which cases there are, and which suites have none."""

    class Listed:
        def cases(self, suites):
            there = {"dispatch": CASE}
            return ([there[each] for each in suites if each in there],
                    {each: run.NOBODY for each in suites if each not in there})

    def test_suites_without_a_case_are_said_and_returned(self):
        said = io.StringIO()
        with redirect_stderr(said):
            cases, missing = run.choose_cases(self.Listed(), ["dispatch", "echo"], "*")
        self.assertEqual((cases, missing), ([CASE], {"echo": run.NOBODY}))
        self.assertEqual(said.getvalue(), f"run.py: no case of echo: {run.NOBODY}\n")

    def test_a_suite_that_a_build_lacks_fails_no_smoke_unless_it_was_named_or_somebody_broke(self):
        lacks = {"echo": run.NOBODY}
        self.assertEqual(run.failures_of(lacks, ["all"]), [])
        self.assertEqual(run.failures_of(lacks, ["echo"]), ["echo"])
        self.assertEqual(run.failures_of({"echo": "gyre_uring failed"}, ["all"]), ["echo"])


class Rounds(unittest.TestCase):
    def test_a_quick_look_has_fewer_and_one_at_everything_the_fewest(self):
        self.assertEqual(run.default_rounds(False, ["all"]), run.default_rounds(False, ["http"]))
        self.assertLess(run.default_rounds(True, ["http", "echo"]), run.default_rounds(False, ["http"]))
        self.assertLess(run.default_rounds(True, ["all"]), run.default_rounds(True, ["http"]))
        # Of one round there is no interval, and self_check.py has nothing to look at.
        self.assertGreaterEqual(run.default_rounds(True, ["all"]), run.ROUNDS_OF_TWINS_MIN)


class Twins(unittest.TestCase):
    def test_everybody_takes_part_a_second_time_and_wins_nothing_by_it(self):
        found = run.with_twins([OURS, CALLBACK])
        self.assertEqual([each.name for each in found],
                         ["gyre_uring", "asio_callback", "gyre_uring (twin)", "asio_callback (twin)"])
        self.assertEqual([each.family for each in found], ["gyre", "asio", "floor", "floor"])
        self.assertEqual(found[3].command, CALLBACK.command)

    def test_cases_of_one_round_have_two_with_twins_and_long_ones_what_they_had(self):
        cases = [Case("exchange", str(rounds), "", 2, rounds_max=rounds) for rounds in (0, 1, 3)]
        found = {twins: [each.rounds(5) for each in run.with_rounds(cases, False, twins)]
                 for twins in (False, True)}
        self.assertEqual(found, {False: [5, 1, 3], True: [5, 2, 3]})
        self.assertEqual([each.rounds(7) for each in run.with_rounds(cases, True, True)], [7, 7, 7])

    def test_both_are_measured_in_each_round(self):
        bench = FakeBench()
        attempt = measure(bench, run.with_twins([OURS, CALLBACK]), number=2)
        self.assertEqual({name for name in attempt.samples},
                         {"gyre_uring", "asio_callback", "gyre_uring (twin)", "asio_callback (twin)",
                          "gyre_uring (control)"})


class Smoke(unittest.TestCase):
    THREADED = Contender("asio_per_thread", "asio", ("b",), ("dispatch",), "threads_*")
    CASES = [CASE, Case("dispatch", "threads_2", "", 2), Case("echo", "64_1", "", 2)]

    def smoke(self, bench, *contenders) -> tuple[int, str]:
        with redirect_stdout(io.StringIO()) as out:
            return run.smoke(bench, list(contenders), self.CASES), out.getvalue()

    def test_everybody_runs_once_in_each_suite_of_its_own(self):
        bench = FakeBench()
        code, text = self.smoke(bench, OURS, CALLBACK, self.THREADED)
        self.assertEqual((code, text), (0, "smoke: 4 ran, 0 refused all that there is in a suite, "
                                           "0 broken\n"))
        self.assertEqual(bench.ran, ["gyre_uring", "asio_callback", "asio_per_thread", "gyre_uring"])

    def test_who_refuses_is_asked_for_its_next_case(self):
        bench = FakeBench(refusing=("asio_callback",))
        code, text = self.smoke(bench, OURS, CALLBACK)
        self.assertEqual(bench.ran.count("asio_callback"), 2)
        self.assertEqual((code, "1 refused all" in text), (0, True))
        self.assertIn("dispatch: not run by asio_callback: because\n", text)

    def test_who_breaks_is_named_and_not_asked_again(self):
        bench = FakeBench(failing=("asio_callback",))
        code, text = self.smoke(bench, OURS, CALLBACK)
        self.assertEqual(code, 1)
        self.assertEqual(bench.ran.count("asio_callback"), 1)
        self.assertIn("dispatch post: asio_callback: failed with status 1: no\n", text)

    def test_it_fails_if_nobody_ran_in_one_of_the_suites_and_names_it(self):
        code, text = self.smoke(FakeBench(), CALLBACK)  # Which takes no part in `echo`.
        self.assertEqual(code, 1)
        self.assertIn("echo: nobody ran\n", text)
        self.assertNotIn("dispatch: nobody", text)

    def test_it_fails_if_nobody_ran(self):
        self.assertEqual(self.smoke(FakeBench(refusing=("gyre_uring",)), OURS)[0], 1)
        self.assertEqual(self.smoke(FakeBench())[0], 1)


if __name__ == "__main__":
    unittest.main()
