#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The lab's only command: measures suites, and says what a stored run says.
"""Gyre beside its peers, in one run.

    run.py SUITE... --build DIR [--quick | --smoke] [--json FILE] [--html DIR] ...
    run.py report FILE [--html DIR] [--costs]
    run.py compare BEFORE AFTER [--absolute] [--all]
    run.py self-check SUITE... --build DIR [--quick] [--json FILE]
    run.py sensitivity FOLDER

A run is a file of JSON lines that grows while it lasts; the same command with the same --json takes up one
that was interrupted. README.md tells how measuring and judging work.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gc
import hashlib
import json
import random
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from measure import machine, slices, suites, turns
from measure.journal import Journal, Unusable
from measure.processes import FLOOR_FAMILY, OUR_FAMILY, TWIN, Broken, Build, Contender

BROKEN_MAX = 1  # So many blocks or rounds of a case may lack a contender that broke in them.


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line for every twentieth."""

    def __init__(self, steps: int):
        self._all = max(steps, 1)
        self._done = self._printed = 0
        self._started = time.monotonic()
        self._rewrites = sys.stderr.isatty()

    def step(self, what: str) -> None:
        self._done += 1
        twentieths = self._done * 20 // self._all
        if self._rewrites or twentieths > self._printed:
            self._printed = twentieths
            gone = round(time.monotonic() - self._started)
            passed, left = (datetime.timedelta(seconds=each) for each in
                            (gone, gone * (self._all - self._done) // self._done))
            line = f"{100 * self._done // self._all:3d} %  {passed} gone, about {left} left  {what}"
            self.say(line[:110], end="" if self._rewrites else "\n")

    def say(self, line: str, end: str = "\n") -> None:
        print(f"\r\033[K{line}" if self._rewrites else line, end=end, file=sys.stderr, flush=True)


class Run:
    """Measures what its journal lacks."""

    def __init__(self, build: Build, scale: str, contenders: list[Contender], journal: Journal,
                 counts_calls: bool, twins: bool):
        self._contenders = contenders
        self._journal = journal
        self._turns = turns.Turns(build, scale)
        self._counts_calls = counts_calls
        self._twins = twins
        self.ours_broke = False  # So often in a case that there is no row.
        self._refused: str | None = next((each["refused"] for each in journal.lines
                                          if each.get("kind") == "calls" and each["refused"]), None)

    def measure(self, cases: list[suites.Case], seconds: float | None = None) -> None:
        """Case by case. Or, for so many seconds, a part of each case and then another one, so that all have
        about as many when the time is over; the first of each is measured whatever it takes."""
        self._progress = Progress(sum(each.parts for each in cases))
        self._sitting = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        gc.disable()
        if seconds is None:
            for case in cases:
                self._case(case)
                gc.collect()
        else:
            self._by_turns(cases, time.monotonic() + seconds)
        self._journal.add({"kind": "end", "sitting": self._sitting})
        self._progress.say("", end="")

    def _by_turns(self, cases: list[suites.Case], until: float) -> None:
        known = {case.key: self._parts_of(case) for case in cases}
        for number in range(max(case.parts for case in cases)):
            for case in cases:
                if number < case.parts and (number == 0 or time.monotonic() < until):
                    self._next_part(case, number, known[case.key])
        for case in cases:
            self._tell_broken(case, known[case.key])

    def _case(self, case: suites.Case) -> None:
        done = self._parts_of(case)
        for number in range(case.parts):
            self._next_part(case, number, done)
        self._tell_broken(case, done)
        counted = any(each["kind"] == "calls" for each in self._journal.of_case(*case.key))
        if self._counts_calls and case.counts_calls and self._refused is None and not counted:
            line = turns.count_system_calls(self._turns, still_able(self._players(case), done), case)
            self._refused = self._journal.add(line)["refused"]

    def _players(self, case: suites.Case) -> list[Contender]:
        return [each for each in self._contenders if each.takes_part(case)]

    def _parts_of(self, case: suites.Case) -> list[dict]:
        """Those that the journal has; one that is new to it is described there."""
        lines = self._journal.of_case(*case.key)
        if not lines:
            self._journal.add(suites.described(case))
        return [each for each in lines if each["kind"] in ("block", "round")]

    def _next_part(self, case: suites.Case, number: int, done: list[dict]) -> None:
        if number < len(done):
            self._progress.step(f"{case.suite} {case.name}: known")
            return
        able = still_able(self._players(case), done)
        line = self._part(able, case, number, self._journal.lines[0]["seed"]) if able else None
        if line is not None:
            done.append(self._journal.add(line | {"sitting": self._sitting}))
        self._progress.step(f"{case.suite} {case.name}")

    def _tell_broken(self, case: suites.Case, done: list[dict]) -> None:
        for each in self._players(case):
            times = sum(each.title in line["broken"] for line in done)
            self.ours_broke |= each.family == OUR_FAMILY and times > min(BROKEN_MAX, len(done) - 1)
        for title, reason in (done[-1]["broken"] if done else {}).items():
            self._progress.say(f"{case.suite} {case.name}: {title} is broken: {reason}")

    def _part(self, able: list[Contender], case: suites.Case, number: int, seed: int) -> dict:
        if self._twins:
            able = able + [replace(each.called(TWIN), family=FLOOR_FAMILY) for each in able]
        if case.mode == suites.SLICES:
            return slices.play_block(slices.with_control(able), case, number, seed)
        return turns.play_round(self._turns, able, case, number)


def still_able(players: list[Contender], done: list[dict]) -> list[Contender]:
    """Without those that have refused the case, or broke in more parts of it than is forgiven."""
    def is_able(each: Contender) -> bool:
        broken = sum(each.title in line["broken"] for line in done)
        return broken <= BROKEN_MAX and not any(each.title in line["refused"] for line in done)

    return [each for each in players if is_able(each)]


def choose_cases(build: Build, wanted: list[str], pattern: str, scale: str) -> list[suites.Case]:
    known = suites.names()
    names = known if "all" in wanted else wanted
    unknown = [each for each in names if each not in known]
    if unknown:
        raise Unusable(f"no suite {', '.join(unknown)}; there are {', '.join(known)}")
    found = []
    for name in names:
        try:
            listed = turns.Turns(build, scale).listed(name) if suites.suite(name).get("listed") \
                else suites.cases([name], scale)
        except (Broken, LookupError, TypeError, ValueError) as error:
            print(f"run.py: no case of {name}: {error}", file=sys.stderr)
            continue
        found += [each for each in listed if suites.matches(each.name, pattern)]
    if not found:
        raise Unusable(f"no case of {', '.join(names)} matches {pattern}")
    return found


def choose_contenders(build: Build, wanted: str | None) -> list[Contender]:
    names = {each.name for each in build.contenders}
    chosen = names if wanted is None else set(wanted.split(","))
    if chosen - names:
        raise Unusable(f"no contender {', '.join(sorted(chosen - names))} in this build; it has "
                       f"{', '.join(sorted(names))}")
    return [each for each in build.contenders if each.name in chosen]


def smoke(build: Build, contenders: list[Contender], cases: list[suites.Case], named: list[str]) -> int:
    """Lets each contender play once in each of its suites: the first case that it does not refuse. Returns 1
    if one is broken, or if none runs in a suite that the build takes part in."""
    ran = refused = 0
    faults: list[str] = []
    player = turns.Turns(build, "quick")
    for suite in dict.fromkeys(each.suite for each in cases):
        before, part = ran, suite in named
        for contender in contenders:
            mine = [each for each in cases if each.suite == suite and contender.takes_part(each)]
            tried = ((case, *_tried(player, contender, case)) for case in mine)
            case, reason, is_broken = next((each for each in tried if each[1] is None or each[2]),
                                           (None, "refused", False))
            part = part or bool(mine)
            ran += reason is None
            refused += case is None and bool(mine)
            if is_broken:
                faults.append(f"{suite} {case.name}: {contender.name}: {reason}")
        if ran == before and part:
            faults.append(f"{suite}: no contender ran")
    print(*faults, f"smoke: {ran} ran, {refused} refused all cases of a suite, {len(faults)} faults",
          sep="\n")
    return 1 if faults or not ran else 0


def _tried(player: turns.Turns, contender: Contender, case: suites.Case) -> tuple[str | None, bool]:
    """Why it did not run, and whether it is broken."""
    if case.mode == suites.SLICES:
        line = slices.play_block([contender], replace(case, rounds=1), 0, 0)
        return next(iter({**line["refused"], **line["broken"]}.values()), None), bool(line["broken"])
    report = player.take(contender, case)
    return report.get("cannot_run"), bool(report.get("broken"))


def positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return int(text)


def output_options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--html", type=Path, metavar="DIR", help="write index.html there")
    parser.add_argument("--tables", action="store_true", help="print tables (the default without --html)")
    parser.add_argument("--costs", action="store_true", help="print what it cost as well")
    parser.add_argument("--screen", action="store_true", help="print one screen in place of tables")
    parser.add_argument("--rows", action="store_true", help="print a line for each case in place of tables")
    return parser


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__.splitlines()[0],
                                     parents=[output_options()])
    parser.add_argument("suites", nargs="+", metavar="SUITE", help=f"{', '.join(suites.names())}, or all")
    parser.add_argument("--build", type=Path, required=True, metavar="DIR",
                        help="the build folder; its target `lab` must be built")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter parts: to look")
    parser.add_argument("--glance", action="store_true",
                        help="many parts that are as short as they can be: to look for --seconds")
    parser.add_argument("--smoke", action="store_true",
                        help="does each contender run? Once in each suite; measures nothing")
    parser.add_argument("--blocks", type=positive, metavar="N", help="of a case in slices")
    parser.add_argument("--repetitions", type=positive, metavar="N",
                        help="rounds: of a block in slices, or of a case in turns")
    parser.add_argument("--turns", type=positive, metavar="N", help="of each contender in a round of turns")
    parser.add_argument("--seconds", type=float, metavar="N",
                        help="begin no part after so long; cases take turns, and no calls are counted")
    parser.add_argument("--contenders", metavar="a,b", help="only these")
    parser.add_argument("--case", default="*", metavar="GLOB", help="only cases that match")
    parser.add_argument("--twins", action="store_true",
                        help="each contender takes part twice, for self-check")
    parser.add_argument("--no-system-calls", action="store_true", help="do not count them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the run's file (else one in lab/results)")
    parser.add_argument("--seed", type=int, help="of the order of slices")
    return parser.parse_args(words)


def measure(words: list[str]) -> Path:
    """Measures and draws. Returns the run's file; ends with 1 if one of gyre's is broken."""
    asked = arguments_of(words)
    scale = next((each for each in ("smoke", "glance", "quick") if getattr(asked, each)), "full")
    try:
        build = Build(asked.build)
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise Unusable(f"{asked.build} holds no build of the lab: {error!r}") from error
    if build.info["build_type"] != "Release":
        print(f"run.py: warning: {asked.build} is a {build.info['build_type'] or 'plain'} build; its numbers "
              "mean nothing", file=sys.stderr)
    contenders = choose_contenders(build, asked.contenders)
    cases = choose_cases(build, asked.suites, asked.case, scale)
    if asked.smoke:
        sys.exit(smoke(build, contenders, cases, asked.suites))
    cases = [replace(each, blocks=asked.blocks or each.blocks, rounds=asked.repetitions or each.rounds,
                     turns=asked.turns or each.turns) for each in cases]
    cases = [each for each in cases if any(who.takes_part(each) for who in contenders)]
    path = asked.json or new_result(build)
    players = [each for each in contenders if any(map(each.takes_part, cases))]
    conditions = {"scale": scale, "suites": asked.suites, "case": asked.case, "blocks": asked.blocks,
                  "rounds": asked.repetitions, "turns": asked.turns, "seconds": asked.seconds,
                  "twins": asked.twins,
                  "contenders": sorted({each.name for each in contenders}),
                  "programs": build.fingerprint(players),
                  "commands": hash_of(players), "cases": hash_of(cases),
                  "machine": machine.identity()}
    facts = {"machine": machine.facts(build.info),
             "seed": asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 32),
             "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
             "contenders": [{"name": name, "family": family} for name, family in
                            dict.fromkeys((each.name, each.family) for each in contenders)]}
    with contextlib.closing(Journal(path, conditions, facts)) as journal:
        seed = journal.lines[0]["seed"]
        if asked.seed not in (None, seed):
            raise Unusable(f"{path} was begun with --seed {seed}")
        print(f"run.py: seed {seed}", file=sys.stderr)
        measured = Run(build, scale, contenders, journal, not asked.no_system_calls, asked.twins)
        measured.measure(cases, asked.seconds)
    if not asked.twins:
        asked.tables |= not (asked.html or asked.json or asked.screen or asked.rows)
        show(path, asked)
        if measured.ours_broke:
            sys.exit("run.py: a contender of gyre's is broken, and has no row")
    return path


