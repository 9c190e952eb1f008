# SPDX-License-Identifier: BSL-1.0
#
# A run as one page that needs no other file, no network and no script, so that it can be sent and read
# anywhere.
"""From a run to index.html: report.html has its shape, report.css its looks, plots.py its pictures."""

from __future__ import annotations

import itertools
from pathlib import Path

import jinja2
from analyse import goals, plots, suite_plots, suite_tables, tables, terminal
from analyse.frame import Run
from analyse.stats import AHEAD, BEHIND, OPEN, interval_text
from measure import suites

HERE = Path(__file__).resolve().parent
# What tables show beside what is judged, and what a reader may choose a library for.
SHOWN = ("p99", "p99.9", "p99.99", "wire_p50", "wire_p99", "wire_p99.9", "cpu", "memory", "allocations",
         "system_calls", "text_and_data", "rss", "rss_busy", "rss_with_all")


def write(run: Run, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(draw(run), encoding="utf-8")
    return path


def draw(run: Run) -> str:
    shape = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True,
                               lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined).get_template("report.html")
    every = [each for each in run.comparisons if each.judged]
    return shape.render(
        run=run, style=(HERE / "report.css").read_text(encoding="utf-8") + plots.style_sheet(run),
        subtitle=subtitle(run), suites=[suite_page(run, each) for each in run.suites],
        goals=goals.judge_all(run), verdict_line=terminal.verdict_line(every),
        lost=[loss(each) for each in terminal.losses(every)],
        counts={verdict: terminal.count(every, verdict) for verdict in (AHEAD, OPEN, BEHIND)},
        failed=terminal.broken_of_ours(run),
        behind=behind(run), control=terminal.control_line(run), calls=terminal.call_lines(run),
        changed=suites.document()["changed_conditions"], machine=machine(run), legend=terminal.LEGEND)


def subtitle(run: Run) -> str:
    sittings = len({each["sitting"] for each in run.parts if "sitting" in each})
    seconds = sum(each["seconds"] for each in run.parts)
    return (f"{run.head.get('started', '')[:10]}, {run.conditions.get('scale')} run, "
            f"{seconds / 60:.0f} minutes"
            f"{f' in {sittings} sittings' if sittings > 1 else ''}, {run.machine.get('cpu')}, "
            f"{run.machine.get('cores')} cores, {run.machine.get('kernel')}, {run.machine.get('compiler')} "
            f"{run.machine.get('flags')}")


def suite_page(run: Run, suite: str) -> dict:
    about, found = suites.suite(suite), run.of_suite(suite)
    return {
        "name": suite, "title": about["title"], "about": about["about"],
        "overview": plots.overview(run, suite),
        "summary": terminal.verdict_line(found) if found else "not judged",
        "tables": suite_tables.tables_of(run, suite), "costs": suite_tables.cost_tables_of(run, suite),
        "blocks": suite_tables.blocks_of(run, suite), "groups": suite_plots.groups_of(run, suite),
        "rows": [row(each) for each in found],
        "cases": [case_line(run, suite, each) for each in run.cases(suite)],
        "lines": [line for line in terminal.without_row(run) if f" in {suite} " in line]}


def row(each) -> list[str]:
    control = f"{100 * abs(each.control.ratio - 1):.1f} %" if each.control else "none"
    return [each.case, each.contender, each.reference, each.metric, tables.format_ratio(each.ratio),
            interval_text(each.estimate, 3), control, f"{each.p_adjusted:.2g}", each.verdict or "not judged"]


def case_line(run: Run, suite: str, case: str) -> list[str]:
    told = run.described(suite, case)
    return [case, told["title"], f"{told['operations']:,}" if told["operations"] else "",
            told["headline"], "" if told["judged"] else f"not judged: {told['why']}"]


def loss(each) -> list[str]:
    return [each.suite, each.case, each.metric, each.contender, each.reference,
            tables.format_ratio(each.ratio), interval_text(each.estimate),
            "; ".join(filter(None, (terminal.doubt_of(each), terminal.note_of(each))))]


def behind(run: Run) -> list[list[str]]:
    """Where the better of gyre's is behind in what is shown and not judged. No claims."""
    found = []
    for suite in run.suites:
        for case, metric in itertools.product(run.cases(suite), SHOWN):
            mine = run.best(suite, case, metric, run.ours)
            peer = run.best_alike(suite, case, metric, run.libraries, mine) if mine else None
            compared = run.compare(suite, case, metric, mine, peer) if peer else None
            if compared and compared.estimate.high < 1 and metric != run.headline(suite, case):
                found.append(compared)
    return [loss(each)[:-1] for each in sorted(found, key=lambda each: each.ratio)]


def machine(run: Run) -> dict[str, str]:
    facts = {key.replace("_", " "): value for key, value in run.machine.items()}
    steal = [each["steal_percent"] for each in run.parts]
    load = [each["load_average"] for each in run.parts]
    parts = max(len(steal), 1)
    facts |= {"steal, mean and most": f"{sum(steal) / parts:.2f} %, {max(steal, default=0):.1f} %",
              "load average, mean and most": f"{sum(load) / parts:.1f}, {max(load, default=0):.1f}",
              "seed of the order of slices": run.head.get("seed")}
    for name, each in run.identities.items():
        facts[name] = " ".join(filter(None, (each["library"], each["version"], each["backend"])))
    return facts
