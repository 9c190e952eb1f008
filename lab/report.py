#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# What a run says, for people: tables on the terminal, and a report that can be sent to someone.
"""Draws a stored run.

    report.py RESULTS.json [--tables] [--costs] [--html DIR]
"""

from __future__ import annotations

import argparse
import html
import json
from pathlib import Path

import evidence
import tables
from evidence import Loss, Run
from tables import Table

LEGEND = (
    "Cells: median of the rounds, ± median absolute deviation, ratio against the best Asio row "
    "(1x; above 1 is better).\n"
    "`*`: confirmed after correcting for the number of comparisons. `void`: the A/A control "
    "differs from itself by more than 5 %.\n"
    "Winner: the best median, against the best of any other library; `tie` within the control's "
    "spread. raw_* and load_ceiling are floors, not libraries: they never win."
)


TITLES = {
    "dispatch": "Handler dispatch",
    "throughput": "Throughput",
    "latency": "Latency",
    "http": "HTTP",
    "echo": "Echo server on a core of its own",
    "timers": "Timers",
    "churn": "Short connections",
    "fan_out": "Forks and joins",
    "baseline": "Against plain servers, seen by ab, wrk and echo clients",
    "cost": "What a minimal echo program costs",
    "exchange": "The matching facility of an exchange",
    "exchange_tuning": "What pinning, spinning and batches buy the matching facility",
}


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
    print(_control_line(run))
    for line in _call_lines(run) + _refusal_lines(run):
        print(line)
    print()
    print(draw_losses(run))


def _machine_line(run: Run) -> str:
    facts = run.machine
    how = run.document.get("run", {})
    return (f"{facts.get('cpu')}, {facts.get('cores')} cores, {facts.get('kernel')}, "
            f"{facts.get('compiler')} {facts.get('flags')}; {how.get('scale')} run of "
            f"{how.get('repetitions')} rounds, steal {facts.get('steal_percent')} %")


def _control_line(run: Run) -> str:
    controls = run.document.get("controls", [])
    if not controls:
        return "A/A control: none in this run."
    spreads = sorted(each["spread"] for each in controls)
    void = [each for each in controls if each["spread"] > evidence.CONTROL_SPREAD_MAX]
    again = sum(each["attempts"] > 1 for each in controls)
    return (f"A/A control: median {100 * spreads[len(spreads) // 2]:.1f} %, widest "
            f"{100 * spreads[-1]:.1f} % over {len(spreads)} cases; {len(void)} void, "
            f"{again} measured more than once.")


def _call_lines(run: Run) -> list[str]:
    refusal = run.document.get("system_calls_not_counted")
    return [f"System calls were not counted: {refusal}."] if refusal else []


def _refusal_lines(run: Run) -> list[str]:
    cases: dict[tuple[str, str, str], list[str]] = {}
    for (suite, case, contender), reason in run.refusals.items():
        cases.setdefault((contender, suite, reason), []).append(case)
    return [f"No row: {contender} in {suite} ({', '.join(names)}): {reason}."
            for (contender, suite, reason), names in cases.items()]


def has_gyre(run: Run) -> bool:
    return any(run.family(each) == "gyre" for each in run.contenders())


def loss_heading(run: Run, lost: list[Loss]) -> str:
    if not has_gyre(run):
        return "This run has peers only: gyre takes no part in it."
    if not lost:
        return "In no judged row of this run is a peer better."
    confirmed = sum(each.remark == "confirmed" for each in lost)
    return f"A peer is better in {len(lost)} judged rows; {confirmed} of them are confirmed."


def draw_losses(run: Run) -> str:
    lost = evidence.losses(run)
    lines = [f"Where gyre loses. {loss_heading(run, lost)}"]
    for each in lost:
        lines.append(f"  {each.suite:<11}{each.case:<24}{each.metric:<11}{each.contender:<12}"
                     f"{tables.format_ratio(each.ratio):>6} of {each.peer:<15} {each.remark}")
    return "\n".join(lines)


def write_html(document: dict, folder: Path) -> Path:
    """Writes index.html, which needs no other file and no network. Returns its path."""
    import plots  # Not at the top: it takes a second, and tables do not need it.

    run = Run(document)
    sections = [_section(run, suite, plots.plots_of(run, suite)) for suite in run.suites()]
    page = _PAGE.format(title="gyre lab", style=_STYLE, subtitle=_subtitle(run),
                        verdicts=_verdicts(run), losses=_losses(run), sections="".join(sections),
                        method=_paragraphs(run), machine=_machine(run))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _subtitle(run: Run) -> str:
    how = run.document.get("run", {})
    quick = " A quick run is for looking, not for judging." if how.get("scale") == "quick" else ""
    sittings = how.get("sittings", 1)
    parts = f" in {sittings} sittings" if sittings > 1 else ""
    return html.escape(f"{how.get('started', '')}, {how.get('scale', '')} run, "
                       f"{how.get('repetitions', '?')} rounds, {how.get('seconds', 0):.0f} s{parts}."
                       f"{quick}")


def _verdicts(run: Run) -> str:
    judged = [each for each in run.comparisons() if each.verdict != "not judged"]
    if not judged:
        return "<p>Nothing to judge: this run has no contender outside Asio and the floor.</p>"
    order = ("better", "no difference", "undecided", "worse", "void")
    tiles = []
    for verdict in order:
        count = sum(each.verdict == verdict for each in judged)
        kind = verdict.replace(" ", "-")
        tiles.append(f'<div class="tile {kind}"><b>{count}</b><span>{verdict}</span></div>')
    return (f"<p>{len(judged)} comparisons of gyre with the best Asio row of the same case:</p>"
            f'<div class="tiles">{"".join(tiles)}</div>')


