# SPDX-License-Identifier: BSL-1.0
#
# What the lab's claims rest on. A mistake here would not make a table look wrong.
"""Checks evidence.py against known values and against runs whose truth is known."""

import unittest

import numpy

import evidence


def row(contender, samples, suite="dispatch", case="post", metric="throughput", better="higher"):
    return {"suite": suite, "case": case, "contender": contender, "metric": metric,
            "unit": "Mops/s", "better": better, "samples": list(samples)}


def run_of(rows, controlled="gyre_uring"):
    names = ["gyre_uring", "gyre_epoll", "asio_callback", "asio_coroutine", "raw_syscalls", "tokio", "go"]
    families = ["gyre", "gyre", "asio", "asio", "floor", "tokio", "go"]
    cases = {(each["suite"], each["case"]) for each in rows}
    return evidence.Run({
        "machine": {},
        "contenders": [{"name": n, "family": f} for n, f in zip(names, families)],
        "controls": [{"suite": s, "case": c, "contender": controlled} for s, c in cases],
        "rows": rows,
    })


class Arithmetic(unittest.TestCase):
    def test_ratios_above_one_are_better_in_both_directions(self):
        self.assertEqual(list(evidence.paired_ratios([2.0], [1.0], "higher")), [2.0])
        self.assertEqual(list(evidence.paired_ratios([1.0], [2.0], "lower")), [2.0])

    def test_zeros_have_no_ratio(self):
        self.assertEqual(list(evidence.paired_ratios([0.0, 4.0], [0.0, 2.0], "higher")), [2.0])

    def test_a_drift_common_to_a_round_cancels(self):
        drifting = numpy.asarray([1.0, 0.8, 0.6, 0.9, 0.7])
        self.assertAlmostEqual(evidence.control_spread(drifting, drifting * 1.02), 0.02)


