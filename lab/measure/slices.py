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
from collections import Counter

from measure import machine
from measure.processes import CONTROL, Broken, Contender, Refused, SliceProcess
from measure.suites import Case

IDENTITY = ("library", "version", "backend")


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
        self._process = SliceProcess(self.contender, self.cores)
        self.record["about"] = {key: self._process.ask({"do": "about"}).get(key, "?") for key in IDENTITY}
        ready = self._process.ask({"do": "prepare", "suite": self.case.suite, "case": self.case.record})
        if "cannot_run" in ready:
            raise Refused(str(ready["cannot_run"]))

    def slice(self) -> None:
        if self._process is None:
            self.start()
        reply = self._play()
        if not reply.get("wall_ns", 0) > 0 or reply.get("operations") != self.case.operations:
            raise Broken(f"answered {str(reply)[:80]} where {self.case.operations} operations were asked for")
        self._add(reply)
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

    def _add(self, reply: dict) -> None:
        flat = {key: reply.get(key) for key in ("wall_ns", "cpu_ns", "kept_ns", "operations", "allocations",
                                                "context_switches")}
        flat |= {f"counter {key}": each for key, each in (reply.get("counters") or {}).items()}
        flat |= {f"latency {key}": each for key, each in (reply.get("latency") or {}).items()
                 if key in ("mean", "p50")}
        for key, each in flat.items():
            self.record["slices"].setdefault(key, []).append(each)

    def finish(self) -> None:
        """Of several processes: the larger memory, and one histogram."""
        if self._process is None:
            return
        reply, finish = self._process.ask({"do": "finish"}), self.record["finish"]
        finish["memory_mb"] = max(reply.get("memory_mb") or 0, finish.get("memory_mb", 0))
        latency = reply.get("latency")
        if latency:
            both = Counter(dict(map(tuple, finish.get("buckets", []))))
            both.update(dict(map(tuple, latency.get("buckets", []))))
            finish["buckets"] = sorted(both.items())
            for name, choose in (("min", min), ("max", max)):
                if latency.get(name) is not None:
                    finish[name] = choose(latency[name], finish.get(name, latency[name]))
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
    with SliceProcess(contender, machine.cores_for(case.threads)) as process:
        asked = process.ask({"do": "count_system_calls"})
        if "refused" in asked:
            raise Refused(str(asked["refused"]))
        if "cannot_run" in process.ask({"do": "prepare", "suite": case.suite, "case": case.record}):
            return None
        calls = process.ask({"do": "play", "operations": case.operations}).get("system_calls")
        process.ask({"do": "finish"})
    return None if calls is None else calls / case.operations
