# SPDX-License-Identifier: BSL-1.0
#
# The program that measures market data, run as run.py runs it: a turn has every figure that a table shows,
# each subscriber was told each level once, and what it cannot play is said.
"""market_data_test.py MARKET_DATA FACILITY DISTRIBUTOR BACKEND..."""

import json
import subprocess
import sys
import unittest

PROGRAM, FACILITY, DISTRIBUTOR = sys.argv[1:4]
BACKENDS = sys.argv[4:]
SUITE = "exchange_market_data"


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "--facility", FACILITY, "--distributor", DISTRIBUTOR, *words],
                          capture_output=True, text=True, timeout=120, check=False)


def listed(suite: str, scale: str = "quick") -> list[dict]:
    printed = run("--list", "--suite", suite, "--scale", scale).stdout
    return [json.loads(line) for line in printed.splitlines()]


def turn(backend: str, case: str, *words: str) -> dict:
    made = run("--backend", backend, "--case", case, *words)
    if made.returncode != 0:
        raise AssertionError(f"{backend} {case}: status {made.returncode}: {made.stderr}")
    return json.loads(made.stdout)


def metrics_of(report: dict) -> dict[str, float]:
    return {each["metric"]: each["value"] for each in report["metrics"]}


class MarketData(unittest.TestCase):
    def check(self, backend: str, case: str, told: int) -> dict[str, float]:
        report = turn(backend, case)
        found = metrics_of(report)
        self.assertEqual((report["case"], report["contender"]), (case, backend))
        self.assertEqual(found["told"], told)
        self.assertEqual(sum(count for _, count in report["latency_buckets"]), told)
        self.assertTrue(0 < found["min"] <= found["p50"] <= found["max"])
        self.assertGreater(found["cpu"], 0)
        self.assertGreater(found["facility_cpu"], 0)
        self.assertGreater(found["memory"], 1)
        return found

    def test_cases_are_listed_each_once_with_all_numbers_of_subscribers_over_both_transports(self):
        names = [each["case"] for each in listed(SUITE)]
        self.assertEqual(len(names), len(set(names)))
        for transport in ("tcp", "json"):
            for subscribers in (1, 10, 100, 1000):
                self.assertIn(f"{transport}_{subscribers}", names)
        self.assertIn("json_1000_10_silent", names)
        self.assertIn("tcp_100_1_silent", names)

    def test_what_is_tuned_is_among_them(self):
        names = {each["case"] for each in listed(SUITE)}
        tuned = {each["case"] for each in listed(f"{SUITE}_tuning")}
        self.assertTrue(tuned and tuned < names)

    def test_a_level_reaches_each_of_ten_subscribers_on_every_backend_over_both_transports(self):
        for backend in BACKENDS:
            for case in ("tcp_10", "json_10"):
                with self.subTest(backend=backend, case=case):
                    self.check(backend, case, told=10 * 300)

    def test_subscribers_that_never_read_are_not_counted_and_the_others_are_told_all(self):
        for backend in BACKENDS:
            with self.subTest(backend=backend):
                self.check(backend, "tcp_100_1_silent", told=99 * 60)

    def test_a_thousand_subscribers_are_told(self):
        self.check(BACKENDS[0], "json_1000_10_silent", told=990 * 12)

    def test_changes_that_are_told_seldom_arrive_later(self):
        late = metrics_of(turn(BACKENDS[0], "tcp_10", "--told-every-ms", "50"))
        self.assertGreater(late["p50"], 5_000)

    def test_what_cannot_be_played_is_said(self):
        made = run("--backend", BACKENDS[0], "--case", "tcp_2")
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("no such case", made.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
