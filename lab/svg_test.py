# SPDX-License-Identifier: BSL-1.0
#
# A name with an angle bracket must not become an element, and a shape must stand where its value is.
"""Checks svg.py."""

import unittest
import xml.etree.ElementTree as ElementTree

import svg


class Elements(unittest.TestCase):
    def test_text_and_attributes_are_escaped(self):
        drawn = svg.text(1, 2, 'a <b> & "c"', class_='x"y')
        found = ElementTree.fromstring(drawn)
        self.assertEqual((found.text, found.get("class")), ('a <b> & "c"', 'x"y'))

    def test_names_of_attributes_are_those_of_the_language(self):
        self.assertEqual(svg.line(0, 0, 1.25, 2, stroke_dasharray="4 3", class_="k", id=None),
                         '<line x1="0" y1="0" x2="1.2" y2="2" stroke-dasharray="4 3" class="k"/>')

    def test_a_picture_has_a_role_and_a_name(self):
        found = ElementTree.fromstring(svg.picture(10, 20, "a < b"))
        self.assertEqual((found.get("role"), found.get("aria-label"), found.get("viewBox")),
                         ("img", "a < b", "0 0 10 20"))
        self.assertEqual(found[0].text, "a < b")

    def test_nothing_is_minus_zero(self):
        self.assertEqual(svg.number(-0.01), "0")


class Markers(unittest.TestCase):
    def test_every_shape_surrounds_its_point_and_tells_its_figure(self):
        for shape in ("circle", *svg.SHAPES):
            with self.subTest(shape=shape):
                found = ElementTree.fromstring(svg.marker(shape, 50, 70, 3, "1.2 μs"))
                self.assertEqual(found[0].text, "1.2 μs")
                if shape == "circle":
                    self.assertEqual((found.get("cx"), found.get("cy"), found.get("r")), ("50", "70", "3"))
                    continue
                corners = [tuple(map(float, each.split(","))) for each in found.get("points").split()]
                for at, middle in ((0, 50), (1, 70)):
                    places = [each[at] for each in corners]
                    self.assertLess(min(places), middle)
                    self.assertGreater(max(places), middle)
                    self.assertLess(max(places) - min(places), 10)


if __name__ == "__main__":
    unittest.main()
