#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The slowest tests, and failed tests once more: at the end of a run, where a reader looks first.

Usage: `tools/test_results.py [--slowest N] FILE...`, JUnit files that ctest wrote. Each test that failed is
printed with its preset (the folder of the file), its name and its last lines. A test that passed in
FILE-again.xml is unsteady, and printed as well. With --slowest, the N slowest tests of each preset come
first, with the seconds of all its tests. The exit code is 0, or 2 if a file cannot be read.

A run of all presets prints ten thousand lines, and many CI systems keep the last hundred only.
"""

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

TESTS_MAX = 10
LINES_MAX = 25


def cases_of(path: Path) -> list[ElementTree.Element]:
    return list(ElementTree.parse(path).iter("testcase"))


def has_failed(case: ElementTree.Element) -> bool:
    """ctest's status is "run" if a test passed, "disabled" if it was not to run, "fail" if it failed, and
    "notrun" both if it could not start and if it skipped itself."""
    skipped = case.find("skipped")
    skips_itself = skipped is not None and skipped.get("message", "").startswith("SKIP_")
    return case.get("status") not in ("run", "disabled") and not skips_itself


def output_of(case: ElementTree.Element) -> list[str]:
    skipped = case.find("skipped")
    reason = "" if skipped is None else skipped.get("message", "")
    lines = (case.findtext("system-out") or reason).rstrip().splitlines() or ["(it printed nothing)"]
    hidden = len(lines) - LINES_MAX
    return [f"({hidden} lines before these)", *lines[hidden:]] if hidden > 0 else lines


def slowest(preset: str, cases: list[ElementTree.Element], count: int) -> list[str]:
    times = sorted(((float(case.get("time", 0)), case.get("name", "?")) for case in cases), reverse=True)
    total = sum(seconds for seconds, _ in times)
    return [f"{preset}: {len(times)} tests of {total:.0f} s; the slowest:",
            *(f"{seconds:8.1f} s  {name}" for seconds, name in times[:count])]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Prints the tests that took longest, and those that failed.")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="how many of each preset")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a JUnit file that ctest wrote")
    options = parser.parse_args(arguments)
    failed = []
    for path in options.files:
        try:
            cases, again = cases_of(path), path.with_stem(f"{path.stem}-again")
            ran_again = cases_of(again) if again.exists() else []
            passed = {each.get("name") for each in ran_again if each.get("status") == "run"}
        except (OSError, ElementTree.ParseError) as error:
            print(f"test_results: {path}: {error}", file=sys.stderr)
            return 2
        if options.slowest > 0:
            print(*slowest(path.parent.name, cases, options.slowest), sep="\n")
        for case in filter(has_failed, cases):
            verdict = "UNSTEADY, failed once" if case.get("name") in passed else "FAILED"
            failed.append((f"{path.parent.name}: {verdict}", case))
    for title, case in failed[:TESTS_MAX]:
        print(f"{title} after {float(case.get('time', 0)):.1f} s: {case.get('name')}")
        print(*(f"    {line}" for line in output_of(case)), sep="\n")
    for title, case in failed[TESTS_MAX:]:
        print(f"{title}, too: {case.get('name')}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
