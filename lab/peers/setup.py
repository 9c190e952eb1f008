#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The lab's peers come from five registries and need four toolchains. Few machines have them all, so
# each peer is fetched by itself, and one that cannot be had does not keep the others away.
"""Builds the peers that are missing, and writes down which there are.

    setup.py [--build DIR]

Sources stand beside this file, programs are DIR/lab/peers/* (DIR is build/release unless told). A program
is built if its sources, its tools or how it is built have changed, then started once.
DIR/lab/peers/peers.json lists all peers: {"name", "family", "command", "workloads", "suites", "cases",
"threads_max": number or null, "missing": reason or null, "version"}. README.md says how such a command is
used.

Ends with 0 whatever is missing: one line per peer tells, and where the whole story is.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
STEP_SECONDS_MAX = 900.0   # A registry that says nothing at all.
START_SECONDS_MAX = 60.0
REASON_LENGTH_MAX = 160
READY = "ready\n"


@dataclass(frozen=True)
class Peer:
    """One way to start a program. {source} and {target} in words are its folders."""

    name: str
    family: str
    command: tuple[str, ...]
    threads_max: int | None = None
    suites: tuple[str, ...] = ()  # Of one that plays slices, and is no server.
    workloads: tuple[str, ...] = ("echo", "http")  # Of a server.
    cases: str = "*"  # Of the suites of protocols: those that it can answer.


@dataclass(frozen=True)
class Program:
    """A folder of sources, and what makes programs of them; steps run there, and write to {target} only."""

    folder: str
    tools: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    peers: tuple[Peer, ...] = ()
    shares: tuple[str, ...] = ()  # Folders of sources that other programs use, too.
    environment: dict[str, str] = field(default_factory=dict)


PYTHON = "/usr/bin/python3"
VENV = ((PYTHON, "-m", "venv", "{target}/venv"),
        ("{target}/venv/bin/pip", "install", "--disable-pip-version-check", "--no-input",
         "--only-binary=:all:", "--require-hashes", "-r", "requirements.txt"))
CARGO = ("cargo", "build", "--release", "--locked", "--target-dir", "{target}")
NO_SUMS = "text_* json_* pipelined_* ten_requests_* wrk_* threads_2_* handshakes_* bulk_*"
JAVA = ("java", "-XX:+UseParallelGC", "-Djava.net.preferIPv4Stack=true",
        "-Dio.netty.leakDetection.level=disabled",
        "-cp", "{target}/classes:{target}/jars/*", "Server")

SERVER = "{target}/server"

PROGRAMS = (
    Program("libuv", ("cc",),
            (("cc", "-O2", "-Wall", "-D_GNU_SOURCE", "server.c", "-luv", "-o", SERVER),),
            (Peer("libuv", "libuv", (SERVER,)),)),
    # Never a toolchain that go would fetch: what is there is what is measured.
    Program("go", ("go",), (("go", "build", "-o", SERVER, "."),),
            (Peer("go", "go", (SERVER,), workloads=("echo", "http", "http_server", "tls")),),
            environment={"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0"}),
    *(Program(library, ("cargo", "cc"), (CARGO,), (Peer(library, library, ("{target}/release/server",)),),
              shares=("rust",)) for library in ("tokio", "monoio")),
    *(Program(folder, ("cargo", "cc"), (CARGO,),
              (Peer(folder, folder, ("{target}/release/server",), workloads=(workload,)),),
              shares=("rust",))
      for folder, workload in (("hyper", "http_server"), ("tungstenite", "websocket"))),
    Program("node_ws", ("node", "npm"),
            (("cp", "package.json", "package-lock.json", "server.js", "{target}"),
             # Both packages come with what is built already: no script of a package runs here.
             ("npm", "ci", "--prefix", "{target}", "--ignore-scripts", "--no-audit", "--no-fund")),
            (Peer("node_ws", "node", ("node", "{target}/server.js"), threads_max=1,
                  workloads=("websocket",)),)),
    Program("nginx", ("nginx",), (),
            (Peer("nginx", "nginx", (PYTHON, "-B", "{source}/server.py"),
                  workloads=("http_server", "tls"), cases=NO_SUMS),)),
    Program("rust_slices", ("cargo", "cc"), (CARGO,),
            tuple(Peer(library, library, ("{target}/release/slices", "--backend", library), suites=suites)
                  for library, suites in (("tokio", ("files", "channels")), ("crossbeam", ("channels",))))),
    Program("netty", ("mvn", "javac", "java"),
            (("mvn", "--batch-mode", "--no-transfer-progress", "--strict-checksums",
              "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
              "-DoutputDirectory={target}/jars"),
             ("javac", "-Xlint:all", "-d", "{target}/classes", "-cp", "{target}/jars/*", "Server.java")),
            tuple(Peer(f"netty_{transport}", "netty", (*JAVA, "--transport", transport))
                  for transport in ("epoll", "io_uring"))),
    Program("uvloop", (PYTHON,), VENV,
            (Peer("uvloop", "uvloop", ("{target}/venv/bin/python", "-B", "{source}/server.py"),
                  threads_max=1),)),
    Program("hdrhistogram", (PYTHON,), VENV),  # For test_histogram_judge.py.
)


class CannotBuild(Exception):
    """Says in one line why there is no such peer."""


def fill(words: Sequence[str], source: Path, target: Path) -> list[str]:
    return [word.replace("{source}", str(source)).replace("{target}", str(target)) for word in words]


def fingerprint(program: Program, source: Path) -> str:
    """Of all that a build depends on, but for what lies in registries: versions are pinned there."""
    whole = hashlib.sha256(repr(program).encode())
    for folder in (source, *(source.parent / each for each in program.shares)):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            whole.update(f"{path.relative_to(source.parent)}\n".encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    for tool in program.tools:
        found = shutil.which(tool)
        if found is None:
            raise CannotBuild(f"`{tool}` is not installed")
        status = Path(found).stat()
        whole.update(f"{found} {status.st_size} {status.st_mtime_ns}\n".encode())
    return whole.hexdigest()


def cause(output: str) -> str:
    """The line that tells most: the first one that calls itself an error, or else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"^(\[ERROR\]|error\b|E:)|\berror: ", line, re.IGNORECASE)]
    told = errors[0] if errors else lines[-1] if lines else "it printed nothing"
    return told if len(told) <= REASON_LENGTH_MAX else told[:REASON_LENGTH_MAX - 3] + "..."


