# SPDX-License-Identifier: BSL-1.0
#
# Plots with a row for each case: where cases have no order that an axis could show.
#
# With an interval at each mark and a line at 1 this is a forest plot, the shape in which many ratios are
# judged at a glance; without, it shows absolute values of many contenders in less room than bars.
"""Rows of marks on a common axis of values."""

from __future__ import annotations

from dataclasses import dataclass, field

import panels
import svg
from palette import Style
from panels import Scale

WIDTH = 360
LABELS = 152
NOTES = 46
TOP, BOTTOM = 20, 34
LANE, GAP = 12, 6
NAME_LETTERS_MAX = 24
GAP_MIN = 0.14  # Between two ticks: labels stand beside each other.


@dataclass(frozen=True)
class Mark:
    style: Style
    value: float
    hover: str
    low: float | None = None
    high: float | None = None
    note: str = ""  # At the end of its lane.
    void: bool = False  # Shown, and shown to say nothing.


@dataclass
class Row:
    label: str
    marks: list[Mark] = field(default_factory=list)
    band: tuple[float, float] | None = None  # What is no difference.


@dataclass
class RowPlot:
    """`lanes`: each mark has a lane of its own, so that intervals do not hide each other."""

    title: str
    scale: Scale
    label: str
    rows: list[Row]
    lanes: bool = False
    at_one: bool = False  # A line where both are equal.
    name: str = ""  # Unique in a page, if something points at it.

    def draw(self) -> str:
        tops, bottom = self._layout()
        parts = self._axis(bottom)
        for row, top in zip(self.rows, tops):
            parts += self._row(row, top)
        return svg.picture(WIDTH, bottom + BOTTOM, f"{self.title}: {self.label}", *parts)

    def _right(self) -> float:
        return WIDTH - (NOTES if self.lanes else 14)

    def _across(self, value: float) -> float:
        return LABELS + self.scale.place(value) * (self._right() - LABELS)

    def _height(self, row: Row) -> float:
        return LANE * max(len(row.marks) if self.lanes else 1, 1) + GAP

    def _layout(self) -> tuple[list[float], float]:
        """Where each row begins, and where the last one ends."""
        tops, at = [], float(TOP)
        for row in self.rows:
            tops.append(at)
            at += self._height(row)
        return tops, at

    def _axis(self, bottom: float) -> list[str]:
        parts = [svg.text((LABELS + self._right()) / 2, bottom + BOTTOM - 4, self.label, class_="axis",
                          text_anchor="middle")]
        for value, label in self.scale.ticks:
            x = self._across(value)
            parts.append(svg.line(x, TOP, x, bottom, class_="grid"))
            for y in (TOP - 7, bottom + 13):
                parts.append(svg.text(x, y, label, class_="tick", text_anchor="middle"))
        if self.at_one:
            parts.append(svg.line(self._across(1.0), TOP, self._across(1.0), bottom, class_="one"))
        return parts

    def _row(self, row: Row, top: float) -> list[str]:
        height = self._height(row)
        middle = top + height / 2
        name = row.label if len(row.label) <= NAME_LETTERS_MAX else row.label[:NAME_LETTERS_MAX - 1] + "…"
        parts = [svg.element("text", svg.escape(name), svg.title(row.label), x=float(LABELS - 8),
                             y=middle + 3.5, class_="name", text_anchor="end")]
        if row.band:
            left, right = map(self._across, row.band)
            parts.append(svg.rect(left, top + 1, max(right - left, 1.0), height - 2, class_="control"))
        for lane, mark in reversed(list(enumerate(row.marks))):  # Nothing hides the first one.
            y = top + GAP / 2 + LANE * (lane + 0.5) if self.lanes else middle
            parts.append(self._mark(mark, y))
        return parts

    def _mark(self, mark: Mark, y: float) -> str:
        style = mark.style
        parts = []
        if mark.low is not None and mark.high is not None:
            parts.append(svg.line(self._across(mark.low), y, self._across(mark.high), y, class_="whisker"))
            parts += self._open_ends(mark, y)
        shape = "mark hollow" if mark.void else panels.mark_class(style)
        parts.append(svg.marker(style.shape, self._across(mark.value), y, 3.2, mark.hover, class_=shape))
        if mark.note:
            parts.append(svg.text(WIDTH - 2, y + 3.2, mark.note, class_="note", text_anchor="end"))
        return svg.element("g", *parts, class_=f"{style.css_class}{' void' if mark.void else ''}")

    def _open_ends(self, mark: Mark, y: float) -> list[str]:
        """Arrows where an interval goes on beyond the axis."""
        ends = []
        for value, beyond, way in ((self.scale.low, mark.low < self.scale.low, -1),
                                   (self.scale.high, mark.high > self.scale.high, 1)):
            if beyond:
                x = self._across(value)
                ends.append(svg.polygon([(x + 4 * way, y), (x, y - 3), (x, y + 3)], class_="beyond"))
        return ends


def ratio_scale(marks: list[Mark]) -> Scale:
    """Logarithmic around 1. Intervals may be cut where they are much wider than ratios lie apart: with
    three rounds, a single one could take all the room."""
    ratios = [1.0, *(each.value for each in marks)]
    room = 1.6
    low = max(min(ratios) / room, min([*ratios, *(each.low for each in marks if each.low)]))
    high = min(max(ratios) * room, max([*ratios, *(each.high for each in marks if each.high)]))
    return panels.logarithmic([min(low, 0.9), max(high, 1.11)], GAP_MIN)
