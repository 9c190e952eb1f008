# SPDX-License-Identifier: BSL-1.0
#
# A figure of the wrong process, of a cached compiler or of fewer connections looks like a good one.
"""Tests of measure/cost.py; programs are made up."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from conftest import FOLDER, fake_server, needs_lab
from measure import cost
from measure.processes import Broken, Refused

# --- compiling -------------------------------------------------------------------------------------


def found_in(words: str, program: str = "lab_echo_gyre") -> tuple[list[str], str]:
    """`words` are how it is compiled, with OUT for the output."""
    others = [{"command": "no -o CMakeFiles/lab_echo_gyre_leases.dir/x.o", "file": "gyre/echo_leases.cpp"},
              {"command": "no -o CMakeFiles/lab_echo_gyre.dir/y.o", "file": "/servers/main.cpp"}]
    wanted = {"command": words.replace("OUT", f"CMakeFiles/{program}.dir/x.o"), "file": "/gyre/echo.cpp"}
    database = [each | {"directory": "/build"} for each in [*others, wanted]]
    return cost.compile_command(database, "lab_echo_gyre", cost.SOURCE)


@pytest.mark.parametrize("launcher", ["", "/usr/bin/ccache "])
def test_the_build_s_command_without_its_output_and_without_a_cache_at_o2(launcher):
    assert found_in(f"{launcher}clang++ -Iinclude -O0 -o OUT -c gyre.cpp") == (
        ["clang++", "-Iinclude", "-O0", "-c", "gyre.cpp", "-O2"], "/build")


def test_a_program_that_the_build_does_not_compile_is_an_error():
    with pytest.raises(Broken, match="does not compile lab_echo_gyre"):
        found_in("clang++ -o OUT -c gyre.cpp", program="gyre")


def compiled(folder: Path, code: str) -> dict[str, float]:
    command = shlex.join([sys.executable, "-c", code, "-o", "lab/test.dir/x.o"])
    (folder / "compile_commands.json").write_text(
        json.dumps([{"command": command, "directory": str(folder), "file": "/echo.cpp"}]), encoding="utf-8")
    return cost.compile_time(folder / "lab/test")


def test_what_a_compiler_spends_without_a_cache_is_its_own_and_its_children_s(tmp_path):
    spin = ("import os, sys, time; assert os.environ['CCACHE_DISABLE'] == '1'; "
            "open(sys.argv[-1], 'w').write('o' * 3000); "
            "os.fork() or os._exit(any(time.process_time() > 0.2 for _ in iter(int, 1))); os.wait()")
    found = compiled(tmp_path, spin)
    assert 0.2 < found["compile"] < 5.0
    assert found["compile_wall"] >= 0.2
    assert found["object"] == 3.0


def test_a_source_that_does_not_compile_is_an_error_that_says_why(tmp_path):
    with pytest.raises(Broken, match="test does not compile: no luck"):
        compiled(tmp_path, "import sys; sys.exit('no luck')")


# --- the file --------------------------------------------------------------------------------------


def test_text_and_data_are_added():
    text = "   text\t   data\t    bss\t    dec\tfilename\n 161000\t   2000\t    500\t 163500\tx\n"
    assert cost.parse_size(text) == 163_000
    with pytest.raises(Broken, match="size has printed ''"):
        cost.parse_size("")


def test_symbols_do_not_count(tmp_path):
    program = tmp_path / "test"
    program.write_bytes(Path(sys.executable).resolve().read_bytes() + bytes(1 << 20))
    found = cost.program_size(program)
    assert 1024 * found["file"] < program.stat().st_size - (1 << 20) + 4096
    assert found["text_and_data"] < found["file"] + 1024


def test_a_tool_that_is_missing_is_named():
    with mock.patch("shutil.which", return_value=None), pytest.raises(Refused, match="size is not installed"):
        cost.program_size(Path("/x"))


# --- running ---------------------------------------------------------------------------------------


@needs_lab
def test_memory_is_that_of_each_connection():
    few = cost.idle_connections({"connections": 200}, FOLDER, fake_server())
    many = cost.idle_connections({"connections": 200}, FOLDER, fake_server("keeps_20000"))
    for figure in ("per_connection", "allocated_each"):
        assert 19_000 < many[figure] - few[figure] < 30_000
    assert many["rss_with_all"] - many["rss"] > 3.8


@needs_lab
def test_connections_that_were_not_accepted_are_no_figure():
    with pytest.raises(Broken, match="did not come back"):
        cost.idle_connections({"connections": 10}, FOLDER, fake_server("wrong"))


def test_too_few_descriptors_are_a_reason():
    with mock.patch("resource.getrlimit", return_value=(1024, 4096)), \
            pytest.raises(Refused, match=r"10,000 connections need 10,200 descriptors, .* limit is 4,096"):
        cost.raise_descriptor_limit(10_000)


STEADY = {"probe": "steady_state", "connections": 2, "bytes": 64, "seconds": 0.1}


@needs_lab
def test_a_steady_server_s_costs_are_those_of_the_measured_requests():
    def figures(command: list[str]) -> dict[str, float]:
        report = cost.play(STEADY, FOLDER, command)
        return {each["metric"]: each["value"] for each in report["metrics"]}

    found = figures(fake_server())
    assert found["allocations"] < 20 and found["rss_busy"] > 1
    if (FOLDER / "lab_echo_raw_epoll").is_file():
        assert figures([str(FOLDER / "lab_echo_raw_epoll")])["allocations"] == 0


@needs_lab
def test_a_wrong_answer_is_an_error_and_no_refusal():
    with pytest.raises(Broken, match="the answer differs from the message"):
        cost.play(STEADY, FOLDER, fake_server("wrong"))


@needs_lab
def test_every_call_of_malloc_is_counted(tmp_path):
    def count(calls: int) -> int:
        """Of an interpreter that asks for memory by ctypes."""
        file = tmp_path / "count"
        file.write_bytes(bytes(16))
        subprocess.run([sys.executable, "-c", "import ctypes; f = ctypes.CDLL(None).malloc;"
                        f"f.argtypes = [ctypes.c_size_t]; [f(64) for _ in range({calls})]"], check=True,
                       env=os.environ | {"LD_PRELOAD": str(FOLDER / "liblab_allocation_counter.so"),
                                         "LAB_ALLOCATIONS": str(file), "PYTHONHASHSEED": "0"})
        return int.from_bytes(file.read_bytes()[:8], "little")

    assert count(51_000) - count(1_000) == pytest.approx(50_000, abs=2_000)  # The interpreter makes some.


def test_figures_have_units_and_calls_are_counted_in_one_case_only():
    with mock.patch.object(cost, "compile_time", return_value={"compile": 2.0}):
        assert cost.play({"probe": "compile_time"}, FOLDER, ["program"]) == {
            "metrics": [{"metric": "compile", "unit": "s", "better": "lower", "value": 2.0}]}
    for probe in ("compile_time", "program_size", "idle_connections"):
        assert cost.play({"probe": probe, "count_system_calls": True}, FOLDER, [])["metrics"] == []
    with mock.patch.object(cost, "run_echo_load", return_value={
            "metrics": [{"metric": "allocations", "value": 0.0}, {"metric": "rss", "value": 3.0}],
            "system_calls_not_counted": "no tracefs"}):
        assert cost.play(STEADY, FOLDER, [])["system_calls_not_counted"] == "no tracefs"
