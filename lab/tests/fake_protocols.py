#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# A server of HTTP, WebSocket and TLS that does what the lab's servers do, and can be told to do one thing
# wrong: what checks servers has to find it out.
"""fake_protocols.py --workload W --threads N --port P [--certificate F --key F] [--fault F]"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import signal
import socket
import ssl
import sys
import threading
import time
from email.utils import formatdate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure.protocols import HELLO, content_of, json_text

LATE = 4  # Answers of a connection after which a fault that is `late` begins.


class Connection:
    def __init__(self, stream: socket.socket, asked: argparse.Namespace):
        self.stream, self.asked = stream, asked
        self.reader = stream.makefile("rb")
        self.answered = 0

    def head(self) -> tuple[str, str, dict]:
        """Method, target and fields, or three times nothing at the end."""
        words = self.reader.readline().decode().split()
        fields = {}
        for line in iter(self.reader.readline, b"\r\n"):
            if not line:
                return "", "", {}
            name, _, value = line.decode().partition(":")
            fields[name.lower()] = value.strip()
        return (words[0], words[1], fields) if words else ("", "", {})

    def has(self, fault: str) -> bool:
        return self.asked.fault == fault or (self.asked.fault == f"late {fault}" and self.answered > LATE)

    def answer(self, content: bytes, kind: str, closes: bool) -> None:
        self.answered += 1
        if self.has("wrong content"):
            content = content[:-1] + b"?"
        if self.has("short content"):
            content = content[:-1]
        status = "500 No" if self.has("status") else "200 OK"
        kind = "text/html" if self.has("type") else kind
        date = "" if self.has("no date") else f"Date: {formatdate(usegmt=True)}\r\n"
        closing = "Connection: close\r\n" if closes else ""
        self.stream.sendall(f"HTTP/1.1 {status}\r\n{date}{closing}Content-Type: {kind}\r\n"
                            f"Content-Length: {len(content)}\r\n\r\n".encode() + content)

    def serve_http_server(self) -> None:
        while True:
            method, target, fields = self.head()
            if not method:
                return
            body = self.reader.read(int(fields.get("content-length", "0")))
            path, _, query = target.partition("?")
            numbers = [int(each.partition("=")[2]) for each in query.split("&") if each]
            content = {"/text": HELLO, "/json": json_text()}.get(path) or \
                str(sum(numbers) + int(body or 0)).encode()
            closes = fields.get("connection") == "close"
            self.answer(content, "application/json" if path == "/json" else "text/plain", closes)
            if closes:
                return

    def serve_tls(self) -> None:
        while True:
            method, target, fields = self.head()
            if not method:
                return
            closes = fields.get("connection") == "close"
            self.answer(content_of(int(target.removeprefix("/bytes/"))), "text/plain", closes)
            if closes:
                if self.asked.fault != "no close_notify":
                    self.stream.unwrap()
                return

    def serve_websocket(self) -> None:
        _, target, fields = self.head()
        accept = fields["sec-websocket-key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        if self.has("accept"):
            accept += b"?"
        key = base64.b64encode(hashlib.sha1(accept).digest()).decode()
        self.stream.sendall("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Accept: {key}\r\n\r\n".encode())
        message, kind = b"", 0
        while True:
            first = self.reader.read(2)
            if len(first) < 2:
                return
            size = first[1] & 0x7F
            if size > 125:
                size = int.from_bytes(self.reader.read(2 if size == 126 else 8), "big")
            mask = self.reader.read(4)
            whole = int.from_bytes(self.reader.read(size), "big") ^ \
                int.from_bytes((mask * (size // 4 + 1))[:size], "big")
            payload = whole.to_bytes(size, "big")
            if first[0] & 0x0F == 8:
                self.send(0x88, payload)
                return
            kind = first[0] & 0x0F or kind
            message += payload
            if first[0] & 0x80:
                self.answered += 1
                self.send_message(target, kind, message)
                message = b""

    def send_message(self, target: str, kind: int, message: bytes) -> None:
        if self.has("wrong content"):
            message = message[:-1] + b"?"
        if self.has("kind"):
            kind = 3 - kind
        if self.has("twice"):
            self.send(0x80 | kind, message)
        for each in list(MEMBERS) if target == "/hub" else [self]:
            if self.asked.fault == "fragments":  # Which is right.
                each.send(kind, message[:1])
                each.send(0x80, message[1:])
            else:
                each.send(0x80 | kind, message)

    def send(self, first: int, payload: bytes) -> None:
        size = len(payload)
        length = bytes((size,)) if size < 126 else b"\x7e" + size.to_bytes(2, "big") if size < 65536 \
            else b"\x7f" + size.to_bytes(8, "big")
        self.stream.sendall(bytes((first,)) + length + payload)


MEMBERS: list[Connection] = []


def serve(plain: socket.socket, asked: argparse.Namespace, settings: ssl.SSLContext | None) -> None:
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        stream = settings.wrap_socket(plain, server_side=True) if settings else plain
        connection = Connection(stream, asked)
        MEMBERS.append(connection)
        try:
            getattr(connection, f"serve_{asked.workload}")()
        finally:
            MEMBERS.remove(connection)
            connection.reader.close()
            stream.close()
    except (OSError, ValueError):
        pass  # The client has gone.


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("workload", "certificate", "key", "fault"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--port", type=int)
    asked = parser.parse_args()
    settings = None
    if asked.workload == "tls":
        settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        settings.load_cert_chain(asked.certificate, asked.key)
        if asked.fault == "version":
            settings.maximum_version = ssl.TLSVersion.TLSv1_2
        if asked.fault == "no tickets":
            settings.num_tickets = 0
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    listener = socket.create_server(("127.0.0.1", asked.port), backlog=128)
    print("ready", flush=True)

    def accept() -> None:
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=serve, args=(plain, asked, settings), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    while True:
        time.sleep(3600)  # Signals reach this thread.


if __name__ == "__main__":
    main()
