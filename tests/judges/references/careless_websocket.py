# SPDX-License-Identifier: BSL-1.0
#
# An echo server that checks nothing that it is sent, and cuts what is long: a judge that does not find it out
# is no judge.
"""careless_websocket.py PORT"""

import base64
import hashlib
import socketserver
import sys

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        key = b""
        while (line := self.rfile.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"sec-websocket-key":
                key = value.strip()
        if not key:
            return
        accept = base64.b64encode(hashlib.sha1(key + MAGIC).digest())
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nServer: careless\r\nUpgrade: websocket\r\n"
                         b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        try:
            while self.echo():
                pass
        except OSError:
            pass

    def echo(self):
        head = self.rfile.read(2)
        if len(head) < 2:
            return False
        size = head[1] & 127
        longer = {126: 2, 127: 8}.get(size, 0)
        extra = self.rfile.read(longer)
        if longer:
            size = int.from_bytes(extra, "big")
        mask = self.rfile.read(4)
        payload = bytes(each ^ mask[at % 4] for at, each in enumerate(self.rfile.read(size)))
        if longer == 8:
            payload, extra = payload[:65535], b"\xff\xff"
        self.wfile.write(bytes([head[0], 126 if longer else size]) + extra + payload)
        return head[0] & 15 != 8


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Echo).serve_forever()
