#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# What a run says, for people: tables on the terminal, and a report that can be sent to someone.
"""Draws a stored run.

    report.py RESULTS.json [--tables] [--costs] [--html DIR]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import evidence
import goals
import pages
import standing
import tables
from evidence import Run

LEGEND = (
    "Cells: median of the rounds, ± median absolute deviation, ratio against the best Asio row "
    "(1x; above 1 is better).\n"
    "`*`: confirmed after correcting for the number of comparisons. `void`: the A/A control "
    "differs from itself by more than 5 %.\n"
    "Winner: the best median, against the best of any other library; `tie` within the control's "
    "spread. raw_* and load_ceiling are floors, not libraries: they never win."
)


def print_tables(document: dict, with_costs: bool = False) -> None:
    """What the run found, as text on standard output."""
    run = Run(document)
    print(_machine_line(run), end="\n\n")
    for suite in run.suites():
        costs = tables.cost_tables_of(run, suite) if with_costs else []
        for table in tables.tables_of(run, suite) + costs:
            print(tables.draw(table), end="\n\n")
        for block in tables.blocks_of(run, suite):
            print(block, end="\n\n")
    print(LEGEND, end="\n\n")
    print(pages.control_line(run))
    for line in (pages.call_lines(run) + pages.no_delay_lines(run) + pages.missing_suite_lines(run) +
                 pages.refusal_lines(run) + pages.note_lines(run)):
        print(line)
    print()
    print(draw_losses(run), end="\n\n")
    print("\n".join(goals.lines(run)))


def _machine_line(run: Run) -> str:
    facts = run.machine
    how = run.document.get("run", {})
    return (f"{facts.get('cpu')}, {facts.get('cores')} cores, {facts.get('kernel')}, "
            f"{facts.get('compiler')} {facts.get('flags')}; {how.get('scale')} run of "
            f"{how.get('repetitions')} rounds, steal {facts.get('steal_percent')} %")


def draw_losses(run: Run) -> str:
    lost = standing.losses(run)
    lines = [f"Where gyre loses. {pages.loss_heading(run, lost)}"]
    for each, _ in lost:
        lines.append(f"  {each.suite:<11}{each.case:<24}{each.metric:<11}{each.contender:<12}"
                     f"{tables.format_ratio(each.ratio):>6} of {each.peer:<15} {each.remark}")
    return "\n".join(lines)


def write_html(document: dict, folder: Path) -> Path:
    """Writes index.html, which needs no other file and no network. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(pages.draw(Run(document), [*LEGEND.split("\n"), evidence.METHOD]), encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, metavar="RESULTS.json", help="from run.py --json")
    parser.add_argument("--tables", action="store_true", help="print tables (the default)")
    parser.add_argument("--costs", action="store_true", help="print what it cost as well")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write index.html there")
    arguments = parser.parse_args()
    document = json.loads(arguments.results.read_text(encoding="utf-8"))

    if arguments.tables or arguments.costs or not arguments.html:
        print_tables(document, arguments.costs)
    if arguments.html:
        print(f"report: {write_html(document, arguments.html)}")


if __name__ == "__main__":
    main()
