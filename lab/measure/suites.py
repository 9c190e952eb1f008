# SPDX-License-Identifier: BSL-1.0
#
# The only reader of suites.toml, so that no other file knows how cases are written down.
"""Suites and cases, expanded over their axes, with the numbers of one scale."""

from __future__ import annotations

import fnmatch
import itertools
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "suites.toml"
SCALES = ("quick", "full", "smoke")
SLICES, TURNS = "slices", "turns"


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    title: str
    mode: str
    headline: str
    record: dict = field(hash=False, compare=False, default_factory=dict)  # What contenders receive.
    operations: int = 0  # Of a slice.
    threads: int = 1  # So many are busy, and get as many cores.
    blocks: int = 1
    rounds: int = 1
    turns: int = 1  # Of each contender in a round of turns.
    apart: bool = False  # A process of its own for each slice.
    judged: bool = True
    why: str = ""  # It is not judged.
    counts_calls: bool = True

    @property
    def key(self) -> tuple[str, str]:
        return self.suite, self.name

    @property
    def parts(self) -> int:
        """What a journal has a line for."""
        return self.blocks if self.mode == SLICES else self.rounds


@cache
def document() -> dict:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def names() -> list[str]:
    return list(document()["suites"])


def suite(name: str) -> dict:
    return document()["suites"][name]


def goals() -> list[dict]:
    return [{"suite": name, "text": text} | its for name, of_suite in document()["goals"].items()
            for text, its in of_suite.items()]


def notes() -> list[dict]:
    """What records have found out about losses: {"suite", "cases", "text", "decision", "date", "machine"}."""
    return [{"suite": name, "cases": patterns, "text": text, "decision": decision, "date": record["date"],
             "machine": record["machine"]}
            for decision, record in document()["notes"].items()
            for name, its in record.items() if isinstance(its, dict) for patterns, text in its.items()]


def matches(name: str, patterns: str) -> bool:
    """Whether it matches one of the patterns, which blanks separate."""
    return any(fnmatch.fnmatchcase(name, each) for each in patterns.split())


def cases(wanted: list[str], scale: str) -> list[Case]:
    """Those that suites.toml lists; suites that are `listed` by their programs have none here."""
    return [each for name in wanted for each in _cases_of(name, scale)]


def listed_case(name: str, line: dict, scale: str) -> Case:
    """A case that a program has listed: {"case", "description", "threads", "rounds_max", "turns"}."""
    its = suite(name)
    rounds = document()["scales"][scale]["turn_rounds"]
    return Case(name, str(line["case"]), str(line["description"]), TURNS, its["headline"], {},
                threads=int(line["threads"]), rounds=min(rounds, int(line.get("rounds_max", 0)) or rounds),
                turns=max(1, int(line.get("turns", 1))), judged=its.get("judged", True),
                why=its.get("why", ""))


def described(case: Case) -> dict:
    """As a line of a run's file."""
    return {"kind": "case", "suite": case.suite, "case": case.name, "title": case.title, "mode": case.mode,
            "headline": case.headline, "judged": case.judged, "why": case.why, "record": case.record,
            "operations": case.operations, "threads": case.threads, "turns": case.turns}


def _cases_of(name: str, scale: str) -> list[Case]:
    its, found = suite(name), []
    for pattern, told in its.get("cases", {}).items():
        axes = [[each if isinstance(each, dict) else {axis: each} for each in its["axes"][axis]]
                for axis in told.get("axes", [])]
        for chosen in itertools.product(*axes):
            words = {key: each for part in chosen for key, each in part.items()}
            found.append(_case(name, _filled({"name": pattern, **told}, words, scale), scale))
    return found


def _case(name: str, of: dict, scale: str) -> Case:
    its, scales = suite(name), document()["scales"][scale]
    rounds = scales["rounds" if its["mode"] == SLICES else "turn_rounds"]
    often = {} if scale == "smoke" else of
    own = of["case"].get("threads", 1) + of["case"].get("posters", 0)
    return Case(name, str(of["name"]), str(of["title"]), its["mode"], of.get("headline", its["headline"]),
                of["case"],
                operations=of.get("operations", 0),
                threads=of.get("threads", own) + of.get("other_threads", 0),
                blocks=often.get("blocks", scales["blocks"]), rounds=often.get("rounds", rounds),
                apart=of.get("apart", False), judged=of.get("judged", its.get("judged", True)),
                why=of.get("why", its.get("why", "")), counts_calls=of.get("count_system_calls", True))


def _filled(value, words: dict, scale: str):
    """With axes put in and the scale chosen."""
    if isinstance(value, dict):
        if set(value) == {"quick", "full"}:
            return _filled(value["full" if scale == "full" else "quick"], words, scale)
        return {key: _filled(each, words, scale) for key, each in value.items() if key != "axes"}
    if not isinstance(value, str):
        return value
    alone = re.fullmatch(r"\{(\w+)\}", value)
    return _filled(words[alone[1]], {}, scale) if alone else value.format_map(words)
