# SPDX-License-Identifier: BSL-1.0
#
# A slowdown that is not planted would be one that nobody sees.
"""Tests of planted.py, as far as they take no hour."""

import unittest

import planted
from evidence import Run


class Plants(unittest.TestCase):
    def setUp(self):
        self.source = (planted.HERE.parent / planted.FILE).read_text(encoding="utf-8")

    def test_each_variant_differs_from_the_source_but_for_the_one_that_is_it(self):
        made = {each: planted.planted(self.source, each) for each in planted.VARIANTS}
        self.assertEqual(made["as_it_is"], self.source)
        self.assertEqual(len(set(made.values())), 3)

    def test_a_source_that_sends_otherwise_is_refused(self):
        for other in (self.source.replace("::send(", "::sendto("), self.source + planted.SEND):
            with self.assertRaisesRegex(ValueError, "does not send as planted.py knows it"):
                planted.planted(other, "slower")

    def test_what_is_slower_is_counted_as_worse_and_the_same_as_nothing(self):
        def run(speed):
            noise = [1.0, 1.001, 0.999, 1.0, 1.002]
            rows = [{"suite": "latency", "case": "tcp_64", "contender": name, "metric": "p50", "unit": "us",
                     "better": "lower", "samples": [value * each for each in noise]}
                    for name, value in (("gyre_uring", 4 * speed), ("gyre_uring (control)", 4 * speed),
                                        ("asio_callback", 5.0))]
            return Run({"machine": {}, "rows": rows, "contenders": [
                {"name": "gyre_uring", "family": "gyre"}, {"name": "asio_callback", "family": "asio"}],
                "controls": [{"suite": "latency", "case": "tcp_64", "contender": "gyre_uring"}]})

        self.assertEqual(planted.verdicts(run(1.0), run(1.1))["worse"], 1)
        same = planted.verdicts(run(1.0), run(1.0))
        self.assertEqual((same["worse"], same["better"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
