# SPDX-License-Identifier: BSL-1.0
#
# A run is a file of JSON lines that only grows. Whatever ends a run early takes away the block that was being
# measured, and no other; the same command takes it up again.
"""The result file of a run: its conditions in the first line, then a line for each finished block or
round."""

from __future__ import annotations

import json
import os
from pathlib import Path


class OtherConditions(Exception):
    """What is there was measured under other conditions, so it cannot be continued."""


def whole_lines(text: str) -> str:
    """Without one that was cut off in its middle, which is measured again."""
    return text[:text.rfind("\n") + 1]


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in whole_lines(path.read_text(encoding="utf-8")).splitlines()]


class Journal:
    """A line is on the disk when `add` returns."""

    def __init__(self, path: Path, conditions: dict, facts: dict | None = None):
        """Takes up what is there, if its conditions are the same."""
        self.path = path
        self.lines: list[dict] = []
        if path.exists() and path.stat().st_size:
            self._take_up(conditions)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.add({"kind": "run", "conditions": conditions} | (facts or {}))

    def _take_up(self, conditions: dict) -> None:
        lines = read(self.path)
        before = lines[0].get("conditions", {}) if lines else {}
        changed = [f"{name} was {before.get(name)!r} and is {value!r}"
                   for name, value in conditions.items() if before.get(name) != value]
        if changed:
            raise OtherConditions(f"{self.path} was begun under other conditions: {'; '.join(changed)}. "
                                  "Remove it to begin anew")
        os.truncate(self.path, len(whole_lines(self.path.read_text(encoding="utf-8")).encode()))
        self.lines = lines

    def of_case(self, suite: str, case: str) -> list[dict]:
        return [each for each in self.lines if (each.get("suite"), each.get("case")) == (suite, case)]

    def add(self, line: dict) -> dict:
        self.lines.append(line)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return line
