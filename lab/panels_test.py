# SPDX-License-Identifier: BSL-1.0
#
# A point at the wrong place is a wrong claim that no reader can see.
"""Checks the scales, curves and legends of panels.py."""

import re
import unittest
import xml.etree.ElementTree as ElementTree

import panels
from palette import Style
from panels import Curve, Panel, Point

STYLE = Style("k0", "#000000", "#ffffff", "circle", None, False)


class Scales(unittest.TestCase):
    def test_a_linear_axis_begins_at_zero(self):
        scale = panels.linear([40.0, 80.0])
        self.assertEqual(scale.place(0.0), 0.0)
        self.assertAlmostEqual(scale.place(80.0), 2 * scale.place(40.0))
        self.assertEqual([label for _, label in scale.ticks], ["0", "20", "40", "60", "80"])

    def test_equal_factors_take_equal_space_on_a_logarithmic_axis(self):
        scale = panels.logarithmic([1.0, 100.0])
        self.assertAlmostEqual(scale.place(10) - scale.place(1), scale.place(100) - scale.place(10))
        self.assertIn((10, "10"), scale.ticks)

    def test_each_nine_takes_as_much_space_as_the_one_before(self):
        scale = panels.nines([50.0, 90.0, 99.0, 99.9, 99.99])
        places = [scale.place(each) for each in (90.0, 99.0, 99.9, 99.99)]
        steps = [after - before for before, after in zip(places, places[1:])]
        self.assertAlmostEqual(steps[0], steps[1])
        self.assertAlmostEqual(steps[1], steps[2])
        self.assertEqual([label for _, label in scale.ticks], ["p50", "p90", "p99", "p99.9", "p99.99"])

    def test_values_beyond_the_ends_stay_on_the_axis(self):
        scale = panels.linear([10.0])
        self.assertEqual((scale.place(-5.0), scale.place(1000.0)), (0.0, 1.0))

    def test_every_range_has_a_few_ticks(self):
        for low in (0.003, 0.97, 1.0, 7.0, 12_345.0):
            for span in (1.001, 1.03, 1.5, 4.0, 30.0, 1e3, 1e6, 1e9):
                with self.subTest(low=low, span=span):
                    scale = panels.logarithmic([low, low * span])
                    self.assertTrue(1 <= len(scale.ticks) <= 1 / panels.GAP_MIN, scale.ticks)
                    places = [scale.place(value) for value, _ in scale.ticks]
                    self.assertTrue(all(after - before > panels.GAP_MIN - 1e-9
                                        for before, after in zip(places, places[1:])), scale.ticks)
                    self.assertTrue(all(scale.low <= value <= scale.high for value, _ in scale.ticks))
                    self.assertEqual(len({label for _, label in scale.ticks}), len(scale.ticks))

    def test_no_value_at_all_is_no_reason_to_fail(self):
        self.assertTrue(panels.linear([]).ticks)
        self.assertTrue(panels.logarithmic([0.0]).ticks)

    def test_labels_are_short(self):
        self.assertEqual([panels.label_of(each) for each in (0.05, 2.5, 1500.0, 40_000.0, 2e6)],
                         ["0.05", "2.5", "1,500", "40k", "2M"])


class Panels(unittest.TestCase):
    def panel(self, points) -> ElementTree.Element:
        curve = Curve(STYLE, [Point(x, y, f"{y}", low, high) for x, y, low, high in points])
        return ElementTree.fromstring(Panel("a title", panels.ordered(["1", "2"]), panels.linear([100.0]),
                                            "threads", "per second", [curve]).draw())

    def test_more_is_higher_and_later_is_farther_right(self):
        found = self.panel([(0.0, 20.0, 19.0, 21.0), (1.0, 80.0, 70.0, 90.0)])
        first, second = [(float(each.get("cx")), float(each.get("cy"))) for each in found.iter("circle")]
        self.assertLess(first[0], second[0])
        self.assertGreater(first[1], second[1])

    def test_a_band_goes_from_the_lowest_to_the_highest(self):
        found = self.panel([(0.0, 20.0, 0.0, 40.0), (1.0, 80.0, 70.0, 90.0)])
        corners = re.split("[ ,]", next(found.iter("polygon")).get("points"))
        downs = list(map(float, corners[1::2]))
        self.assertEqual(max(downs), panels.HEIGHT - panels.BOTTOM)
        self.assertEqual(len(downs), 4)

    def test_points_tell_their_figures_and_the_panel_its_name(self):
        found = self.panel([(0.0, 20.0, None, None)])
        self.assertEqual(found.get("aria-label"), "a title: per second by threads")
        self.assertEqual(next(found.iter("circle"))[0].text, "20.0")
        self.assertEqual(len(list(found.iter("polygon"))), 0)

    def test_the_first_curve_is_drawn_over_the_others(self):
        curves = [Curve(Style(name, "", "", "circle", None, False), [Point(0.0, 1.0, name)])
                  for name in ("k0", "k1", "k2")]
        drawn = Panel("t", panels.ordered(["1"]), panels.linear([1.0]), "x", "y", curves).draw()
        self.assertEqual(re.findall('<g class="(k.)">', drawn), ["k2", "k1", "k0"])

    def test_a_legend_names_everybody(self):
        drawn = panels.legend({"a<b": STYLE, "c": STYLE})
        self.assertEqual(drawn.count("<li "), 2)
        self.assertIn("a&lt;b", drawn)


if __name__ == "__main__":
    unittest.main()
