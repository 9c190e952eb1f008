# SPDX-License-Identifier: BSL-1.0
#
# A turn of the suite `cost`: what a minimal echo program of a library costs to compile and to run, seen from
# outside: by the compiler's clock, in its file, in /proc, and with a malloc that counts.
"""play(case, folder, command, cores): looks at a contender's `lab_echo_*` program.

A case is {"probe": "compile_time" | "program_size" | "idle_connections" | "steady_state", "connections",
"seconds", "bytes", "count_system_calls"}; `folder` has the build's programs.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from measure.processes import Broken, Refused
from measure.watched import Watched, connect, counting_option, run_echo_load

UNITS = {"compile": "s", "compile_wall": "s", "object": "KB", "text_and_data": "KiB", "file": "KiB",
         "per_connection": "B", "allocated_each": "B", "rss": "MiB", "rss_with_all": "MiB", "rss_busy": "MiB",
         "allocations": "1/op", "system_calls": "1/op"}
ALLOCATION_COUNTER = "liblab_allocation_counter.so"
DESCRIPTORS_BESIDE = 200  # Of a server and of its clients, apart from connections.
SOURCE = "/echo"  # The one translation unit that counts: servers/<library>/echo*.cpp.


# --- what it costs to build ----------------------------------------------------------------------


def compile_command(database: list[dict], program: str, source: str) -> tuple[list[str], str]:
    """The build's own, at -O2 whatever the build is, without an output; and the folder to run it in.

    By the program's folder of objects: one source may be in several programs, with other definitions.
    """
    found = next((each for each in database if f"/{program}.dir/" in each["command"]
                  and source in each["file"]), None)
    if found is None:
        raise Broken(f"the build does not compile {program}")
    words = shlex.split(found["command"])
    if Path(words[0]).name == "ccache":
        del words[0]
    at = words.index("-o")
    return [*words[:at], *words[at + 2:], "-O2"], found["directory"]


def how_compiled(program: Path, source: str = SOURCE) -> tuple[list[str], str]:
    build = program.parent.parent
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return compile_command(database, program.name, source)


def compile_time(program: Path, source: str = SOURCE) -> dict[str, float]:
    """Without a cache."""
    command, folder = how_compiled(program, source)
    with tempfile.NamedTemporaryFile(suffix=".o") as output:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        done = subprocess.run([*command, "-o", output.name], cwd=folder, capture_output=True, text=True,
                              env=os.environ | {"CCACHE_DISABLE": "1"})
        wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = Path(output.name).stat().st_size
    if done.returncode != 0:
        raise Broken(f"{program.name} does not compile: {done.stderr.strip()[:300]}")
    return {"compile": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "compile_wall": wall, "object": size / 1000}


def parse_size(text: str) -> int:
    """Bytes of text and data, from what size(1) prints of one file."""
    try:
        code, data, *_ = text.splitlines()[1].split()
        return int(code) + int(data)
    except (IndexError, ValueError) as error:
        raise Broken(f"size has printed {text!r}") from error


def program_size(program: Path) -> dict[str, float]:
    """Without symbols. Shared libraries are not in it."""
    for tool in ("size", "strip"):
        if shutil.which(tool) is None:
            raise Refused(f"{tool} is not installed (Debian package binutils)")
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder, program.name)
        subprocess.run(["strip", "-o", str(stripped), str(program)], check=True)
        sizes = subprocess.run(["size", str(stripped)], check=True, capture_output=True, text=True).stdout
        return {"text_and_data": parse_size(sizes) / 1024, "file": stripped.stat().st_size / 1024}


# --- what it costs to run ------------------------------------------------------------------------


def memory_of(process: int) -> dict[str, int]:
    """Bytes. `Rss`: all that is resident. `Anonymous`: what is its own and in no file."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError as error:
        raise Refused(f"the memory of a server cannot be looked at: {error}") from error
    return {words[0].rstrip(":"): 1024 * int(words[1]) for words in map(str.split, text.splitlines()[1:])}


