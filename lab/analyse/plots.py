# SPDX-License-Identifier: BSL-1.0
#
# Pictures show what a table hides, such as where two curves cross; suite_plots.py says which there are.
#
# matplotlib draws them with placeholder colours, which become CSS variables: the same picture serves light
# and dark screens and paper. Text stays text.
"""From a run to pictures, each as SVG that stands in a page by itself."""

from __future__ import annotations

import html
import io
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import matplotlib
from analyse import tables
from analyse.frame import Comparison, Row, Run, spins
from analyse.stats import AHEAD, BEHIND, OPEN, interval_text
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from measure.processes import FLOOR_FAMILY, OUR_FAMILY, REFERENCE_FAMILY

matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gyre", "font.size": 10,
                            "axes.linewidth": 0.6, "font.family": "DejaVu Sans",
                            "axes.spines.top": False, "axes.spines.right": False})
WIDTH = 5.0  # Inches of 72 units: a phone shows it at about its own size.
ROWS_MAX = 24  # Of one picture with a row for each case; the others stand beside it.

INK, SOFT, FAINT, PAPER, BAND = "#010101", "#020202", "#030303", "#040404", "#050505"
VERDICT_INK = {AHEAD: "#060606", OPEN: "#070707", BEHIND: "#080808"}
PLACEHOLDERS = {INK: "var(--ink)", SOFT: "var(--soft)", FAINT: "var(--faint)", PAPER: "var(--paper)",
                BAND: "var(--control)", VERDICT_INK[AHEAD]: "var(--ahead)", VERDICT_INK[OPEN]: "var(--open)",
                VERDICT_INK[BEHIND]: "var(--behind)"}
# On light and on dark paper. Ours are blue, Asio's red to yellow, floors grey; others follow.
OURS = [("#0b5fa5", "#6cb6ff"), ("#0f8f8f", "#4fd1c5"), ("#4b3fb5", "#a79bff"), ("#2f8fd8", "#9fd4ff"),
        ("#3fa06a", "#8fe0b0"), ("#6a8f00", "#c3e05a")]
ASIO = [("#c0392b", "#ff8f86"), ("#d9730d", "#ffb26b"), ("#a8326e", "#ff9ecb"), ("#b58900", "#f0d060"),
        ("#7a3b1d", "#d8a080"), ("#e0559a", "#ffb8dc"), ("#8a5a00", "#e6bb66"), ("#99223a", "#ff7a95")]
FLOORS = [("#3d4650", "#c9d1da"), ("#6b7681", "#98a3b0"), ("#8a94a0", "#7d8894"), ("#a4adb7", "#646f7b")]
OTHERS = [("#7b2fa8", "#d59bff"), ("#00796b", "#66d9c6"), ("#5d4037", "#c9a99a"), ("#33691e", "#a5d67a"),
          ("#ad1457", "#ff80b4"), ("#01579b", "#80c4ff"), ("#827717", "#dce37a")]
SHAPES = {"o": "circle", "D": "diamond", "s": "square", "^": "triangle", "v": "triangle pointing down",
          "P": "plus", "*": "star", "X": "cross"}
MARKERS = "".join(SHAPES)


@dataclass(frozen=True)
class Style:
    """How a contender is drawn: a placeholder colour, a marker, and its colours on light and dark."""

    colour: str
    marker: str
    light: str
    dark: str


def styles_of(run: Run) -> dict[str, Style]:
    pools = {OUR_FAMILY: OURS, REFERENCE_FAMILY: ASIO, FLOOR_FAMILY: FLOORS}
    used: dict[str, int] = {}
    found = {}
    for index, name in enumerate(run.families):
        family = run.family(name) if run.family(name) in pools else ""
        place = used[family] = used.get(family, -1) + 1
        pool = pools.get(family, OTHERS)
        light, dark = pool[place % len(pool)]
        found[name] = Style(f"#1001{index:02x}", MARKERS[place % len(MARKERS)], light, dark)
    return found


