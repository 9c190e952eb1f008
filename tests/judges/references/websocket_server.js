// SPDX-License-Identifier: BSL-1.0
//
// npm's ws as an echo server: websocket_server.js PORT
"use strict";
const { WebSocketServer } = require("ws");

const server = new WebSocketServer({
    host: "127.0.0.1", port: Number(process.argv[2]), perMessageDeflate: true, maxPayload: 2 ** 25,
});
server.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on("error", () => {});  // The suite breaks the protocol on purpose.
});
