// SPDX-License-Identifier: BSL-1.0
//
// What Node's `ws` can do as a server of WebSocket, so that the lab can put it beside gyre (lab/README.md,
// "Peers"). With bufferutil, which its documentation advises for speed:
// https://github.com/websockets/ws#opt-in-for-performance
"use strict";

const http = require("http");
const { WebSocketServer } = require("ws");
const library = require("ws/package.json").version;

function leave(code, why) {
  process.stderr.write(`ws: ${why}\n`);
  process.exit(code);
}

const given = {};
const words = process.argv.slice(2);
while (words.length > 0) {
  const name = words.shift();
  if (name === "--version") {
    process.stdout.write(`ws ${library} epoll\n`);
    process.exit(0);
  }
  if (!["--workload", "--threads", "--port"].includes(name)) leave(2, `unknown argument: ${name}`);
  given[name.slice(2)] = words.shift();
}
if ((given.workload || "websocket") !== "websocket") leave(2, `no such workload: ${given.workload}`);
if ((given.threads || "1") !== "1") leave(2, "it has one thread");
if (given.port === undefined) leave(2, "--port is missing");

const server = http.createServer();
server.on("connection", (socket) => socket.setNoDelay(true));
const sockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
const room = new Set();
sockets.on("connection", (socket, request) => {
  socket.on("error", () => {});
  if (request.url !== "/hub") {
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
    return;
  }
  room.add(socket);
  socket.on("close", () => room.delete(socket));
  socket.on("message", (data, isBinary) => {
    for (const each of room) each.send(data, { binary: isBinary });
  });
});
server.on("error", (error) => leave(1, error.message));
process.on("SIGTERM", () => process.exit(0));
server.listen({ host: "127.0.0.1", port: Number(given.port), backlog: 4096 }, () => {
  process.stdout.write("ready\n");
});