def style_sheet(run: Run) -> str:
    """Of the contenders' colours."""
    def rules(which: str) -> str:
        return "".join(f"--c-{name}:{getattr(style, which)};" for name, style in styles_of(run).items())
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{rules('dark')}}}}}"
    return f":root{{{rules('light')}}}{dark}"


@dataclass
class Picture:
    """Named so that a line of another page can point at it."""

    title: str
    svg: str
    name: str = ""


@dataclass
class Group:
    """Pictures under one heading with one legend."""

    name: str
    title: str
    about: str
    pictures: list[Picture]
    contenders: list[str] = field(default_factory=list)


class Sheet:
    """One picture under way, with hover texts."""

    _numbers = itertools.count()

    def __init__(self, run: Run, height: float):
        self.styles = styles_of(run)
        self.figure = Canvas(figsize=(WIDTH, height), facecolor="none")
        self.axes = self.figure.add_subplot()
        self.axes.set_facecolor("none")
        self.axes.tick_params(colors=SOFT, labelcolor=SOFT, width=0.6, length=3)
        for spine in self.axes.spines.values():
            spine.set_color(SOFT)
        self._hovers: dict[str, str] = {}

    def hover(self, text: str) -> str:
        """An id for what shows it."""
        self._hovers[f"hover{len(self._hovers)}"] = text
        return f"hover{len(self._hovers) - 1}"

    def label(self, x: str = "", y: str = "") -> None:
        self.axes.set_xlabel(x, color=SOFT, fontsize=9.5)
        self.axes.set_ylabel(y, color=SOFT, fontsize=9.5)

    def rows(self, labels: list[str]) -> None:
        """One below the other, at 0, -1, -2 ..."""
        self.axes.set_ylim(-len(labels) + 0.4, 0.6)
        self.axes.set_yticks([-each for each in range(len(labels))], labels)
        self.axes.tick_params(axis="y", length=0, labelsize=9)

    def svg(self, title: str) -> str:
        self.figure.tight_layout(pad=0.4)
        written = io.StringIO()
        self.figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
        text = written.getvalue()
        text = text[text.index("<svg"):]
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        text = re.sub(r"<svg[^>]*viewBox=\"([^\"]+)\"[^>]*>",
                      rf'<svg class="plot" viewBox="\1" role="img" aria-label="{html.escape(title)}" '
                      'xmlns:xlink="http://www.w3.org/1999/xlink">', text, count=1)
        for name, hover in self._hovers.items():
            text = text.replace(f'<g id="{name}">', f"<g><title>{html.escape(hover)}</title>")
        colours = PLACEHOLDERS | {style.colour: f"var(--c-{name})" for name, style in self.styles.items()}
        for placeholder, variable in colours.items():
            text = text.replace(placeholder, variable)
        mark = f"p{next(Sheet._numbers)}-"
        text = re.sub(r' id="([^"]+)"', lambda each: ""
                      if re.match(r"(figure|patch|axes|text|line2d|xtick|ytick|"
                      r"matplotlib|PathCollection|FillBetween|LineCollection)", each[1])
                      else f' id="{mark}{each[1]}"', text)
        text = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{mark}", text)
        return re.sub(r"\n\s*", "\n", text)


# ---------------------------------------------------------------------------------------------
# Scales
# ---------------------------------------------------------------------------------------------

def set_ticks(axis, places: list[float], text: Callable[..., str]) -> None:
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(text))


def ratio_axis(sheet: Sheet, values: list[float]) -> tuple[float, float]:
    """Logarithmic, with 1 in it, and as many ticks as have room. Returns its ends."""
    low, high = min([0.9, *values]), max([1.12, *values])
    low, high = low / 1.06, high * 1.06
    span = high / low
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if span > 30 else \
        (0.125, 0.25, 0.5, 1, 2, 4, 8, 16) if span > 5 else \
        (0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4) if span > 2 else \
        (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8)
    sheet.axes.set_xscale("log")
    sheet.axes.set_xlim(low, high)
    shown = [each for each in steps if low <= each <= high]
    set_ticks(sheet.axes.xaxis, shown, lambda ratio, _: f"{ratio:g}x")
    sheet.axes.grid(axis="x", color=FAINT, linewidth=0.6)
    sheet.axes.axvline(1, color=INK, linewidth=0.9)
    sheet.axes.set_axisbelow(True)
    return low, high


