# SPDX-License-Identifier: BSL-1.0
#
# What run_test.py and rounds_test.py drive in place of programs.
"""A bench that measures nothing, and contenders for it."""

import io
from contextlib import redirect_stderr

import rounds
from bench import Case, Contender
from rounds import Attempt

OURS = Contender("gyre_uring", "gyre", ("a",), ("dispatch", "echo"))
CALLBACK = Contender("asio_callback", "asio", ("b",), ("dispatch",))
FLOOR = Contender("raw_syscalls", "floor", ("c",), ("dispatch",))
CASE = Case("dispatch", "post", "", 1)


class FakeBench:
    """Remembers who ran, and answers from a list of values per contender."""

    def __init__(self, values=None, refusing=(), refuses_to_count=False, failing=(), failing_turns=()):
        self.ran = []
        self.counted = []
        self.failing_to_count = ()
        self._refuses_to_count = refuses_to_count
        self._values = values or {}
        self._refusing = refusing
        self._failing = failing
        self._failing_turns = failing_turns  # Counted from 0, whoever's turn it is.

    def count_system_calls(self, contender, case):
        self.counted.append(contender.name)
        if contender.name in self.failing_to_count:
            return {"cannot_run": "failed with status 109: no such option", "broken": True}
        if self._refuses_to_count:
            return {"metrics": [], "system_calls_not_counted": "no tracefs"}
        return {"metrics": [{"metric": "throughput", "unit": "Mops/s", "better": "higher",
                             "value": 0.1},
                            {"metric": "system_calls", "unit": "1/op", "better": "lower",
                             "value": 9.0}]}

    def run(self, contender, case):
        self.ran.append(contender.name)
        if contender.name in self._refusing:
            return {"cannot_run": "because"}
        if contender.name in self._failing or len(self.ran) - 1 in self._failing_turns:
            return {"cannot_run": "failed with status 1: no", "broken": True}
        values = self._values.get(contender.name, [1.0])
        value = values.pop(0) if len(values) > 1 else values[0]
        return {"library": "", "version": "", "backend": "",
                "metrics": [{"metric": "throughput", "unit": "Mops/s", "better": "higher",
                             "value": value}]}


def measure(bench, contenders=(OURS, CALLBACK, FLOOR), number=3, case=CASE) -> Attempt:
    with redirect_stderr(io.StringIO()):
        return rounds.measure(bench, list(contenders), case, number, rounds.Progress(1), {})
