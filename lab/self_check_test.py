# SPDX-License-Identifier: BSL-1.0
#
# Who checks the lab has to find a fault, and not to cry wolf.
"""Checks self_check.py on runs whose truth is known."""

import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import numpy

import self_check


def row(contender, samples, case="post", metric="throughput"):
    return {"suite": "dispatch", "case": case, "contender": contender, "metric": metric,
            "unit": "Mops/s", "better": "higher", "samples": samples}


def document(rows):
    return {"machine": {}, "contenders": [], "controls": [], "rows": rows}


def twins(cases, rounds=5, bias=1.0, seed=1):
    """Many cases of a program that is as fast as itself, but for `bias`."""
    random = numpy.random.default_rng(seed=seed)
    rows = []
    for case in range(cases):
        for name, factor in (("gyre_uring", 1.0), ("gyre_uring (twin)", bias)):
            rows.append(row(name, list(factor * numpy.exp(random.normal(0, 0.05, rounds))),
                            case=f"case_{case}"))
    return document(rows)


def checked(content) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as out:
        path = Path(folder) / "run.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        sys.argv = ["self_check.py", str(path)]
        return self_check.main(), out.getvalue()


class SelfCheck(unittest.TestCase):
    def test_programs_that_are_as_fast_as_themselves_agree(self):
        code, text = checked(twins(300))
        self.assertEqual(code, 0)
        self.assertRegex(text, r"dispatch +300 +2[789]\d +9\d\.\d %")

    def test_who_is_slower_the_second_time_is_found(self):
        code, text = checked(twins(300, bias=0.9))
        self.assertEqual(code, 1)
        self.assertIn("dispatch case_", text)
        self.assertRegex(text, r"and \d+ more, less far apart")

    def test_what_chance_explains_is_the_binomial_distribution(self):
        # P(X <= 17) = 0.0755 and P(X <= 14) = 0.0003, P(X <= 15) = 0.0026 for 20 at 95 %.
        self.assertEqual(self_check.fewest_expected(20), 15)
        self.assertEqual(self_check.fewest_expected(1), 0)
        self.assertGreater(self_check.fewest_expected(2000), 1860)  # Far beyond where 0.05^n is 0.
        self.assertLess(self_check.fewest_expected(2000), 1880)

    def test_only_what_is_judged_counts_and_single_rounds_do_not(self):
        rows = [row("a", [1.0, 1.0]), row("a (twin)", [1.0, 1.0]),
                row("a", [1.0, 1.0], metric="p50"), row("a (twin)", [2.0, 2.0], metric="p50"),
                row("b", [1.0], case="once"), row("b (twin)", [2.0], case="once"),
                row("c", [1.0, 1.0])]
        found, left_out = self_check.check(self_check.Run(document(rows)))
        self.assertEqual([(each.contender, each.agrees) for each in found], [("a", True)])
        self.assertEqual(self_check.left_out_lines(left_out), [
            "left out: 1 of fewer than two rounds (1 of dispatch)",
            "left out: 1 without a twin (1 of dispatch)"])

    def test_who_fell_short_of_its_rate_is_left_out_and_said(self):
        rows = [row(name, values, metric=metric) | {"suite": "exchange", "unit": "us"}
                for name in ("a", "a (twin)")
                for metric, values in (("p50", [1.0, 2.0]), ("saturated", [1.0, 1.0]))]
        found, left_out = self_check.check(self_check.Run(document(rows)))
        self.assertEqual((found, left_out), ([], {"saturated": ["exchange"]}))

    def test_it_says_whether_the_share_is_what_it_should_be(self):
        rows = [row(name, [1.0, 1.0, 1.0], case=str(case))
                for case in range(20) for name in ("a", "a (twin)")]
        self.assertIn("the share reaches 95 %", checked(document(rows))[1])
        for each in rows[:4]:
            if each["contender"] == "a":
                each["samples"] = [2.0, 2.0, 2.0]
        code, text = checked(document(rows))
        self.assertIn("the share does not reach 95 %", text)
        self.assertEqual(code, 0)  # 18 of 20 are what chance explains.

    def test_a_run_without_twins_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "nobody has a twin"):
            checked(document([row("a", [1.0, 2.0])]))

    def test_a_file_that_is_none_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "self_check: .*run.json"):
            checked("{")


if __name__ == "__main__":
    unittest.main()
