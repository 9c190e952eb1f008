# SPDX-License-Identifier: BSL-1.0
#
# Groups of receivers across a network that loses packets.
#
# examples/udp_ticker publishes in one network namespace and listens in another; a veth pair joins them, and
# nftables drops every tenth tick. What the listener says it has missed must be what was dropped.
"""Runs the ticker between two networks.

    ticker_network.py UDP_TICKER

Ends with 77, which ctest takes for skipped, where that cannot be had: it takes root, `ip` and `nft`.
Whatever it made is removed, also if it fails or is interrupted.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from two_networks import End, TwoNetworks, run_or_skip

PORT = 7078
PUBLISHER = End("publisher", ("10.78.0.1", "10.78.0.3"))
LISTENER = End("listener", ("10.78.0.2",), loss=f"udp dport {PORT} numgen inc mod 10 < 1")
COUNT = 300
PATIENCE = 60

SUMMARY = re.compile(r"ticks (\d+) to (\d+): (\d+) received, (\d+) missing, (\d+) repeated, "
                     r"(\d+) back in time")


def start(end, backend, *command):
    return subprocess.Popen(end.command(*command), stdout=subprocess.PIPE, text=True,
                            env=dict(os.environ, GYRE_BACKEND=backend))


def check(promise, kept):
    if not kept:
        raise AssertionError(promise)


def play(ticker, backend, group, sources, heard):
    """Each of `sources` publishes; the listener joins for `heard`, or for all if that is None."""
    at = f"{group}:{PORT}"
    lost_before = LISTENER.packets_lost()
    listener = start(LISTENER, backend, ticker, "listen", at, LISTENER.interface,
                     *([heard] if heard else []))
    publishers = []
    try:
        check("the listener listens", listener.stdout.readline().startswith("listening"))
        for source in sources:
            publisher = start(PUBLISHER, backend, ticker, "publish", at, PUBLISHER.interface,
                              str(COUNT), source)
            publishers.append(publisher)
            if heard is None:  # Else they publish at once, and only one of them is heard.
                check("a publisher ends well", publisher.wait(PATIENCE) == 0)
        for publisher in publishers:
            check("a publisher ends well", publisher.wait(PATIENCE) == 0)
        output = listener.communicate(timeout=PATIENCE)[0]
    finally:
        for each in (listener, *publishers):
            if each.poll() is None:
                each.kill()
            each.wait()
    lost = LISTENER.packets_lost() - lost_before
    print(f"{backend}, {group}, for {heard or 'all'}: {output.splitlines()[-1]}; {lost} dropped")
    found = SUMMARY.search(output)
    check("the listener sums up", found is not None and listener.returncode == 0)
    first, last, received, missing, repeated, back_in_time = map(int, found.groups())
    check("what came and what is missing are all", received + missing == last - first + 1)
    check("the gaps add up", missing == sum(int(to) - int(begin) + 1 for begin, to in
                                            re.findall(r"^missing (\d+) to (\d+)$", output, re.MULTILINE)))
    check("no tick came twice", repeated == 0)
    check("arrivals are in order", back_in_time == 0)
    check("the network has lost some", lost > 0 and missing > 0)
    if len(sources) == 1:
        check("all that was not dropped has come", received == COUNT - lost)
    else:
        check("only the chosen source was heard", received <= COUNT and last <= COUNT)


def play_all(ticker):
    try:
        for backend in ("epoll", "uring"):
            play(ticker, backend, "239.78.0.1", PUBLISHER.addresses[:1], None)
            play(ticker, backend, "232.78.0.1", PUBLISHER.addresses, PUBLISHER.addresses[1])
    except AssertionError as broken:
        print(f"broken promise: {broken}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_or_skip(TwoNetworks(PUBLISHER, LISTENER), lambda: play_all(sys.argv[1])))
