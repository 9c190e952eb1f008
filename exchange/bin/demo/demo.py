#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The exchange as a demonstration: `./dev demo` builds what it needs and runs this.

    demo.py --build DIR [--seconds N] [--free-ports] [--no-measuring]

Starts the processes that this folder describes under their supervisor, says where the page is and who
may log in there, tells each second how trading goes, and meanwhile measures the eight scenarios on gyre and
on Boost.Asio. After N seconds (60; 0: never), or at the first SIGINT, SIGTERM or SIGHUP, it ends all of them.

Exit status: 0 if all went well, 1 if a process died, a trader was told what does not agree, or nothing could
be started (a port that is taken is named).
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path

CONFIGURATION = Path(__file__).resolve().parent
ROOT = CONFIGURATION.parents[2]
LIFELINE = "EXCHANGE_LIFELINE"
READY_SECONDS_MAX = 30.0
END_SECONDS_MAX = 45.0
ASK_SECONDS_MAX = 2.0
SPARED_SECONDS = 6.0  # Of the demonstration's time: measuring begins later, and its last turn has to end.
MEASURED_SECONDS_MAX = 48.0
LOGIN = "alice, password secret (or bob, secret); as its operator: ops, operator"

# Of what the traders say in the end; the log has all of it.
TOLD_OF_TRADERS = ("sent ", "answered after ", "heard: ", "everything agrees")

LAB = (sys.executable, "-B", ROOT / "lab" / "run.py")

COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
PLACE = re.compile(r"127\.0\.0\.1:([1-9]\d*)")
GROUP = re.compile(r"(239(?:\.\d+){3}):(\d+)")


class Trouble(Exception):
    """Why there is no demonstration, in words for the one who wants it."""


# -------- The configuration --------


def read_config(text: str) -> dict:
    """JSON with comments, which no text of it is taken for."""
    return json.loads(COMMENT.sub(lambda found: found[1] or "", text))


def ports_of(folder: Path) -> list[int]:
    """All ports of this machine that the configuration names. On each of them a process listens."""
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.json")]
    return sorted({int(port) for text in texts for port in PLACE.findall(COMMENT.sub(r"\1", text))})


def is_free(port: int) -> bool:
    """True if neither a listener nor a datagram socket of another program has it."""
    with socket.socket() as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        # As our processes do: a lingering connection is in no way.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(1)
            datagrams.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Different ports, which the kernel does not give away again soon."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in probes:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in probes]


