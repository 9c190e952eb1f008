#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A histogram that is tested by its author alone may be wrong twice in the same way.
"""Compares the lab's histogram with PyPI's hdrhistogram, on the same values.

    histogram_judge.py PROGRAM [--values N] [--seed N]

PROGRAM is lab_histogram_reader. Ten million values take about a minute. `./dev lab setup` gets hdrhistogram;
where there is none, this ends with 77, which ctest takes for a test that was skipped.
"""

from __future__ import annotations

import argparse
import array
import json
import math
import random
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / "build/release/lab/peers"  # Where setup.py puts it.
OUR_ERROR = 1 / 256
DIGITS = 3  # Of hdrhistogram: as exact as one part in a thousand.
THEIR_ERROR = 10.0 ** -DIGITS
HIGHEST = 3_600_000_000_000  # Nanoseconds: an hour.
SKIPPED = 77


def make_values(count: int, seed: int) -> array.array:
    """Like latencies: most of them near 40 μs, a long tail, and one in a thousand that met a stall."""
    source = random.Random(seed)
    normal, uniform = source.gauss, source.random
    values = array.array("Q", bytes(8 * count))
    for index in range(count):
        value = math.exp(10.6 + 0.5 * normal(0.0, 1.0))
        values[index] = int(value if uniform() > 0.001 else value + uniform() * 100e6) + 1
    return values


def said_by_us(program: str, values: array.array) -> dict[str, float]:
    done = subprocess.run([program], input=values.tobytes(), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def said_by_them(histogram_type, values: array.array, parts: list[str]) -> dict[str, float]:
    histogram = histogram_type(1, HIGHEST, DIGITS)
    for each in values:
        histogram.record_value(each)
    return ({"count": histogram.get_total_count(), "min": histogram.get_min_value(),
             "max": histogram.get_max_value(), "mean": histogram.get_mean_value(),
             "std": histogram.get_stddev()} |
            {part: histogram.get_value_at_percentile(float(part)) for part in parts})


def differences(ours: dict[str, float], theirs: dict[str, float]) -> list[tuple[str, float, float]]:
    """Name, difference as a share, and the most that it may be."""
    found = [("count", abs(ours["count"] - theirs["count"]), 0.0)]
    for name in ours:
        if name == "count":
            continue
        # What is exact with us has their error alone; a deviation has it twice, in value and mean.
        allowed = {"std": 2 * THEIR_ERROR}.get(
            name, THEIR_ERROR if name in ("min", "max", "mean") else THEIR_ERROR + OUR_ERROR)
        found.append((name, abs(ours[name] / theirs[name] - 1), allowed))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--values", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=20_110)
    arguments = parser.parse_args()
    sys.path += map(str, PEERS.glob("hdrhistogram/venv/lib/python*/site-packages"))
    try:
        from hdrh.histogram import HdrHistogram
    except ImportError:
        print("skipped: no hdrhistogram here; `./dev lab setup` gets it")
        return SKIPPED

    values = make_values(arguments.values, arguments.seed)
    ours = said_by_us(arguments.program, values)
    theirs = said_by_them(HdrHistogram, values, [each for each in ours if each[0].isdigit()])
    found = differences(ours, theirs)
    print(f"{arguments.values} values, seed {arguments.seed}")
    for name, difference, allowed in found:
        print(f"{name:>8} {ours[name]:>16,.1f} {theirs[name]:>16,.1f}  "
              f"{100 * difference:.4f} % apart, {100 * allowed:.4f} % allowed")
    return 0 if all(difference <= allowed for _, difference, allowed in found) else 1


if __name__ == "__main__":
    sys.exit(main())
