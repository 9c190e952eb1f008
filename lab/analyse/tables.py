# SPDX-License-Identifier: BSL-1.0
#
# A table is built once, as cells, and drawn twice: here as text, in report.html as HTML. So the two cannot
# disagree. suite_tables.py says which tables there are.
"""What a cell says, which contender won, and a table as text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from analyse.frame import COUNTED, Run
from analyse.stats import Estimate
from measure.processes import FLOOR_FAMILY


@dataclass
class Cell:
    text: str
    ratio: str = ""
    winner: bool = False


@dataclass
class Row:
    label: str
    cells: list[Cell]
    winner: str = ""


@dataclass
class Table:
    title: str
    corner: str  # The header of the column of labels.
    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    remark: str = "Winner"  # The header of the last column, which holds what rows call their winner.


def format_value(value: float, unit: str) -> str:
    """In the units of the tables: ops/s as thousands, MB/s as GB/s from 1,000 on."""
    if unit == "ops/s":
        return _digits(value / 1000)
    if unit == "MB/s" and value >= 1000:
        return f"{value / 1000:.2f} GB"
    if unit == "lines":
        return f"{value:.0f}"
    return _digits(value)


def _digits(value: float) -> str:
    if value == 0 or value >= 1000:
        return f"{value:,.0f}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) >= 0.001 else 5
    return f"{value:.{min(decimals, 4)}f}"


def format_ratio(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 100 else f"{ratio:.0f}x"


def format_estimate(of: Estimate) -> str:
    """A ratio, and half of its interval in per cent of it."""
    if math.isinf(of.half):
        return f"{format_ratio(of.ratio)} ±?"
    half = 100 * math.expm1(of.half)
    return f"{format_ratio(of.ratio)} ±{half:.0f}%" if half < 1000 else f"{format_ratio(of.ratio)} ±?"


def format_cell(run: Run, suite: str, case: str, metric: str, contender: str) -> str:
    row = run.row(suite, case, metric, contender)
    return "-" if row is None else format_value(row.value, row.unit)


def make_row(run: Run, columns: list[str], label: str, suite: str, case: str, metric: str) -> Row | None:
    """One case and metric across some contenders; None if none of them has it."""
    if not any(run.row(suite, case, metric, each) for each in columns):
        return None
    winner, remark = find_winner(run, suite, case, metric)
    cells = []
    for each in columns:
        cells.append(Cell(format_cell(run, suite, case, metric, each), _ratio(run, suite, case, metric, each),
                          each == winner))
    return Row(label, cells, remark)


def _ratio(run: Run, suite: str, case: str, metric: str, contender: str) -> str:
    """To the best Asio row."""
    reference = run.reference(suite, case, metric, contender)
    if reference is None or run.row(suite, case, metric, contender) is None:
        return ""
    if reference == contender:
        return "1x"
    found = run.compare(suite, case, metric, contender, reference)
    return format_estimate(found.estimate) if found else ""


def find_winner(run: Run, suite: str, case: str, metric: str) -> tuple[str | None, str]:
    """The best, and how many times better it is than the best of any other library; a tie if the interval
    holds 1."""
    if metric in COUNTED:
        return None, ""  # These explain a row; more is not worse.
    players = [each for each in run.contenders if run.family(each) != FLOOR_FAMILY]
    winner = run.best(suite, case, metric, players)
    if winner is None:
        return None, ""
    rivals = [each for each in players if run.family(each) != run.family(winner)]
    second = (run.best(suite, case, metric, rivals) or
              run.best(suite, case, metric, [each for each in players if each != winner]))
    if second is None:
        return winner, winner
    found = run.compare(suite, case, metric, winner, second)
    if found is None or found.estimate.low <= 1:
        return None, "tie"
    return winner, f"{winner} {format_ratio(found.ratio)}"


def make_table(run: Run, title: str, corner: str, lines: Iterable[tuple[str, str, str, str]]) -> Table:
    """From (label, suite, case, metric) of each line, as far as the run has them."""
    lines = list(lines)
    columns = [each for each in run.contenders
               if any(run.row(suite, case, metric, each) for _, suite, case, metric in lines)]
    rows = [row for line in lines if (row := make_row(run, columns, *line)) is not None]
    return Table(title, corner, columns, rows)


def table_of_cases(run: Run, suite: str, title: str, corner: str, cases: dict[str, str],
                   *metrics: str) -> Table:
    """A line for each case, which `cases` names for people; of several metrics one for each of them."""
    def label(case: str, metric: str) -> str:
        return cases[case] if len(metrics) == 1 else metric if len(cases) == 1 else f"{cases[case]}, {metric}"

    return make_table(run, title, corner, [(label(case, metric), suite, case, metric)
                                           for metric in metrics for case in cases])


def draw(table: Table) -> str:
    """As text, in columns."""
    header = [table.corner, *table.columns, table.remark]
    ratios = [max(len(row.cells[column].ratio) for row in table.rows) for column in range(len(table.columns))]

    def text_of(cell: Cell, width: int) -> str:
        return f"{cell.text} {cell.ratio:>{width}}" if width else cell.text

    lines = [[row.label, *map(text_of, row.cells, ratios), row.winner] for row in table.rows]
    widths = [max(len(line[column]) for line in [header, *lines]) for column in range(len(header))]

    def aligned(line: list[str]) -> str:
        middle = [text.rjust(width) for text, width in zip(line[1:-1], widths[1:-1])]
        return "  ".join([line[0].ljust(widths[0]), *middle, line[-1]]).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([table.title, rule, aligned(header), rule, *map(aligned, lines)])
