# SPDX-License-Identifier: BSL-1.0
#
# What Python's own client asks of a server of HTTP/1.1.
"""http_visitor.py URL: ends with 0 if all was answered, else says what was not."""

import http.client
import sys
from urllib.parse import urlsplit


def ask(connection, method, path, body=None, **how):
    connection.request(method, path, body, **how)
    answer = connection.getresponse()
    whole = answer.read()
    assert answer.status == 200, f"{method} {path}: {answer.status}"
    return whole


connection = http.client.HTTPConnection(urlsplit(sys.argv[1]).netloc, timeout=20)
first = ask(connection, "GET", "/")
kept = connection.sock
assert kept is not None, "the connection is not kept"
for _ in range(50):
    assert ask(connection, "GET", "/") == first
assert ask(connection, "HEAD", "/") == b""
for size in (0, 1, 65536, 1 << 20):
    body = b"x" * size
    assert ask(connection, "POST", "/echo", body) == body, f"{size} bytes came back changed"
    pieces = [b"y" * (size // 8 + 1)] * 8
    chunked = ask(connection, "POST", "/echo", iter(pieces), encode_chunked=True,
                  headers={"Transfer-Encoding": "chunked"})
    assert chunked == b"".join(pieces), f"chunks of {size // 8 + 1} came back changed"
assert connection.sock is kept, "another connection was needed"
print("all came back")
