# SPDX-License-Identifier: BSL-1.0
#
# What tlsfuzzer's scripts are for, written anew over sockets and tlslite-ng: no registry has tlsfuzzer.
"""Holds conversations with a TLS server of HTTP that no honest client would.

    tls_adversary.py PORT

For each a line: name, clause, outcome, what was seen; tab between them. Alerts are judged by their number.
"""

from __future__ import annotations

import os
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tlslite.api import HandshakeSettings, TLSConnection
from tlslite.errors import TLSAbruptCloseError, TLSRemoteAlert

HOST = "127.0.0.1"
SECONDS_MAX = 4.0
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

ALERT, HANDSHAKE, DATA, CHANGE_CIPHER = 21, 22, 23, 20
UNEXPECTED, BAD_MAC, OVERFLOW, FAILURE, ILLEGAL, DECODE = 10, 20, 22, 40, 47, 50
DECRYPT, VERSION, FALLBACK, NO_RENEGOTIATION, MISSING, NO_PROTOCOL = 51, 70, 86, 100, 109, 120

SUITES_13 = (0x1301, 0x1302, 0x1303)
SUITES_12 = (0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8)
GREASE = 0x8A8A


# ---------------------------------------------------------------------------------------------
# Bytes of a ClientHello
# ---------------------------------------------------------------------------------------------

def block(size: int, data: bytes) -> bytes:
    return len(data).to_bytes(size, "big") + data


def words(values: tuple[int, ...]) -> bytes:
    return struct.pack(f">{len(values)}H", *values)


def record(kind: int, data: bytes, version: int = 0x0301) -> bytes:
    return struct.pack(">BHH", kind, version, len(data)) + data


