# SPDX-License-Identifier: BSL-1.0
#
# A turn of the suite `baseline`: a server, loaded by a client that is not of the library's making.
"""play(case, contender, cores): starts the server, verifies it, loads it, and tells what was seen.

A case is {"client": "ab" | "wrk" | "echo", "keep_alive", "connections", "requests" (ab), "seconds" (wrk,
echo), "bytes" (echo), "count_system_calls"}; a contender is an entry of build_info.json with the "folder"
of programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from measure import baseline_clients as clients
from measure.baseline_clients import Figures
from measure.watched import Refused, Unusable, Watched, command_of, identity

CLIENT_SECONDS_MAX = 60
ECHO_LOAD = "lab_echo_load"
WARM_UP_PART = 0.25
AB_WARM_UP_REQUESTS = {True: 5_000, False: 1_500}  # Before a short run of wrk, with keep-alive and without.
ECHO_METRICS = ("throughput", "mean", "p50", "p90", "p99", "cpu", "busy", "load_busy", "memory",
                "context_switches", "system_calls")


def polling_core() -> int | None:
    """One for the kernel's thread behind a polled ring, if there are more than this run was given."""
    others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
    return max(others) if others else None


def server_of(contender: dict) -> list[str]:
    command = command_of(contender)
    core = polling_core()
    if core is None or not any(word == "io_uring_sqpoll" for word in command):
        return command
    return [*command, "--polling-core", str(core)]


def run_client(command: list[str], cores: set[int] | None) -> str:
    """What it prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CLIENT_SECONDS_MAX,
                              preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None)
    except subprocess.TimeoutExpired as error:
        raise Unusable(f"{Path(command[0]).name} did not finish within "
                       f"{CLIENT_SECONDS_MAX} s") from error
    except OSError as error:
        raise Unusable(f"the client could not be started: {error}") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise Unusable(f"{Path(command[0]).name} failed with {done.returncode}: {last[0]}")
    return done.stdout


def load(case: dict, port: int, cores: set[int]) -> Figures:
    if case["client"] == "wrk":
        return clients.parse_wrk(run_client(clients.wrk_command(case, port, case["seconds"]), cores))
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as table:
        printed = run_client(clients.ab_command(case, port, case["requests"], Path(table.name)), cores)
        return clients.parse_ab(printed, table.read(), case["keep_alive"])


def warm_up(case: dict, port: int, cores: set[int]) -> None:
    """A quarter of what is measured, by the same client; but wrk takes a second at least, so in a quick run
    ab does it, if it is there."""
    if case["client"] == "ab":
        load(case | {"requests": round(case["requests"] * WARM_UP_PART)}, port, cores)
    elif case["seconds"] * WARM_UP_PART >= 1:
        load(case | {"seconds": case["seconds"] * WARM_UP_PART}, port, cores)
    elif clients.missing("ab") is None:
        load(case | {"client": "ab", "requests": AB_WARM_UP_REQUESTS[case["keep_alive"]]}, port, cores)


def metrics_of(seen: Figures, cost: dict) -> list[dict]:
    """`busy` tells where the bottleneck was: a server with little of it has waited for its clients."""
    found = [("throughput", "ops/s", "higher", seen.per_second),
             ("transfer", "MB/s", "higher", seen.bytes_per_second / 1e6),
             *((name, "us", "lower", value) for name, value in seen.latency_us.items()),
             ("cpu", "ns/op", "lower", 1e9 * cost["processor_seconds"] / seen.requests),
             ("busy", "%", "higher", 100 * cost["processor_seconds"] / seen.seconds),
             *((name, "1/op", "lower", cost[name] / seen.requests)
               for name in ("context_switches", "system_calls") if name in cost)]
    return [dict(zip(("metric", "unit", "better", "value"), each)) for each in found]


def play_http(case: dict, folder: str, command: list[str], cores: set[int] | None) -> dict:
    counts = case.get("count_system_calls", False)
    with Watched(folder, command, "http", counts_calls=counts, cores=cores) as server:
        no_delay_seen = server.verify()
        warm_up(case, server.port, server.load_cores)
        server.begin()
        seen = load(case, server.port, server.load_cores)
        cost = server.end()
        server.stop()
    refusal = server.calls_refused or ("the counter cannot be read" if counts and "system_calls" not in cost
                                       else None)
    return {"metrics": metrics_of(seen, cost), "no_delay_seen": no_delay_seen} | (
        {"system_calls_not_counted": refusal} if refusal else {})


def run_echo_load(case: dict, folder: str, command: list[str], cores: set[int] | None,
                  *options: str) -> dict:
    """What the lab's own clients print: they start the server by themselves, and watch it. `seconds` are
    measured, after a warm-up of `warm_up_seconds`."""
    work = {"bytes": case["bytes"], "connections": case["connections"],
            "warm_up_ms": round(1000 * case["warm_up_seconds"]), "measured_ms": round(1000 * case["seconds"])}
    counting = ["--count-system-calls"] if case.get("count_system_calls") else []
    printed = run_client([str(Path(folder, ECHO_LOAD)), "--case", json.dumps(work), *counting, *options, "--",
                          *command], cores)
    try:
        report = json.loads(printed)
    except json.JSONDecodeError as error:
        raise Unusable(f"{ECHO_LOAD} printed no JSON: {error}") from error
    if "cannot_run" in report:
        raise Refused(report["cannot_run"])
    return report


def play_echo(case: dict, folder: str, command: list[str], cores: set[int] | None) -> dict:
    warm_up_seconds = case["seconds"] * WARM_UP_PART + 0.05
    report = run_echo_load(case | {"warm_up_seconds": warm_up_seconds}, folder, command, cores)
    found = {each["metric"]: each for each in report["metrics"]}
    transfer = {"metric": "transfer", "unit": "MB/s", "better": "higher",
                "value": found["throughput"]["value"] * case["bytes"] / 1e6}
    report["metrics"] = [transfer, *(found[name] for name in ECHO_METRICS if name in found)]
    return report


def play(case: dict, contender: dict, cores: set[int] | None = None) -> dict:
    """Raises Unusable if it has failed, so that it is not taken for a program that cannot do this."""
    reason = clients.missing(case["client"])
    if reason:
        return {"cannot_run": reason}
    command = server_of(contender)
    by = play_echo if case["client"] == "echo" else play_http
    try:
        return identity(command) | by(case, contender["folder"], command, cores)
    except Refused as refusal:
        return {"cannot_run": str(refusal)}
