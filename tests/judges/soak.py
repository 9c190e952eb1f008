# SPDX-License-Identifier: BSL-1.0
#
# What leaks a little with each broken connection shows after a million of them.
"""Half an hour of load beside clients that are killed, close one half, or go away in the middle.

A server passes if what it keeps does not grow after its first third, if it has given back all descriptors
at the end, and if no client that keeps the rules is refused anything.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import random
import re
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from slow_peers import BODY_BYTES, GET, POST, frame, upgrade
from subjects import HOST, Running, Subject, resident_bytes, run, serving
from verdicts import Row, verdict

LOAD_WANTED = 0.8               # Of one core, by the server.
BURST_SECONDS = 4
RUDE_CLIENTS = 4                # Processes, each with one conversation at a time.
KILL_SECONDS = 0.5              # Between two of them that are killed, on average.
SAMPLE_SECONDS = 5.0
REST_SECONDS = 20.0             # Behind the last client.
GROWTH_MAX = 1 << 20            # From the second third to the last one.
ANSWER_SECONDS_MAX = 20.0
ANSWER_START = b"HTTP/1.1 200"


class Refused(Exception):
    """A client that keeps the rules did not get what it is due."""


# ---------------------------------------------------------------------------------------------
# Load that keeps the rules
# ---------------------------------------------------------------------------------------------

def wrk(port: int, seconds: int) -> int:
    status, out = run(["wrk", "--threads", "1", "--connections", "64", "--duration", f"{seconds}s",
                       f"http://{HOST}:{port}/"], seconds + 30)
    found = re.search(r"(\d+) requests in", out)
    if status != 0 or found is None or "Socket errors" in out or "Non-2xx" in out:
        raise Refused(f"wrk: {out.strip()[-200:]}")
    return int(found[1])


def h2load(port: int, seconds: int) -> int:
    status, out = run(["h2load", "-D", str(seconds), "-c", "8", "-m", "16", f"http://{HOST}:{port}/"],
                      seconds + 30)
    found = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored", out)
    if status != 0 or found is None or found.groups()[1:] != ("0", "0"):
        raise Refused(f"h2load: {out.strip()[-200:]}")
    return int(found[1])


def echoes(port: int, seconds: int) -> int:
    """WebSocket messages of all lengths of a length, 16 under way at once."""
    end, count = time.monotonic() + seconds, 0
    with socket.create_connection((HOST, port), 5) as peer:
        peer.settimeout(ANSWER_SECONDS_MAX)
        peer.sendall(upgrade())
        rest = read_until(peer, b"\r\n\r\n").partition(b"\r\n\r\n")[2]
        while time.monotonic() < end:
            for size in (0, 125, 126, 4096, 65536):
                payload = os.urandom(size)
                peer.sendall(frame(payload) * 16)
                wanted = frame_of_server(payload) * 16
                while len(rest) < len(wanted):
                    piece = peer.recv(1 << 18)
                    if not piece:
                        raise Refused("an echo was cut off")
                    rest += piece
                if rest != wanted:
                    raise Refused("an echo is not what was sent")
                rest, count = b"", count + 16
    return count


def frame_of_server(payload: bytes) -> bytes:
    size = len(payload)
    if size < 126:
        return bytes((0x82, size)) + payload
    if size < 1 << 16:
        return b"\x82\x7e" + struct.pack("!H", size) + payload
    return b"\x82\x7f" + struct.pack("!Q", size) + payload


# ---------------------------------------------------------------------------------------------
# Clients that do not
# ---------------------------------------------------------------------------------------------

def read_until(peer: socket.socket, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        piece = peer.recv(1 << 16)
        if not piece:
            raise Refused(f"the connection was closed before {wanted!r}: {seen[-80:]!r}")
        seen += piece
    return seen


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def half_close(peer: socket.socket, dice: random.Random) -> None:
    """It has said all that it wants to say, and is owed the answers."""
    count = dice.randint(1, 20)
    peer.sendall(GET * count)
    peer.shutdown(socket.SHUT_WR)
    seen = b""
    while piece := peer.recv(1 << 16):
        seen += piece
    if seen.count(ANSWER_START) != count:
        raise Refused(f"{seen.count(ANSWER_START)} of {count} answers behind a half-close")


def leave_in_head(peer: socket.socket, dice: random.Random) -> None:
    peer.sendall(GET * dice.randint(0, 3) + GET[:dice.randint(1, len(GET) - 1)])


def leave_in_body(peer: socket.socket, dice: random.Random) -> None:
    peer.sendall(POST + bytes(dice.randint(0, BODY_BYTES - 1)))


def leave_in_answer(peer: socket.socket, dice: random.Random) -> None:
    peer.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        peer.send(POST + bytes(BODY_BYTES))
    peer.setblocking(True)
    peer.settimeout(1)
    with contextlib.suppress(TimeoutError):
        peer.recv(dice.randint(1, 10_000))


def leave_in_message(peer: socket.socket, dice: random.Random) -> None:
    peer.sendall(upgrade() + frame(os.urandom(dice.randint(0, 100_000)))[:dice.randint(0, 100_000)])


def leave_with_echoes(peer: socket.socket, dice: random.Random) -> None:
    peer.sendall(upgrade() + frame(bytes(1000)) * dice.randint(1, 200))
    peer.recv(dice.randint(1, 5000))


def half_close_a_websocket(peer: socket.socket, dice: random.Random) -> None:
    """Without a close frame: the end of the connection, and no close of the protocol."""
    count = dice.randint(1, 10)
    payload = os.urandom(dice.randint(0, 100))
    peer.sendall(upgrade() + frame(payload) * count)
    peer.shutdown(socket.SHUT_WR)
    seen = b""
    while piece := peer.recv(1 << 16):
        seen += piece
    if frame_of_server(payload) * count not in seen:
        raise Refused("echoes are missing behind a half-close")


def noise(peer: socket.socket, dice: random.Random) -> None:
    peer.sendall(dice.randbytes(dice.randint(1, 2000)))


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04\0" + bytes(4)


def leave_in_stream(peer: socket.socket, dice: random.Random) -> None:
    """Heads whose authority is cut off, and whatever of the preface was sent."""
    said = PREFACE + b"".join(b"\0\0\x06\x01\x04" + stream.to_bytes(4, "big") + b"\x82\x86\x84\x41\x01a"
                              for stream in range(1, 2 * dice.randint(1, 100), 2))
    peer.sendall(said[:dice.randint(1, len(said))])
    if dice.random() < 0.5:
        peer.recv(dice.randint(1, 5000))


Rude = Callable[[socket.socket, random.Random], None]


@dataclass(frozen=True)
class Crowd:
    load: Callable[[int, int], int]
    rude: tuple[Rude, ...]


CROWDS: dict[str, Crowd] = {
    "http": Crowd(wrk, (half_close, leave_in_head, leave_in_body, leave_in_answer, noise)),
    "http2": Crowd(h2load, (leave_in_stream, noise)),
    "websocket-server": Crowd(echoes, (half_close_a_websocket, leave_in_message, leave_with_echoes, noise)),
}


def be_rude(port: int, kinds: tuple[Rude, ...], seed: int, refused: Connection,
            count: ctypes.c_uint64) -> None:
    dice = random.Random(seed)
    while True:
        kind = dice.choice(kinds)
        try:
            peer = socket.create_connection((HOST, port), ANSWER_SECONDS_MAX)
            peer.settimeout(ANSWER_SECONDS_MAX)
            kind(peer, dice)
            if dice.random() < 0.5:
                reset(peer)
            peer.close()
        except Refused as why:
            refused.send(f"{kind.__name__}: {why}")
        except TimeoutError:
            refused.send(f"{kind.__name__}: not served within {ANSWER_SECONDS_MAX:.0f} s")
        except OSError:
            pass  # The server may have had enough of it.
        count.value += 1


# ---------------------------------------------------------------------------------------------
# The half hour
# ---------------------------------------------------------------------------------------------

@dataclass
class Seen:
    resident: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    answers: int = 0
    killed: int = 0
    talks: int = 0
    load: float = 0.0
    refused: list[str] = field(default_factory=list)
    descriptors_before: int = 0
    descriptors_after: int = 0


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def processor_seconds(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


class RudeClient:
    """A process that shares no lock with others: it is killed at any moment."""

    def __init__(self, port: int, kinds: tuple[Rude, ...], seed: int) -> None:
        self.talks = multiprocessing.RawValue("Q", 0)
        self.said, refused = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=be_rude, daemon=True,
                                               args=(port, kinds, seed, refused, self.talks))
        self.process.start()
        refused.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def complaints(self) -> list[str]:
        found = []
        with contextlib.suppress(EOFError, OSError):  # Killed, perhaps within a word.
            while self.said.poll():
                found.append(self.said.recv())
        return found


class Soak:
    def __init__(self, server: Running, crowd: Crowd, seed: int) -> None:
        self.server = server
        self.crowd = crowd
        self.dice = random.Random(seed)
        self.clients: list[RudeClient] = []
        self.seen = Seen(descriptors_before=descriptors(server.process.pid))
        self.sampled = 0.0
        self.killed = 0.0

    def begin(self) -> RudeClient:
        return RudeClient(self.server.port, self.crowd.rude, self.dice.getrandbits(32))

    def end(self, client: RudeClient) -> None:
        client.kill()
        self.seen.refused += client.complaints()
        self.seen.talks += client.talks.value

    def tend(self) -> None:
        """Kills a client now and then, and looks at the server."""
        now = time.monotonic()
        if now > self.killed:
            self.killed = now + self.dice.random() * 2 * KILL_SECONDS
            victim = self.dice.randrange(len(self.clients))
            self.end(self.clients[victim])
            self.clients[victim] = self.begin()
            self.seen.killed += 1
        if now > self.sampled:
            self.sampled = now + SAMPLE_SECONDS
            self.seen.resident.append(resident_bytes(self.server.process.pid))
            self.seen.descriptors.append(descriptors(self.server.process.pid))
        for each in self.clients:
            self.seen.refused += each.complaints()

    def run(self, seconds: float) -> Seen:
        pid = self.server.process.pid
        begun, before = time.monotonic(), processor_seconds(pid)
        self.clients = [self.begin() for _ in range(RUDE_CLIENTS)]
        with multiprocessing.Pool(1) as pool:
            burst = None
            while (passed := time.monotonic() - begun) < seconds and self.server.alive():
                self.tend()
                if burst is not None and burst.ready():
                    try:
                        self.seen.answers += burst.get()
                    except Refused as why:
                        self.seen.refused.append(str(why))
                    burst = None
                if burst is None and processor_seconds(pid) - before < LOAD_WANTED * passed:
                    burst = pool.apply_async(self.crowd.load, (self.server.port, BURST_SECONDS))
                time.sleep(0.05)
            self.seen.load = (processor_seconds(pid) - before) / (time.monotonic() - begun)
            if burst is not None:
                with contextlib.suppress(Refused, multiprocessing.TimeoutError):
                    self.seen.answers += burst.get(BURST_SECONDS + 30)
        for each in self.clients:
            self.end(each)
        end = time.monotonic() + REST_SECONDS
        while time.monotonic() < end and descriptors(pid) > self.seen.descriptors_before:
            time.sleep(0.2)
        self.seen.descriptors_after = descriptors(pid)
        return self.seen


def judge(subject: Subject, seconds: float) -> list[Row]:
    seed = random.SystemRandom().getrandbits(32)
    print(f"soak of {subject.role}: seed {seed}", flush=True)
    with serving(subject) as server:
        seen = Soak(server, CROWDS[subject.role], seed).run(seconds)
        rows = [verdict("soak: the server lives", server.alive(), "it has ended")]
    third = len(seen.resident) // 3
    middle, last = max(seen.resident[third:2 * third], default=0), max(seen.resident[2 * third:], default=0)
    most = max(seen.descriptors, default=0)
    of_all = (f"{seconds:.0f} s at {seen.load:.2f} of a core, {seen.answers} answers, {seen.talks} rude "
              f"conversations, {seen.killed} clients killed")
    rows.append(verdict("soak: memory is flat", bool(third) and last <= middle + GROWTH_MAX,
                        f"{of_all}; KiB at most: {middle >> 10} in the second third, {last >> 10} later"))
    rows.append(verdict("soak: descriptors come back", seen.descriptors_after <= seen.descriptors_before,
                        f"{seen.descriptors_before} before, at most {most}, {seen.descriptors_after} after"))
    rows.append(verdict("soak: no client that keeps the rules is refused", not seen.refused,
                        f"{len(seen.refused)}: {'; '.join(seen.refused[:5])}"))
    print(*(f"    {row.outcome} {row.name}: {row.said}" for row in rows), sep="\n", flush=True)
    return rows
