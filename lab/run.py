#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Runs suites of the lab: contenders side by side, in turns, with a control, on pinned cores.
"""One command from executables to tables, raw samples and a report.

    run.py SUITE... --build DIR [--quick | --smoke] [--repetitions N] [--reruns N] [--contenders a,b]
                    [--case GLOB] [--twins] [--json FILE] [--html DIR] [--tables] [--costs]

Each case is measured in rounds. A round runs every contender once, and the next round runs them in
the opposite order, so that whatever drifts favours nobody. One contender takes part twice in every
round, under a second name: what it differs from itself is what differences here are worth. A case
in which that is more than 5 % is void and measured again.

Cases that are finished stand in FILE.journal until all are. The same command takes a run up again that
was interrupted; the turns of a case are never torn apart.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import evidence
import machine
from journal import Journal, OtherConditions, fingerprint

RUN_SECONDS_MAX = 120
IDENTITY = ("library", "version", "backend")


@dataclass(frozen=True)
class Contender:
    name: str
    family: str
    command: tuple[str, ...]
    suites: tuple[str, ...]
    cases: str = "*"
    programs: tuple[str, ...] = ()  # What the command starts in its turn.

    def takes_part(self, case: Case) -> bool:
        return case.suite in self.suites and fnmatch.fnmatchcase(case.name, self.cases)


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    description: str
    threads: int
    rounds_max: int = 0  # 0: as many as there are.

    def rounds(self, wanted: int) -> int:
        return min(wanted, self.rounds_max) if self.rounds_max else wanted


@dataclass
class Attempt:
    """All rounds of one case. Samples are kept by contender, then by metric."""

    samples: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    metrics: dict[str, dict] = field(default_factory=dict)
    seconds: dict[str, list] = field(default_factory=dict)  # One list for each round that has one.
    refusals: dict[str, str] = field(default_factory=dict)
    controlled: str | None = None

    def add(self, name: str, report: dict) -> None:
        kept = self.samples.setdefault(name, {})
        for metric in report["metrics"]:
            self.metrics[metric["metric"]] = metric
            kept.setdefault(metric["metric"], []).append(metric["value"])
        if "by_second" in report:
            self.seconds.setdefault(name, []).append(report["by_second"])

    def control_spread(self, metric: str) -> float:
        if self.controlled is None:
            return 0.0
        ours, twin = (self.samples[each].get(metric) for each in
                      (self.controlled, self.controlled + evidence.CONTROL_SUFFIX))
        return evidence.control_spread(ours, twin) if ours and twin else 0.0

    def headline_spread(self, suite: str) -> float:
        if self.controlled is None:
            return 0.0
        saturated = self.samples[self.controlled].get("saturated", [])
        return self.control_spread(evidence.headline_of(suite, saturated))


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line for every twentieth."""

    def __init__(self, runs: int):
        self._expected = max(runs, 1)
        self._done = 0
        self._started = time.monotonic()
        self._printed = 0
        self._rewrites = sys.stderr.isatty()

    def expect(self, more: int) -> None:
        self._expected += more

    def step(self, what: str) -> None:
        self._done += 1
        elapsed = time.monotonic() - self._started
        left = elapsed / self._done * max(0, self._expected - self._done)
        line = (f"{100 * self._done // self._expected:3d} %  "
                f"{_minutes(elapsed)} gone, about {_minutes(left)} left  {what}")
        if self._rewrites:
            print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)
        elif self._done * 20 // self._expected > self._printed:
            self._printed = self._done * 20 // self._expected
            print(line, file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        print(f"\r\033[K{line}" if self._rewrites else line, file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self._rewrites:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


PEER_CASES = "*block_*"


def peers_of(folder: Path) -> list[Contender]:
    """Servers that are programs of their own, as lab/setup.py has listed them; one that is missing is
    listed with its reason, so that it gets a row that says so."""
    try:
        listed = json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        print("run.py: no peers in other languages: `./dev lab setup` gets them", file=sys.stderr)
        return []
    return [Contender(each["name"], each["family"], ("lab_peer", "--backend", each["name"]),
                      ("echo",), PEER_CASES,
                      tuple(str(folder / part) for part in ("peers.json", *each["command"])
                            if (folder / part).is_file()))
            for each in listed if "echo" in each["workloads"]]


def floor_last(contenders: list[Contender]) -> list[Contender]:
    return sorted(contenders, key=lambda each: each.family == evidence.FLOOR_FAMILY)


class Bench:
    """Starts executables of one build and reads what they print."""

    def __init__(self, build: Path, scale: str):
        self._folder = build / "lab"
        self._scale = scale
        self.info = json.loads((self._folder / "build_info.json").read_text(encoding="utf-8"))
        self.contenders = [Contender(each["name"], each["family"], tuple(each["command"]),
                                     tuple(each["suites"]), each["cases"])
                           for each in self.info["contenders"]]
        self.contenders = floor_last(self.contenders + peers_of(self._folder / "peers"))

    def fingerprint(self, contenders: list[Contender]) -> str:
        """Of all programs that take part: a command may name others, which it starts itself."""
        named = {self._folder / program for contender in contenders
                 for program in (contender.command[0], *contender.programs)}
        started = {self._folder / word for each in contenders for word in each.command[1:]}
        return fingerprint([*named, *(each for each in started - named if each.is_file())])

    def cases(self, suites: list[str]) -> list[Case]:
        """Of each suite from the first executable that takes part in it: the list is compiled into all
        of them."""
        found: list[Case] = []
        left = set(suites)
        for contender in self.contenders:
            if not left & set(contender.suites):
                continue
            lines = self._start(contender, ["--list", "--scale", self._scale], None)
            listed = [Case(each["suite"], each["case"], each["description"], each["threads"],
                           each.get("rounds_max", 0))
                      for each in map(json.loads, lines.splitlines())]
            found += [each for each in listed if each.suite in left]
            left -= {each.suite for each in found}
        return found

    def run(self, contender: Contender, case: Case) -> dict:
        """One run. A program that fails, hangs or prints nonsense cannot run, and says why."""
        return self._run(contender, case, ["--scale", self._scale])

    def count_system_calls(self, contender: Contender, case: Case) -> dict:
        """A quick run whose times mean nothing, as counting slows the calls down."""
        return self._run(contender, case, ["--scale", "quick", "--count-system-calls"])

    def _run(self, contender: Contender, case: Case, how: list[str]) -> dict:
        arguments = ["--suite", case.suite, "--case", case.name, *how]
        try:
            report = json.loads(self._start(contender, arguments, machine.cores_for(case.threads)))
        except subprocess.TimeoutExpired:
            return _broken(f"did not finish within {RUN_SECONDS_MAX} s")
        except subprocess.CalledProcessError as error:
            last = (error.stderr or "").strip().splitlines()[-1:] or ["no message"]
            return _broken(f"failed with status {error.returncode}: {last[0]}")
        except (OSError, json.JSONDecodeError) as error:
            return _broken(f"could not be started or understood: {error}")
        return report

    def _start(self, contender: Contender, arguments: list[str], cores: set[int] | None) -> str:
        command = [str(self._folder / contender.command[0]), *contender.command[1:], *arguments]

        def pin() -> None:
            if cores:
                os.sched_setaffinity(0, cores)

        return subprocess.run(command, check=True, capture_output=True, text=True,
                              timeout=RUN_SECONDS_MAX, preexec_fn=pin).stdout


def _broken(reason: str) -> dict:
    """Of a program that did not say itself that it cannot run: somebody has to look at it."""
    return {"cannot_run": reason, "broken": True}


def turns_of_round(contenders: list[Contender], attempt: Attempt,
                   forward: bool) -> Iterator[tuple[Contender, str]]:
    """Who runs when, and under which name. Lazy: the first round finds out who cannot run.

    The control is the first contender that can run; the list starts with our own. It runs at the
    other end of the round than its twin: the worst place, so the honest one.
    """
    def control() -> Iterator[tuple[Contender, str]]:
        able = [each for each in contenders if each.name not in attempt.refusals]
        attempt.controlled = attempt.controlled or (able[0].name if able else None)
        for each in able:
            if each.name == attempt.controlled:
                yield each, each.name + evidence.CONTROL_SUFFIX

    if not forward:
        yield from control()
    for each in contenders if forward else reversed(contenders):
        if each.name not in attempt.refusals:
            yield each, each.name
    if forward:
        yield from control()


def measure(bench: Bench, contenders: list[Contender], case: Case, rounds: int,
            progress: Progress, identities: dict[str, dict]) -> Attempt:
    """All rounds of one case, every second one in the opposite order."""
    attempt = Attempt()
    for number in range(rounds):
        for contender, name in turns_of_round(contenders, attempt, forward=number % 2 == 0):
            report = bench.run(contender, case)
            if "cannot_run" in report:
                attempt.refusals[contender.name] = report["cannot_run"]
                progress.expect(number + 1 - rounds)
            else:
                identities[contender.name] = {key: report[key] for key in IDENTITY}
                attempt.add(name, report)
            progress.step(f"{case.suite} {case.name}: {name}")
    drop_incomplete(attempt, rounds)
    return attempt


def drop_incomplete(attempt: Attempt, rounds: int) -> None:
    """A contender that failed in a later round has no row: its other rounds may be wrong too."""
    for name in attempt.refusals:
        attempt.samples.pop(name, None)
        attempt.samples.pop(name + evidence.CONTROL_SUFFIX, None)
        if attempt.controlled == name:
            attempt.controlled = None
    for metrics in attempt.samples.values():
        assert all(len(values) == rounds for values in metrics.values())


def measure_until_quiet(bench: Bench, contenders: list[Contender], case: Case, rounds: int,
                        reruns: int, progress: Progress,
                        identities: dict[str, dict]) -> list[Attempt]:
    """Measures a case again while its control is too wide. The quietest attempt comes first."""
    attempts: list[Attempt] = []
    while True:
        attempts.append(measure(bench, contenders, case, rounds, progress, identities))
        spread = attempts[-1].headline_spread(case.suite)
        if spread <= evidence.CONTROL_SPREAD_MAX:
            break
        again = len(attempts) <= reruns
        progress.say(f"{case.suite} {case.name}: void, the control differs from itself by "
                     f"{100 * spread:.1f} %{'; measured again' if again else ''}")
        if not again:
            break
        progress.expect((len(contenders) + 1) * rounds)
    return sorted(attempts, key=lambda each: each.headline_spread(case.suite))


class SystemCalls:
    """Counts once for each case and contender, until the kernel refuses.

    A quick run leaves out cases with peers: with so many of them, counting takes minutes.
    """

    def __init__(self, bench: Bench, quick: bool = False):
        self._bench = bench
        self._quick = quick
        self.refusal: str | None = None

    def add_to(self, attempt: Attempt, contenders: list[Contender], case: Case) -> None:
        if self._quick and fnmatch.fnmatchcase(case.name, PEER_CASES):
            return
        for contender in contenders:
            if self.refusal is not None or contender.name not in attempt.samples:
                continue
            report = self._bench.count_system_calls(contender, case)
            self.refusal = report.get("system_calls_not_counted")
            counted = [each for each in report.get("metrics", [])
                       if each["metric"] == "system_calls"]
            attempt.add(contender.name, {"metrics": counted})


def rows_of(case: Case, attempt: Attempt) -> list[dict]:
    rows = []
    for name, metrics in attempt.samples.items():
        for metric, samples in metrics.items():
            about = attempt.metrics[metric]
            summary = evidence.summarise(samples)
            rows.append({"suite": case.suite, "case": case.name, "contender": name,
                         "metric": metric, "unit": about["unit"], "better": about["better"],
                         "samples": samples, "median": summary.median, "mad": summary.mad,
                         "min": summary.low, "max": summary.high})
    return rows


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
    identities: dict[str, dict] = {}
    first, *others = measure_until_quiet(bench, contenders, case, rounds, reruns, progress,
                                         identities)
    calls.add_to(first, contenders, case)
    which = {"suite": case.suite, "case": case.name}
    control = [which | {"spread": first.headline_spread(case.suite),
                        "contender": first.controlled, "attempts": 1 + len(others)}]
    return which | {
        "rows": rows_of(case, first),
        "cannot_run": [which | {"contender": name, "reason": reason}
                       for name, reason in first.refusals.items()],
        "controls": control if first.controlled else [],
        "by_second": [which | {"contender": name, "rounds": rounds_seen}
                      for name, rounds_seen in first.seconds.items() if name in first.samples],
        "discarded": [row for each in others for row in rows_of(case, each)],
        "identities": identities,
        "system_calls_not_counted": calls.refusal,
        "seconds": time.monotonic() - started,
    }


def run_suites(bench: Bench, contenders: list[Contender], cases: list[Case], rounds: int,
               reruns: int, scale: str, journal: Journal) -> dict:
    """Measures everything that the journal lacks and returns the document that --json stores."""
    started_at = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    steal = machine.StealMeter()
    load_before = machine.load_average()
    taking_part = {case: [each for each in contenders if each.takes_part(case)] for case in cases}
    missing = [each for each in cases if journal.find(each.suite, each.name) is None]
    progress = Progress(sum((len(taking_part[each]) + 1) * each.rounds(rounds)
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
    facts = machine.facts(bench.info) | {
        "load_average_before": load_before,
        "load_average_after": machine.load_average(),
        "steal_percent": steal.percent(),
    }

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
                   "threads": each.threads} for each in cases],
        "rows": all_of("rows"),
        "cannot_run": all_of("cannot_run"),
        "controls": all_of("controls"),
        "system_calls_not_counted": next((each["system_calls_not_counted"] for each in records
                                          if each["system_calls_not_counted"]), None),
        "by_second": all_of("by_second"),
        "discarded": all_of("discarded"),
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="+", metavar="SUITE",
                        help=f"any of: {', '.join(evidence.HEADLINES)}, or all")
    parser.add_argument("--build", type=Path, required=True, metavar="DIR",
                        help="the build folder; its target `lab` must be built")
    parser.add_argument("--quick", action="store_true",
                        help="less work, three rounds, void cases are not measured again: to look")
    parser.add_argument("--smoke", action="store_true",
                        help="does everybody run? Once, quickly, in each suite; measures nothing, and ends "
                             "with 1 if somebody breaks")
    parser.add_argument("--repetitions", type=int, metavar="N",
                        help="rounds (5, long cases 3; with --quick 3); ten or more to tell small "
                             "differences")
    parser.add_argument("--reruns", type=int, metavar="N",
                        help="how often a void case is measured again at most (2; with --quick 0)")
    parser.add_argument("--contenders", metavar="a,b", help="only these; default: all")
    parser.add_argument("--twins", action="store_true",
                        help="everybody takes part twice; self_check.py then says whether the lab sees "
                             "differences where there are none")
    parser.add_argument("--case", default="*", metavar="GLOB", help="only cases that match")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write raw samples there; FILE.journal keeps finished cases meanwhile")
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


def choose_cases(bench: Bench, suites: list[str], pattern: str) -> list[Case]:
    if "all" in suites:
        suites = list(evidence.HEADLINES)
    unknown = set(suites) - set(evidence.HEADLINES)
    if unknown:
        sys.exit(f"run.py: no suite {', '.join(sorted(unknown))}; "
                 f"there are {', '.join(evidence.HEADLINES)}")
    cases = [each for each in bench.cases(suites) if fnmatch.fnmatchcase(each.name, pattern)]
    if not cases:
        sys.exit(f"run.py: no case of {', '.join(suites)} matches {pattern}")
    return cases


def smoke(bench: Bench, contenders: list[Contender], cases: list[Case]) -> int:
    """Lets each contender run once in each of its suites: the first case that it does not refuse. Says who
    breaks, and returns the exit code: 1 if somebody did, or if nobody ran."""
    ran = refused = broken = 0
    for suite in dict.fromkeys(each.suite for each in cases):
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
            else:
                refused += bool(mine)
    print(f"smoke: {ran} ran, {refused} refused all that there is in a suite, {broken} broken")
    return 1 if broken or not ran else 0


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
    cases = choose_cases(bench, arguments.suites, arguments.case)
    if arguments.twins:
        contenders = with_twins(contenders)
    if arguments.smoke:
        sys.exit(smoke(bench, contenders, cases))
    rounds = arguments.repetitions or (3 if arguments.quick else 5)
    if arguments.repetitions:
        cases = [replace(each, rounds_max=0) for each in cases]
    reruns = (0 if arguments.quick else 2) if arguments.reruns is None else arguments.reruns
    conditions = {"scale": scale, "rounds": rounds, "reruns": reruns,
                  "rounds_are_asked_for": bool(arguments.repetitions),
                  "suites": arguments.suites, "case": arguments.case,
                  "contenders": [each.name for each in contenders],
                  "programs": bench.fingerprint(contenders),
                  "machine": machine.identity()}
    try:
        journal = Journal(arguments.json, conditions)
    except OtherConditions as error:
        sys.exit(f"run.py: {error}")
    document = run_suites(bench, contenders, cases, rounds, reruns, scale, journal)

    if arguments.json:
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        journal.finish()

    import report  # Not at the top: whoever only measures needs none of it.

    if arguments.tables or arguments.costs or not (arguments.json or arguments.html):
        report.print_tables(document, arguments.costs)
    if arguments.html:
        print(f"report: {report.write_html(document, arguments.html)}")


if __name__ == "__main__":
    main()
