# SPDX-License-Identifier: BSL-1.0
#
# Why gyre loses where it does, as far as somebody has found out and written it down.
#
# A sentence stands here only if a decision record or lab/README.md says it at greater length. What nobody
# has explained yet has no line, and the report shows none.
"""From a row to the known cause of a loss in it."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    suite: str
    cases: str  # Patterns, separated by blanks.
    contenders: str
    text: str
    source: str
    metrics: str = "*"


CAUSES = [
    Cause("throughput", "threads_*", "gyre_uring",
          "With 8 threads on 2 processors each operation takes more processor time in the kernel's receive "
          "path; not understood.", "docs/decisions/0011-profile.md"),
    Cause("throughput", "uni_*_256K uni_*_1M bidi_*_256K bidi_*_1M", "*",
          "Such buffers have two modes for contenders that let a backlog come about and stay, so rows are "
          "often void.", "docs/decisions/0005-fast-paths.md"),
    Cause("dispatch", "threads_8_batched*", "*",
          "More threads than processors do not make short items faster.", "docs/decisions/0011-profile.md"),
    Cause("timers", "fire_rate_1us", "gyre_epoll",
          "epoll_pwait2 gets the kernel's timer slack of 50 μs, io_uring's time-outs and Asio's timerfd do "
          "not.", "lab/README.md"),
    Cause("echo", "block_*_1 paced_block_* [0-9]*_1", "*",
          "Most of the time a server sleeps, and waking up takes twice as long as answering: who spins "
          "answers up to three times as often, and there is hardly anything between gyre, Asio and a server "
          "that never sleeps (load_ceiling).",
          "docs/decisions/0021-echo-on-two-cores.md", "throughput p50 p99"),
    Cause("echo", "threads_2_block_*_1", "*",
          "Two threads and the load share two cores: a server whose thread comes to lie on the load's core "
          "is not woken from afar and answers in 10 μs in place of 80.",
          "docs/decisions/0021-echo-on-two-cores.md", "throughput"),
    Cause("fan_out", "*", "*",
          "A child is a coroutine with a frame and a group that waits for it; of Asio's callbacks a child is "
          "a posted handler, and a join a counter.", "lab/README.md"),
    Cause("echo", "block_100K_100", "*uring*",
          "A turn receives for up to twenty connections before anybody sends, 2 MB, which no longer fits "
          "the cache; others send a message before they receive the next.",
          "docs/decisions/0022-warm-reads.md", "throughput"),
    Cause("echo", "block_*_100", "*",
          "The load's core is busy for 95 to 99 % of the time, and a server that never sleeps "
          "(load_ceiling) is a seventh faster at most.",
          "docs/decisions/0021-echo-on-two-cores.md", "throughput"),
    Cause("baseline", "*_close", "*",
          "The client has one thread and is slower than these servers, whose core is idle half of the time.",
          "docs/decisions/0021-echo-on-two-cores.md", "throughput"),
    Cause("baseline", "*_close", "*",
          "8 % of the time is outside the kernel (2.4 % of the plain server's), and each connection has an "
          "accept of its own.", "docs/decisions/0021-echo-on-two-cores.md", "cpu"),
    Cause("exchange", "5_*_10000 5_*_?00000 6_*_?00000 7_*_10000 7_*_?00000", "*",
          "Only one sweep is under way at a time, and the facility is at work in a third of it: such rates "
          "tell about the load, and differ by up to 30 % between rounds.",
          "docs/decisions/0019-exchange-measured.md", "orders_rate"),
    Cause("exchange", "2_*_unbounded 2b_*_unbounded", "*",
          "64 messages are read at once: the span of one is what the core takes for the others, the same "
          "code for everybody, and only two system calls fall on all 64.",
          "docs/decisions/0019-exchange-measured.md", "p50 net orders_rate"),
    Cause("exchange", "3_*_100000", "*",
          "An amend is two calls that send, and these alone are most of its span.",
          "docs/decisions/0019-exchange-measured.md", "p50 net"),
    Cause("exchange", "*_1000 *_10000", "*",
          "The span is the kernel's calls, which everybody makes, and most of those is waking the reader.",
          "docs/decisions/0019-exchange-measured.md", "p50 net"),
    Cause("timers", "schedule_cancel_unwaited", "*",
          "Asio does next to nothing there but read the clock.", "lab/README.md"),
]


def cause_of(suite: str, case: str, metric: str, contender: str) -> Cause | None:
    """The first that fits."""
    for each in CAUSES:
        if (each.suite == suite and any(fnmatch.fnmatchcase(case, one) for one in each.cases.split())
                and any(fnmatch.fnmatchcase(metric, one) for one in each.metrics.split())
                and fnmatch.fnmatchcase(contender, each.contenders)):
            return each
    return None
