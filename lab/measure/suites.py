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


@cache
def document() -> dict:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def names() -> list[str]:
    return list(document()["suites"])


def suite(name: str) -> dict:
    return document()["suites"][name]


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
    for pattern in its.get("cases", []):
        axes = [[(each, value) for value in its["axes"][each]] for each in pattern.get("axes", [])]
        for chosen in itertools.product(*axes):
            words: dict = {}
            for axis, value in chosen:
                words |= value if isinstance(value, dict) else {axis: value}
            found.append(_case(name, _filled(pattern, words, scale), scale))
    return found


def _case(name: str, of: dict, scale: str) -> Case:
    its, scales = suite(name), document()["scales"][scale]
    slices, smoke = its["mode"] == SLICES, scale == "smoke"
    rounds = scales["rounds" if slices else "turn_rounds"]
    return Case(name, str(of["name"]), str(of["title"]), its["mode"], of.get("headline", its["headline"]),
                of["case"],
                operations=of.get("operations", 0),
                threads=of.get("threads", 1) + of.get("other_threads", 0),
                blocks=scales["blocks"] if smoke else of.get("blocks", scales["blocks"]),
                rounds=rounds if smoke else of.get("rounds", rounds),
                apart=of.get("apart", False), judged=of.get("judged", its.get("judged", True)),
                why=of.get("why", its.get("why", "")), counts_calls=of.get("count_system_calls", True))


def _filled(value, words: dict, scale: str):
    """With axes put in and the scale chosen."""
    if isinstance(value, dict):
        if set(value) == {"quick", "full"}:
            return _filled(value["full" if scale == "full" else "quick"], words, scale)
        return {key: each if key == "axes" else _filled(each, words, scale) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, words, scale) for each in value]
    if isinstance(value, str):
        alone = re.fullmatch(r"\{(\w+)\}", value)
        if alone:
            return _scaled(words[alone[1]], scale) if alone[1] != "name" or "name" in words else value
        return value.format_map(words)
    return value


def _scaled(value, scale: str):
    return _filled(value, {}, scale) if isinstance(value, dict) else value
