#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What including the library costs a user's build, beside Boost.Asio.

Compiles the two minimal echo servers in turns, with both compilers at -O2, and prints user time and
the ratio of each pair. Nothing is cached; differences of a few per cent are noise.
"""

import argparse
import pathlib
import resource
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = ("clang++-19", "g++")
PROGRAMS = ("gyre", "asio_coroutine")


def user_seconds(compiler: str, program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [compiler, "-std=c++20", "-O2", f"-I{HERE.parent / 'include'}", "-c",
               str(HERE / "minimal_echo" / f"{program}.cpp"), "-o", "/dev/null"]
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=float, default=0.4, help="fail if a median ratio exceeds this")
    arguments = parser.parse_args()

    failed = False
    for compiler in COMPILERS:
        pairs = [{program: user_seconds(compiler, program) for program in PROGRAMS}
                 for _ in range(arguments.repetitions)]
        ratios = [pair["gyre"] / pair["asio_coroutine"] for pair in pairs]
        median = {program: statistics.median(pair[program] for pair in pairs) for program in PROGRAMS}
        ratio = statistics.median(ratios)
        print(f"{compiler}: gyre {median['gyre']:.2f} s, asio {median['asio_coroutine']:.2f} s, "
              f"ratio {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        failed |= ratio > arguments.limit
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
