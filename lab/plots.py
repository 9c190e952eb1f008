# SPDX-License-Identifier: BSL-1.0
#
# The pictures of the report: shapes that a table hides, such as where two curves cross.
"""Draws a run with matplotlib; each plot becomes a data address, so that a page needs no files."""

from __future__ import annotations

import base64
import io

import matplotlib

matplotlib.use("Agg")

import matplotlib.patches as patches  # noqa: E402
import matplotlib.pyplot as pyplot  # noqa: E402
import matplotlib.ticker as ticker  # noqa: E402

import baseline_tables  # noqa: E402
import evidence  # noqa: E402
import echo_tables  # noqa: E402
import exchange_tables  # noqa: E402
import tables  # noqa: E402
from evidence import Run  # noqa: E402

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart. A contender
# has the same colour and marker in every plot; the floor is grey and dashed.
COLOURS = {
    "gyre_uring": "#0072b2", "gyre_epoll": "#56b4e9",
    "asio_callback": "#d55e00", "asio_coroutine": "#e69f00",
    "raw_syscalls": "#7f8790",
}
SPARE_COLOURS = ("#009e73", "#cc79a7", "#b8a900", "#000000")
MARKERS = "osD^vPX*"

STYLE = {
    "font.family": "DejaVu Sans", "font.size": 9.5, "axes.titlesize": 10.5,
    "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#9aa5b1",
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e3e7ec", "grid.linewidth": 0.8,
    "text.color": "#1c2430", "axes.labelcolor": "#1c2430",
    "xtick.color": "#5b6675", "ytick.color": "#5b6675",
    "legend.frameon": False, "svg.fonttype": "path",
}


def colour_of(run: Run, contender: str) -> str:
    others = [each for each in run.contenders() if each not in COLOURS]
    return COLOURS.get(contender) or SPARE_COLOURS[others.index(contender) % len(SPARE_COLOURS)]


def _line_style(run: Run, contender: str) -> dict:
    is_floor = run.family(contender) == evidence.FLOOR_FAMILY
    return {"color": colour_of(run, contender), "linewidth": 1.4 if is_floor else 1.8,
            "linestyle": "--" if is_floor else "-", "markersize": 4.5,
            "marker": MARKERS[run.contenders().index(contender) % len(MARKERS)]}


def _lines(run: Run, names: list[str] | None = None) -> list:
    return [pyplot.Line2D([], [], label=name, **_line_style(run, name))
            for name in (run.contenders() if names is None else names)]


def _patches(run: Run, names: list[str]) -> list:
    return [patches.Patch(color=colour_of(run, name), label=name)
            for name in run.contenders() if name in names]


