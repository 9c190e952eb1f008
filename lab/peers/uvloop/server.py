# SPDX-License-Identifier: BSL-1.0
#
# What Python can do as a server with uvloop, so that the lab can put it beside gyre (lab/README.md, "Peers").
#
# As its documentation advises for speed: loop.create_server() and a protocol, the fastest of the three ways
# that it measures, run by uvloop.run(): https://github.com/MagicStack/uvloop#performance
# One loop, one thread, one process is all that it tells of, so that is all there is here.
"""server.py --workload echo|http --threads 1 --port P"""

import asyncio
import os
import re
import signal
import socket
import sys

import uvloop

BACKLOG = 4096
REQUEST_SIZE_MAX = 16 * 1024
HEAD = b"HTTP/1.1 404 Not Found\r\nConnection: "
REST = b"\r\nContent-Type: text/plain\r\nContent-Length: 24\r\n\r\nThere is nothing here.\r\n"
KEPT = HEAD + b"keep-alive" + REST
CLOSING = HEAD + b"     close" + REST
CONNECTION = re.compile(rb"\r\nConnection:[ \t]*(close|keep-alive)[ \t]*\r\n", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """What both workloads do alike."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    # A client that does not read is not read from, either.
    def pause_writing(self) -> None:
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.transport.resume_reading()


class Echo(Connection):
    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


class Http(Connection):
    unfinished = b""  # A request that is not whole.

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        *requests, self.unfinished = (self.unfinished + data).split(b"\r\n\r\n")
        answers = []
        for request in requests:
            stays = keeps_alive(request)
            answers.append(KEPT if stays else CLOSING)
            if not stays:
                break
        if answers:
            self.transport.write(b"".join(answers))
        if answers[-1:] == [CLOSING] or len(self.unfinished) >= REQUEST_SIZE_MAX:
            self.transport.close()  # When all is written. Longer than that is no request.


def keeps_alive(request: bytes) -> bool:
    """Whether the client wants to go on after this request (RFC 9112, 9.3)."""
    said = CONNECTION.search(request + b"\r\n")
    if said:
        return said[1].lower() == b"keep-alive"
    return request.partition(b"\r\n")[0].endswith(b"HTTP/1.1")


def leave(code: int, why: str) -> None:
    print(f"uvloop: {why}", file=sys.stderr)
    sys.exit(code)


def number(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        leave(2, f"no number from {least} to {most}: {text}")
    return int(text)


def options(arguments: list[str]) -> tuple[type[Connection], int]:
    protocol, port = Echo, None
    remaining = iter(arguments)
    for name in remaining:
        if name == "--version":
            print(f"uvloop {uvloop.__version__} epoll")
            sys.exit(0)
        if name not in ("--workload", "--threads", "--port"):
            leave(2, f"unknown argument: {name}")
        value = next(remaining, None)
        if value is None:
            leave(2, f"a value is missing after {name}")
        elif name == "--port":
            port = number(value, 0, 65535)
        elif name == "--threads" and number(value, 1, 64) > 1:
            leave(2, f"its documentation tells of one loop on one thread, and of no way to use {value}")
        elif name == "--workload" and value not in ("echo", "http"):
            leave(2, f"no such workload: {value}")
        elif name == "--workload":
            protocol = Http if value == "http" else Echo
    if port is None:
        leave(2, "--port is missing")
    return protocol, port


async def serve(protocol: type[Connection], port: int) -> None:
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(protocol, "127.0.0.1", port, backlog=BACKLOG, reuse_address=True)
    except OSError as error:
        leave(1, f"port {port}: {error.strerror or error}")
    loop.add_signal_handler(signal.SIGTERM, os._exit, 0)  # Nothing here has to be brought to an end.
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(*options(sys.argv[1:])))
