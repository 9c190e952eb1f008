# SPDX-License-Identifier: BSL-1.0
#
# The pages of a report: a summary, one for each suite, and one for where gyre loses.
#
# All of them stand in one file that needs no other, no network and no script, so that it can be sent to
# somebody and read where they are.
"""From a run to the text of index.html."""

from __future__ import annotations

from pathlib import Path

import causes
import evidence
import goals
import palette
import plots
import standing
import svg
import tables
from evidence import Run
from tables import Table

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
    "exchange": "The matching facility of an exchange",
    "exchange_tuning": "What pinning, spinning and batches buy the matching facility",
    "cost": "What a minimal echo program costs",
}
NOTICE_QUICK = " A quick run is for looking, not for judging."
STYLE_SHEET = Path(__file__).resolve().parent / "report.css"


def draw(run: Run, method: list[str]) -> str:
    """The whole file. `method`: paragraphs on how to read it."""
    pages = {"front": ("Summary", _front(run)), "losses": ("Where gyre loses", _losses(run))}
    for suite in run.suites:
        pages[suite] = (suite, _suite(run, suite))
    pages["method"] = ("How to read this", _method(method))
    links = "".join(f'<li><a href="#{name}">{svg.escape(title)}</a></li>'
                    for name, (title, _) in pages.items())
    body = "".join(f'<section class="page" id="{name}">{text}</section>' for name, (_, text) in pages.items())
    return _PAGE.format(style=STYLE_SHEET.read_text(encoding="utf-8"), colours=palette.style_sheet(run),
                        current=_current(list(pages)), subtitle=svg.escape(_subtitle(run)), links=links,
                        body=body)


def _current(names: list[str]) -> str:
    """Marks the link to the page that is shown."""
    rules = ",".join(f'body:has(#{each}:target, #{each} :target) nav a[href="#{each}"]' for each in names)
    return f"{rules}{{background:var(--raised);font-weight:600}}"


def _subtitle(run: Run) -> str:
    how = run.document.get("run", {})
    sittings = how.get("sittings", 1)
    parts = f" in {sittings} sittings" if sittings > 1 else ""
    return (f"{how.get('started', '')}, {how.get('scale', '')} run, {how.get('repetitions', '?')} rounds, "
            f"{how.get('seconds', 0):.0f} s{parts}.{NOTICE_QUICK if how.get('scale') == 'quick' else ''}")


def table(columns: list[str], rows: list[list[str]], css_class: str = "", left: int = 1) -> str:
    """In a box that scrolls by itself. Cells are markup; the first `left` columns begin at the left."""
    def cells(row: list[str], tag: str, first: int) -> str:
        return "".join(f"<{tag}{' class=left' if at < left else ''}>{each}</{tag}>"
                       for at, each in enumerate(row) if at >= first)

    body = "".join(f"<tr><th>{row[0]}</th>{cells(row, 'td', 1)}</tr>" for row in rows)
    head = f"<thead><tr>{cells(columns, 'th', 0)}</tr></thead>" if columns else ""
    return f'<div class="wide"><table class="{css_class}">{head}<tbody>{body}</tbody></table></div>'


def paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{svg.escape(each)}</p>" for each in lines)


def folded(summary: str, content: str) -> str:
    return f"<details><summary>{svg.escape(summary)}</summary>{content}</details>"


def word(verdict: str) -> str:
    """A verdict in its colour; it never depends on the colour alone."""
    return f'<span class="{verdict.replace(" ", "-")}">{verdict}</span>'


# ---------------------------------------------------------------------------------------------
# Summary
# ---------------------------------------------------------------------------------------------

def _front(run: Run) -> str:
    return "".join(["<h2>Summary</h2>", _verdicts(run), "<h2>Goals</h2>", _goals(run), "<h2>Control</h2>",
                    paragraphs([control_line(run), *call_lines(run), *missing_suite_lines(run)]),
                    "<h2>Machine</h2>", _machine(run)])


