#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# What has changed between two stored runs: before and after a commit, one compiler and another.
"""compare.py BEFORE.json AFTER.json [--absolute] [--all]

The same machine is not equally fast at two times, so values of two runs say little. What is compared is how
many times better a contender was than the best Asio row of the same case, whose turns it took: the
machine's speed cancels. Where there is no such row, or with --absolute, values themselves are compared.

Ends with 1 if something has become worse, so that it can guard a change.
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


def interval(before: numpy.ndarray, after: numpy.ndarray,
             resamples: int = 2000) -> tuple[float, float]:
    """The 95 % percentile bootstrap of the ratio of the medians; the runs are resampled apart."""
    random = numpy.random.default_rng(seed=20_111)

    def medians(of: numpy.ndarray) -> numpy.ndarray:
        return numpy.median(of[random.integers(0, len(of), size=(resamples, len(of)))], axis=1)

    low, high = numpy.percentile(medians(after) - medians(before), [2.5, 97.5])
    return float(math.exp(low)), float(math.exp(high))


def common_reference(before: Run, after: Run, suite: str, case: str, metric: str) -> str | None:
    """The best Asio row of the first run, if the second has it, too."""
    found = before.reference(suite, case, metric)
    return found if found and after.row(suite, case, metric, found) else None


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
    suite, _, metric, contender = key
    judged = evidence.JUDGED.get(suite) or (evidence.HEADLINES.get(suite),)
    return metric in judged and not contender.endswith(evidence.CONTROL_SUFFIX)


def changes(before: Run, after: Run, absolute: bool = False) -> list[Change]:
    """Every row that both runs have, judged together."""
    keys, found = [], []
    for key in before.rows:
        if key not in after.rows or not is_compared(before, key):
            continue
        reference = None if absolute else common_reference(before, after, *key[:3])
        if reference == key[3]:
            continue  # It is what the others are measured by.
        pair = [logarithms(run, key, reference) for run in (before, after)]
        if all(len(each) for each in pair):
            keys.append((key, reference))
            found.append(pair)
    corrected = student.holm([student.welch_p_value(*each) for each in found])
    return [change_of(before, after, key, reference, pair, p)
            for (key, reference), pair, p in zip(keys, found, corrected)]


def change_of(before: Run, after: Run, key: tuple[str, str, str, str], reference: str | None,
              pair: list[numpy.ndarray], p_corrected: float) -> Change:
    ratio = math.exp(float(numpy.median(pair[1]) - numpy.median(pair[0])))
    spreads = [run.control_spread(*key[:3]) for run in (before, after)]
    spread = None if None in spreads else max(spreads)
    medians = [evidence.summarise(run.rows[key]["samples"]).median for run in (before, after)]
    return Change(*key, reference, *medians, before.rows[key]["unit"], ratio, *interval(*pair),
                  evidence.verdict_of(ratio, p_corrected, spread))


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
    return found


def only_in(one: Run, other: Run) -> list[str]:
    """Contenders of cases that the other run lacks."""
    def measured(run: Run) -> set[tuple[str, str, str]]:
        return {(key[0], key[3], key[1]) for key in run.rows if is_compared(run, key)}

    cases: dict[tuple[str, str], list[str]] = {}
    for suite, contender, case in sorted(measured(one) - measured(other)):
        cases.setdefault((suite, contender), []).append(case)
    return [f"{suite} of {contender}, {len(names)} cases: {', '.join(names[:3])}"
            f"{' ...' if len(names) > 3 else ''}" for (suite, contender), names in cases.items()]


def describe(change: Change) -> str:
    values = (f"{format_value(change.before, change.unit)} -> "
              f"{format_value(change.after, change.unit)} {change.unit}")
    against = f"against {change.reference}" if change.reference else "by itself"
    return (f"  {change.suite:10} {change.case:28} {change.metric:12} {change.contender:22} "
            f"{change.ratio:5.2f}x ({change.low:.2f} to {change.high:.2f}) {against}; {values}")


def print_report(before: Run, after: Run, found: list[Change], everything: bool) -> None:
    for each in differences(before, after):
        print(f"not the same, {each}")
    for title, names in (("gone", only_in(before, after)), ("new", only_in(after, before))):
        for each in names:
            print(f"{title}: {each}")
    for verdict in VERDICTS if everything else VERDICTS[:2]:
        rows = sorted((each for each in found if each.verdict == verdict),
                      key=lambda each: -abs(math.log(each.ratio)))
        if rows:
            print(f"{verdict}:")
            print("\n".join(map(describe, rows)))
    counts = ", ".join(f"{sum(each.verdict == verdict for each in found)} {verdict}"
                       for verdict in VERDICTS)
    print(f"{len(found)} rows: {counts}")


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
    found = changes(before, after, arguments.absolute)
    if not found:
        sys.exit("compare.py: these runs have no row in common")
    print_report(before, after, found, arguments.all)
    sys.exit(1 if any(each.verdict == "worse" for each in found) else 0)


if __name__ == "__main__":
    main()
