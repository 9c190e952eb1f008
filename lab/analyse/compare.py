#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# What has changed between two stored runs: before and after a commit, one compiler and another.
"""compare.py BEFORE.json AFTER.json [--absolute] [--all]

The same machine is not equally fast at two times, so values of two runs say little. What is compared is how
many times better a contender was than the best Asio row of the same case, whose turns it took: the
machine's speed cancels. Where there is no such row, or with --absolute, values themselves are compared.

Judged are gyre's rows that have two rounds at least in both runs; those of one suite are a family. What
became of everybody else is judged apart: their programs are the same, so it tells whether the machine is.

What became so bad that it has no row any more is worse, too: gyre's rows that are saturated now, refused or
broken. Ends with 1 if something has become worse, so that it can guard a change.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy

import evidence
import student
from evidence import Run
from tables import format_value

ROUNDS_MIN = 2  # One round says nothing of how far rounds lie apart.
VERDICTS = ("worse", "better", "undecided", "void", "no control", "no difference")


@dataclass(frozen=True)
class Change:
    suite: str
    case: str
    metric: str
    contender: str
    reference: str | None  # None: values were compared.
    before: float  # Medians of the values.
    after: float
    unit: str
    ratio: float  # How many times better it has become.
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class Pair:
    """One row in both runs: logarithms of how good each round was."""

    key: tuple[str, str, str, str]
    reference: str | None
    before: numpy.ndarray
    after: numpy.ndarray

    @property
    def is_enough(self) -> bool:
        return min(len(self.before), len(self.after)) >= ROUNDS_MIN

    @property
    def ratio(self) -> float:
        return math.exp(float(numpy.median(self.after) - numpy.median(self.before)))


def common_reference(before: Run, after: Run, suite: str, case: str, metric: str) -> str | None:
    """The best Asio row of the first run, of those that the second has, too."""
    return before.best(suite, case, metric, [
        each for each in before.contenders()
        if before.family(each) == evidence.REFERENCE_FAMILY and after.row(suite, case, metric, each)])


def logarithms(run: Run, key: tuple[str, str, str, str], reference: str | None) -> numpy.ndarray:
    """Of how good each round was; more is better."""
    row = run.rows[key]
    if reference is not None:
        theirs = run.row(*key[:3], reference)
        return numpy.log(evidence.paired_ratios(row["samples"], theirs["samples"], row["better"]))
    values = numpy.asarray([each for each in row["samples"] if each > 0], dtype=float)
    return numpy.log(values) if row["better"] == "higher" else -numpy.log(values)


def is_compared(run: Run, key: tuple[str, str, str, str]) -> bool:
    """What the lab judges, of everybody but controls."""
    suite, case, metric, contender = key
    judged = evidence.judged_metrics(suite, case) or (evidence.HEADLINES.get(suite),)
    return metric in judged and not contender.endswith(evidence.CONTROL_SUFFIX)


def is_ours(run: Run, key: tuple[str, str, str, str]) -> bool:
    return run.family(key[3]) == evidence.OUR_FAMILY


@dataclass(frozen=True)
class Vanished:
    """What one of ours could do before, and cannot do now."""

    suite: str
    case: str
    contender: str
    metrics: tuple[str, ...]
    reason: str


def reason_of(before: Run, after: Run, suite: str, case: str, contender: str) -> str | None:
    """Why a contender has lost rows of a case, if it is its own fault."""
    refused = after.refusals.get((suite, case, contender))
    if refused is not None:
        return refused
    saturated = [run.is_saturated(suite, case, contender) for run in (before, after)]
    return "saturated: it falls short of its rate now" if saturated == [False, True] else None


def vanished(before: Run, after: Run) -> list[Vanished]:
    metrics: dict[tuple[str, str, str], list[str]] = {}
    for key in before.rows:
        if key not in after.rows and is_compared(before, key) and is_ours(before, key):
            metrics.setdefault((key[0], key[1], key[3]), []).append(key[2])
    return [Vanished(*place, tuple(names), reason) for place, names in metrics.items()
            if (reason := reason_of(before, after, *place)) is not None]


def pairs_of(before: Run, after: Run, absolute: bool = False) -> list[Pair]:
    """Every row that both runs have."""
    found = []
    for key in before.rows:
        if key not in after.rows or not is_compared(before, key):
            continue
        reference = None if absolute else common_reference(before, after, *key[:3])
        if reference != key[3]:  # It is what the others are measured by.
            found.append(Pair(key, reference, *(logarithms(run, key, reference) for run in (before, after))))
    return found


def judge(before: Run, after: Run, pairs: list[Pair]) -> list[Change]:
    """Those that have enough rounds; a family per suite."""
    found = []
    for suite in dict.fromkeys(each.key[0] for each in pairs):
        family = [each for each in pairs if each.key[0] == suite and each.is_enough]
        corrected = student.holm([student.welch_p_value(each.before, each.after) for each in family])
        found += [change_of(before, after, each, p) for each, p in zip(family, corrected)]
    return found


def changes(before: Run, after: Run, absolute: bool = False) -> list[Change]:
    """Of gyre's rows."""
    return judge(before, after, [each for each in pairs_of(before, after, absolute)
                                 if is_ours(before, each.key)])