def hash_of(them: list[Contender] | list[suites.Case]) -> str:
    """Of all that is known of them: a number in suites.toml or an option of a server makes other work."""
    return hashlib.sha256(json.dumps([asdict(each) for each in them]).encode()).hexdigest()[:16]


def new_result(build: Build) -> Path:
    """Hours of measuring need a place, whether or not one was named."""
    now = datetime.datetime.now().strftime("%Y-%m-%dT%H-%M-%S")
    path = build.folder / "results" / f"{now}.jsonl"
    print(f"run.py: the run goes to {path}", file=sys.stderr)
    return path


def show(path: Path, asked: argparse.Namespace) -> None:
    from analyse import terminal  # Not at the top: a machine that only measures needs none of it.
    from analyse.frame import load

    run = load(path)
    if asked.screen:
        print(terminal.screen(run))
    if asked.rows:
        print(terminal.rows(run))
    if asked.tables or asked.costs:
        print(terminal.everything(run, asked.costs))
    if asked.html:
        from analyse import report  # Pictures need packages of their own.
        print(f"report: {report.write(run, asked.html)}")


def draw(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="run.py report", parents=[output_options()])
    parser.add_argument("file", type=Path)
    asked = parser.parse_args(words)
    asked.tables |= not (asked.html or asked.screen or asked.rows)
    show(asked.file, asked)


def obey() -> None:
    verb, words = (sys.argv[1:] or ["--help"])[0], sys.argv[2:]
    if verb == "report":
        draw(words)
    elif verb == "compare":
        from analyse import compare
        sys.exit(compare.main(words))
    elif verb == "self-check":
        from analyse import self_check
        sys.exit(self_check.report(measure([*words, "--twins", "--no-system-calls"])))
    elif verb == "sensitivity":
        from analyse import sensitivity
        sys.exit(sensitivity.main(words))
    else:
        measure(sys.argv[1:])


def main() -> None:
    try:
        obey()
    except (Unusable, OSError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        print(f"run.py: {error}: ./dev setup installs it for /usr/bin/python3. What was measured is kept: "
              "`run.py report FILE` shows it", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("run.py: interrupted; the same command with the same --json goes on from here", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
