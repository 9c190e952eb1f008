# SPDX-License-Identifier: BSL-1.0
#
# A server that does less than the others would win. So each one that a build has is held against what all
# have to do, and the checks and the load are held against servers that do one thing wrong.
"""Tests of measure/protocols.py and of lab_talk_load; and of the servers of LAB_BUILD (build/release)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import BUILD, FOLDER, needs_lab
from measure import protocols
from measure.baseline import read_wrk
from measure.processes import PROTOCOLS, Broken, Build
from measure.protocols import LOAD

needs_load = pytest.mark.skipif(not (FOLDER / LOAD).is_file(), reason="lab_talk_load is not built")
FAKE = [sys.executable, "-B", str(Path(__file__).with_name("fake_protocols.py")), "--fault"]


def case_of(protocol: str, profile: str, **more) -> dict:
    return {"protocol": protocol, "profile": profile, "connections": 2, "at_once": 1, "each_lives": 0,
            "bytes": 64, "threads": 1, "warm_up_ms": 20, "measured_ms": 50} | more


CASES = [
    *(case_of("http_server", profile) for profile in protocols.REQUESTS),
    case_of("http_server", "sum", at_once=16), case_of("http_server", "text", each_lives=10),
    case_of("websocket", "echo"), case_of("websocket", "echo", bytes=65536),
    case_of("websocket", "hub", connections=5),
    case_of("tls", "full", bytes=2), case_of("tls", "resumed", bytes=2), case_of("tls", "bulk", bytes=16384),
    case_of("tls", "bulk", bytes=1048576),
]


def title_of(case: dict) -> str:
    return f"{case['protocol']} {case['profile']} {case['bytes']} {case['at_once']} {case['each_lives']}"


def play(case: dict, command: list[str]) -> dict[str, float]:
    report = protocols.play(case, FOLDER, command)
    return {each["metric"]: each["value"] for each in report["metrics"]}


def content_size(case: dict) -> float | None:
    if case["protocol"] != "http_server":
        return case["bytes"]
    return {"text": 13, "json": len(protocols.json_text())}.get(case["profile"])


@needs_lab
@needs_load
@pytest.mark.parametrize("case", CASES, ids=title_of)
def test_a_right_server_is_measured_and_every_byte_is_counted(case):
    found = play(case, [*FAKE, "none"])

    size = content_size(case)
    assert found["throughput"] > 0 and found["cpu"] > 0
    if size is not None:
        assert found["transfer"] * 1e6 / found["throughput"] == pytest.approx(size)


@needs_lab
@needs_load
@pytest.mark.parametrize("case", [case_of("websocket", "echo"), case_of("websocket", "hub")], ids=title_of)
def test_messages_may_come_in_fragments(case):
    # What verifies asks for one frame, as all servers of the lab send; the load takes what is right.
    with protocols.Watched(FOLDER, [*FAKE, "fragments"], "websocket") as server, \
            protocols.Talk(FOLDER, case, server.port, server.load_cores) as clients:
        clients.ask("open")
        assert clients.ask("play 30")["messages"] > 0


@needs_lab
@pytest.mark.parametrize(("case", "fault", "why"), [
    (case_of("http_server", "text"), "wrong content", "GET /text: b'Hello, World"),
    (case_of("http_server", "text"), "short content", "GET /text"),
    (case_of("http_server", "post"), "status", r"POST /sum.*500"),
    (case_of("http_server", "json"), "type", "Content-Type: text/html"),
    (case_of("http_server", "text"), "no date", "there is a Date"),
    (case_of("websocket", "echo"), "accept", "the accepted key"),
    (case_of("websocket", "echo"), "wrong content", "a message in two fragments"),
    (case_of("websocket", "echo"), "kind", "a message in two fragments"),
    (case_of("tls", "full"), "version", "the version: TLSv1.2"),
    (case_of("tls", "full"), "wrong content", "64 bytes"),
    (case_of("tls", "full"), "no close_notify", "verifying: SSL.*UNEXPECTED_EOF"),
], ids=lambda it: title_of(it) if isinstance(it, dict) else it)
def test_a_server_that_does_something_else_is_not_measured(case, fault, why):
    with pytest.raises(Broken, match=why):
        play(case, [*FAKE, fault])


@needs_lab
@needs_load
@pytest.mark.parametrize(("case", "fault", "why"), [
    (case_of("http_server", "text"), "late wrong content", "an answer is wrong"),
    (case_of("http_server", "sum", at_once=16), "late wrong content", "an answer is wrong"),
    (case_of("http_server", "text", at_once=4), "late status", "status of an answer is not 200"),
    (case_of("websocket", "echo"), "late wrong content", "a message is wrong"),
    (case_of("websocket", "echo"), "late kind", "a frame of another kind"),
    (case_of("websocket", "echo"), "late twice", "more came than was sent|a message is wrong"),
    (case_of("websocket", "hub"), "late wrong content", "a message is wrong"),
    (case_of("tls", "bulk"), "late wrong content", "an answer is wrong"),
    (case_of("tls", "bulk"), "late short content", "another answer"),
    (case_of("tls", "resumed"), "no tickets", "a session was not resumed"),
], ids=lambda it: title_of(it) if isinstance(it, dict) else it)
def test_the_load_sees_what_goes_wrong_later(case, fault, why):
    with pytest.raises(Broken, match=why):
        play(case | {"measured_ms": 500}, [*FAKE, fault])


def test_what_wrk_prints_is_read_whatever_the_status():
    seen = read_wrk("""\
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.50ms    1.00ms   9.00ms   75.00%
     50%    1.20ms
     90%    2.00ms
     99%    3.00ms
  5000 requests in 1.00s, 0.70MB read
Requests/sec:   5000.00
Transfer/sec:      0.70MB
""")

    assert (seen.requests, seen.seconds) == (5000, 1.0)
    assert seen.latency_us == {"mean": 1500, "p50": 1200, "p90": 2000, "p99": 3000}


def built() -> list[tuple[str, str, list[str], int]]:
    try:
        contenders = Build(BUILD).contenders
    except OSError:
        return []
    return [(suite, each.name, list(each.command), threads) for each in contenders
            for suite in each.suites if suite in PROTOCOLS and each.absent is None
            if Path(each.command[0]).is_file() or not each.command[0].startswith("lab_")
            for threads in (1, 2)
            if threads <= (each.threads_max or 2) and (threads == 1 or suite != "websocket")]


def knows(name: str, case: dict) -> bool:
    return name != "nginx" or case["profile"] not in ("sum", "post")


@needs_load
@pytest.mark.parametrize(("suite", "name", "command", "threads"), built(),
                         ids=lambda it: str(it) if not isinstance(it, list) else "")
def test_each_server_of_the_build_does_what_all_have_to(suite, name, command, threads):
    for case in CASES:
        if case["protocol"] == suite and knows(name, case):
            found = play(case | {"threads": threads, "connections": 8}, command)
            assert found["throughput"] > 0