def prepare(source: Path, folder: Path, with_free_ports: bool) -> dict[str, dict]:
    """Copies the configuration to a folder of its own, which only the owner can read, as passwords want it.

    Paths to what is beside it become absolute. Returns what each file says.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    replaced: dict[str, str] = {}
    if with_free_ports:
        known = ports_of(source)
        *ports, of_group = free_ports(len(known) + 1)
        replaced = {str(old): str(new) for old, new in zip(known, ports)}
    made = {}
    for path in sorted(source.glob("*.json")):
        text = PLACE.sub(lambda found: f"127.0.0.1:{replaced.get(found[1], found[1])}",
                         path.read_text(encoding="utf-8"))
        if with_free_ports:
            text = GROUP.sub(lambda found: f"{found[1]}:{of_group}", text)
        text = re.sub(r'"(\.\./[^"]*)"', lambda found: json.dumps(str((source / found[1]).resolve())), text)
        target = folder / path.name
        target.write_text(text, encoding="utf-8")
        target.chmod(0o600)
        made[path.name] = read_config(text)
    return made


# -------- The exchange --------


class Exchange:
    """All its processes, under a supervisor that ends when this process does, however that ends."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.log = folder / "log.txt"
        self.ready = threading.Event()
        self.over = threading.Event()
        self.said: list[str] = []    # By the traders, behind their first lines.
        self.faults: list[str] = []  # What went wrong, as the supervisor's log tells it.
        read, self._lifeline = os.pipe()
        try:
            # A group of its own: a terminal's Ctrl-C is ours, and ends what there is in order.
            self._process = subprocess.Popen(
                [programs / "exchange_supervisor", folder / "supervisor.json"], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                env=os.environ | {LIFELINE: str(read)}, pass_fds=(read,), start_new_session=True)
        finally:
            os.close(read)
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        with self.log.open("w", encoding="utf-8") as log:
            for line in self._process.stdout:
                log.write(line)
                log.flush()
                self.hear(line.rstrip("\n"))
        self.over.set()
        self.ready.set()

    def hear(self, line: str) -> None:
        """A line of the supervisor's or of one of its children."""
        if line.startswith("ready: "):
            self.ready.set()
        elif line.startswith("traders: ") and self.ready.is_set():
            self.said.append(line.removeprefix("traders: "))
        elif line.startswith("load_generator: "):
            self.faults.append(line)
        elif line.startswith("{"):
            with contextlib.suppress(ValueError):
                self._hear_event(json.loads(line))

    def _hear_event(self, event: dict) -> None:
        if event.get("process") != "exchange_supervisor":
            return
        if event.get("event") == "replacement_failed":
            self.faults.append(f"{event['name']} could not be replaced ({event['how']})")
        if event.get("event") != "child_ended":
            return
        if event.get("was") not in ("draining", "replaced"):
            self.faults.append(f"{event['name']} has died ({event['how']})")
        elif event.get("how") != "exited with 0":
            self.faults.append(f"{event['name']} has not ended well ({event['how']})")

    def end(self) -> None:
        """In order: the last that came is the first that goes. Waits for it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGTERM)  # The second one kills all at once.
            status = self._process.wait()
            self.faults.append(f"it did not end within {END_SECONDS_MAX:.0f} s")
        self._reader.join(ASK_SECONDS_MAX)
        if not self._reader.is_alive():
            self._process.stdout.close()
        os.close(self._lifeline)
        if status != 0:
            self.faults.append(f"the supervisor ended with {status}")


def ask(admin: str, path: str) -> dict | None:
    """What an admin port says; None if it does not answer."""
    connection = http.client.HTTPConnection(admin, timeout=ASK_SECONDS_MAX)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        return json.loads(answer.read()) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


def quantile(before: list[list[int]], after: list[list[int]], share: float) -> int | None:
    """Of what was measured between two answers of /latency: the last value of a bucket, in nanoseconds."""
    known = dict(map(tuple, before))
    counts = [(last, count - known.get(last, 0)) for last, count in sorted(map(tuple, after))]
    total, seen = sum(count for _, count in counts), 0
    for last, count in counts:
        seen += count
        if total and seen >= share * total:
            return last
    return None


class Pulse:
    """How trading goes, from one second to the next, as the facility's admin port tells it."""

    def __init__(self, admin: str) -> None:
        self._admin = admin
        self._before: tuple[float, dict, list] | None = None

    def line(self) -> str:
        status, latency = ask(self._admin, "/status"), ask(self._admin, "/latency")
        if status is None or latency is None:
            self._before = None
            return "the facility does not answer"
        now, before = time.monotonic(), self._before
        self._before = now, status["counts"], latency["buckets"]
        if before is None:
            return "the first second"
        return self.told(now - before[0], before[1:], self._before[1:])

    @staticmethod
    def told(seconds: float, before: tuple[dict, list], after: tuple[dict, list]) -> str:
        def rate(name: str) -> float:
            return (after[0][name] - before[0][name]) / seconds

        words = [f"{rate('commands'):5.0f} orders/s", f"{after[0]['orders_resting']} rest in the books",
                 f"{rate('feed_messages'):5.0f} messages of the feed/s"]
        found = [quantile(before[1], after[1], share) for share in (0.5, 0.99)]
        if None not in found:
            words.append("inside p50 {:.0f} us, p99 {:.0f} us".format(*(each / 1000 for each in found)))
        return ", ".join(words)


# -------- The scenarios --------


def end_with_parent() -> None:
    """Of a child before it starts: as by Ctrl-C, should this process be killed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGINT)


def measured_contenders(build: Path) -> list[str]:
    """Gyre on io_uring, or on epoll where the kernel has or allows none; Asio as it is fastest."""
    program = build / "lab" / "exchange_gyre"
    tried = subprocess.run([program, "--backend", "uring", "--scale", "glance", "--case", "1_filled_1000"],
                           capture_output=True)
    return ["gyre_uring" if tried.returncode == 0 else "gyre_epoll", "asio_callback"]


class Measuring:
    """The eight scenarios on gyre and on Boost.Asio, beside the exchange that trades."""

    def __init__(self, build: Path, folder: Path, seconds: float) -> None:
        self.contenders = measured_contenders(build)
        self._file = folder / "scenarios.jsonl"
        self._log = (folder / "scenarios.txt").open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            [*LAB, "exchange", "--glance", "--no-system-calls",
             "--build", build, "--contenders", ",".join(self.contenders), "--seconds", f"{seconds:.0f}",
             "--json", self._file],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, start_new_session=True,
            preexec_fn=end_with_parent)

    def over(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        """Stops it, if it is not over; what was measured stays."""
        if not self.over():
            self._process.send_signal(signal.SIGINT)
        self._process.wait()
        self._log.close()

    def table(self) -> str:
        """What there is of it, or why there is nothing."""
        drawn = subprocess.run([*LAB, "report", self._file, "--rows"], capture_output=True, encoding="utf-8")
        if drawn.returncode != 0:
            return f"No table: {(drawn.stderr.strip().splitlines() or ['no word of why'])[-1]}"
        if "no row of both" in drawn.stdout or "(one block)" in drawn.stdout:
            return "No table: it was too short for each of the eight scenarios to be measured twice."
        gyre, other = self.contenders
        return f"""\
