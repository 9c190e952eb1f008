# SPDX-License-Identifier: BSL-1.0
#
# A TLS client that takes any certificate: a judge that does not find it out is no judge.
"""careless_tls_client.py HOST PORT CA CRL"""

import socket
import ssl
import sys

host, port = sys.argv[1:3]
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
with socket.create_connection(("127.0.0.1", int(port)), 5) as plain, context.wrap_socket(plain) as stream:
    stream.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    while stream.recv(65536):
        pass
