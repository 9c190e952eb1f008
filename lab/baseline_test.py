#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Between run.py and two other programs, what fails must not look like what cannot be done, or the reverse.
"""Tests of baseline.py."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import baseline
import baseline_server_test
from baseline_clients import Cost, Figures, Size, find_case
from baseline_server import Unusable
from run import Bench, Contender


def play(command, case="ab_close", folder=Path("/nowhere")):
    return baseline.play(find_case(case), Size(requests=10, seconds=1),
                         baseline.Played(folder, command))


class Rows(unittest.TestCase):
    def test_a_server_with_a_wrong_body_is_an_error_before_it_is_timed(self):
        here = str(Path(baseline_server_test.__file__).parent)
        wrong = [sys.executable, "-c", baseline_server_test.PROGRAM, "another body", here]
        with mock.patch("baseline_clients.missing", return_value=None), \
                mock.patch("baseline.load") as load, \
                self.assertRaisesRegex(Unusable, "There is NOTHING here."):
            play(wrong)
        load.assert_not_called()

    def test_a_client_that_is_missing_is_named_and_nothing_is_started(self):
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(play(["/nowhere"]), {
                "cannot_run": "ab is not installed (Debian package apache2-utils)"})

    def test_a_server_that_is_missing_is_an_error(self):
        with mock.patch("baseline_clients.missing", return_value=None), \
                self.assertRaisesRegex(Unusable, "could not be started"):
            play(["/nowhere/at/all"])

    def test_a_server_that_says_why_it_cannot_has_a_row_that_says_so(self):
        says = [sys.executable, "-c", "import sys; sys.exit('no such ring')"]
        with mock.patch("baseline_clients.missing", return_value=None):
            self.assertEqual(play(says), {"cannot_run": "no such ring"})

    def test_a_run_that_failed_ends_with_1_and_the_reason(self):
        here = Path(baseline.__file__)
        done = subprocess.run([sys.executable, "-B", str(here), "--folder", "/nowhere", "--server", "none",
                               "--suite", "baseline", "--case", "echo_512"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^baseline.py: the client could not be started")

    def test_a_quarter_is_played_before_by_the_same_client_unless_that_takes_too_long(self):
        def warmed_up(name, scale):
            case = find_case(name)
            with mock.patch("baseline.load") as load, \
                    mock.patch("baseline_clients.missing", return_value=None):
                baseline.warm_up(case, case.size(scale), 1)
            [call] = load.call_args_list
            return call.args[0].name, call.args[1]

        self.assertEqual(warmed_up("ab_close", "full"), ("ab_close", Size(requests=25_000)))
        self.assertEqual(warmed_up("wrk_close", "full"), ("wrk_close", Size(seconds=2.0)))
        self.assertEqual(warmed_up("wrk_close", "quick"), ("ab_close", Size(requests=1_500)))
        self.assertEqual(warmed_up("wrk_keepalive", "quick"), ("ab_keepalive", Size(requests=5_000)))

    def test_a_client_that_fails_says_why(self):
        with self.assertRaisesRegex(Unusable, "sh failed with 3: no luck"):
            baseline.run_client(["sh", "-c", "echo no luck >&2; exit 3"])

    def test_echo_clients_that_are_not_built_are_an_error(self):
        with self.assertRaisesRegex(Unusable, "could not be started"):
            play(["/nowhere"], "echo_512")

    def test_costs_are_per_request_and_calls_stand_there_if_they_were_counted(self):
        seen = Figures(requests=1000, seconds=0.5, bytes_per_second=240_000.0,
                       latency_us={"p50": 7.0})
        found = {each["metric"]: each["value"]
                 for each in baseline.metrics_of(seen, Cost(0.01, 20, system_calls=3000))}
        self.assertEqual(found, {"throughput": 2000.0, "transfer": 0.24, "p50": 7.0, "cpu": 10_000.0,
                                 "context_switches": 0.02, "busy": 2.0, "system_calls": 3.0})
        few = {each["metric"] for each in baseline.metrics_of(seen, Cost(0.01, None))}
        self.assertFalse(few & {"system_calls", "context_switches", "load_busy", "memory"})

    def test_clients_that_know_what_they_used_are_quoted(self):
        seen = Figures(requests=1000, seconds=0.5, bytes_per_second=240_000.0)
        cost = Cost(0.01, None, load_processor_seconds=0.4, memory_megabytes=7.5)
        found = {each["metric"]: each["value"] for each in baseline.metrics_of(seen, cost)}
        self.assertEqual((found["load_busy"], found["memory"]), (80.0, 7.5))

    def counted_by(self, script: str) -> tuple[str | None, int | None, str | None]:
        """Of a counter: its refusal at first, its count, its refusal in the end."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "calls")
            program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            program.chmod(0o755)
            calls = baseline.CallCounter(program, 1)
            return calls.refusal, calls.read(), calls.refusal

    def test_a_count_that_failed_in_the_end_has_its_reason(self):
        script = """echo '{"counting": true}'; cat > /dev/null; echo '{"system_calls_not_counted": "lost"}'"""
        self.assertEqual(self.counted_by(script), (None, None, "lost"))

    def test_who_cannot_count_at_all_has_its_reason_in_the_end_as_well(self):
        script = """echo '{"system_calls_not_counted": "no tracefs"}'"""
        self.assertEqual(self.counted_by(script), ("no tracefs", None, "no tracefs"))

    def test_the_core_for_the_kernel_is_none_of_those_granted(self):
        with mock.patch("os.cpu_count", return_value=4), \
                mock.patch("os.sched_getaffinity", return_value={2, 3}):
            self.assertEqual(baseline.polling_core(), 1)
        with mock.patch("os.cpu_count", return_value=2), \
                mock.patch("os.sched_getaffinity", return_value={0, 1}):
            self.assertIsNone(baseline.polling_core())


class Origin(unittest.TestCase):
    def test_another_build_of_the_server_is_another_fingerprint(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench.__new__(Bench)
            bench._folder = Path(folder)
            server = bench._folder / "lab_baseline_gyre"
            ours = Contender("gyre_uring", "gyre", ("baseline.py", "--server", server.name),
                             ("baseline",))
            server.write_text("one build", encoding="utf-8")
            before = bench.fingerprint([ours])
            server.write_text("another", encoding="utf-8")
            self.assertNotEqual(bench.fingerprint([ours]), before)


if __name__ == "__main__":
    unittest.main()
