#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Plays a case of the suite `cost` once: what a minimal echo program of a library costs to compile and to
# run; and prints one line of JSON, as every contender does.
"""A contender for run.py. Its program listens on 127.0.0.1:PORT, prints the port and sends back what comes.

    cost.py --folder DIR --program NAME --identity LIBRARY VERSION BACKEND [--backend uring|epoll]
            [--lacking REASON] --suite cost --case CASE --scale quick [--count-system-calls]
    cost.py --folder DIR --program NAME --identity LIBRARY VERSION BACKEND --list --scale quick
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import cost_probes as probes
from baseline_server import Refused, Unusable
from cost_probes import Program

SUITE = "cost"

UNITS = {"compile": "s", "compile_wall": "s", "text_and_data": "KiB", "file": "KiB",
         "per_connection": "B", "rss": "MiB", "rss_with_all": "MiB", "rss_busy": "MiB",
         "allocations": "1/op", "system_calls": "1/op"}


@dataclass(frozen=True)
class CostCase:
    name: str
    description: str
    quick: float  # Connections or seconds.
    full: float
    threads: int = 1  # As many cores are wanted.
    rounds_quick: int = 0  # 0: as many as there are.
    rounds_full: int = 0

    def size(self, scale: str) -> float:
        return self.full if scale == "full" else self.quick

    def rounds(self, scale: str) -> int:
        return self.rounds_full if scale == "full" else self.rounds_quick


# The quickest way to find out whether a program works at all comes first: a smoke run plays no more.
CASES = [
    CostCase("steady_state", f"{probes.STEADY_CONNECTIONS} connections, messages of "
             f"{probes.STEADY_MESSAGE_BYTES} bytes: allocations, system calls and memory",
             quick=0.2, full=2.0, threads=2),
    CostCase("idle_connections", "memory of connections that say nothing: 10,000, quick 2,000",
             quick=2_000, full=10_000, threads=2, rounds_full=3),
    CostCase("program_size", "the program without symbols", quick=0, full=0, rounds_quick=1,
             rounds_full=1),
    CostCase("compile_time", "its translation unit at -O2", quick=0, full=0, rounds_quick=1),
]


def find_case(name: str) -> CostCase:
    return next(each for each in CASES if each.name == name)


def metrics_of(figures: dict[str, float]) -> list[dict]:
    return [{"metric": name, "unit": UNITS[name], "better": "lower", "value": value}
            for name, value in figures.items()]


def figures_of(case: CostCase, size: float, program: Program, counts_calls: bool) -> dict:
    """Part of the report: metrics, and why system calls were not counted if they were to be."""
    if case.name == "steady_state":
        cost = probes.steady_state(program, size, counts_calls)
        refusal = cost.system_calls_not_counted
        return {"metrics": metrics_of(cost.figures)} | (
            {"system_calls_not_counted": refusal} if refusal else {})
    if counts_calls:
        return {"metrics": []}  # A compiler's calls, or those of silence, are nobody's business.
    if case.name == "idle_connections":
        return {"metrics": metrics_of(probes.idle_connections(program, int(size)))}
    by = {"compile_time": probes.compile_time, "program_size": probes.program_size}[case.name]
    return {"metrics": metrics_of(by(program))}


def play(case: CostCase, size: float, program: Program, counts_calls: bool = False,
         lacking: str | None = None) -> dict:
    """What run.py is told of one run, apart from who it was. Raises Unusable if something is broken."""
    if lacking:
        return {"cannot_run": lacking}
    if not program.file.is_file():
        raise Unusable(f"{program.file} was not built")
    try:
        return figures_of(case, size, program, counts_calls)
    except Refused as refusal:
        return {"cannot_run": str(refusal)}


def print_list(scale: str) -> None:
    for each in CASES:
        print(json.dumps({"suite": SUITE, "case": each.name, "description": each.description,
                          "threads": each.threads, "rounds_max": each.rounds(scale)}))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the programs are")
    parser.add_argument("--program", required=True)
    parser.add_argument("--identity", nargs=3, required=True, metavar=("LIBRARY", "VERSION", "BACKEND"))
    parser.add_argument("--backend", help="what GYRE_BACKEND is to be")
    parser.add_argument("--lacking", metavar="REASON", help="why there is no such program")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--suite", choices=[SUITE])
    parser.add_argument("--case", choices=[each.name for each in CASES])
    parser.add_argument("--scale", choices=["quick", "full"], default="quick")
    parser.add_argument("--count-system-calls", action="store_true")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.list:
        print_list(arguments.scale)
        return
    if arguments.case is None:
        sys.exit("cost.py: --case is required")
    case = find_case(arguments.case)
    environment = {"GYRE_BACKEND": arguments.backend} if arguments.backend else {}
    program = Program(arguments.folder, arguments.program, environment)
    try:
        report = play(case, case.size(arguments.scale), program, arguments.count_system_calls,
                      arguments.lacking)
    except Unusable as error:
        sys.exit(f"cost.py: {error}")
    print(json.dumps(dict(zip(("library", "version", "backend"), arguments.identity)) | report))


if __name__ == "__main__":
    main()
