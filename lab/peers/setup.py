#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The lab's peers come from five registries and need four toolchains. Few machines have them all, so
# each peer is fetched by itself, and one that cannot be had does not keep the others away.
"""Builds the peers that are missing, and writes down which there are.

    setup.py [--build DIR]

Sources stand beside this file, programs are DIR/lab/peers/* (DIR is build/release unless told). A program
is built if its sources, its tools or how it is built have changed, then started once.
DIR/lab/peers/peers.json lists all peers: {"name", "family", "command", "workloads", "threads_max": number
or null, "missing": reason or null, "version", "fingerprint"}. README.md says how such a command is used.

Ends with 0 whatever is missing: one line per peer tells, and where the whole story is.
"""

from __future__ import annotations

import argparse
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
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
WORKLOADS = ["echo", "http"]
STEP_SECONDS_MAX = 900.0   # A registry that says nothing at all.
START_SECONDS_MAX = 60.0
REASON_LENGTH_MAX = 160


@dataclass(frozen=True)
class Peer:
    """One way to start a program. {source} and {target} in words are its folders."""

    name: str
    family: str
    command: tuple[str, ...]
    threads_max: int | None = None


@dataclass(frozen=True)
class Program:
    """A folder of sources, and what makes programs of them; steps run there, and write to {target} only."""

    folder: str
    tools: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    peers: tuple[Peer, ...]
    shares: tuple[str, ...] = ()  # Folders of sources that other programs use, too.
    environment: dict[str, str] = field(default_factory=dict)


PYTHON = "/usr/bin/python3"
VENV = ((PYTHON, "-m", "venv", "{target}/venv"),
        ("{target}/venv/bin/pip", "install", "--disable-pip-version-check", "--no-input",
         "--only-binary=:all:", "--require-hashes", "-r", "requirements.txt"))
CARGO = ("cargo", "build", "--release", "--locked", "--target-dir", "{target}")
JAVA = ("java", "-XX:+UseParallelGC", "-Djava.net.preferIPv4Stack=true",
        "-Dio.netty.leakDetection.level=disabled",
        "-cp", "{target}/classes:{target}/jars/*", "Server")

