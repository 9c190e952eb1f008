#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of test_results.py: what ctest itself writes, of tests that end in each way there is.

Run it directly, or with `python3 -m unittest tools/test_results_test.py`.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_results  # noqa: E402  (the path must be known first)

ENDS = """\
cmake_minimum_required(VERSION 3.25)
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


def printed(*arguments: Path | str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["test_results.py", *map(str, arguments)]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = test_results.main()
    return code, out.getvalue() + err.getvalue()


class Ends(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.results = self.folder / "some_preset" / "results.xml"
        self.results.parent.mkdir()

    def run_ctest(self, *filters: str) -> None:
        (self.folder / "CMakeLists.txt").write_text(ENDS)
        subprocess.run(["cmake", "-S", ".", "-B", "build"], cwd=self.folder, check=True, capture_output=True)
        ctest = ["ctest", "--test-dir", "build", "--output-junit", str(self.results), *filters]
        subprocess.run(ctest, cwd=self.folder, check=False, capture_output=True)

    def test_each_failed_test_is_shown_with_its_last_words(self) -> None:
        self.run_ctest()
        code, text = printed(self.results)
        self.assertEqual(code, 0)
        self.assertRegex(text, r"some_preset: FAILED after 0\.\d s: fails\n    1 is not 2\n")
        self.assertRegex(text, r"some_preset: FAILED after 0\.\d s: is_silent\n    \(it printed nothing\)\n")
        self.assertRegex(text, r"some_preset: FAILED after 1\.\d s: hangs\n")
        self.assertRegex(text, r"FAILED after 0\.0 s: is_missing\n    Unable to find executable")
        for fine in ("passes", "skips_itself", "is_disabled"):
            self.assertNotIn(fine, text)

    def test_long_output_is_cut_in_front(self) -> None:
        self.run_ctest("--tests-regex", "talks")
        _, text = printed(self.results)
        lines = [line.strip() for line in text.splitlines()[1:]]
        self.assertEqual(lines, ["(75 lines before these)", *(str(number) for number in range(76, 101))])

    def test_many_failures_are_named_one_by_one(self) -> None:
        cases = "".join(f'<testcase name="t{n}" status="fail" time="1"/>' for n in range(13))
        self.results.write_text(f"<testsuite>{cases}</testsuite>")
        _, text = printed(self.results)
        self.assertEqual(text.count("FAILED after"), test_results.TESTS_MAX)
        self.assertTrue(text.endswith("some_preset: FAILED, too: t12\n"))

    def test_what_has_passed_when_it_was_run_again_is_unsteady(self) -> None:
        self.results.write_text(
            '<testsuite><testcase name="shaky" status="fail" time="1"><system-out>1 is not 2</system-out>'
            '</testcase><testcase name="broken" status="fail" time="2"/></testsuite>'
        )
        self.results.with_stem("results-again").write_text(
            '<testsuite><testcase name="shaky" status="run"/><testcase name="broken" status="fail"/>'
            "</testsuite>"
        )
        code, text = printed(self.results)
        self.assertEqual(code, 0)
        self.assertIn("some_preset: UNSTEADY, failed once after 1.0 s: shaky\n    1 is not 2\n", text)
        self.assertIn("some_preset: FAILED after 2.0 s: broken\n", text)

    def test_nothing_is_said_when_nothing_failed(self) -> None:
        self.run_ctest("--tests-regex", "passes|skips_itself|is_disabled")
        self.assertEqual(printed(self.results), (0, ""))
        self.assertEqual(printed(), (0, ""))

    def test_the_slowest_tests_come_first_with_the_time_of_all(self) -> None:
        cases = "".join(f'<testcase name="t{n}" status="run" time="{n}"/>' for n in range(5))
        self.results.write_text(f"<testsuite>{cases}</testsuite>")
        code, text = printed("--slowest", "2", self.results)
        self.assertEqual(code, 0)
        self.assertEqual(text.splitlines(), ["some_preset: 5 tests of 10 s; the slowest:",
                                             "     4.0 s  t4", "     3.0 s  t3"])

    def test_a_file_that_cannot_be_read_is_named(self) -> None:
        code, text = printed(self.results)
        self.assertEqual(code, 2)
        self.assertIn("No such file", text)
        self.results.write_text("<testsuite>")
        code, text = printed(self.results)
        self.assertEqual(code, 2)
        self.assertIn(str(self.results), text)


if __name__ == "__main__":
    unittest.main()
