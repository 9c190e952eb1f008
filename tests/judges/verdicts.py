# SPDX-License-Identifier: BSL-1.0
#
# Every judge says the same kind of thing: what it looked at, and whether that was right.
"""The rows that judges report, and the table that they make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"
SHOWN_MAX = 40  # Rows of one judge and subject that have failed; a broken subject fails hundreds.


@dataclass(frozen=True)
class Row:
    """One thing that was judged. `clause` is where it is written, `said` what the judge saw."""

    name: str
    outcome: str
    clause: str = ""
    said: str = ""


def verdict(name: str, right: bool, said: str, clause: str = "") -> Row:
    return Row(name, PASSED if right else FAILED, clause, said)


def skipped(why: str) -> list[Row]:
    return [Row("*", SKIPPED, said=why)]


@dataclass(frozen=True)
class Section:
    """What one judge says of one subject."""

    judge: str
    subject: str
    rows: tuple[Row, ...]
    seconds: float = 0.0

    def count(self, outcome: str) -> int:
        return sum(row.outcome == outcome for row in self.rows)

    def failures(self) -> list[Row]:
        return [row for row in self.rows if row.outcome == FAILED]


def details(section: Section) -> Iterable[str]:
    """A line for each row that has not passed."""
    failures = section.failures()
    for row in failures[:SHOWN_MAX]:
        clause = f" ({row.clause})" if row.clause else ""
        yield f"    {row.outcome} {row.name}{clause}: {row.said}"
    if len(failures) > SHOWN_MAX:
        yield f"    ... and {len(failures) - SHOWN_MAX} more"
    for row in section.rows:
        if row.outcome == SKIPPED:
            yield f"    skipped {row.name}: {row.said}"


def table(sections: Iterable[Section]) -> str:
    lines = [("judge", "subject", "passed", "failed", "skipped", "seconds")]
    lines += [(each.judge, each.subject, *(str(each.count(outcome)) for outcome in (PASSED, FAILED, SKIPPED)),
               f"{each.seconds:.0f}") for each in sections]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) if column < 2 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in lines)