def _verdicts(run: Run) -> str:
    found = standing.standings(run)
    failed = standing.without_row(run)
    if not found and not failed:
        return "<p>Nothing to judge: gyre and a peer have no judged row in common.</p>"
    total = standing.counts(found)
    tiles = "".join(f'<div class="tile"><b class="{verdict}">{count}</b><span>{verdict}</span></div>'
                    for verdict, count in (total | {"failed": len(failed)}).items())
    rows = []
    for suite in run.suites:
        of_suite = standing.counts(standing.of_suite(run, suite))
        of_suite["failed"] = len(standing.without_row(run, suite))
        rows.append([f'<a href="#{suite}">{suite}</a>', *(str(each or "-") for each in of_suite.values())])
    return (f"<p>{len(found)} rows of gyre, each a judged metric of a case on one backend, against the best "
            "library of others in that case; and cases in which one of gyre failed. Lost, void and failed "
            "ones are listed under "
            '<a href="#losses">Where gyre loses</a> and on the pages of their suites.</p>'
            f'<div class="tiles">{tiles}</div>{table(["Suite", *standing.VERDICTS, "failed"], rows)}')


def _goals(run: Run) -> str:
    found = goals.judge_all(run)
    judged = [each for each in found if each.verdict != goals.NOT_JUDGED]
    others = [each for each in found if each.verdict == goals.NOT_JUDGED]
    met = sum(each.verdict == goals.MET for each in judged)
    heading = (f"{met} of {len(judged)} goals that this run can judge are met; {len(others)} are not judged.")
    return (paragraphs([heading]) + (_goal_table(judged) if judged else "") +
            (folded("Goals that are not judged", _goal_table(others)) if others else ""))


def _goal_table(found: list[goals.Judgement]) -> str:
    rows = [[f'<span class="sentence">{svg.escape(each.text)}</span>', word(each.verdict),
             f'<span class="sentence">{svg.escape(each.figures)}</span>'] for each in found]
    return table(["Goal", "Verdict", "Figures"], rows, "goals", left=3)


def control_line(run: Run, suite: str | None = None) -> str:
    """Of the whole run, or of one suite."""
    controls = [each for each in run.document.get("controls", []) if suite in (None, each["suite"])]
    if not controls:
        return "A/A control: none in this run." if suite is None else "A/A control: none in this suite."
    spreads = sorted(each["spread"] for each in controls)
    void = [each for each in controls if each["spread"] > evidence.CONTROL_SPREAD_MAX]
    again = sum(each["attempts"] > 1 for each in controls)
    return (f"A/A control: median {100 * spreads[len(spreads) // 2]:.1f} %, widest "
            f"{100 * spreads[-1]:.1f} % over {len(spreads)} cases; {len(void)} void, "
            f"{again} measured more than once.")


def call_lines(run: Run) -> list[str]:
    refusal = run.document.get("system_calls_not_counted")
    return [f"System calls were not counted: {refusal}."] if refusal else []


def refusal_lines(run: Run, suite: str | None = None) -> list[str]:
    """Who has no row, and why."""
    cases: dict[tuple[str, str, str], list[str]] = {}
    for (where, case, contender), reason in run.refusals.items():
        if suite in (None, where):
            cases.setdefault((contender, where, reason), []).append(case)
    return [f"No row: {contender} in {where} ({', '.join(names)}): {reason}."
            for (contender, where, reason), names in cases.items()]


def no_delay_lines(run: Run, suite: str | None = None) -> list[str]:
    """A server that lets small messages wait for the acknowledgement of others has 40 ms holes."""
    looked_up = [each for each in run.document.get("no_delay", []) if suite in (None, each["suite"])]
    if not looked_up:
        return []
    seen = sum(each["seen"] for each in looked_up)
    unseen = sorted({each["contender"] for each in looked_up if not each["seen"]})
    rest = f"; not to be seen at {', '.join(unseen)}" if unseen else ""
    return [f"TCP_NODELAY was looked up in the servers' processes: set in {seen} of {len(looked_up)} cases "
            f"of a server{rest}."]


def missing_suite_lines(run: Run) -> list[str]:
    missing = run.document.get("suites_missing", [])
    return [f"No case of {each['suite']}: {each['reason']}." for each in missing]


def note_lines(run: Run, suite: str | None = None) -> list[str]:
    """What else a row does not say of itself: that a turn was taken twice, that its calls are unknown."""
    def of(kind: str) -> list[dict]:
        return [each for each in run.document.get(kind, []) if suite in (None, each["suite"])]

    def who(each: dict) -> str:
        return f"{each['contender']} in {each['suite']} ({each['case']})"

    return ([f"Note: {who(each)}: {each['note']}." for each in of("notes")] +
            [f"Calls not counted: {who(each)}: {each['reason']}." for each in of("system_calls_failed")])


