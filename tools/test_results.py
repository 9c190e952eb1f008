#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The tests that took longest, and what failed, again, where a reader looks first: at the end.

Usage: `tools/test_results.py [--slowest N] FILE...`, each a JUnit file that ctest wrote. Each test that
failed is printed with its preset (the folder that its file lies in), its name and the end of its output;
what was left out is counted. A test that has passed when it was run again (FILE-again.xml beside FILE.xml)
is unsteady, and printed as well. With --slowest, the N slowest tests of each preset stand before them, with
the seconds that all of its tests took together. Nothing else is printed when nothing failed. The exit code
is 0, or 2 if a file cannot be read.

A run of all presets prints some ten thousand lines, and many CI systems keep only the last hundred.
"""

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS_MAX = 10
LINES_MAX = 25


@dataclass(frozen=True)
class Failure:
    preset: str
    name: str
    seconds: float
    output: str
    unsteady: bool

    @property
    def verdict(self) -> str:
        return "UNSTEADY, failed once" if self.unsteady else "FAILED"

    def __str__(self) -> str:
        lines = self.output.rstrip().splitlines() or ["(it printed nothing)"]
        hidden = len(lines) - LINES_MAX
        if hidden > 0:
            lines = [f"({hidden} lines before these)", *lines[hidden:]]
        title = f"{self.preset}: {self.verdict} after {self.seconds:.1f} s: {self.name}"
        return "\n".join([title, *("    " + line for line in lines)])


def failures(path: Path) -> Iterator[Failure]:
    """ctest says "run" of a test that passed, "disabled" of one that was not to run, "fail" of one that
    failed, and "notrun" both of one that could not be started and of one that skipped itself."""
    passed_again = passed(path.with_stem(f"{path.stem}-again"))
    for case in ElementTree.parse(path).iter("testcase"):
        status = case.get("status")
        skipped = case.find("skipped")
        reason = "" if skipped is None else skipped.get("message", "")
        if status in ("run", "disabled") or reason.startswith("SKIP_"):
            continue
        name = case.get("name", "?")
        output = case.findtext("system-out") or reason
        seconds = float(case.get("time", "0"))
        yield Failure(path.parent.name, name, seconds, output, name in passed_again)


def slowest(path: Path, count: int) -> Iterator[str]:
    """A title and a line for each of the slowest tests of a preset."""
    cases = [(float(case.get("time", "0")), case.get("name", "?"))
             for case in ElementTree.parse(path).iter("testcase")]
    total = sum(seconds for seconds, _ in cases)
    yield f"{path.parent.name}: {len(cases)} tests of {total:.0f} s; the slowest:"
    for seconds, name in sorted(cases, reverse=True)[:count]:
        yield f"{seconds:8.1f} s  {name}"


def passed(path: Path) -> set[str]:
    if not path.exists():
        return set()
    cases = ElementTree.parse(path).iter("testcase")
    return {case.get("name", "?") for case in cases if case.get("status") == "run"}


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints the tests that took longest, and those that failed.")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="how many of each preset")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a JUnit file that ctest wrote")
    arguments = parser.parse_args()
    failed: list[Failure] = []
    for path in arguments.files:
        try:
            failed += failures(path)
            if arguments.slowest > 0:
                print(*slowest(path, arguments.slowest), sep="\n")
        except (OSError, ElementTree.ParseError) as error:
            print(f"test_results: {path}: {error}", file=sys.stderr)
            return 2
    for failure in failed[:TESTS_MAX]:
        print(failure)
    for failure in failed[TESTS_MAX:]:
        print(f"{failure.preset}: {failure.verdict}, too: {failure.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
