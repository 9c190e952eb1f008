# SPDX-License-Identifier: BSL-1.0
#
# Who takes part in a run, in what, and how one turn is taken: the only place that starts what is measured.
"""Contenders and cases of one build of the lab, and the program that runs one case of one of them once."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import evidence
import machine
import setup
from journal import fingerprint

RUN_SECONDS_MAX = 120
NOBODY = "nobody in this build takes part"
VALUE_MAX = 1e300  # What no number reaches that was measured: infinity, NaN, a thousand digits.
IDENTITY = ("library", "version", "backend")


@dataclass(frozen=True)
class Contender:
    name: str
    family: str
    command: tuple[str, ...]
    suites: tuple[str, ...]
    cases: str = "*"
    programs: tuple[str, ...] = ()  # What the command starts in its turn.
    absent: str | None = None  # Why there is no such program here.
    was_seen: bool = False  # Setup has seen it serve, on at most `threads_max` threads.
    threads_max: int | None = None

    def takes_part(self, case: Case) -> bool:
        return case.suite in self.suites and fnmatch.fnmatchcase(case.name, self.cases)

    def may_refuse(self, case: Case) -> bool:
        """Whether "cannot run" is an answer and not a failure. One thread of `case` is the load's."""
        return not self.was_seen or (self.threads_max is not None and case.threads - 1 > self.threads_max)


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    description: str
    threads: int
    rounds_max: int = 0  # 0: as many as there are.
    turns: int = 1  # Of each contender in a round.

    def rounds(self, wanted: int) -> int:
        return min(wanted, self.rounds_max) if self.rounds_max else wanted


PEER_CASES = "*block_*"
BASELINE = str(Path(__file__).resolve().parent / "baseline.py")


def listed_peers(folder: Path) -> list[dict]:
    """As lab/setup.py has written them down, or would: then each is missing, for the same reason."""
    try:
        return json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        reason = "`./dev lab setup` has not run"
    except ValueError as error:
        reason = f"peers.json is no JSON ({error}); `./dev lab setup` writes it anew"
    return [{"name": peer.name, "family": peer.family, "command": [], "workloads": setup.WORKLOADS,
             "threads_max": peer.threads_max, "missing": reason}
            for program in setup.PROGRAMS for peer in program.peers]


def peers_of(folder: Path) -> list[Contender]:
    """Servers that are programs of their own; one that is missing takes part, too, so that it gets a row
    that says why."""
    found = []
    for each in listed_peers(folder):
        started = (*(folder / part for part in each["command"]), folder / setup.STARTERS / each["name"])
        shared = {"name": each["name"], "family": each["family"], "absent": each["missing"],
                  "programs": tuple(str(part) for part in (folder / "peers.json", *started)
                                    if part.is_file())}
        if "echo" in each["workloads"]:
            found.append(Contender(command=("lab_peer", "--backend", each["name"]), suites=("echo",),
                                   cases=PEER_CASES, was_seen=each["missing"] is None,
                                   threads_max=each.get("threads_max"), **shared))
        if "http" in each["workloads"]:
            # baseline.py starts what is one word; and an absolute path stays one in any folder.
            found.append(Contender(command=(BASELINE, "--folder", str(folder.parent), "--server",
                                            str((folder / setup.STARTERS / each["name"]).absolute())),
                                   suites=("baseline",), **shared))
    return found


def floor_last(contenders: list[Contender]) -> list[Contender]:
    return sorted(contenders, key=lambda each: each.family == evidence.FLOOR_FAMILY)


class Broken(Exception):
    """A program has not done what it was started for; says what."""


def parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Broken(f"printed what is no JSON: {error}") from error


def parse_report(text: str, case: Case) -> dict:
    """What a contender printed of one run of a case. Raises Broken unless it can be a row."""
    report = parse_json(text)
    if not isinstance(report, dict):
        raise Broken("printed JSON that is no object")
    if "cannot_run" in report:
        return {"cannot_run": str(report["cannot_run"])}
    if not all(isinstance(report.get(each), str) for each in IDENTITY):
        raise Broken(f"did not say all of {', '.join(IDENTITY)}")
    values = parse_metrics(report.get("metrics"))
    headline = evidence.headline_of(case.suite, case.name,
                                    [values["saturated"]] if "saturated" in values else [])
    if not values.get(headline, 0.0) > 0:
        raise Broken(f"reported {values.get(headline, 'nothing')} as its {headline}")
    return report


def parse_metrics(metrics: object) -> dict[str, float]:
    """Names and values."""
    if not isinstance(metrics, list) or not all(isinstance(each, dict) for each in metrics):
        raise Broken("reported no list of metrics")
    found: dict[str, float] = {}
    for each in metrics:
        name, value = each.get("metric"), each.get("value")
        if not isinstance(name, str) or not isinstance(each.get("unit"), str) or name in found \
                or each.get("better") not in ("higher", "lower"):
            raise Broken(f"reported a metric that is none: {json.dumps(each)[:80]}")
        if type(value) not in (int, float) or not abs(value) < VALUE_MAX:
            raise Broken(f"reported {json.dumps(value)[:40]} as its {name}")
        found[name] = value
    return found


