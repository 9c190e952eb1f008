# SPDX-License-Identifier: BSL-1.0
"""Tests of transports.py: which tests count for which transport."""

from transports import count, text_of, unequal

NAMES = [
    "gyre facility: trades are told",
    "gyre json facility: trades are told",
    "asio beast json facility: trades are told",
    "gyre tcp transport: packets come out whole",
    "asio tcp transport: packets come out whole",
    "gyre websocket transport: packets come out whole",
    "asio beast transport: packets come out whole",
    "asio websocket transport: packets come out whole",
    "callback facility: trades are told",
    "gyre streams: a facility: of its own",
]


def test_a_transport_is_the_same_whoever_makes_it():
    counts = count(NAMES)
    assert sorted(counts) == ["json", "tcp", "websocket"]
    assert {cell: len(laws) for cell, laws in counts["websocket"].items()} == {
        ("gyre", "transport"): 1, ("asio", "transport"): 1}
    assert len(counts["tcp"][("gyre", "facility")]) == 1
    assert len(counts["json"][("asio", "facility")]) == 1


def test_the_table_has_a_row_for_each_and_one_for_all():
    lines = text_of(count(NAMES)).splitlines()
    assert lines[0].split() == "transport gyre transport gyre facility asio transport asio facility".split()
    assert [line.split() for line in lines[1:]] == [
        ["json", "0", "1", "0", "1"], ["tcp", "1", "1", "1", "0"], ["websocket", "1", "0", "1", "0"],
        ["all", "2", "2", "2", "1"]]


def test_a_law_that_is_asked_on_one_library_only_is_told():
    assert unequal(count(NAMES)) == []
    assert unequal(count([*NAMES, "gyre websocket transport: a close is answered"])) == ["websocket"]
