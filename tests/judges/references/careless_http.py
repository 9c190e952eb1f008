# SPDX-License-Identifier: BSL-1.0
#
# A server that takes what it can make out of a request: a judge that does not find it out is no judge.
"""careless_http.py PORT"""

import re
import socketserver
import sys


class Careless(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            while self.answer():
                pass
        except (OSError, ValueError):
            pass

    def answer(self):
        head = b""
        while line := self.rfile.readline():
            if not line.strip() and head:
                break
            head += line
        if not head:
            return False
        length = re.search(rb"content-length *: *(\d+)", head, re.IGNORECASE)
        self.rfile.read(int(length[1]) if length else 0)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")
        return True


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Careless).serve_forever()
