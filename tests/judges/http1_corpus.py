# SPDX-License-Identifier: BSL-1.0
#
# What HTTP/1.1 forbids a peer to send, and what it allows though few do. Smuggling starts where two readers
# disagree about one of these, so each has one right answer, and the clause that says so.
"""Requests that are malformed, ambiguous, or merely unusual, with what a strict server makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# A server that takes it for a request of its own, when it should not, answers once more.
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
LONG = 1 << 20

REFUSED = frozenset(range(400, 500))
TOO_LONG = frozenset({400, 413, 414, 431})
NOT_IMPLEMENTED = frozenset({400, 501})


@dataclass(frozen=True)
class Case:
    """`answers` is how many requests a strict server finds; 0 if it refuses the first and closes.
    `statuses` are those of a refusal; empty where closing without a word is as right."""

    name: str
    clause: str
    sent: bytes
    answers: int = 0
    statuses: frozenset[int] = REFUSED
    silent: bool = False   # May close without an answer.
    closes: bool = False   # Must close although all was answered.
    half: bool = False     # The client says no more after this.
    lenient: bool = False  # The clause lets a server read it as meant: `answers_if_lenient` requests.
    answers_if_lenient: int = 0


def request(line: bytes = b"GET / HTTP/1.1", fields: bytes = b"Host: a\r\n", body: bytes = b"") -> bytes:
    return line + b"\r\n" + fields + b"\r\n" + body


def post(fields: bytes, body: bytes) -> bytes:
    return request(b"POST / HTTP/1.1", b"Host: a\r\n" + fields, body)


def chunked(body: bytes, fields: bytes = b"Transfer-Encoding: chunked\r\n") -> bytes:
    return post(fields, body)


def request_lines() -> Iterator[Case]:
    for name, line in (
        ("a space in the target", b"GET /a b HTTP/1.1"),
        ("no target", b"GET HTTP/1.1"),
        ("a carriage return in the target", b"GET /\ra HTTP/1.1"),
        ("a null byte in the target", b"GET /\0a HTTP/1.1"),
        ("a control character in the target", b"GET /\x01a HTTP/1.1"),
    ):
        yield Case(f"line: {name}", "RFC 9112, 3", request(line))
    for name, line in (("two spaces before the target", b"GET  / HTTP/1.1"),
                       ("two spaces before the version", b"GET /  HTTP/1.1"),
                       ("a tab for a space", b"GET\t/ HTTP/1.1"),
                       ("a space before the method", b" GET / HTTP/1.1"),
                       ("a space behind the version", b"GET / HTTP/1.1 ")):
        yield Case(f"line: {name}", "RFC 9112, 3", request(line), lenient=True, answers_if_lenient=1)
    for name, method in (("an empty method", b""), ("a method with a colon", b"GE:T"),
                         ("a method with a null byte", b"GE\0T"), ("a method in brackets", b"(GET)"),
                         ("a method of another alphabet", b"GE\xc3\x89")):
        yield Case(f"line: {name}", "RFC 9110, 9.1", request(method + b" / HTTP/1.1"),
                   statuses=REFUSED | {501})
    for name, version in (("no version", b""), ("a version in small letters", b"http/1.1"),
                          ("a version without a dot", b"HTTP/11"), ("a version of two digits", b"HTTP/1.10"),
                          ("a version with a sign", b"HTTP/+1.1"),
                          ("a version of another protocol", b"HTTQ/1.1"),
                          ("a version in words", b"HTTP/one"), ("a version that is cut", b"HTTP/1.")):
        yield Case(f"line: {name}", "RFC 9112, 2.3", request(b"GET / " + version), statuses=REFUSED | {505})
    yield Case("line: version 3.0", "RFC 9110, 2.5", request(b"GET / HTTP/3.0"), statuses=REFUSED | {505})
    yield Case("line: a higher minor version", "RFC 9110, 2.5", request(b"GET / HTTP/1.2"),
               statuses=REFUSED | {505}, lenient=True, answers_if_lenient=1)
    yield Case("line: a target without a slash", "RFC 9112, 3.2", request(b"GET a HTTP/1.1"))
    yield Case("line: a fragment in the target", "RFC 9112, 3.2.1", request(b"GET /#a HTTP/1.1"),
               lenient=True, answers_if_lenient=1)
    yield Case("line: an asterisk that is no OPTIONS", "RFC 9112, 3.2.4", request(b"GET * HTTP/1.1"))
    yield Case("line: CONNECT to a path", "RFC 9112, 3.2.3", request(b"CONNECT / HTTP/1.1"),
               statuses=REFUSED | {501}, silent=True)
    yield Case("line: a target of 1 MiB", "RFC 9112, 3", request(b"GET /" + b"a" * LONG + b" HTTP/1.1"),
               statuses=TOO_LONG, silent=True)
    yield Case("line: a method of 1 MiB", "RFC 9112, 3", request(b"G" * LONG + b" / HTTP/1.1"),
               statuses=TOO_LONG | {405, 501}, silent=True)
    yield Case("line: only line feeds end lines", "RFC 9112, 2.2", b"GET / HTTP/1.1\nHost: a\n\n",
               lenient=True, answers_if_lenient=1)
    yield Case("line: only carriage returns end lines", "RFC 9112, 2.2", b"GET / HTTP/1.1\rHost: a\r\r",
               silent=True, half=True)
    yield Case("line: bytes that are no HTTP", "RFC 9112, 2.2", bytes(range(128, 256)) + b"\r\n\r\n",
               statuses=REFUSED | {501, 505})
    yield Case("line: the beginning of TLS", "RFC 9112, 2.2",
               b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(64) + b"\r\n\r\n", silent=True)
    yield Case("line: the preface of HTTP/2", "RFC 9112, 2.3", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
               statuses=REFUSED | {505}, silent=True)


def fields() -> Iterator[Case]:
    for name, clause, field in (
        ("a space before the colon", "RFC 9112, 5.1", b"A : b"),
        ("a tab before the colon", "RFC 9112, 5.1", b"A\t: b"),
        ("an empty name", "RFC 9110, 5.1", b": b"),
        ("no colon", "RFC 9112, 5", b"Ab"),
        ("a space in the name", "RFC 9110, 5.1", b"A b: c"),
        ("a null byte in the name", "RFC 9110, 5.1", b"A\0b: c"),
        ("a bracket in the name", "RFC 9110, 5.1", b"A(b): c"),
        ("a byte above 127 in the name", "RFC 9110, 5.1", b"\xc3\x84: c"),
        ("a null byte in the value", "RFC 9110, 5.5", b"A: b\0c"),
        ("a carriage return in the value", "RFC 9112, 2.2", b"A: b\rc"),
        ("a carriage return that ends a name", "RFC 9112, 2.2", b"A: b\rContent-Length: 5"),
        ("a control character in the value", "RFC 9110, 5.5", b"A: b\x01c"),
        ("DEL in the value", "RFC 9110, 5.5", b"A: b\x7fc"),
    ):
        # 5.5 lets a recipient keep such characters where no harm is possible; a strict one refuses.
        yield Case(f"field: {name}", clause, request(fields=b"Host: a\r\n" + field + b"\r\n"))
    yield Case("field: a line that is folded", "RFC 9112, 5.2", request(fields=b"Host: a\r\nA: b\r\n c\r\n"))
    yield Case("field: a line that is folded by a tab", "RFC 9112, 5.2",
               request(fields=b"Host: a\r\nA: b\r\n\tc\r\n"))
    yield Case("field: space before the first field", "RFC 9112, 2.2",
               request(fields=b" Host: a\r\nHost: a\r\n"))
    yield Case("field: one that ends in a line feed", "RFC 9112, 2.2",
               b"GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n", lenient=True, answers_if_lenient=1)
    yield Case("field: an end that is a line feed", "RFC 9112, 2.2", b"GET / HTTP/1.1\r\nHost: a\r\n\n",
               lenient=True, answers_if_lenient=1)
    yield Case("field: a value of 1 MiB", "RFC 9110, 5.4",
               request(fields=b"Host: a\r\nA: " + b"b" * LONG + b"\r\n"),
               statuses=TOO_LONG, silent=True)
    yield Case("field: a name of 1 MiB", "RFC 9110, 5.4",
               request(fields=b"Host: a\r\n" + b"b" * LONG + b": c\r\n"),
               statuses=TOO_LONG, silent=True)
    yield Case("field: 100,000 of them", "RFC 9110, 5.4",
               request(fields=b"Host: a\r\n" + b"A: b\r\n" * 100_000),
               statuses=TOO_LONG, silent=True)


def hosts() -> Iterator[Case]:
    clause = "RFC 9112, 3.2"
    yield Case("host: none", clause, request(fields=b""))
    yield Case("host: two that differ", clause, request(fields=b"Host: a\r\nHost: b\r\n"))
    yield Case("host: two that agree", clause, request(fields=b"Host: a\r\nHost: a\r\n"))
    for name, value in (("a space", b"a b"), ("a path", b"a/b"), ("a user", b"a@b"), ("two", b"a, b"),
                        ("a port that is none", b"a:b")):
        yield Case(f"host: {name}", clause, request(fields=b"Host: " + value + b"\r\n"))


def lengths() -> Iterator[Case]:
    clause = "RFC 9112, 6.3"
    for name, value in (("a sign", b"+5"), ("a minus", b"-5"), ("hexadecimal", b"0x5"),
                        ("a fraction", b"5.0"),
                        ("a word", b"five"), ("two numbers", b"5 5"), ("empty", b""), ("an exponent", b"5e0"),
                        ("an underscore", b"1_0"), ("64 bits and more", b"18446744073709551621"),
                        ("a hundred digits", b"9" * 100), ("quotes", b'"5"'),
                        ("a list that differs", b"5, 6"),
                        ("a semicolon", b"5;a"), ("a full-width digit", b"\xef\xbc\x95"),
                        ("a vertical tab", b"\x0b5"), ("a null byte behind", b"5\0")):
        yield Case(f"length: {name}", clause, post(b"Content-Length: " + value + b"\r\n", b"hello"),
                   statuses=REFUSED)
    yield Case("length: two that differ", clause,
               post(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello") + SMUGGLED)
    yield Case("length: two that agree", clause,
               post(b"Content-Length: 5\r\nContent-Length: 5\r\n", b"hello"),
               lenient=True, answers_if_lenient=1)
    yield Case("length: a list that agrees", clause, post(b"Content-Length: 5, 5\r\n", b"hello"),
               lenient=True, answers_if_lenient=1)
    yield Case("length: with a coding, length last", "RFC 9112, 6.1",
               chunked(b"0\r\n\r\n" + SMUGGLED, b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"))
    yield Case("length: with a coding, length first", "RFC 9112, 6.1",
               chunked(b"0\r\n\r\n" + SMUGGLED, b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"))
    yield Case("length: a body that ends early", "RFC 9112, 8", post(b"Content-Length: 50\r\n", b"hello"),
               half=True, silent=True)


def codings() -> Iterator[Case]:
    clause = "RFC 9112, 6.1"
    empty = b"0\r\n\r\n"
    for name, value in (("a space before the colon", b"Transfer-Encoding : chunked"),
                        ("chunked is not last", b"Transfer-Encoding: chunked, identity"),
                        ("chunked twice", b"Transfer-Encoding: chunked, chunked"),
                        ("chunked twice in two fields",
                         b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
                        ("a word like chunked", b"Transfer-Encoding: xchunked"),
                        ("chunked and more", b"Transfer-Encoding: chunkedx"),
                        ("chunked in quotes", b'Transfer-Encoding: "chunked"'),
                        ("chunked with a parameter", b"Transfer-Encoding: chunked;a=b"),
                        ("a vertical tab", b"Transfer-Encoding: \x0bchunked"),
                        ("a null byte", b"Transfer-Encoding: chunked\0"),
                        ("folded", b"Transfer-Encoding:\r\n chunked"),
                        ("identity", b"Transfer-Encoding: identity"),
                        ("empty", b"Transfer-Encoding:"),
                        ("one that nobody knows", b"Transfer-Encoding: zebra"),
                        ("one that nobody knows, then chunked", b"Transfer-Encoding: zebra, chunked")):
        yield Case(f"coding: {name}", clause, post(value + b"\r\n", empty + SMUGGLED),
                   statuses=REFUSED | NOT_IMPLEMENTED)
    yield Case("coding: in HTTP/1.0", clause,
               request(b"POST / HTTP/1.0", b"Host: a\r\nTransfer-Encoding: chunked\r\n", empty + SMUGGLED),
               closes=True, lenient=True, answers_if_lenient=1)


def chunks() -> Iterator[Case]:
    clause = "RFC 9112, 7.1"
    for name, body in (("a size that is no number", b"z\r\nhello\r\n0\r\n\r\n"),
                       ("a size with a sign", b"+5\r\nhello\r\n0\r\n\r\n"),
                       ("a negative size", b"-5\r\nhello\r\n0\r\n\r\n"),
                       ("a size with 0x", b"0x5\r\nhello\r\n0\r\n\r\n"),
                       ("a size with an underscore", b"0_5\r\nhello\r\n0\r\n\r\n"),
                       ("a space before the size", b" 5\r\nhello\r\n0\r\n\r\n"),
                       ("no size", b"\r\nhello\r\n0\r\n\r\n"),
                       ("a size of 65 bits", b"10000000000000005\r\nhello\r\n0\r\n\r\n"),
                       ("a size of nearly 64 bits", b"fffffffffffffffb\r\nhello\r\n0\r\n\r\n"),
                       ("too much data", b"5\r\nhello!\r\n0\r\n\r\n"),
                       ("too little data", b"5\r\nhell\r\n0\r\n\r\n"),
                       ("no end of line behind the data", b"5\r\nhello0\r\n\r\n"),
                       ("a carriage return in the size's line", b"5\rhello\r\n0\r\n\r\n"),
                       ("a null byte behind the size", b"5\0\r\nhello\r\n0\r\n\r\n"),
                       ("a carriage return in an extension", b"5;a\rb\r\nhello\r\n0\r\n\r\n"),
                       ("an extension of 1 MiB", b"5;" + b"a" * LONG + b"\r\nhello\r\n0\r\n\r\n"),
                       ("a trailer without a colon", b"0\r\nab\r\n\r\n"),
                       ("a trailer with a space in its name", b"0\r\na b: c\r\n\r\n"),
                       ("a trailer with a null byte", b"0\r\na: b\0c\r\n\r\n"),
                       ("a trailer of 1 MiB", b"0\r\na: " + b"b" * LONG + b"\r\n\r\n")):
        yield Case(f"chunk: {name}", clause, chunked(body), statuses=REFUSED, silent=True)
    for name, body in (("a line feed ends the size", b"5\nhello\r\n0\r\n\r\n"),
                       ("a line feed ends the data", b"5\r\nhello\n0\r\n\r\n"),
                       ("line feeds end all", b"5\nhello\n0\n\n"),
                       ("a line feed ends an extension", b"5;a\nhello\r\n0\r\n\r\n"),
                       ("a space behind the size", b"5 \r\nhello\r\n0\r\n\r\n")):
        # Lenient readers have been smuggled past by exactly these; 2.2 excuses line feeds in heads only.
        yield Case(f"chunk: {name}", clause, chunked(body), silent=True)
    yield Case("chunk: sizes that end early", "RFC 9112, 8", chunked(b"5\r\nhello\r\n"),
               half=True, silent=True)


def legal() -> Iterator[Case]:
    """What must be answered; a server that refuses everything is safe, and of no use."""
    ordinary = request()
    yield Case("legal: a request", "RFC 9112, 3", ordinary, 1)
    yield Case("legal: two in a row", "RFC 9112, 9.3.2", ordinary * 2, 2)
    yield Case("legal: an empty line before", "RFC 9112, 2.2", b"\r\n" + ordinary, 1)
    yield Case("legal: space around a value", "RFC 9112, 5.1", request(fields=b"Host: a\r\nA:\t b \t\r\n"), 1)
    yield Case("legal: an empty value", "RFC 9110, 5.5", request(fields=b"Host: a\r\nA:\r\n"), 1)
    yield Case("legal: bytes above 127 in a value", "RFC 9110, 5.5",
               request(fields=b"Host: a\r\nA: \xc3\xa4\xff\r\n"), 1)
    yield Case("legal: names in any case", "RFC 9110, 5.1", request(fields=b"hOsT: a\r\n"), 1)
    yield Case("legal: an empty host", "RFC 9110, 7.2", request(fields=b"Host:\r\n"), 1)
    yield Case("legal: a host with a port", "RFC 9110, 7.2", request(fields=b"Host: [::1]:80\r\n"), 1)
    yield Case("legal: an absolute target", "RFC 9112, 3.2.2", request(b"GET http://a/ HTTP/1.1"), 1)
    yield Case("legal: a query", "RFC 9112, 3.2.1", request(b"GET /?a=b&c=%20 HTTP/1.1"), 1)
    yield Case("legal: a body", "RFC 9112, 6.2", post(b"Content-Length: 5\r\n", b"hello") + ordinary, 2)
    yield Case("legal: zeros before a length", "RFC 9110, 8.6",
               post(b"Content-Length: 0005\r\n", b"hello") + ordinary, 2)
    yield Case("legal: chunks", "RFC 9112, 7.1", chunked(b"5\r\nhello\r\n0\r\n\r\n") + ordinary, 2)
    yield Case("legal: a coding in any case", "RFC 9112, 7",
               chunked(b"0\r\n\r\n", b"Transfer-Encoding: Chunked\r\n") + ordinary, 2)
    yield Case("legal: sizes in any case, with zeros", "RFC 9112, 7.1",
               chunked(b"00A\r\nhellohello\r\na\r\nhellohello\r\n000\r\n\r\n") + ordinary, 2)
    yield Case("legal: extensions of chunks", "RFC 9112, 7.1.1",
               chunked(b'5;a=b;c="d"\r\nhello\r\n0;e\r\n\r\n') + ordinary, 2)
    yield Case("legal: trailers", "RFC 9112, 7.1.2",
               chunked(b"5\r\nhello\r\n0\r\nA: b\r\n\r\n") + ordinary, 2)
    yield Case("legal: a body of GET is no request", "RFC 9110, 9.3.1",
               request(fields=b"Host: a\r\nContent-Length: %d\r\n" % len(SMUGGLED), body=SMUGGLED), 1)
    yield Case("legal: HEAD has no body", "RFC 9110, 9.3.2", request(b"HEAD / HTTP/1.1") + ordinary, 2)
    yield Case("legal: OPTIONS of the server", "RFC 9112, 3.2.4", request(b"OPTIONS * HTTP/1.1"), 1)
    yield Case("legal: an end that is asked for", "RFC 9112, 9.6",
               request(fields=b"Host: a\r\nConnection: close\r\n") + SMUGGLED, 1, closes=True)
    yield Case("legal: HTTP/1.0 ends", "RFC 9112, 9.3", request(b"GET / HTTP/1.0", b"") + SMUGGLED, 1,
               closes=True)
    yield Case("legal: a hundred in a row", "RFC 9112, 9.3.2", ordinary * 100, 100)
    yield Case("legal: an upgrade that nobody wants", "RFC 9110, 7.8",
               request(fields=b"Host: a\r\nConnection: Upgrade\r\nUpgrade: zebra/1\r\n") + ordinary, 2)
    yield Case("legal: an expectation that is met", "RFC 9110, 10.1.1",
               post(b"Content-Length: 5\r\nExpect: 100-continue\r\n", b"hello"), 1)


PARTS = (request_lines, fields, hosts, lengths, codings, chunks, legal)
CORPUS = tuple(case for part in PARTS for case in part())
