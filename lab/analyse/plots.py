# SPDX-License-Identifier: BSL-1.0
#
# Which plots a suite has: shapes that a table hides, such as where two curves cross.
#
# A figure is a group of small plots under one heading with one legend. The plots of a suite that is not
# named in SUITES are its ratios and its headline, so a new suite has some from its first day.
"""From a run to figures, each as markup that stands in a page by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

import baseline_tables
import echo_tables
import evidence
import exchange_tables
import palette
import panels
import row_plots
import standing
import svg
import tables
from evidence import Run
from panels import Curve, Panel, Point
from row_plots import Mark, Row, RowPlot

ROWS_MAX = 24  # Of one plot with a row for each case; the others stand beside it.
METRIC_NAMES = {"throughput": "throughput", "cpu": "processor time", "mean": "mean latency",
                "net": "p50 without the core's own", "orders_rate": "messages per second"}


@dataclass(frozen=True)
class Figure:
    """`name` is unique in a page, so that a line of another page can point at it."""

    name: str
    title: str
    about: str
    plots: list[Panel | RowPlot]
    contenders: list[str]

    def draw(self, run: Run) -> str:
        drawn = "".join(svg.element("figure", svg.element("figcaption", svg.escape(each.title)), each.draw(),
                                    id=each.name or None) for each in self.plots)
        named = {each: palette.style_of(run, each) for each in self.contenders}
        return svg.element("section", svg.element("h3", svg.escape(self.title)),
                           svg.element("p", svg.escape(self.about)), panels.legend(named),
                           svg.element("div", drawn, class_="panels"), id=self.name, class_="figure")


def name_of(suite: str, metric: str) -> str:
    """Of the first plot with the ratios of a metric: what a lost row points at."""
    return f"{suite}-ratio-{metric}"


def metric_title(metric: str) -> str:
    return METRIC_NAMES.get(metric, metric)


# ---------------------------------------------------------------------------------------------
# Ratios
# ---------------------------------------------------------------------------------------------

def ratio_figures(run: Run, suite: str) -> list[Figure]:
    """Every judged row of gyre's against the best peer, a plot or more for each metric."""
    plots = [plot for metric in evidence.judged_in(suite) for plot in _ratios(run, suite, metric)]
    return figure(run, f"{suite}-ratios", "Against the best peer",
                  "Right of 1 gyre is better, whatever the metric's direction. Bars: 95 % intervals, with an "
                  "arrow where they go on; shaded: what the control differs from itself; void rows are pale.",
                  plots)


def _ratios(run: Run, suite: str, metric: str) -> list[RowPlot]:
    found = standing.of_suite(run, suite, metric)
    rows = []
    for case in dict.fromkeys(each.case for each in found):
        of_case = [each for each in found if each.case == case]
        spread = of_case[0].control_spread
        band = (1 / (1 + spread), 1 + spread) if spread is not None else None
        rows.append(Row(case, [_ratio_mark(run, each) for each in of_case], band))
    scale = row_plots.ratio_scale([mark for row in rows for mark in row.marks])
    return [RowPlot(_part_title(f"{suite}, {metric_title(metric)}", first, last, len(rows)), scale,
                    "times better than the best peer", rows[first:last], lanes=True, at_one=True,
                    name=name_of(suite, metric) if first == 0 else "")
            for first, last in parts(len(rows))]


def _ratio_mark(run: Run, of: standing.Standing) -> Mark:
    ratio = tables.format_ratio(of.ratio)
    is_void = of.verdict == "void"
    hover = (f"{of.case}, {of.contender}: {ratio} ({evidence.interval_text(of.low, of.high)}) of {of.peer}, "
             f"{of.metric}; {of.verdict}")
    return Mark(palette.style_of(run, of.contender), of.ratio, hover, of.low, of.high,
                "void" if is_void else ratio, is_void)


