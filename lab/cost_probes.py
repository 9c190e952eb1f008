# SPDX-License-Identifier: BSL-1.0
#
# What a program costs those who build it and those who run it, seen from outside: by the compiler's clock,
# in its file, in /proc, and with a malloc that counts.
"""One function for each case of the suite `cost`; each returns its figures by name."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from baseline import CALL_COUNTER, CallCounter, cores
from baseline_server import ANSWER_SECONDS_MAX, Child, Refused, Unusable

STEADY_LOAD = "lab_steady_load"
ALLOCATION_COUNTER = "liblab_allocation_counter.so"

STEADY_CONNECTIONS = 16
STEADY_MESSAGE_BYTES = 64
DESCRIPTORS_BESIDE = 200  # Of a server and of its clients, apart from connections.


@dataclass(frozen=True)
class Program:
    """One of minimal_echo/, as it was built."""

    folder: Path  # Where it is, and the lab's other programs.
    name: str
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.folder / self.name

    def start(self, environment: dict[str, str] | None = None) -> Child:
        """On the server's core, and any port, which it says."""
        return Child([str(self.file), "0"], cores()[0], self.environment | (environment or {}))


# --- what it costs to build ----------------------------------------------------------------------


def compile_command(database: list[dict], program: str) -> tuple[list[str], str]:
    """The build's own, at -O2 whatever the build is, without an output; and the folder to run it in.

    By the program's folder of objects: one source may be in several programs, with other definitions.
    """
    found = next((each for each in database if f"/{program}.dir/" in each["command"]), None)
    if found is None:
        raise Unusable(f"the build does not compile {program}")
    words = shlex.split(found["command"])
    if Path(words[0]).name == "ccache":
        del words[0]
    at = words.index("-o")
    return [*words[:at], *words[at + 2:], "-O2"], found["directory"]


def compile_time(program: Program) -> dict[str, float]:
    """Of its one translation unit, by nobody's cache."""
    database = json.loads((program.folder.parent / "compile_commands.json").read_text(encoding="utf-8"))
    command, folder = compile_command(database, program.name)
    with tempfile.NamedTemporaryFile(suffix=".o") as output:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        done = subprocess.run([*command, "-o", output.name], cwd=folder, capture_output=True, text=True,
                              env=os.environ | {"CCACHE_DISABLE": "1"})
        wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Unusable(f"{program.name} does not compile: {done.stderr.strip()[:300]}")
    return {"compile": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "compile_wall": wall}


def parse_size(text: str) -> int:
    """Bytes of text and data, from what size(1) prints of one file."""
    try:
        code, data, *_ = text.splitlines()[1].split()
        return int(code) + int(data)
    except (IndexError, ValueError) as error:
        raise Unusable(f"size has printed {text!r}") from error


def program_size(program: Program) -> dict[str, float]:
    """Without symbols. Shared libraries are not in it."""
    for tool in ("size", "strip"):
        if shutil.which(tool) is None:
            raise Refused(f"{tool} is not installed (Debian package binutils)")
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder, program.name)
        subprocess.run(["strip", "-o", str(stripped), str(program.file)], check=True)
        sizes = subprocess.run(["size", str(stripped)], check=True, capture_output=True, text=True).stdout
        return {"text_and_data": parse_size(sizes) / 1024, "file": stripped.stat().st_size / 1024}


# --- what it costs to run ------------------------------------------------------------------------


def parse_memory(text: str) -> dict[str, int]:
    """Bytes by their names in /proc/PID/smaps_rollup."""
    lines = (line.split() for line in text.splitlines()[1:])
    return {words[0].rstrip(":"): 1024 * int(words[1]) for words in lines}


def memory_of(process: int) -> dict[str, int]:
    """`Rss`: all that is resident. `Anonymous`: what is its own and in no file."""
    try:
        return parse_memory(Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii"))
    except OSError as error:
        raise Refused(f"the memory of a server cannot be looked at: {error}") from error


def raise_descriptor_limit(connections: int) -> None:
    """For us and the programs we start. Raises Refused if that is not allowed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = connections + DESCRIPTORS_BESIDE
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise Refused(f"{connections:,} connections need {wanted:,} descriptors, and the hard limit is "
                      f"{hard:,} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX)


def speak(connection: socket.socket) -> None:
    """Raises Unusable unless a byte comes back."""
    connection.sendall(b"?")
    if connection.recv(2) != b"?":
        raise Unusable("a byte did not come back")


def idle_connections(program: Program, connections: int) -> dict[str, float]:
    """All but the last never say a word. That one's byte comes back when all have been accepted."""
    raise_descriptor_limit(connections)
    with program.start() as server:
        port = int(server.said)
        with connect(port) as first:
            speak(first)  # What is made once is there from now on.
        os.sched_setaffinity(0, cores()[1])
        before = memory_of(server.id)
        clients: list[socket.socket] = []
        try:
            while len(clients) < connections:
                clients.append(connect(port))
            speak(clients[-1])
            after = memory_of(server.id)
        except OSError as error:
            raise Unusable(f"with {len(clients):,} connections: {error}") from error
        finally:
            for each in clients:
                each.close()
        server.stop()
    return {"per_connection": (after["Anonymous"] - before["Anonymous"]) / connections,
            "rss": before["Rss"] / 2**20, "rss_with_all": after["Rss"] / 2**20}


@dataclass(frozen=True)
class SteadyCost:
    figures: dict[str, float]
    system_calls_not_counted: str | None = None


def start_load(program: Program, port: str, seconds: float) -> Child:
    """Warms up, and plays for `seconds` when it is asked to."""
    times = [str(round(1000 * each)) for each in (seconds / 2, seconds)]
    try:
        return Child([str(program.folder / STEADY_LOAD), port, str(STEADY_CONNECTIONS),
                      str(STEADY_MESSAGE_BYTES), *times], cores()[1])
    except Refused as error:  # What it says, it says of the server.
        raise Unusable(f"the load: {error}") from error


def steady_state(program: Program, seconds: float, counts_calls: bool) -> SteadyCost:
    """What a request takes of a server that has been busy for a while."""
    with tempfile.NamedTemporaryFile() as count:
        count.write(bytes(8))
        count.flush()

        def allocations() -> int:
            return int.from_bytes(Path(count.name).read_bytes(), "little")

        counting = {"LD_PRELOAD": str(program.folder / ALLOCATION_COUNTER), "LAB_ALLOCATIONS": count.name}
        with program.start(counting) as server:
            with start_load(program, server.said, seconds) as clients:
                calls = CallCounter(program.folder / CALL_COUNTER, server.id) if counts_calls else None
                before = allocations()
                if before == 0:  # Every program has made some by now: a zero would be ours.
                    raise Unusable(f"{ALLOCATION_COUNTER} does not count")
                requests = int(clients.ask())
                made = allocations() - before
                called = calls.read() if calls else None
                resident = memory_of(server.id)["Rss"]
            server.stop()
    figures = {"allocations": made / requests, "rss_busy": resident / 2**20}
    if called is not None:
        figures["system_calls"] = called / requests
    return SteadyCost(figures, calls.refusal if calls else None)