def raise_descriptor_limit(connections: int) -> None:
    """For us and the programs we start. Raises Refused if that is not allowed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = connections + DESCRIPTORS_BESIDE
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise Refused(f"{connections:,} connections need {wanted:,} descriptors, and the hard limit is "
                      f"{hard:,} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def speak(connection: socket.socket) -> None:
    """Raises Broken unless a byte comes back."""
    connection.sendall(b"?")
    if connection.recv(2) != b"?":
        raise Broken("a byte did not come back")


def idle_connections(case: dict, folder: Path, command: list[str],
                     cores: set[int] | None = None) -> dict[str, float]:
    """All but the last are silent. That one's byte comes back when all have been accepted.
    `per_connection` is what is resident, `allocated_each` what the server has of malloc."""
    connections = case["connections"]
    raise_descriptor_limit(connections)
    ours = os.sched_getaffinity(0)
    with tempfile.NamedTemporaryFile() as count, contextlib.ExitStack() as clients:
        count.write(bytes(16))
        count.flush()
        counting = ["env", f"LD_PRELOAD={folder / ALLOCATION_COUNTER}", f"LAB_ALLOCATIONS={count.name}",
                    "LAB_ALLOCATED=1"]

        def allocated() -> int:
            return int.from_bytes(Path(count.name).read_bytes()[8:], "little")

        with Watched(folder, [*counting, *command], "echo", cores=cores) as server:
            with connect(server.port) as first:
                speak(first)  # What is made once is there from now on.
            before, allocated_before = memory_of(server.id), allocated()
            try:
                os.sched_setaffinity(0, server.load_cores)
                for _ in range(connections):
                    last = clients.enter_context(connect(server.port))
                speak(last)
                after, allocated_after = memory_of(server.id), allocated()
            except OSError as error:
                raise Broken(f"with {connections:,} connections: {error}") from error
            finally:
                os.sched_setaffinity(0, ours)
                clients.close()
            server.stop()
    return {"per_connection": (after["Anonymous"] - before["Anonymous"]) / connections,
            "allocated_each": (allocated_after - allocated_before) / connections,
            "rss": before["Rss"] / 2**20, "rss_with_all": after["Rss"] / 2**20}


def metrics_of(figures: dict[str, float]) -> list[dict]:
    return [{"metric": name, "unit": UNITS[name], "better": "lower", "value": value}
            for name, value in figures.items()]


def steady_state(case: dict, folder: Path, command: list[str], cores: set[int] | None = None) -> dict:
    """What a request takes of a server that has been busy for a while."""
    work = {"bytes": case["bytes"], "connections": case["connections"],
            "warm_up_ms": round(500 * case["seconds"]), "measured_ms": round(1000 * case["seconds"])}
    report = run_echo_load(folder, work, command, cores, *counting_option(case), "--count-allocations")
    found = {each["metric"]: each["value"] for each in report["metrics"]}
    figures = {"rss_busy": found["rss"]} | {name: found[name] for name in ("allocations", "system_calls")
                                            if name in found}
    refusal = {name: report[name] for name in ("system_calls_not_counted",) if name in report}
    return {"metrics": metrics_of(figures)} | refusal


def play(case: dict, folder: Path, command: list[str], cores: set[int] | None = None) -> dict:
    """Raises Refused, or Broken if something is wrong."""
    if case["probe"] == "steady_state":
        return steady_state(case, folder, command, cores)
    if case.get("count_system_calls"):
        return {"metrics": []}  # A compiler's calls, or those of silent connections, are of no interest.
    if case["probe"] == "idle_connections":
        return {"metrics": metrics_of(idle_connections(case, folder, command, cores))}
    of_program = {"compile_time": compile_time, "program_size": program_size}[case["probe"]]
    return {"metrics": metrics_of(of_program(Path(command[0])))}
