# SPDX-License-Identifier: BSL-1.0
#
# The only place that starts what is measured: contenders of a build, as processes that are talked to.
"""Which contenders a build has, a process that plays slices, and a program that runs once per turn."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from measure import machine
from measure.journal import fingerprint
from measure.suites import Case, matches

SECONDS_MAX = 120.0
LAB = Path(__file__).resolve().parents[1]
OUR_FAMILY, REFERENCE_FAMILY, FLOOR_FAMILY = "gyre", "asio", "floor"
CONTROL, TWIN = " (control)", " (twin)"
PEER_CASES = "*block_*"
PLAYERS = ("baseline", "cost")  # Suites whose turns are played by a module of this package.


class Broken(RuntimeError):
    """A program has not done what it was started for; says what."""


@dataclass(frozen=True)
class Contender:
    name: str
    family: str
    mode: str
    command: tuple[str, ...]
    suites: tuple[str, ...]
    cases: str = "*"
    entry: dict = field(default_factory=dict, hash=False, compare=False)  # As build_info.json has it.
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
                           tuple(self._absolute(each["command"])), tuple(each["suites"]),
                           each.get("cases") or "*", each | {"folder": str(self.folder)})
                 for each in self.info["contenders"]]
        found += self._peers()
        self.contenders = sorted(found, key=lambda each: each.family == FLOOR_FAMILY)

    def _absolute(self, command: list[str]) -> list[str]:
        """Programs are named by what they are called in the build's folder."""
        first = self.folder / command[0] if command else None
        return [str(first), *command[1:]] if first is not None and first.is_file() else list(command)

    def _peers(self) -> list[Contender]:
        """Servers of others; one that is missing takes part, too, so that its row says why."""
        found = []
        for each in listed_peers(self.folder / "peers"):
            command = [str(self.folder / "peers" / word) if (self.folder / "peers" / word).exists() else word
                       for word in each["command"]]
            wanted = {"echo": ("echo", PEER_CASES), "http": ("baseline", "*")}
            for suite, cases in (wanted[work] for work in each["workloads"]):
                found.append(Contender(each["name"], each["family"], "turns", tuple(command), (suite,), cases,
                                       each | {"command": command, "folder": str(self.folder)},
                                       absent=each["missing"], threads_max=each.get("threads_max")))
        return found

    def fingerprint(self, contenders: list[Contender]) -> str:
        """Of all programs that take part, the clients of others and the players among them."""
        words = [Path(word) for each in contenders for word in each.command]
        files = [each for each in words if each.is_absolute() and each.is_file()]
        if any(suite in PLAYERS + ("echo",) for each in contenders for suite in each.suites):
            files += sorted(self.folder.glob("lab_*load*")) + [LAB / "measure/baseline.py",
                                                               LAB / "measure/cost.py"]
            files += [Path(found) for each in ("ab", "wrk") if (found := shutil.which(each))]
        return fingerprint(files)


def listed_peers(folder: Path) -> list[dict]:
    """As peers/setup.py has written them down, or would: then each is missing, for the same reason."""
    try:
        return json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        reason = "`./dev lab setup` has not run"
    except ValueError as error:
        reason = f"peers.json is no JSON ({error}); `./dev lab setup` writes it anew"
    path = LAB / "peers/setup.py"
    if not path.is_file():
        return []
    described = importlib.util.spec_from_file_location("peers_setup", path)
    setup = importlib.util.module_from_spec(described)
    sys.modules["peers_setup"] = setup
    described.loader.exec_module(setup)
    return [{"name": peer.name, "family": peer.family, "command": [], "workloads": setup.WORKLOADS,
             "threads_max": peer.threads_max, "missing": reason}
            for program in setup.PROGRAMS for peer in program.peers]


def pin(cores: set[int] | None):
    """What a child does before it starts."""
    def apply() -> None:
        os.sched_setaffinity(0, cores or machine.AVAILABLE)
    return apply


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def end_session(leader: int) -> None:
    """With all that it has started: a client or a compiler of its own would run on into the next turn."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


class SliceProcess:
    """A contender that stays alive: one request a line in, one reply a line out."""

    def __init__(self, contender: Contender, cores: set[int] | None):
        # Closed by __exit__.
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
        """Raises Broken if there is no reply, or none that is JSON."""
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError:
            pass  # It has ended: what it wrote last says why.
        try:
            return json.loads(self._line(time.monotonic() + SECONDS_MAX))
        except ValueError as error:
            raise Broken(f"printed what is no JSON: {error}") from error

    def run_delay(self) -> int | None:
        """Nanoseconds for which its first thread was ready to run and another program ran; None if
        unknown."""
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
    try:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                                   errors="replace", preexec_fn=pin(cores), start_new_session=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Broken(f"could not be started: {error}") from error
    try:
        printed, complaints = started.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired as error:
        raise Broken(f"did not finish within {seconds_max:.0f} s") from error
    finally:
        end_session(started.pid)
        started.wait()
    if started.returncode != 0:
        raise Broken(f"failed with status {started.returncode}: {last_line(complaints)}")
    return printed
