# SPDX-License-Identifier: BSL-1.0
#
# Chromium has a WebSocket, an HTTP/1.1, an HTTP/2 and a TLS of its own, and no patience with ours.
"""Opens a subject's page, and lets a browser's WebSocket talk to a subject that echoes."""

from __future__ import annotations

from browser import Browser, BrowserTrouble
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


def trouble_rows(trouble: BrowserTrouble) -> list[Row]:
    if "installed" in str(trouble):
        return skipped(str(trouble))
    return [verdict("the browser", False, str(trouble))]
