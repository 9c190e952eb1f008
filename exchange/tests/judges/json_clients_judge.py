# SPDX-License-Identifier: BSL-1.0
#
# The clients that we show to others, on others' WebSockets, against a facility that is a process.
"""Runs the programs of exchange/clients/python with PyPI's websockets, and the page of
exchange/clients/browser in a Chromium without a window.

    json_clients_judge.py MATCHING_FACILITY

Ends with 77, which ctest takes for skipped, if neither can be had.
"""

import functools
import http.server
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXCHANGE = ROOT / "exchange"
sys.path.insert(0, str(ROOT / "tests" / "judges"))

import toolbox  # noqa: E402
from browser import Browser, BrowserTrouble  # noqa: E402
from counted_verdicts import Verdicts  # noqa: E402

SKIPPED = 77
SECONDS_MAX = 60


class Facility:
    """One on ports that the kernel chooses, with a group of its own; ends with its block."""

    def __init__(self, program: str, origin: str) -> None:
        text = (EXCHANGE / "bin" / "exchange.json").read_text(encoding="utf-8")
        config = json.loads(re.sub(r"//[^\n]*", "", text))
        config["order_entry"] = {
            "at": "127.0.0.1:0",
            "websocket_at": "127.0.0.1:0",
            "websocket_origin": origin,
        }
        group = f"239.195.{random.randrange(256)}.{random.randrange(256)}:{random.randrange(20000, 30000)}"
        config["feed"] |= {"requests": "127.0.0.1:0", "to": group}
        del config["gateways"]
        config["credentials_file"] = str(EXCHANGE / "bin" / "credentials.json")
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "exchange.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        self._process = subprocess.Popen([program, str(path)], stdout=subprocess.PIPE, text=True)
        ready = self._process.stdout.readline()
        found = re.search(r"websocket ([\d.:]+)", ready)
        self.url = f"ws://{found[1]}/order-entry/v1" if found else ""
        if not self.url:
            raise RuntimeError(f"the facility is not ready: {ready}")

    def __enter__(self) -> "Facility":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(SECONDS_MAX)
        self._folder.cleanup()


def judge_python(facility: Facility, verdicts: Verdicts) -> None:
    python = toolbox.get("python") / "bin" / "python"

    def run(password: str, *words: str) -> tuple[int, list[str], str]:
        done = subprocess.run(
            [python, "-B", EXCHANGE / "clients" / "python" / "order_entry.py", facility.url, *words],
            env=os.environ | {"EXCHANGE_PASSWORD": password},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        names = re.findall(r"'message': '(\w+)'", done.stdout)
        return done.returncode, names, done.stderr

    for turn in ("first", "second"):
        status, names, said = run("secret", "alice", "1", "buy", "900", "3")
        verdicts.note(
            f"python: the {turn} order rests and is cancelled",
            (status, names) == (0, ["order_entered", "order_cancelled"]),
            (status, names, said),
        )
    status, names, said = run("secret", "alice", "1", "buy", "90000", "3")
    verdicts.note("python: an order beyond the collar is refused", status == 1, (status, names, said))
    status, names, said = run("wrong", "alice", "1", "buy", "900", "3")
    verdicts.note("python: a wrong password is told", status == 3 and "not_authorized" in said, said)


def judge_page(facility: Facility, origin: str, verdicts: Verdicts) -> None:
    def fill(**values: str) -> str:
        return ";".join(
            f"document.getElementById({key!r}).value = {value!r}" for key, value in values.items()
        )

    with Browser() as browser:
        page = browser.open(f"{origin}/index.html")
        page.evaluate(fill(url=facility.url, user="bob", password="secret"))
        page.evaluate("document.querySelector('#login button').click()")
        ready = page.wait_for("document.body.dataset.ready === 'yes'", SECONDS_MAX)
        verdicts.note("page: it logs in", ready, page.evaluate("document.body.innerText"))
        page.evaluate(fill(side="sell", price="1234", quantity="7"))
        page.evaluate("document.querySelector('#order button').click()")
        rests = page.wait_for("document.querySelectorAll('#orders tr').length === 1", SECONDS_MAX)
        row = page.evaluate("document.querySelector('#orders')?.innerText") or ""
        verdicts.note("page: an order rests", rests and "1234" in row and "7" in row, row)

        # The page's connection breaks without a word; it comes again and knows its order.
        page.evaluate("(socket.close(3000), true)")
        lost = page.wait_for("document.body.dataset.ready !== 'yes'", SECONDS_MAX)
        again = page.wait_for("document.body.dataset.ready === 'yes'", SECONDS_MAX)
        rows = page.evaluate("document.querySelectorAll('#orders tr').length")
        verdicts.note(
            "page: it comes again, with its order", lost and again and rows == 1, (lost, again, rows)
        )
        page.evaluate("document.querySelector('#orders button').click()")
        gone = page.wait_for("document.querySelectorAll('#orders tr').length === 0", SECONDS_MAX)
        verdicts.note("page: the order is cancelled", gone, page.evaluate("document.body.innerText"))
        verdicts.note("page: the console is silent", not page.complaints, page.complaints)

        refused = browser.open(f"{origin}/index.html")
        refused.evaluate(fill(url=facility.url, user="bob", password="wrong"))
        refused.evaluate("document.querySelector('#login button').click()")
        told = refused.wait_for("document.querySelector('#state').innerText.includes('refused')", SECONDS_MAX)
        verdicts.note("page: a refused login is told", told, refused.evaluate("document.body.innerText"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def main(words: list[str]) -> int:
    pages = functools.partial(Quiet, directory=str(EXCHANGE / "clients" / "browser"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    verdicts = Verdicts()
    with Facility(words[0], origin) as facility:
        try:
            judge_python(facility, verdicts)
        except toolbox.Missing as reason:
            print(f"skip python: {reason}")
        try:
            judge_page(facility, origin, verdicts)
        except BrowserTrouble as reason:
            if "installed" not in str(reason):
                verdicts.note("page", False, reason)
            else:
                print(f"skip page: {reason}")
    server.shutdown()
    if verdicts.judged == 0:
        return SKIPPED
    return 1 if verdicts.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