def parts(count: int) -> list[tuple[int, int]]:
    """Where plots of about the same height begin and end, none with more than ROWS_MAX rows."""
    plots = -(-count // ROWS_MAX)
    return [(count * each // plots, count * (each + 1) // plots) for each in range(plots)]


def _part_title(title: str, first: int, last: int, count: int) -> str:
    return title if last - first == count else f"{title}, {first + 1} to {last} of {count}"


# ---------------------------------------------------------------------------------------------
# Curves
# ---------------------------------------------------------------------------------------------

def shown(value: float, unit: str) -> float:
    """In the unit of the tables."""
    return value / 1000 if unit == "ops/s" else value


UNIT_NAMES = {"ops/s": "thousand per second", "Mops/s": "million per second", "us": "μs", "ns/op": "ns each"}


def y_label(unit: str, better: str) -> str:
    return f"{UNIT_NAMES.get(unit, unit)}, {'more' if better == 'higher' else 'less'} is better"


@dataclass(frozen=True)
class Step:
    """One place on a curve's axis: what it is called, and which case it shows."""

    label: str
    case: str


def stepwise(run: Run, suite: str, title: str, x_label: str, metric: str, steps: list[Step],
             log: bool = False) -> Panel | None:
    """A metric of cases in their order. None if not even two of them are there."""
    steps = [each for each in steps if each.case in run.cases(suite)]
    if len(steps) < 2:
        return None
    curves, values, about = [], [], None
    for contender in run.contenders:
        points = []
        for place, step in enumerate(steps):
            row = run.row(suite, step.case, metric, contender)
            if row:
                about = row
                points.append(_point(row, float(place), contender, step.label))
        if points:
            curves.append(Curve(palette.style_of(run, contender), points))
            values += [value for each in points for value in (each.low, each.high)]
    if about is None:
        return None
    y = panels.logarithmic(values) if log else panels.linear(values)
    return Panel(title, panels.ordered([each.label for each in steps]), y, x_label,
                 y_label(about["unit"], about["better"]), curves)


def _point(row: dict, x: float, contender: str, label: str) -> Point:
    unit = row["unit"]
    summary = evidence.summarise(row["samples"])
    text = [tables.format_value(each, unit) for each in (summary.median, summary.low, summary.high)]
    return Point(x, shown(summary.median, unit), f"{contender}, {label}: {text[0]} ({text[1]} to {text[2]})",
                 shown(summary.low, unit), shown(summary.high, unit))


QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")


def quantile_panel(run: Run, suite: str, case: str, title: str, prefix: str = "") -> Panel | None:
    """Latencies of one case by quantile. None if nobody has two quantiles of it."""
    metrics = {prefix + match[0]: float(match[1])
               for key in run.rows if key[:2] == (suite, case) and key[2].startswith(prefix)
               if (match := QUANTILE.fullmatch(key[2].removeprefix(prefix)))}
    ordered = sorted(metrics, key=metrics.__getitem__)
    curves, values = [], []
    for contender in run.contenders:
        rows = [(metrics[each], row) for each in ordered if (row := run.row(suite, case, each, contender))]
        if len(rows) > 1:
            points = [_point(row, x, contender, f"p{x:g}") for x, row in rows]
            curves.append(Curve(palette.style_of(run, contender), points))
            values += [each.y for each in points]
    if not curves:
        return None
    quantiles = [point.x for curve in curves for point in curve.points]
    return Panel(title, panels.nines(quantiles), panels.logarithmic(values), "quantile",
                 "μs, less is better", curves)


def seconds_panel(run: Run, case: str, title: str) -> Panel | None:
    """p99.9 of each second, or turn."""
    unit = "turn" if run.turns("exchange", case) > 1 else "second"
    curves = []
    for contender in run.contenders:
        seconds = exchange_tables.seconds_of(run, case, contender)
        if seconds:
            points = [Point(float(at), value,
                            f"{contender}, {unit} {at + 1}: {tables.format_value(value, 'us')}")
                      for at, value in enumerate(seconds)]
            curves.append(Curve(palette.style_of(run, contender), points))
    if not curves:
        return None
    longest = max(len(each.points) for each in curves)
    labels = [str(each + 1) if longest <= 12 or (each + 1) % 5 == 0 else "" for each in range(longest)]
    return Panel(title, panels.ordered(labels),
                 panels.logarithmic([point.y for curve in curves for point in curve.points]), unit,
                 "p99.9, μs, less is better", curves)


def figure(run: Run, name: str, title: str, about: str, plots: list) -> list[Figure]:
    """With those of the plots that there are; none if there is none."""
    found = [each for each in plots if each is not None]
    if not found:
        return []
    classes = {mark.style.css_class for plot in found for mark in _styled(plot)}
    present = [each for each in run.contenders if palette.style_of(run, each).css_class in classes]
    return [Figure(name, title, about, found, present)]


def _styled(plot: Panel | RowPlot) -> list:
    return plot.curves if isinstance(plot, Panel) else [mark for row in plot.rows for mark in row.marks]


# ---------------------------------------------------------------------------------------------
# Values in rows
# ---------------------------------------------------------------------------------------------

def values_plot(run: Run, suite: str, title: str, metric: str, cases: dict[str, str]) -> RowPlot | None:
    """Absolute values of everybody, in a row for each case; `cases`: case and label."""
    rows, values, about = [], [], None
    for case, label in cases.items():
        marks = []
        for contender in run.contenders:
            row = run.row(suite, case, metric, contender)
            if row:
                about = row
                point = _point(row, 0.0, contender, label)
                marks.append(Mark(palette.style_of(run, contender), point.y, point.hover, point.low,
                                  point.high))
                values += [point.low, point.high]
        if marks:
            rows.append(Row(label, marks))
    if about is None:
        return None
    return RowPlot(title, panels.logarithmic(values, row_plots.GAP_MIN),
                   y_label(about["unit"], about["better"]), rows)


def headline_figure(run: Run, suite: str) -> list[Figure]:
    """All cases of a suite that has no plots of its own."""
    metric = evidence.HEADLINES.get(suite)
    cases = run.cases(suite)
    plots = [values_plot(run, suite, f"{suite}, {metric_title(metric)}", metric,
                         {each: each for each in cases[first:last]})
             for first, last in parts(len(cases))] if metric else []
    return figure(run, f"{suite}-values", f"Everybody's {metric_title(metric or '')}",
                  "Medians, with lines from the lowest to the highest round.", plots)


RANGE = "Medians of the rounds, with bands from the lowest to the highest."


def _threads(run: Run, suite: str) -> list[Figure]:
    plots = [stepwise(run, suite, what, "threads", "throughput",
                      [Step(str(each), pattern.format(each)) for each in tables.THREADS])
             for pattern, what in tables.SCALING[suite].items()]
    return figure(run, f"{suite}-threads", "Throughput by number of threads", RANGE, plots)


def _dispatch(run: Run) -> list[Figure]:
    plots = [values_plot(run, "dispatch", title, "throughput", {case: case for case in cases})
             for title, cases in (
                 ("continuations posted", ("post", "post_batched", "interleaved_post", "foreign_post",
                                           "concurrent_post", "threads_4_from_4")),
                 ("coroutines spawned", ("spawn", "spawn_batched", "interleaved_spawn", "foreign_spawn",
                                         "concurrent_spawn", "threads_4_from_4_spawn")))]
    return [*figure(run, "dispatch-values", "Items per second",
                    "Medians, with lines from the lowest to the highest round.", plots),
            *_threads(run, "dispatch")]


def _throughput(run: Run) -> list[Figure]:
    plots = [stepwise(run, "throughput", f"{how}, {named}", "buffer, bytes", "throughput",
                      [Step(size, f"{direction}_{transport}_{size}") for size in tables.BUFFERS], log=True)
             for transport, named in (("tcp", "TCP"), ("unix", "Unix sockets"))
             for direction, how in (("uni", "one way"), ("bidi", "both ways"))]
    return [*figure(run, "throughput-buffers", "Throughput by size of buffers", RANGE, plots),
            *_threads(run, "throughput")]


def _quantiles(run: Run, suite: str, panels_wanted: dict[str, str], title: str = "Latency by quantile",
               prefix: str = "") -> list[Figure]:
    plots = [quantile_panel(run, suite, case, label, prefix) for case, label in panels_wanted.items()]
    return figure(run, f"{suite}-{prefix}quantiles", title,
                  "Medians of the rounds. Each further nine takes as much space as the one before.", plots)


def _latency(run: Run) -> list[Figure]:
    return _quantiles(run, "latency", {
        f"{transport}_{case}": f"{named}, {label}"
        for transport, named in (("tcp", "TCP"), ("unix", "Unix sockets"))
        for case, label in (("1", "1 byte"), ("64", "64 bytes"), ("1024", "1024 bytes"),
                            ("64_two_sides", "64 bytes, two sides"), ("64_4pairs", "64 bytes, 4 pairs"),
                            ("64_16pairs", "64 bytes, 16 pairs"))})


def _http(run: Run) -> list[Figure]:
    connections = [Step(each, each) for each in ("1", "4", "16", "32")]
    return [*figure(run, "http-connections", "Requests per second by connections", RANGE,
                    [stepwise(run, "http", "one thread", "connections", "throughput", connections)]),
            *_threads(run, "http"),
            *_quantiles(run, "http", {"1_sequential": "1 connection, sequential", "4": "4 connections",
                                      "16": "16 connections", "32": "32 connections",
                                      "threads_2": "32 connections, 2 threads"})]


def _echo(run: Run) -> list[Figure]:
    messages = {each: f"{each} B".replace("K B", " KiB") for each in echo_tables.MESSAGES}
    found = []
    for metric, title in (("cpu", "Processor time of the server per request"),
                          ("throughput", "Requests per second by connections")):
        plots = [stepwise(run, "echo", label, "connections", metric,
                          [Step(str(each), f"{message}_{each}") for each in echo_tables.CONNECTIONS],
                          log=True) for message, label in messages.items()]
        found += figure(run, f"echo-{metric}", title, RANGE, plots)
    blocks = {case: echo_tables.heading(case) for case in echo_tables.block_cases(run)}
    if blocks:
        found += figure(run, "echo-blocks", "Requests per second, servers in other languages too",
                        "Medians, with lines from the lowest to the highest round.",
                        [values_plot(run, "echo", "all of them", "throughput",
                                     {each: each for each in blocks})])
    return found + _quantiles(run, "echo", blocks)


def _timers(run: Run) -> list[Figure]:
    together = [Step(label, case) for case, label in tables.TIMERS_TOGETHER.items()]
    alone = {case: case for case in run.cases("timers") if case not in tables.TIMERS_TOGETHER}
    plot = values_plot(run, "timers", "one by one", "cpu", alone)
    return [*figure(run, "timers-values", "Processor time of a timer",
                    "Medians, with lines from the lowest to the highest round.", [plot]),
            *figure(run, "timers-pending", "Processor time by number of pending timers", RANGE,
                    [stepwise(run, "timers", "from arming to firing", "timers pending", "cpu", together,
                              log=True),
                     stepwise(run, "timers", "how late they fire, p99", "timers pending", "p99", together,
                              log=True)])]


def _churn(run: Run) -> list[Figure]:
    return [*figure(run, "churn-values", "Connections per second",
                    "Medians, with lines from the lowest to the highest round.",
                    [values_plot(run, "churn", "all plays", "throughput", tables.CHURN)]),
            *_quantiles(run, "churn", tables.CHURN, "From connecting to closing, by quantile")]


def _fan_out(run: Run) -> list[Figure]:
    children = [Step(each, each) for each in ("1", "4", "16", "64")]
    others = {case: label for case, label in tables.FAN_OUT.items() if not case.isdigit()}
    return figure(run, "fan_out-values", "Children started, ended and joined", RANGE,
                  [stepwise(run, "fan_out", "one parent", "children of a fork", "throughput", children),
                   values_plot(run, "fan_out", "several parents", "throughput", others)])


def _baseline(run: Run) -> list[Figure]:
    return [*figure(run, "baseline-values", "Plain servers and libraries",
                    "Medians, with lines from the lowest to the highest round.",
                    [values_plot(run, "baseline", title, metric,
                                 {case: case for case in baseline_tables.CASES})
                     for metric, title in (("throughput", "requests per second"),
                                           ("cpu", "processor time per request"))]),
            *_quantiles(run, "baseline", baseline_tables.CASES, "Latency that clients see, by quantile")]


def _exchange(run: Run) -> list[Figure]:
    """Each scenario with a filled book, at the highest rate that somebody reached."""
    cases: dict[str, str] = {}
    rates: list[Panel | None] = []
    for group in exchange_tables.groups_of(run):
        paced = [each for each in group if each.rate != "∞"]
        reached = [each for each in paced
                   if any(run.row("exchange", each.name, "p50", name) for name in run.contenders)]
        if reached and reached[-1].book == "filled":
            cases[reached[-1].name] = f"{reached[-1].scenario}, filled, {reached[-1].rate}/s"
            steps = [Step(each.rate, each.name) for each in paced]
            rates.append(stepwise(run, "exchange", f"{reached[-1].scenario}, filled, p99",
                                  "events per second", "wire_p99", steps, log=True))
    return [*_quantiles(run, "exchange", cases, "Inside the facility, by quantile"),
            *_quantiles(run, "exchange", cases, "To the client's last message, by quantile", "wire_"),
            *figure(run, "exchange-rates", "To the client's last message, by rate", RANGE, rates),
            *figure(run, "exchange-seconds", "p99.9 over time, to the client's last message",
                    "Of each second, the middle of the rounds; of short turns each, in the order in which "
                    "they were taken.",
                    [seconds_panel(run, case, label) for case, label in cases.items()])]


SUITES = {"dispatch": _dispatch, "throughput": _throughput, "latency": _latency, "http": _http,
          "echo": _echo, "timers": _timers, "churn": _churn, "fan_out": _fan_out, "baseline": _baseline,
          "exchange": _exchange}


def figures_of(run: Run, suite: str) -> list[Figure]:
    """The ratios first, then what they are made of."""
    own = SUITES[suite](run) if suite in SUITES else headline_figure(run, suite)
    return ratio_figures(run, suite) + own
