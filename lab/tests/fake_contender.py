#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A contender whose speed is known, so that what the lab says about it can be checked.
"""fake_contender.py NAME [SPEED [NOISE [BIAS [SPIKES]]]]: speaks the requests of lab/kit/driver.cpp.

A slice "takes" OPERATIONS x 1000 ns / SPEED, times exp of normal noise, times what this process has by
accident (BIAS), and now and then 4 ms more (SPIKES: how often). It does not really wait: figures are made up.
A case of the kind `refuse` is refused, one of the kind `break` ends the process.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys


def main() -> None:
    name, *figures = sys.argv[1:]
    speed, noise, bias, spikes = [float(each) for each in figures] + [1.0, 0.01, 0.01, 0.0][len(figures):]
    dice = random.Random(os.urandom(8))
    mine = math.exp(dice.gauss(0, bias))
    seen: dict[int, int] = {}
    counting = False
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "about":
            answer = {"name": name, "library": "fake", "version": "1", "backend": "none"}
        elif asked["do"] == "count_system_calls":
            counting, answer = True, {"counting": True}
        elif asked["do"] == "prepare":
            kind = asked["case"].get("kind")
            if kind == "break":
                sys.exit("a byte is wrong")
            answer = {"cannot_run": "has no such thing"} if kind == "refuse" else {"ready": True}
        elif asked["do"] == "play":
            count = asked["operations"]
            wall = count * 1000 / speed * mine * math.exp(dice.gauss(0, noise))
            wall += 4e6 if dice.random() < spikes else 0
            each = round(wall / count)
            seen[each] = seen.get(each, 0) + count
            answer = {"wall_ns": round(wall), "cpu_ns": round(wall), "operations": count, "allocations": 0,
                      "context_switches": None, "counters": {"visits": 2 * count},
                      "latency": {"p50": each, "mean": each}}
            if counting:
                answer["system_calls"] = 4 * count
        else:
            buckets = sorted(seen.items())
            answer = {"memory_mb": 5.0, "latency": {"count": sum(seen.values()), "min": buckets[0][0],
                                                    "max": buckets[-1][0], "buckets": buckets}}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
