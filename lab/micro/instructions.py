#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# How many instructions one operation of lab_micro takes: the one figure that a busy machine leaves alone.
#
# Each case runs under callgrind twice, with 1,000 and with 11,000 iterations; the difference is what
# 10,000 of them cost, without start and end. Cases with a second thread are left out. Needs valgrind.
"""Prints instructions per operation: `lab/micro/instructions.py [--build build/release] [CASE...]`."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
from pathlib import Path

FEW, MANY = 1_000, 11_000
THREADED = ("post_to_a_loop_that_runs_elsewhere",)


def instructions(binary: Path, case: str, iterations: int) -> int:
    # epoll, since valgrind does not know every call of io_uring; these cases make none of either.
    environment = {**os.environ, "GYRE_BACKEND": "epoll", "LAB_MICRO_ITERATIONS": str(iterations)}
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(binary),
         f"--benchmark_filter=^{case}(/|$)"],
        env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None:
        raise RuntimeError(f"callgrind has counted nothing:\n{run.stderr}")
    return int(found.group(1))


def cases_of(binary: Path) -> list[str]:
    listed = subprocess.run([str(binary), "--benchmark_list_tests"], capture_output=True, text=True,
                            check=True).stdout.split("\n")
    names = [line.split("/")[0] for line in listed if line and " " not in line]
    return [name for name in names if name not in THREADED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    binary = arguments.build / "lab" / "lab_micro"
    if shutil.which("valgrind") is None or not binary.exists():
        parser.error(f"needs valgrind, and {binary}, which `./dev bench` builds")
    known = cases_of(binary)
    if unknown := set(arguments.cases) - set(known):
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(known)}")
    for case in arguments.cases or known:
        cost = instructions(binary, case, MANY) - instructions(binary, case, FEW)
        print(f"{case:<32}{cost / (MANY - FEW):10.1f}", flush=True)


if __name__ == "__main__":
    main()
