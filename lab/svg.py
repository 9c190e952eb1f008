# SPDX-License-Identifier: BSL-1.0
#
# Scalable vector graphics as text: the report draws its plots without a plotting library, so that a page
# stays small, its letters stay letters, and its colours follow the reader's light or dark theme.
#
# Nothing here knows what is plotted; panels.py and row_plots.py do.
"""Elements, escaped text, and the shapes that mark a point."""

from __future__ import annotations

import html
import math


def number(value: float) -> str:
    """A coordinate: a tenth of a pixel is finer than anybody sees."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def escape(text: str) -> str:
    """For text and for values of attributes."""
    return html.escape(str(text), quote=True)


def element(name: str, *children: str, **attributes) -> str:
    """One element. Children are markup already; `class_` is written class, `text_anchor` text-anchor.
    An attribute that is None is left out."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
                    for key, value in attributes.items() if value is not None)
    inside = "".join(children)
    return f"<{name}{given}>{inside}</{name}>" if inside else f"<{name}{given}/>"


def _value(value: float | str) -> str:
    return number(value) if isinstance(value, float) else escape(value)


def text(x: float, y: float, content: str, **attributes) -> str:
    return element("text", escape(content), x=float(x), y=float(y), **attributes)


def title(content: str) -> str:
    """What a pointer that rests on the parent is told, and a screen reader."""
    return element("title", escape(content))


def line(x1: float, y1: float, x2: float, y2: float, **attributes) -> str:
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes) -> str:
    return element("rect", x=float(x), y=float(y), width=float(width), height=float(height), **attributes)


def polyline(points: list[tuple[float, float]], **attributes) -> str:
    return element("polyline", points=_joined(points), **attributes)


def polygon(points: list[tuple[float, float]], **attributes) -> str:
    return element("polygon", points=_joined(points), **attributes)


def _joined(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


# Corners of each shape, seen from its middle, for a radius of 1; areas are about equal.
SHAPES = {
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "triangle": [(0, -1.25), (1.15, 0.9), (-1.15, 0.9)],
    "wedge": [(0, 1.25), (1.15, -0.9), (-1.15, -0.9)],
    "star": [(radius * math.sin(math.pi * step / 5), -radius * math.cos(math.pi * step / 5))
             for step, radius in enumerate((1.4, 0.6) * 5)],
}


def marker(shape: str, x: float, y: float, radius: float, hover: str = "", **attributes) -> str:
    """A point, as a circle or as one of SHAPES."""
    inside = [title(hover)] if hover else []
    if shape == "circle":
        return element("circle", *inside, cx=float(x), cy=float(y), r=float(radius), **attributes)
    corners = [(x + radius * across, y + radius * down) for across, down in SHAPES[shape]]
    return element("polygon", *inside, points=_joined(corners), **attributes)


def picture(width: float, height: float, name: str, *children: str) -> str:
    """A whole drawing, of which `name` tells what it shows. It is as wide as its place."""
    return element("svg", title(name), *children, viewBox=f"0 0 {number(width)} {number(height)}",
                   role="img", aria_label=name, class_="plot")
