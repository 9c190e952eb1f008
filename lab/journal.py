# SPDX-License-Identifier: BSL-1.0
#
# A full run takes hours. Whatever ends it early takes away the case that was being measured, and no other.
"""Finished cases of a run, a line each, so that the run can be taken up again where it was left."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

SUFFIX = ".journal"  # Behind the name of the file that the whole run will be.


class OtherConditions(Exception):
    """What is there was measured under other conditions, so it cannot be continued."""


def fingerprint(programs: list[Path]) -> str:
    """Of what is measured. A program that is missing is part of it, too: it may be built meanwhile."""
    whole = hashlib.sha256()
    for each in sorted(programs):
        whole.update(f"{each.name}\n".encode())
        whole.update(hashlib.sha256(each.read_bytes()).digest() if each.is_file() else b"-")
    return whole.hexdigest()


class Journal:
    """A case is written once all of its rounds are done, and is on the disk when `add` returns."""

    def __init__(self, result: Path | None, conditions: dict):
        """Takes up what is there. `result` is what --json names; without one nothing is kept."""
        self._path = result.with_name(result.name + SUFFIX) if result else None
        self._done: dict[tuple[str, str], dict] = {}
        if self._path is None:
            return
        if self._path.exists():
            self._take_up(conditions)
        else:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(conditions) + "\n", encoding="utf-8")

    def _take_up(self, conditions: dict) -> None:
        text = self._path.read_text(encoding="utf-8")
        whole = text[:text.rfind("\n") + 1]  # What was cut off in its middle is measured again.
        lines = [json.loads(line) for line in whole.splitlines()]
        differences = [f"{name} was {(lines[0] if lines else {}).get(name)!r} and is {value!r}"
                       for name, value in conditions.items()
                       if not lines or lines[0].get(name) != value]
        if differences:
            raise OtherConditions(f"{self._path} was begun under other conditions: "
                                  f"{'; '.join(differences)}. Remove it to begin anew")
        if whole != text:
            self._path.write_text(whole, encoding="utf-8")
        self._done = {(each["suite"], each["case"]): each for each in lines[1:]}

    @property
    def path(self) -> Path | None:
        return self._path

    def __len__(self) -> int:
        return len(self._done)

    def find(self, suite: str, case: str) -> dict | None:
        return self._done.get((suite, case))

    def add(self, record: dict) -> None:
        """`record` has at least `suite` and `case`."""
        self._done[(record["suite"], record["case"])] = record
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """The run is whole, and written elsewhere."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
