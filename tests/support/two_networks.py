# SPDX-License-Identifier: BSL-1.0
#
# Two network namespaces, a veth pair between them, and nftables that drop a share of what arrives.
"""What tests need whose packets are to be lost by a kernel: `TwoNetworks`, and `run_or_skip` around it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass

SKIPPED = 77  # What ctest takes for skipped.


class Missing(Exception):
    """Something that this machine does not let us have."""


def run(*command, text=None):
    """Runs a tool of the system; what it complains of is why we cannot."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"`{' '.join(command)}` says: {done.stderr.strip()}")
    return done.stdout


@dataclass(frozen=True)
class End:
    """One of the two networks; its namespace and its interface bear its name."""

    name: str
    addresses: tuple  # All in one network of 24 bits.
    loss: str | None = None  # A match of nft: what fits it is counted and dropped when it arrives.

    @property
    def namespace(self):
        return f"{self.name}-{os.getpid()}"

    @property
    def interface(self):
        return f"{self.name}0"

    def command(self, *command):
        """The command, to be run there."""
        return ["ip", "netns", "exec", self.namespace, *command]

    def packets_lost(self):
        listed = run(*self.command("nft", "-j", "list", "table", "inet", "loss"))
        rules = [entry["rule"] for entry in json.loads(listed)["nftables"] if "rule" in entry]
        return sum(part["counter"]["packets"] for rule in rules for part in rule["expr"] if "counter" in part)

    def configure(self):
        for address in self.addresses:
            run("ip", "-n", self.namespace, "address", "add", f"{address}/24", "dev", self.interface)
        for each in ("lo", self.interface):
            run("ip", "-n", self.namespace, "link", "set", each, "up")
        if self.loss is not None:
            chain = f"type filter hook input priority 0; policy accept; {self.loss} counter drop;"
            run(*self.command("nft", "-f", "-"), text=f"table inet loss {{ chain arriving {{ {chain} }}; }}")


class TwoNetworks:
    """There from `with` on, and gone behind it. Raises Missing where they cannot be had."""

    def __init__(self, one, other):
        self._ends = (one, other)

    def __enter__(self):
        for tool in ("ip", "nft"):
            if shutil.which(tool) is None:
                raise Missing(f"`{tool}` is not installed")
        if os.geteuid() != 0:
            raise Missing("only root may make networks")
        try:
            self._make(*self._ends)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self, one, other):
        for end in self._ends:
            run("ip", "netns", "add", end.namespace)
        run("ip", "link", "add", one.interface, "netns", one.namespace, "type", "veth",
            "peer", "name", other.interface, "netns", other.namespace)
        for end in self._ends:
            end.configure()

    def __exit__(self, *_):
        """With a namespace go its interface, the other end of that, and its rules."""
        for end in self._ends:
            subprocess.run(["ip", "netns", "delete", end.namespace], capture_output=True)


def _interrupted(number, _):
    raise SystemExit(128 + number)


def run_or_skip(networks, play):
    """Calls `play` while the networks are there. The status of a program: what it returns, or `SKIPPED`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    with contextlib.ExitStack() as made:
        try:
            made.enter_context(networks)
        except Missing as why:
            print(f"skipped: {why}")
            return SKIPPED
        return play()
