#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Plays a case of the suite `baseline` once: starts a server, loads it with a client that is not of the
# library's making, and prints one line of JSON, as every contender does.
"""A contender for run.py whose work is done by two other programs, on a core each.

    baseline.py --folder DIR --server PROGRAM [ARGUMENT...] --suite baseline --case CASE --scale quick
    baseline.py --folder DIR --server PROGRAM [ARGUMENT...] --list --scale quick
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import baseline_clients as clients
from baseline_clients import BaselineCase, Cost, Figures, Size
from baseline_server import Refused, Server, Unusable, switches_between

SUITE = "baseline"
CLIENT_SECONDS_MAX = 60
ECHO_CLIENTS = "lab_baseline_echo"
CALL_COUNTER = "lab_baseline_calls"


@dataclass(frozen=True)
class Played:
    """Who is loaded, and how it is watched."""

    folder: Path  # Where the programs are.
    command: list[str]
    counts_calls: bool = False


def cores() -> tuple[set[int], set[int]]:
    """The server's and the client's, in this order; both the same where there is one only."""
    allowed = sorted(os.sched_getaffinity(0))
    return {allowed[0]}, {allowed[-1]}


def polling_core() -> int | None:
    """One for the kernel's thread behind a polled ring, if there are more than this run was given."""
    others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
    return max(others) if others else None


def run_client(command: list[str], pinned: bool = True) -> str:
    """What it prints. `pinned`: to the client's core, for clients that start no server."""
    its = cores()[1] if pinned else os.sched_getaffinity(0)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CLIENT_SECONDS_MAX,
                              preexec_fn=lambda: os.sched_setaffinity(0, its))
    except subprocess.TimeoutExpired as error:
        raise Unusable(f"{Path(command[0]).name} did not finish within "
                       f"{CLIENT_SECONDS_MAX} s") from error
    except OSError as error:
        raise Unusable(f"the client could not be started: {error}") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise Unusable(f"{Path(command[0]).name} failed with {done.returncode}: {last[0]}")
    return done.stdout


def load(case: BaselineCase, size: Size, port: int) -> Figures:
    if case.client == "wrk":
        return clients.parse_wrk(run_client(clients.wrk_command(case, port, size.seconds)))
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as table:
        printed = run_client(clients.ab_command(case, port, size.requests, Path(table.name)))
        return clients.parse_ab(printed, table.read(), case.keeps_alive)


def warm_up(case: BaselineCase, size: Size, port: int) -> None:
    """A quarter of what is measured, by the same client; but wrk takes a second at least, so in a quick run
    ab does it, if it is there."""
    part = Size(round(size.requests * clients.WARM_UP_PART), size.seconds * clients.WARM_UP_PART)
    if case.client == "ab" or part.seconds >= 1:
        load(case, part, port)
        return
    twin = clients.find_case("ab_keepalive" if case.keeps_alive else "ab_close")
    if clients.missing(twin) is None:
        load(twin, Size(round(twin.quick.requests * clients.WARM_UP_PART)), port)


