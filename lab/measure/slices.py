# SPDX-License-Identifier: BSL-1.0
#
# Short slices in random order: what disturbs the machine for a moment hits each contender alike.
"""Plays a case of an in-process suite in blocks.

A block starts a process for each contender, prepares the case in all of them, and then plays rounds: in each
round every contender plays one slice of the same size, in an order that is drawn anew. So slices that are
compared lie within some 100 ms of each other, and what a process has by accident, such as where its memory
lies, is drawn anew with each block. Estimates and intervals are analyse/stats.py's.
"""

from __future__ import annotations

import json
import math
import os
import random
import time
from collections import Counter
from collections.abc import Iterable

from measure import machine
from measure.processes import CONTROL, Broken, Contender, Refused, SliceProcess
from measure.suites import Case

IDENTITY = ("library", "version", "backend")
VALUE_MAX = 1e300  # Nothing that was measured reaches it: infinity, NaN, a thousand digits.


def is_amount(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < VALUE_MAX


def numbers(of: dict, required: Iterable[str], optional: Iterable[str] = ()) -> dict:
    """These, of which the optional ones may be null. Raises Broken unless they can have been measured."""
    found = {name: of.get(name) for name in (*required, *optional)}
    for name, value in found.items():
        if not is_amount(value) and not (value is None and name in optional):
            raise Broken(f"answered {json.dumps(value)[:40]} as its {name}")
    return found


def part(reply: dict, name: str) -> dict:
    found = reply.get(name) or {}
    if not isinstance(found, dict):
        raise Broken(f"answered {json.dumps(found)[:40]} as its {name}")
    return found


def parse_slice(reply: dict, operations: int) -> dict:
    """Figures by their columns. Raises Broken unless it can be a slice of so many operations."""
    found = numbers(reply, ("wall_ns", "cpu_ns", "operations"), ("allocations", "context_switches"))
    if found["wall_ns"] == 0 or found["operations"] != operations:
        raise Broken(f"answered {str(reply)[:80]} where {operations} operations were asked for")
    counters, latency = part(reply, "counters"), part(reply, "latency")
    found |= {f"counter {key}": each for key, each in numbers(counters, counters).items()}
    known = [key for key in ("mean", "p50") if key in latency]
    return found | {f"latency {key}": each for key, each in numbers(latency, (), known).items()}


def parse_finish(reply: dict) -> dict:
    """Memory, least, most and histogram of a process. Raises Broken unless they can be."""
    latency = part(reply, "latency")
    found = numbers(reply, (), ("memory_mb",)) | numbers(latency, (), ("min", "max"))
    buckets = latency.get("buckets") or []
    if not isinstance(buckets, list) or not all(
            isinstance(each, list) and len(each) == 2 and all(map(is_amount, each)) for each in buckets):
        raise Broken(f"answered {json.dumps(buckets)[:40]} as its buckets")
    return found | {"buckets": dict(buckets)}


def with_control(contenders: list[Contender]) -> list[Contender]:
    """The first one, which is gyre's if there is one, takes part twice."""
    return [*contenders, contenders[0].called(CONTROL)] if contenders else []


class Player:
    """One contender in one block, and what it has played: a process for all of it, or one for each slice."""

    def __init__(self, contender: Contender, case: Case):
        self.contender, self.case = contender, case
        self.cores = machine.cores_for(case.threads)
        self.record: dict[str, dict] = {"slices": {}, "finish": {}, "about": {}}
        self._process: SliceProcess | None = None
        self._outside = math.inf  # The least that a request and its answer have taken beside the slice.

    def start(self) -> None:
        if self.contender.absent:
            raise Refused(self.contender.absent)
        self._process = SliceProcess(self.contender, self.cores)
        told = self._process.ask({"do": "about"})
        self.record["about"] = {key: str(told.get(key, "?")) for key in IDENTITY}
        ready = self._process.ask({"do": "prepare", "suite": self.case.suite, "case": self.case.record})
        if "cannot_run" in ready:
            raise Refused(str(ready["cannot_run"]))

    def slice(self) -> None:
        if self._process is None:
            self.start()
        self._add(self._play())
        if self.case.apart:
            self.finish()

    def _play(self) -> dict:
        """Adds `kept_ns`: how long other programs kept the contender from its processor while it played.

        The kernel counts that for a thread; what it waited before the slice began is not part of it. That is
        what passed between request and answer beside the slice, less what this process waited itself.
        """
        mine, its, started = machine.run_delay(os.getpid()), self._process.run_delay(), time.perf_counter_ns()
        reply = self._process.ask({"do": "play", "operations": self.case.operations})
        passed = time.perf_counter_ns() - started
        found = parse_slice(reply, self.case.operations) | {"kept_ns": None}
        alone = self.case.threads == 1 and "threads" not in self.case.record
        if alone and None not in (mine, its):
            outside = passed - found["wall_ns"] - (machine.run_delay(os.getpid()) - mine)
            self._outside = min(self._outside, outside)
            waited = self._process.run_delay() - its - (outside - self._outside)
            found["kept_ns"] = max(0, min(waited, found["wall_ns"] - found["cpu_ns"]))
        return found

    def _add(self, found: dict) -> None:
        columns = self.record["slices"] or {key: [] for key in found}
        if set(columns) != set(found):
            raise Broken("answered other figures than for the slice before")
        for key, each in found.items():
            columns[key].append(each)
        self.record["slices"] = columns

    def finish(self) -> None:
        """Of several processes: the larger memory, and one histogram."""
        if self._process is None:
            return
        told, finish = parse_finish(self._process.ask({"do": "finish"})), self.record["finish"]
        finish["memory_mb"] = max(told["memory_mb"] or 0, finish.get("memory_mb", 0))
        if told["buckets"]:
            both = Counter(dict(map(tuple, finish.get("buckets", []))))
            both.update(told["buckets"])
            finish["buckets"] = sorted(both.items())
            for name, choose in (("min", min), ("max", max)):
                if told[name] is not None:
                    finish[name] = choose(told[name], finish.get(name, told[name]))
        self.end(orderly=True)

    def end(self, orderly: bool = False) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(orderly)


def play_block(contenders: list[Contender], case: Case, number: int, seed: int) -> dict:
    """One line of the journal. Contenders that refuse or break are named with the reason, and have no
    slices."""
    dice = random.Random(f"{seed} {case.suite} {case.name} {number}")
    players = {each.title: Player(each, case) for each in contenders}
    refused: dict[str, str] = {}
    broken: dict[str, str] = {}
    order: list[list[str]] = []
    steal, started = machine.StealMeter(), time.monotonic()

    def attempt(title: str, what) -> None:
        try:
            what()
        except Refused as refusal:
            refused[title] = str(refusal)
        except Broken as error:
            broken[title] = str(error)
        if title in refused or title in broken:
            players.pop(title).end()

    with machine.quiet_observer(case.threads):
        try:
            if not case.apart:
                for title in shuffled(players, dice):
                    attempt(title, players[title].start)
            for _ in range(case.rounds):
                order.append(shuffled(players, dice))
                for title in order[-1]:
                    if title in players:
                        attempt(title, players[title].slice)
            for title in list(players):
                attempt(title, players[title].finish)
        finally:
            for each in players.values():
                each.end()
    return {"kind": "block", "suite": case.suite, "case": case.name, "number": number, "seed": seed,
            "order": order, "contenders": {title: each.record for title, each in players.items()},
            "refused": refused, "broken": broken, "seconds": round(time.monotonic() - started, 3),
            "steal_percent": steal.percent(), "load_average": machine.load_average()[0]}


def shuffled(titles, dice: random.Random) -> list[str]:
    found = list(titles)
    dice.shuffle(found)
    return found


def count_system_calls(contender: Contender, case: Case) -> float | None:
    """Per operation, of one slice whose time means nothing. Raises Refused if the kernel does not let them
    be counted; None if the contender does not play this case."""
    if contender.absent:
        return None
    with SliceProcess(contender, machine.cores_for(case.threads)) as process:
        asked = process.ask({"do": "count_system_calls"})
        if "refused" in asked:
            raise Refused(str(asked["refused"]))
        if "cannot_run" in process.ask({"do": "prepare", "suite": case.suite, "case": case.record}):
            return None
        reply = process.ask({"do": "play", "operations": case.operations})
        calls = numbers(reply, (), ("system_calls",))["system_calls"]
        process.ask({"do": "finish"})
    return None if calls is None else calls / case.operations
