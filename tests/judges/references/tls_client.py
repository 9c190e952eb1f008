# SPDX-License-Identifier: BSL-1.0
#
# Python's TLS as a client that a judge of clients must find right.
"""tls_client.py HOST PORT CA CRL: fetches / and prints its size, or else the error."""

import socket
import ssl
import sys

host, port, ca, crl = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
context.load_verify_locations(crl)
context.verify_flags |= ssl.VERIFY_CRL_CHECK_CHAIN
context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # Python forgives by default.
try:
    with socket.create_connection(("127.0.0.1", int(port)), 5) as plain, \
            context.wrap_socket(plain, server_hostname=host, suppress_ragged_eofs=False) as stream:
        stream.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        size = 0
        while piece := stream.recv(65536):
            size += len(piece)
except OSError as error:
    print(error)
    sys.exit(1)
print(f"{size} bytes")
