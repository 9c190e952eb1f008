# SPDX-License-Identifier: BSL-1.0
#
# The operator of a machine must hear what is missing, and get the rest. Registries are not asked here.
"""Builds small programs, good ones and bad ones, the way peers are built."""

import json
import os
import select
import tomllib
from pathlib import Path

import pytest
from peers import setup
from peers.setup import PROGRAMS, SOURCES, Peer, Program, cause

# A peer, as far as setup looks.
SERVER = """#!/bin/sh
if [ "$1" = --version ]; then echo "shell 1.0 none"; exit 0; fi
trap 'exit 0' TERM
echo ready
while :; do sleep 0.01; done
"""
COPY = ("cp", "{source}/server", "{target}/server")


def program(name: str, *steps: tuple[str, ...], tools: tuple[str, ...] = (), **more) -> Program:
    peers = more.pop("peers", (Peer(name, "shell", ("sh", "{target}/server")),))
    return Program(name, tools, steps or (COPY,), peers, **more)


class Place:
    """Sources and what is built from them, in a folder of the test's own."""

    def __init__(self, folder: Path, capsys):
        self.folder, self.targets, self._capsys = folder, folder / "build/lab/peers", capsys

    def source(self, name: str, text: str = SERVER) -> None:
        folder = self.folder / "sources" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "server").write_text(text, encoding="utf-8")

    def set_up(self, *programs: Program) -> list[str]:
        """What was said, line by line, without the last one."""
        self._capsys.readouterr()
        assert setup.main(["--build", str(self.folder / "build")], programs, self.folder / "sources") == 0
        return self._capsys.readouterr().out.splitlines()[:-1]

    def records(self) -> list[dict]:
        return json.loads((self.targets / "peers.json").read_text(encoding="utf-8"))

    def missing(self, *programs: Program) -> str:
        """Why the only peer is missing; said and written alike."""
        [line] = self.set_up(*programs)
        [record] = self.records()
        assert record["version"] is None
        assert f"missing: {record['missing']}" in line
        return record["missing"]

    def lines_of(self, name: str) -> int:
        return len((self.folder / name).read_text(encoding="utf-8").splitlines())


@pytest.fixture
def place(tmp_path, capsys) -> Place:
    it = Place(tmp_path.resolve(), capsys)
    it.source("one")
    return it


# --- what is built -----------------------------------------------------------------------------------


def test_a_built_peer_is_listed_with_its_version(place):
    [line] = place.set_up(program("one"))
    assert "one" in line and "built in" in line and line.endswith("shell 1.0 none")
    [record] = place.records()
    assert record == {"name": "one", "family": "shell", "command": ["sh", str(place.targets / "one/server")],
                      "workloads": ["echo", "http"], "suites": [], "cases": "*", "threads_max": None,
                      "missing": None, "version": "shell 1.0 none"}


def test_the_second_time_it_only_tells_its_version(place):
    place.source("one", SERVER.replace("echo ready", f"echo run >>{place.folder}/runs; echo ready"))
    counted = program("one", COPY, ("sh", "-c", f"echo built >>{place.folder}/builds"))
    place.set_up(counted)
    [line] = place.set_up(counted)
    assert line.endswith("is there: shell 1.0 none")
    assert (place.lines_of("builds"), place.lines_of("runs")) == (1, 1)


def test_a_library_that_has_changed_is_told_and_tried_without_a_build(place):
    library = place.folder / "library"
    library.write_text("shell 1.0 none", encoding="utf-8")
    place.source("one", SERVER.replace('echo "shell 1.0 none"', f"cat {library}")
                 .replace("echo ready", f"echo run >>{place.folder}/runs; echo ready"))
    place.set_up(program("one"))
    library.write_text("shell 1.1 none", encoding="utf-8")
    [line] = place.set_up(program("one"))
    assert line.endswith("is there: shell 1.1 none")
    assert place.records()[0]["version"] == "shell 1.1 none"
    assert place.lines_of("runs") == 2


def test_a_program_without_peers_has_a_line_and_no_record(place):
    [line] = place.set_up(program("one", peers=()))
    assert "built in" in line
    assert place.records() == []


