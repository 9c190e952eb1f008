# SPDX-License-Identifier: BSL-1.0
#
# Ends an answer of no declared length by closing the socket, without TLS's word for it.
"""truncating_tls.py PORT CERTIFICATE KEY"""

import socket
import ssl
import sys

port, certificate, key = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
with socket.create_server(("127.0.0.1", int(port))) as listener:
    while True:
        plain, _ = listener.accept()
        try:
            stream = context.wrap_socket(plain, server_side=True)
            stream.recv(4096)
            stream.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf of an")
            stream.shutdown(socket.SHUT_RDWR)  # Of the socket; unwrap() would say goodbye.
            stream.close()
        except OSError:
            plain.close()
