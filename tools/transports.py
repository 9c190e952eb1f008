#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# That every transport passes one suite is easily said. The programs say what they really ask of each.
"""Prints how many tests of the exchange ask something of each transport, by the library that carries it.

    transports.py [BUILD]        BUILD is build/dev unless it is given

The names of these tests begin with library and transport: "gyre json transport: ...", "asio facility: ...",
where no transport is the first one, SoupBinTCP over TCP. The status is 1 if there are none, or if a transport
is asked for fewer laws of transports on one library than on the other.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

NAME = re.compile(r"^(gyre|asio) ((?:[a-z]+ )*?)(transport|facility): ")
COLUMNS = [("gyre", "transport"), ("gyre", "facility"), ("asio", "transport"), ("asio", "facility")]
# By whose library a transport is made is no other transport.
SAME = {"": "tcp", "beast": "websocket", "beast json": "json"}


def count(names: Iterable[str]) -> dict[str, dict[tuple[str, str], set[str]]]:
    """The laws of each transport, by library and kind; two libraries' WebSockets on Asio count once."""
    counts: dict[str, dict[tuple[str, str], set[str]]] = {}
    for name in names:
        match = NAME.match(name)
        if match is None:
            continue
        transport = SAME.get(match[2].strip(), match[2].strip())
        law = name[match.end():]
        counts.setdefault(transport, {}).setdefault((match[1], match[3]), set()).add(law)
    return counts


def text_of(counts: dict[str, dict[tuple[str, str], set[str]]]) -> str:
    lines = ["transport " + "".join(f"{' '.join(each):>16}" for each in COLUMNS)]
    for transport, cells in sorted(counts.items()):
        lines.append(f"{transport:<10}" + "".join(f"{len(cells.get(each, ())):>16}" for each in COLUMNS))
    total = [sum(len(cells.get(each, ())) for cells in counts.values()) for each in COLUMNS]
    return "\n".join([*lines, f"{'all':<10}" + "".join(f"{each:>16}" for each in total)])


def unequal(counts: dict[str, dict[tuple[str, str], set[str]]]) -> list[str]:
    return [transport for transport, cells in sorted(counts.items())
            if cells.get(("gyre", "transport")) != cells.get(("asio", "transport"))]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Counts tests by transport and library.")
    parser.add_argument("build", type=Path, nargs="?", default=Path("build/dev"), metavar="BUILD")
    program = parser.parse_args(arguments).build / "exchange" / "tests" / "exchange_net_tests"

    listed = subprocess.run([program, "--list-test-cases"], capture_output=True, text=True, check=True)
    counts = count(listed.stdout.splitlines())
    print(text_of(counts))
    for transport in unequal(counts):
        print(f"{transport}: other laws on gyre than on Asio")
    return 1 if unequal(counts) or not counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
