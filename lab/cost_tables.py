# SPDX-License-Identifier: BSL-1.0
#
# The tables of the suite `cost`: what each contender costs beside speed, all of it in one line.
"""From a run of `cost` to a matrix of contenders and costs, then to what is judged, with its intervals."""

from __future__ import annotations

from evidence import Run
from tables import Cell, Row, Table, format_value, make_table

SUITE = "cost"
REFERENCE = "asio_coroutine"

# Header, case and metric of each column; after the first, compile time as a share of the reference's.
COLUMNS = [
    ("compile, s", "compile_time", "compile"),
    ("text and data, KiB", "program_size", "text_and_data"),
    ("file, KiB", "program_size", "file"),
    ("RSS, MiB", "idle_connections", "rss"),
    ("busy, MiB", "steady_state", "rss_busy"),
    ("bytes per idle connection", "idle_connections", "per_connection"),
    ("allocations per request", "steady_state", "allocations"),
    ("system calls per request", "steady_state", "system_calls"),
]
SHARE = f"of {REFERENCE}"

JUDGED = {
    ("compile_time", "compile"): "Compile time at -O2, processor seconds (less is better)",
    ("idle_connections", "per_connection"): "Memory per idle connection, bytes (less is better)",
}


def share(run: Run, contender: str) -> str:
    """Of the reference's compile time, in per cent: 33% is three times as quick."""
    ours, theirs = (run.summary(SUITE, "compile_time", "compile", each) for each in (contender, REFERENCE))
    return f"{100 * ours.median / theirs.median:.0f}%" if ours and theirs else "-"


def cells_of(run: Run, contender: str) -> list[Cell]:
    def text(case: str, metric: str) -> str:
        row = run.row(SUITE, case, metric, contender)
        return format_value(row["median"], row["unit"]) if row else "-"

    first, *others = [Cell(text(case, metric)) for _, case, metric in COLUMNS]
    return [first, Cell(share(run, contender)), *others]


def matrix(run: Run) -> Table | None:
    """Nobody wins it: its columns have no common measure."""
    lines = {each: cells_of(run, each) for each in run.contenders()}
    rows = [Row(contender, cells, "", run.is_void(SUITE, "compile_time", "compile"))
            for contender, cells in lines.items() if any(cell.text != "-" for cell in cells)]
    first, *others = [header for header, _, _ in COLUMNS]
    return Table("A minimal echo program: what it costs to compile and to run", "program",
                 [first, SHARE, *others], rows, remark="") if rows else None


def tables(run: Run) -> list[Table | None]:
    return [matrix(run), *(make_table(run, title, "Case", [(case, SUITE, case, metric)])
                           for (case, metric), title in JUDGED.items())]
