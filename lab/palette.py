# SPDX-License-Identifier: BSL-1.0
#
# Who has which colour, shape and dash, in every plot of a report.
#
# A contender must be told from the others by people with any kind of colour vision, in print, on white and
# on black: so colours (after Okabe and Ito, darker on white and lighter on black) come with shapes, and
# variants of one library share the colour and differ in the dash.
"""The style of a contender, and the style sheet that gives its colour for light and for dark pages."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import evidence
from evidence import Run

# (on a light page, on a dark one)
BLUE = ("#0072b2", "#3f9fe8")
SKY = ("#4aa8dd", "#a3d8fb")
VERMILION = ("#d55e00", "#ff8b45")
ORANGE = ("#c48700", "#f2bd45")
GREY = ("#6b7480", "#98a3b0")
SPARE = (("#008f68", "#35c79c"), ("#b44a86", "#e79ac8"), ("#6a4fb3", "#ae98f0"), ("#7a7a00", "#cfca58"),
         ("#8a4b20", "#cf9f76"), ("#30363d", "#dfe4ea"), ("#00808a", "#4fd0d8"), ("#a3203a", "#f08a9b"))

# gyre's two are always the same.
KNOWN = {"gyre_uring": (BLUE, "circle"), "gyre_epoll": (SKY, "square"),
         "asio_callback": (VERMILION, "triangle"), "asio_coroutine": (ORANGE, "diamond")}

# How the name of a variant ends, and how its lines are dashed. Its shape is hollow.
VARIANTS = {"_uring_per_thread": "1.5 2.5", "_per_thread": "2 3", "_uring": "7 3", "_leases": "5 2 1 2",
            "_spin": "9 2 2 2"}
FLOOR_DASH = "4 3"
SPARE_SHAPES = ("wedge", "star", "circle", "square", "triangle", "diamond")


@dataclass(frozen=True)
class Style:
    css_class: str  # Sets the colour as --c for what is inside.
    light: str
    dark: str
    shape: str
    dash: str | None  # None: a solid line.
    hollow: bool


def style_of(run: Run, contender: str) -> Style:
    """The same for the same contender in all plots of a run."""
    return styles(run)[contender]


@functools.lru_cache(maxsize=4)
def styles(run: Run) -> dict[str, Style]:
    found: dict[str, Style] = {}
    floors, spare = 0, 0
    for index, name in enumerate(run.contenders()):
        base, dash = _base_of(name)
        if base in KNOWN:
            (light, dark), shape = KNOWN[base]
        elif run.family(name) == evidence.FLOOR_FAMILY:
            (light, dark), shape, dash = GREY, SPARE_SHAPES[floors % len(SPARE_SHAPES)], FLOOR_DASH
            floors += 1
        else:
            (light, dark), shape = SPARE[spare % len(SPARE)], SPARE_SHAPES[spare % len(SPARE_SHAPES)]
            spare += 1
        found[name] = Style(f"k{index}", light, dark, shape, dash, dash is not None)
    return found


def _base_of(name: str) -> tuple[str, str | None]:
    """The contender of which this one is a variant, and the variant's dash."""
    if name in KNOWN:
        return name, None
    for ending, dash in VARIANTS.items():
        if name.removesuffix(ending) in KNOWN:
            return name.removesuffix(ending), dash
    return name, None


def style_sheet(run: Run) -> str:
    """Colours as CSS variables; the report's own style sheet uses them."""
    every = styles(run).values()
    light = "".join(f".{each.css_class}{{--c:{each.light}}}" for each in every)
    dark = "".join(f".{each.css_class}{{--c:{each.dark}}}" for each in every)
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"
