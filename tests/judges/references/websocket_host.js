// SPDX-License-Identifier: BSL-1.0
//
// The paths of the suite's server, on npm's ws: websocket_host.js PORT
// Prints `all echoed` when the client asks for reports and was right in each case.
"use strict";
const { WebSocketServer } = require("ws");

const cases = [["hello"], ["", "\u03ba".repeat(40000)], [Buffer.alloc(1 << 18, 7)],
    Array.from({ length: 300 }, (_, each) => `message ${each}`)];
const right = new Set();

function runCase(socket, which) {
    const messages = cases[which - 1];
    let next = 0;
    socket.on("message", (data, isBinary) => {
        const sent = messages[next++];
        const same = isBinary === (typeof sent !== "string") && Buffer.from(sent).equals(data);
        if (!same) return socket.close(1002);
        if (next < messages.length) return socket.send(messages[next]);
        socket.on("pong", () => { right.add(which); socket.close(1000); });
        return socket.ping();
    });
    socket.send(messages[0]);
}

const port = Number(process.argv[2]);
const server = new WebSocketServer({ host: "127.0.0.1", port, perMessageDeflate: true });
server.on("connection", (socket, request) => {
    const url = new URL(request.url, "http://localhost");
    socket.on("error", () => {});
    if (url.pathname === "/getCaseCount") {
        socket.send(String(cases.length));
        socket.close(1000);
    } else if (url.pathname === "/runCase") {
        runCase(socket, Number(url.searchParams.get("case")));
    } else {
        const said = `${right.size} of ${cases.length} were echoed`;
        console.log(right.size === cases.length ? "all echoed" : said);
        socket.close(1000);
    }
});