def test_other_sources_tools_and_ways_build_again(place, monkeypatch):
    place.source("shared")
    tools = place.folder / "tools"
    tools.mkdir()
    (tools / "maker").write_text("#!/bin/sh\n", encoding="utf-8")
    (tools / "maker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    one = program("one", tools=("maker",), shares=("shared",))

    def done(what: Program = one) -> str:
        [line] = place.set_up(what)
        return line.split()[1]

    assert (done(), done()) == ("built", "is")
    place.source("one", SERVER.replace("1.0", "2.0"))
    assert (done(), done()) == ("built", "is")
    place.source("shared", "something else")
    assert (done(), done()) == ("built", "is")
    (tools / "maker").write_text("#!/bin/sh\n# newer\n", encoding="utf-8")
    assert (done(), done()) == ("built", "is")
    assert done(program("one", tools=("maker",), shares=("shared",), environment={"LEVEL": "2"})) == "built"


def test_steps_have_their_environment(place):
    place.set_up(program("one", ("cp", "server", "{target}/server"),
                         ("sh", "-c", "echo $LEVEL >{target}/level"), environment={"LEVEL": "2"}))
    assert (place.targets / "one/level").read_text(encoding="utf-8") == "2\n"


# --- what is missing -----------------------------------------------------------------------------------


def test_a_missing_tool_is_named_without_a_story_and_does_not_keep_the_others_away(place):
    place.source("two")
    place.set_up(program("one"))
    first, second = place.set_up(program("one", tools=("no-such-tool",)), program("two"))
    assert first.endswith("missing: `no-such-tool` is not installed")
    assert "built in" in second
    assert [each["missing"] for each in place.records()] == ["`no-such-tool` is not installed", None]


def test_what_the_system_denies_does_not_keep_the_others_away(place, monkeypatch):
    place.source("two")
    place.targets.mkdir(parents=True)
    (place.targets / "one").write_text("in the way of the folder", encoding="utf-8")
    first, second = place.set_up(program("one"), program("two"))
    assert "missing: " in first and "File exists" in first
    assert "built in" in second

    def denied(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(setup.Workshop, "_serve", denied)
    place.source("two", SERVER.replace("1.0", "2.0"))
    assert place.missing(program("two")) == "no more processes"


def test_a_build_error_names_its_cause_and_where_the_rest_is(place):
    failing = program("one", ("sh", "-c", "echo begins; echo 'error: no dice'; echo ends; exit 3"))
    assert place.missing(failing) == "`sh` failed: error: no dice"
    [line] = place.set_up(failing)
    log = place.targets / "one/setup.log"
    assert line.endswith(f"; all of it is in {log}")
    assert log.read_text(encoding="utf-8").endswith("begins\nerror: no dice\nends\n")


def test_a_program_of_older_sources_does_not_stand_for_newer_ones(place):
    place.set_up(program("one"))
    failing = program("one", ("sh", "-c", "exit 1"))
    place.missing(failing)
    assert not (place.targets / "one/server").exists()
    place.missing(failing)


def test_a_step_that_does_not_end_is_ended_with_all_that_it_started(place, monkeypatch):
    held = place.folder / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.setattr(setup, "STEP_SECONDS_MAX", 0.2)
    waiting = program("one", ("sh", "-c", f"sleep 60 >{held} & wait"))
    assert place.missing(waiting).startswith("`sh` took more")
    left = select.poll()
    left.register(reader)  # It tells as soon as the other side is closed by all that held it.
    assert left.poll(10_000) == [(reader, select.POLLHUP)]
    os.close(reader)


@pytest.mark.parametrize("part, fault, why", [
    ("echo ready", "echo no ring here >&2; exit 1", "it does not serve: no ring here"),
    ("echo ready\n", "", "`sh server` took more than"),
    ("'exit 0'", "''", "`sh server` took more than"),
    ("'exit 0'", "'exit 4'", "asked to end, it ends with 4"),
    ("shell 1.0 none", "shell", "it does not tell its version: shell")])
def test_a_peer_that_does_not_work_is_missing(place, monkeypatch, part, fault, why):
    if "took" in why:
        monkeypatch.setattr(setup, "START_SECONDS_MAX", 0.2)
    place.source("one", SERVER.replace(part, fault))
    assert place.missing(program("one")).startswith(why)


def test_one_of_two_peers_of_a_program_may_be_missing_and_is_tried_again(place):
    place.source("one", SERVER.replace("echo ready", f"""
        if [ "$2" = two ] && [ ! -e {place.folder}/ring ]; then echo no ring >&2; exit 1; fi
        echo ready""").replace('"$1" = --version', '"$3" = --version'))
    both = program("one", peers=tuple(Peer(name, "shell", ("sh", "{target}/server", "--as", name))
                                      for name in ("one", "two")))
    place.set_up(both)
    assert [each["missing"] for each in place.records()] == [None, "it does not serve: no ring"]
    (place.folder / "ring").touch()
    assert all("is there" in line for line in place.set_up(both))
    assert [each["missing"] for each in place.records()] == [None, None]


@pytest.mark.parametrize("output, told", [
    ("a\nserver.c:1:10: fatal error: uv.h: No such file\nerror: b\n",
     "server.c:1:10: fatal error: uv.h: No such file"),
    ("[INFO] a\n[ERROR] b\n[ERROR] c\n", "[ERROR] b"), ("a\n  ERROR: b\nc\n", "ERROR: b"),
    ("errors happen\nthe end\n\n", "the end"), (" \n", "it printed nothing"),
    ("x" * 1000, "x" * (setup.REASON_LENGTH_MAX - 3) + "...")])
def test_the_cause_is_the_first_error_or_the_last_line(output, told):
    assert cause(output) == told


# --- the table -----------------------------------------------------------------------------------------


def test_each_folder_of_sources_is_a_program_and_names_are_told_apart():
    used = {name for each in PROGRAMS for name in (each.folder, *each.shares)}
    assert used == {path.name for path in SOURCES.iterdir() if path.is_dir() and path.name[0] != "_"}
    names = [(peer.name, bool(peer.suites)) for each in PROGRAMS for peer in each.peers]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("library", ["tokio", "monoio"])
def test_peers_in_rust_tell_the_version_that_they_use(library):
    manifest = tomllib.loads((SOURCES / library / "Cargo.toml").read_text(encoding="utf-8"))
    assert "=" + manifest["package"]["version"] == manifest["dependencies"][library]["version"]
