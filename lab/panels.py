# SPDX-License-Identifier: BSL-1.0
#
# Axes and what stands on them: one panel is one small plot, as wide as a phone.
#
# Several panels flow beside each other on wider screens, so that letters have nearly the same size on
# both. Legends are lists in the page, not part of a drawing: they wrap, and cannot be cut off.
"""Scales with their ticks, curves with bands, and legends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import svg
from palette import Style

WIDTH, HEIGHT = 360, 236
LEFT, RIGHT, TOP, BOTTOM = 50, 22, 24, 40
GAP_MIN = 0.07  # Between two ticks, as part of the axis.


@dataclass(frozen=True)
class Scale:
    """From values to a place between 0 and 1, and the values that are labelled."""

    low: float
    high: float
    ticks: list[tuple[float, str]]
    bend: Callable[[float], float] = float

    def place(self, value: float) -> float:
        """Values beyond the ends stand at the ends."""
        start, end = self.bend(self.low), self.bend(self.high)
        kept = min(max(value, self.low), self.high)
        return (self.bend(kept) - start) / (end - start)


def label_of(value: float) -> str:
    """As short as it can be: 0.05, 2.5, 40, 1,500, 40k, 2M."""
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:,g}"


def nice_steps(low: float, high: float, count: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between `low` and `high`."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(each * step, 12) for each in range(first, last + 1)]


def linear(values: list[float]) -> Scale:
    """From zero, so that heights can be compared."""
    high = max(max(values, default=0.0), 1e-9) * 1.06
    return Scale(0.0, high, [(each, label_of(each)) for each in nice_steps(0.0, high)])


def logarithmic(values: list[float], gap_min: float = GAP_MIN) -> Scale:
    """All positive values with a little space around them."""
    positive = [each for each in values if each > 0] or [1.0]
    low, high = min(positive), max(positive)
    margin = max((high / low) ** 0.05, 1.02)
    low, high = low / margin, high * margin
    return Scale(low, high, [(each, label_of(each)) for each in _log_ticks(low, high, gap_min)], math.log)


LOG_TICKS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))


def _log_ticks(low: float, high: float, gap_min: float) -> list[float]:
    """The densest of the usual sets that is not too dense; on a short axis, plain steps."""
    gap = gap_min * math.log(high / low)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for multiples in LOG_TICKS:
        ticks = [round(each * 10.0 ** decade, 12) for decade in decades for each in multiples
                 if low <= each * 10.0 ** decade <= high]
        if all(math.log(after / before) >= gap for before, after in zip(ticks, ticks[1:])):
            found = ticks
    if len(found) < 3 and high / low < 4:
        found = [each for each in nice_steps(low, high, 4) if each > 0]
    return found or [10.0 ** each for each in decades if low <= 10.0 ** each <= high][::2]


def ordered(labels: list[str]) -> Scale:
    """Categories at equal distances: threads, buffers."""
    last = max(len(labels) - 1, 1)
    space = 0.08 * last
    return Scale(-space, last + space, [(float(place), label) for place, label in enumerate(labels)])


NINES = {50.0: "p50", 90.0: "p90", 99.0: "p99", 99.9: "p99.9", 99.99: "p99.99"}


def nines(per_cents: list[float]) -> Scale:
    """Quantiles so that each further nine takes as much space as the one before."""
    low, high = min(per_cents), max(max(per_cents), min(per_cents) + 1)
    return Scale(low, high, [(each, label) for each, label in NINES.items() if low <= each <= high],
                 lambda per_cent: -math.log10(1 - per_cent / 100))


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    hover: str
    low: float | None = None  # Where the band around the curve begins and ends.
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    style: Style
    points: list[Point]


@dataclass
class Panel:
    """One plot. Its title is the caption in the page and the name for who cannot see it."""

    title: str
    x: Scale
    y: Scale
    x_label: str
    y_label: str
    curves: list[Curve] = field(default_factory=list)
    name: str = ""  # Unique in a page, if something points at it.

    def draw(self) -> str:
        """The first curve is drawn last: nothing hides it."""
        return svg.picture(WIDTH, HEIGHT, f"{self.title}: {self.y_label} by {self.x_label}", *self._axes(),
                           *map(self._band, self.curves), *map(self._curve, reversed(self.curves)))

    def _across(self, value: float) -> float:
        return LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)

    def _down(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)

    def _axes(self) -> list[str]:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = [svg.text(2, 11, self.y_label, class_="axis"),
                 svg.text((LEFT + right) / 2, HEIGHT - 5, self.x_label, class_="axis", text_anchor="middle")]
        for value, label in self.y.ticks:
            parts.append(svg.line(LEFT, self._down(value), right, self._down(value), class_="grid"))
            parts.append(svg.text(LEFT - 6, self._down(value) + 3.5, label, class_="tick",
                                  text_anchor="end"))
        for value, label in self.x.ticks:
            parts.append(svg.line(self._across(value), bottom, self._across(value), bottom + 4,
                                  class_="rule"))
            parts.append(svg.text(self._across(value), bottom + 16, label, class_="tick",
                                  text_anchor="middle"))
        return [*parts, svg.line(LEFT, bottom, right, bottom, class_="rule")]

    def _band(self, curve: Curve) -> str:
        known = [each for each in curve.points if each.low is not None and each.high is not None]
        if len(known) < 2:
            return ""
        corners = ([(self._across(each.x), self._down(each.high)) for each in known] +
                   [(self._across(each.x), self._down(each.low)) for each in reversed(known)])
        return svg.polygon(corners, class_=f"band {curve.style.css_class}")

    def _curve(self, curve: Curve) -> str:
        style = curve.style
        path = [(self._across(each.x), self._down(each.y)) for each in curve.points]
        marks = [svg.marker(style.shape, *place, 3.0, each.hover, class_=mark_class(style))
                 for place, each in zip(path, curve.points)]
        return svg.element("g", svg.polyline(path, class_="line", stroke_dasharray=style.dash), *marks,
                           class_=style.css_class)


def mark_class(style: Style) -> str:
    return "mark hollow" if style.hollow else "mark"


def legend(named: dict[str, Style]) -> str:
    """A list of names with their line and shape."""
    items = []
    for name, style in named.items():
        sample = svg.element("svg", svg.line(1, 7, 29, 7, class_="line", stroke_dasharray=style.dash),
                             svg.marker(style.shape, 15, 7, 3.4, class_=mark_class(style)),
                             width="30", height="14", viewBox="0 0 30 14", aria_hidden="true")
        items.append(svg.element("li", sample, svg.escape(name), class_=style.css_class))
    return svg.element("ul", *items, class_="legend")