class CallCounter:
    """Counts what `process` asks of the kernel until it is read."""

    def __init__(self, program: Path, process: int):
        self._counter = subprocess.Popen([str(program), str(process)], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.refusal = self._line().get("system_calls_not_counted")

    def _line(self) -> dict:
        return json.loads(self._counter.stdout.readline() or "{}")

    def read(self) -> int | None:
        self._counter.stdin.close()
        told = self._line()
        self._counter.wait()
        self.refusal = self.refusal or told.get("system_calls_not_counted")
        return told.get("system_calls")


def play_http(case: BaselineCase, size: Size, what: Played) -> tuple[Figures, Cost]:
    with Server(what.command, cores()[0]) as server:
        no_delay_seen = server.verify()
        warm_up(case, size, server.port)
        calls = CallCounter(what.folder / CALL_COUNTER, server.id) if what.counts_calls else None
        switches, processor = server.context_switches(), server.processor_seconds()
        seen = load(case, size, server.port)
        cost = Cost(server.processor_seconds() - processor,
                    switches_between(switches, server.context_switches()),
                    calls.read() if calls else None, calls.refusal if calls else None,
                    no_delay_seen=no_delay_seen)
        server.stop()
    return seen, cost


def play_echo(case: BaselineCase, size: Size, what: Played) -> tuple[Figures, Cost]:
    command = clients.echo_command(case, what.folder / ECHO_CLIENTS, size.seconds, what.command)
    counting = ["--count-system-calls"] if what.counts_calls else []
    return clients.parse_echo(run_client([command[0], *counting, *command[1:]], pinned=False),
                              case.message_bytes)


def metrics_of(seen: Figures, cost: Cost) -> list[dict]:
    """`busy` and `load_busy` tell who was the bottleneck: a server that was not, waited for its clients."""
    found = [("throughput", "ops/s", "higher", seen.per_second),
             ("transfer", "MB/s", "higher", seen.bytes_per_second / 1e6),
             *((name, "us", "lower", value) for name, value in seen.latency_us.items()),
             ("cpu", "ns/op", "lower", 1e9 * cost.processor_seconds / seen.requests),
             ("busy", "%", "higher", 100 * cost.processor_seconds / seen.seconds)]
    if cost.load_processor_seconds is not None:
        found.append(("load_busy", "%", "lower", 100 * cost.load_processor_seconds / seen.seconds))
    if cost.memory_megabytes is not None:
        found.append(("memory", "MB", "lower", cost.memory_megabytes))
    if cost.context_switches is not None:
        found.append(("context_switches", "1/op", "lower", cost.context_switches / seen.requests))
    if cost.system_calls is not None:
        found.append(("system_calls", "1/op", "lower", cost.system_calls / seen.requests))
    return [dict(zip(("metric", "unit", "better", "value"), each)) for each in found]


def identity(command: list[str]) -> dict:
    asked = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=10)
    library, version, backend = (asked.stdout.split(None, 2) + ["?"] * 3)[:3]
    return {"library": library, "version": version.strip("-"), "backend": backend.strip()}


def play(case: BaselineCase, size: Size, what: Played) -> dict:
    """What run.py is told of one run. Raises Unusable if it has failed, so that nobody takes it for a
    program that cannot do this."""
    reason = clients.missing(case)
    if reason:
        return {"cannot_run": reason}
    by = play_echo if case.client == "echo" else play_http
    try:
        seen, cost = by(case, size, what)
    except Refused as refusal:
        return {"cannot_run": str(refusal)}
    report = identity(what.command) | {"metrics": metrics_of(seen, cost),
                                       "no_delay_seen": cost.no_delay_seen}
    if cost.system_calls_not_counted:
        report["system_calls_not_counted"] = cost.system_calls_not_counted
    return report


def print_list(scale: str) -> None:
    """Quickly two rounds: wrk measures for a second at least, and warms up for another."""
    for each in clients.CASES:
        print(json.dumps({"suite": SUITE, "case": each.name, "description": each.description,
                          "threads": 2, "rounds_max": 0 if scale == "full" else 2}))


def parse_arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the programs are")
    parser.add_argument("--server", required=True)
    parser.add_argument("--backend", help="of the server")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--suite", choices=[SUITE])
    parser.add_argument("--case", choices=[each.name for each in clients.CASES])
    parser.add_argument("--scale", choices=["quick", "full"], default="quick")
    parser.add_argument("--count-system-calls", action="store_true")
    arguments = parser.parse_args()
    command = [str(arguments.folder / arguments.server)]
    if arguments.backend:
        command += ["--backend", arguments.backend]
        core = polling_core()
        if arguments.backend.endswith("sqpoll") and core is not None:
            command += ["--polling-core", str(core)]
    return arguments, command


def main() -> None:
    arguments, command = parse_arguments()
    if arguments.list:
        print_list(arguments.scale)
    elif arguments.case is None:
        sys.exit("baseline.py: --case is required")
    else:
        case = clients.find_case(arguments.case)
        what = Played(arguments.folder, command, arguments.count_system_calls)
        try:
            print(json.dumps(play(case, case.size(arguments.scale), what)))
        except Unusable as error:
            sys.exit(f"baseline.py: {error}")


if __name__ == "__main__":
    main()
