# SPDX-License-Identifier: BSL-1.0
"""Tests of measure/programs.py; the programs are made up."""

import json
import os
import shlex
import sys
import textwrap

import pytest
from measure import programs
from measure.processes import Broken, Refused

LISTENS = """\
    import socket, sys, threading, time
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
"""
CARRIES = LISTENS + """\
    host, port = sys.argv[2].split(":")
    def copy(one, other):
        while piece := one.recv(4096):
            other.sendall(piece)
    while True:
        client, _ = listener.accept()
        target = socket.create_connection((host, int(port)))
        for pair in ((client, target), (target, client)):
            threading.Thread(target=copy, args=pair, daemon=True).start()
"""
TELLS_ALL = LISTENS + """\
    members = []
    def serve(member):
        lines = member.makefile("rb")
        member.sendall(b"your name?\\n")
        name = lines.readline().strip()
        members.append(member)
        for each in members:
            each.sendall(name + b" has come\\n")
        for line in lines:
            for each in members:
                each.sendall(name + b": " + line)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


def program(folder, text):
    path = folder / "server"
    path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(text), encoding="utf-8")
    path.chmod(0o755)
    return ["env", "ANY=1", str(path)]


def played(folder, text, probe="proxy", requests=160):
    return programs.play({"probe": probe, "requests": requests}, folder, program(folder, text))


def test_lines_of_code_are_neither_blank_nor_comments():
    text = "// A program.\n\nint main() {\n    // Nothing.\n    return 0;  // Done.\n}\n"
    assert programs.lines_of(text) == 3
    assert programs.lines_of("") == 0


def test_of_a_source_its_lines_its_compiler_and_its_object_are_told(tmp_path):
    source = tmp_path / "examples/server.cpp"
    source.parent.mkdir()
    source.write_text("int main() {\n\n}\n", encoding="utf-8")
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'w').write('o' * 3000)\n",
                        encoding="utf-8")
    compiler.chmod(0o755)
    command = shlex.join([str(compiler), "-o", "CMakeFiles/server.dir/x.o", "-c", str(source)])
    (tmp_path / "compile_commands.json").write_text(
        json.dumps([{"command": command, "directory": str(tmp_path), "file": str(source)}]), encoding="utf-8")

    told = programs.play({"probe": "source"}, tmp_path, ["env", "ANY=1", str(tmp_path / "lab/server")])
    found = {each["metric"]: (each["value"], each["unit"]) for each in told["metrics"]}
    assert (found["lines"], found["object"]) == ((2, "lines"), (3.0, "KB"))
    assert found["compile"][0] > 0


@pytest.mark.parametrize(("probe", "text"), [("proxy", CARRIES), ("chat", TELLS_ALL)])
def test_the_time_of_a_server_is_that_of_each_operation(tmp_path, probe, text):
    cores = os.sched_getaffinity(0)
    metric, = played(tmp_path, text, probe)["metrics"]
    assert (metric["metric"], metric["unit"]) == ("cpu", "ns/op")
    assert 1e3 < metric["value"] < 1e8
    assert os.sched_getaffinity(0) == cores


def test_only_the_servers_own_time_counts(tmp_path):
    """One that spins for a millisecond before each piece that it carries: two for a request."""
    sends = "            other.sendall(piece)\n"
    spins = """\
            until = time.thread_time() + 0.001
            while time.thread_time() < until: pass
"""
    slow = CARRIES.replace(sends, spins + sends)
    assert 2e6 < played(tmp_path, slow)["metrics"][0]["value"] < 8e6  # With the warm-up it would be 12.


def test_a_server_that_hangs_up_is_broken(tmp_path):
    hangs_up = LISTENS + "    while True: listener.accept()[0].close()\n"
    with pytest.raises(Broken):
        played(tmp_path, hangs_up, "chat")


@pytest.mark.parametrize(("text", "error", "why"), [
    ("import sys; sys.exit('no ring here')", Refused, "no ring here"),
    ("pass", Broken, "does not say where it listens"),
    ("print('usage: server')", Broken, "does not say where it listens"),
])
def test_a_program_that_does_not_listen_has_no_row(tmp_path, text, error, why):
    with pytest.raises(error, match=why):
        played(tmp_path, text)


def test_a_program_that_is_not_there_is_broken(tmp_path):
    with pytest.raises(Broken, match="could not be started"):
        programs.play({"probe": "chat", "requests": 1}, tmp_path, [str(tmp_path / "server")])
