# SPDX-License-Identifier: BSL-1.0
#
# Two contenders that look alike, or one that looks different in two plots, make a plot lie.
"""Checks palette.py."""

import unittest

import palette
from evidence import Run


def run_of(families: dict[str, str]) -> Run:
    return Run({"machine": {}, "rows": [],
                "contenders": [{"name": name, "family": family} for name, family in families.items()]})


FAMILIES = {"gyre_uring": "gyre", "gyre_epoll": "gyre", "asio_callback": "asio", "asio_coroutine": "asio",
            "asio_callback_uring": "asio", "asio_callback_per_thread": "asio",
            "asio_callback_uring_per_thread": "asio", "gyre_uring_leases": "gyre", "raw_epoll": "floor",
            "raw_uring": "floor", "libuv": "libuv", "go": "go", "tokio": "tokio", "monoio": "monoio",
            "netty_epoll": "netty", "uvloop": "uvloop"}


def contrast(colour: str, paper: str) -> float:
    """As accessibility guidelines count it: 3 is asked for of graphics."""
    def luminance(of: str) -> float:
        parts = [int(of[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
                            for each in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    first, second = sorted((luminance(colour), luminance(paper)), reverse=True)
    return (first + 0.05) / (second + 0.05)


class Styles(unittest.TestCase):
    def test_gyre_looks_the_same_whoever_takes_part(self):
        alone, among = run_of({"gyre_epoll": "gyre"}), run_of(FAMILIES)
        for attribute in ("light", "dark", "shape", "dash"):
            self.assertEqual(*(getattr(palette.style_of(each, "gyre_epoll"), attribute)
                               for each in (alone, among)))

    def test_no_two_contenders_look_alike(self):
        styles = palette.styles(run_of(FAMILIES))
        looks = {(each.light, each.shape, each.dash) for each in styles.values()}
        self.assertEqual(len(looks), len(FAMILIES))
        self.assertEqual(len({each.css_class for each in styles.values()}), len(FAMILIES))

    def test_a_variant_has_the_colour_of_what_it_is_a_variant_of(self):
        styles = palette.styles(run_of(FAMILIES))
        plain, variant = styles["asio_callback"], styles["asio_callback_uring_per_thread"]
        self.assertEqual((plain.light, plain.shape), (variant.light, variant.shape))
        self.assertEqual((plain.hollow, variant.hollow), (False, True))

    def test_the_floor_is_grey_and_dashed(self):
        style = palette.style_of(run_of(FAMILIES), "raw_epoll")
        self.assertEqual((style.light, style.dash), (palette.GREY[0], palette.FLOOR_DASH))

    def test_colours_can_be_seen_on_their_paper(self):
        for name, style in palette.styles(run_of(FAMILIES)).items():
            with self.subTest(name=name):
                self.assertGreater(contrast(style.light, "#ffffff"), 2.6)
                self.assertGreater(contrast(style.dark, "#12161b"), 4.5)

    def test_both_themes_have_a_colour_for_everybody(self):
        sheet = palette.style_sheet(run_of(FAMILIES))
        light, dark = sheet.split("@media", 1)
        self.assertIn("prefers-color-scheme:dark", dark)
        self.assertEqual((light.count("--c:"), dark.count("--c:")), (len(FAMILIES), len(FAMILIES)))


if __name__ == "__main__":
    unittest.main()
