// SPDX-License-Identifier: BSL-1.0
//
// What Node asks of a server of HTTP/1.1: http_visitor.js URL
// Ends with 0 if all was answered, else says what was not.
"use strict";
const assert = require("assert");
const http = require("http");

const url = process.argv[2];
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const sockets = new Set();

function ask(method, path, body, headers) {
    return new Promise((resolve, reject) => {
        const request = http.request(url + path, { method, agent, headers, timeout: 20000 }, (response) => {
            const pieces = [];
            response.on("data", (piece) => pieces.push(piece));
            response.on("end", () => resolve({ status: response.statusCode, body: Buffer.concat(pieces) }));
            response.on("error", reject);
        });
        request.on("socket", (socket) => sockets.add(socket));
        request.on("timeout", () => request.destroy(new Error("no answer in 20 s")));
        request.on("error", reject);
        for (const piece of body) request.write(piece);
        request.end();
    });
}

async function main() {
    for (let round = 0; round < 20; ++round) assert.strictEqual((await ask("GET", "", [])).status, 200);
    assert.strictEqual(sockets.size, 1, `${sockets.size} connections for 20 requests in a row`);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask("GET", "", [])));
    assert.ok(answers.every((each) => each.status === 200));
    assert.strictEqual((await ask("HEAD", "", [])).body.length, 0);
    for (const size of [1, 65536, 1 << 20]) {
        const body = Buffer.alloc(size, "x");
        const whole = await ask("POST", "echo", [body], { "Content-Length": size });
        assert.ok(whole.body.equals(body), `${size} bytes came back as ${whole.body.length}`);
        const pieces = Array.from({ length: 16 }, () => body.subarray(0, size >> 4));
        const chunked = await ask("POST", "echo", pieces);
        assert.ok(chunked.body.equals(Buffer.concat(pieces)), `chunks of ${size >> 4} came back changed`);
    }
    agent.destroy();
    console.log("all came back");
}

main().catch((error) => { console.log(String(error)); process.exit(1); });
