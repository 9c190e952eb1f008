// SPDX-License-Identifier: BSL-1.0
//
// npm's ws as the client that the suite's server expects: websocket_client.js URL AGENT
"use strict";
const WebSocket = require("ws");

const [url, agent] = process.argv.slice(2);

function visit(path, onMessage) {
    return new Promise((resolve) => {
        const socket = new WebSocket(url + path, { perMessageDeflate: true, maxPayload: 2 ** 25 });
        socket.on("message", (data, isBinary) => onMessage(socket, data, isBinary));
        socket.on("close", resolve);
        socket.on("error", () => {});
    });
}

async function main() {
    let count = 0;
    await visit("/getCaseCount", (socket, data) => { count = Number(data.toString()); });
    for (let each = 1; each <= count; ++each) {
        await visit(`/runCase?case=${each}&agent=${agent}`,
            (socket, data, isBinary) => socket.send(data, { binary: isBinary }));
    }
    await visit(`/updateReports?agent=${agent}`, () => {});
    process.exitCode = count > 0 ? 0 : 1;
}

main();
