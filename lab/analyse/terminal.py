# SPDX-License-Identifier: BSL-1.0
#
# What a run says on a terminal: all tables, or one screen.
"""Text for people who look at a run where they have measured it."""

from __future__ import annotations

import math

from analyse import goals, suite_tables, tables
from analyse.frame import Comparison, Run
from analyse.stats import AHEAD, BEHIND, OPEN, interval_text
from measure import suites
from measure.processes import OUR_FAMILY

LEGEND = """\
Cells: the value, then how many times better it is than the best Asio row (1x), ± half of the 95 % interval,
which the control (a contender beside itself) has widened. Winner: against the best of any other library;
`tie` where the interval holds 1. raw_* and load_ceiling are floors, not libraries: they never win."""
SCREEN_LINES = 30
SCREEN_LOSSES = 9
SCREEN_BROKEN = 4


def machine_line(run: Run) -> str:
    facts = run.machine
    steal = [each["steal_percent"] for each in run.parts]
    return (f"{facts.get('cpu')}, {facts.get('cores')} cores, {facts.get('kernel')}, {facts.get('compiler')} "
            f"{facts.get('flags')}; {run.conditions.get('scale')} run, seed {run.head.get('seed')}, "
            f"steal {sum(steal) / max(len(steal), 1):.2f} %")


def count(found: list[Comparison], verdict: str) -> int:
    return sum(each.verdict == verdict for each in found)


def verdict_line(found: list[Comparison]) -> str:
    """With how many intervals lie below 1, always."""
    close = sum(each.verdict == OPEN and each.estimate.is_close for each in found)
    below = sum(each.estimate.high < 1 for each in found)
    return (f"{len(found)} rows: {count(found, AHEAD)} ahead, {count(found, OPEN)} open ({close} of them "
            f"within 3 % either way), {count(found, BEHIND)} behind; {below} intervals lie below 1")


def losses(found: list[Comparison]) -> list[Comparison]:
    """Then those that lie below 1 and are not confirmed."""
    return sorted((each for each in found if each.verdict == BEHIND or each.is_unconfirmed_loss),
                  key=lambda each: (each.is_unconfirmed_loss, each.ratio))


def losses_title(lost: list[Comparison]) -> str:
    unconfirmed = sum(each.is_unconfirmed_loss for each in lost)
    more = f", and {unconfirmed} more lie below 1 and are not confirmed" if unconfirmed else ""
    return f"{len(lost) - unconfirmed} rows{more}"


def doubt_of(each: Comparison) -> str:
    return f"below 1, not confirmed beside {each.others} others" if each.is_unconfirmed_loss else ""


def loss_line(each: Comparison) -> str:
    doubt, note = doubt_of(each), note_of(each)
    return (f"  {each.suite:<10} {each.case:<24} {each.metric:<11} {each.contender:<17} "
            f"{tables.format_ratio(each.ratio):>6} ({interval_text(each.estimate)}) of {each.reference}"
            f"{f', {doubt}' if doubt else ''}{f'; {note}' if note else ''}")


def note_of(each: Comparison) -> str:
    """What a record in docs/decisions has found out."""
    for note in suites.notes():
        if note["suite"] == each.suite and suites.matches(each.case, note["cases"]):
            return f"{note['text']} ({note['decision']}, {note['date']}, {note['machine']})"
    return ""


