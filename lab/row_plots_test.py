# SPDX-License-Identifier: BSL-1.0
#
# Whether a mark stands left or right of 1 is what a reader takes home.
"""Checks row_plots.py."""

import unittest
import xml.etree.ElementTree as ElementTree

import panels
import row_plots
from palette import Style
from row_plots import Mark, Row, RowPlot

STYLE = Style("k0", "#000000", "#ffffff", "circle", None, False)


def mark(value, low=None, high=None, **more) -> Mark:
    return Mark(STYLE, value, f"{value}", low, high, **more)


def drawn(rows, scale=None, **more) -> ElementTree.Element:
    scale = scale or panels.logarithmic([0.5, 2.0], row_plots.GAP_MIN)
    return ElementTree.fromstring(RowPlot("t", scale, "x", rows, at_one=True, **more).draw())


def of_class(found, name) -> list:
    return [each for each in found.iter() if name in (each.get("class") or "").split()]


class Rows(unittest.TestCase):
    def test_better_is_right_of_the_line_and_worse_is_left_of_it(self):
        found = drawn([Row("a", [mark(0.8)]), Row("b", [mark(1.25)])])
        one = float(of_class(found, "one")[0].get("x1"))
        worse, better = (float(each.get("cx")) for each in found.iter("circle"))
        self.assertLess(worse, one)
        self.assertGreater(better, one)
        self.assertAlmostEqual(one - worse, better - one, delta=0.2)

    def test_the_control_stands_around_the_line(self):
        found = drawn([Row("a", [mark(1.1)], band=(1 / 1.1, 1.1))])
        one, band = float(of_class(found, "one")[0].get("x1")), of_class(found, "control")[0]
        self.assertAlmostEqual(float(band.get("x")) + float(band.get("width")) / 2, one, delta=0.2)

    def test_an_interval_beyond_the_axis_has_an_arrow_on_that_side(self):
        found = drawn([Row("a", [mark(1.0, 0.9, 50.0)])])
        self.assertEqual(len(of_class(found, "beyond")), 1)
        tip, foot = (float(each.split(",")[0])
                     for each in of_class(found, "beyond")[0].get("points").split()[:2])
        self.assertGreater(foot, row_plots.WIDTH / 2)
        self.assertGreater(tip, foot)
        self.assertEqual(of_class(drawn([Row("a", [mark(1.0, 0.9, 1.1)])]), "beyond"), [])

    def test_marks_with_lanes_stand_below_each_other(self):
        rows = [Row("a", [mark(1.0), mark(1.1)])]
        apart, together = ({each.get("cy") for each in drawn(rows, lanes=lanes).iter("circle")}
                           for lanes in (True, False))
        self.assertEqual((len(apart), len(together)), (2, 1))

    def test_a_void_mark_looks_void(self):
        found = drawn([Row("a", [mark(1.0, void=True, note="void")])], lanes=True)
        self.assertEqual(len(of_class(found, "void")), 1)
        self.assertEqual(len(of_class(found, "hollow")), 1)
        self.assertEqual(of_class(found, "note")[0].text, "void")

    def test_a_long_name_is_cut_and_whole_under_the_pointer(self):
        name = "a_case_with_a_name_that_does_not_fit"
        label = of_class(drawn([Row(name, [mark(1.0)])]), "name")[0]
        self.assertLessEqual(len(label.text), row_plots.NAME_LETTERS_MAX)
        self.assertTrue(label.text.endswith("…"))
        self.assertEqual(label[0].text, name)


class Scale(unittest.TestCase):
    def test_one_wide_interval_does_not_take_all_the_room(self):
        scale = row_plots.ratio_scale([mark(1.2, 0.01, 100.0), mark(1.1, 1.0, 1.2)])
        self.assertGreater(scale.low, 0.5)
        self.assertLess(scale.high, 2.5)

    def test_one_is_always_on_the_axis(self):
        for value in (0.2, 7.0):
            scale = row_plots.ratio_scale([mark(value, value * 0.99, value * 1.01)])
            self.assertTrue(scale.low < 1 < scale.high)


if __name__ == "__main__":
    unittest.main()
