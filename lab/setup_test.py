# SPDX-License-Identifier: BSL-1.0
#
# Whoever sets up a machine must hear what is missing, and get the rest. Registries are not asked here.
"""Builds small programs, good ones and bad ones, the way peers are built."""

import contextlib
import io
import json
import os
import select
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import setup
from setup import PROGRAMS, SOURCES, Peer, Program, cause

# A peer as the seam has it, as far as setup looks.
SERVER = """#!/bin/sh
if [ "$1" = --version ]; then echo "shell 1.0 none"; exit 0; fi
trap 'exit 0' TERM
echo ready
while :; do sleep 0.01; done
"""


def program(name: str, *steps: tuple[str, ...], tools: tuple[str, ...] = (), **more) -> Program:
    steps = steps or (("cp", "{source}/server", "{target}/server"),)
    peers = more.pop("peers", (Peer(name, "shell", ("sh", "{target}/server")),))
    return Program(name, tools, steps, peers, **more)


class SetUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.targets = self.folder / "build/lab/peers"

    def source(self, name: str, text: str = SERVER) -> None:
        folder = self.folder / "sources" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "server").write_text(text, encoding="utf-8")

    def run_setup(self, *programs: Program) -> list[str]:
        """What was said, line by line, without the last one."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = setup.main(["--build", str(self.folder / "build")], programs,
                                self.folder / "sources")
        self.assertEqual(status, 0)
        return said.getvalue().splitlines()[:-1]

    def records(self) -> list[dict]:
        return json.loads((self.targets / "peers.json").read_text(encoding="utf-8"))

    def missing(self, *programs: Program) -> str:
        """Why the only peer is missing; said and written alike."""
        [line] = self.run_setup(*programs)
        [record] = self.records()
        self.assertIsNone(record["version"])
        self.assertIsNone(record["fingerprint"])
        self.assertIn(f"missing: {record['missing']}", line)
        return record["missing"]


class Built(SetUp):
    def test_what_was_built_is_listed_with_its_version(self):
        self.source("one")
        [line] = self.run_setup(program("one"))
        self.assertRegex(line, r"one +built in \d+ s: shell 1.0 none")
        [record] = self.records()
        self.assertRegex(record.pop("fingerprint"), "^[0-9a-f]{64}$")
        self.assertEqual(record, {
            "name": "one", "family": "shell", "command": ["sh", str(self.targets / "one/server")],
            "workloads": ["echo", "http"], "threads_max": None, "missing": None,
            "version": "shell 1.0 none"})

    def test_it_can_be_started_by_one_word_which_it_replaces(self):
        self.source("one", SERVER.replace("echo ready", 'echo ready $$ "$@"'))
        talking = program("one", peers=(Peer("one", "shell", ("sh", "{target}/server", "two words")),))
        with mock.patch.object(setup.Workshop, "version", return_value="shell 1.0 none"):
            self.run_setup(talking)
        process = subprocess.Popen([self.targets / "start/one", "--port", "0"],
                                   stdout=subprocess.PIPE, text=True)
        with process:
            said = process.stdout.readline()
            process.terminate()
        self.assertEqual(said, f"ready {process.pid} two words --port 0\n")
        self.assertEqual(process.returncode, 0)

    def test_the_second_time_nothing_is_done(self):
        self.source("one")
        counted = program("one", ("cp", "{source}/server", "{target}/server"),
                          ("sh", "-c", f"echo built >>{self.folder}/builds"))
        self.run_setup(counted)
        [line] = self.run_setup(counted)
        self.assertRegex(line, "one +is there: shell 1.0 none")
        self.assertEqual((self.folder / "builds").read_text(encoding="utf-8"), "built\n")
        self.assertIsNone(self.records()[0]["missing"])

    def test_the_second_time_none_is_started_but_to_tell_its_version(self):
        self.source("one", SERVER.replace("echo ready", f"echo run >>{self.folder}/runs; echo ready"))
        self.run_setup(program("one"))
        self.run_setup(program("one"))
        self.assertEqual((self.folder / "runs").read_text(encoding="utf-8"), "run\n")

    def test_a_library_that_is_another_one_now_is_told_and_tried_without_a_build(self):
        library = self.folder / "library"
        library.write_text("shell 1.0 none", encoding="utf-8")
        self.source("one", SERVER.replace('echo "shell 1.0 none"', f"cat {library}")
                    .replace("echo ready", f"echo run >>{self.folder}/runs; echo ready"))
        self.run_setup(program("one"))
        library.write_text("shell 1.1 none", encoding="utf-8")
        [line] = self.run_setup(program("one"))
        self.assertRegex(line, "one +is there: shell 1.1 none")
        self.assertEqual(self.records()[0]["version"], "shell 1.1 none")
        self.assertEqual((self.folder / "runs").read_text(encoding="utf-8"), "run\nrun\n")

    def test_a_program_without_peers_has_a_line_and_no_record(self):
        self.source("one")
        self.assertRegex(self.run_setup(program("one", peers=()))[0], r"one +built in \d+ s$")
        self.assertEqual(self.records(), [])

    def test_other_sources_are_built_again(self):
        self.source("one")
        self.run_setup(program("one"))
        self.source("one", SERVER.replace("1.0", "2.0"))
        before = self.records()[0]["fingerprint"]
        [line] = self.run_setup(program("one"))
        self.assertRegex(line, "built in .*shell 2.0 none")
        self.assertNotEqual(self.records()[0]["fingerprint"], before)

    def test_other_shared_sources_build_again(self):
        self.source("one")
        self.source("shared")
        sharing = program("one", shares=("shared",))
        self.run_setup(sharing)
        self.assertIn("is there", self.run_setup(sharing)[0])
        self.source("shared", "something else")
        self.assertIn("built in", self.run_setup(sharing)[0])

    def test_another_way_to_build_builds_again(self):
        self.source("one")
        self.run_setup(program("one"))
        [line] = self.run_setup(program("one", environment={"LEVEL": "2"}))
        self.assertIn("built in", line)

    def test_another_tool_builds_again(self):
        self.source("one")
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "maker").write_text("#!/bin/sh\n", encoding="utf-8")
        (tools / "maker").chmod(0o755)
        with mock.patch.dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"):
            self.run_setup(program("one", tools=("maker",)))
            self.assertIn("is there", self.run_setup(program("one", tools=("maker",)))[0])
            (tools / "maker").write_text("#!/bin/sh\n# newer\n", encoding="utf-8")
            self.assertIn("built in", self.run_setup(program("one", tools=("maker",)))[0])

    def test_steps_have_their_environment(self):
        self.source("one")
        self.run_setup(program("one", ("cp", "server", "{target}/server"),
                               ("sh", "-c", "echo $LEVEL >{target}/level"), environment={"LEVEL": "2"}))
        self.assertEqual((self.targets / "one/level").read_text(encoding="utf-8"), "2\n")


class Missing(SetUp):
    def test_a_missing_tool_keeps_nobody_from_the_rest(self):
        self.source("one")
        self.source("two")
        first, second = self.run_setup(program("one", tools=("no-such-tool",)), program("two"))
        self.assertRegex(first, "one +missing: `no-such-tool` is not installed$")
        self.assertIn("built in", second)
        self.assertEqual([each["missing"] for each in self.records()],
                         ["`no-such-tool` is not installed", None])

    def test_a_tool_that_has_gone_has_no_story(self):
        self.source("one")
        self.run_setup(program("one"))
        [line] = self.run_setup(program("one", tools=("no-such-tool",)))
        self.assertTrue(line.endswith("missing: `no-such-tool` is not installed"), line)

    def test_what_the_system_denies_keeps_nobody_from_the_rest(self):
        self.source("one")
        self.source("two")
        self.targets.mkdir(parents=True)
        (self.targets / "one").write_text("in the way of the folder", encoding="utf-8")
        first, second = self.run_setup(program("one"), program("two"))
        self.assertRegex(first, "one +missing: .*File exists")
        self.assertIn("built in", second)
        with mock.patch.object(setup.Workshop, "_serve", side_effect=OSError("no more processes")):
            self.source("two", SERVER.replace("1.0", "2.0"))
            self.assertEqual(self.missing(program("two")), "no more processes")

    def test_a_build_error_names_its_cause_and_where_the_rest_is(self):
        self.source("one")
        failing = program("one", ("sh", "-c", "echo begins; echo 'error: no dice'; echo ends; exit 3"))
        self.assertEqual(self.missing(failing), "`sh` failed: error: no dice")
        [line] = self.run_setup(failing)
        log = self.targets / "one/setup.log"
        self.assertTrue(line.endswith(f"; all of it is in {log}"), line)
        self.assertTrue(log.read_text(encoding="utf-8").endswith("begins\nerror: no dice\nends\n"))

    def test_a_program_of_older_sources_does_not_stand_for_newer_ones(self):
        self.source("one")
        self.run_setup(program("one"))
        failing = program("one", ("sh", "-c", "exit 1"))
        self.missing(failing)
        self.assertFalse((self.targets / "one/server").exists())
        self.missing(failing)

    def test_a_step_that_does_not_end_is_ended_with_all_that_it_started(self):
        self.source("one")
        held = self.folder / "held"
        os.mkfifo(held)
        reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        with mock.patch.object(setup, "STEP_SECONDS_MAX", 0.2):
            self.assertRegex(self.missing(program("one", ("sh", "-c", f"sleep 60 >{held} & wait"))),
                             "`sh` took more than")
        left = select.poll()
        left.register(reader)  # It tells as soon as nobody holds the other side any more.
        self.assertEqual(left.poll(10_000), [(reader, select.POLLHUP)])

    def test_one_that_ends_instead_of_serving_is_missing(self):
        self.source("one", SERVER.replace("echo ready", "echo no ring here >&2; exit 1"))
        self.assertEqual(self.missing(program("one")), "it does not serve: no ring here")

    def test_one_that_is_never_ready_is_missing(self):
        self.source("one", SERVER.replace("echo ready\n", ""))
        with mock.patch.object(setup, "START_SECONDS_MAX", 0.2):
            self.assertRegex(self.missing(program("one")), "it has not started and ended within")

    def test_one_that_does_not_end_when_asked_is_missing(self):
        self.source("one", SERVER.replace("'exit 0'", "''"))
        with mock.patch.object(setup, "START_SECONDS_MAX", 0.2):
            self.assertRegex(self.missing(program("one")), "it has not started and ended within")

    def test_one_that_ends_with_an_error_is_missing(self):
        self.source("one", SERVER.replace("'exit 0'", "'exit 4'"))
        self.assertRegex(self.missing(program("one")), "asked to end, it ends with 4")

    def test_one_without_a_version_is_missing(self):
        self.source("one", SERVER.replace("shell 1.0 none", "shell"))
        self.assertEqual(self.missing(program("one")), "it does not tell its version: shell")

    def test_one_of_two_peers_of_a_program_may_be_missing_and_is_tried_again(self):
        self.source("one", SERVER.replace("echo ready", f"""
            if [ "$2" = two ] && [ ! -e {self.folder}/ring ]; then echo no ring >&2; exit 1; fi
            echo ready""").replace('"$1" = --version', '"$3" = --version'))
        both = program("one", peers=(Peer("one", "shell", ("sh", "{target}/server", "--as", "one")),
                                     Peer("two", "shell", ("sh", "{target}/server", "--as", "two"))))
        self.run_setup(both)
        self.assertEqual([each["missing"] for each in self.records()],
                         [None, "it does not serve: no ring"])
        (self.folder / "ring").touch()
        first, second = self.run_setup(both)
        self.assertIn("is there", first)
        self.assertIn("is there", second)
        self.assertEqual([each["missing"] for each in self.records()], [None, None])


class Causes(unittest.TestCase):
    def test_the_first_error_is_the_cause(self):
        self.assertEqual(cause("a\nserver.c:1:10: fatal error: uv.h: No such file\nerror: b\n"),
                         "server.c:1:10: fatal error: uv.h: No such file")
        self.assertEqual(cause("[INFO] a\n[ERROR] b\n[ERROR] c\n"), "[ERROR] b")
        self.assertEqual(cause("a\n  ERROR: b\nc\n"), "ERROR: b")

    def test_or_else_the_last_line(self):
        self.assertEqual(cause("errors happen\nthe end\n\n"), "the end")
        self.assertEqual(cause(" \n"), "it printed nothing")

    def test_it_is_no_longer_than_a_line(self):
        self.assertEqual(len(cause("x" * 1000)), setup.REASON_LENGTH_MAX)


class Table(unittest.TestCase):
    def test_each_folder_of_sources_is_a_program(self):
        used = {name for each in PROGRAMS for name in (each.folder, *each.shares)}
        self.assertEqual(used, {path.name for path in SOURCES.iterdir() if path.is_dir()})

    def test_names_are_told_apart(self):
        names = [peer.name for each in PROGRAMS for peer in each.peers]
        self.assertEqual(len(names), len(set(names)))

    def test_peers_in_rust_tell_the_version_that_they_use(self):
        for library in ("tokio", "monoio"):
            manifest = tomllib.loads((SOURCES / library / "Cargo.toml").read_text(encoding="utf-8"))
            self.assertEqual("=" + manifest["package"]["version"],
                             manifest["dependencies"][library]["version"])


if __name__ == "__main__":
    unittest.main()