def _machine(run: Run) -> str:
    facts = {key.replace("_", " "): value for key, value in run.machine.items()}
    for each in run.document.get("contenders", []):
        if each.get("library"):
            facts[each["name"]] = " ".join(
                filter(None, (each["library"], each["version"], each["backend"])))
    return table([], [[svg.escape(key), svg.escape(str(value))] for key, value in facts.items()], "machine")


# ---------------------------------------------------------------------------------------------
# A suite
# ---------------------------------------------------------------------------------------------

JUMPS = {"tables": "Tables", "plots": "Plots", "control": "Control", "skipped": "Skipped, and why"}


def _suite(run: Run, suite: str) -> str:
    counted = standing.counts(standing.of_suite(run, suite))
    judged = ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)
    facts = [f"Rows of gyre against the best peer: {judged}."] if judged else []
    parts = {
        "tables": "".join(_html_table(each) for each in tables.tables_of(run, suite)) + _blocks(run, suite) +
        folded("What it cost: processor time, allocations, calls",
               "".join(map(_html_table, tables.cost_tables_of(run, suite)))),
        "plots": "".join(each.draw(run) for each in plots.figures_of(run, suite)) +
        folded("Ratios to the best Asio row, with their intervals", _intervals(run, suite)),
        "control": folded("Control, case by case", _controls(run, suite)),
        "skipped": f"<h3>{JUMPS['skipped']}</h3>{_skipped(run, suite)}",
    }
    jumps = "".join(f'<a href="#{suite}-{name}">{title}</a>' for name, title in JUMPS.items())
    return (f"<h2>{svg.escape(TITLES.get(suite, suite))}</h2>"
            f"{paragraphs([*facts, control_line(run, suite), *no_delay_lines(run, suite)])}"
            f'<p class="jumps">{jumps}</p>' +
            "".join(f'<section id="{suite}-{name}">{part}</section>' for name, part in parts.items()))


def _html_table(given: Table) -> str:
    rows = []
    for row in given.rows:
        cells = "".join(
            f'<td{" class=winner" if cell.winner else ""}>{svg.escape(cell.text)}'
            + (f" <small>{svg.escape(cell.ratio)}</small>" if cell.ratio else "") + "</td>"
            for cell in row.cells)
        void = ' <small class="void">void</small>' if row.void else ""
        rows.append(f"<tr><th>{svg.escape(row.label)}{void}</th>{cells}"
                    f"<td class=left>{svg.escape(row.winner)}</td></tr>")
    header = "".join(f"<th>{svg.escape(each)}</th>" for each in (given.corner, *given.columns))
    return (f'<h3>{svg.escape(given.title)}</h3><div class="wide"><table><thead><tr>{header}'
            f"<th class=left>{svg.escape(given.remark)}</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>")


def _blocks(run: Run, suite: str) -> str:
    """What a suite says about each contender by itself, as on the terminal."""
    blocks = tables.blocks_of(run, suite)
    text = svg.escape("\n\n".join(blocks))
    return folded("Each server by itself", f'<div class="wide"><pre>{text}</pre></div>') if blocks else ""


def _intervals(run: Run, suite: str) -> str:
    """Every ratio with its interval, for those who want to check a claim."""
    rows = []
    for each in run.comparisons():
        if each.suite != suite or each.metric not in evidence.judged_metrics(suite, each.case):
            continue
        spread = "-" if each.control_spread is None else f"{100 * each.control_spread:.1f} %"
        p_value = "-" if each.p_corrected is None else f"{each.p_corrected:.2g}"
        rows.append([each.case, each.metric, each.contender, each.reference, f"{each.ratio:.3f}",
                     evidence.interval_text(each.low, each.high, 3), spread, p_value, each.verdict])
    return table(["Case", "Metric", "Contender", "Against", "Ratio", "95 % interval", "Control", "p (Holm)",
                  "Verdict"], rows)