The eight scenarios, from an order's last byte in to the last byte of what it causes out: p50 of 100 events at
1,000 a second, book filled, {gyre} beside {other}. A quick look, on a machine that trades meanwhile; an
interval that holds 1 decides nothing. `./dev bench exchange` is the full run.
{drawn.stdout.rstrip()}"""


# -------- The demonstration --------


class Screen:
    """What is said; the last line is rewritten while it is alive, on a terminal."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._alive = False

    def say(self, text: str) -> None:
        if self._alive:
            print("\r\033[K", end="")
            self._alive = False
        print(text, flush=True)

    def pulse(self, text: str, second: int) -> None:
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{text[:width]}", end="", flush=True)
            self._alive = True
        elif second % 10 == 0:
            self.say(text)


class Signals:
    """The first SIGINT, SIGTERM or SIGHUP asks for the end. Later ones change nothing: it ends as it is."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda *_: self.asked.set())


def check_ports(folder: Path) -> None:
    taken = [str(each) for each in ports_of(folder) if not is_free(each)]
    if taken:
        raise Trouble(f"another program has these ports on 127.0.0.1: {', '.join(taken)}. End it (another "
                      "demo?), or let the kernel choose: ./dev demo --free-ports")


def wait_ready(exchange: Exchange, signals: Signals) -> None:
    deadline = time.monotonic() + READY_SECONDS_MAX
    while not exchange.ready.wait(0.05) and not signals.asked.is_set():
        if time.monotonic() > deadline:
            raise Trouble(f"not ready after {READY_SECONDS_MAX:.0f} s; {exchange.log} tells more")
    if exchange.over.is_set():
        raise Trouble(f"the exchange could not be started; {exchange.log} tells why")


def greet(screen: Screen, made: dict[str, dict], seconds: int, folder: Path) -> None:
    page = f"http://{made['web.json']['at']}/"
    until = f"for {seconds} s, or until Ctrl-C" if seconds else "until Ctrl-C"
    screen.say(f"""\
    The exchange runs {until}: facility, gateway, distributor, page, and four traders who trade at random.

        page      {page}
        log in    {LOGIN}; instrument 1 trades about 1000, 2 about 20000
        figures   http://{made['exchange.json']['admin']['at']}/status (the facility's; web.json has all)
        replace   curl -X POST 'http://{made['supervisor.json']['admin']['at']}/replace?child=gateway'
        logs      {os.path.relpath(folder / 'log.txt')}
""")
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(page)


def watch(screen: Screen, exchange: Exchange, signals: Signals, pulse: Pulse, measuring: Measuring | None,
          seconds: int) -> None:
    begun, second, shown, told = time.monotonic(), 0, measuring is None, 0
    while not exchange.over.is_set():
        second += 1
        for each in exchange.faults[told:]:
            screen.say(f"    {each}")
            told += 1
        left = begun + second - time.monotonic()
        if signals.asked.wait(max(0.0, left)) or (seconds and second > seconds):
            break
        screen.pulse(f"    {second:3d} s: {pulse.line()}", second)
        if not shown and measuring.over():
            shown = True
            screen.say(f"\n{measuring.table()}\n")
    if not shown:
        measuring.end()
        screen.say(f"\n{measuring.table()}\n")


def demonstrate(asked: argparse.Namespace, screen: Screen, signals: Signals) -> int:
    folder = asked.build / "demo-run"
    made = prepare(CONFIGURATION, folder, asked.free_ports)
    check_ports(folder)
    exchange = Exchange(asked.build / "exchange" / "bin", folder)
    measuring = None
    try:
        wait_ready(exchange, signals)
        greet(screen, made, asked.seconds, folder)
        if asked.measuring:
            time_left = (asked.seconds or MEASURED_SECONDS_MAX) - SPARED_SECONDS
            measuring = Measuring(asked.build, folder, max(1.0, min(MEASURED_SECONDS_MAX, time_left)))
        pulse = Pulse(made["exchange.json"]["admin"]["at"])
        watch(screen, exchange, signals, pulse, measuring, asked.seconds)
    finally:
        if measuring:
            measuring.end()
        exchange.end()
    for each in exchange.said:
        if each.startswith(TOLD_OF_TRADERS):
            screen.say(f"    traders: {each}")
    for each in exchange.faults:
        screen.say(f"demo: {each}")
    screen.say(f"demo: {exchange.log} tells more" if exchange.faults else NEXT)
    return 1 if exchange.faults else 0


NEXT = """\

Next: examples/echo_server.cpp is the least that a server on gyre is; exchange/README.md tells what you have
just seen; `./dev bench exchange` measures it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument("--seconds", type=int, default=60, metavar="N", help="how long; 0: until Ctrl-C")
    parser.add_argument("--free-ports", action="store_true", help="let the kernel choose all ports")
    parser.add_argument("--no-measuring", dest="measuring", action="store_false",
                        help="leave the scenarios out")
    asked = parser.parse_args()
    asked.build = asked.build.resolve()
    screen, signals = Screen(), Signals()
    try:
        return demonstrate(asked, screen, signals)
    except Trouble as why:
        screen.say(f"demo: {why}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
