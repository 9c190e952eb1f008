# SPDX-License-Identifier: BSL-1.0
#
# Turns, controls and repetitions cannot be seen in a result, so they are checked here.
"""Drives rounds.py with a bench that measures nothing."""

import io
import math
import unittest
from contextlib import redirect_stderr
from dataclasses import replace

import rounds
from bench import Case, Contender
from fake_bench import CALLBACK, CASE, FLOOR, OURS, FakeBench, measure
from rounds import Attempt


class Turns(unittest.TestCase):
    def test_every_second_round_runs_in_the_opposite_order(self):
        bench = FakeBench()
        measure(bench, number=2)
        self.assertEqual(bench.ran[:4], ["gyre_uring", "asio_callback", "raw_syscalls",
                                         "gyre_uring"])
        self.assertEqual(bench.ran[4:], bench.ran[:4][::-1])

    def test_every_contender_and_the_control_have_a_sample_per_round(self):
        attempt = measure(FakeBench(), number=5)
        self.assertEqual({name: len(each["throughput"]) for name, each in attempt.samples.items()},
                         {"gyre_uring": 5, "asio_callback": 5, "raw_syscalls": 5,
                          "gyre_uring (control)": 5})

    def test_the_control_is_the_first_that_can_run(self):
        attempt = measure(FakeBench(refusing=("gyre_uring",)))
        self.assertEqual(attempt.controlled, "asio_callback")
        self.assertIn("asio_callback (control)", attempt.samples)

    def test_who_cannot_run_is_asked_once_and_says_why(self):
        bench = FakeBench(refusing=("raw_syscalls",))
        attempt = measure(bench)
        self.assertEqual(bench.ran.count("raw_syscalls"), 1)
        self.assertEqual(attempt.refusals, {"raw_syscalls": "because"})
        self.assertNotIn("raw_syscalls", attempt.samples)

    def test_a_turn_that_broke_is_taken_once_more_and_the_row_says_so(self):
        bench = FakeBench(failing_turns=(5,))  # The second of the second round, which began with the control.
        attempt = measure(bench, number=2)
        self.assertEqual(bench.ran[4:], ["gyre_uring", "raw_syscalls", "raw_syscalls", "asio_callback",
                                         "gyre_uring"])
        self.assertEqual((attempt.refusals, attempt.broken), ({}, set()))
        told = {each["contender"]: each.get("retried") for each in rounds.rows_of(CASE, attempt)}
        self.assertEqual(told, {"gyre_uring": None, "gyre_uring (control)": None, "asio_callback": None,
                                "raw_syscalls": ["round 2: failed with status 1: no"]})
        self.assertEqual(len(attempt.samples["raw_syscalls"]["throughput"]), 2)
        self.assertEqual([each["note"] for each in rounds.notes_of(CASE, attempt)],
                         ["retried, round 2: failed with status 1: no"])

    def test_who_refuses_what_it_could_do_before_has_failed(self):
        bench = FakeBench()
        run = bench.run

        def refusing_later(who, case):
            report = run(who, case)
            late = who is CALLBACK and bench.ran.count(CALLBACK.name) > 1
            return {"cannot_run": "the port is taken"} if late else report

        bench.run = refusing_later
        attempt = measure(bench, number=3)
        self.assertEqual(bench.ran.count("asio_callback"), 3)  # Once well, and twice in vain.
        self.assertEqual(attempt.refusals, {"asio_callback": "the port is taken"})
        self.assertEqual(attempt.broken, {"asio_callback"})

    def test_who_breaks_twice_is_dropped(self):
        bench = FakeBench(failing=("asio_callback",))
        attempt = measure(bench)
        self.assertEqual(bench.ran.count("asio_callback"), 2)
        self.assertEqual(attempt.broken, {"asio_callback"})
        self.assertNotIn("asio_callback", attempt.samples)

    def test_a_contender_may_take_part_in_some_cases_of_its_suites_only(self):
        on_threads = Contender("asio_per_thread", "asio", ("b",), ("dispatch",), "threads_*")
        self.assertTrue(on_threads.takes_part(Case("dispatch", "threads_8", "", 9)))
        self.assertFalse(on_threads.takes_part(Case("dispatch", "post", "", 1)))
        self.assertFalse(on_threads.takes_part(Case("http", "threads_8", "", 8)))
        self.assertTrue(CALLBACK.takes_part(Case("dispatch", "post", "", 1)))

    def test_nobody_can_run(self):
        attempt = measure(FakeBench(refusing=("gyre_uring", "asio_callback", "raw_syscalls")))
        self.assertEqual((attempt.samples, attempt.controlled), ({}, None))


    def test_a_metric_that_one_round_lacks_is_left_out_and_noted(self):
        attempt = Attempt(controlled="a")
        for name in ("a", "a (control)"):
            attempt.samples[name] = {"throughput": [1.0, 1.0], "p99": [1.0] if name == "a" else [1.0, 2.0]}
        rounds.drop_incomplete(attempt, 2)
        self.assertEqual(list(attempt.samples["a"]), ["throughput"])
        self.assertEqual(attempt.control_spread("p99"), math.inf)
        self.assertEqual(rounds.notes_of(CASE, attempt), [
            {"suite": "dispatch", "case": "post", "contender": "a",
             "note": "p99 was not reported in each round, and is left out"}])

    def test_a_server_that_was_not_seen_once_to_send_at_once_was_not_seen(self):
        def attempt(*seen):
            bench = FakeBench()
            told = iter(seen)
            run = bench.run
            bench.run = lambda who, case: run(who, case) | (
                {"no_delay_seen": next(told)} if who is CALLBACK else {})
            return measure(bench, (OURS, CALLBACK), 3).no_delay

        self.assertEqual(attempt(True, True, True), {"asio_callback": True})
        self.assertEqual(attempt(True, False, True), {"asio_callback": False})

    def test_what_each_second_was_like_is_kept_for_each_round(self):
        attempt = Attempt()
        for second in ([1.0], [2.0]):
            attempt.add("bare", {"metrics": [], "by_second": [second]})
        attempt.add("other", {"metrics": []})
        self.assertEqual(attempt.seconds, {"bare": [[[1.0]], [[2.0]]]})