def _controls(run: Run, suite: str) -> str:
    described = {each["case"]: each.get("description", "") for each in run.document.get("cases", [])
                 if each["suite"] == suite}
    rows = [[svg.escape(each["case"]), svg.escape(described.get(each["case"], "")),
             svg.escape(each.get("contender", "")), f"{100 * each['spread']:.1f} %", str(each["attempts"]),
             word("void") if each["spread"] > evidence.CONTROL_SPREAD_MAX else ""]
            for each in run.document.get("controls", []) if each["suite"] == suite]
    return table(["Case", "What it is", "Control", "Spread", "Attempts", ""], rows, left=3)


def _skipped(run: Run, suite: str) -> str:
    lines = refusal_lines(run, suite) + note_lines(run, suite)
    lines += [f"Void: {case}." for case in run.cases(suite) if run.is_void(suite, case)]
    if not lines:
        return "<p>Nothing: everybody who takes part has a row in every case.</p>"
    return f'<ul class="skipped">{"".join(f"<li>{svg.escape(each)}</li>" for each in lines)}</ul>'


# ---------------------------------------------------------------------------------------------
# Where gyre loses
# ---------------------------------------------------------------------------------------------

def has_gyre(run: Run) -> bool:
    return bool(standing.ours(run))


def loss_heading(run: Run, lost: list) -> str:
    if not has_gyre(run):
        return "This run has peers only: gyre takes no part in it."
    if not lost:
        return "In no judged row of this run is a peer better."
    confirmed = sum(loss.remark == "confirmed" for loss, _ in lost)
    return f"A peer is better in {len(lost)} judged rows; {confirmed} of them are confirmed."


def _losses(run: Run) -> str:
    lost = standing.losses(run)
    failed = [f"No row: {contender} in {suite} {case}: {reason}."
              for suite, case, contender, reason in standing.without_row(run)]
    heading = f"<h2>Where gyre loses</h2>{paragraphs([*failed, loss_heading(run, lost)])}"
    if lost:
        known = list(dict.fromkeys(each for loss, _ in lost if (each := _cause(loss)) is not None))
        heading += _known_causes(known)
        heading += table(["Case", "Cause", "Metric", "Contender", "Best peer", "Standing", "Ratio",
                          "95 % interval"], [_loss(*each, known) for each in lost], left=6)
    return heading + _behind(run)


def _cause(loss: evidence.Loss) -> causes.Cause | None:
    return causes.cause_of(loss.suite, loss.case, loss.metric, loss.contender)


def _known_causes(known: list[causes.Cause]) -> str:
    """Each once: beside its rows a number stands for it, which leaves room for them."""
    if not known:
        return ""
    lines = "".join(f'<li id="cause-{number}">{svg.escape(each.text)} ({svg.escape(each.source)})</li>'
                    for number, each in enumerate(known, 1))
    return f'<h3>Known causes</h3><ol>{lines}</ol>'


def _behind(run: Run) -> str:
    """No claims: tails, memory, sizes, calls, and processor time where that is not judged."""
    found = standing.behind(run)
    if not found:
        return ""
    rows = [[svg.escape(f"{each.suite} {each.case}"), svg.escape(each.metric), svg.escape(each.contender),
             svg.escape(each.peer), tables.format_ratio(each.ratio)] for each in found]
    return folded(f"Behind in what is shown and not judged: {len(found)} rows, the better of gyre's",
                  table(["Case", "Metric", "Contender", "Best peer", "Ratio"], rows, left=4))


def _loss(loss: evidence.Loss, against: standing.Standing, known: list[causes.Cause]) -> list[str]:
    """With a link to the plot that shows it beside the others."""
    cause = _cause(loss)
    number = known.index(cause) + 1 if cause else None
    plot = plots.name_of(loss.suite, loss.metric)
    return [f'<a href="#{plot}">{svg.escape(f"{loss.suite} {loss.case}")}</a>',
            f'<a href="#cause-{number}">{number}</a>' if number else "", svg.escape(loss.metric),
            svg.escape(loss.contender), svg.escape(loss.peer), svg.escape(loss.remark),
            tables.format_ratio(loss.ratio), evidence.interval_text(against.low, against.high)]


def _method(lines: list[str]) -> str:
    return f"<h2>How to read this</h2>{paragraphs(lines)}"


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gyre lab</title>
<style>{style}</style><style>{colours}</style><style>{current}</style></head><body>
<header><h1>gyre lab</h1><p>{subtitle}</p></header>
<nav aria-label="Pages"><ul>{links}</ul></nav>
<main>{body}</main>
</body></html>
"""
