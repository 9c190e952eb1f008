# SPDX-License-Identifier: BSL-1.0
#
# A run is a file of JSON lines that only grows. Whatever ends a run early takes away the block that was being
# measured, and no other; the same command takes it up again.
"""The result file of a run: its conditions in the first line, then a line for each finished block or
round."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path


class OtherConditions(Exception):
    """What is there was measured under other conditions, so it cannot be continued."""


def fingerprint(programs: list[Path]) -> str:
    """Of what is measured. A program that is missing is part of it, too: it may be built meanwhile."""
    whole = hashlib.sha256()
    for each in sorted(set(programs)):
        whole.update(f"{each.name}\n".encode())
        whole.update(hashlib.sha256(each.read_bytes()).digest() if each.is_file() else b"-")
    return whole.hexdigest()


def read(path: Path) -> list[dict]:
    """All whole lines. One that was cut off in its middle is measured again."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


class Journal:
    """A line is on the disk when `add` returns."""

    def __init__(self, path: Path | None, conditions: dict, facts: dict | None = None):
        """Takes up what is there, if its conditions are the same. Without a path nothing is kept on disk."""
        self.path = path
        self.lines: list[dict] = []
        first = {"kind": "run", "conditions": conditions} | (facts or {})
        if path is not None and path.exists() and path.stat().st_size:
            self._take_up(first)
        else:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self.add(first)

    def _take_up(self, first: dict) -> None:
        lines = read(self.path)
        before = lines[0].get("conditions", {}) if lines else {}
        changed = [f"{name} was {before.get(name)!r} and is {value!r}"
                   for name, value in first["conditions"].items() if before.get(name) != value]
        if changed:
            raise OtherConditions(f"{self.path} was begun under other conditions: {'; '.join(changed)}. "
                                  "Remove it to begin anew")
        text = self.path.read_bytes()
        whole = text.rfind(b"\n") + 1
        if whole != len(text):
            os.truncate(self.path, whole)
        self.lines = lines

    def of_case(self, suite: str, case: str) -> list[dict]:
        return [each for each in self.lines if (each.get("suite"), each.get("case")) == (suite, case)]

    def add(self, line: dict) -> dict:
        self.lines.append(line)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                file.flush()
                os.fsync(file.fileno())
        return line
