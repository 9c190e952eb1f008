# SPDX-License-Identifier: BSL-1.0
#
# A server that answers a malformed request is one half of an attack; the other half reads it otherwise.
"""Sends http1_corpus.py to any server over plain sockets, and counts what comes back."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from dataclasses import dataclass

from http1_corpus import CORPUS, Case
from subjects import HOST, Subject, accepts, serving
from verdicts import Row, verdict

SECONDS_MAX = 5.0        # For a server that must close, or answer.
QUIET_SECONDS = 0.3      # After the last answer that is due: is there one too many?
PIECE = 1 << 16

STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?\r\n")


@dataclass(frozen=True)
class Answer:
    status: int
    last: bool  # It says that no other one follows.


class Broken(Exception):
    """The server's own bytes are no HTTP."""


def field(head: bytes, name: bytes) -> bytes | None:
    found = re.search(rb"\r\n" + name + rb":[ \t]*([^\r\n]*)", head, re.IGNORECASE)
    return found[1].strip() if found else None


def body_size(head: bytes, rest: bytes, status: int, to_head: bool, ended: bool) -> int | None:
    """Bytes of the body in `rest`; None while there are not enough."""
    if to_head or status < 200 or status in (204, 304):
        return 0
    if (field(head, b"transfer-encoding") or b"").lower() == b"chunked":
        at = 0
        while (line := rest.find(b"\r\n", at)) >= 0:
            size = int(rest[at:line].split(b";")[0], 16)
            if size == 0:
                end = rest.find(b"\r\n\r\n", line)
                return None if end < 0 else end + 4
            at = line + 2 + size + 2
        return None
    length = field(head, b"content-length")
    if length is None:
        return len(rest) if ended else None
    return int(length) if len(rest) >= int(length) else None


def read_answers(data: bytes, methods: list[bytes], ended: bool) -> list[Answer]:
    """All final answers that are whole; raises Broken at what is none."""
    answers: list[Answer] = []
    while data:
        end = data.find(b"\r\n\r\n")
        if end < 0:
            if ended or (not b"HTTP/1.".startswith(data[:7]) and not data.startswith(b"HTTP/1.")):
                raise Broken(f"not an answer: {data[:60]!r}")
            break
        head, rest = data[:end + 2], data[end + 4:]
        line = STATUS_LINE.match(head)
        if line is None:
            raise Broken(f"not an answer: {data[:60]!r}")
        status = int(line[1])
        to_head = len(answers) < len(methods) and methods[len(answers)] == b"HEAD"
        size = body_size(head, rest, status, to_head, ended)
        if size is None:
            break
        data = rest[size:]
        if status >= 200:
            closing = b"close" in (field(head, b"connection") or b"").lower()
            answers.append(Answer(status, closing))
    return answers


@dataclass
class Exchange:
    """What one connection brought."""

    answers: list[Answer]
    closed: bool
    broken: str = ""

    def __str__(self) -> str:
        statuses = " ".join(str(each.status) for each in self.answers[:5]) or "no answer"
        more = f" and {len(self.answers) - 5} more" if len(self.answers) > 5 else ""
        end = "closed" if self.closed else "left open"
        return f"{statuses}{more}, {end}{'; ' + self.broken if self.broken else ''}"


def send_all(connection: socket.socket, data: bytes, step: int | None, half: bool) -> None:
    """From a thread of its own: a server may refuse, and read no more."""
    try:
        for at in range(0, len(data), step or PIECE):
            connection.sendall(data[at:at + (step or PIECE)])
            if step:
                time.sleep(0)
        if half:
            connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def exchange(port: int, case: Case, step: int | None = None) -> Exchange:
    lines = re.findall(rb"(?:HEAD|GET|POST) [^\r\n]* HTTP", case.sent[:4096])
    methods = [line.split(b" ")[0] for line in lines]
    found = Exchange([], False)
    with socket.create_connection((HOST, port), SECONDS_MAX) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sender = threading.Thread(target=send_all, args=(connection, case.sent, step, case.half))
        sender.start()
        data, deadline = b"", time.monotonic() + SECONDS_MAX
        while not found.closed and (left := deadline - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                piece = connection.recv(PIECE)
            except TimeoutError:
                break
            except OSError:
                piece = b""  # A reset: the server closed with our bytes unread.
            data += piece
            found.closed = not piece
            try:
                found.answers = read_answers(data, methods, found.closed)
            except (Broken, ValueError) as broken:
                found.broken = str(broken)
                break
            if len(found.answers) >= max(case.answers, 1) and not found.closed:
                patience = SECONDS_MAX if may_close(case, found) else QUIET_SECONDS
                deadline = min(deadline, time.monotonic() + patience)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        sender.join()
    return found


def may_close(case: Case, found: Exchange) -> bool:
    """Is it worth waiting for? Who has served what he had to refuse is wrong already."""
    return case.closes or (case.answers == 0 and found.answers[0].status >= 400)


def is_right(case: Case, found: Exchange) -> bool:
    if found.broken:
        return False
    statuses = [each.status for each in found.answers]
    if case.answers:
        served = len(statuses) == case.answers and all(each < 400 or each in (404, 405) for each in statuses)
        return served and (found.closed or not case.closes)
    if case.lenient and len(statuses) == case.answers_if_lenient and statuses[0] < 400:
        return found.closed or not case.closes
    if not statuses:
        return found.closed and case.silent
    return len(statuses) == 1 and statuses[0] in case.statuses and found.closed


def wanted(case: Case) -> str:
    if case.answers:
        return f"{case.answers} answered{' and closed' if case.closes else ''}"
    return "refused and closed" + (", or read as meant" if case.lenient else "")


def judge(subject: Subject, pieces: tuple[int | None, ...] = (None, 1)) -> list[Row]:
    """Each case as it is, then byte by byte: a reader must not depend on how its input is cut."""
    rows = []
    with serving(subject) as server:
        for case in CORPUS:
            for step in pieces:
                if step and len(case.sent) > 4096:
                    continue
                found = exchange(server.port, case, step)
                name = case.name + (" (byte by byte)" if step else "")
                said = f"{found}; wanted: {wanted(case)}"
                rows.append(verdict(name, is_right(case, found), said, case.clause))
                if not server.alive():
                    rows.append(verdict(f"the server outlives `{name}`", False, "it has ended", case.clause))
                    return rows
        rows.append(verdict("the server still serves", accepts(server.port), "it does not accept"))
    return rows
