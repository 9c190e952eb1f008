# SPDX-License-Identifier: BSL-1.0
#
# A histogram that is tested by its author alone may be wrong twice in the same way: here it is compared with
# PyPI's hdrhistogram, on the same values. `./dev lab setup` gets that one.
"""Skipped without hdrhistogram or lab_histogram_reader. LAB_HISTOGRAM_VALUES: ten million take a minute."""

import array
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += map(str, (ROOT / "build/release/lab/peers").glob("hdrhistogram/venv/lib/python*/site-packages"))

READER = Path(os.environ.get("LAB_HISTOGRAM_READER", "lab_histogram_reader"))
COUNT = int(os.environ.get("LAB_HISTOGRAM_VALUES", "200000"))
OUR_ERROR = 1 / 256
DIGITS = 3  # Of hdrhistogram: as exact as one part in a thousand.
THEIR_ERROR = 10.0 ** -DIGITS
HIGHEST = 3_600_000_000_000  # Nanoseconds: an hour.
# What is exact with us has their error alone; a deviation has it twice, in value and mean.
ALLOWED = {"count": 0.0, "std": 2 * THEIR_ERROR, "min": THEIR_ERROR, "max": THEIR_ERROR, "mean": THEIR_ERROR}


def like_latencies(count: int, seed: int = 20_110) -> array.array:
    """Most of them near 40 us, a long tail, and one in a thousand that met a stall."""
    source = random.Random(seed)
    values = array.array("Q", bytes(8 * count))
    for index in range(count):
        value = math.exp(10.6 + 0.5 * source.gauss(0.0, 1.0))
        values[index] = int(value if source.random() > 0.001 else value + source.random() * 100e6) + 1
    return values


@pytest.mark.skipif(not READER.is_file(), reason="lab_histogram_reader is not built")
def test_both_say_the_same():
    hdrh = pytest.importorskip("hdrh.histogram", reason="no hdrhistogram here; `./dev lab setup` gets it")
    values = like_latencies(COUNT)
    said = subprocess.run([READER], input=values.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    ours = json.loads(said)
    them = hdrh.HdrHistogram(1, HIGHEST, DIGITS)
    for each in values:
        them.record_value(each)
    theirs = {"count": them.get_total_count(), "min": them.get_min_value(), "max": them.get_max_value(),
              "mean": them.get_mean_value(), "std": them.get_stddev()} | {
        part: them.get_value_at_percentile(float(part)) for part in ours if part[0].isdigit()}
    apart = {name: abs(ours[name] / theirs[name] - 1) for name in ours}
    assert {name: value for name, value in apart.items()
            if value > ALLOWED.get(name, THEIR_ERROR + OUR_ERROR)} == {}
