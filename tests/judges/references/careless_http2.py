# SPDX-License-Identifier: BSL-1.0
#
# Speaks HTTP/2 to those who are honest, and neither checks nor bounds anything: a judge that does not find it
# out is no judge.
"""careless_http2.py PORT"""

import socketserver
import sys

from hpack import Decoder, Encoder
from hyperframe.frame import ContinuationFrame, DataFrame, Frame, HeadersFrame, PingFrame, SettingsFrame

PREFACE_BYTES = 24
kept = []  # Of everybody, for ever.


class Careless(socketserver.BaseRequestHandler):
    def handle(self):
        self.encoder, self.decoder, self.heads = Encoder(), Decoder(), {}
        self.file = self.request.makefile("rb")
        kept.append(self.heads)
        try:
            self.file.read(PREFACE_BYTES)
            self.request.sendall(SettingsFrame(0).serialize())
            while len(head := self.file.read(9)) == 9:
                frame, size = Frame.parse_frame_header(memoryview(head))
                frame.parse_body(memoryview(self.file.read(size)))
                self.take(frame)
        except Exception:
            return

    def take(self, frame):
        if isinstance(frame, SettingsFrame) and "ACK" not in frame.flags:
            self.request.sendall(SettingsFrame(0, flags=["ACK"]).serialize())
        elif isinstance(frame, PingFrame) and "ACK" not in frame.flags:
            self.request.sendall(PingFrame(0, opaque_data=frame.opaque_data, flags=["ACK"]).serialize())
        elif isinstance(frame, (HeadersFrame, ContinuationFrame)):
            block = self.heads.setdefault(frame.stream_id, bytearray())
            block += frame.data
            if "END_HEADERS" in frame.flags:
                self.decoder.decode(bytes(block))
                self.answer(frame.stream_id)

    def answer(self, stream):
        fields = self.encoder.encode([(":status", "200"), ("content-length", "6")])
        self.request.sendall(HeadersFrame(stream, data=fields, flags=["END_HEADERS"]).serialize()
                             + DataFrame(stream, data=b"hello\n", flags=["END_STREAM"]).serialize())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Careless).serve_forever()
