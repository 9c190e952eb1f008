# SPDX-License-Identifier: BSL-1.0
#
# A server that keeps to the rules of servers/seam.hpp, or breaks one: the checks must notice.
"""fake_server.py [--fault FAULT] --workload echo|http --threads N --port P

A thread for each connection, which is not the fastest of anything.
"""

import argparse
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

BLOCK = 1_024
ROUND = 10  # In which answers are spoilt.
ROUNDS_OF_A_CHILD = 1_000  # Which take longer than to fork.

parser = argparse.ArgumentParser()
parser.add_argument("--fault", default="none")
parser.add_argument("--workload", choices=["echo", "http"], required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--port", type=int, required=True)
given = parser.parse_args()
fault = given.fault


def complain(what: str, status: int) -> None:
    print(f"fake_server: {what}", file=sys.stderr, flush=True)
    os._exit(status)


# --- echo --------------------------------------------------------------------------------------------

crossing = threading.Barrier(2)
crossed: dict[int, bytes] = {}


def other_answer(answer: bytes) -> bytes:
    """What another connection should have had."""
    try:
        place = crossing.wait(5)
        crossed[place] = answer
        crossing.wait(5)
        return crossed[1 - place]
    except threading.BrokenBarrierError:
        return answer


def spoilt(answer: bytes) -> bytes:
    """As long as it was."""
    first, second, third = answer[:BLOCK], answer[BLOCK:2 * BLOCK], answer[2 * BLOCK:3 * BLOCK]
    if fault == "flips_a_bit":
        return answer[:-1] + bytes([answer[-1] ^ 1])
    if fault == "swaps_connections":
        return other_answer(answer)
    if fault == "swaps_blocks" and len(third) == BLOCK:
        return first + third + second + answer[3 * BLOCK:]
    if fault == "repeats_a_block" and len(third) == BLOCK:
        return first + second + second + answer[3 * BLOCK:]
    return answer


def echo_once(peer: socket.socket, number: int) -> bool:
    """Whether the connection goes on."""
    arrived = peer.recv(65_536)
    if not arrived or (fault == "hangs_up" and number == ROUND):
        return False
    peer.sendall(spoilt(arrived) if number == ROUND else b"!" * len(arrived) if fault == "wrong" else arrived)
    return True


def echo(peer: socket.socket, number: int = 0) -> None:
    kept = bytearray(20_000) if fault == "keeps_20000" else None
    while echo_once(peer, number):
        number += 1
        if number % 20 == 0 and fault == "threads_take_turns":
            threading.Thread(target=echo, args=(peer, number), daemon=True).start()
            return
    del kept
    peer.close()


def echo_in_children(peer: socket.socket) -> None:
    status = 0
    while status == 0:
        child = os.fork()
        if child == 0:
            os._exit(0 if all(echo_once(peer, each) for each in range(ROUNDS_OF_A_CHILD)) else 1)
        status = os.waitpid(child, 0)[1]
    peer.close()


# --- http --------------------------------------------------------------------------------------------


def http(peer: socket.socket) -> None:
    from measure.watched import response

    unfinished = b""
    while arrived := peer.recv(4_096):
        unfinished += arrived
        while b"\r\n\r\n" in unfinished:
            request, unfinished = unfinished.split(b"\r\n\r\n", 1)
            stays = b"close" not in request and (b"HTTP/1.1" in request or b"Keep-Alive" in request)
            answer = response(stays)
            if fault == "another_body":
                answer = answer.replace(b"nothing", b"NOTHING")
            peer.sendall(answer + (b"!" if fault == "a_byte_more" else b""))
            if fault == "one_answer_only":
                unfinished = b""
            if not stays and fault != "never_closes":
                peer.close()
                return
        if fault == "whole_requests_only":
            unfinished = b""
    peer.close()


# --- the process ---------------------------------------------------------------------------------------

if fault == "one_thread" and given.threads > 1:
    complain("has one thread only", 2)
if fault == "ends_at_once":
    complain("no such ring", 3)
if fault.startswith("taken"):  # `taken FILE`: the first time only, of which FILE is the sign.
    try:
        os.close(os.open(fault[6:] or "/", os.O_CREAT | os.O_EXCL))
        complain("the port is taken", 1)
    except OSError:
        if fault == "taken":
            complain("the port is taken", 1)

status = 3 if fault == "ends_badly" else 0
signal.signal(signal.SIGTERM, signal.SIG_IGN if fault == "ignores_sigterm" else lambda *_: os._exit(status))
listener = socket.create_server(("127.0.0.1", given.port), backlog=1_000)
if fault == "in_a_child" and os.fork() != 0:
    while True:
        time.sleep(1)
print("busy" if fault == "never_ready" else "ready", flush=True)
if fault == "never_ready":
    complain("never ready", 3)
serve = {"echo": echo_in_children if fault == "children_take_turns" else echo, "http": http}[given.workload]
threading.stack_size(64 * 1024)
while True:
    accepted = listener.accept()[0]
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, fault != "delays")
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
