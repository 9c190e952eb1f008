# SPDX-License-Identifier: BSL-1.0
#
# The only place that starts what is measured: contenders of a build, as processes that are talked to.
"""Which contenders a build has, a process that plays slices, and a program that runs once per turn."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from measure import machine
from measure.suites import Case, matches
from peers import setup

SECONDS_MAX = 120.0
OUR_FAMILY, REFERENCE_FAMILY, FLOOR_FAMILY = "gyre", "asio", "floor"
CONTROL, TWIN = " (control)", " (twin)"
PEER_CASES = "*block_*"
PROTOCOLS = ("http_server", "websocket", "tls")
# Suites whose turns are played by a module of this package, and which.
PLAYERS = {"baseline": "baseline", "cost": "cost", "programs": "programs"} | dict.fromkeys(PROTOCOLS,
                                                                                          "protocols")
AS_USERS_START_THEM = ("programs",)  # Suites whose programs do not know that they are measured.


class Broken(RuntimeError):
    """A program has not done what it was started for; says what. It has to be looked at."""


class Refused(Exception):
    """A program, or this machine, cannot do what is to be measured, and says why: there is no row."""


@dataclass(frozen=True)
class Contender:
    name: str
    family: str
    mode: str
    command: tuple[str, ...]
    suites: tuple[str, ...]
    cases: str = "*"
    absent: str | None = None  # Why there is no such program here.
    threads_max: int | None = None  # Of a peer that setup has seen serve.
    label: str = ""  # Of a control or a twin; else the name.

    @property
    def title(self) -> str:
        return self.label or self.name

    def takes_part(self, case: Case) -> bool:
        return case.suite in self.suites and case.mode == self.mode and matches(case.name, self.cases)

    def called(self, suffix: str) -> Contender:
        return replace(self, label=self.name + suffix)


class Build:
    """The contenders of one build of the lab."""

    def __init__(self, folder: Path):
        self.folder = (folder / "lab").resolve()
        self.info = json.loads((self.folder / "build_info.json").read_text(encoding="utf-8"))
        found = [Contender(each["name"], each["family"], each.get("mode", "slices"),
                           located(self.folder, each["command"]), tuple(each["suites"]),
                           each.get("cases") or "*") for each in self.info["contenders"]]
        self.contenders = sorted(found + self._peers(), key=lambda each: each.family == FLOOR_FAMILY)
        for each in self.contenders:
            if not all(re.fullmatch(r"[\w.-]+", word, re.ASCII) for word in (each.name, each.family)):
                raise ValueError(f"a contender is called {each.name!r}, of {each.family!r}")

    def _peers(self) -> list[Contender]:
        """Programs of others; one that is missing takes part, too, so that its row says why."""
        wanted = {"echo": ("echo", PEER_CASES), "http": ("baseline", "*")}

        def of_workload(each: dict, work: str) -> tuple[str, str]:
            return wanted.get(work) or (work, each.get("cases", "*"))

        return [Contender(each["name"], each["family"], mode,
                          located(self.folder / "peers", each["command"]), (suite,), cases,
                          absent=each["missing"], threads_max=each.get("threads_max"))
                for each in listed_peers(self.folder / "peers")
                for mode, suite, cases in [*(("turns", *of_workload(each, work))
                                             for work in each["workloads"]),
                                           *(("slices", suite, "*") for suite in each.get("suites", []))]]

    def fingerprint(self, contenders: list[Contender]) -> str:
        """Of all programs that take part, the clients of others and the players among them."""
        words = [Path(word) for each in contenders for word in each.command]
        files = [each for each in words if each.is_absolute() and each.is_file()]
        if any(suite in (*PLAYERS, "echo") for each in contenders for suite in each.suites):
            files += sorted(self.folder.glob("lab_*load*"))
            files += [Path(__file__).with_name(f"{each}.py") for each in PLAYERS.values()]
            files += [Path(found) for each in ("ab", "wrk") if (found := shutil.which(each))]
        return fingerprint(files)


def located(folder: Path, command: list[str]) -> tuple[str, ...]:
    """Programs are named by what they are called in their folder."""
    return tuple(str(folder / word) if (folder / word).is_file() else word for word in command)


def fingerprint(programs: list[Path]) -> str:
    """Of what is measured. A program that is missing is part of it, too: it may be built meanwhile."""
    whole = hashlib.sha256()
    for each in sorted(set(programs)):
        whole.update(f"{each.name}\n".encode())
        whole.update(hashlib.sha256(each.read_bytes()).digest() if each.is_file() else b"-")
    return whole.hexdigest()


def listed_peers(folder: Path) -> list[dict]:
    """As peers/setup.py has written them down, or would: then each is missing, for the same reason."""
    try:
        return json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        reason = "`./dev lab setup` has not run"
    except ValueError as error:
        reason = f"peers.json is no JSON ({error}); `./dev lab setup` writes it anew"
    return [{"name": peer.name, "family": peer.family, "command": [],
             "workloads": [] if peer.suites else list(peer.workloads), "suites": list(peer.suites),
             "cases": peer.cases, "threads_max": peer.threads_max, "missing": reason}
            for program in setup.PROGRAMS for peer in program.peers]


def pin(cores: set[int] | None) -> Callable[[], None]:
    """What a child does before it starts."""
    return lambda: os.sched_setaffinity(0, cores or machine.AVAILABLE)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def end_session(leader: int) -> None:
    """With all that it has started: a client or a compiler of its own would run on into the next turn."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


