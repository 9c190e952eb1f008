// SPDX-License-Identifier: BSL-1.0
//
// Node's HTTP server, which reads by llhttp as ours does: http_server.js PORT
"use strict";
const http = require("http");

const server = http.createServer((request, response) => {
    request.on("error", () => {});
    if (request.url === "/moved" || request.url === "/round") {
        response.writeHead(302, { Location: request.url === "/moved" ? "/" : "/round" });
        response.end();
    } else if (request.url === "/echo") {
        request.pipe(response);
    } else {
        request.resume();
        request.on("end", () => response.end("hello\n"));
    }
});
server.listen(Number(process.argv[2]), "127.0.0.1");