class Verdicts(unittest.TestCase):
    def test_a_large_steady_difference_is_confirmed(self):
        run = run_of([row("gyre_uring", [20.0, 20.1, 19.9, 20.0, 20.1]),
                      row("gyre_uring (control)", [20.1, 20.0, 20.0, 19.9, 20.0]),
                      row("asio_callback", [10.0, 10.1, 10.0, 9.9, 10.0])])
        found = run.comparison("dispatch", "post", "throughput", "gyre_uring")
        self.assertEqual((found.verdict, found.reference), ("better", "asio_callback"))
        self.assertAlmostEqual(found.ratio, 2.0, delta=0.05)

    def test_less_time_is_better_where_lower_is_better(self):
        rows = [row("gyre_uring", [5.0, 5.1, 5.0, 4.9, 5.0], "latency", "tcp_64", "mean", "lower"),
                row("gyre_uring (control)", [5.0, 5.1, 5.0, 4.9, 5.0], "latency", "tcp_64", "mean", "lower"),
                row("asio_callback", [8.0, 8.1, 8.0, 7.9, 8.1], "latency", "tcp_64", "mean",
                    "lower")]
        found = run_of(rows).comparison("latency", "tcp_64", "mean", "gyre_uring")
        self.assertEqual(found.verdict, "better")
        self.assertAlmostEqual(found.ratio, 1.6, delta=0.05)

    def test_the_reference_is_the_best_row_of_asio(self):
        run = run_of([row("gyre_uring", [3.0] * 5), row("asio_callback", [1.0] * 5),
                      row("asio_coroutine", [2.0] * 5)])
        self.assertEqual(run.reference("dispatch", "post", "throughput"), "asio_coroutine")

    def test_a_difference_within_the_control_is_no_difference(self):
        run = run_of([row("gyre_uring", [10.2, 10.2, 10.2, 10.2, 10.2]),
                      row("gyre_uring (control)", [10.5, 9.9, 10.5, 9.9, 10.5]),
                      row("asio_callback", [10.0] * 5)])
        found = run.comparison("dispatch", "post", "throughput", "gyre_uring")
        self.assertEqual(found.verdict, "no difference")

    def test_a_noisy_control_voids_the_row(self):
        run = run_of([row("gyre_uring", [20.0, 22.0, 18.0, 20.0, 21.0]),
                      row("gyre_uring (control)", [18.0, 20.0, 20.0, 18.0, 18.0]),
                      row("asio_callback", [10.0] * 5)])
        self.assertTrue(run.is_void("dispatch", "post"))
        found = run.comparison("dispatch", "post", "throughput", "gyre_uring")
        self.assertEqual(found.verdict, "void")

    def test_without_a_control_nothing_is_claimed(self):
        rows = [row("gyre_uring", [5.0] * 5), row("asio_callback", [10.0, 10.1, 9.9, 10.0, 10.0])]
        found = run_of(rows)
        self.assertEqual(found.comparison("dispatch", "post", "throughput", "gyre_uring").verdict,
                         "no control")
        self.assertEqual([each.remark for each in evidence.losses(found)], ["no control"])

    def test_a_scattered_difference_is_undecided(self):
        run = run_of([row("gyre_uring", [10.0, 14.0, 9.5, 13.0, 12.0]),
                      row("gyre_uring (control)", [10.0, 14.0, 9.5, 13.0, 12.0]),
                      row("asio_callback", [10.0, 10.5, 10.2, 9.8, 10.0])])
        found = run.comparison("dispatch", "post", "throughput", "gyre_uring")
        self.assertEqual(found.verdict, "undecided")

    def test_asio_and_the_floor_are_compared_but_not_judged(self):
        run = run_of([row("asio_callback", [10.0] * 5), row("asio_coroutine", [5.0] * 5),
                      row("raw_syscalls", [40.0] * 5)])
        verdicts = {each.contender: each.verdict for each in run.comparisons()}
        self.assertEqual(verdicts, {"asio_coroutine": "not judged", "raw_syscalls": "not judged"})

    def test_other_libraries_are_not_judged_and_burden_nobody(self):
        ours = [row("gyre_uring", [5.0, 5.1, 5.0, 4.9, 5.0]), row("asio_callback", [6.0, 6.1, 6.0, 5.9, 6.2]),
                row("gyre_uring (control)", [5.0] * 5)]
        peers = [row("go", [3.0, 3.1, 3.0, 2.9, 3.0])]
        alone, among = (run_of(rows).comparison("dispatch", "post", "throughput", "gyre_uring")
                        for rows in (ours, ours + peers))
        self.assertEqual(alone, among)
        self.assertEqual(alone.p, alone.p_corrected)
        self.assertEqual(run_of(ours + peers).comparison("dispatch", "post", "throughput", "go").verdict,
                         "not judged")

    def test_other_suites_and_what_was_measured_once_burden_nobody(self):
        def rows(suite, case, rounds):
            return [row(name, samples[:rounds], suite, case) for name, samples in
                    (("gyre_uring", [5.0, 5.1, 5.0, 4.9, 5.0]), ("gyre_uring (control)", [5.0] * 5),
                     ("asio_callback", [6.0, 6.1, 6.0, 5.9, 6.2]))]

        ours = rows("dispatch", "post", 5)
        for others in (rows("fan_out", "64", 5), rows("dispatch", "spawn", 1)):
            found = run_of(ours + others)
            mine = found.comparison("dispatch", "post", "throughput", "gyre_uring")
            self.assertEqual(mine.p_corrected, mine.p)
        twice = run_of(ours + rows("dispatch", "spawn", 5))
        mine = twice.comparison("dispatch", "post", "throughput", "gyre_uring")
        self.assertEqual(mine.p_corrected, 2 * mine.p)
        once = found.comparison("dispatch", "spawn", "throughput", "gyre_uring")
        self.assertEqual((once.p_corrected, once.verdict), (1.0, "undecided"))

    def test_where_the_rate_is_given_it_is_not_judged_but_latency_is(self):
        def verdicts(case):
            rows = [row(name, [value, value + 0.01, value - 0.01], "echo", case, metric, "lower")
                    for metric in ("throughput", "p99", "cpu")
                    for name, value in (("gyre_uring", 5.0), ("gyre_uring (control)", 5.0),
                                        ("asio_callback", 8.0))]
            run = run_of(rows)
            return {metric: run.comparison("echo", case, metric, "gyre_uring").verdict
                    for metric in ("throughput", "p99", "cpu")}

        self.assertEqual(verdicts("block_1K_1"),
                         {"throughput": "better", "p99": "not judged", "cpu": "better"})
        self.assertEqual(verdicts("paced_block_1K_1"),
                         {"throughput": "not judged", "p99": "better", "cpu": "better"})
        self.assertEqual(evidence.judged_in("echo"), ("cpu", "throughput", "p50", "p99"))

    def test_equal_programs_are_rarely_told_apart(self):
        random = numpy.random.default_rng(seed=7)
        false_claims = 0
        for _ in range(200):
            rows = []
            for case in range(20):
                for name in ("gyre_uring", "gyre_uring (control)", "asio_callback"):
                    samples = 10.0 * numpy.exp(random.normal(0, 0.02, 5))
                    rows.append(row(name, samples, case=str(case)))
            verdicts = [each.verdict for each in run_of(rows).comparisons()]
            false_claims += any(each in ("better", "worse") for each in verdicts)
        self.assertLessEqual(false_claims / 200, 0.08)  # 5 % and the noise of 200 trials.


