# SPDX-License-Identifier: BSL-1.0
#
# A run is a file of JSON lines that only grows. Whatever ends a run early takes away the block that was being
# measured, and no other; the same command takes it up again.
"""The result file of a run: its conditions in the first line, then a line for each finished block or
round."""

from __future__ import annotations

import fcntl
import json
import lzma
import os
from pathlib import Path


class Unusable(Exception):
    """What was named on the command line cannot be used; says why."""


class OtherConditions(Unusable):
    """What is there was measured under other conditions, so it cannot be continued."""


def whole_lines(text: bytes) -> bytes:
    """Without one that was cut off in its middle, which is measured again."""
    return text[:text.rfind(b"\n") + 1]


def read(path: Path) -> list[dict]:
    """Of a run that is kept, too: `xz FILE`."""
    text = path.read_bytes()
    if path.suffix == ".xz":
        try:
            text = lzma.decompress(text)
        except lzma.LZMAError as error:
            raise Unusable(f"{path}: is damaged: {error}") from error
    lines = [parse(path, number, each) for number, each in enumerate(whole_lines(text).splitlines(), 1)]
    if not lines:
        raise Unusable(f"{path} has no whole line: nothing was measured")
    return lines


def parse(path: Path, number: int, text: bytes) -> dict:
    try:
        line = json.loads(text)
    except ValueError as error:
        raise Unusable(f"{path}:{number}: is damaged: {error}") from error
    if not isinstance(line, dict) or (line.get("kind") == "run") != (number == 1):
        raise Unusable(f"{path}:{number}: is no such line of a run")
    return line


class Journal:
    """A line is on the disk when `add` returns. No other process adds to it before `close`."""

    def __init__(self, path: Path, conditions: dict, facts: dict | None = None):
        """Takes up what is there, if its conditions are the same."""
        self.path = path
        self.lines: list[dict] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        try:
            self._begin(conditions, facts or {})
        except BaseException:
            self.close()
            raise

    def _begin(self, conditions: dict, facts: dict) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unusable(f"{self.path}: another process is measuring into this file") from error
        there = whole_lines(self.path.read_bytes()) if self.path.is_file() else b""
        if there:
            self._take_up(conditions)
        if self.path.is_file():
            self._file.truncate(len(there))
        if not there:
            self.add({"kind": "run", "conditions": conditions} | facts)

    def _take_up(self, conditions: dict) -> None:
        lines = read(self.path)
        before = lines[0].get("conditions", {})
        changed = [f"{name} was {before.get(name)!r} and is {value!r}"
                   for name, value in conditions.items() if before.get(name) != value]
        if changed:
            raise OtherConditions(f"{self.path} was begun under other conditions: {'; '.join(changed)}. "
                                  "Remove it to begin anew")
        self.lines = lines

    def close(self) -> None:
        self._file.close()

    def of_case(self, suite: str, case: str) -> list[dict]:
        return [each for each in self.lines if (each.get("suite"), each.get("case")) == (suite, case)]

    def add(self, line: dict) -> dict:
        self.lines.append(line)
        rest = (json.dumps(line, separators=(",", ":")) + "\n").encode()
        while rest:  # A disk that is nearly full takes a part, and refuses the rest.
            rest = rest[self._file.write(rest):]
        os.fsync(self._file.fileno())
        return line