def control_line(run: Run) -> str:
    found = [control for suite in run.suites for case in run.cases(suite)
             if (control := run.control(suite, case, run.headline(suite, case))) is not None]
    if not found:
        return "A/A control: none in this run."
    apart = sorted(abs(each.ratio - 1) for each in found)
    middle = 100 * apart[len(apart) // 2]
    return (f"A/A control, a contender beside itself in {len(found)} cases: off by {middle:.1f} % in the "
            f"middle, {100 * apart[-1]:.1f} % at most; it widens every interval of its case.")


def without_row(run: Run) -> list[str]:
    """Which contender has no row in a case, and why."""
    cases: dict[tuple[str, str, str], list[str]] = {}
    for (suite, case, title), reason in (run.refused | run.broken).items():
        cases.setdefault((title, suite, reason), []).append(case)
    lines = [f"No row: {title} in {suite} ({', '.join(names)}): {reason}."
             for (title, suite, reason), names in cases.items()]
    return lines + [f"Note: {title} in {suite} {case}: a turn or block was left out: {reason}."
                    for (suite, case, title), reason in run.retried.items()]


def broken_of_ours(run: Run) -> list[str]:
    return [f"{title} in {suite} {case}: {reason}" for (suite, case, title), reason in run.broken.items()
            if run.family(title) == OUR_FAMILY]


def call_lines(run: Run) -> list[str]:
    lines = [each for each in run.lines if each["kind"] == "calls"]
    refused = next((each["refused"] for each in lines if each["refused"]), None)
    found = [f"System calls were not counted: {refused}."] if refused else []
    return found + [f"Calls not counted: {name} in {each['suite']} {each['case']}: {reason}."
                    for each in lines for name, reason in each["failed"].items()]


def no_delay_lines(run: Run) -> list[str]:
    """A server that lets small messages wait for the acknowledgement of others has 40 ms holes."""
    if not run.no_delay:
        return []
    unseen = sorted({key[2] for key, seen in run.no_delay.items() if not seen})
    rest = f"; not to be seen at {', '.join(unseen)}" if unseen else ""
    return [f"TCP_NODELAY was looked up in the servers' processes: set in {sum(run.no_delay.values())} of "
            f"{len(run.no_delay)} cases of a server{rest}."]


def everything(run: Run, with_costs: bool = False) -> str:
    """All tables, then what they say."""
    parts = [machine_line(run)]
    for suite in run.suites:
        found = suite_tables.tables_of(run, suite)
        found += suite_tables.cost_tables_of(run, suite) if with_costs else []
        parts += [tables.draw(each) for each in found] + suite_tables.blocks_of(run, suite)
    lost = losses(run.comparisons)
    parts += [LEGEND,
              "\n".join([control_line(run), *call_lines(run), *no_delay_lines(run), *without_row(run)]),
              "\n".join(["gyre against the best library of others:",
                         *(f"  {suite}: {verdict_line(run.of_suite(suite))}" for suite in run.suites),
                         f"Where gyre loses: {losses_title(lost)}", *map(loss_line, lost)]),
              "\n".join(goals.lines(run))]
    return "\n\n".join(parts)


def screen(run: Run) -> str:
    """At most SCREEN_LINES: by suite, then what was lost."""
    lines = [machine_line(run)[:110], "", "gyre against the best library of others (above 1x gyre is better)",
             f"  {'suite':<11}{'rows':>5}{'ahead':>7}{'open':>6}{'behind':>8}   middle, and farthest behind"]
    for suite in run.suites:
        found = sorted((each for each in run.of_suite(suite) if each.judged), key=lambda each: each.ratio)
        if found:
            lines.append(suite_line(suite, found))
    broken = [f"No row: {each}"[:110] for each in broken_of_ours(run)]
    lines += broken[:SCREEN_BROKEN]
    if len(broken) > SCREEN_BROKEN:
        lines.append(f"No row: and {len(broken) - SCREEN_BROKEN} more of gyre's that are broken")
    every = [each for each in run.comparisons if each.judged and not math.isinf(each.estimate.half)]
    if not every:
        return "\n".join([*lines, "", "Measured once: ratios have no intervals, and nothing is claimed."])
    lost = losses(every)
    below = sum(each.estimate.high < 1 for each in every)
    close = sum(each.verdict == OPEN and each.estimate.is_close for each in every)
    lines += ["", control_line(run),
              f"{below} of {len(every)} intervals lie below 1; of the open ones {close} within "
              f"3 % of 1. gyre loses in {losses_title(lost)}" + (":" if lost else ".")]
    shown = min(SCREEN_LOSSES - min(len(broken), SCREEN_BROKEN + 1), SCREEN_LINES - len(lines) - 1)
    lines += [loss_line(each).split(";")[0] for each in lost[:shown]]
    if len(lost) > shown:
        lines.append(f"  and {len(lost) - shown} more, in the report")
    return "\n".join(lines)


def suite_line(suite: str, found: list[Comparison]) -> str:
    middle, worst = found[len(found) // 2], found[0]
    known = not all(math.isinf(each.estimate.half) for each in found)
    counts = [str(count(found, each)) if known else "-" for each in (AHEAD, OPEN, BEHIND)]
    interval = f" ({interval_text(worst.estimate)})" if known else ""
    return (f"  {suite:<11}{len(found):>5}{counts[0]:>7}{counts[1]:>6}{counts[2]:>8}   "
            f"{tables.format_ratio(middle.ratio):>6}, {tables.format_ratio(worst.ratio)}{interval} "
            f"in {worst.case}")


def rows(run: Run) -> str:
    """A line for each case: gyre's best row beside the best of other libraries, and how many times better it
    is."""
    lines = [f"  {'':<30}{'gyre':>10}{'best other':>12}{'times better (95 %)':>24}"]
    for suite in run.suites:
        for case in run.cases(suite):
            found = {each.contender: each for each in run.of_suite(suite) if each.case == case}
            best = run.best(suite, case, run.headline(suite, case), list(found))
            told = row_line(run, found[best]) if best else "no row of both"
            lines.append(f"  {title_of(run, suite, case):<30}{told}")
    return "\n".join(lines)


def title_of(run: Run, suite: str, case: str) -> str:
    """What is done, without the book and the rate of the exchange's cases."""
    return run.described(suite, case)["title"].rsplit(", ", 2)[0][:29]


def row_line(run: Run, each: Comparison) -> str:
    shown = [run.row(each.suite, each.case, each.metric, who) for who in (each.contender, each.reference)]
    mine, other = (f"{tables.format_value(row.value, row.unit)} {row.unit.replace('ops/s', 'k/s')}"
                   for row in shown)
    ratio = f"{tables.format_ratio(each.ratio)} ({interval_text(each.estimate)})"
    return f"{mine:>10}{other:>12}{ratio:>24}  {each.verdict}"
