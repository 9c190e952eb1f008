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

import math
import os
import random
import time

from measure import machine
from measure.processes import CONTROL, Broken, Contender, SliceProcess
from measure.suites import Case

IDENTITY = ("library", "version", "backend")


class Refused(Exception):
    """A contender cannot play this case, and says why."""


def with_control(contenders: list[Contender]) -> list[Contender]:
    """The first one, which is gyre's if there is one, takes part twice."""
    return [*contenders, contenders[0].called(CONTROL)] if contenders else []


class Slices:
    """What one contender has played in a block, as columns."""

    def __init__(self) -> None:
        self.columns: dict[str, list] = {}
        self.finish: dict = {}
        self.about: dict = {}

    def add(self, reply: dict) -> None:
        flat = {key: reply.get(key) for key in ("wall_ns", "cpu_ns", "kept_ns", "operations", "allocations",
                                                "context_switches")}
        flat |= {f"counter {key}": each for key, each in (reply.get("counters") or {}).items()}
        flat |= {f"latency {key}": each for key, each in (reply.get("latency") or {}).items()
                 if key in ("mean", "p50")}
        for key, each in flat.items():
            self.columns.setdefault(key, []).append(each)

    def add_finish(self, reply: dict) -> None:
        """Of several processes: the larger memory, and one histogram."""
        latency = reply.get("latency")
        buckets = dict(map(tuple, self.finish.get("buckets", [])))
        for value, count in (latency or {}).get("buckets", []):
            buckets[value] = buckets.get(value, 0) + count
        self.finish["memory_mb"] = max(reply.get("memory_mb") or 0, self.finish.get("memory_mb", 0))
        if latency:
            self.finish["buckets"] = sorted(buckets.items())
            for name, choose in (("min", min), ("max", max)):
                if latency.get(name) is not None:
                    self.finish[name] = choose(latency[name], self.finish.get(name, latency[name]))

    def record(self) -> dict:
        return {"slices": self.columns, "finish": self.finish, "about": self.about}


class Player:
    """One contender in one block: a process for all of it, or one for each slice."""

    def __init__(self, contender: Contender, case: Case):
        self.contender, self.case = contender, case
        self.cores = machine.cores_for(case.threads)
        self.played = Slices()
        self._process: SliceProcess | None = None
        self._outside = math.inf  # The least that a request and its answer have taken beside the slice.

    def start(self) -> None:
        self._process = SliceProcess(self.contender, self.cores)
        self.played.about = {key: self._process.ask({"do": "about"}).get(key, "?") for key in IDENTITY}
        ready = self._process.ask({"do": "prepare", "suite": self.case.suite, "case": self.case.record})
        if "cannot_run" in ready:
            raise Refused(str(ready["cannot_run"]))

    def slice(self) -> None:
        if self._process is None:
            self.start()
        reply = self._play()
        if not reply.get("wall_ns", 0) > 0 or reply.get("operations") != self.case.operations:
            raise Broken(f"answered {str(reply)[:80]} where {self.case.operations} operations were asked for")
        self.played.add(reply)
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
        alone = self.case.threads == 1 and "threads" not in self.case.record
        if alone and None not in (mine, its) and "wall_ns" in reply:
            outside = passed - reply["wall_ns"] - (machine.run_delay(os.getpid()) - mine)
            self._outside = min(self._outside, outside)
            waited = self._process.run_delay() - its - (outside - self._outside)
            reply["kept_ns"] = max(0, min(waited, reply["wall_ns"] - reply["cpu_ns"]))
        return reply

    def finish(self) -> None:
        if self._process is not None:
            self.played.add_finish(self._process.ask({"do": "finish"}))
            process, self._process = self._process, None
            process.end()

    def abandon(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.end(orderly=False)


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
            players.pop(title).abandon()

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
                each.abandon()
    return {"kind": "block", "suite": case.suite, "case": case.name, "number": number, "seed": seed,
            "order": order, "contenders": {title: each.played.record() for title, each in players.items()},
            "refused": refused, "broken": broken, "seconds": round(time.monotonic() - started, 3),
            "steal_percent": steal.percent(), "load_average": machine.load_average()[0]}


def shuffled(titles, dice: random.Random) -> list[str]:
    found = list(titles)
    dice.shuffle(found)
    return found


def count_system_calls(contender: Contender, case: Case) -> dict:
    """{"per_operation"}, {"refused": why} or {"failed": why}: one slice whose time means nothing, as counting
    slows calls down."""
    try:
        with SliceProcess(contender, machine.cores_for(case.threads)) as process:
            asked = process.ask({"do": "count_system_calls"})
            if "refused" in asked:
                return {"refused": str(asked["refused"])}
            if "cannot_run" in process.ask({"do": "prepare", "suite": case.suite, "case": case.record}):
                return {}
            reply = process.ask({"do": "play", "operations": case.operations})
            process.ask({"do": "finish"})
    except Broken as error:
        return {"failed": str(error)}
    calls = reply.get("system_calls")
    return {} if calls is None else {"per_operation": calls / case.operations}
