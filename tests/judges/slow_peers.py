# SPDX-License-Identifier: BSL-1.0
#
# A server may let slow peers wait as long as they like; it may not grow with them, nor let others wait.
"""Judges what a thousand slow peers cost a server, and other clients beside them."""

from __future__ import annotations

import base64
import contextlib
import os
import resource
import selectors
import socket
import ssl
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import tls_judge
from subjects import HOST, Running, Subject, resident_bytes, serving
from verdicts import Row, verdict

PEERS = 1000
SECONDS = 6.0
DRIP_SECONDS = 0.25             # Between two bytes of a peer.
PER_PEER_MAX = 192 << 10        # What a server may keep for one.
MESSAGE_MAX = 32 << 20          # What a subject takes as one message: README.md.
OTHER_SECONDS_MAX = 5.0         # Until another client is served, meanwhile.

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
SLOW_HEAD = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "
BODY_BYTES = 1 << 20
POST = f"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY_BYTES}\r\n\r\n".encode()


@dataclass(frozen=True)
class Kind:
    """`first` is sent at once, `drip` again and again; answers are read unless `reads` is false."""

    name: str
    first: bytes | Callable[[], bytes]
    drip: bytes = b""
    reads: bool = True
    peers: int = PEERS
    bytes_max: int = PER_PEER_MAX

    def beginning(self) -> bytes:
        return self.first() if callable(self.first) else self.first


class Crowd:
    """Peers of one kind."""

    def __init__(self, port: int, kind: Kind) -> None:
        self.port = port
        self.kind = kind
        self.first = kind.beginning()
        self.ended = 0     # By the server.
        self.sockets: list[socket.socket] = []
        self.unsent: dict[socket.socket, memoryview] = {}
        self.waiting = selectors.DefaultSelector()

    def connect(self) -> None:
        peer = socket.create_connection((HOST, self.port), 5)
        peer.setblocking(False)
        if not self.kind.reads:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sockets.append(peer)
        self.unsent[peer] = memoryview(self.first)
        if self.kind.reads:
            self.waiting.register(peer, selectors.EVENT_READ)
        self.send(peer)

    def send(self, peer: socket.socket) -> None:
        try:
            self.unsent[peer] = self.unsent[peer][peer.send(self.unsent[peer]):]
        except BlockingIOError:
            return
        except OSError:
            self.end(peer)

    def end(self, peer: socket.socket) -> None:
        if peer not in self.unsent:
            return
        self.ended += 1
        del self.unsent[peer]
        if self.kind.reads:
            self.waiting.unregister(peer)

    def drip(self) -> None:
        for peer in list(self.unsent):
            if not self.unsent[peer]:
                self.unsent[peer] = memoryview(self.kind.drip)
            if self.unsent[peer]:
                self.send(peer)

    def read(self) -> None:
        for key, _ in self.waiting.select(0):
            try:
                if not key.fileobj.recv(1 << 16):
                    self.end(key.fileobj)
            except BlockingIOError:
                continue
            except OSError:
                self.end(key.fileobj)

    def close(self) -> None:
        self.waiting.close()
        for peer in self.sockets:
            with contextlib.suppress(OSError):  # With a reset: no port stays behind.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()