def _finish(figure, handles: list) -> str:
    """Adds the one legend of the figure and returns it as an address."""
    figure.legend(handles=handles, loc="upper center", ncol=len(handles),
                  bbox_to_anchor=(0.5, 1.0))
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.34 / figure.get_figheight()))
    stored = io.BytesIO()
    figure.savefig(stored, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return "data:image/svg+xml;base64," + base64.b64encode(stored.getvalue()).decode("ascii")


def _bars(axes, run: Run, suite: str, cases: dict[str, str], metric: str) -> list[str]:
    """Groups of bars, one group per case, one bar per contender, whiskers from min to max."""
    present = [each for each in run.contenders()
               if any(run.row(suite, case, metric, each) for case in cases)]
    for position, case in enumerate(cases):
        able = [each for each in present if run.row(suite, case, metric, each)]
        width = 0.8 / max(len(able), 1)
        for index, contender in enumerate(able):
            row = run.row(suite, case, metric, contender)
            scale = 1000 if row["unit"] == "ops/s" else 1
            summary = evidence.summarise([each / scale for each in row["samples"]])
            place = position + (index - (len(able) - 1) / 2) * width
            whisker = [[summary.median - summary.low], [summary.high - summary.median]]
            axes.bar(place, summary.median, width * 0.92, color=colour_of(run, contender),
                     yerr=whisker, error_kw={"elinewidth": 0.8, "ecolor": "#1c2430"})
            axes.annotate(tables.format_value(row["median"], row["unit"]), (place, summary.high),
                          xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7.5)
    axes.set_xticks(range(len(cases)), list(cases.values()))
    axes.grid(axis="x", visible=False)
    axes.margins(y=0.12)
    return present


def _scaling(run: Run, suite: str) -> list[tuple[str, str]]:
    """Throughput over threads: one panel for each family of rows."""
    panels = [(pattern, what) for pattern, what in tables.SCALING[suite].items()
              if sum(pattern.format(each) in run.cases(suite) for each in tables.THREADS) > 1]
    if not panels:
        return []
    lines, columns = (len(panels) + 1) // 2, min(2, len(panels))
    figure, grid = pyplot.subplots(lines, columns, figsize=(10.5, 3.5 * lines), squeeze=False)
    names: set[str] = set()
    for axes, (pattern, what) in zip(grid.flat, panels):
        for contender in run.contenders():
            points = []
            for place, threads in enumerate(tables.THREADS):
                row = run.row(suite, pattern.format(threads), "throughput", contender)
                if row:
                    scale = 1000 if row["unit"] == "ops/s" else 1
                    summary = evidence.summarise([each / scale for each in row["samples"]])
                    points.append((place, summary.median, summary.low, summary.high))
                    names.add(contender)
            _draw_band(axes, run, contender, points)
        axes.set_title(what)
        axes.set_ylim(bottom=0)
        axes.set_xticks(range(len(tables.THREADS)), tables.THREADS)
        axes.set_xlabel("threads")
        axes.set_ylabel(f"{tables.SCALING_UNITS[suite]} (more is better)")
    for axes in list(grid.flat)[len(panels):]:
        axes.remove()
    return [("Throughput by number of threads",
             _finish(figure, [each for each in _lines(run) if each.get_label() in names]))]


def _dispatch(run: Run) -> list[tuple[str, str]]:
    hows = ("all, then run", "1,000 at a time\non the loop", "100 at a time\nbetween runs",
            "from another\nthread")
    kinds = {"continuations posted": ("post", "post_batched", "interleaved_post", "foreign_post"),
             "coroutines spawned": ("spawn", "spawn_batched", "interleaved_spawn",
                                    "foreign_spawn")}
    present = {kind: {case: how for case, how in zip(cases, hows) if case in run.cases("dispatch")}
               for kind, cases in kinds.items()}
    present = {kind: cases for kind, cases in present.items() if cases}
    if not present:
        return _scaling(run, "dispatch")
    figure, grid = pyplot.subplots(1, len(present), figsize=(10.5, 3.9), squeeze=False)
    names: list[str] = []
    for axes, (kind, cases) in zip(grid[0], present.items()):
        names += _bars(axes, run, "dispatch", cases, "throughput")
        axes.set_title(kind)
        axes.set_ylabel("million per second (more is better)")
    return [("Handler dispatch in millions per second", _finish(figure, _patches(run, names))),
            *_scaling(run, "dispatch")]


def _logarithmic(axes) -> None:
    """A logarithmic axis labelled with whole numbers: 1, 2, 5, 10, 20."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())


def _throughput(run: Run) -> list[tuple[str, str]]:
    panels = [(f"{direction}_{transport}", f"{how}, {named}")
              for transport, named in (("tcp", "TCP"), ("unix", "Unix sockets"))
              for direction, how in (("uni", "one way"), ("bidi", "both ways"))]
    panels = [(prefix, title) for prefix, title in panels
              if any(case.startswith(prefix) for case in run.cases("throughput"))]
    if not panels:
        return _scaling(run, "throughput")
    return [("Throughput by buffer size", _by_buffer(run, panels, _curve, "MB/s")),
            ("Throughput by buffer size, as a ratio to the best Asio row",
             _by_buffer(run, panels, _ratio_curve, "ratio to Asio")),
            *_scaling(run, "throughput")]


def _by_buffer(run: Run, panels: list[tuple[str, str]], curve, label: str) -> str:
    lines, columns = (len(panels) + 1) // 2, min(2, len(panels))
    figure, grid = pyplot.subplots(lines, columns, figsize=(10.5, 3.3 * lines), squeeze=False)
    for axes, (prefix, title) in zip(grid.flat, panels):
        for contender in run.contenders():
            curve(axes, run, contender, prefix)
        axes.set_title(title)
        axes.set_xticks(range(len(tables.BUFFERS)), tables.BUFFERS)
        axes.set_xlabel("buffer, bytes")
        axes.set_ylabel(f"{label} (more is better)")
    for axes in list(grid.flat)[len(panels):]:
        axes.remove()
    return _finish(figure, _lines(run))


def _curve(axes, run: Run, contender: str, prefix: str) -> None:
    _logarithmic(axes)
    points = []
    for place, size in enumerate(tables.BUFFERS):
        summary = run.summary("throughput", f"{prefix}_{size}", "throughput", contender)
        if summary:
            points.append((place, summary.median, summary.low, summary.high))
    _draw_band(axes, run, contender, points)


def _ratio_curve(axes, run: Run, contender: str, prefix: str) -> None:
    points = []
    for place, size in enumerate(tables.BUFFERS):
        case = f"{prefix}_{size}"
        comparison = run.comparison("throughput", case, "throughput", contender)
        if comparison:
            points.append((place, comparison.ratio, comparison.low, comparison.high))
        elif run.reference("throughput", case, "throughput") == contender:
            points.append((place, 1.0, 1.0, 1.0))
    _draw_band(axes, run, contender, points)


def _draw_band(axes, run: Run, contender: str, points: list[tuple]) -> None:
    if points:
        places, middle, low, high = zip(*points)
        axes.plot(places, middle, **_line_style(run, contender))
        axes.fill_between(places, low, high, color=colour_of(run, contender), alpha=0.12,
                          linewidth=0)


def _quantile_panels(run: Run, suite: str, panels: list[tuple[str, str]], alternative: str,
                     quantiles=("min", "p50", "p90", "p99", "p99.9", "max")) -> list[tuple[str, str]]:
    panels = [(case, title) for case, title in panels if case in run.cases(suite)]
    if not panels:
        return []
    columns = min(3, len(panels))
    lines = (len(panels) + columns - 1) // columns
    figure, grid = pyplot.subplots(lines, columns, figsize=(10.5, 3.5 * lines), squeeze=False)
    for axes, (case, title) in zip(grid.flat, panels):
        for contender in run.contenders():
            summaries = [run.summary(suite, case, each, contender) for each in quantiles]
            if all(summaries):
                axes.plot(range(len(quantiles)), [each.median for each in summaries],
                          **_line_style(run, contender))
        axes.set_title(title)
        _logarithmic(axes)
        axes.set_xticks(range(len(quantiles)), [each.removeprefix("wire_") for each in quantiles])
        axes.set_ylabel("μs (less is better)")
    for axes in list(grid.flat)[len(panels):]:
        axes.remove()
    return [(alternative, _finish(figure, _lines(run)))]


def _latency(run: Run) -> list[tuple[str, str]]:
    shapes = (("64", "64 bytes"), ("64_two_sides", "64 bytes, two sides"),
              ("64_16pairs", "64 bytes, 16 pairs"))
    panels = [(f"{transport}_{case}", f"{named}, {title}")
              for transport, named in (("tcp", "TCP"), ("unix", "Unix")) for case, title in shapes]
    return _quantile_panels(run, "latency", panels, "Round trip quantiles on a logarithmic axis")


def _http(run: Run) -> list[tuple[str, str]]:
    pictures = []
    cases = {case: case for case in ("1", "4", "16", "32") if case in run.cases("http")}
    if cases:
        figure, axes = pyplot.subplots(figsize=(10.5, 3.7))
        names = _bars(axes, run, "http", cases, "throughput")
        axes.set_xlabel("connections, one thread")
        axes.set_ylabel("thousand requests per second\n(more is better)")
        axes.set_title("HTTP requests")
        pictures.append(("HTTP throughput by connections", _finish(figure, _patches(run, names))))
    return pictures + _scaling(run, "http") + _quantile_panels(
        run, "http", [("1_sequential", "1 connection"), ("4", "4 connections"),
                      ("32", "32 connections")], "HTTP latency quantiles on a logarithmic axis")


def _echo(run: Run) -> list[tuple[str, str]]:
    present = run.cases("echo")
    panels = [(message, [(str(count), f"{message}_{count}") for count in echo_tables.CONNECTIONS
                         if f"{message}_{count}" in present])
              for message in echo_tables.MESSAGES]
    panels = [(message, cases) for message, cases in panels if cases]
    if not panels:
        return []
    figure, grid = pyplot.subplots(1, len(panels), figsize=(10.5, 3.5), squeeze=False)
    for axes, (message, cases) in zip(grid.flat, panels):
        for contender in run.contenders():
            points = [(position, summary.median / 1000)
                      for position, (_, case) in enumerate(cases)
                      if (summary := run.summary("echo", case, "cpu", contender))]
            if points:
                axes.plot(*zip(*points), **_line_style(run, contender))
        axes.set_title(f"{message} B".replace("K B", " KiB"))
        axes.set_xticks(range(len(cases)), [label for label, _ in cases])
        axes.set_xlabel("connections")
        _logarithmic(axes)
    grid.flat[0].set_ylabel("processor time per request, μs\n(less is better)")
    drawn = [each for each in run.contenders()
             if any(run.row("echo", case, "cpu", each) for _, cases in panels for _, case in cases)]
    return [("Processor time of an echo server per request",
             _finish(figure, _lines(run, drawn)))]


def _timers(run: Run) -> list[tuple[str, str]]:
    groups = ({"schedule_cancel_waited": "schedule,\ncancel", "schedule_cancel_unwaited": "unwaited",
               "push_back_10K": "push back,\n10,000", "push_back_1M": "push back,\n1,000,000",
               "push_back_1M_paced": "the same,\n100,000/s"},
              {case: f"{label}\npending" for case, label in tables.TIMERS_TOGETHER.items()})
    groups = [{case: label for case, label in each.items() if case in run.cases("timers")}
              for each in groups]
    groups = [each for each in groups if each]
    if not groups:
        return []
    figure, grid = pyplot.subplots(1, len(groups), figsize=(10.5, 3.9), squeeze=False)
    names: list[str] = []
    for axes, cases in zip(grid[0], groups):
        names += _bars(axes, run, "timers", cases, "cpu")
        _logarithmic(axes)
        axes.set_ylabel("processor time, ns each (less is better)")
    return [("Processor time of a timer", _finish(figure, _patches(run, names)))]


def _churn(run: Run) -> list[tuple[str, str]]:
    cases = {case: label.replace(", ", ",\n") for case, label in tables.CHURN.items()
             if case in run.cases("churn")}
    pictures = []
    if cases:
        figure, axes = pyplot.subplots(figsize=(10.5, 3.7))
        names = _bars(axes, run, "churn", cases, "throughput")
        axes.set_ylabel("thousand connections per second\n(more is better)")
        pictures.append(("Short connections per second", _finish(figure, _patches(run, names))))
    return pictures + _quantile_panels(
        run, "churn", [(case, tables.CHURN[case]) for case in ("sequential", "burst_100",
                                                               "http_1_0")],
        "Time from connecting to closing, quantiles on a logarithmic axis")


def _fan_out(run: Run) -> list[tuple[str, str]]:
    cases = {case: label.replace(" that", "\nthat").replace(" of", "\nof")
             for case, label in tables.FAN_OUT.items() if case in run.cases("fan_out")}
    if not cases:
        return []
    figure, axes = pyplot.subplots(figsize=(10.5, 3.9))
    names = _bars(axes, run, "fan_out", cases, "throughput")
    axes.set_ylabel("million children per second\n(more is better)")
    return [("Forks and joins in million children per second",
             _finish(figure, _patches(run, names)))]


def _exchange(run: Run) -> list[tuple[str, str]]:
    """Quantiles of each scenario with a filled book, at the highest rate that somebody reached."""
    quantiles = ("min", "p50", "p95", "p99", "p99.9", "p99.99", "max")
    panels = []
    for group in exchange_tables.groups_of(run):
        reached = [each for each in group if each.book == "filled" and each.rate != "∞" and
                   any(run.row("exchange", each.name, "p50", name) for name in run.contenders())]
        if reached:
            panels.append((reached[-1].name, f"{reached[-1].scenario}, filled, {reached[-1].rate}/s"))
    return [*_quantile_panels(run, "exchange", panels, "Quantiles inside the facility", quantiles),
            *_quantile_panels(run, "exchange", panels, "Quantiles on the client's wire",
                              tuple(f"wire_{each}" for each in quantiles)),
            *_jitter(run, panels)]


def _jitter(run: Run, panels: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """p99.9 of each second, the middle of the rounds."""
    panels = [(case, title) for case, title in panels
              if any(exchange_tables.seconds_of(run, case, each) for each in run.contenders())]
    if not panels:
        return []
    columns = min(3, len(panels))
    lines = (len(panels) + columns - 1) // columns
    figure, grid = pyplot.subplots(lines, columns, figsize=(10.5, 3.2 * lines), squeeze=False)
    for axes, (case, title) in zip(grid.flat, panels):
        for contender in run.contenders():
            seconds = exchange_tables.seconds_of(run, case, contender)
            if seconds:
                axes.plot(range(1, len(seconds) + 1), seconds, **_line_style(run, contender))
        axes.set_title(title)
        _logarithmic(axes)
        axes.set_xlabel("second")
        axes.set_ylabel("p99.9, μs (less is better)")
    for axes in list(grid.flat)[len(panels):]:
        axes.remove()
    return [("p99.9 of each second, to the client's last message", _finish(figure, _lines(run)))]


def _baseline(run: Run) -> list[tuple[str, str]]:
    figure, (rates, costs) = pyplot.subplots(2, 1, figsize=(10.5, 7.2))
    cases = {case: label.replace(" (", "\n(")
             for case, label in baseline_tables.CASES.items() if case in run.cases("baseline")}
    names = _bars(rates, run, "baseline", cases, "throughput")
    _bars(costs, run, "baseline", cases, "cpu")
    rates.set_ylabel("requests per second, thousands\n(more is better)")
    costs.set_ylabel("processor time per request, ns\n(less is better)")
    return [("Requests per second and processor time of plain servers and libraries",
             _finish(figure, _patches(run, names)))]


SUITES = {"dispatch": _dispatch, "throughput": _throughput, "latency": _latency, "http": _http,
          "echo": _echo, "timers": _timers, "churn": _churn,
          "fan_out": _fan_out, "baseline": _baseline, "exchange": _exchange,
          "cost": lambda run: [], "exchange_tuning": lambda run: []}


def plots_of(run: Run, suite: str) -> list[tuple[str, str]]:
    """The plots of a suite, each with a description for those who cannot see it."""
    with pyplot.rc_context(STYLE):
        return SUITES[suite](run)