def drift(before: Run, after: Run, absolute: bool = False) -> list[str]:
    """What became of everybody but gyre: by value, and, where it is confirmed, as gyre's rows are."""
    def theirs(pairs: list[Pair]) -> list[Pair]:
        return [each for each in pairs
                if not is_ours(before, each.key) and len(each.before) and len(each.after)]

    by_value = [each.ratio for each in theirs(pairs_of(before, after, absolute=True))]
    lines = [f"the machine: peers are {numpy.median(by_value):.2f}x as good as before by value "
             f"({min(by_value):.2f}x to {max(by_value):.2f}x, {len(by_value)} rows)"] if by_value else []
    judged = judge(before, after, theirs(pairs_of(before, after, absolute)))
    for suite in dict.fromkeys(each.suite for each in judged):
        all_of_it = [each for each in judged if each.suite == suite]
        changed = [each.ratio for each in all_of_it if each.verdict in ("worse", "better")]
        if changed:
            lines.append(f"the machine differs: in {suite}, peers changed by {min(changed):.2f}x to "
                         f"{max(changed):.2f}x in {len(changed)} of {len(all_of_it)} rows")
    return lines


def change_of(before: Run, after: Run, pair: Pair, p_corrected: float) -> Change:
    key = pair.key
    spreads = [run.control_spread(*key[:3]) for run in (before, after)]
    spread = None if None in spreads else max(spreads)
    medians = [evidence.summarise(run.rows[key]["samples"]).median for run in (before, after)]
    interval = student.welch_interval(pair.before, pair.after)
    return Change(*key, pair.reference, *medians, before.rows[key]["unit"], pair.ratio, *interval,
                  evidence.verdict_of(pair.ratio, p_corrected, spread))


def differences(before: Run, after: Run) -> list[str]:
    """Conditions that were not the same."""
    found = []
    for title, first, second in (("machine", before.machine, after.machine),
                                 ("run", before.document.get("run", {}),
                                  after.document.get("run", {}))):
        for name in ("cpu", "cores", "kernel", "compiler", "flags", "build_type", "scale",
                     "repetitions"):
            if first.get(name) != second.get(name):
                found.append(f"{title}: {name} was {first.get(name)}, is {second.get(name)}")
    versions = [{each["name"]: f"{each.get('library')} {each.get('version')}"
                 for each in run.document.get("contenders", [])} for run in (before, after)]
    turns = [{each: run.turns(*each) for each in ((suite, case) for suite in run.suites
                                                  for case in run.cases(suite))} for run in (before, after)]
    for what, (first, second) in (("library of", versions), ("turns of", turns)):
        for name in first:
            if name in second and first[name] != second[name]:
                label = name if isinstance(name, str) else " ".join(name)
                found.append(f"{what} {label} was {first[name]}, is {second[name]}")
    return found


def only_in(one: Run, other: Run) -> list[str]:
    """Rows that the other run lacks, by suite and contender; but for those of which it says why."""
    told = {(each.suite, each.case, metric, each.contender)
            for each in vanished(one, other) for metric in each.metrics}
    found: dict[tuple[str, str], list[str]] = {}
    for key in sorted(one.rows):
        if key not in other.rows and key not in told and is_compared(one, key):
            found.setdefault((key[0], key[3]), []).append(f"{key[1]} {key[2]}")
    return [f"{suite} of {contender}, {len(names)} rows: {', '.join(names[:3])}"
            f"{' ...' if len(names) > 3 else ''}" for (suite, contender), names in found.items()]


def describe(change: Change) -> str:
    values = (f"{format_value(change.before, change.unit)} -> "
              f"{format_value(change.after, change.unit)} {change.unit}")
    against = f"against {change.reference}" if change.reference else "by itself"
    return (f"  {change.suite:10} {change.case:28} {change.metric:12} {change.contender:22} "
            f"{change.ratio:5.2f}x ({change.low:.2f} to {change.high:.2f}) {against}; {values}")


def print_report(before: Run, after: Run, found: list[Change], lost: list[Vanished],
                 everything: bool) -> None:
    for each in differences(before, after):
        print(f"not the same, {each}")
    for title, names in (("gone", only_in(before, after)), ("new", only_in(after, before))):
        for each in names:
            print(f"{title}: {each}")
    if lost:
        print("worse, and so much that there is no row any more:")
    for each in lost:
        print(f"  {each.suite:10} {each.case:28} {', '.join(each.metrics):12} "
              f"{each.contender:22} {each.reason}")
    for verdict in VERDICTS if everything else VERDICTS[:2]:
        rows = sorted((each for each in found if each.verdict == verdict),
                      key=lambda each: -abs(math.log(each.ratio)))
        if rows:
            print(f"{verdict}:")
            print("\n".join(map(describe, rows)))
    counts = ", ".join(f"{sum(each.verdict == verdict for each in found)} {verdict}"
                       for verdict in VERDICTS)
    print(f"{len(found)} rows of gyre, judged together with those of the same suite: {counts}")


def load(path: Path) -> Run:
    try:
        return Run(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        sys.exit(f"compare.py: {path} is no result of run.py --json: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, metavar="BEFORE.json")
    parser.add_argument("after", type=Path, metavar="AFTER.json")
    parser.add_argument("--absolute", action="store_true",
                        help="compare values, not how they stand to Asio's")
    parser.add_argument("--all", action="store_true", help="name rows that have not changed, too")
    arguments = parser.parse_args()
    before, after = load(arguments.before), load(arguments.after)
    pairs = [each for each in pairs_of(before, after, arguments.absolute) if is_ours(before, each.key)]
    lost = vanished(before, after)
    if not pairs and not lost:
        sys.exit("compare.py: these runs have no row in common")
    found = judge(before, after, pairs)
    print_report(before, after, found, lost, arguments.all)
    few = sum(not each.is_enough for each in pairs)
    if few:
        print(f"{few} rows have too few rounds to be judged: fewer than {ROUNDS_MIN} in either run")
    for line in drift(before, after, arguments.absolute):
        print(line)
    sys.exit(1 if lost or any(each.verdict == "worse" for each in found) else 0)


if __name__ == "__main__":
    main()
