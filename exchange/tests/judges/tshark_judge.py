# SPDX-License-Identifier: BSL-1.0
#
# tshark has dissectors for SoupBinTCP and MoldUDP64 that are not ours: do they find what we meant?
"""Makes captures of what wire_samples prints and compares tshark's fields with what is expected.

    tshark_judge.py WIRE_SAMPLES [--show]

Ends with 77, which ctest takes for skipped, if tshark is missing.
"""

import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SKIPPED = 77
ERROR = 0x00800000  # tshark's severities from here on.
TCP_PORT, UDP_PORT = 7001, 7002
RAW_IPV4 = 228  # The link type of captures that begin with an IPv4 header.

SOUP_TEXTS = ("username", "password", "session", "req_seq_num", "next_seq_num", "seq_num", "text")


def capture(packets):
    """A pcap file of raw IPv4 packets, a millisecond apart."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW_IPV4)
    for at, packet in enumerate(packets):
        out += struct.pack("<IIII", at // 1000, at % 1000 * 1000, len(packet), len(packet)) + packet
    return out


def ipv4(protocol, source, target, payload):
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0,
                         bytes(source), bytes(target))
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return header[:10] + struct.pack(">H", checksum) + header[12:] + payload


CLIENT, SERVER, GROUP = (10, 0, 0, 1), (10, 0, 0, 2), (233, 252, 0, 1)


class Connection:
    """Segments of one TCP connection with proper sequence numbers."""

    def __init__(self, client_port):
        self.client_port = client_port
        self.next = {"c2s": 1000, "s2c": 5000}

    def segment(self, direction, payload):
        from_client = direction == "c2s"
        ports = (self.client_port, TCP_PORT) if from_client else (TCP_PORT, self.client_port)
        other = self.next["s2c" if from_client else "c2s"]
        header = struct.pack(">HHIIBBHHH", *ports, self.next[direction], other, 5 << 4, 0x18, 65535, 0, 0)
        self.next[direction] += len(payload)
        source, target = (CLIENT, SERVER) if from_client else (SERVER, CLIENT)
        return ipv4(6, source, target, header + payload)


def datagram(payload):
    header = struct.pack(">HHHH", 7000, UDP_PORT, 8 + len(payload), 0)
    return ipv4(17, SERVER, GROUP, header + payload)


class Found:
    """One packet of a protocol, as tshark saw it."""

    def __init__(self, tree):
        self.fields = list(tree.iter("field"))

    def shown(self, name):
        """What tshark displays of each field of that name, without its title."""
        return [re.sub(r"^[^:]*: ?", "", each.get("showname", "")) for each in self.named(name)]

    def raw(self, name):
        return [each.get("value", "") for each in self.named(name)]

    def named(self, name):
        return [each for each in self.fields if each.get("name") == name]

    def errors(self):
        """Complaints that tshark calls errors; a request is merely a comment."""
        return [each for each in self.named("_ws.expert.severity") if int(each.get("show")) >= ERROR]


def dissect(packets, protocol, selector):
    """Everything of that protocol that tshark finds in a capture, and how many packets it could not read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture.pcap"
        path.write_bytes(capture(packets))
        run = subprocess.run(["tshark", "-n", "-r", str(path), "-d", f"{selector},{protocol}", "-T", "pdml"],
                             capture_output=True, check=True)
    protocols = ElementTree.fromstring(run.stdout).iter("proto")
    found = [each for each in protocols if each.get("name") in {protocol, "_ws.malformed"}]
    malformed = sum(each.get("name") == "_ws.malformed" for each in found)
    return [Found(each) for each in found if each.get("name") == protocol], malformed


def soup_words(found):
    """In the words of wire_samples."""
    words = [f"type={chr(int(each, 16))}" for each in found.raw("soupbintcp.packet_type")]
    words += [f"length={int(each, 16)}" for each in found.raw("soupbintcp.packet_length")]
    for field in SOUP_TEXTS:
        words += [f"{field}={each.strip().split(' (')[0]}" for each in found.shown(f"soupbintcp.{field}")]
    words += [f"reject_code={chr(int(each, 16))}" for each in found.raw("soupbintcp.reject_code")]
    return " ".join(words)


