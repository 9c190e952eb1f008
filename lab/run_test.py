# SPDX-License-Identifier: BSL-1.0
#
# Turns, controls and repetitions cannot be seen in a result, so they are checked here.
"""Drives run.py with a bench that measures nothing."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import run
from journal import Journal
from run import Attempt, Case, Contender

OURS = Contender("gyre_uring", "gyre", ("a",), ("dispatch", "echo"))
CALLBACK = Contender("asio_callback", "asio", ("b",), ("dispatch",))
FLOOR = Contender("raw_syscalls", "floor", ("c",), ("dispatch",))
CASE = Case("dispatch", "post", "", 1)


class FakeBench:
    """Remembers who ran, and answers from a list of values per contender."""

    def __init__(self, values=None, refusing=(), refuses_to_count=False, failing=()):
        self.ran = []
        self.counted = []
        self._refuses_to_count = refuses_to_count
        self._values = values or {}
        self._refusing = refusing
        self._failing = failing

    def count_system_calls(self, contender, case):
        self.counted.append(contender.name)
        if self._refuses_to_count:
            return {"metrics": [], "system_calls_not_counted": "no tracefs"}
        return {"metrics": [{"metric": "throughput", "unit": "Mops/s", "better": "higher",
                             "value": 0.1},
                            {"metric": "system_calls", "unit": "1/op", "better": "lower",
                             "value": 9.0}]}

    def run(self, contender, case):
        self.ran.append(contender.name)
        if contender.name in self._refusing:
            return {"cannot_run": "because"}
        if contender.name in self._failing:
            return {"cannot_run": "failed with status 1: no", "broken": True}
        values = self._values.get(contender.name, [1.0])
        value = values.pop(0) if len(values) > 1 else values[0]
        return {"library": "", "version": "", "backend": "",
                "metrics": [{"metric": "throughput", "unit": "Mops/s", "better": "higher",
                             "value": value}]}


def measure(bench, contenders=(OURS, CALLBACK, FLOOR), rounds=3) -> Attempt:
    with redirect_stderr(io.StringIO()):
        return run.measure(bench, list(contenders), CASE, rounds, run.Progress(1), {})


class Turns(unittest.TestCase):
    def test_every_second_round_runs_in_the_opposite_order(self):
        bench = FakeBench()
        measure(bench, rounds=2)
        self.assertEqual(bench.ran[:4], ["gyre_uring", "asio_callback", "raw_syscalls",
                                         "gyre_uring"])
        self.assertEqual(bench.ran[4:], bench.ran[:4][::-1])

    def test_every_contender_and_the_control_have_a_sample_per_round(self):
        attempt = measure(FakeBench(), rounds=5)
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

    def test_a_contender_may_take_part_in_some_cases_of_its_suites_only(self):
        on_threads = Contender("asio_per_thread", "asio", ("b",), ("dispatch",), "threads_*")
        self.assertTrue(on_threads.takes_part(Case("dispatch", "threads_8", "", 9)))
        self.assertFalse(on_threads.takes_part(Case("dispatch", "post", "", 1)))
        self.assertFalse(on_threads.takes_part(Case("http", "threads_8", "", 8)))
        self.assertTrue(CALLBACK.takes_part(Case("dispatch", "post", "", 1)))

    def test_nobody_can_run(self):
        attempt = measure(FakeBench(refusing=("gyre_uring", "asio_callback", "raw_syscalls")))
        self.assertEqual((attempt.samples, attempt.controlled), ({}, None))


    def test_what_each_second_was_like_is_kept_for_each_round(self):
        attempt = Attempt()
        for second in ([1.0], [2.0]):
            attempt.add("bare", {"metrics": [], "by_second": [second]})
        attempt.add("other", {"metrics": []})
        self.assertEqual(attempt.seconds, {"bare": [[[1.0]], [[2.0]]]})


class Repetitions(unittest.TestCase):
    def attempts(self, bench, reruns=2):
        with redirect_stderr(io.StringIO()):
            return run.measure_until_quiet(bench, [OURS], CASE, 2, reruns, run.Progress(1), {})

    def test_a_quiet_case_is_measured_once(self):
        self.assertEqual(len(self.attempts(FakeBench())), 1)

    def test_a_case_that_lacks_its_suite_s_headline_is_not_void(self):
        attempt = measure(FakeBench({"gyre_uring": [1.0, 2.0]}), rounds=1)
        self.assertGreater(attempt.control_spread("throughput"), 0)
        self.assertEqual(attempt.control_spread("cpu"), 0)

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


    def test_a_case_that_fell_short_of_its_rate_is_void_by_its_rate_and_not_by_its_latency(self):
        attempt = Attempt(controlled="gyre_uring")
        for name, latency in (("gyre_uring", 1000.0), ("gyre_uring (control)", 3000.0)):
            attempt.samples[name] = {"p50": [latency] * 3, "orders_rate": [500.0] * 3,
                                     "saturated": [1.0] * 3}
        self.assertEqual(attempt.headline_spread("exchange"), 0.0)
        attempt.samples["gyre_uring"]["saturated"] = [0.0] * 3
        self.assertAlmostEqual(attempt.headline_spread("exchange"), 2.0)


class ListingBench(run.Bench):
    """Programs that only know their cases."""

    def __init__(self, contenders, listings):
        self.contenders = contenders
        self.asked = []
        self._scale = "quick"
        self._listings = listings

    def _start(self, contender, arguments, cores):
        self.asked.append(contender.command[0])
        return "\n".join(json.dumps({"suite": suite, "case": case, "description": "", "threads": 1})
                         for suite, case in self._listings[contender.command[0]])


class SeveralPrograms(unittest.TestCase):
    def test_each_suite_is_listed_by_the_first_program_that_takes_part_in_it(self):
        bench = ListingBench(
            [Contender("ours", "gyre", ("a",), ("dispatch", "echo")),
             Contender("theirs", "asio", ("b",), ("dispatch",)),
             Contender("ours", "gyre", ("c",), ("exchange",))],
            {"a": [("dispatch", "post"), ("echo", "64_1")], "c": [("exchange", "1_empty_1000")]})
        suites = ["dispatch", "echo", "exchange"]
        self.assertEqual([(each.suite, each.name) for each in bench.cases(suites)],
                         [("dispatch", "post"), ("echo", "64_1"), ("exchange", "1_empty_1000")])
        self.assertEqual(bench.asked, ["a", "c"])

    def test_who_takes_part_in_no_suite_that_is_wanted_is_not_asked(self):
        bench = ListingBench([OURS, Contender("ours", "gyre", ("c",), ("exchange",))],
                             {"c": [("exchange", "1_empty_1000"), ("dispatch", "post")]})
        self.assertEqual([each.name for each in bench.cases(["exchange"])], ["1_empty_1000"])
        self.assertEqual(bench.asked, ["c"])

    def test_a_contender_of_several_programs_is_one_column(self):
        both = [OURS, Contender("gyre_uring", "gyre", ("c",), ("exchange",)), CALLBACK]
        found = run.described_once(both, {"gyre_uring": {"library": "gyre"}})
        self.assertEqual([each["name"] for each in found], ["gyre_uring", "asio_callback"])
        self.assertEqual(found[0]["library"], "gyre")


class Peers(unittest.TestCase):
    """What lab/setup.py leaves behind, as contenders."""

    def found(self, listed) -> list[Contender]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "swift").write_text("", encoding="utf-8")
            (folder / "peers.json").write_text(json.dumps(listed), encoding="utf-8")
            return run.peers_of(folder)

    def test_a_program_that_echoes_is_a_contender_whether_it_is_there_or_not(self):
        missing = {"missing": "no compiler", "version": None}
        found = self.found([
            {"name": "swift", "family": "birds", "command": ["swift", "--fast"],
             "workloads": ["echo", "http"], "missing": None, "version": "swift 1 epoll"},
            {"name": "dodo", "family": "birds", "command": ["dodo"], "workloads": ["echo"]} | missing,
            {"name": "ab", "family": "tools", "command": ["ab"], "workloads": ["http"]} | missing])
        self.assertEqual([each.name for each in found], ["swift", "dodo"])
        self.assertEqual(found[0].command, ("lab_peer", "--backend", "swift"))
        self.assertEqual([[Path(part).name for part in each.programs] for each in found],
                         [["peers.json", "swift"], ["peers.json"]])
        self.assertTrue(found[0].takes_part(Case("echo", "block_1K_1", "", 2)))
        self.assertTrue(found[0].takes_part(Case("echo", "threads_2_block_1K_1", "", 3)))
        self.assertFalse(found[0].takes_part(Case("echo", "64_1000", "", 2)))

    def test_without_a_list_there_are_none_and_somebody_says_so(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as name, redirect_stderr(said):
            self.assertEqual(run.peers_of(Path(name)), [])
        self.assertIn("./dev lab setup", said.getvalue())

    def test_floors_stand_behind_everybody_else(self):
        peer = Contender("swift", "birds", ("lab_peer",), ("echo",))
        self.assertEqual([each.name for each in run.floor_last([OURS, FLOOR, peer])],
                         ["gyre_uring", "swift", "raw_syscalls"])


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


class Twins(unittest.TestCase):
    def test_everybody_takes_part_a_second_time_and_wins_nothing_by_it(self):
        found = run.with_twins([OURS, CALLBACK])
        self.assertEqual([each.name for each in found],
                         ["gyre_uring", "asio_callback", "gyre_uring (twin)", "asio_callback (twin)"])
        self.assertEqual([each.family for each in found], ["gyre", "asio", "floor", "floor"])
        self.assertEqual(found[3].command, CALLBACK.command)

    def test_both_are_measured_in_each_round(self):
        bench = FakeBench()
        attempt = measure(bench, run.with_twins([OURS, CALLBACK]), rounds=2)
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

    def test_who_breaks_is_named_and_not_asked_again(self):
        bench = FakeBench(failing=("asio_callback",))
        code, text = self.smoke(bench, OURS, CALLBACK)
        self.assertEqual(code, 1)
        self.assertEqual(bench.ran.count("asio_callback"), 1)
        self.assertIn("dispatch post: asio_callback: failed with status 1: no\n", text)

    def test_it_fails_if_nobody_ran(self):
        self.assertEqual(self.smoke(FakeBench(refusing=("gyre_uring",)), OURS)[0], 1)
        self.assertEqual(self.smoke(FakeBench())[0], 1)


class SystemCalls(unittest.TestCase):
    def count(self, bench) -> tuple[run.SystemCalls, Attempt]:
        attempt = measure(bench, rounds=3)
        calls = run.SystemCalls(bench)
        calls.add_to(attempt, [OURS, CALLBACK, FLOOR], CASE)
        return calls, attempt

    def test_they_are_counted_once_and_the_times_of_that_run_are_not_kept(self):
        bench = FakeBench()
        _, attempt = self.count(bench)
        self.assertEqual(bench.counted, ["gyre_uring", "asio_callback", "raw_syscalls"])
        self.assertEqual(attempt.samples["gyre_uring"]["system_calls"], [9.0])
        self.assertEqual(attempt.samples["gyre_uring"]["throughput"], [1.0, 1.0, 1.0])

    def test_a_kernel_that_refuses_is_asked_once(self):
        bench = FakeBench(refuses_to_count=True)
        calls, attempt = self.count(bench)
        self.assertEqual(bench.counted, ["gyre_uring"])
        self.assertEqual(calls.refusal, "no tracefs")
        self.assertNotIn("system_calls", attempt.samples["gyre_uring"])

    def test_a_quick_run_does_not_count_where_there_are_peers(self):
        case = Case("echo", "threads_2_block_1K_1", "", 3)
        for quick, wanted in ((True, []), (False, ["gyre_uring"])):
            bench = FakeBench()
            attempt = measure(bench)
            run.SystemCalls(bench, quick).add_to(attempt, [OURS], case)
            self.assertEqual(bench.counted, wanted)

    def test_who_has_no_row_is_not_counted(self):
        bench = FakeBench(refusing=("raw_syscalls",))
        self.count(bench)
        self.assertNotIn("raw_syscalls", bench.counted)


if __name__ == "__main__":
    unittest.main()
