# SPDX-License-Identifier: BSL-1.0
#
# Strangers at every port of the exchange of ./dev demo: bytes that are none, logins that are wrong, peers
# that say little, or nothing, or too much.
"""Sends bad input to all ports of facility, gateway, distributor and page, and looks at what becomes of the
peer that has sent it, of the book, and of the processes.

    hostile_judge.py PROGRAMS [SEED]

PROGRAMS is the folder of the exchange's programs. Each peer has to be cut off in time; a trader
and a subscriber have to be let in while strangers hold all places; the book has to stay as it is. Prints for
each kind of input what memory and processor time it took.
"""

import base64
import contextlib
import json
import os
import random
import re
import resource
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "judges"), str(ROOT / "exchange" / "bin" / "demo")]

import demo  # noqa: E402
from counted_verdicts import Verdicts  # noqa: E402

SECONDS_MAX = 60
LOGIN_MS = 1500  # What a peer may take to log in, in this judge's configuration.
IDLE_PEERS = 10_000
ORDERS = 300
# Where an admin port gives its answer in vain, it waits as long as its own limits say.
CUT_SECONDS_MAX = 30


class Run:
    """The exchange on ports that the kernel chooses, with a book that rests; ends with its block."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        made = demo.prepare(demo.CONFIGURATION, folder, with_free_ports=True)
        supervisor = made["supervisor.json"]
        traders = next(each for each in supervisor["children"] if each["name"] == "traders")
        supervisor["children"].remove(traders)
        for name in ("exchange.json", "gateway.json", "distributor.json"):
            made[name].setdefault("timing", {})["login_within_ms"] = LOGIN_MS
        made["distributor.json"]["subscribers"]["connections_max"] = 1024
        for name, what in made.items():
            (folder / name).write_text(json.dumps(what), encoding="utf-8")
        entry, gateway = made["exchange.json"], made["gateway.json"]
        distributor = made["distributor.json"]
        self.group = entry["feed"]["to"]
        self.requests = entry["feed"]["requests"]
        self.tcp = {  # Of SoupBinTCP, or of the link.
            "facility, order entry": entry["order_entry"]["at"],
            "facility, gateways": entry["gateways"]["at"],
            "gateway, TCP": gateway["order_entry"]["at"],
            "distributor, TCP": distributor["subscribers"]["at"],
        }
        self.websocket = {
            "gateway, WebSocket": (gateway["order_entry"]["websocket_at"], "/order-entry/v1"),
            "distributor, WebSocket": (distributor["subscribers"]["websocket_at"], "/market-data/v1"),
        }
        self.http = {"page": made["web.json"]["at"]}
        self.admin = {each["name"]: each["admin"] for each in made["web.json"]["processes"]}
        self.http |= {f"{name}, admin": at for name, at in self.admin.items()}
        self.exchange = demo.Exchange(programs, folder)
        if not self.exchange.ready.wait(SECONDS_MAX) or self.exchange.over.is_set():
            raise RuntimeError(self.exchange.log.read_text(encoding="utf-8"))
        words = [*traders["arguments"]]
        words[words.index("--orders") + 1] = str(ORDERS)
        subprocess.run([programs / traders["program"], *words], cwd=folder, check=True, capture_output=True,
                       timeout=SECONDS_MAX)
        children = demo.ask(self.admin["supervisor"], "/status")["children"]
        self.pids = {each["name"]: each["pid"] for each in children}

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.exchange.end()

    def ports(self) -> dict[str, str]:
        return self.tcp | {name: at for name, (at, _) in self.websocket.items()} | self.http

    def book(self) -> str:
        said = ""
        for instrument in ("1", "2"):
            done = subprocess.run(
                [self._programs / "exchange_ctl", "--config", self._folder / "exchange.json", "--credentials",
                 self._folder / "passwords.json", "show", "book", instrument, "--levels", "1000"],
                capture_output=True, encoding="utf-8", timeout=SECONDS_MAX, check=False)
            said += re.sub(r"feed from \d+", "", done.stdout) + done.stderr
        return said

    def used(self, name: str) -> tuple[float, float]:
        """Resident MiB, and seconds of processor time."""
        base = Path("/proc") / str(self.pids[name])
        pages = int((base / "statm").read_text().split()[1])
        fields = (base / "stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20, ticks / os.sysconf("SC_CLK_TCK")

    def alive(self) -> dict[str, int]:
        children = demo.ask(self.admin["supervisor"], "/status")["children"]
        return {each["name"]: each["pid"] for each in children if each["state"] == "ready"}


def address_of(at: str) -> tuple[str, int]:
    host, _, port = at.rpartition(":")
    return host, int(port)


def connect(at: str) -> socket.socket:
    return socket.create_connection(address_of(at), SECONDS_MAX)


def soup(kind: str, payload: bytes = b"") -> bytes:
    return struct.pack(">H", 1 + len(payload)) + kind.encode() + payload


def soup_login(user: str, password: str) -> bytes:
    return soup("L", user.ljust(6).encode() + password.ljust(10).encode() + b" " * 10 + b"1".rjust(20))


def upgrade(at: str, path: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    return (f"GET {path} HTTP/1.1\r\nHost: {at}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: exchange.json.v1\r\n\r\n").encode()


def frame(payload: bytes, opcode: int = 1, announced: int | None = None) -> bytes:
    size = len(payload) if announced is None else announced
    head = bytes([0x80 | opcode])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 1 << 16:
        head += bytes([0x80 | 126]) + struct.pack(">H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", size)
    return head + bytes(4) + payload  # The key of zeros masks nothing.


def opened(at: str, path: str) -> socket.socket:
    it = connect(at)
    it.sendall(upgrade(at, path))
    said = b""
    while b"\r\n\r\n" not in said:
        more = it.recv(4096)
        if not more:
            raise RuntimeError(f"{at} does not speak WebSocket: {said!r}")
        said += more
    if b" 101 " not in said:
        raise RuntimeError(f"{at} does not speak WebSocket: {said!r}")
    return it


def hear_to_the_end(peers: list[socket.socket], seconds: float) -> tuple[int, bytes]:
    """Reads until each is closed or the time is over: how many still stand, and what was said to all."""
    end = time.monotonic() + seconds
    said = b""
    left = {each.fileno(): each for each in peers}
    watch = select.poll()
    for number, each in left.items():
        each.setblocking(False)
        watch.register(number, select.POLLIN)
    while left and time.monotonic() < end:
        for number, _ in watch.poll(100):
            try:
                more = left[number].recv(1 << 16)
            except BlockingIOError:
                continue
            except OSError:
                more = b""
            said = (said + more)[-(1 << 20):]
            if not more:
                watch.unregister(number)
                left.pop(number).close()
    for each in left.values():
        each.close()
    return len(left), said


def send_all(it: socket.socket, what: bytes) -> None:
    """As far as the other end lets it."""
    with contextlib.suppress(OSError):
        it.sendall(what)


def judge_each_port(verdicts: Verdicts, what: str, ports: dict[str, str], makes, peers: int) -> None:
    """Peers that send `makes()` and then say nothing more are cut off in time, answered or not."""
    for name, at in ports.items():
        all_peers = []
        for _ in range(peers):
            it = connect(at)
            send_all(it, makes(at))
            all_peers.append(it)
        begun = time.monotonic()
        standing, said = hear_to_the_end(all_peers, CUT_SECONDS_MAX)
        verdicts.note(f"{name}: {what}, {peers} peers: all are cut after {time.monotonic() - begun:.1f} s",
                      standing == 0, (standing, said[-200:]))


def judge_random_bytes(run: Run, verdicts: Verdicts, dice: random.Random) -> None:
    judge_each_port(verdicts, "random bytes", run.ports(),
                    lambda _: dice.randbytes(dice.randrange(1, 4096)), 200)


def judge_truncated(run: Run, verdicts: Verdicts) -> None:
    judge_each_port(verdicts, "half a packet", run.tcp, lambda _: soup_login("alice", "secret")[:20], 20)
    judge_each_port(verdicts, "half a request", run.http,
                    lambda at: f"GET / HTTP/1.1\r\nHost: {at}".encode(), 20)
    for name, (at, path) in run.websocket.items():
        head = upgrade(at, path)
        peers = [connect(at) for _ in range(20)]
        for it in peers:
            send_all(it, head[: len(head) // 2])
        standing, _ = hear_to_the_end(peers, CUT_SECONDS_MAX)
        verdicts.note(f"{name}: half a handshake is cut", standing == 0, standing)
        peers = [opened(at, path) for _ in range(20)]
        for it in peers:
            send_all(it, frame(b'{"message":"login"', announced=100))
        standing, _ = hear_to_the_end(peers, CUT_SECONDS_MAX)
        verdicts.note(f"{name}: half a frame is cut", standing == 0, standing)


def judge_wrong_logins(run: Run, verdicts: Verdicts) -> None:
    # The distributor of the demonstration lets everybody in.
    for name in ("facility, order entry", "gateway, TCP"):
        it = connect(run.tcp[name])
        it.sendall(soup_login("alice", "guess"))
        standing, said = hear_to_the_end([it], CUT_SECONDS_MAX)
        verdicts.note(f"{name}: a wrong password is told and ends",
                      standing == 0 and soup("J", b"A") in said, said)
    at, path = run.websocket["gateway, WebSocket"]
    it = opened(at, path)
    it.sendall(frame(b'{"message":"login","username":"alice","password":"guess"}'))
    standing, said = hear_to_the_end([it], CUT_SECONDS_MAX)
    verdicts.note("gateway, WebSocket: a wrong password is told and ends",
                  standing == 0 and b"not_authorized" in said, said)


def judge_texts(run: Run, verdicts: Verdicts) -> None:
    login = b'{"message":"login","username":"alice","password":"secret"}'
    bad = {
        "deep JSON": b'{"message":' + b"[" * 1500 + b"]" * 1500 + b"}",
        "JSON that is none": b'{"message":"login",,}',
        "a long text": b'{"message":"login","username":"' + b"x" * (1 << 20) + b'"}',
        "no UTF-8": b'{"message":"\xff\xfe"}',
    }
    for name, (at, path) in run.websocket.items():
        for what, text in bad.items():
            for when, before in (("before a login", b""), ("behind a login", frame(login))):
                it = opened(at, path)
                send_all(it, before + frame(text))
                standing, said = hear_to_the_end([it], 3 * LOGIN_MS / 1000)
                verdicts.note(f"{name}: {what} {when} is refused or cut", standing == 0 or b'"error"' in said,
                              (standing, said[-200:]))
        it = opened(at, path)
        send_all(it, frame(b"", announced=1 << 40))
        standing, _ = hear_to_the_end([it], CUT_SECONDS_MAX)
        verdicts.note(f"{name}: a frame of a terabyte is cut at its header", standing == 0)


def judge_slow(run: Run, verdicts: Verdicts) -> None:
    """A byte now and then is no progress."""
    words = {name: soup_login("alice", "secret") for name in run.tcp}
    words |= {name: upgrade(at, path) for name, (at, path) in run.websocket.items()}
    peers = {name: connect(at) for name, at in run.ports().items() if name in words}
    begun = time.monotonic()
    cut: dict[str, float] = {}
    for each in range(200):
        for name, it in peers.items():
            if name in cut:
                continue
            try:
                it.setblocking(False)
                if it.recv(4096) == b"":
                    cut[name] = time.monotonic() - begun
                    continue
            except BlockingIOError:
                pass
            except OSError:
                cut[name] = time.monotonic() - begun
                continue
            if each < len(words[name]) - 1:
                send_all(it, words[name][each : each + 1])
        if len(cut) == len(peers):
            break
        time.sleep(0.1)
    for name in peers:
        verdicts.note(f"{name}: a byte every tenth of a second is cut after {cut.get(name, 0):.1f} s",
                      name in cut)
        peers[name].close()


def judge_idle(run: Run, verdicts: Verdicts) -> None:
    """Strangers take all places, and none of them keeps a trader, a subscriber or a reader out."""
    login = soup_login("alice", "secret")
    shake = frame(b'{"message":"login","username":"alice","password":"secret"}')
    wanted = {name: (at, login, soup("A", b"")[2:]) for name, at in run.tcp.items()
              if name != "facility, gateways"}
    wanted |= {name: (at, upgrade(at, path) + shake, b"login_accepted")
               for name, (at, path) in run.websocket.items()}
    for name, at in run.http.items():
        path = "/health" if "admin" in name else "/"
        wanted[name] = (at, f"GET {path} HTTP/1.1\r\nhost: {at}\r\n\r\n".encode(), b"HTTP/1.1 200")
    for name, (at, words, answer) in wanted.items():
        begun = time.monotonic()
        peers = []
        for _ in range(IDLE_PEERS):
            it = socket.socket()
            it.setblocking(False)
            it.connect_ex(address_of(at))
            peers.append(it)
        said = b""
        try:
            it = connect(at)
            it.settimeout(CUT_SECONDS_MAX)
            it.sendall(words)
            while answer not in said and (more := it.recv(4096)):
                said += more
        except OSError as why:
            said += repr(why).encode()
        took = time.monotonic() - begun
        verdicts.note(f"{name}: one that comes among {IDLE_PEERS:,} idle peers is let in, after {took:.1f} s",
                      answer in said, said)
        it.close()
        for each in peers:
            each.close()


def judge_datagrams(run: Run, verdicts: Verdicts, dice: random.Random) -> None:
    """Forged or broken datagrams, to the group and to where listeners ask."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        for _ in range(20_000):
            size = dice.choice((0, 1, 19, 20, 21, 100, 1400))
            it.sendto(dice.randbytes(size), address_of(run.group))
            it.sendto(dice.randbytes(size), address_of(run.requests))
    ready = demo.ask(run.admin["distributor"], "/status")
    verdicts.note("datagrams of strangers leave the distributor's books complete",
                  ready["counts"]["books_incomplete"] == 0, ready["counts"])