class Losses(unittest.TestCase):
    def test_losses_are_listed_worst_first_and_name_the_best_peer(self):
        run = run_of([row("gyre_uring", [5.0, 5.01, 5.0, 4.99, 5.0]),
                      row("gyre_uring (control)", [5.0, 5.0, 5.01, 4.99, 5.0]),
                      row("gyre_epoll", [9.0, 9.01, 9.0, 8.99, 9.0]),
                      row("asio_callback", [10.0, 10.01, 10.0, 9.99, 10.0]),
                      row("asio_coroutine", [1.0] * 5),
                      row("raw_syscalls", [100.0] * 5)])
        found = evidence.losses(run)
        self.assertEqual([each.contender for each in found], ["gyre_uring", "gyre_epoll"])
        self.assertEqual({each.peer for each in found}, {"asio_callback"})
        self.assertEqual({each.remark for each in found}, {"confirmed"})

    def test_a_loss_against_another_library_stands_on_its_own_test(self):
        # Below Asio for certain; against tokio, which is better still, one round says something else.
        scattered = [5.1, 20.0, 5.3, 40.0, 30.0]
        rows = [row("gyre_uring", [5.0, 5.01, 5.0, 4.99, 5.0]), row("gyre_uring (control)", [5.0] * 5),
                row("asio_callback", [7.0, 7.01, 7.0, 6.99, 7.0]), row("tokio", scattered)]
        run = run_of(rows)
        self.assertEqual(run.comparison("dispatch", "post", "throughput", "gyre_uring").verdict, "worse")
        [found] = evidence.losses(run)
        self.assertEqual((found.peer, found.remark), ("tokio", "undecided"))

    def test_one_may_win_against_asio_and_lose_for_certain_against_another(self):
        run = run_of([row("gyre_uring", [9.0, 9.01, 9.0, 8.99, 9.0]), row("gyre_uring (control)", [9.0] * 5),
                      row("asio_callback", [7.0, 7.01, 7.0, 6.99, 7.0]), row("tokio", [10.0] * 5)])
        self.assertEqual(run.comparison("dispatch", "post", "throughput", "gyre_uring").verdict, "better")
        against = run.peer_comparison("dispatch", "post", "throughput", "gyre_uring")
        self.assertEqual((against.reference, against.verdict), ("tokio", "worse"))
        self.assertLess(against.high, 1)
        self.assertEqual([each.remark for each in evidence.losses(run)], ["confirmed"])

    def test_who_spins_is_compared_with_those_who_do_and_who_sleeps_with_those_who_sleep(self):
        run = run_of([row("gyre_uring", [5.0] * 5), row("gyre_uring (control)", [5.0] * 5),
                      row("gyre_uring_spin", [18.0] * 5), row("asio_callback", [4.0] * 5),
                      row("asio_callback_spin", [20.0] * 5), row("go", [6.0] * 5)])
        key = ("dispatch", "post", "throughput")
        against = {each: (run.comparison(*key, each).reference, run.peer_comparison(*key, each).reference)
                   for each in ("gyre_uring", "gyre_uring_spin")}
        self.assertEqual(against, {"gyre_uring": ("asio_callback", "go"),
                                   "gyre_uring_spin": ("asio_callback_spin", "asio_callback_spin")})
        self.assertEqual([(each.contender, each.peer) for each in evidence.losses(run)],
                         [("gyre_uring", "go"), ("gyre_uring_spin", "asio_callback_spin")])

    def test_who_alone_spins_is_compared_with_the_best(self):
        run = run_of([row("gyre_uring_spin", [18.0] * 5), row("asio_callback", [4.0] * 5)])
        self.assertEqual(run.peer("dispatch", "post", "throughput", "gyre_uring_spin"), "asio_callback")

    def test_winning_everywhere_leaves_the_list_empty(self):
        run = run_of([row("gyre_uring", [20.0] * 5), row("asio_callback", [10.0] * 5)])
        self.assertEqual(evidence.losses(run), [])


if __name__ == "__main__":
    unittest.main()
