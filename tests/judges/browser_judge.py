# SPDX-License-Identifier: BSL-1.0
#
# Chromium has a WebSocket, an HTTP/1.1, an HTTP/2 and a TLS of its own, and no patience with ours.
"""Opens a subject's page, lets a browser's WebSocket talk to one that echoes, and two pages to each other."""

from __future__ import annotations

import json

from browser import Browser, BrowserTrouble, Page
from subjects import BUILD, HERE, HOST, Subject, serving
from verdicts import Row, skipped, verdict

# Run in the page: what comes back from an echo server, of each kind of message.
ECHO = """
(async () => {
    const socket = new WebSocket(%(url)s);
    socket.binaryType = "arraybuffer";
    const messages = ["", "hello", "\\u03ba".repeat(50000), new Uint8Array(1 << 20).fill(7).buffer,
        ...Array.from({ length: 200 }, (_, each) => `message ${each}`)];
    let next = 0, wrong = 0;
    const same = (left, right) => typeof left === "string" ? left === right
        : right.byteLength === left.byteLength && new Uint8Array(right).every((each) => each === 7);
    return await new Promise((resolve) => {
        socket.onopen = () => messages.forEach((each) => socket.send(each));
        socket.onerror = () => resolve("error");
        socket.onmessage = (event) => {
            if (!same(messages[next++], event.data)) ++wrong;
            if (next === messages.length) socket.close(1000, "done");
        };
        socket.onclose = (event) => resolve(`${next} came back, ${wrong} changed, ` +
            `closed with ${event.code} ${event.wasClean ? "cleanly" : "uncleanly"}, ` +
            `extensions "${socket.extensions}"`);
        setTimeout(() => resolve(`${next} came back in 15 s`), 15000);
    });
})()
"""
ECHOED = "204 came back, 0 changed, closed with 1000 cleanly"


def judge_page(subject: Subject) -> list[Row]:
    """GET / is a page; it has to load without a word on the console. One whose body has `data-ready` is
    waited for until that is `yes`."""
    with serving(subject) as server:
        try:
            with Browser() as browser:
                page = browser.open(f"http://{HOST}:{server.port}/")
                ready = page.wait_for("!document.body.hasAttribute('data-ready') || "
                                      "document.body.dataset.ready === 'yes'")
                picture = BUILD / "reports" / f"{subject.name}-{subject.role}.png"
                page.screenshot(picture)
                text = page.evaluate("document.body.innerText") or ""
                rows = [verdict("the page is ready", ready, f"see {picture}"),
                        verdict("the page shows something", bool(text.strip()), f"see {picture}"),
                        verdict("the console is silent", not page.complaints, "; ".join(page.complaints))]
        except BrowserTrouble as trouble:
            return trouble_rows(trouble)
        rows.append(verdict("the server outlives the browser", server.alive(), "it has ended"))
    return rows


def judge_websocket(subject: Subject) -> list[Row]:
    with serving(subject) as server:
        try:
            with Browser() as browser:
                page = browser.open((HERE / "references" / "pages" / "index.html").as_uri())
                said = page.evaluate(ECHO % {"url": f'"ws://{HOST}:{server.port}/"'})
                return [verdict("messages come back to a browser", said.startswith(ECHOED), said),
                        verdict("the console is silent", not page.complaints, "; ".join(page.complaints))]
        except BrowserTrouble as trouble:
            return trouble_rows(trouble)


def shown(page: Page) -> str:
    return page.evaluate("document.body.innerText")


def enters(page: Page, name: str) -> bool:
    page.evaluate(f"find('name').value = {json.dumps(name)}; find('join').requestSubmit()")
    return page.wait_for("!find('say').hidden")


def says(page: Page, text: str) -> None:
    page.evaluate(f"find('text').value = {json.dumps(text)}; find('say').requestSubmit()")


def sees(page: Page, line: str) -> bool:
    return page.wait_for(f"find('log').innerText.replaceAll('\\n', ' ').includes({json.dumps(line)})")


def judge_chat(subject: Subject) -> list[Row]:
    """The page of a chat room, twice: what is typed into one of them shows in both."""
    with serving(subject) as server:
        try:
            with Browser() as browser:
                url = f"http://{HOST}:{server.port}/"
                one, other = browser.open(url), browser.open(url)
                rows = [verdict(f"{name} enters", enters(page, name), shown(page))
                        for page, name in ((one, "Ada"), (other, "Bo"))]
                says(one, "hello <b>there</b>")
                says(other, "\N{GREEK SMALL LETTER KAPPA}\N{GRINNING FACE} to you")
                for page, name in ((one, "one"), (other, "the other")):
                    seen = sees(page, "Bo has come") if page is one else True
                    seen = seen and sees(page, "hello <b>there</b>")
                    seen = seen and sees(page, "\N{GREEK SMALL LETTER KAPPA}\N{GRINNING FACE} to you")
                    rows.append(verdict(f"messages reach {name}", seen, shown(page)))
                third = browser.open(url)
                rows.append(verdict("a name that is taken is refused, and the page says so",
                                    not enters_soon(third, "Ada"), shown(third)))
                picture = BUILD / "reports" / f"{subject.name}-{subject.role}.png"
                one.screenshot(picture)
                complaints = [each for page in (one, other, third) for each in page.complaints]
                rows.append(verdict("the console is silent", not complaints, "; ".join(complaints)))
        except BrowserTrouble as trouble:
            return trouble_rows(trouble)
        rows.append(verdict("the server outlives the browser", server.alive(), "it has ended"))
    return rows


def enters_soon(page: Page, name: str) -> bool:
    """Whether it is in the room once the page has heard from the server."""
    enters(page, name)
    return not page.wait_for("find('state').textContent.includes('taken')")


def trouble_rows(trouble: BrowserTrouble) -> list[Row]:
    if "installed" in str(trouble):
        return skipped(str(trouble))
    return [verdict("the browser", False, str(trouble))]