class ShortTurns(unittest.TestCase):
    CASE = replace(CASE, turns=3)

    def test_they_are_dealt_out_alternately_and_every_second_time_in_the_opposite_order(self):
        bench = FakeBench()
        measure(bench, (OURS, CALLBACK), 2, self.CASE)
        there = ["gyre_uring", "asio_callback", "gyre_uring"]
        self.assertEqual(bench.ran, there * 6)  # There and back are the same, with the control at the end.
        bench = FakeBench()
        measure(bench, (OURS, CALLBACK, FLOOR), 1, self.CASE)
        there = ["gyre_uring", "asio_callback", "raw_syscalls", "gyre_uring"]
        self.assertEqual(bench.ran, there + there[::-1] + there)

    def test_a_sample_is_the_median_of_the_turns_of_its_round(self):
        attempt = measure(FakeBench({"asio_callback": [1.0, 9.0, 2.0, 7.0, 5.0, 6.0]}),
                          (OURS, CALLBACK), 2, self.CASE)
        self.assertEqual(attempt.samples["asio_callback"]["throughput"], [2.0, 6.0])
        self.assertEqual(attempt.samples["gyre_uring (control)"]["throughput"], [1.0, 1.0])

    def test_who_breaks_in_a_later_turn_has_no_row(self):
        attempt = measure(FakeBench(failing_turns=(4, 5)), (OURS, CALLBACK), 1, self.CASE)
        self.assertEqual(attempt.broken, {"asio_callback"})
        self.assertEqual(attempt.retried, {"asio_callback": ["round 1: failed with status 1: no"]})
        self.assertEqual(list(attempt.samples), ["gyre_uring", "gyre_uring (control)"])

    def test_extremes_stay_extremes_and_seconds_follow_each_other(self):
        def report(low, high, **others):
            values = {"min": low, "max": high, "worst_second_p99.9": high} | others
            return {"metrics": [{"metric": name, "unit": "us", "better": "lower", "value": value}
                                for name, value in values.items()], "by_second": [[low]]}

        made = rounds.pooled([report(3.0, 5.0, once=1.0), report(1.0, 9.0), report(2.0, 4.0)])
        self.assertEqual({each["metric"]: each["value"] for each in made["metrics"]},
                         {"min": 1.0, "max": 9.0, "worst_second_p99.9": 9.0})
        self.assertEqual(made["by_second"], [[3.0], [1.0], [2.0]])


