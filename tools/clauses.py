#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Counts the clauses of standards that code and tests cite.

Above code that obeys a clause, and above its test, stands a comment that names it: `// RFC 9112, 6.3.`, or
within a sentence `as RFC 9112, 6.1 and 6.3, says`, or `RFC 9112, A.2`.

Run it from anywhere: `tools/clauses.py [--root DIR] [--list]`. It prints for each document how many clauses
code cites, how many tests cite, and how many both do; with `--list` each clause of the code with its places,
and whether a test cites it. A citation of a section that no such document can have is an error, and the exit
code is 1.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

FOLDERS = {"code": ("include", "src"), "tests": ("tests",)}
SUFFIXES = {".cpp", ".hpp", ".py"}
# Which documents are counted, and the last of their numbered sections.
DOCUMENTS = {"RFC 6455": 14, "RFC 7692": 12, "RFC 8446": 11, "RFC 9110": 19, "RFC 9112": 12, "RFC 9113": 11}

SECTION = r"(?:\d+|[A-E])(?:\.\d+)*"
GAP = r"(?: |\n[ \t]*(?://[/!]?|#)[ \t]?)+"  # A comment may continue in the next line.
NEXT = rf"(?:,{GAP}and{GAP}|,{GAP}|{GAP}and{GAP}){SECTION}\b"
CITATION = re.compile(rf"\bRFC{GAP}(\d+),{GAP}({SECTION}(?:{NEXT})*)")

Clauses = dict[tuple[str, str], dict[str, list[str]]]  # Document and section -> kind of folder -> places.


def citations(text: str) -> Iterator[tuple[str, str, int]]:
    """Document, section and line of each citation in a file."""
    for match in CITATION.finditer(text):
        for section in re.findall(rf"\b{SECTION}\b", match[2]):
            yield f"RFC {match[1]}", section, text.count("\n", 0, match.start()) + 1


def collect(root: Path) -> tuple[Clauses, list[str]]:
    found: Clauses = defaultdict(lambda: {kind: [] for kind in FOLDERS})
    wrong = []
    for kind, folders in FOLDERS.items():
        for path in sorted(each for folder in folders for each in (root / folder).rglob("*")):
            for document, section, line in citations(path.read_text()) if path.suffix in SUFFIXES else ():
                where, first = f"{path.relative_to(root)}:{line}", section.split(".")[0]
                if document in DOCUMENTS and first.isdigit() and not 1 <= int(first) <= DOCUMENTS[document]:
                    wrong.append(f"{where}: {document} has no section {section}")
                elif document in DOCUMENTS:
                    found[document, section][kind].append(where)
    return found, wrong


def table(found: Clauses) -> str:
    lines = ["document   code  tests  both"]
    for name in DOCUMENTS:
        of_it = [clause for (document, _), clause in found.items() if document == name]
        code, tests = (sum(bool(clause[kind]) for clause in of_it) for kind in FOLDERS)
        both = sum(all(clause.values()) for clause in of_it)
        lines.append(f"{name:10} {code:4} {tests:6} {both:5}")
    return "\n".join(lines)


def listing(found: Clauses) -> str:
    in_order = sorted(found, key=lambda each: (each[0], [part.zfill(3) for part in each[1].split(".")]))
    return "\n".join(f"{document}, {section}: {'tested' if clause['tests'] else 'untested'}; "
                     + " ".join(clause["code"])
                     for document, section in in_order if (clause := found[document, section])["code"])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--list", action="store_true", help="each clause of the code, with its places")
    chosen = parser.parse_args(arguments)

    found, wrong = collect(chosen.root)
    print(*([listing(found)] if chosen.list else []), table(found), *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
