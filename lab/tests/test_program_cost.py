# SPDX-License-Identifier: BSL-1.0
"""Tests of program_cost.py; the programs are made up."""

import sys
import textwrap

import program_cost
import pytest


def program(folder, text):
    path = folder / "server"
    path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(text), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_lines_of_code_are_neither_blank_nor_comments():
    text = "// A program.\n\nint main() {\n    // Nothing.\n    return 0;  // Done.\n}\n"
    assert program_cost.lines_of(text) == 3
    assert program_cost.lines_of("") == 0


def test_a_proxy_is_asked_for_what_it_sends_on(tmp_path):
    carries = program(tmp_path, """\
        import socket, sys, threading
        listener = socket.create_server(("127.0.0.1", 0))
        print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
        host, port = sys.argv[2].split(":")
        def copy(one, other):
            while piece := one.recv(4096):
                other.sendall(piece)
        while True:
            client, _ = listener.accept()
            target = socket.create_connection((host, int(port)))
            for pair in ((client, target), (target, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()
        """)
    assert 0 < program_cost.proxied(carries, 160) < 1e6


def test_a_server_that_hangs_up_is_told_of(tmp_path):
    hangs_up = program(tmp_path, """\
        import socket
        listener = socket.create_server(("127.0.0.1", 0))
        print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
        while True:
            listener.accept()[0].close()
        """)
    with pytest.raises((SystemExit, OSError)):
        program_cost.chatted(hangs_up, 10)
