# SPDX-License-Identifier: BSL-1.0
#
# Counting system calls makes each of them slower, so it is done once per case, in runs of which nothing else
# is kept.
"""One more line of the journal for a case: the system calls of each contender, per operation."""

from __future__ import annotations

from measure import slices
from measure.processes import Contender
from measure.suites import SLICES, Case
from measure.turns import Turns


def count(contenders: list[Contender], case: Case, turns: Turns) -> dict:
    """Ends with the first refusal, as the kernel refuses all alike."""
    line = {"kind": "calls", "suite": case.suite, "case": case.name, "per_operation": {}, "refused": None,
            "failed": {}}
    for each in contenders:
        found = slices.count_system_calls(each, case) if case.mode == SLICES else _of_turn(each, case, turns)
        if "refused" in found:
            line["refused"] = found["refused"]
            break
        if "failed" in found:
            line["failed"][each.name] = found["failed"]
        elif "per_operation" in found:
            line["per_operation"][each.name] = found["per_operation"]
    return line


def _of_turn(contender: Contender, case: Case, turns: Turns) -> dict:
    report = turns.take(contender, case, counting=True)
    if "system_calls_not_counted" in report:
        return {"refused": report["system_calls_not_counted"]}
    if report.get("broken"):
        return {"failed": report["cannot_run"]}
    return next(({"per_operation": each["value"]} for each in report.get("metrics", [])
                 if each["metric"] == "system_calls"), {})