PROGRAMS = (
    Program(
        folder="libuv",
        tools=("cc",),
        steps=(("cc", "-O2", "-Wall", "-D_GNU_SOURCE", "server.c", "-luv", "-o", "{target}/server"),),
        peers=(Peer("libuv", "libuv", ("{target}/server",)),)),
    Program(
        folder="go",
        tools=("go",),
        steps=(("go", "build", "-o", "{target}/server", "."),),
        # Never a toolchain that go would fetch: what is there is what is measured.
        environment={"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0"},
        peers=(Peer("go", "go", ("{target}/server",)),)),
    Program(
        folder="tokio",
        tools=("cargo", "cc"),
        steps=(CARGO,),
        shares=("rust",),
        peers=(Peer("tokio", "tokio", ("{target}/release/server",)),)),
    Program(
        folder="monoio",
        tools=("cargo", "cc"),
        steps=(CARGO,),
        shares=("rust",),
        peers=(Peer("monoio", "monoio", ("{target}/release/server",)),)),
    Program(
        folder="netty",
        tools=("mvn", "javac", "java"),
        steps=(("mvn", "--batch-mode", "--no-transfer-progress", "--strict-checksums",
                "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
                "-DoutputDirectory={target}/jars"),
               ("javac", "-Xlint:all", "-d", "{target}/classes", "-cp", "{target}/jars/*", "Server.java")),
        peers=(Peer("netty_epoll", "netty", (*JAVA, "--transport", "epoll")),
               Peer("netty_io_uring", "netty", (*JAVA, "--transport", "io_uring")))),
    Program(
        folder="uvloop",
        tools=(PYTHON,),
        steps=VENV,
        peers=(Peer("uvloop", "uvloop", ("{target}/venv/bin/python", "-B", "{source}/server.py"),
                    threads_max=1),)),
    Program(folder="hdrhistogram", tools=(PYTHON,), steps=VENV, peers=()),  # For test_histogram_judge.py.
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
        status = os.stat(found)
        whole.update(f"{found} {status.st_size} {status.st_mtime_ns}\n".encode())
    return whole.hexdigest()


def cause(output: str) -> str:
    """The line that tells most: the first one that calls itself an error, or else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"^(\[ERROR\]|error\b|E:)|\berror: ", line, re.IGNORECASE)]
    told = errors[0] if errors else lines[-1] if lines else "it printed nothing"
    return told if len(told) <= REASON_LENGTH_MAX else told[:REASON_LENGTH_MAX - 3] + "..."


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
        self._fingerprint: str | None = None  # Of what is built, once it is.
        self._versions: dict[str, str] = {}  # Of the peers that were seen to start.

    def make(self) -> str:
        """Builds what is not up to date. Returns what was done, or raises CannotBuild."""
        begun = time.monotonic()
        now = fingerprint(self.program, self.source)
        before = self._read_stamp()
        if before.get("fingerprint") == now:
            self._fingerprint, self._versions = now, before["versions"]
            return "is there"

        # Whatever is left of an older build must not pass for this one.
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir(parents=True)
        for step in self.program.steps:
            self._run(fill(step, self.source, self.target))
        self._fingerprint = now
        self._write_stamp()
        return f"built in {time.monotonic() - begun:.0f} s"

    def _read_stamp(self) -> dict:
        try:
            return json.loads(self._stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _write_stamp(self) -> None:
        write(self._stamp, {"fingerprint": self._fingerprint, "versions": self._versions})

    def _run(self, command: list[str]) -> None:
        title = " ".join([Path(command[0]).name, *(word for word in command[1:2] if word[0] != "-")])
        self.told = self._log
        with self._log.open("a+b") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            begin = log.tell()
            try:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           cwd=self.source, start_new_session=True,
                                           env=os.environ | self.program.environment)
            except OSError as error:
                raise CannotBuild(f"`{title}` cannot be started: {error.strerror}") from error
            try:
                status = process.wait(STEP_SECONDS_MAX)
            except subprocess.TimeoutExpired as error:
                raise CannotBuild(f"`{title}` took more than {STEP_SECONDS_MAX:.0f} s") from error
            finally:
                end_group(process)
            log.seek(begin)
            output = log.read().decode(errors="replace")
        if status != 0:
            raise CannotBuild(f"`{title}` failed: {cause(output)}")

    def version(self, peer: Peer) -> str:
        """What the peer says of itself, once it has been seen to serve. It is asked each time: a library that
        it finds when it starts may be another one since it was built."""
        command = fill(peer.command, self.source, self.target)
        said = self._ask(command + ["--version"])
        if self._versions.get(peer.name) != said:
            self._serve(command)
            self._versions[peer.name] = said
            self._write_stamp()
        return self._versions[peer.name]

    def _ask(self, command: list[str]) -> str:
        try:
            said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=START_SECONDS_MAX, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotBuild(f"it does not start: {error}") from error
        self._note(command, said.stdout + said.stderr)
        if said.returncode != 0:
            raise CannotBuild(f"it does not start: {cause(said.stdout + said.stderr)}")
        if len(said.stdout.split()) != 3:
            raise CannotBuild(f"it does not tell its version: {cause(said.stdout)}")
        return said.stdout.strip()

    def _serve(self, command: list[str]) -> None:
        """Starts the peer, waits until it is ready, and asks it to end."""
        command = command + ["--workload", "echo", "--threads", "1", "--port", "0"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        alarm = Alarm(START_SECONDS_MAX, process)
        try:
            with alarm:
                first = process.stdout.readline()
                if first == "ready\n":
                    process.send_signal(signal.SIGTERM)
                out, complaints = process.communicate()
        finally:
            end_group(process)
        self._note(command, first + out + complaints)
        if alarm.rang:
            raise CannotBuild(f"it has not started and ended within {START_SECONDS_MAX:.0f} s")
        if first != "ready\n":
            raise CannotBuild(f"it does not serve: {cause(complaints or first)}")
        if process.returncode != 0:
            raise CannotBuild(f"asked to end, it ends with {process.returncode}: {cause(complaints)}")

    def _note(self, command: list[str], output: str) -> None:
        self.told = self._log
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n{output}")

    def record(self, peer: Peer, version: str | None, missing: str | None) -> dict:
        return {"name": peer.name, "family": peer.family,
                "command": fill(peer.command, self.source, self.target),
                "workloads": WORKLOADS, "threads_max": peer.threads_max,
                "missing": missing, "version": version,
                "fingerprint": self._fingerprint if missing is None else None}


class Alarm:
    """Ends a process that takes too long, so that a reader of its output reads the end."""

    def __init__(self, seconds: float, process: subprocess.Popen):
        self.rang = False
        self._process = process
        self._timer = threading.Timer(seconds, self._ring)

    def _ring(self) -> None:
        self.rang = True
        end_group(self._process)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()


def write(path: Path, content: object) -> None:
    """Whole, or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    os.replace(fresh, path)


def set_up(program: Program, sources: Path, targets: Path) -> list[dict]:
    """Gets one program, prints a line for each of its peers, and returns their records."""
    workshop = Workshop(program, sources, targets)
    done, unbuilt = "", None
    try:
        done = workshop.make()
    except (CannotBuild, OSError) as error:  # Nor does the latter keep the others away.
        unbuilt = str(error)
    if not program.peers:
        print(f"    {program.folder:<16}{f'missing: {unbuilt}' if unbuilt else done}", flush=True)

    records = []
    for peer in program.peers:
        version, missing = None, unbuilt
        if missing is None:
            try:
                version = workshop.version(peer)
            except (CannotBuild, OSError) as error:
                version, missing = None, str(error)
        records.append(workshop.record(peer, version, missing))
        if missing is None:
            print(f"    {peer.name:<16}{done}: {version}", flush=True)
        else:
            story = "" if workshop.told is None else f"; all of it is in {workshop.told}"
            print(f"    {peer.name:<16}missing: {missing}{story}", flush=True)
    return records


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
