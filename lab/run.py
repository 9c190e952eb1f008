#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Runs suites of the lab: contenders side by side, in turns, with a control, on pinned cores.
"""One command from executables to tables, raw samples and a report.

    run.py SUITE... --build DIR [--quick | --smoke] [--repetitions N] [--reruns N] [--contenders a,b]
                    [--turns N] [--case GLOB] [--twins] [--json FILE] [--html DIR] [--tables] [--costs]

Each case is measured in rounds. A round runs every contender once, and the next round runs them in
the opposite order, so that whatever drifts favours nobody. Where turns are short, several of each,
dealt out alternately, are a round, and their median is the sample. One contender takes part twice in every
round, under a second name: what it differs from itself is what differences here are worth. A case
in which that is more than 5 %, or unknown, is void and measured again.

Cases that are finished stand in FILE.journal until all are. The same command takes a run up again that
was interrupted; the turns of a case are never torn apart.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import evidence
import machine
from bench import NOBODY, Bench, Case, Contender
from journal import Journal, OtherConditions
from rounds import Progress, SystemCalls, measure_until_quiet, notes_of, refusals_of, rows_of


def described_once(contenders: list[Contender], identities: dict[str, dict]) -> list[dict]:
    """A contender may be several programs, for different suites: it is one column all the same."""
    found: dict[str, dict] = {}
    for each in contenders:
        found.setdefault(each.name, {"name": each.name, "family": each.family,
                                     **identities.get(each.name, {})})
    return list(found.values())


def measure_case(bench: Bench, contenders: list[Contender], case: Case, rounds: int, reruns: int,
                 progress: Progress, calls: SystemCalls) -> dict:
    """All that is known of one case in the end."""
    started = time.monotonic()
    steal = machine.StealMeter()
    identities: dict[str, dict] = {}
    first, *others = measure_until_quiet(bench, contenders, case, rounds, reruns, progress,
                                         identities)
    counted_before = len(calls.failures)
    calls.add_to(first, contenders, case)
    uncounted = calls.failures[counted_before:]
    for each in uncounted:
        progress.say(f"{case.suite} {case.name}: the system calls of {each['contender']} were not counted: "
                     f"{each['reason']}")
    which = {"suite": case.suite, "case": case.name}
    control = [which | {"spread": first.headline_spread(case),
                        "contender": first.controlled, "attempts": 1 + len(others)}]
    return which | {
        "rows": rows_of(case, first),
        "cannot_run": refusals_of(case, first),
        "notes": notes_of(case, first),
        "controls": control if first.controlled else [],
        "by_second": [which | {"contender": name, "rounds": rounds_seen}
                      for name, rounds_seen in first.seconds.items() if name in first.samples],
        "no_delay": [which | {"contender": name, "seen": seen} for name, seen in first.no_delay.items()
                     if name in first.samples],
        "discarded": [row for each in others for row in rows_of(case, each)],
        "identities": identities,
        "system_calls_not_counted": calls.refusal,
        "system_calls_failed": uncounted,
        "seconds": time.monotonic() - started,
        "steal_percent": steal.percent(),
        "load_average": machine.load_average()[0],
    }


def run_suites(bench: Bench, contenders: list[Contender], cases: list[Case], rounds: int,
               reruns: int, scale: str, journal: Journal) -> dict:
    """Measures everything that the journal lacks and returns the document that --json stores."""
    started_at = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    taking_part = {case: [each for each in contenders if each.takes_part(case)] for case in cases}
    missing = [each for each in cases if journal.find(each.suite, each.name) is None]
    progress = Progress(sum((len(taking_part[each]) + 1) * each.rounds(rounds) * each.turns
                            for each in missing))
    if len(missing) < len(cases):
        progress.say(f"{len(cases) - len(missing)} of {len(cases)} cases are in {journal.path}")
    calls = SystemCalls(bench, scale == "quick")
    for case in missing:
        journal.add(measure_case(bench, taking_part[case], case, case.rounds(rounds), reruns,
                                 progress, calls) | {"sitting": started_at})
    progress.finish()

    records = [journal.find(each.suite, each.name) for each in cases]
    sittings = sorted({each["sitting"] for each in records})
    facts = machine.facts(bench.info) | machine.disturbances(records)

    def all_of(what: str) -> list:
        return [each for record in records for each in record[what]]

    identities = {name: identity for record in records
                  for name, identity in record["identities"].items()}
    return {
        "machine": facts,
        "run": {"scale": scale, "repetitions": rounds, "reruns_max": reruns,
                "started": sittings[0], "sittings": len(sittings),
                "seconds": round(sum(each["seconds"] for each in records), 1)},
        "contenders": described_once([each for each in contenders
                                      if any(each in those for those in taking_part.values())],
                                     identities),
        "cases": [{"suite": each.suite, "case": each.name, "description": each.description,
                   "threads": each.threads, "turns": each.turns} for each in cases],
        "rows": all_of("rows"),
        "cannot_run": all_of("cannot_run"),
        "notes": all_of("notes"),
        "controls": all_of("controls"),
        "system_calls_not_counted": next((each["system_calls_not_counted"] for each in records
                                          if each["system_calls_not_counted"]), None),
        "system_calls_failed": all_of("system_calls_failed"),
        "by_second": all_of("by_second"),
        "no_delay": all_of("no_delay"),
        "discarded": all_of("discarded"),
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="+", metavar="SUITE",
                        help=f"any of: {', '.join(evidence.HEADLINES)}, or all")
    parser.add_argument("--build", type=Path, required=True, metavar="DIR",
                        help="the build folder; its target `lab` must be built")
    parser.add_argument("--quick", action="store_true",
                        help="less work, fewer rounds, void cases are not measured again: to look")
    parser.add_argument("--smoke", action="store_true",
                        help="does everybody run? Once, quickly, in each suite; measures nothing, and ends "
                             "with 1 if somebody breaks, or nobody runs in a suite")
    parser.add_argument("--repetitions", type=int, metavar="N",
                        help="rounds (5; with --quick 3, all suites 2); ten or more to tell small "
                             "differences")
    parser.add_argument("--turns", type=int, metavar="N",
                        help="so many of each contender are a round (1; in a full run of `exchange` 4)")
    parser.add_argument("--reruns", type=int, metavar="N",
                        help="how often a void case is measured again at most (2; with --quick 0)")
    parser.add_argument("--contenders", metavar="a,b", help="only these; default: all")
    parser.add_argument("--twins", action="store_true",
                        help="everybody takes part twice; self_check.py then says whether the lab sees "
                             "differences where there are none")
    parser.add_argument("--case", default="*", metavar="GLOB", help="only cases that match")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write raw samples there (else to a new file in lab/results of the build); "
                             "FILE.journal keeps finished cases meanwhile, and who names it goes on")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write index.html there")
    parser.add_argument("--tables", action="store_true",
                        help="print tables (the default if neither --json nor --html is given)")
    parser.add_argument("--costs", action="store_true",
                        help="print processor time, allocations, system calls and context switches")
    return parser.parse_args()


def choose_contenders(bench: Bench, wanted: str | None) -> list[Contender]:
    if wanted is None:
        return bench.contenders
    names = wanted.split(",")
    unknown = set(names) - {each.name for each in bench.contenders}
    if unknown:
        known = ", ".join(each.name for each in bench.contenders)
        sys.exit(f"run.py: no contender {', '.join(sorted(unknown))} in this build; it has {known}")
    return [each for each in bench.contenders if each.name in names]


def with_twins(contenders: list[Contender]) -> list[Contender]:
    """The twins come last, so that a pair's turns lie as far apart as those of two different programs. They
    are of the family that wins nothing."""
    return contenders + [replace(each, name=each.name + evidence.TWIN_SUFFIX, family=evidence.FLOOR_FAMILY)
                         for each in contenders]


def default_rounds(quick: bool, suites: list[str]) -> int:
    """A quick look at everything shall be over within 25 minutes, so it looks twice."""
    return 5 if not quick else 2 if "all" in suites else 3


ROUNDS_OF_TWINS_MIN = 2  # Of one round there is no interval.


def with_rounds(cases: list[Case], asked_for: bool, of_twins: bool) -> list[Case]:
    """Long cases with as many rounds as they need: all that were asked for, and two for twins."""
    if asked_for:
        return [replace(each, rounds_max=0) for each in cases]
    if of_twins:
        return [replace(each, rounds_max=max(each.rounds_max, ROUNDS_OF_TWINS_MIN))
                if each.rounds_max else each for each in cases]
    return cases


def choose_cases(bench: Bench, suites: list[str], pattern: str) -> tuple[list[Case], dict[str, str]]:
    """Those that match, and why suites that were asked for have no case at all."""
    wanted = list(evidence.HEADLINES) if "all" in suites else suites
    unknown = set(wanted) - set(evidence.HEADLINES)
    if unknown:
        sys.exit(f"run.py: no suite {', '.join(sorted(unknown))}; "
                 f"there are {', '.join(evidence.HEADLINES)}")
    listed, missing = bench.cases(wanted)
    for suite, reason in missing.items():
        print(f"run.py: no case of {suite}: {reason}", file=sys.stderr)
    cases = [each for each in listed if fnmatch.fnmatchcase(each.name, pattern)]
    if not cases:
        sys.exit(f"run.py: no case of {', '.join(wanted)} matches {pattern}")
    return cases, missing


def failures_of(missing: dict[str, str], suites: list[str]) -> list[str]:
    """Suites of `missing` that should be there: they were named, or somebody takes part who broke."""
    return [suite for suite, reason in missing.items() if reason != NOBODY or suite in suites]


def smoke(bench: Bench, contenders: list[Contender], cases: list[Case]) -> int:
    """Lets each contender run once in each of its suites: the first case that it does not refuse. Says who
    breaks, and returns the exit code: 1 if somebody did, or if nobody ran in some suite."""
    ran = refused = broken = 0
    empty = []
    refusals: dict[tuple[str, str], dict[str, None]] = {}  # By reason: who.
    for suite in dict.fromkeys(each.suite for each in cases):
        before = ran
        for contender in contenders:
            mine = [each for each in cases if each.suite == suite and contender.takes_part(each)]
            for case in mine:
                report = bench.run(contender, case)
                if "cannot_run" not in report:
                    ran += 1
                    break
                if report.get("broken"):
                    print(f"{suite} {case.name}: {contender.name}: {report['cannot_run']}")
                    broken += 1
                    break
                refusals.setdefault((suite, report["cannot_run"]), {})[contender.name] = None
            else:
                refused += bool(mine)
        if ran == before:
            empty.append(suite)
            print(f"{suite}: nobody ran")
    for (suite, reason), names in refusals.items():
        print(f"{suite}: not run by {', '.join(names)}: {reason}")
    print(f"smoke: {ran} ran, {refused} refused all that there is in a suite, {broken} broken")
    return 1 if broken or empty or not ran else 0


def new_result(build: Path) -> Path:
    """Hours of measuring need a place, whether or not somebody has thought of one."""
    now = datetime.datetime.now().strftime("%Y-%m-%dT%H-%M-%S")
    path = build / "lab/results" / f"{now}.json"
    print(f"run.py: samples go to {path}", file=sys.stderr)
    return path


def main() -> None:
    arguments = parse_arguments()
    scale = "quick" if arguments.quick or arguments.smoke else "full"
    try:
        bench = Bench(arguments.build, scale)
    except OSError as error:
        sys.exit(f"run.py: {arguments.build} holds no build of the lab: {error}")

    if bench.info["build_type"] != "Release":
        print(f"run.py: warning: {arguments.build} is a {bench.info['build_type'] or 'plain'} "
              "build; its numbers mean nothing", file=sys.stderr)
    contenders = choose_contenders(bench, arguments.contenders)
    cases, missing = choose_cases(bench, arguments.suites, arguments.case)
    if arguments.twins:
        contenders = with_twins(contenders)
    if arguments.smoke:
        failed = failures_of(missing, arguments.suites)
        sys.exit(smoke(bench, contenders, cases) or (1 if failed else 0))
    stored = arguments.json or new_result(arguments.build)
    rounds = arguments.repetitions or default_rounds(arguments.quick, arguments.suites)
    cases = with_rounds(cases, bool(arguments.repetitions), arguments.twins)
    if arguments.turns:
        cases = [replace(each, turns=arguments.turns) for each in cases]
    reruns = (0 if arguments.quick else 2) if arguments.reruns is None else arguments.reruns
    conditions = {"scale": scale, "rounds": rounds, "reruns": reruns,
                  "rounds_are_asked_for": bool(arguments.repetitions), "turns": arguments.turns,
                  "suites": arguments.suites, "case": arguments.case,
                  "contenders": [each.name for each in contenders],
                  "programs": bench.fingerprint(contenders),
                  "machine": machine.identity()}
    try:
        journal = Journal(stored, conditions)
    except OtherConditions as error:
        sys.exit(f"run.py: {error}")
    document = run_suites(bench, contenders, cases, rounds, reruns, scale, journal)
    document["suites_missing"] = [{"suite": suite, "reason": reason} for suite, reason in missing.items()]

    stored.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    journal.finish()

    import report  # Not at the top: whoever only measures needs none of it.

    if arguments.tables or arguments.costs or not (arguments.json or arguments.html):
        report.print_tables(document, arguments.costs)
    if arguments.html:
        print(f"report: {report.write_html(document, arguments.html)}")


if __name__ == "__main__":
    main()
