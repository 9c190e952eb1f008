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
import json
import os
import shutil
import signal
import subprocess
import sys

SKIPPED = 77
EXCHANGE, CROWD = f"exchange-{os.getpid()}", f"crowd-{os.getpid()}"
ADDRESSES = {EXCHANGE: "10.77.0.1", CROWD: "10.77.0.2"}
INTERFACES = {EXCHANGE: "exchange0", CROWD: "crowd0"}
FEED_GROUP = "239.77.0.1:7777"

LOSS = """
table inet loss {{
    chain arriving {{
        type filter hook input priority 0; policy accept;
        iifname "{interface}" numgen random mod 1000 < {permille} counter drop
    }}
}}
"""


class Missing(Exception):
    """Something that this machine does not let us have."""


def run(*command, text=None):
    """Runs a tool of the system; what it complains of is why we cannot."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"`{' '.join(command)}` says: {done.stderr.strip()}")
    return done.stdout


def check_tools():
    for tool in ("ip", "nft"):
        if shutil.which(tool) is None:
            raise Missing(f"`{tool}` is not installed")
    if os.geteuid() != 0:
        raise Missing("only root may make networks")


def make_networks(permille):
    for network in (EXCHANGE, CROWD):
        run("ip", "netns", "add", network)
    run("ip", "link", "add", INTERFACES[EXCHANGE], "netns", EXCHANGE, "type", "veth",
        "peer", "name", INTERFACES[CROWD], "netns", CROWD)
    for network, interface in INTERFACES.items():
        run("ip", "-n", network, "address", "add", f"{ADDRESSES[network]}/24", "dev", interface)
        for each in ("lo", interface):
            run("ip", "-n", network, "link", "set", each, "up")
        run("ip", "netns", "exec", network, "nft", "-f", "-",
            text=LOSS.format(interface=interface, permille=permille))


def remove_networks():
    """With a namespace go its interface, the other end of that, and its rules."""
    for network in (EXCHANGE, CROWD):
        subprocess.run(["ip", "netns", "delete", network], capture_output=True)


def packets_lost(network):
    listed = run("ip", "netns", "exec", network, "nft", "-j", "list", "table", "inet", "loss")
    rules = [entry["rule"] for entry in json.loads(listed)["nftables"] if "rule" in entry]
    return sum(part["counter"]["packets"] for rule in rules for part in rule["expr"] if "counter" in part)


def play(options):
    environment = dict(os.environ, EXCHANGE_LOSSY_NETWORK=f"/run/netns/{EXCHANGE}",
                       EXCHANGE_LOSSY_PLACES=" ".join((ADDRESSES[EXCHANGE], ADDRESSES[CROWD],
                                                       INTERFACES[EXCHANGE], INTERFACES[CROWD],
                                                       FEED_GROUP)))
    if options.seconds is not None:
        environment["EXCHANGE_LINKS_SECONDS"] = str(options.seconds)
    command = ["ip", "netns", "exec", CROWD, options.program, f"--test-case={options.case}"]
    child = subprocess.Popen(command, env=environment)
    try:
        status = child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    lost = {network: packets_lost(network) for network in (EXCHANGE, CROWD)}
    print(f"packets lost: {lost[EXCHANGE]} on the way to the exchange, {lost[CROWD]} on the way back")
    if 0 in lost.values():
        print("a network that loses nothing proves nothing")
        return 1
    return status


def interrupted(number, _):
    raise SystemExit(128 + number)


def main(arguments):
    parser = argparse.ArgumentParser(description="Runs a test across a network that loses packets.")
    parser.add_argument("program", help="exchange_links_tests")
    parser.add_argument("--seconds", type=int, help="how long everything is bad")
    parser.add_argument("--percent", type=float, default=3, help="of packets that are lost, each way")
    parser.add_argument("--case", default="lossy network: *", help="which test cases")
    options = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        check_tools()
        make_networks(round(options.percent * 10))
    except Missing as why:
        remove_networks()
        print(f"skipped: {why}")
        return SKIPPED
    except SystemExit:
        remove_networks()
        raise
    try:
        return play(options)
    finally:
        remove_networks()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
