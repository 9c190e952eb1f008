#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The C++ that documents show is compiled: each code block is a quotation, or says why it is none.

A block marked `cpp` is a quotation if tools/snippets.py's comment stands in front of it. Of the others a
comment in the page tells why it cannot be compiled, in the line in front:

    <!-- not compiled: shows a mistake -->
    ```cpp
    ...
    ```

Run it from anywhere: `tools/programs.py [--root DIR]`. Each other block is printed as `path:line: message`,
and so is an excuse in front of no block; the exit code is 1 then. Printed last is how many blocks there are,
and how many whole programs, which are quotations with a `main`: of the guide, of README.md, of the rest of
docs/.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from snippets import QUOTE, Finding, documents, end_of_block

BLOCK = "```cpp"
EXCUSE = re.compile(r"^<!-- not compiled: (.*\S) -->$")
MAIN = re.compile(r"^int main\(", re.MULTILINE)
PLACES = {"guide": "docs/guide/", "README": "README.md", "docs": ""}


@dataclass
class Counts:
    programs: set[str] = field(default_factory=set)  # Their source files.
    quoted: int = 0
    excused: int = 0

    def __str__(self) -> str:
        return (f"{len(self.programs)} whole programs, {self.quoted + self.excused} blocks of C++, "
                f"{self.excused} of them excused")


def read(path: str, text: str, into: Counts) -> list[Finding]:
    """Counts the blocks of one document; returns what is wrong with them."""
    findings = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        before = lines[at - 1] if at > 0 else ""
        quote, excuse = QUOTE.match(before), EXCUSE.match(before)
        if not lines[at].startswith("```"):
            if excuse is not None:
                findings.append(Finding(path, at, "an excuse in front of no code block"))
            at += 1
            continue
        end = end_of_block(lines, at)
        if end is None:
            findings.append(Finding(path, at + 1, "a code block that never ends"))
            break
        if lines[at] == BLOCK:
            if quote is not None:
                into.quoted += 1
                if MAIN.search("\n".join(lines[at:end])) is not None:
                    into.programs.add(quote[1])
            elif excuse is not None:
                into.excused += 1
            else:
                findings.append(Finding(path, at + 1, "C++ that is no quotation of a compiled file"))
        elif excuse is not None:
            findings.append(Finding(path, at, "an excuse in front of what is no C++"))
        at = end + 1
    return findings


def check(root: Path) -> tuple[list[Finding], dict[str, Counts]]:
    counts = {place: Counts() for place in PLACES}
    findings = []
    for file in documents(root):
        path = file.relative_to(root).as_posix()
        place = next(place for place, prefix in PLACES.items() if path.startswith(prefix))
        findings += read(path, file.read_text(encoding="utf-8"), counts[place])
    return findings, counts


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Counts the C++ in documents; finds what is not compiled.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR",
                        help="the project to check (default: the one this file is in)")
    options = parser.parse_args(arguments)

    findings, counts = check(options.root)
    for finding in findings:
        print(finding)
    for place, count in counts.items():
        print(f"{place}: {count}")
    print(f"programs: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
