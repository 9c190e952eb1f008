# SPDX-License-Identifier: BSL-1.0
#
# Admin ports of facilities that are processes, asked by Python's HTTP client and by strangers.
"""Holds the loop of a facility on each backend, which its admin port has to notice; reads what it
tells Prometheus line by line; and lets strangers take all places of the port while orders go on.

    admin_judge.py MATCHING_FACILITY LOAD_GENERATOR BACKEND...

Needs nothing beside Python. Where no thread of a child may be held (ptrace), that part is left out, and said.
"""

import ctypes
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "judges"))

from counted_verdicts import Verdicts

BIN = Path(__file__).resolve().parents[2] / "bin"
SECONDS_MAX = 60
LABELS = r'\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\}'
SAMPLE = re.compile(rf"(exchange_[a-z0-9_]+){LABELS} [0-9]+")
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WAIT_FOR_THREADS = 0x40000000


class Facility:
    """One on ports that the kernel chooses, with a group of its own; ends with its block."""

    def __init__(self, program: str, backend: str, **admin: int) -> None:
        text = (BIN / "exchange.json").read_text(encoding="utf-8")
        config = json.loads(re.sub(r"//[^\n]*", "", text))
        group = f"239.195.{random.randrange(256)}.{random.randrange(256)}:{random.randrange(20000, 30000)}"
        config["order_entry"]["at"] = "127.0.0.1:0"
        config["feed"] |= {"requests": "127.0.0.1:0", "to": group}
        del config["gateways"]
        config["credentials_file"] = str(BIN / "credentials.json")
        config["admin"] = {"at": "127.0.0.1:0"} | admin
        self._folder = tempfile.TemporaryDirectory()
        self.config = Path(self._folder.name) / "exchange.json"
        self.config.write_text(json.dumps(config), encoding="utf-8")
        self.process = subprocess.Popen(
            [program, str(self.config), "--backend", backend], stdout=subprocess.PIPE, text=True
        )
        ready = self.process.stdout.readline()
        found = re.search(r"order entry ([^,]+), .*requests ([^,]+), .*admin [\d.]+:(\d+)", ready)
        if not found:
            raise RuntimeError(f"the facility is not ready: {ready}")
        self.order_entry, self.requests, self.admin = found[1], found[2], int(found[3])

    def __enter__(self) -> "Facility":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(SECONDS_MAX)
        self._folder.cleanup()

    def ask(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=SECONDS_MAX)
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def say(self, text: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.admin), SECONDS_MAX)
        connection.sendall(text)
        return connection


class HeldThread:
    """The first thread of a child stands still, and it alone, within the block."""

    def __init__(self, pid: int) -> None:
        self._ptrace = ctypes.CDLL(None).ptrace
        self._ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self._ptrace.restype = ctypes.c_long
        self._pid = pid

    def __enter__(self) -> bool:
        self._held = self._ptrace(PTRACE_SEIZE, self._pid, None, None) == 0
        if self._held:
            self._ptrace(PTRACE_INTERRUPT, self._pid, None, None)
            os.waitpid(self._pid, WAIT_FOR_THREADS)
        return self._held

    def __exit__(self, *_: object) -> None:
        if self._held:
            self._ptrace(PTRACE_DETACH, self._pid, None, None)


def comes(condition) -> bool:
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        if time.monotonic() > end:
            return False
    return True


def judge_held_loop(facility: Facility, backend: str, verdicts: Verdicts) -> None:
    paths = ("/health", "/ready", "/status", "/metrics", "/tasks")
    verdicts.note(f"{backend}: it is healthy", comes(lambda: facility.ask("/health")[0] == 200))
    with HeldThread(facility.process.pid) as held:
        if not held:
            print(f"     {backend}: left out, since no thread can be held here")
            return
        # An answer that is fresh serves a while.
        verdicts.note(
            f"{backend}: not so when its loop stands still",
            comes(lambda: facility.ask("/health")[0] == 503),
        )
        said = [facility.ask(path)[0] for path in paths]
        verdicts.note(f"{backend}: nothing else is told then", said == [503] * len(paths), said)
    verdicts.note(f"{backend}: it is again", comes(lambda: facility.ask("/health")[0] == 200))


def judge_metrics(text: str, verdicts: Verdicts) -> None:
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    wrong = []
    for line in text.splitlines():
        sample = SAMPLE.fullmatch(line)
        if line.startswith(("# HELP exchange_", "# TYPE exchange_")):
            continue
        name = sample[1] if sample else ""
        kind = kinds.get(name) or kinds.get(name.removesuffix("_count"))
        if kind is None or (kind == "counter") != name.endswith("_total"):
            wrong.append(line)
    verdicts.note(f"{len(kinds)} metrics are as Prometheus reads them", len(kinds) > 10 and not wrong, wrong)


def status_in(connection: socket.socket) -> int:
    found = b""
    while more := connection.recv(65536):
        found += more
    line = re.match(rb"HTTP/1.1 (\d+) ", found)
    return int(line[1]) if line else 0


def judge_strangers(facility: Facility, load_generator: str, verdicts: Verdicts) -> None:
    load = subprocess.Popen(
        [load_generator, "--config", facility.config, "--order-entry", facility.order_entry, "--requests",
         facility.requests, "--credentials", BIN / "passwords.json", "--orders", "5000", "--seed", "1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    head = b"GET /status HTTP/1.1\r\nHost: localhost\r\n"
    # Half as many again as there are places: silent, slow with a request, and idle behind one.
    slow = [facility.say(each) for each in (b"", head[:25], head + b"\r\n") for _ in range(4)]
    for what, text, status in (
        ("a long target", b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        ("many fields", head + b"".join(b"f%d: x\r\n" % each for each in range(1000)) + b"\r\n", 431),
        ("a body", head + b"Content-Length: 999999999\r\n\r\n", 413),
        ("no HTTP", b"\x16\x03\x01\x00\xff\r\n\r\n", 400),
    ):
        said = status_in(facility.say(text))
        verdicts.note(f"strangers: {what} is answered with {status}", said == status, said)
    verdicts.note("strangers: the process is healthy still", facility.ask("/health") == (200, "ok\n"))
    report = load.communicate(timeout=10 * SECONDS_MAX)[0]
    verdicts.note("strangers: orders went on", load.returncode == 0, report)
    def commands() -> int:  # A report may be a tenth of a second old.
        return json.loads(facility.ask("/status")[1])["counts"]["commands"]
    verdicts.note("strangers: all of them are counted", comes(lambda: commands() >= 5000), commands())
    said = [status_in(each) for each in slow[4:8]]
    verdicts.note("strangers: heads that do not end are given up", said == [408] * 4, said)
    judge_metrics(facility.ask("/metrics")[1], verdicts)


def main() -> int:
    program, load_generator, *backends = sys.argv[1:]
    verdicts = Verdicts()
    for backend in backends:
        with Facility(program, backend, answer_within_ms=100) as facility:
            judge_held_loop(facility, backend, verdicts)
    with Facility(program, backends[0], connections_max=8) as facility:
        judge_strangers(facility, load_generator, verdicts)
    return verdicts.status()


if __name__ == "__main__":
    sys.exit(main())
