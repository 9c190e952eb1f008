#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The web pages that ./dev docs makes, looked at by a browser: what a link check cannot see.
"""site_browser.py FOLDER [--screenshots DIR] [--pages PATTERN]: FOLDER is the html that ./dev docs has made.

A look opens a page and finds fault with: an error on the console, a script that throws, a request that fails
or goes elsewhere, a page that is wider than its window, the wrong colours. Documents are looked at four
times: as wide as a desk and as a phone, on light and on dark. The other pages, sources and lists of them, are
all made alike: one look each, as wide as a phone, where something sticks out first. In each of the four ways
the search has to find what is there, and nothing for a word that no page has.
First pages of its own, which are wrong on purpose, must be found to be wrong.
Ends with 1 if something is wrong, with 77 where there is no Chromium.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "judges"))

from browser import Browser, BrowserTrouble, Page, program

SKIPPED = 77
WIDTHS = {"desk": 1280, "phone": 375}
HEIGHT = 900
SCHEMES = {"light": "default", "dark": "slate"}  # To the browser, and as the pages name them.
DOCUMENTS = ("docs/", "exchange/docs/")  # And what is in no folder.
PICTURES = ("index", "docs/guide/01_first_hour", "docs/guide/tasks", "docs/inventory", "docs/reference",
            "docs/decisions/0019-exchange-measured", "examples/echo_server.cpp")
SOUGHT = "sleep_for"
NOWHERE = "xyzzyplugh"  # A word that no page has.

# The widest thing that sticks out, for the reader of the complaint.
WIDEST = """
(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= %(width)d) return "";
    let name = "", right = 0;
    for (const each of document.querySelectorAll("body *")) {
        const edge = each.getBoundingClientRect().right;
        if (edge > right) {
            right = edge;
            name = `${each.tagName.toLowerCase()}.${each.className}: ${each.textContent.trim().slice(0, 60)}`;
        }
    }
    return `${root.scrollWidth} px wide, because of ${name}`;
})()
"""
OPEN_SEARCH = """
(() => {
    const toggle = document.getElementById("__search");
    if (!toggle.checked) toggle.click();
    const field = document.querySelector("[data-md-component=search-query]");
    field.value = "";
    field.focus();
})()
"""
FOUND = '[...document.querySelectorAll(".md-search-result__link")].map((each) => each.textContent)'
NONE_FOUND = """
document.querySelector(".md-search-result__meta").textContent.includes("No matching documents")
"""

WRONG = {
    "noisy.html": "<script>console.error('noise')</script>",
    "wide.html": "<div style='width: 3000px'>broad</div>",
    "broken.html": "<img src='missing.png'>",
    "thrown.html": "<script>throw new Error('thrown')</script>",
    "unreached.html": "<img src='http://127.0.0.1:9/there_is_no_server.png'>",
}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class View:
    """One window of a width and a scheme, in which one page after the other is looked at."""

    def __init__(self, browser: Browser, width: int, scheme: str) -> None:
        self._browser, self.width, self.scheme = browser, width, scheme
        self.page: Page = browser.open("about:blank")
        self.page.ask("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
        self.page.ask("Emulation.setEmulatedMedia",
                      {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def go(self, url: str) -> None:
        self.page.protocols.clear()
        self.page.loaded = False
        trouble = self.page.ask("Page.navigate", {"url": url}).get("errorText")
        if trouble:
            self.page.complaints.append(trouble)
        else:
            self._browser.pump(lambda: self.page.loaded)

    def complaints_of(self, url: str) -> list[str]:
        self.go(url)
        wide = self.page.evaluate(WIDEST % {"width": self.width})
        here = urlsplit(url).netloc
        foreign = [each for each in self.page.protocols
                   if urlsplit(each).scheme in ("http", "https") and urlsplit(each).netloc != here]
        return [*self.heard(), *([wide] if wide else []), *(f"asks {each}" for each in foreign)]

    def heard(self) -> list[str]:
        """Since it was last asked. What comes late is a complaint about the next page, and not lost."""
        heard = list(self.page.complaints)
        self.page.complaints.clear()
        return heard

    def wrong_scheme(self) -> list[str]:
        shown = self.page.evaluate("document.body.getAttribute('data-md-color-scheme')")
        return [] if shown == SCHEMES[self.scheme] else [f"shown as {shown}"]

    def search_for(self, word: str, url: str) -> None:
        self.go(url)
        self.page.evaluate(OPEN_SEARCH)
        self.page.ask("Input.insertText", {"text": word})

    def search(self, url: str) -> list[str]:
        self.search_for(NOWHERE, url)
        if not self.page.wait_for(NONE_FOUND):
            return [f"the search finds {NOWHERE}: {str(self.page.evaluate(FOUND))[:200]}"]
        self.search_for(SOUGHT, url)
        if not self.page.wait_for(f"{FOUND}.length > 0"):
            return [f"the search finds no {SOUGHT}"]
        found = self.page.evaluate(FOUND)
        wrong = [] if any(SOUGHT in each for each in found) else [f"found for {SOUGHT}: {str(found)[:200]}"]
        return wrong + self.heard()


def unseen_faults(browser: Browser) -> list[str]:
    """Pages that are wrong on purpose and were taken to be right."""
    with tempfile.TemporaryDirectory() as name:
        for file, body in WRONG.items():
            text = f"<!DOCTYPE html><title>wrong</title><link rel=icon href='data:,'><body>{body}"
            Path(name, file).write_text(text, encoding="utf-8")
        right = "<!DOCTYPE html><link rel=icon href='data:,'>fine"
        Path(name, "right.html").write_text(right, encoding="utf-8")
        with served(Path(name)) as origin:
            view = View(browser, WIDTHS["phone"], "light")
            missed = [file for file in WRONG if not view.complaints_of(f"{origin}/{file}")]
            return missed + view.complaints_of(f"{origin}/right.html")


def is_document(name: str) -> bool:
    return name.startswith(DOCUMENTS) or "/" not in name


def look(folder: Path, names: list[str], pictures: Path | None) -> tuple[int, list[str]]:
    looks, wrong = 0, []
    documents = [each for each in names if is_document(each)]
    with served(folder) as origin, Browser() as browser:
        wrong += [f"the judge is blind: {each}" for each in unseen_faults(browser)]
        for device, width in WIDTHS.items():
            for scheme in SCHEMES:
                where, started = f"{width} px, {scheme}", time.monotonic()
                view = View(browser, width, scheme)
                looked_at = names if (device, scheme) == ("phone", "light") else documents
                for name in looked_at:
                    complaints = view.complaints_of(f"{origin}/{name}") + view.wrong_scheme()
                    wrong += [f"{name} ({where}): {each}" for each in complaints]
                    looks += 1
                    stem = name.removesuffix(".html")
                    if pictures is not None and stem in PICTURES:
                        view.page.screenshot(pictures / f"{stem.replace('/', '-')}-{device}-{scheme}.png")
                wrong += [f"search ({where}): {each}" for each in view.search(f"{origin}/index.html")]
                if pictures is not None:
                    view.page.screenshot(pictures / f"search-{device}-{scheme}.png")
                print(f"{where}: {len(looked_at)} pages, {time.monotonic() - started:.0f} s", flush=True)
    return looks, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Looks at the project's web pages with a browser.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="leave pictures of some pages there")
    parser.add_argument("--pages", default="*", metavar="PATTERN", help="only pages whose path matches")
    options = parser.parse_args()

    if program() is None:
        print("skipped: no Chromium is installed")
        return SKIPPED
    names = sorted(path.relative_to(options.folder).as_posix() for path in options.folder.rglob("*.html"))
    names = [name for name in names if name != "404.html" and fnmatch.fnmatch(name, options.pages)]
    if not names:
        print(f"{options.folder} has no such page")
        return 1
    started = time.monotonic()
    try:
        looks, wrong = look(options.folder, names, options.screenshots)
    except BrowserTrouble as trouble:
        print(f"the browser: {trouble}")
        return 1
    for each in wrong:
        print(each)
    print(f"{len(names)} pages, {looks} looks, {len(wrong)} complaints, {time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
