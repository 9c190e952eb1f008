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
import time
from pathlib import Path

import baseline_clients as clients
from baseline_clients import BaselineCase, Figures, Size, Unusable
from baseline_server import Refused, Server

SUITE = "baseline"
CLIENT_SECONDS_MAX = 60
ECHO_CLIENTS = "lab_baseline_echo"


def cores() -> tuple[set[int], set[int]]:
    """The server's and the client's, in this order; both the same where there is one only."""
    allowed = sorted(os.sched_getaffinity(0))
    return {allowed[0]}, {allowed[-1]}


def polling_core() -> int | None:
    """One for the kernel's thread behind a polled ring, if there are more than this run was given."""
    others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
    return max(others) if others else None


def run_client(command: list[str]) -> str:
    _, its = cores()
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


def load(case: BaselineCase, size: Size, port: int, folder: Path) -> Figures:
    if case.client == "ab":
        with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as table:
            printed = run_client(clients.ab_command(case, port, size.requests, Path(table.name)))
            return clients.parse_ab(printed, table.read(), case.keeps_alive)
    if case.client == "wrk":
        return clients.parse_wrk(run_client(clients.wrk_command(case, port, size.seconds)))
    return clients.parse_echo(run_client(clients.echo_command(case, folder / ECHO_CLIENTS, port,
                                                              size.seconds)), case.message_bytes)


def warm_up(case: BaselineCase, size: Size, port: int, folder: Path) -> None:
    """ab's own, as wrk needs a second at least and the echo clients do it by themselves."""
    if case.client != "echo":
        twin = clients.find_case("ab_keepalive" if case.keeps_alive else "ab_close")
        wanted = max(1000, round(size.requests * clients.WARM_UP_PART))
        if clients.missing(twin) is None:
            load(twin, Size(requests=wanted), port, folder)


def metrics_of(seen: Figures, processor_seconds: float, wall_seconds: float) -> list[dict]:
    """`busy` tells who was the bottleneck: a server that was not, had to wait for its clients."""
    served = seen.requests + seen.requests_untimed
    found = [("throughput", "ops/s", "higher", seen.per_second),
             ("transfer", "MB/s", "higher", seen.bytes_per_second / 1e6),
             *((name, "us", "lower", value) for name, value in seen.latency_us.items()),
             ("cpu", "ns/op", "lower", 1e9 * processor_seconds / served),
             ("busy", "%", "higher", 100 * processor_seconds / wall_seconds)]
    return [dict(zip(("metric", "unit", "better", "value"), each)) for each in found]


def identity(command: list[str]) -> dict:
    asked = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=10)
    library, version, backend = (asked.stdout.split(None, 2) + ["?"] * 3)[:3]
    return {"library": library, "version": version.strip("-"), "backend": backend.strip()}


def play(case: BaselineCase, scale: str, folder: Path, command: list[str]) -> dict:
    """What run.py is told of one run."""
    reason = clients.missing(case)
    if reason:
        return {"cannot_run": reason}
    size = case.size(scale)
    try:
        with Server(command, case.workload, cores()[0]) as server:
            server.verify()
            warm_up(case, size, server.port, folder)
            began, before = time.monotonic(), server.processor_seconds()
            seen = load(case, size, server.port, folder)
            spent, wall = server.processor_seconds() - before, time.monotonic() - began
            server.stop()
    except (Refused, Unusable) as error:
        return {"cannot_run": str(error)}
    return identity(command) | {"metrics": metrics_of(seen, spent, wall)}


def print_list() -> None:
    for each in clients.CASES:
        print(json.dumps({"suite": SUITE, "case": each.name, "description": each.description,
                          "threads": 2}))


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
        print_list()
    elif arguments.count_system_calls:
        print(json.dumps({"metrics": []}))
    elif arguments.case is None:
        sys.exit("baseline.py: --case is required")
    else:
        case = clients.find_case(arguments.case)
        print(json.dumps(play(case, arguments.scale, arguments.folder, command)))


if __name__ == "__main__":
    main()
