# SPDX-License-Identifier: BSL-1.0
#
# A mistake in a formula would not make a table look wrong.
"""Checks student.py against printed tables, and against draws whose truth is known."""

import math
import unittest

import numpy

import student


class Pairs(unittest.TestCase):
    def test_student_tails_match_printed_tables(self):
        for degrees, t in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571),
                           (9, 2.262), (10, 2.228), (30, 2.042)):
            with self.subTest(degrees=degrees):
                self.assertAlmostEqual(student.student_tail(t, degrees), 0.05, delta=5e-5)

    def test_a_t_of_zero_is_no_evidence(self):
        for degrees in range(1, 12):
            self.assertAlmostEqual(student.student_tail(0.0, degrees), 1.0)

    def test_holm_multiplies_the_smallest_by_all_and_never_decreases(self):
        self.assertEqual(student.holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])

    def test_quantiles_of_student_are_those_of_the_tables(self):
        # Abramowitz and Stegun, table 26.10.
        for degrees, quantile in ((1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)):
            self.assertAlmostEqual(student.student_quantile(degrees), quantile, places=3)

    def test_an_interval_lies_around_the_ratios(self):
        low, high = student.interval(numpy.asarray([1.1, 1.2, 1.3, 1.25, 1.15]))
        self.assertAlmostEqual(math.sqrt(low * high), 1.19791, places=5)  # The geometric mean.
        self.assertAlmostEqual(high / low, 1.17819, places=5)

    def test_equal_ratios_have_an_interval_of_no_width(self):
        low, high = student.interval(numpy.asarray([1.25] * 5))
        self.assertAlmostEqual(low, 1.25)
        self.assertAlmostEqual(high, 1.25)
        self.assertEqual(student.interval_text(low, high), "1.25 to 1.25")

    def test_of_one_ratio_nothing_is_known(self):
        low, high = student.interval(numpy.asarray([1.25]))
        self.assertEqual((low, high), (0.0, math.inf))
        self.assertEqual(student.interval_text(low, high), "one round")

    def test_intervals_cover_the_truth_as_often_as_they_say(self):
        for rounds in (2, 3, 5, 10):
            for draw in ("normal", "laplace"):  # The second for machines that stall now and then.
                random = numpy.random.default_rng(seed=rounds)
                covered = 0
                for _ in range(2000):
                    low, high = student.interval(numpy.exp(getattr(random, draw)(0, 0.1, rounds)))
                    covered += low <= 1 <= high
                self.assertGreaterEqual(covered / 2000, 0.94, f"{draw}, {rounds} rounds")
                self.assertLessEqual(covered / 2000, 0.985, f"{draw}, {rounds} rounds")


class Runs(unittest.TestCase):
    def test_welch_of_equal_variances_is_students_test(self):
        # Means 0 and 1, variances 1 each, five and five: t = 1 / sqrt(2/5), 8 degrees of freedom.
        before = numpy.asarray([-1.0, -1.0, 0.0, 1.0, 1.0])
        t = 1 / (2 / 5) ** 0.5
        self.assertAlmostEqual(student.welch_p_value(before, before + 1.0),
                               student.student_tail(t, 8))

    def test_welchs_interval_is_student_s_around_the_difference(self):
        before = numpy.asarray([-1.0, -1.0, 0.0, 1.0, 1.0])
        low, high = student.welch_interval(before, before + 0.5)
        self.assertAlmostEqual(math.log(low) + math.log(high), 1.0)
        self.assertAlmostEqual(math.log(high) - 0.5, 2.306 * (2 / 5) ** 0.5, places=3)  # Of 8 degrees.

    def test_welchs_intervals_cover_the_truth_as_often_as_they_say(self):
        for rounds, others in ((2, 2), (3, 5), (5, 5), (10, 4)):
            random = numpy.random.default_rng(seed=rounds)
            covered = 0
            for _ in range(1000):
                low, high = student.welch_interval(random.normal(0, 0.02, rounds),
                                                   random.normal(0.1, 0.05, others))
                covered += low <= math.exp(0.1) <= high
            self.assertGreaterEqual(covered / 1000, 0.94, f"{rounds} and {others} rounds, seed {rounds}")

    def test_single_rounds_prove_nothing(self):
        one = numpy.asarray([1.0])
        self.assertEqual(student.welch_p_value(one, one + 5), 1.0)

    def test_constants_that_differ_differ(self):
        same = numpy.asarray([1.0, 1.0])
        self.assertEqual(student.welch_p_value(same, same + 1), 0.0)
        self.assertEqual(student.welch_p_value(same, same), 1.0)


if __name__ == "__main__":
    unittest.main()
