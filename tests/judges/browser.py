# SPDX-License-Identifier: BSL-1.0
#
# A browser is asked by its own protocol over a pair of pipes, so nothing has to be installed beside it.
"""Opens pages in a Chromium without a window, and tells what went wrong there.

    with Browser() as browser:
        page = browser.open("http://127.0.0.1:8080/")
        page.wait_for("document.querySelector('#log').children.length > 0")
        page.screenshot(path)
        print(page.complaints)
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from subjects import end_group

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS_MAX = 30.0
# Without these it asks for updates and the like, which a closed network answers late.
QUIET = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,900")


class BrowserTrouble(Exception):
    """It cannot be started, does not answer, or refuses."""


def program() -> str | None:
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def above_4(descriptor: int) -> int:
    """The same under a number that is in nobody's way."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Browser:
    """One browser with a profile of its own; ends with the block that it is opened in."""

    def __init__(self, *options: str) -> None:
        found = program()
        if found is None:
            raise BrowserTrouble("no Chromium is installed")
        self._profile = tempfile.TemporaryDirectory(prefix="judges-browser-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        to_browser, from_browser = above_4(to_browser), above_4(from_browser)
        # It reads descriptor 3 and writes 4; the shell moves ours there. /bin/sh knows single digits only.
        command = ["/bin/bash", "-c", f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"', "bash", found,
                   *QUIET, *options, "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}",
                   "about:blank"]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True,
                                         pass_fds=(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._last = 0
        self.pages: dict[str, Page] = {}

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self._process)
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def open(self, url: str) -> Page:
        """A page that has loaded, or failed to: its complaints tell."""
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        trouble = page.ask("Page.navigate", {"url": url}).get("errorText")
        if trouble:
            page.complaints.append(f"{url}: {trouble}")
        else:
            self.pump(lambda: page.loaded)
        return page

    def ask(self, method: str, parameters: dict | None = None, session: str | None = None) -> dict:
        self._last += 1
        call = {"id": self._last, "method": method, "params": parameters or {}}
        if session:
            call["sessionId"] = session
        os.write(self._write, json.dumps(call).encode() + b"\0")
        answers: list[dict] = []
        self.pump(lambda: bool(answers), self._last, answers)
        if "error" in answers[0]:
            raise BrowserTrouble(f"{method}: {answers[0]['error']['message']}")
        return answers[0]["result"]

    def pump(self, done, wanted: int = 0, answers: list[dict] | None = None,
             seconds_max: float = SECONDS_MAX) -> None:
        """Reads messages until `done()`; the answer to call `wanted` goes to `answers`."""
        deadline = time.monotonic() + seconds_max
        while not done():
            end = self._buffer.find(b"\0")
            if end >= 0:
                message, self._buffer = json.loads(self._buffer[:end]), self._buffer[end + 1:]
                if wanted and message.get("id") == wanted:
                    answers.append(message)
                elif (page := self.pages.get(message.get("sessionId", ""))) is not None:
                    page.hear(message)
                continue
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise BrowserTrouble(f"nothing within {seconds_max:.0f} s")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise BrowserTrouble("the browser has ended")
            self._buffer += piece


class Page:
    """`complaints` are errors of scripts, of the console, and of what the page loads; `frames` counts what
    its WebSockets have received, `protocols` says how each URL was fetched (`http/1.1`, `h2`)."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.loaded = False
        self.complaints: list[str] = []
        self.frames = 0
        self.protocols: dict[str, str] = {}

    def ask(self, method: str, parameters: dict | None = None) -> dict:
        return self._browser.ask(method, parameters, self._session)

    def hear(self, message: dict) -> None:
        kind, what = message.get("method", ""), message.get("params", {})
        if kind == "Page.loadEventFired":
            self.loaded = True
        elif kind == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(each.get("value", each.get("description")))
                                            for each in what["args"]))
        elif kind == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.complaints.append(f"{what['entry'].get('url', '')} {what['entry']['text']}".strip())
        elif kind == "Network.webSocketFrameReceived":
            self.frames += 1
        elif kind == "Network.webSocketFrameError":
            self.complaints.append(f"WebSocket: {what['errorMessage']}")
        elif kind == "Network.responseReceived":
            self.protocols[what["response"]["url"]] = what["response"].get("protocol", "")

    def evaluate(self, expression: str) -> Any:
        """Its value, once it is settled."""
        found = self.ask("Runtime.evaluate", {"expression": expression, "returnByValue": True,
                                              "awaitPromise": True})
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise BrowserTrouble(details.get("exception", {}).get("description") or details["text"])
        return found["result"].get("value")

    def wait_for(self, expression: str, seconds_max: float = 10.0) -> bool:
        deadline = time.monotonic() + seconds_max
        while time.monotonic() < deadline:
            if self.evaluate(expression):
                return True
            time.sleep(0.05)
        return False

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.ask("Page.bringToFront")  # Chromium draws no page that stands behind another.
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", {"format": "png"})["data"]))