def parse_listing(text: str) -> list[Case]:
    """What a contender printed of its cases: a line of JSON each."""
    found = []
    for each in map(parse_json, text.splitlines()):
        try:
            found.append(Case(str(each["suite"]), str(each["case"]), str(each["description"]),
                              int(each["threads"]), int(each.get("rounds_max", 0)),
                              max(1, int(each.get("turns", 1)))))
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise Broken(f"listed a case that is none: {json.dumps(each)[:80]}") from error
    return found


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
        if any(Path(each.command[0]).name == Path(BASELINE).name for each in contenders):
            named |= self._baseline_programs()
        started = {self._folder / word for each in contenders for word in each.command[1:]}
        return fingerprint([*named, *(each for each in started - named if each.is_file())])

    def _baseline_programs(self) -> set[Path]:
        """What baseline.py starts or is made of, whoever is the server."""
        return {*(self._folder / each for each in ("lab_baseline_echo", "lab_baseline_calls")),
                *(Path(BASELINE).with_name(each) for each in ("baseline_clients.py", "baseline_server.py")),
                *(Path(shutil.which(each) or each) for each in ("ab", "wrk"))}

    def cases(self, suites: list[str]) -> tuple[list[Case], dict[str, str]]:
        """Of each suite from the first executable that takes part in it and can tell: the list is compiled
        into all of them. And why there are none, of suites without any."""
        found: list[Case] = []
        missing = {each: NOBODY for each in suites}
        for contender in self.contenders:
            wanted = [each for each in missing if each in contender.suites]
            if not wanted or contender.absent is not None:
                continue
            try:
                listed = parse_listing(self._ask(contender, ["--list", "--scale", self._scale], None))
            except Broken as error:
                missing |= {each: f"{contender.name} was asked for its cases and {error}" for each in wanted}
                continue
            found += [each for each in listed if each.suite in wanted]
            for suite in {each.suite for each in listed} & set(wanted):
                del missing[suite]
        return found, missing

    def run(self, contender: Contender, case: Case) -> dict:
        """One run. A program that fails, hangs or prints nonsense cannot run, and says why."""
        if contender.absent is not None:
            return {"cannot_run": contender.absent}
        return self._run(contender, case, ["--scale", self._scale])

    def count_system_calls(self, contender: Contender, case: Case) -> dict:
        """A quick run whose times mean nothing, as counting slows the calls down."""
        return self._run(contender, case, ["--scale", "quick", "--count-system-calls"])

    def _run(self, contender: Contender, case: Case, how: list[str]) -> dict:
        arguments = ["--suite", case.suite, "--case", case.name, *how]
        try:
            text = self._ask(contender, arguments, machine.cores_for(case.threads))
            report = parse_report(text, case)
        except Broken as error:
            return _broken(str(error))
        if "cannot_run" in report and not contender.may_refuse(case):
            return _broken(f"is listed as one that serves: {report['cannot_run']}")
        return report

    def _ask(self, contender: Contender, arguments: list[str], cores: set[int] | None) -> str:
        """What it prints; raises Broken if it does not end well."""
        try:
            return self._start(contender, arguments, cores)
        except subprocess.TimeoutExpired as error:
            raise Broken(f"did not finish within {RUN_SECONDS_MAX} s") from error
        except subprocess.CalledProcessError as error:
            last = (error.stderr or "").strip().splitlines()[-1:] or ["no message"]
            raise Broken(f"failed with status {error.returncode}: {last[0]}") from error
        except (OSError, subprocess.SubprocessError) as error:  # The latter where it could not be pinned.
            raise Broken(f"could not be started: {error}") from error

    def _start(self, contender: Contender, arguments: list[str], cores: set[int] | None) -> str:
        command = [str(self._folder / contender.command[0]), *contender.command[1:], *arguments]

        def pin() -> None:
            if cores:
                os.sched_setaffinity(0, cores)

        return run_whole(command, RUN_SECONDS_MAX, pin)


def run_whole(command: list[str], seconds_max: float, before) -> str:
    """What a program prints. One that is given up is ended with all that it has started: a compiler or a
    client of its own would run on into the next turn."""
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                               errors="replace", preexec_fn=before, start_new_session=True)
    try:
        printed, complaints = started.communicate(timeout=seconds_max)
    except BaseException:  # An interrupt of ours as well: it does not reach another session.
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        raise
    if started.returncode != 0:
        raise subprocess.CalledProcessError(started.returncode, command, printed, complaints)
    return printed


def _broken(reason: str) -> dict:
    """Of a program that did not say itself that it cannot run: somebody has to look at it."""
    return {"cannot_run": reason, "broken": True}