class SliceProcess:
    """A contender that stays alive: one request a line in, one reply a line out."""

    def __init__(self, contender: Contender, cores: set[int] | None):
        # Closed by `end`.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        try:
            self._process = subprocess.Popen(contender.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._errors, bufsize=0, preexec_fn=pin(cores),
                                             start_new_session=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise Broken(f"could not be started: {error}") from error
        self._unread = b""

    def __enter__(self) -> SliceProcess:
        return self

    def __exit__(self, kind, *_) -> None:
        self.end(kind is None)

    def ask(self, request: dict) -> dict:
        """Raises Broken if there is no reply, or none that is a JSON object."""
        with contextlib.suppress(OSError):  # It has ended: what it wrote last says why.
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        try:
            reply = json.loads(self._line(time.monotonic() + SECONDS_MAX))
        except ValueError as error:
            raise Broken(f"printed what is no JSON: {error}") from error
        if not isinstance(reply, dict):
            raise Broken("printed JSON that is no object")
        return reply

    def run_delay(self) -> int | None:
        return machine.run_delay(self._process.pid)

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, left))
            if not ready:
                raise Broken(f"did not answer within {SECONDS_MAX:.0f} s")
            more = os.read(self._process.stdout.fileno(), 1 << 20)
            if not more:
                raise Broken(f"ended with status {self._process.wait()}: {self._complaint()}")
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _complaint(self) -> str:
        self._errors.seek(0)
        return last_line(self._errors.read())

    def end(self, orderly: bool = True) -> None:
        """Closes its input, upon which it has to end with 0."""
        try:
            self._process.stdin.close()
            status = self._process.wait(10 if orderly else 0.2)
        except (subprocess.TimeoutExpired, OSError):
            status = None
        end_session(self._process.pid)
        self._process.wait()
        self._process.stdout.close()
        complaint = self._complaint()
        self._errors.close()
        if orderly and status != 0:
            raise Broken(f"ended with status {status}: {complaint}")


def run_once(command: list[str], cores: set[int] | None, seconds_max: float = SECONDS_MAX) -> str:
    """What a program prints that runs once. Raises Broken if it does not end well."""
    program = Path(command[0]).name
    try:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                   errors="replace", preexec_fn=pin(cores), start_new_session=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Broken(f"{program} could not be started: {error}") from error
    try:
        printed, complaints = started.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired as error:
        raise Broken(f"{program} did not finish within {seconds_max:.0f} s") from error
    finally:
        end_session(started.pid)
        started.wait()
    if started.returncode != 0:
        raise Broken(f"{program} failed with status {started.returncode}: {last_line(complaints or printed)}")
    return printed