def _losses(run: Run) -> str:
    lost = evidence.losses(run)
    heading = f"<p>{html.escape(loss_heading(run, lost))}</p>"
    if not lost:
        return heading
    rows = "".join(
        f"<tr><th>{html.escape(f'{each.suite} {each.case}')}</th><td>{each.metric}</td>"
        f"<td>{each.contender}</td><td>{tables.format_ratio(each.ratio)}</td>"
        f"<td>{each.peer}</td><td>{html.escape(each.remark)}</td></tr>" for each in lost)
    return (f"{heading}<div class='wide'><table><thead><tr><th>Case</th><th>Metric</th>"
            "<th>Contender</th><th>Ratio</th><th>Best peer</th><th>Standing</th></tr></thead>"
            f"<tbody>{rows}</tbody></table></div>")


def _section(run: Run, suite: str, pictures: list[tuple[str, str]]) -> str:
    parts = [f'<section id="{suite}"><h2>{TITLES[suite]}</h2>']
    for alternative, address in pictures:
        parts.append(f'<img src="{address}" alt="{html.escape(alternative)}">')
    parts += [_html_table(table) for table in tables.tables_of(run, suite)]
    costs = [_html_table(table) for table in tables.cost_tables_of(run, suite)]
    parts.append(f"<details><summary>What it cost: processor time, allocations, calls</summary>"
                 f"{''.join(costs)}</details>")
    parts.append(_intervals(run, suite))
    parts.append("</section>")
    return "".join(parts)


def _html_table(table: Table) -> str:
    header = "".join(f"<th>{html.escape(each)}</th>" for each in (table.corner, *table.columns))
    body = []
    for row in table.rows:
        cells = "".join(
            f'<td class="{"winner" if cell.winner else ""}">{html.escape(cell.text)}'
            f"<small>{html.escape(cell.ratio)}</small></td>" for cell in row.cells)
        void = ' <small class="void">void</small>' if row.void else ""
        body.append(f"<tr><th>{html.escape(row.label)}{void}</th>{cells}"
                    f"<td class='who'>{html.escape(row.winner)}</td></tr>")
    return (f"<h3>{html.escape(table.title)}</h3><div class='wide'><table><thead><tr>{header}"
            f"<th class='who'>{html.escape(table.remark)}</th></tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table></div>")


def _intervals(run: Run, suite: str) -> str:
    """Every ratio with its interval, for those who want to check a claim."""
    rows = []
    for each in run.comparisons():
        if each.suite != suite or each.metric not in evidence.JUDGED[suite]:
            continue
        spread = "-" if each.control_spread is None else f"{100 * each.control_spread:.1f} %"
        p_value = "-" if each.p_corrected is None else f"{each.p_corrected:.2g}"
        rows.append(f"<tr><th>{each.case}</th><td>{each.metric}</td><td>{each.contender}</td>"
                    f"<td>{each.reference}</td><td>{each.ratio:.3f}</td>"
                    f"<td>{each.low:.3f} to {each.high:.3f}</td><td>{spread}</td>"
                    f"<td>{p_value}</td><td>{each.verdict}</td></tr>")
    return ("<details><summary>Ratios with their intervals</summary><div class='wide'><table>"
            "<thead><tr><th>Case</th><th>Metric</th><th>Contender</th><th>Against</th>"
            "<th>Ratio</th><th>95 % interval</th><th>Control</th><th>p (Holm)</th><th>Verdict</th>"
            f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details>")


def _paragraphs(run: Run) -> str:
    lines = [*LEGEND.split("\n"), evidence.METHOD, _control_line(run), *_call_lines(run),
             *_refusal_lines(run)]
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def _machine(run: Run) -> str:
    facts = {key.replace("_", " "): value for key, value in run.machine.items()}
    for each in run.document.get("contenders", []):
        if each.get("library"):
            facts[each["name"]] = " ".join(
                filter(None, (each["library"], each["version"], each["backend"])))
    rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>"
                   for key, value in facts.items())
    return f"<table class='facts'>{rows}</table>"


_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1c2430; background: #fff;
       max-width: 72rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.9rem; margin: 0; } h1 + p { color: #5b6675; margin-top: .2rem; }
h2 { margin-top: 3rem; padding-bottom: .3rem; border-bottom: 2px solid #1c2430; }
h3 { font-size: 1rem; margin: 1.8rem 0 .4rem; }
img { display: block; max-width: 100%; margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .75rem; text-align: right; white-space: nowrap;
         border-bottom: 1px solid #e3e7ec; }
thead th { border-bottom: 1px solid #9aa5b1; color: #5b6675; font-weight: 600; }
th:first-child { text-align: left; } tbody th { font-weight: 500; }
td small { display: inline-block; min-width: 3.6rem; color: #5b6675; }
td.winner { background: #eaf4ea; font-weight: 600; } .who { text-align: left; }
small.void { color: #a04000; }
.facts th, .facts td { text-align: left; white-space: normal; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; }
.tile { border: 1px solid #d5dbe2; border-radius: .5rem; padding: .5rem 1.1rem; min-width: 6rem; }
.tile b { display: block; font-size: 1.6rem; } .tile span { color: #5b6675; font-size: .85rem; }
.tile.better { border-color: #3b8c4a; } .tile.worse { border-color: #b3261e; }
details { margin: 1.2rem 0; } summary { cursor: pointer; color: #0b5fa5; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>
<h1>{title}</h1><p>{subtitle}</p>
{verdicts}
<section id="losses"><h2>Where gyre loses</h2>{losses}</section>
{sections}
<section id="method"><h2>How to read this</h2>{method}</section>
<section id="machine"><h2>Machine</h2>{machine}</section>
</body></html>
"""


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