def plain_number(value: float, _=None) -> str:
    if value >= 10_000_000:
        return f"{value / 1e6:g}M"
    if value >= 10_000:
        return f"{value / 1e3:g}K"
    return f"{value:g}"


def value_axis(axis, low: float, high: float) -> None:
    """A logarithmic axis with plain numbers at 1, 2, 5, 10, as many as have room."""
    decades = math.log10(high / low) if low > 0 else 0
    factors = (1,) if decades > 3.5 else (1, 3) if decades > 2 else (1, 2, 5) if decades > 0.7 else \
        (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9)
    first = math.floor(math.log10(low)) if low > 0 else 0
    ticks = [factor * 10.0 ** power for power in range(first, first + math.ceil(decades) + 2) for factor
             in factors]
    inside = [each for each in ticks if low <= each <= high]
    set_ticks(axis, inside[::max(1, -(-len(inside) // 7))], plain_number)


# ---------------------------------------------------------------------------------------------
# Ratios
# ---------------------------------------------------------------------------------------------

def interval(sheet: Sheet, at: float, of: Comparison, ends: tuple[float, float], marker: str,
             size: float) -> None:
    """A mark with its interval, cut off where the picture ends."""
    its, colour = of.estimate, VERDICT_INK[of.verdict or OPEN]
    text = (f"{of.suite} {of.case}: {of.contender} {tables.format_ratio(of.ratio)} ({interval_text(its)}) of "
            f"{of.reference}, {of.metric}: {of.verdict or 'not judged'}")
    sheet.axes.plot([max(its.low, ends[0]), min(its.high, ends[1])], [at, at], color=colour,
                    linewidth=0.22 * size, solid_capstyle="butt", zorder=2)
    sheet.axes.plot([min(max(of.ratio, ends[0]), ends[1])], [at], color=colour, marker=marker,
                    markersize=size, markerfacecolor=PAPER if of.verdict == OPEN else colour,
                    markeredgecolor=colour, markeredgewidth=0.2 * size, gid=sheet.hover(text), zorder=3)


def headliners(run: Run, peer: str) -> list[str]:
    """Of gyre's contenders those that a first look is about: one for each backend, that sleeps or spins as
    the peer does."""
    alike = [each for each in run.ours if spins(each) == spins(peer) and not each.endswith("_leases")]
    return alike[:2]


def overview(run: Run, suite: str) -> Picture | None:
    """gyre against each peer: a lane for a peer, a line of it for each case, sorted."""
    lanes: list[tuple[str, list[list[Comparison]]]] = []
    for peer in [*run.libraries, *run.floors]:
        names = headliners(run, peer)
        found = [each for each in run.against(suite, peer) if each.contender in names
                 and not math.isinf(each.estimate.half)]
        rows = [[each for each in found if each.case == case] for case
                in dict.fromkeys(one.case for one in found)]
        if rows:
            lanes.append((peer, sorted(rows, key=lambda row: -row[0].ratio)))
    if not lanes:
        return None
    count = sum(len(rows) for _, rows in lanes)
    step, gap = min(0.095, 5.2 / count), 0.34
    sheet = Sheet(run, step * count + gap * len(lanes) + 0.55)
    ends = ratio_axis(sheet, [each.ratio for _, rows in lanes for row in rows for each in row])
    size = max(2.2, min(3.6, 45 * step))
    at = 0.0
    for peer, rows in lanes:
        flat = [each for row in rows for each in row]
        counts = ", ".join(f"{number} {verdict}" for verdict in (AHEAD, OPEN, BEHIND)
                           if (number := sum(each.verdict == verdict for each in flat)))
        floor = " (floor)" if run.family(peer) == FLOOR_FAMILY else ""
        lane_text(sheet, 0.0, at - 0.42 * gap, f"{peer}{floor}", INK, "left")
        lane_text(sheet, 1.0, at - 0.42 * gap, counts, SOFT, "right")
        at -= 0.8 * gap
        for row in rows:
            at -= step
            for each in reversed(row):
                is_first = headliners(run, peer)[0] == each.contender
                interval(sheet, at, each, ends, "o" if is_first else "D", size if is_first else 0.8 * size)
        at -= 0.2 * gap
        sheet.axes.axhline(at, color=FAINT, linewidth=0.6)
    sheet.axes.set_ylim(at, 0)
    sheet.axes.set_yticks([])
    sheet.axes.spines["left"].set_visible(False)
    sheet.label(x="times better than the peer")
    return Picture(suite, sheet.svg(f"{suite}: gyre against each peer"), f"{suite}-overview")


def lane_text(sheet: Sheet, x: float, y: float, text: str, colour: str, side: str) -> None:
    sheet.axes.text(x, y, text, color=colour, fontsize=9.5,
                    fontweight="bold" if side == "left" else "normal", ha=side, va="center",
                    transform=sheet.axes.get_yaxis_transform(),
                    bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}, zorder=4)


def parts(cases: list[str]) -> list[list[str]]:
    """Of pictures of about the same height, none with more than ROWS_MAX rows."""
    count = -(-len(cases) // ROWS_MAX)
    ends = [len(cases) * each // count for each in range(count + 1)] if cases else []
    return [cases[first:last] for first, last in itertools.pairwise(ends)]


def ratios(run: Run, suite: str) -> Group | None:
    """Each row of gyre's against the best library of others, with the control's distance as a band."""
    found = run.of_suite(suite)
    cases = list(dict.fromkeys(each.case for each in found))
    pictures = []
    for part in parts(cases):
        of_case = {case: [each for each in found if each.case == case] for case in part}
        lanes = max(map(len, of_case.values()))
        sheet = Sheet(run, 0.5 + len(part) * max(0.2, 0.095 * lanes + 0.05))
        ends = ratio_axis(sheet, [*(each.ratio for its in of_case.values() for each in its), 1 / 1.1, 1.1])
        for row, its in enumerate(of_case.values()):
            control = its[0].control
            if control is not None:
                off = math.exp(abs(control.centre))
                sheet.axes.fill_betweenx([-row - 0.45, -row + 0.45], 1 / off, off, color=BAND, linewidth=0)
            for lane, each in enumerate(its):
                at = -row + 0.3 - 0.6 * (lane + 0.5) / len(its)
                interval(sheet, at, each, ends, sheet.styles[each.contender].marker, 3.4)
        sheet.rows(part)
        sheet.label(x="times better than the best library")
        first = cases.index(part[0])
        title = suite if len(part) == len(cases) else \
            f"{suite}, {first + 1} to {first + len(part)} of {len(cases)}"
        pictures.append(Picture(title, sheet.svg(title), f"{suite}-ratio" if first == 0 else ""))
    styles = styles_of(run)
    shapes = ", ".join(f"{SHAPES[styles[each].marker]}: {each}" for each in run.ours
                       if any(one.contender == each for one in found))
    return Group(f"{suite}-ratios", "Against the best library of others",
                 "Right of 1 gyre is better, whatever the metric's direction. Lines: 95 % intervals, "
                 "widened by the control, whose own distance from 1 is shaded. Hollow: open. "
                 f"Marks: {shapes}.", pictures) if pictures else None


# ---------------------------------------------------------------------------------------------
# Curves and rows of values
# ---------------------------------------------------------------------------------------------

UNIT_NAMES = {"ops/s": "thousand per second", "Mops/s": "million per second", "us": "μs", "ns/op": "ns each"}


def shown(value: float, unit: str) -> float:
    return value / 1000 if unit == "ops/s" else value


def y_label(row: Row) -> str:
    return f"{UNIT_NAMES.get(row.unit, row.unit)}, {'more' if row.better == 'higher' else 'less'} is better"


def curves(run: Run, title: str, points: dict[str, list[tuple[float, Row]]], ticks: list[tuple[float, str]],
           x: str) -> Picture | None:
    """A curve for each contender over places on an axis."""
    points = {name: found for name, found in points.items() if found}
    if not points:
        return None
    sheet = Sheet(run, 3.1)
    values = []
    for name, found in points.items():
        style = sheet.styles[name]
        heights = [shown(row.value, row.unit) for _, row in found]
        values += [each for each in heights if each > 0]
        sheet.axes.plot([place for place, _ in found], heights, color=style.colour, linewidth=1.2,
                        marker=style.marker, markersize=3.6, gid=sheet.hover(name))
    if values and max(values) / min(values) > 3:
        sheet.axes.set_yscale("log")
        low, high = min(values) / 1.15, max(values) * 1.15
        sheet.axes.set_ylim(low, high)
        value_axis(sheet.axes.yaxis, low, high)
    else:
        sheet.axes.set_ylim(bottom=0)
        sheet.axes.yaxis.set_major_formatter(FuncFormatter(plain_number))
    sheet.axes.set_xticks([place for place, _ in ticks], [label for _, label in ticks])
    sheet.axes.grid(axis="y", color=FAINT, linewidth=0.6)
    sheet.label(x, y_label(next(iter(points.values()))[0][1]))
    return Picture(title, sheet.svg(title))


def stepwise(run: Run, suite: str, title: str, metric: str, cases: dict[str, str], x: str) -> Picture | None:
    """A metric of cases in their order. None if not even two of them are there."""
    there = [case for case in cases if case in run.cases(suite)]
    if len(there) < 2:
        return None
    points = {name: [(float(place), row) for place, case in enumerate(there)
                     if (row := run.row(suite, case, metric, name))] for name in run.contenders}
    return curves(run, title, points, [(float(place), cases[case]) for place, case in enumerate(there)], x)


QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")


def nines(quantile: float) -> float:
    return -math.log10(max(1 - quantile / 100, 1e-6))


def quantiles(run: Run, suite: str, title: str, case: str, prefix: str = "") -> Picture | None:
    """Latencies of one case; each further nine takes as much space as the one before."""
    places = {each: nines(float(match[1])) for each in run.metrics(suite, case) if each.startswith(prefix)
              and (match := QUANTILE.fullmatch(each.removeprefix(prefix)))}
    points = {}
    for name in run.contenders:
        found = [(place, row) for each, place in sorted(places.items(), key=lambda item: item[1])
                 if (row := run.row(suite, case, each, name))]
        points[name] = found if len(found) > 1 else []
    seen = {place for found in points.values() for place, _ in found}
    ticks = [(nines(each), f"{each:g} %") for each in (50, 90, 99, 99.9, 99.99)
             if seen and min(seen) - 1e-9 <= nines(each) <= max(seen) + 1e-9]
    return curves(run, title, points, ticks, "quantile")


def values(run: Run, suite: str, title: str, metric: str, cases: dict[str, str]) -> Picture | None:
    """Absolute values of all contenders, in a row for each case."""
    rows = {case: {name: row for name in run.contenders if (row := run.row(suite, case, metric, name))}
            for case in cases}
    there = [case for case in cases if rows[case]]
    if not there:
        return None
    sheet = Sheet(run, 0.55 + 0.27 * len(there))
    found = []
    for place, case in enumerate(there):
        for name, row in rows[case].items():
            style, value = sheet.styles[name], shown(row.value, row.unit)
            found.append(value)
            text = (f"{cases[case]}, {name}: {tables.format_value(row.value, row.unit)} "
                    f"±{100 * row.spread:.0f} %")
            sheet.axes.plot([value], [-place], color=style.colour, marker=style.marker, markersize=4.2,
                            markerfacecolor=style.colour, markeredgecolor=PAPER, markeredgewidth=0.4,
                            linestyle="none", gid=sheet.hover(text))
    one = next(iter(rows[there[0]].values()))
    sheet.axes.set_xscale("log")
    low, high = min(found) / 1.2, max(found) * 1.2
    sheet.axes.set_xlim(low, high)
    value_axis(sheet.axes.xaxis, low, high)
    sheet.rows([cases[case] for case in there])
    sheet.axes.grid(color=FAINT, linewidth=0.6)
    sheet.axes.set_axisbelow(True)
    sheet.label(y_label(one))
    return Picture(title, sheet.svg(title))
