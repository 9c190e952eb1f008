// SPDX-License-Identifier: BSL-1.0
//
// What a client of npm's ws asks of an echo server: websocket_visitor.js URL
// Ends with 0 if everything came back, else says what did not.
"use strict";
const assert = require("assert");
const WebSocket = require("ws");

const binary = Buffer.from(Array.from({ length: 1 << 20 }, (_, at) => at & 255));
const messages = ["", "hello", "\u03ba\u{1f600}".repeat(1000), Buffer.alloc(0), binary,
    ...Array.from({ length: 1000 }, (_, each) => `message ${each}`)];

function visit(url, perMessageDeflate) {
    return new Promise((resolve, reject) => {
        const socket = new WebSocket(url, { perMessageDeflate, maxPayload: 2 ** 25 });
        let next = 0, ponged = false;
        const timer = setTimeout(() => reject(new Error(`after 40 s, ${next} have come back`)), 40000);
        socket.on("open", () => {
            socket.ping("are you there?");
            for (const message of messages) socket.send(message);
        });
        socket.on("pong", (data) => { ponged = data.toString() === "are you there?"; });
        socket.on("message", (data, isBinary) => {
            const sent = messages[next++];
            assert.strictEqual(isBinary, typeof sent !== "string");
            assert.ok(Buffer.from(sent).equals(data), `message ${next} came back changed`);
            if (next === messages.length) socket.close(1000, "done");
        });
        socket.on("close", (code) => {
            clearTimeout(timer);
            if (code === 1000 && ponged && next === messages.length) resolve();
            else reject(new Error(`closed with ${code} after ${next}, pong: ${ponged}`));
        });
        socket.on("error", reject);
    });
}

visit(process.argv[2], false).then(() => visit(process.argv[2], true)).then(
    () => console.log("all came back"),
    (error) => { console.log(String(error)); process.exit(1); });
