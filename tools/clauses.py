#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Counts the clauses of standards that code and tests cite.

Above code that obeys a clause stands a comment that names it, and above the test that holds the code to it
the same: `// RFC 9112, 6.3.`, or within a sentence `as RFC 9112, 6.1 and 6.3, says`. `RFC 9112, A.2` is one,
too; a document without a section counts for nothing.

Run it from anywhere: `tools/clauses.py [--root DIR] [--list]`. It prints for each document how many clauses
code cites, how many tests cite, and how many both do; with `--list` each clause of the code with its places,
and whether a test cites it. A citation of a section that no such document can have is an error, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CODE_FOLDERS = ("include", "src")
TEST_FOLDERS = ("tests",)
SUFFIXES = {".cpp", ".hpp", ".py"}

# Which documents are counted, and the last of their numbered sections.
DOCUMENTS = {"RFC 6455": 14, "RFC 7692": 12, "RFC 8446": 11, "RFC 9110": 19, "RFC 9112": 12, "RFC 9113": 11}

SECTION = r"(?:\d+|[A-E])(?:\.\d+)*"
CITATION = re.compile(rf"\b(RFC \d+), ({SECTION}(?:(?:, and |, | and ){SECTION}\b)*)")


@dataclass
class Clause:
    """Where one section is cited."""

    code: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Citation:
    document: str
    section: str
    line: int


def citations(text: str) -> Iterator[Citation]:
    """Those of one file. A comment goes on in the next line."""
    joined = re.sub(r"\n[ \t]*(?://[/!]?|#)[ \t]?", lambda match: " \n", text)
    flat = joined.replace(" \n", " \x00").replace("\n", "\x01")
    plain = flat.replace("\x00", "")
    # Positions of line breaks in `plain`, in order: both kinds.
    breaks, kept = [], 0
    for character in flat:
        if character == "\x00":
            breaks.append(kept)
            continue
        if character == "\x01":
            breaks.append(kept)
        kept += 1
    for match in CITATION.finditer(plain):
        line = 1 + sum(at <= match.start() for at in breaks)
        for section in re.split(r", and |, | and ", match[2]):
            yield Citation(match[1], section, line)


def is_possible(citation: Citation) -> bool:
    last = DOCUMENTS.get(citation.document)
    first = citation.section.split(".")[0]
    return last is None or not first.isdigit() or 1 <= int(first) <= last


def files(root: Path, folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)


def order(section: str) -> list[tuple[bool, int, str]]:
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in section.split(".")]


def collect(root: Path) -> tuple[dict[str, dict[str, Clause]], list[str]]:
    """Clauses by document and section, and what is wrong."""
    found: dict[str, dict[str, Clause]] = {name: defaultdict(Clause) for name in DOCUMENTS}
    wrong = []
    for of_tests, folders in ((False, CODE_FOLDERS), (True, TEST_FOLDERS)):
        for path in files(root, folders):
            for each in citations(path.read_text(encoding="utf-8")):
                where = f"{path.relative_to(root)}:{each.line}"
                if not is_possible(each):
                    wrong.append(f"{where}: {each.document} has no section {each.section}")
                elif each.document in found:
                    clause = found[each.document][each.section]
                    (clause.tests if of_tests else clause.code).append(where)
    return found, wrong


def table(found: dict[str, dict[str, Clause]]) -> str:
    lines = ["document   code  tests  both"]
    for name, clauses in found.items():
        code = sum(bool(each.code) for each in clauses.values())
        tests = sum(bool(each.tests) for each in clauses.values())
        both = sum(bool(each.code and each.tests) for each in clauses.values())
        lines.append(f"{name:10} {code:4} {tests:6} {both:5}")
    return "\n".join(lines)


def listing(found: dict[str, dict[str, Clause]]) -> str:
    lines = []
    for name, clauses in found.items():
        for section in sorted(clauses, key=order):
            clause = clauses[section]
            if clause.code:
                tested = "tested" if clause.tests else "untested"
                lines.append(f"{name}, {section}: {tested}; {' '.join(clause.code)}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--list", action="store_true", help="each clause of the code, with its places")
    chosen = parser.parse_args(arguments)

    found, wrong = collect(chosen.root)
    if chosen.list:
        print(listing(found))
    print(table(found))
    for each in wrong:
        print(each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
