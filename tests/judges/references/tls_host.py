# SPDX-License-Identifier: BSL-1.0
#
# Servers that `openssl s_server` cannot play.
"""tls_host.py PORT CERTIFICATE KEY truncating | only NAME

`truncating` ends an answer of no declared length by closing the socket, without TLS's word for it;
`only NAME` refuses whoever asks for another name, or for none.
"""

import socket
import ssl
import sys

port, certificate, key, manner, *name = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
if manner == "only":
    context.sni_callback = lambda stream, asked, _: (
        None if asked == name[0] else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME)


def answer(plain):
    stream = context.wrap_socket(plain, server_side=True)
    stream.recv(4096)
    stream.send(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello\n")
    if manner == "truncating":
        stream.shutdown(socket.SHUT_RDWR)  # Of the socket; unwrap() says goodbye.
    else:
        stream.unwrap()
    stream.close()


with socket.create_server(("127.0.0.1", int(port))) as listener:
    while True:
        connection, _ = listener.accept()
        connection.settimeout(5)
        try:
            answer(connection)
        except OSError:
            connection.close()