class Repetitions(unittest.TestCase):
    def attempts(self, bench, reruns=2):
        with redirect_stderr(io.StringIO()):
            return rounds.measure_until_quiet(bench, [OURS], CASE, 2, reruns, rounds.Progress(1), {})

    def test_a_quiet_case_is_measured_once(self):
        self.assertEqual(len(self.attempts(FakeBench())), 1)

    def test_a_void_case_is_measured_again_until_it_is_quiet(self):
        # The turns of two rounds: original, control, control, original.
        noisy, quiet = [1.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]
        attempts = self.attempts(FakeBench({"gyre_uring": noisy + quiet}))
        self.assertEqual(len(attempts), 2)
        self.assertEqual(attempts[0].samples["gyre_uring"]["throughput"], [1.0, 1.0])
        self.assertEqual(attempts[1].control_spread("throughput"), 1.0)

    def test_a_case_that_stays_void_is_given_up_after_two_more_attempts(self):
        attempts = self.attempts(FakeBench({"gyre_uring": [1.0, 2.0, 2.0, 1.0] * 5}))
        self.assertEqual(len(attempts), 3)

    def test_a_case_that_lost_its_control_is_measured_again_and_kept_last(self):
        lost = FakeBench(failing_turns=(1, 2))  # The control, of a case in which nobody else takes part.
        attempts = self.attempts(lost)
        self.assertEqual([each.headline_spread(CASE) for each in attempts], [0.0, math.inf])
        self.assertEqual(attempts[1].control_spread("throughput"), math.inf)
        self.assertEqual(attempts[1].broken, {"gyre_uring"})

    def test_a_case_that_all_refuse_is_not_measured_again(self):
        self.assertEqual(len(self.attempts(FakeBench(refusing=("gyre_uring",)))), 1)

    def test_among_void_attempts_one_in_which_nobody_failed_comes_first(self):
        def attempt(spread, broken=()):
            rows = {name: {"throughput": [1.0 + by]} for name, by in (("a", 0.0), ("a (control)", spread))}
            return Attempt(samples=rows, broken=set(broken), controlled="a")

        ordered = [attempt(0.01, "b"), attempt(0.3), attempt(0.2, "b"), Attempt(broken={"a"})]
        self.assertEqual(sorted(ordered[::-1], key=lambda each: each.rank(CASE)), ordered)

    def test_a_case_that_fell_short_of_its_rate_is_void_by_its_rate_and_not_by_its_latency(self):
        attempt = Attempt(controlled="gyre_uring")
        for name, latency in (("gyre_uring", 1000.0), ("gyre_uring (control)", 3000.0)):
            attempt.samples[name] = {"p50": [latency] * 3, "orders_rate": [500.0] * 3,
                                     "saturated": [1.0] * 3}
        self.assertEqual(attempt.headline_spread(Case("exchange", "1_empty_1000", "", 2)), 0.0)
        attempt.samples["gyre_uring"]["saturated"] = [0.0] * 3
        self.assertAlmostEqual(attempt.headline_spread(Case("exchange", "1_empty_1000", "", 2)), 2.0)


class SystemCalls(unittest.TestCase):
    def count(self, bench) -> tuple[rounds.SystemCalls, Attempt]:
        attempt = measure(bench, number=3)
        calls = rounds.SystemCalls(bench)
        calls.add_to(attempt, [OURS, CALLBACK, FLOOR], CASE)
        return calls, attempt

    def test_they_are_counted_once_and_the_times_of_that_run_are_not_kept(self):
        bench = FakeBench()
        _, attempt = self.count(bench)
        self.assertEqual(bench.counted, ["gyre_uring", "asio_callback", "raw_syscalls"])
        self.assertEqual(attempt.samples["gyre_uring"]["system_calls"], [9.0])
        self.assertEqual(attempt.samples["gyre_uring"]["throughput"], [1.0, 1.0, 1.0])

    def test_a_run_that_failed_is_kept_with_its_reason_and_the_next_is_counted(self):
        bench = FakeBench()
        bench.failing_to_count = ("gyre_uring",)
        calls, attempt = self.count(bench)
        self.assertEqual(calls.failures, [{"suite": "dispatch", "case": "post", "contender": "gyre_uring",
                                           "reason": "failed with status 109: no such option"}])
        self.assertNotIn("system_calls", attempt.samples["gyre_uring"])
        self.assertEqual(attempt.samples["asio_callback"]["system_calls"], [9.0])

    def test_a_kernel_that_refuses_is_asked_once(self):
        bench = FakeBench(refuses_to_count=True)
        calls, attempt = self.count(bench)
        self.assertEqual(bench.counted, ["gyre_uring"])
        self.assertEqual(calls.refusal, "no tracefs")
        self.assertNotIn("system_calls", attempt.samples["gyre_uring"])

    def test_a_quick_run_does_not_count_what_it_plays_less_often_than_others(self):
        for quick, rounds_max, wanted in ((True, 2, []), (True, 0, ["gyre_uring"]),
                                          (False, 2, ["gyre_uring"])):
            case = Case("echo", "threads_2_block_1K_1", "", 3, rounds_max)
            bench = FakeBench()
            attempt = measure(bench)
            rounds.SystemCalls(bench, quick).add_to(attempt, [OURS], case)
            self.assertEqual(bench.counted, wanted)

    def test_who_has_no_row_is_not_counted(self):
        bench = FakeBench(refusing=("raw_syscalls",))
        self.count(bench)
        self.assertNotIn("raw_syscalls", bench.counted)


if __name__ == "__main__":
    unittest.main()
