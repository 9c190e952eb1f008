# SPDX-License-Identifier: BSL-1.0
#
# Programs that run once per turn: servers under load, compilers, the exchange.
"""Plays a round of a case in turns: every second pass in the opposite order, and each with a control.

What is short may have several turns in a round: then all contenders take their first one, then, in the
opposite order, their second, and so on, and the sample of a round is the median of a contender's turns. A
turn that broke is taken once more, at once: one transient failure must not cost a contender all of its
rounds.
"""

from __future__ import annotations

import importlib
import json
import time

from measure import machine, slices, suites
from measure.processes import (
    AS_USERS_START_THEM,
    PLAYERS,
    Broken,
    Build,
    Contender,
    Refused,
    run_once,
)
from measure.slices import VALUE_MAX, with_control
from measure.suites import Case
from measure.watched import counting_option, identity, run_echo_load


def parse_report(report: object) -> dict:
    """What a turn has told. Raises Broken unless it can be a row."""
    if not isinstance(report, dict):
        raise Broken("printed JSON that is no object")
    if "cannot_run" in report:
        return {"cannot_run": str(report["cannot_run"])}
    metrics = report.get("metrics")
    if not isinstance(metrics, list) or not all(isinstance(each, dict) for each in metrics):
        raise Broken("reported no list of metrics")
    seen = set()
    for each in metrics:
        name, value = each.get("metric"), each.get("value")
        if not isinstance(name, str) or not isinstance(each.get("unit"), str) or name in seen \
                or each.get("better") not in ("higher", "lower"):
            raise Broken(f"reported a metric that is none: {json.dumps(each)[:80]}")
        if type(value) not in (int, float) or not abs(value) < VALUE_MAX:
            raise Broken(f"reported {json.dumps(value)[:40]} as its {name}")
        seen.add(name)
    return report


class Turns:
    """Takes turns of the programs of one build."""

    def __init__(self, build: Build, scale: str):
        self._build = build
        self._scale = scale if scale in ("full", "glance") else "quick"

    def listed(self, suite: str) -> list[Case]:
        """Cases of a suite that its programs list: of the first contender that can tell."""
        for each in self._build.contenders:
            if suite in each.suites and each.mode == suites.TURNS and each.absent is None:
                text = run_once([*each.command, "--list", "--suite", suite, "--scale", self._scale], None)
                lines = [json.loads(line) for line in text.splitlines()]
                return [suites.listed_case(suite, line, self._scale) for line in lines
                        if line["suite"] == suite]
        return []

    def take(self, contender: Contender, case: Case, counting: bool = False) -> dict:
        """One turn. A program that fails, hangs or prints nonsense cannot run, is broken, and says why."""
        if contender.absent is not None:
            return {"cannot_run": contender.absent}
        record = case.record | ({"count_system_calls": True} if counting else {})
        try:
            report = parse_report(self._played(contender, case, record))
        except Refused as refusal:
            report = {"cannot_run": str(refusal)}
        except (RuntimeError, ValueError) as error:
            return {"cannot_run": str(error), "broken": True}
        if "cannot_run" in report and contender.threads_max is not None \
                and case.threads - 1 <= contender.threads_max:
            return {"cannot_run": f"is listed as one that serves: {report['cannot_run']}", "broken": True}
        return report

    def _played(self, contender: Contender, case: Case, record: dict) -> object:
        command, cores, folder = list(contender.command), machine.cores_for(case.threads), self._build.folder
        if case.suite in PLAYERS:
            player = importlib.import_module(f"measure.{PLAYERS[case.suite]}")
            about = {} if case.suite in AS_USERS_START_THEM else identity(command)
            return about | player.play(record, folder, command, cores)
        if case.suite == "echo":
            return run_echo_load(folder, case.record, command, cores, *counting_option(record))
        counting = counting_option(record)
        return json.loads(run_once([*command, "--suite", case.suite, "--case", case.name, "--scale",
                                    "quick" if counting else self._scale, *counting], cores))

    def count_system_calls(self, contender: Contender, case: Case) -> float | None:
        """Raises Refused if the kernel does not let them be counted."""
        report = self.take(contender, case, counting=True)
        if "system_calls_not_counted" in report:
            raise Refused(report["system_calls_not_counted"])
        if report.get("broken"):
            raise Broken(report["cannot_run"])
        return next((each["value"] for each in report.get("metrics", [])
                     if each["metric"] == "system_calls"), None)


def count_system_calls(turns: Turns, contenders: list[Contender], case: Case) -> dict:
    """One more line of the journal: of each contender, per operation. Counting makes each call slower, so it
    is done once per case, in runs of which nothing else is kept. It ends with the first refusal, as the
    kernel refuses all alike."""
    line = {"kind": "calls", "suite": case.suite, "case": case.name, "per_operation": {}, "refused": None,
            "failed": {}}
    count = slices.count_system_calls if case.mode == suites.SLICES else turns.count_system_calls
    for each in contenders:
        try:
            calls = count(each, case)
        except Refused as refusal:
            line["refused"] = str(refusal)
            break
        except Broken as error:
            line["failed"][each.name] = str(error)
            continue
        if calls is not None:
            line["per_operation"][each.name] = calls
    return line


def play_round(turns: Turns, contenders: list[Contender], case: Case, number: int) -> dict:
    """One line of the journal."""
    reports: dict[str, list[dict]] = {}
    refused: dict[str, str] = {}
    broken: dict[str, str] = {}
    retried: dict[str, str] = {}
    steal, started = machine.StealMeter(), time.monotonic()
    for turn in range(case.turns):
        able = [each for each in contenders if each.title not in refused and each.title not in broken]
        forward = (number * case.turns + turn) % 2 == 0
        players = with_control(able)
        for each in players if forward else reversed(players):
            if each.name in refused or each.name in broken:
                continue  # The control of a contender that has just refused.
            report = turns.take(each, case)
            if report.get("broken"):
                retried[each.title] = report["cannot_run"]
                report = turns.take(each, case)
            if "cannot_run" in report:
                (broken if report.get("broken") else refused)[each.title] = report["cannot_run"]
                reports.pop(each.title, None)
            else:
                reports.setdefault(each.title, []).append(report)
    return {"kind": "round", "suite": case.suite, "case": case.name, "number": number, "contenders": reports,
            "refused": refused, "broken": broken, "retried": retried,
            "seconds": round(time.monotonic() - started, 3),
            "steal_percent": steal.percent(), "load_average": machine.load_average()[0]}
