# SPDX-License-Identifier: BSL-1.0
#
# A peer that nobody looks at could be faster than all of ours, and the summary would say "won".
"""Checks standing.py on runs that are made up."""

import unittest

import standing
from evidence import Run

FAMILIES = {"gyre_uring": "gyre", "asio_callback": "asio", "libuv": "libuv", "raw_epoll": "floor"}
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98)


def run_of(speeds: dict[str, float], control=1.0, drift=NOISE) -> Run:
    """`echo`, in which processor time is judged; `control`: how much slower the second of ours is."""
    def row(name, value, samples):
        return {"suite": "echo", "case": "64_1", "contender": name, "metric": "cpu", "unit": "ns/op",
                "better": "lower", "samples": [value * each for each in samples]}

    noise = {name: [each * (1 + 0.002 * index * (-1) ** at) for at, each in enumerate(drift)]
             for index, name in enumerate(speeds)}
    rows = [row(name, 1000 / speed, noise[name]) for name, speed in speeds.items()]
    rows.append(row("gyre_uring (control)", 1000 / speeds["gyre_uring"] * control, noise["gyre_uring"]))
    return Run({"machine": {}, "rows": rows, "controls": [{"suite": "echo", "case": "64_1",
                                                           "contender": "gyre_uring"}],
                "contenders": [{"name": each, "family": FAMILIES[each]} for each in speeds]})


def only(run: Run) -> standing.Standing:
    found = standing.standings(run)
    assert len(found) == 1, found
    return found[0]


class Verdicts(unittest.TestCase):
    def test_the_best_peer_need_not_be_asio(self):
        found = only(run_of({"gyre_uring": 1.5, "asio_callback": 1.0, "libuv": 2.0}))
        self.assertEqual((found.peer, found.verdict), ("libuv", "lost"))
        self.assertAlmostEqual(found.ratio, 0.75, delta=0.01)
        self.assertLess(found.low, found.ratio)
        self.assertGreater(found.high, found.ratio)

    def test_a_floor_is_no_peer(self):
        found = only(run_of({"gyre_uring": 1.5, "asio_callback": 1.0, "raw_epoll": 3.0}))
        self.assertEqual((found.peer, found.verdict), ("asio_callback", "won"))

    def test_a_difference_within_the_control_is_a_tie(self):
        found = only(run_of({"gyre_uring": 1.02, "asio_callback": 1.0}, control=1.04))
        self.assertEqual(found.verdict, "tied")

    def test_a_wide_control_voids_the_row(self):
        self.assertEqual(only(run_of({"gyre_uring": 2.0, "asio_callback": 1.0}, control=1.2)).verdict, "void")

    def test_two_rounds_decide_nothing_small(self):
        run = run_of({"gyre_uring": 1.01, "asio_callback": 1.0}, drift=(1.0, 1.05))
        self.assertEqual(only(run).verdict, "undecided")

    def test_every_verdict_is_counted(self):
        found = standing.standings(run_of({"gyre_uring": 2.0, "asio_callback": 1.0}))
        self.assertEqual(standing.counts(found), {"won": 1, "tied": 0, "undecided": 0, "lost": 0, "void": 0})

    def test_without_peers_there_is_nothing_to_judge(self):
        self.assertEqual(standing.standings(run_of({"gyre_uring": 2.0, "raw_epoll": 1.0})), [])


class Losses(unittest.TestCase):
    def test_a_loss_to_another_library_than_asio_is_confirmed_too(self):
        (loss, against), = standing.losses(run_of({"gyre_uring": 1.5, "asio_callback": 1.0, "libuv": 2.0}))
        self.assertEqual((loss.peer, loss.remark, against.verdict), ("libuv", "confirmed", "lost"))

    def test_who_wins_does_not_stand_there(self):
        self.assertEqual(standing.losses(run_of({"gyre_uring": 2.0, "asio_callback": 1.0})), [])


if __name__ == "__main__":
    unittest.main()