def mold_words(found):
    words = [f"session={found.shown('moldudp64.session')[0].strip()}"]
    words += [f"{field}={found.shown(f'moldudp64.{field}')[0]}" for field in ("sequence", "count")]
    blocks = zip(found.shown("moldudp64.msgseq"), found.shown("moldudp64.msglen"),
                 found.raw("moldudp64.msgdata"))
    for sequence, length, data in blocks:
        words.append(f"message={sequence}:{length}:{data}")
    return " ".join(words)


def without_blanks(words):
    """tshark prints nothing for a field of blanks."""
    return " ".join(word for word in words.split() if not word.endswith("="))


def compare(title, found, expected, show):
    failures = 0
    for at, (left, right) in enumerate(zip(map(without_blanks, found), map(without_blanks, expected))):
        if show:
            print(f"  {left[:150]}")
        if left != right:
            failures += 1
            print(f"{title}, packet {at}:\n  tshark found {left}\n  expected     {right}")
    if len(found) != len(expected):
        failures += 1
        print(f"{title}: tshark found {len(found)} packets of {len(expected)}")
    print(f"{title}: {len(found)} packets compared, {failures} differ")
    return failures


def complaints(title, found, malformed):
    count = malformed + sum(len(each.errors()) for each in found)
    if count:
        print(f"{title}: tshark complains {count} times")
    return count


def judge_soup(samples, show):
    packets, expected, connection = [], [], None
    for direction, payload, meaning in samples:
        if direction == "connection":
            connection = Connection(40000 + len(packets))
            continue
        packets.append(connection.segment(direction, payload))
        expected.append(meaning)
    found, malformed = dissect(packets, "soupbintcp", f"tcp.port=={TCP_PORT}")
    failures = compare("SoupBinTCP", [soup_words(each) for each in found], expected, show)
    return failures + complaints("SoupBinTCP", found, malformed) + judge_cut_soup(samples)


def judge_cut_soup(samples):
    """The same packets in segments of seven bytes: does tshark put the same ones together?"""
    packets, expected, connection = [], [], None
    for direction, payload, meaning in samples:
        if direction == "connection":
            connection = Connection(50000 + len(packets))
            continue
        packets += [connection.segment(direction, payload[at:at + 7]) for at in range(0, len(payload), 7)]
        expected.append(meaning)
    found, malformed = dissect(packets, "soupbintcp", f"tcp.port=={TCP_PORT}")
    title = "SoupBinTCP in segments of 7 bytes"
    failures = compare(title, [soup_words(each) for each in found], expected, show=False)
    return failures + complaints(title, found, malformed)


def judge_mold(samples, show):
    packets = [datagram(payload) for _, payload, _ in samples]
    found, malformed = dissect(packets, "moldudp64", f"udp.port=={UDP_PORT}")
    failures = compare("MoldUDP64", [mold_words(each) for each in found], [s[2] for s in samples], show)
    return failures + complaints("MoldUDP64", found, malformed)


def read_samples(program):
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    samples = []
    for line in run.stdout.splitlines():
        direction, data, *meaning = line.split(" ", 2)
        if direction == "connection":
            samples.append((direction, b"", data))
        else:
            samples.append((direction, bytes.fromhex(data), meaning[0]))
    return samples


def main(arguments):
    parser = argparse.ArgumentParser(description="Compares what tshark finds with what we meant.")
    parser.add_argument("program", help="wire_samples")
    parser.add_argument("--show", action="store_true", help="print what tshark found")
    options = parser.parse_args(arguments)
    if shutil.which("tshark") is None:
        print("skipped: tshark is not installed")
        return SKIPPED
    samples = read_samples(options.program)
    failures = judge_soup([s for s in samples if s[0] != "udp"], options.show)
    failures += judge_mold([s for s in samples if s[0] == "udp"], options.show)
    return 1 if failures or not samples else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