def judge_kind(server: Running, kind: Kind, served: Callable[[int], float]) -> Row:
    """`served` gives the seconds that another client waits for its answer, or raises OSError."""
    alone = sorted(served(server.port) for _ in range(20))
    before, highest, waits, trouble = resident_bytes(server.process.pid), 0, [], ""
    crowd = Crowd(server.port, kind)
    try:
        for _ in range(kind.peers):
            crowd.connect()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not trouble:
            drip = time.monotonic() + DRIP_SECONDS
            crowd.drip()
            while time.monotonic() < drip:
                crowd.read()
                waits.append(served(server.port))
                highest = max(highest, resident_bytes(server.process.pid) - before)
                time.sleep(0.01)
    except OSError as error:
        trouble = f"another client is not served: {error}; "
    finally:
        crowd.close()
    each = highest // kind.peers
    if each > kind.bytes_max:
        trouble += f"more than {kind.bytes_max >> 10} KiB each; "
    waits.sort()
    middle, most = (waits[len(waits) // 2], waits[-1]) if waits else (0.0, 0.0)
    said = (f"{trouble}{kind.peers} peers, grew by {highest >> 10} KiB ({each} bytes each), "
            f"{crowd.ended} were ended, others waited {middle * 1e3:.1f} ms, at most {most * 1e3:.0f} "
            f"(alone {alone[len(alone) // 2] * 1e3:.1f})")
    return verdict(f"slow peers: {kind.name}", not trouble, said)


def answered(stream: socket.socket, asked: bytes, wanted: bytes) -> None:
    stream.settimeout(OTHER_SECONDS_MAX)
    stream.sendall(asked)
    seen = b""
    while wanted not in seen:
        piece = stream.recv(1 << 16)
        if not piece:
            raise OSError("the connection was closed")
        seen += piece


def timed(talk: Callable[[socket.socket], None]) -> Callable[[int], float]:
    def served(port: int) -> float:
        begun = time.monotonic()
        with socket.create_connection((HOST, port), OTHER_SECONDS_MAX) as stream:
            talk(stream)
        return time.monotonic() - begun
    return served


def by_http(stream: socket.socket) -> None:
    answered(stream, GET, b"HTTP/1.1 200")


def by_tls(stream: socket.socket) -> None:
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    with settings.wrap_socket(stream, server_hostname="localhost") as connection:
        answered(connection, GET, b"HTTP/1.1 200")


def client_hello() -> bytes:
    """One that is whole: the server answers it, and waits."""
    outgoing = ssl.MemoryBIO()
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname = False
    settings.verify_mode = ssl.CERT_NONE
    connection = settings.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


# ---------------------------------------------------------------------------------------------
# WebSocket
# ---------------------------------------------------------------------------------------------

def upgrade(extensions: str = "") -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    return (f"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{extensions}"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode()


def frame(payload: bytes, first: int = 0x82) -> bytes:
    """Masked with zeros, so that it can be read."""
    size = len(payload)
    if size < 126:
        length = struct.pack("!B", 0x80 | size)
    elif size < 1 << 16:
        length = struct.pack("!BH", 0x80 | 126, size)
    else:
        length = struct.pack("!BQ", 0x80 | 127, size)
    return bytes((first,)) + length + bytes(4) + payload


def bomb(of_bytes: int) -> bytes:
    """Zeros, a thousandth of what they become."""
    pressed = zlib.compressobj(wbits=-15)
    return pressed.compress(bytes(of_bytes)) + pressed.flush(zlib.Z_SYNC_FLUSH)[:-4]


def by_websocket(stream: socket.socket) -> None:
    answered(stream, upgrade() + frame(b"hello"), b"\x82\x05hello")


DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate\r\n"

KINDS: dict[str, tuple[tuple[Kind, ...], Callable[[socket.socket], None]]] = {
    "http": ((
        Kind("heads byte by byte", SLOW_HEAD, b"a"),
        Kind("bodies byte by byte", POST, b"a"),
        Kind("answers not read", POST + bytes(BODY_BYTES), GET * 100, reads=False),
        Kind("requests at once, answers not read", GET * 20_000, GET, reads=False),
        Kind("silent from the beginning", b""),
    ), by_http),
    "https": ((
        Kind("silent from the beginning", b""),
        Kind("a ClientHello byte by byte", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"a"),
        Kind("a handshake that stops behind the ClientHello", client_hello),
    ), by_tls),
    "websocket-server": ((
        Kind("messages of 1 GiB, byte by byte",
             upgrade() + b"\x82\xff" + struct.pack("!Q", 1 << 30) + bytes(4) + bytes(1 << 10), b"a"),
        Kind("echoes not read", upgrade() + frame(bytes(1 << 16)) * 64, b"", reads=False),
        Kind("pings, pongs not read", upgrade() + frame(bytes(125), 0x89) * 8000, b"", reads=False),
        Kind("bombs of 1 GiB", lambda: upgrade(DEFLATE) + frame(bomb(1 << 30), 0xc2), peers=20,
             bytes_max=2 * MESSAGE_MAX),
    ), by_websocket),
}


def judge(subject: Subject) -> list[Row]:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # Servers inherit it.
    kinds, talk = KINDS[subject.role]
    files = tls_judge.files_of_server() if subject.role == "https" else {}
    rows = []
    for kind in kinds:
        with serving(subject, **files) as server:
            rows.append(judge_kind(server, kind, timed(talk)))
            rows.append(verdict(f"it outlives them: {kind.name}", server.alive(), "it has ended"))
    return rows