def handshake(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + block(3, body)


def extensions_12() -> dict[int, bytes]:
    return {0: block(2, b"\0" + block(2, b"localhost")), 10: block(2, words((0x001D, 0x0017))),
            11: block(1, b"\0"), 23: b"",
            13: block(2, words((0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0806)))}


def extensions_13(share: bytes | None = None) -> dict[int, bytes]:
    key = os.urandom(32) if share is None else share
    return extensions_12() | {43: block(1, words((0x0304,))), 45: block(1, b"\1"),
                              51: block(2, words((0x001D,)) + block(2, key))}


def listed(extensions: dict[int, bytes]) -> bytes:
    return b"".join(words((kind,)) + block(2, data) for kind, data in extensions.items())


def hello_body(suites: tuple[int, ...], extensions: bytes, version: int = 0x0303, compression: bytes = b"\0",
               session: bytes = b"") -> bytes:
    return (words((version,)) + os.urandom(32) + block(1, session) + block(2, words(suites))
            + block(1, compression) + block(2, extensions))


def hello(suites: tuple[int, ...], extensions: dict[int, bytes], **how) -> bytes:
    return record(HANDSHAKE, handshake(1, hello_body(suites, listed(extensions), **how)))


def hello_12(**how) -> bytes:
    return hello(SUITES_12, extensions_12(), **how)


def hello_13(**how) -> bytes:
    return hello(SUITES_13, extensions_13(), session=os.urandom(32), **how)


def without(extensions: dict[int, bytes], kind: int) -> dict[int, bytes]:
    return {each: data for each, data in extensions.items() if each != kind}


# ---------------------------------------------------------------------------------------------
# First flights: what comes back from plain bytes
# ---------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Reply:
    """`hello` is the version that the server chose; 0 if it did not come to that."""

    hello: int = 0
    alert: int | None = None
    closed: bool = False

    def __str__(self) -> str:
        parts = [f"ServerHello {self.hello:#06x}"] if self.hello else []
        parts += [f"alert {self.alert}"] if self.alert is not None else []
        parts += ["closed" if self.closed else "left open"]
        return ", ".join(parts)


def chosen_version(body: bytes) -> int:
    """Of a ServerHello: in supported_versions, or else in its old place."""
    at = 2 + 32 + 1 + body[34] + 2 + 1 + 2
    while at + 6 <= len(body):
        kind, size = struct.unpack(">HH", body[at:at + 4])
        if kind == 43:
            return struct.unpack(">H", body[at + 4:at + 6])[0]
        at += 4 + size
    return struct.unpack(">H", body[:2])[0]


def read_reply(data: bytes, closed: bool) -> Reply:
    version, alert = 0, None
    while len(data) >= 5:
        kind, _, size = struct.unpack(">BHH", data[:5])
        body, data = data[5:5 + size], data[5 + size:]
        if len(body) < size:
            break
        if kind == ALERT and size == 2:
            alert = body[1]
        if kind == HANDSHAKE and not version and body[0] == 2:
            version = chosen_version(body[4:])
    return Reply(version, alert, closed)


def first_flight(port: int, pieces: list[bytes], pause: float = 0.0) -> Reply:
    data, closed = b"", False
    with socket.create_connection((HOST, port), SECONDS_MAX) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadline = time.monotonic() + SECONDS_MAX
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        except OSError:
            pass  # It has refused already; what it said is read below.
        while not closed and (left := deadline - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                piece = connection.recv(1 << 16)
            except TimeoutError:
                break
            except OSError:
                piece = b""
            closed = not piece
            data += piece
            if (reply := read_reply(data, closed)).hello:
                return reply
    return read_reply(data, closed)


@dataclass(frozen=True)
class Flight:
    """`hello` is the version that the server must choose. Without one it must refuse: with one of `alerts`,
    or by closing without a word where `silent`."""

    name: str
    clause: str
    pieces: list[bytes]
    hello: int = 0
    alerts: tuple[int, ...] = ()
    silent: bool = False
    pause: float = 0.0


def judge_flight(port: int, flight: Flight) -> tuple[bool, str]:
    reply = first_flight(port, flight.pieces, flight.pause)
    if flight.hello:
        return reply.hello == flight.hello, str(reply)
    refused = not reply.hello and reply.closed
    told = reply.alert in flight.alerts if reply.alert is not None else flight.silent
    return refused and told, f"{reply}; wanted: {' or '.join(f'alert {each}' for each in flight.alerts)}" \
                             f"{' or nothing' if flight.silent else ''}, closed"


def refused_suite(name: str, suite: int) -> Flight:
    return Flight(f"only {name}", "RFC 9325, 4.1", [hello((suite,), extensions_12())], alerts=(FAILURE,))


def flights() -> list[Flight]:
    twelve, thirteen = extensions_12(), extensions_13()
    body = hello_body(SUITES_12, listed(twelve))
    long_body = hello_body(SUITES_12, listed(twelve) + b"\0")
    cut = hello_13()
    return [
        Flight("TLS 1.2", "RFC 5246, 7.4.1.2", [hello_12()], hello=0x0303),
        Flight("TLS 1.3", "RFC 8446, 4.1.2", [hello_13()], hello=0x0304),
        Flight("one byte a record", "RFC 8446, 5.1",
               [b"".join(record(HANDSHAKE, bytes([each])) for each in handshake(1, body))], hello=0x0303),
        Flight("cut in three writes", "RFC 8446, 5.1", [cut[:3], cut[3:60], cut[60:]], hello=0x0304,
               pause=0.2),
        Flight("values that nobody knows", "RFC 8701, 4",
               [hello((GREASE, *SUITES_13), {GREASE: b""} | thirteen
                      | {43: block(1, words((GREASE, 0x0304)))})], hello=0x0304),
        Flight("a version of the future, the old way", "RFC 8446, 4.2.1",
               [hello(SUITES_12, twelve, version=0x0304)], hello=0x0303),
        Flight("a fallback that is none of ours", "RFC 7507, 3", [hello((*SUITES_12, 0x5600), twelve)],
               alerts=(FALLBACK,)),
        Flight("SSL 2", "RFC 6176, 3", [b"\x80\x2e\1\0\2\0\x15\0\0\0\x10" + bytes(37)],
               alerts=(VERSION, FAILURE, UNEXPECTED, DECODE), silent=True),
        Flight("SSL 3", "RFC 7568, 3", [hello((0x002F, 0x0035), {}, version=0x0300)],
               alerts=(VERSION, FAILURE), silent=True),
        Flight("TLS 1.0", "RFC 8996, 4", [hello((0xC009, 0xC013, 0x002F), twelve, version=0x0301)],
               alerts=(VERSION,)),
        Flight("TLS 1.1", "RFC 8996, 5", [hello((0xC009, 0xC013, 0x002F), twelve, version=0x0302)],
               alerts=(VERSION,)),
        refused_suite("a cipher that hides nothing", 0x0002), refused_suite("an export cipher", 0x0003),
        refused_suite("RC4", 0xC007), refused_suite("DES", 0x0009), refused_suite("triple DES", 0xC008),
        refused_suite("an anonymous cipher", 0xC018), refused_suite("a cipher that nobody knows", 0xFEFE),
        Flight("no null compression", "RFC 5246, 7.4.1.2", [hello_12(compression=b"\1")],
               alerts=(ILLEGAL, DECODE)),
        Flight("compression in TLS 1.3", "RFC 8446, 4.1.2", [hello_13(compression=b"\1\0")],
               alerts=(ILLEGAL,)),
        Flight("a record of type 99", "RFC 8446, 5", [record(99, handshake(1, body))],
               alerts=(UNEXPECTED,), silent=True),
        Flight("a record of 17 KiB", "RFC 8446, 5.1", [record(HANDSHAKE, handshake(1, bytes(17000)))],
               alerts=(OVERFLOW, UNEXPECTED, DECODE, ILLEGAL), silent=True),
        Flight("data before the handshake", "RFC 8446, 5", [record(DATA, b"hello")], alerts=(UNEXPECTED,),
               silent=True),
        Flight("HTTP", "RFC 8446, 5.1", [REQUEST],
               alerts=(UNEXPECTED, VERSION, OVERFLOW, DECODE), silent=True),
        Flight("5,000 handshake records without bytes", "RFC 8446, 5.1", [record(HANDSHAKE, b"") * 5000],
               alerts=(UNEXPECTED, DECODE), silent=True),
        Flight("an alert of one byte", "RFC 8446, 6", [record(ALERT, b"\2")], alerts=(UNEXPECTED, DECODE),
               silent=True),
        Flight("a hello that is cut", "RFC 8446, 6.2", [record(HANDSHAKE, handshake(1, body[:-5]))],
               alerts=(DECODE,)),
        Flight("a hello with a byte too many", "RFC 8446, 4.2", [record(HANDSHAKE, handshake(1, long_body))],
               alerts=(DECODE,)),
        Flight("a hello without suites", "RFC 8446, 4.1.2", [hello((), twelve)],
               alerts=(ILLEGAL, DECODE, FAILURE)),
        Flight("an extension twice", "RFC 8446, 4.2",
               [record(HANDSHAKE, handshake(1, hello_body(SUITES_12, listed(twelve) * 2)))],
               alerts=(ILLEGAL, DECODE)),
        Flight("a key share that is too short", "RFC 8446, 4.2.8.2",
               [hello(SUITES_13, extensions_13(bytes(range(31))))], alerts=(ILLEGAL, DECODE)),
        Flight("a key share of zeros", "RFC 8446, 7.4.2", [hello(SUITES_13, extensions_13(bytes(32)))],
               alerts=(ILLEGAL,)),
        Flight("no groups in TLS 1.3", "RFC 8446, 9.2", [hello(SUITES_13, without(thirteen, 10))],
               alerts=(MISSING, ILLEGAL, FAILURE)),
        Flight("no key shares in TLS 1.3", "RFC 8446, 9.2", [hello(SUITES_13, without(thirteen, 51))],
               alerts=(MISSING, FAILURE)),
        Flight("no signatures in TLS 1.3", "RFC 8446, 9.2", [hello(SUITES_13, without(thirteen, 13))],
               alerts=(MISSING,)),
        Flight("a list of versions without any", "RFC 8446, 4.2.1",
               [hello(SUITES_13, thirteen | {43: block(1, b"")})], alerts=(DECODE, VERSION)),
        Flight("only versions that nobody knows", "RFC 8446, 4.2.1",
               [hello(SUITES_13, thirteen | {43: block(1, words((GREASE,)))})], alerts=(VERSION,)),
        Flight("a pre-shared key that is not last", "RFC 8446, 4.2.11",
               [hello(SUITES_13, {41: bytes(8)} | thirteen)], alerts=(ILLEGAL, DECODE)),
        Flight("a ServerHello", "RFC 8446, 4", [record(HANDSHAKE, handshake(2, body))], alerts=(UNEXPECTED,)),
        Flight("a Finished", "RFC 8446, 4", [record(HANDSHAKE, handshake(20, bytes(32)))],
               alerts=(UNEXPECTED,)),
        Flight("a cipher that changes at once", "RFC 5246, 7.1", [record(CHANGE_CIPHER, b"\1") * 40],
               alerts=(UNEXPECTED,), silent=True),
        Flight("a hello of 16 MiB", "RFC 8446, 4",
               [record(HANDSHAKE, b"\1\xff\xff\xff" + bytes(16380))] + [record(HANDSHAKE, bytes(16384))] * 40,
               alerts=(ILLEGAL, DECODE, UNEXPECTED, OVERFLOW), silent=True),
        Flight("warnings without end", "RFC 5246, 7.2", [record(ALERT, b"\1\x5a") * 5000],
               alerts=(UNEXPECTED, DECODE, FAILURE), silent=True),
        Flight("only protocols that nobody speaks", "RFC 7301, 3.2",
               [hello(SUITES_13, thirteen | {16: block(2, block(1, b"zebra"))})], alerts=(NO_PROTOCOL,)),
    ]


# ---------------------------------------------------------------------------------------------
# Behind the handshake
# ---------------------------------------------------------------------------------------------

class RawMessage:
    """Any bytes as a message that tlslite encrypts and sends."""

    def __init__(self, content: int, data: bytearray) -> None:
        self.contentType, self.data = content, bytearray(data)

    def write(self) -> bytearray:
        return self.data


def alert(level: int, description: int) -> RawMessage:
    return RawMessage(ALERT, bytearray([level, description]))


def connected(port: int, version: tuple[int, int]) -> TLSConnection:
    settings = HandshakeSettings()
    settings.minVersion = settings.maxVersion = version
    stream = socket.create_connection((HOST, port), SECONDS_MAX)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection = TLSConnection(stream)
    connection.handshakeClientCert(settings=settings, serverName="localhost")
    connection.ignoreAbruptClose = False
    return connection


def read_all(connection: TLSConnection) -> bytes:
    """Up to the peer's close_notify; raises what comes instead."""
    data = b""
    while piece := connection.read(max=1 << 16):
        data += bytes(piece)
    return data


def outcome(connection: TLSConnection) -> tuple[str, int | None]:
    """How a connection ends that has been offended: its alert, if it told one."""
    try:
        read_all(connection)
    except TLSRemoteAlert as alert:
        return f"alert {alert.description}", alert.description
    except (TLSAbruptCloseError, ConnectionError):
        return "closed without a word", None
    except TimeoutError:
        return "left open", -1
    except Exception as error:  # tlslite has many; each says what it could not read.
        return f"{type(error).__name__}: {error}", -1
    return "an orderly end", 0


def answers(version: tuple[int, int]) -> Callable[[int], tuple[bool, str]]:
    def talk(port: int) -> tuple[bool, str]:
        connection = connected(port, version)
        connection.write(REQUEST)
        try:
            data = read_all(connection)
        except TLSAbruptCloseError:
            return False, "the answer ends without close_notify"
        return data.startswith(b"HTTP/1."), f"{len(data)} bytes, then close_notify"
    return talk


def close_notify(version: tuple[int, int]) -> Callable[[int], tuple[bool, str]]:
    def talk(port: int) -> tuple[bool, str]:
        connection = connected(port, version)
        if version == (3, 4):
            connection.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.read(min=1, max=1 << 16)  # And the tickets before it.
        connection.closeSocket = False
        for _ in connection._sendMsg(alert(1, 0)):
            pass
        said, number = outcome(connection)
        return number == 0, said
    return talk


def offends(version: tuple[int, int], message: Callable[[], RawMessage], alerts: tuple[int, ...],
            silent: bool = False) -> Callable[[int], tuple[bool, str]]:
    def talk(port: int) -> tuple[bool, str]:
        connection = connected(port, version)
        for _ in connection._sendMsg(message()):
            pass
        said, number = outcome(connection)
        return number in alerts or (silent and number in (None, 0)), said
    return talk


def offends_raw(version: tuple[int, int], data: Callable[[], bytes],
                alerts: tuple[int, ...]) -> Callable[[int], tuple[bool, str]]:
    def talk(port: int) -> tuple[bool, str]:
        connection = connected(port, version)
        connection.sock.sendall(data())
        said, number = outcome(connection)
        return number in alerts, said
    return talk


def again() -> RawMessage:
    return RawMessage(HANDSHAKE, bytearray(handshake(1, hello_body(SUITES_12, listed(extensions_12())))))


def resumes(port: int) -> tuple[bool, str]:
    """With a ticket, by OpenSSL's own client."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    session, reused = None, []
    for _ in range(2):
        with socket.create_connection((HOST, port), SECONDS_MAX) as plain, \
                context.wrap_socket(plain, server_hostname="localhost", session=session) as stream:
            stream.sendall(REQUEST)
            while stream.recv(1 << 16):
                pass
            session = stream.session
            reused.append(stream.session_reused)
    return reused == [False, True], f"reused: {reused}"


def updates(port: int) -> tuple[bool, str]:
    """New keys, a hundred times; then an ordinary request."""
    connection = connected(port, (3, 4))
    for _ in range(100):
        for _ in connection.send_keyupdate_request(1):
            pass
    connection.write(REQUEST)
    return read_all(connection).startswith(b"HTTP/1."), "answered"


def forged() -> bytes:
    return record(DATA, os.urandom(64), 0x0303)


LATER: list[tuple[str, str, Callable[[int], tuple[bool, str]]]] = [
    ("answers over TLS 1.2 end in order", "RFC 5246, 7.2.1", answers((3, 3))),
    ("answers over TLS 1.3 end in order", "RFC 8446, 6.1", answers((3, 4))),
    ("close_notify is answered in TLS 1.2", "RFC 5246, 7.2.1", close_notify((3, 3))),
    ("renegotiation is refused", "RFC 9325, 3.5",
     offends((3, 3), again, (NO_RENEGOTIATION, FAILURE, UNEXPECTED), silent=True)),
    ("a second hello in TLS 1.3", "RFC 8446, 4.1.2", offends((3, 4), again, (UNEXPECTED,))),
    ("a record that is forged, TLS 1.2", "RFC 5246, 7.2.2", offends_raw((3, 3), forged, (BAD_MAC,))),
    ("a record that is forged, TLS 1.3", "RFC 8446, 5.2", offends_raw((3, 4), forged, (BAD_MAC,))),
    ("a record that is too long", "RFC 8446, 5.2",
     offends_raw((3, 4), lambda: record(DATA, bytes(16384 + 257), 0x0303), (OVERFLOW, BAD_MAC))),
    ("a handshake message of an unknown type", "RFC 8446, 4",
     offends((3, 4), lambda: RawMessage(HANDSHAKE, bytearray(handshake(77, b"a"))), (UNEXPECTED, DECODE))),
    ("a session is resumed", "RFC 8446, 2.2", resumes),
    ("keys are updated", "RFC 8446, 4.6.3", updates),
]


def main(port: int) -> int:
    talks = [(each.name, each.clause, lambda at, each=each: judge_flight(at, each)) for each in flights()]
    for name, clause, talk in talks + LATER:
        try:
            right, said = talk(port)
        except Exception as error:  # A conversation that cannot be held is the server's failure, too.
            right, said = False, f"{type(error).__name__}: {error}"
        print(name, clause, "passed" if right else "FAILED", " ".join(said.split()), sep="\t", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
