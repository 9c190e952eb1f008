#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""How many cases of each family of objects ran to their end on each backend.

Runs the conformance suites of the test programs below BUILD/tests, which count by themselves
(tests/support/conformance.hpp), and prints one table. The exit code is 1 if a case failed, or if a family has
other cases on one of its backends than on another one. Usage: tools/conformance.py [BUILD], by default
build/dev; GYRE_TEST_BACKENDS narrows the columns.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAMS = ("io_tests", "laws_tests", "sync_tests")
LINE = re.compile(r"^family ([^:]+):((?: \S+ \d+)*)(?: \((.*)\))?$")
COUNT = re.compile(r"(\S+) (\d+)")


class Table:
    """Counts by family and backend, in the order in which they came."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {}
        self.reasons: dict[str, str] = {}

    def read(self, lines: Iterable[str]) -> None:
        for line in lines:
            match = LINE.match(line)
            if match is None:
                continue
            family = self.counts.setdefault(match[1], {})
            for backend, count in COUNT.findall(match[2]):
                family[backend] = family.get(backend, 0) + int(count)
            if match[3]:
                self.reasons[match[1]] = match[3]

    def unequal(self) -> list[str]:
        return [name for name, counts in self.counts.items() if len(set(counts.values())) > 1]

    def text(self) -> str:
        backends = list(dict.fromkeys(each for counts in self.counts.values() for each in counts))
        width = max((len(name) for name in self.counts), default=0)
        lines = [" " * width + "".join(f"{each:>9}" for each in backends)]
        for name, counts in self.counts.items():
            cells = "".join(f"{counts.get(each, '-'):>9}" for each in backends)
            reason = self.reasons.get(name)
            lines.append(f"{name:<{width}}{cells}" + (f"  no world: {reason}" if reason else ""))
        totals = "".join(f"{sum(c.get(each, 0) for c in self.counts.values()):>9}" for each in backends)
        return "\n".join([*lines, f"{'all':<{width}}{totals}"])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Counts cases by family of objects and backend.")
    parser.add_argument("build", type=Path, nargs="?", default=Path("build/dev"), metavar="BUILD")
    build = parser.parse_args(arguments).build

    table = Table()
    failed = []
    environment = {**os.environ, "GYRE_TEST_COUNTS": "1"}
    for program in PROGRAMS:
        path = build / "tests" / program
        done = subprocess.run([path], env=environment, capture_output=True, text=True, check=False)
        table.read(done.stdout.splitlines())
        if done.returncode != 0:
            failed.append(program)
            sys.stdout.write(done.stdout)
    print(table.text())
    for name in table.unequal():
        print(f"{name}: other cases on one backend than on another")
    for program in failed:
        print(f"{program}: failed")
    return 1 if failed or table.unequal() or not table.counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