def title_of(command: list[str]) -> str:
    return " ".join([Path(command[0]).name, *(Path(word).name for word in command[1:2] if word[0] != "-")])


def end_group(process: subprocess.Popen) -> None:
    """Ends a process that still runs, and whatever it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Workshop:
    """One program, from sources to what can be said about its peers."""

    def __init__(self, program: Program, sources: Path, targets: Path):
        self.program = program
        self.source = sources / program.folder
        self.target = targets / program.folder
        self._log = self.target / "setup.log"
        self._stamp = self.target / "built.json"
        self.told: Path | None = None  # The log, once something is in it that was tried this time.
        self._built: dict = {}  # The fingerprint of what is built, and "versions" of peers seen to serve.

    def make(self) -> str:
        """Builds what is not up to date. Returns what was done, or raises CannotBuild."""
        begun = time.monotonic()
        now = fingerprint(self.program, self.source)
        with contextlib.suppress(OSError, ValueError):
            self._built = json.loads(self._stamp.read_text(encoding="utf-8"))
            if self._built["fingerprint"] == now:
                return "is there"

        # Whatever is left of an older build must not pass for this one.
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir(parents=True)
        for step in self.program.steps:
            self._build(fill(step, self.source, self.target))
        self._built = {"fingerprint": now, "versions": {}}
        write(self._stamp, self._built)
        return f"built in {time.monotonic() - begun:.0f} s"

    def version(self, peer: Peer) -> str:
        """What the peer says of itself, once it has been seen to serve. It is asked each time: a library that
        it finds when it starts may be another one since it was built."""
        command = fill(peer.command, self.source, self.target)
        status, said, complaints = self._run([*command, "--version"], START_SECONDS_MAX)
        if status != 0:
            raise CannotBuild(f"it does not start: {cause(said + complaints)}")
        if len(said.split()) != 3:
            raise CannotBuild(f"it does not tell its version: {cause(said)}")
        if self._built["versions"].get(peer.name) != said.strip():
            if peer.suites:
                self._play(command)
            else:
                self._serve([*command, "--workload", peer.workloads[0], "--threads", "1", "--port", "0"])
            self._built["versions"][peer.name] = said.strip()
            write(self._stamp, self._built)
        return said.strip()

    def _serve(self, command: list[str]) -> None:
        status, said, complaints = self._run(command, START_SECONDS_MAX, serves=True)
        if not said.startswith(READY):
            raise CannotBuild(f"it does not serve: {cause(complaints or said)}")
        if status != 0:
            raise CannotBuild(f"asked to end, it ends with {status}: {cause(complaints)}")

    def _play(self, command: list[str]) -> None:
        status, _, complaints = self._run(command, START_SECONDS_MAX)
        if status != 0:
            raise CannotBuild(f"without a request, it ends with {status}: {cause(complaints)}")

    def _build(self, command: list[str]) -> None:
        status, said, complaints = self._run(command, STEP_SECONDS_MAX, cwd=self.source,
                                             env=os.environ | self.program.environment)
        if status != 0:
            raise CannotBuild(f"`{title_of(command)}` failed: {cause(said + complaints)}")

    def _run(self, command: list[str], seconds_max: float, serves: bool = False,
             **how) -> tuple[int, str, str]:
        """Its status and what it prints, which the log has, too. What serves is asked to end when it is
        ready."""
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                                       start_new_session=True, **how)
        except OSError as error:
            raise CannotBuild(f"`{title_of(command)}` cannot be started: {error.strerror}") from error
        alarm = threading.Timer(seconds_max, end_group, [process])  # Then a reader reads the end.
        alarm.start()
        try:
            first = process.stdout.readline() if serves else ""
            if first == READY:
                process.send_signal(signal.SIGTERM)
            rest, complaints = process.communicate()
        finally:
            alarm.cancel()
            end_group(process)
        self.told = self._log
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n{first}{rest}{complaints}")
        if process.returncode == -signal.SIGKILL:
            raise CannotBuild(f"`{title_of(command)}` took more than {seconds_max:.0f} s")
        return process.returncode, first + rest, complaints

    def record(self, peer: Peer, version: str | None, missing: str | None) -> dict:
        return {"name": peer.name, "family": peer.family,
                "command": fill(peer.command, self.source, self.target),
                "workloads": [] if peer.suites else list(peer.workloads),
                "suites": list(peer.suites), "cases": peer.cases,
                "threads_max": peer.threads_max, "missing": missing, "version": version}


def write(path: Path, content: object) -> None:
    """Whole, or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def set_up(program: Program, sources: Path, targets: Path) -> list[dict]:
    """Gets one program, prints a line for each of its peers, and returns their records."""
    workshop = Workshop(program, sources, targets)
    done, unbuilt = attempt(workshop.make)
    if not program.peers:
        print(f"    {program.folder:<16}{f'missing: {unbuilt}' if unbuilt else done}", flush=True)

    records = []
    for peer in program.peers:
        version, missing = (None, unbuilt) if unbuilt else attempt(workshop.version, peer)
        records.append(workshop.record(peer, version, missing))
        story = "" if workshop.told is None else f"; all of it is in {workshop.told}"
        print(f"    {peer.name:<16}{f'missing: {missing}{story}' if missing else f'{done}: {version}'}",
              flush=True)
    return records


def attempt(what: Callable[..., str], *of: object) -> tuple[str | None, str | None]:
    """What it returns, or why it could not be done: what the system denies keeps no other peer away."""
    try:
        return what(*of), None
    except (CannotBuild, OSError) as error:
        return None, str(error)


def main(arguments: Sequence[str], programs: Sequence[Program] = PROGRAMS, sources: Path = SOURCES) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=SOURCES.parent.parent / "build/release", metavar="DIR")
    targets = parser.parse_args(arguments).build.resolve() / "lab/peers"
    targets.mkdir(parents=True, exist_ok=True)

    records = [record for program in programs for record in set_up(program, sources, targets)]
    write(targets / "peers.json", records)
    absent = sum(record["missing"] is not None for record in records)
    print(f"    {len(records) - absent} of {len(records)} peers are there; "
          f"{targets / 'peers.json'} lists them", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
