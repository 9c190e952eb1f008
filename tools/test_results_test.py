# SPDX-License-Identifier: BSL-1.0
"""Tests of test_results.py: what ctest itself writes of tests that end in each way."""

import re
import subprocess

import pytest
import test_results

ENDS = """\
cmake_minimum_required(VERSION 3.22)
project(ends NONE)
enable_testing()
add_test(NAME passes COMMAND sh -c "echo all is well")
add_test(NAME fails COMMAND sh -c "echo 1 is not 2; exit 1")
add_test(NAME is_silent COMMAND false)
add_test(NAME talks COMMAND sh -c "seq 100; exit 1")
add_test(NAME hangs COMMAND sleep 60)
add_test(NAME is_missing COMMAND /no/such/program)
add_test(NAME skips_itself COMMAND sh -c "exit 77")
add_test(NAME is_disabled COMMAND false)
set_tests_properties(hangs PROPERTIES TIMEOUT 1)
set_tests_properties(skips_itself PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(is_disabled PROPERTIES DISABLED ON)
"""


@pytest.fixture
def printed(tmp_path, capsys):
    results = tmp_path / "some_preset/results.xml"
    results.parent.mkdir()

    def run(*arguments, cases=None, again=""):
        if cases is not None:
            results.write_text(f"<testsuite>{cases}</testsuite>", encoding="utf-8")
        if again:
            results.with_stem("results-again").write_text(f"<testsuite>{again}</testsuite>", encoding="utf-8")
        return test_results.main([*arguments, str(results)]), *capsys.readouterr()
    run.results = results
    return run


def test_each_failed_test_is_shown_with_its_last_words(printed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(ENDS, encoding="utf-8")
    subprocess.run(["cmake", "-S", ".", "-B", "build"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["ctest", "--test-dir", "build", "--output-junit", printed.results], cwd=tmp_path,
                   check=False, capture_output=True)
    code, text, _ = printed()
    assert code == 0
    assert re.search(r"some_preset: FAILED after 0\.\d s: fails\n    1 is not 2\n", text)
    assert re.search(r"some_preset: FAILED after 0\.\d s: is_silent\n    \(it printed nothing\)\n", text)
    assert re.search(r"some_preset: FAILED after 1\.\d s: hangs\n", text)
    assert re.search(r"FAILED after 0\.0 s: is_missing\n    Unable to find executable", text)
    assert "    (75 lines before these)\n    76\n" in text
    assert not re.search("passes|skips_itself|is_disabled", text)


def test_many_failures_are_named_one_by_one(printed):
    _, text, _ = printed(cases="".join(f'<testcase name="t{n}" status="fail" time="1"/>' for n in range(13)))
    assert text.count("FAILED after") == test_results.TESTS_MAX
    assert text.endswith("some_preset: FAILED, too: t12\n")


def test_a_test_that_passed_when_it_was_run_again_is_unsteady(printed):
    shaky = '<testcase name="shaky" status="fail" time="1"><system-out>1 is not 2</system-out></testcase>'
    broken = '<testcase name="broken" status="fail" time="2"/>'
    _, text, _ = printed(cases=shaky + broken, again='<testcase name="shaky" status="run"/>' + broken)
    assert "some_preset: UNSTEADY, failed once after 1.0 s: shaky\n    1 is not 2\n" in text
    assert "some_preset: FAILED after 2.0 s: broken\n" in text


def test_the_slowest_tests_come_first_with_the_time_of_all(printed):
    _, text, _ = printed("--slowest", "2", cases="".join(
        f'<testcase name="t{n}" status="run" time="{n}"/>' for n in range(5)))
    assert text == "some_preset: 5 tests of 10 s; the slowest:\n     4.0 s  t4\n     3.0 s  t3\n"


@pytest.mark.parametrize("cases", [None, "<testcase>"])
def test_a_file_that_cannot_be_read_is_named(printed, cases):
    code, text, error = printed(cases=cases)
    assert (code, text) == (2, "")
    assert str(printed.results) in error
