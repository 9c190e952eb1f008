# SPDX-License-Identifier: BSL-1.0
#
# The crowd and the exchange in two networks of their own, and between them a kernel that loses packets.
#
# bad_network.hpp does to a facility what a relay can do; what it cannot do is lose a packet of TCP. So here a
# pair of network namespaces is made, joined by a veth pair, and nftables drops a share of what arrives at
# either end. Inside runs the program of bad_links_test.cpp, with all its other faults.
"""Runs a test program of the exchange across a network that loses packets.

    lossy_network.py PROGRAM [--seconds N] [--percent P] [--case PATTERN]

Ends with 77, which ctest takes for skipped, where that cannot be had: it takes root, `ip` and `nft`.
Whatever it made is removed, also if it fails or is interrupted.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "support"))
from two_networks import End, TwoNetworks, run_or_skip

FEED_GROUP = "239.77.0.1:7777"


def play(options, exchange, crowd):
    places = (*exchange.addresses, *crowd.addresses, exchange.interface, crowd.interface, FEED_GROUP)
    environment = dict(os.environ, EXCHANGE_LOSSY_NETWORK=f"/run/netns/{exchange.namespace}",
                       EXCHANGE_LOSSY_PLACES=" ".join(places))
    if options.seconds is not None:
        environment["EXCHANGE_LINKS_SECONDS"] = str(options.seconds)
    command = crowd.command(options.program, f"--test-case={options.case}")
    child = subprocess.Popen(command, env=environment)
    try:
        status = child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    lost = (exchange.packets_lost(), crowd.packets_lost())
    print("packets lost: {} on the way to the exchange, {} on the way back".format(*lost))
    if 0 in lost:
        print("a network that loses nothing proves nothing")
        return 1
    return status


def main(arguments):
    parser = argparse.ArgumentParser(description="Runs a test across a network that loses packets.")
    parser.add_argument("program", help="exchange_links_tests")
    parser.add_argument("--seconds", type=int, help="how long everything is bad")
    parser.add_argument("--percent", type=float, default=3, help="of packets that are lost, each way")
    parser.add_argument("--case", default="lossy network: *", help="which test cases")
    options = parser.parse_args(arguments)

    lossy = f"numgen random mod 1000 < {round(options.percent * 10)}"
    exchange = End("exchange", ("10.77.0.1",), loss=f'iifname "exchange0" {lossy}')
    crowd = End("crowd", ("10.77.0.2",), loss=f'iifname "crowd0" {lossy}')
    return run_or_skip(TwoNetworks(exchange, crowd), lambda: play(options, exchange, crowd))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
