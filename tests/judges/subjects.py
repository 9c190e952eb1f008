# SPDX-License-Identifier: BSL-1.0
#
# A judge knows a subject by its command line only, so any program can stand before it: README.md.
"""Starts subjects, and ends them: with all that they have started, and never anything else."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "judges"

HOST = "127.0.0.1"
START_SECONDS_MAX = 20.0
END_SECONDS_MAX = 10.0


class CannotStart(Exception):
    """Says in one line why a subject cannot be judged."""


@dataclass(frozen=True)
class Subject:
    """A program in one role. {port}, {url}, {certificate} and so on in its command are filled in."""

    name: str
    role: str
    command: tuple[str, ...]
    flawed: bool = False              # It is there to be found out.
    excused: tuple[str, ...] = ()     # Patterns of rows that a reference is known to fail.


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def fill(command: Sequence[str], **values: object) -> list[str]:
    words = {"references": HERE / "references", "build": BUILD, "root": ROOT} | values
    filled = list(command)
    for name, value in words.items():
        filled = [word.replace("{" + name + "}", str(value)) for word in filled]
    return filled


@dataclass(frozen=True)
class Running:
    process: subprocess.Popen
    port: int
    log: Path

    def alive(self) -> bool:
        return self.process.poll() is None


def resident_bytes(pid: int) -> int:
    """Of a process and of those that it has started."""
    total, wanted = 0, [pid]
    while wanted:
        folder = Path("/proc") / str(wanted.pop())
        with contextlib.suppress(OSError, ValueError):
            pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
            total += pages * os.sysconf("SC_PAGE_SIZE")
            for task in (folder / "task").iterdir():
                wanted += [int(each) for each in (task / "children").read_text(encoding="ascii").split()]
    return total


def end_group(process: subprocess.Popen) -> str:
    """How it ended; what it has started ends with it."""
    how = f"had ended with {process.poll()}" if process.poll() is not None else ""
    if not how:
        process.send_signal(signal.SIGTERM)
        try:
            how = f"ended with {process.wait(END_SECONDS_MAX)}"
        except subprocess.TimeoutExpired:
            how = f"did not end within {END_SECONDS_MAX:.0f} s"
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return how


def accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1):
        return True
    return False


@contextlib.contextmanager
def serving(subject: Subject, **values: object) -> Iterator[Running]:
    """Starts a server and waits until it accepts connections at `port`."""
    port = free_port()
    log = BUILD / "logs" / f"{subject.name}-{subject.role}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = fill(subject.command, port=port, **values)
    with log.open("w", encoding="utf-8") as out:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       start_new_session=True, cwd=BUILD)
        except OSError as error:
            raise CannotStart(f"{command[0]}: {error.strerror}") from error
    try:
        deadline = time.monotonic() + START_SECONDS_MAX
        while not accepts(port):
            if process.poll() is not None:
                raise CannotStart(f"it ended with {process.returncode}; see {log}")
            if time.monotonic() > deadline:
                raise CannotStart(f"nobody listens at its port after {START_SECONDS_MAX:.0f} s; see {log}")
            time.sleep(0.05)
        yield Running(process, port, log)
    finally:
        end_group(process)


def run(command: Sequence[str], seconds_max: float, **how: object) -> tuple[int | None, str]:
    """Status and all output of a program that ends by itself; no status if it has not in time."""
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                                   start_new_session=True, **how)
    except OSError as error:
        raise CannotStart(f"{command[0]}: {error.strerror}") from error
    try:
        out, _ = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        end_group(process)
        out, _ = process.communicate()
        return None, out
    finally:
        if process.poll() is None:
            end_group(process)
    return process.returncode, out
