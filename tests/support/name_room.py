# SPDX-License-Identifier: BSL-1.0
#
# A room without a door: namespaces of its own for mounts, network and host name, an /etc of a few files,
# and name servers on loopback that say what a test wants and note what they are asked.
#
# tests/programs/name_settings.py runs programs in it. It begins this file as a program, inside `unshare`.
"""What a program asks of name servers under given settings: `ask(room)`.

A room is a dictionary:
    etc       texts of the files in /etc, by name; other files are missing there
    servers   by address, what each name server does: a zone, or the name of something that it always does
    host      the host name
    programs  lists of arguments, run one after the other
    variables of the environment, for all of them

A zone gives by name a list of addresses, or the name of something that is done. Other names do not exist.
The answer holds for each program what it has printed, the seconds that it took, and the questions that
arrived, each as [server, name, type, marks].
"""

import ctypes
import errno
import fcntl
import json
import os
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PORT = 53
PATIENCE = 40  # Seconds that a program may take.
TYPES = {1: "A", 28: "AAAA"}
CODES = {"FORMERR": 1, "SERVFAIL": 2, "NXDOMAIN": 3, "NOTIMP": 4, "REFUSED": 5}
# Without these a program would not find its libraries.
KEPT = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")


class Missing(Exception):
    """Something that this machine does not let us have."""


def ask(room):
    """Runs the programs of `room`; see above."""
    command = ["unshare", "--mount", "--net", "--uts"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    done = subprocess.run([*command, sys.executable, "-B", __file__], input=json.dumps(room),
                          capture_output=True, text=True, timeout=PATIENCE * (len(room["programs"]) + 1))
    if done.returncode != 0:
        raise Missing(done.stderr.strip().splitlines()[-1] if done.stderr else "no room")
    return json.loads(done.stdout)


# Inside.


def furnish(etc, host):
    """Puts `etc` in the place of /etc, and the loopback interface to work."""
    made = Path(tempfile.mkdtemp(prefix="gyre_room_"))
    for each in KEPT:
        source = Path("/etc") / each
        if source.is_dir():
            shutil.copytree(source, made / each, symlinks=True)
        elif source.exists():
            shutil.copy(source, made / each)
    for name, text in etc.items():
        (made / name).write_text(text)
    mount = ctypes.CDLL(None, use_errno=True).mount
    private, bind = 1 << 18 | 1 << 14, 1 << 12
    for source, target, flags in ((b"none", b"/", private), (os.fsencode(made), b"/etc", bind)):
        if mount(source, target, None, flags, None) != 0:
            raise OSError(ctypes.get_errno(), "mount")
    socket.sethostname(host)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up = struct.pack("16sh22x", b"lo", 1)
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS, IFF_UP
    return made


def add_address(text):
    """Gives the loopback interface one more IPv6 address."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as any_socket:
        wanted = struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, text), 64, 1)
        fcntl.ioctl(any_socket, 0x8916, wanted)  # SIOCSIFADDR


def question_of(query):
    """The name, the type, and whether there is an OPT record."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    kind, = struct.unpack_from("!H", query, at + 1)
    additional, = struct.unpack_from("!H", query, 10)
    return ".".join(labels), kind, additional > 0, query[12:at + 5]


def records_of(addresses, kind):
    family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
    for each in addresses:
        if (":" in each) == (family == socket.AF_INET6):
            data = socket.inet_pton(family, each)
            yield b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(data)) + data


def bind(to, where):
    """Binds as soon as a new address is there."""
    for left in reversed(range(100)):
        try:
            to.bind(where)
        except OSError as failure:
            if failure.errno != errno.EADDRNOTAVAIL or left == 0:
                raise
            time.sleep(0.02)
        else:
            return


class Server:
    """One name server, over UDP and TCP."""

    def __init__(self, address, does, noted):
        self.address, self.does, self.noted = address, does, noted
        plain, _, zone = address.partition("%")
        family = socket.AF_INET6 if ":" in plain else socket.AF_INET
        where = (plain, PORT, 0, socket.if_nametoindex(zone) if zone else 0)[:4 if ":" in plain else 2]
        self.sockets = [socket.socket(family, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)]
        self.sockets[1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for each in self.sockets:
            bind(each, where)
        self.sockets[1].listen(16)

    def answer(self, query, over_tcp):
        """The message to send, or None."""
        name, kind, has_opt, question = question_of(query)
        seen = (("tcp", over_tcp), ("edns", has_opt), ("ad", query[3] & 0x20))
        marks = [mark for mark, there in seen if there]
        self.noted.append([self.address, name, TYPES.get(kind, str(kind)), marks])
        found = self.does if isinstance(self.does, str) else self.does.get(name.lower(), "NXDOMAIN")
        if found == "SILENT" or found == f"SILENT {TYPES.get(kind)}":
            return None
        if found == "SILENT AAAA":
            found = ["192.0.2.1"]
        if found == "FORMERR EDNS":
            found = "FORMERR" if has_opt else ["192.0.2.1"]
        truncated = found == "TRUNCATED" and not over_tcp
        if found == "TRUNCATED":
            found = [] if truncated else ["192.0.2.1"]
        code = CODES.get(found, 0) if isinstance(found, str) else 0
        records = [] if isinstance(found, str) else list(records_of(found, kind))
        flags = 0x8580 | (0x0200 if truncated else 0) | code
        return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)

    def answer_or_nothing(self, query, over_tcp):
        try:
            return self.answer(query, over_tcp)
        except (IndexError, struct.error):
            self.noted.append([self.address, "(malformed)", "?", []])
            return None

    def datagram(self):
        query, sender = self.sockets[0].recvfrom(4096)
        if message := self.answer_or_nothing(query, False):
            self.sockets[0].sendto(message, sender)

    def stream(self):
        peer, _ = self.sockets[1].accept()
        threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        with peer, peer.makefile("rb") as read:
            while len(head := read.read(2)) == 2:
                if message := self.answer_or_nothing(read.read(struct.unpack("!H", head)[0]), True):
                    peer.sendall(struct.pack("!H", len(message)) + message)


def serve(servers):
    ready = selectors.DefaultSelector()
    for each in servers:
        ready.register(each.sockets[0], selectors.EVENT_READ, each.datagram)
        ready.register(each.sockets[1], selectors.EVENT_READ, each.stream)
    while True:
        for key, _ in ready.select():
            key.data()


def run(program, variables):
    begun = time.monotonic()
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE,
                              env={"PATH": "/usr/bin:/bin", **variables}, check=False)
    except subprocess.TimeoutExpired:
        return ["no end"], time.monotonic() - begun
    printed = done.stdout.split("\n")[:-1]
    if done.returncode != 0:
        printed.append(f"status {done.returncode} {done.stderr[-200:]}")
    return printed, time.monotonic() - begun


def main():
    room = json.load(sys.stdin)
    made = furnish(room["etc"], room["host"])
    try:
        noted = []
        for each in room["servers"]:
            if each.startswith("fe80:"):
                add_address(each.partition("%")[0])
        servers = [Server(address, does, noted) for address, does in room["servers"].items()]
        threading.Thread(target=serve, args=(servers,), daemon=True).start()
        answers = []
        for each in room["programs"]:
            noted.clear()
            printed, seconds = run(each, room["variables"])
            time.sleep(0.05)  # What was sent last may still be on its way to a thread of ours.
            answers.append({"printed": printed, "seconds": seconds, "asked": list(noted)})
    finally:
        shutil.rmtree(made, ignore_errors=True)
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
