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

import json
import os
import re
import shutil
import signal
import subprocess
import sys

SKIPPED = 77
PUBLISHER, LISTENER = f"publisher-{os.getpid()}", f"listener-{os.getpid()}"
ADDRESSES = {PUBLISHER: ("10.78.0.1", "10.78.0.3"), LISTENER: ("10.78.0.2",)}
INTERFACES = {PUBLISHER: "publisher0", LISTENER: "listener0"}
PORT = 7078
COUNT = 300
PATIENCE = 60

LOSS = f"""
table inet loss {{
    chain arriving {{
        type filter hook input priority 0; policy accept;
        udp dport {PORT} numgen inc mod 10 < 1 counter drop
    }}
}}
"""

SUMMARY = re.compile(r"ticks (\d+) to (\d+): (\d+) received, (\d+) missing, (\d+) repeated, "
                     r"(\d+) back in time")


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


def make_networks():
    for network in (PUBLISHER, LISTENER):
        run("ip", "netns", "add", network)
    run("ip", "link", "add", INTERFACES[PUBLISHER], "netns", PUBLISHER, "type", "veth",
        "peer", "name", INTERFACES[LISTENER], "netns", LISTENER)
    for network, interface in INTERFACES.items():
        for address in ADDRESSES[network]:
            run("ip", "-n", network, "address", "add", f"{address}/24", "dev", interface)
        for each in ("lo", interface):
            run("ip", "-n", network, "link", "set", each, "up")
    run("ip", "netns", "exec", LISTENER, "nft", "-f", "-", text=LOSS)


def remove_networks():
    """With a namespace go its interface, the other end of that, and its rules."""
    for network in (PUBLISHER, LISTENER):
        subprocess.run(["ip", "netns", "delete", network], capture_output=True)


def packets_lost():
    listed = run("ip", "netns", "exec", LISTENER, "nft", "-j", "list", "table", "inet", "loss")
    rules = [entry["rule"] for entry in json.loads(listed)["nftables"] if "rule" in entry]
    return sum(part["counter"]["packets"] for rule in rules for part in rule["expr"] if "counter" in part)


def start(network, backend, *command):
    return subprocess.Popen(["ip", "netns", "exec", network, *command], stdout=subprocess.PIPE, text=True,
                            env=dict(os.environ, GYRE_BACKEND=backend))


def check(promise, kept):
    if not kept:
        raise AssertionError(promise)


def play(ticker, backend, group, sources, heard):
    """Each of `sources` publishes; the listener joins for `heard`, or for all if that is None."""
    at = f"{group}:{PORT}"
    lost_before = packets_lost()
    listener = start(LISTENER, backend, ticker, "listen", at, INTERFACES[LISTENER],
                     *([heard] if heard else []))
    publishers = []
    try:
        check("the listener listens", listener.stdout.readline().startswith("listening"))
        for source in sources:
            publisher = start(PUBLISHER, backend, ticker, "publish", at, INTERFACES[PUBLISHER],
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
    lost = packets_lost() - lost_before
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


def interrupted(number, _):
    raise SystemExit(128 + number)


def main(ticker):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        check_tools()
        make_networks()
        for backend in ("epoll", "uring"):
            play(ticker, backend, "239.78.0.1", ADDRESSES[PUBLISHER][:1], None)
            play(ticker, backend, "232.78.0.1", ADDRESSES[PUBLISHER], ADDRESSES[PUBLISHER][1])
    except Missing as why:
        print(f"skipped: {why}")
        return SKIPPED
    except AssertionError as broken:
        print(f"broken promise: {broken}")
        return 1
    finally:
        remove_networks()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