def judged(run: Run, verdicts: Verdicts, what: str, body) -> None:
    """Runs one kind of input, and says what it took."""
    before = {name: run.used(name) for name in run.pids}
    begun = time.monotonic()
    book = run.book()
    body()
    verdicts.note(f"{what}: the book is as it was", run.book() == book)
    verdicts.note(f"{what}: all processes are those that they were", run.alive() == run.pids, run.alive())
    took = time.monotonic() - begun
    for name in run.pids:
        memory, seconds = run.used(name)
        print(f"     {what}, {took:.1f} s: {name} {seconds - before[name][1]:.2f} s of processor time, "
              f"{before[name][0]:.1f} MiB before, {memory:.1f} MiB behind", flush=True)


def main() -> int:
    programs = Path(sys.argv[1]).resolve()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as folder, Run(programs, Path(folder) / "run") as run:
        judged(run, verdicts, "random bytes", lambda: judge_random_bytes(run, verdicts, dice))
        judged(run, verdicts, "truncated input", lambda: judge_truncated(run, verdicts))
        judged(run, verdicts, "wrong logins", lambda: judge_wrong_logins(run, verdicts))
        judged(run, verdicts, "texts", lambda: judge_texts(run, verdicts))
        judged(run, verdicts, "slow peers", lambda: judge_slow(run, verdicts))
        judged(run, verdicts, "idle peers", lambda: judge_idle(run, verdicts))
        judged(run, verdicts, "datagrams", lambda: judge_datagrams(run, verdicts, dice))
    verdicts.note("the exchange ends in order", not run.exchange.faults, run.exchange.faults)
    return verdicts.status()


if __name__ == "__main__":
    sys.exit(main())
