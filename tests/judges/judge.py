#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Conformance is what others say of us: this runs their suites, and our corpora, and adds up.
"""Lets other people's programs judge servers and clients of HTTP, HTTP/2, TLS and WebSocket.

    judge.py [--role ROLE]... [--subject NAME]... [--references] [--quick] [--cases PATTERN]...
             [--soak SECONDS]

Judges the subjects of subjects.toml that are ours; --references those of others, by which the judges are
judged; --quick leaves out what takes minutes; --soak lets servers stand so many seconds of load, and nothing
else. Prints what has failed, a table, and as its last line `N passed, N failed, N skipped`. Ends with 1 if
something has failed, with 77 if nothing was judged.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import browser_judge
import http1_judge
import http1_peers
import http2_judge
import slow_peers
import soak
import tls_judge
import toolbox
import websocket_judge
from subjects import BUILD, HERE, CannotStart, Subject, fill
from verdicts import FAILED, PASSED, SKIPPED, Row, Section, details, skipped, table, verdict

NOTHING_JUDGED = 77
QUICK_CASES = ("1.*", "2.*", "3.*", "4.*", "5.*", "7.*", "12.1.1", "13.1.1")

Judge = Callable[[Subject, argparse.Namespace], list[Row]]


def judge_slow_peers(subject: Subject, how: argparse.Namespace) -> list[Row]:
    return skipped("--quick") if how.quick else slow_peers.judge(subject)


def soak_of(subject: Subject) -> tuple[tuple[str, Judge], ...]:
    if subject.role not in soak.CROWDS:
        return ()
    return (("soak", lambda subject, how: soak.judge(subject, how.soak)),)


JUDGES: dict[str, tuple[tuple[str, Judge], ...]] = {
    "websocket-server": (
        ("WebSocket suite", lambda subject, how: websocket_judge.judge_server(subject, how.cases)),
        ("browser's WebSocket", lambda subject, how: browser_judge.judge_websocket(subject)),
        ("slow peers", judge_slow_peers)),
    "websocket-client": (
        ("WebSocket suite", lambda subject, how: websocket_judge.judge_client(subject, how.cases)),),
    "http": (
        ("HTTP/1.1 requests", lambda subject, how: http1_judge.judge(subject)),
        ("HTTP/1.1 clients", lambda subject, how: http1_peers.judge_server(subject)),
        ("slow peers", judge_slow_peers)),
    "http-requests": (("HTTP/1.1 requests", lambda subject, how: http1_judge.judge(subject)),),
    "http-client": (("HTTP/1.1 servers", lambda subject, how: http1_peers.judge_client(subject)),),
    "http2": (("HTTP/2", lambda subject, how: http2_judge.judge(subject)),),
    "https": (
        ("TLS", lambda subject, how: tls_judge.judge_server(subject, scanners=not how.quick)),
        ("slow peers", judge_slow_peers)),
    "tls-client": (("TLS", lambda subject, how: tls_judge.judge_client(subject)),),
    "page": (("browser", lambda subject, how: browser_judge.judge_page(subject)),),
    "chat": (("browser", lambda subject, how: browser_judge.judge_chat(subject)),),
}


def read_subjects(kind: str) -> Iterator[Subject]:
    whole = tomllib.loads((HERE / "subjects.toml").read_text(encoding="utf-8"))
    for each in whole.get(kind, []):
        yield Subject(each["name"], each["role"], tuple(each["command"]), each.get("flawed", False),
                      tuple(pattern for pattern in each.get("excused", {})))


def with_tools(subject: Subject) -> Subject:
    """Words such as {python} become the folders of tools, which are got where they are missing."""
    words = {}
    for name in toolbox.BY_NAME:
        if any("{" + name + "}" in word for word in subject.command):
            words[name] = toolbox.get(name)
    return replace(subject, command=tuple(fill(subject.command, **words)))


def judged(title: str, judge: Judge, subject: Subject, how: argparse.Namespace) -> Section:
    begun = time.monotonic()
    try:
        rows = judge(with_tools(subject), how)
    except (toolbox.Missing, CannotStart) as reason:
        ours_fails = isinstance(reason, CannotStart) and how.kind == "ours"
        rows = [verdict("it starts", False, str(reason))] if ours_fails else skipped(str(reason))
    return Section(title, f"{subject.name} ({subject.role})", tuple(rows), time.monotonic() - begun)


def as_reference(section: Section, subject: Subject) -> Section:
    """What a reference says about the judge. A flawed one must fail somewhere; another one fails only where
    it is excused."""
    if all(row.outcome == SKIPPED for row in section.rows):
        return section
    if subject.flawed:
        found = section.count(FAILED)
        rows = (verdict("it is found out", found > 0, f"all {section.count(PASSED)} rows passed"),)
    else:
        rows = tuple(row for row in section.rows if row.outcome != FAILED or not excused(row, subject))
        forgiven = len(section.rows) - len(rows)
        if forgiven:
            rows += (Row("*", PASSED, said=f"{forgiven} rows are excused"),)
    return Section(section.judge, section.subject, rows, section.seconds)


def excused(row: Row, subject: Subject) -> bool:
    return any(fnmatch.fnmatchcase(row.name, pattern) for pattern in subject.excused)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--role", action="append", choices=sorted(JUDGES))
    parser.add_argument("--subject", action="append", metavar="NAME")
    parser.add_argument("--references", action="store_true", help="judge those of others, and so the judges")
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--cases", action="append", metavar="PATTERN", help="of the WebSocket suite")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help="nothing but load, among broken peers")
    how = parser.parse_args(arguments)
    how.kind = "reference" if how.references else "ours"
    how.cases = how.cases or (QUICK_CASES if how.quick else ("*",))
    return how


def main(arguments: Sequence[str]) -> int:
    how = parse(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    sections = []
    for subject in read_subjects(how.kind):
        if (how.role and subject.role not in how.role) or (how.subject and subject.name not in how.subject):
            continue
        for title, judge in soak_of(subject) if how.soak else JUDGES[subject.role]:
            section = judged(title, judge, subject, how)
            if how.references:
                section = as_reference(section, subject)
            sections.append(section)
            print(f"==> {section.judge}: {section.subject}", *details(section), sep="\n", flush=True)

    passed, failed, left_out = (sum(each.count(outcome) for each in sections)
                                for outcome in (PASSED, FAILED, SKIPPED))
    print(f"\n{table(sections)}\n\n{passed} passed, {failed} failed, {left_out} skipped")
    if failed:
        return 1
    return 0 if passed else NOTHING_JUDGED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
