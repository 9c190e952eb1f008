#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of conformance.py: programs that count, and what is made of their counts.

Run it directly, or with `python3 -m unittest tools/conformance_test.py`.
"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import conformance  # noqa: E402  (the path must be known first)


class ConformanceTest(unittest.TestCase):
    def run_on(self, said: dict[str, str], status: int = 0) -> tuple[int, str]:
        """The exit code and output, where each program says this."""
        with tempfile.TemporaryDirectory() as folder:
            tests = Path(folder) / "tests"
            tests.mkdir()
            for program in conformance.PROGRAMS:
                path = tests / program
                path.write_text(f"#!/bin/sh\ncat <<'EOF'\n{said.get(program, '')}\nEOF\nexit {status}\n")
                path.chmod(0o755)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = conformance.main([folder])
        return code, printed.getvalue()

    def test_families_of_all_programs_are_in_one_table(self) -> None:
        code, text = self.run_on({
            "io_tests": "[doctest] noise\nfamily files: epoll 3 uring-a 3 (no files)\n"
                        "family streams: epoll 2 uring-a 2 world 2",
            "laws_tests": "family streams: epoll 5 uring-a 5 world 5",
        })

        self.assertEqual(code, 0)
        self.assertRegex(text, r"files +3 +3 +-  no world: no files")
        self.assertRegex(text, r"streams +7 +7 +7\n")
        self.assertRegex(text, r"all +10 +10 +7\n")

    def test_unequal_counts_are_an_error(self) -> None:
        code, text = self.run_on({"io_tests": "family files: epoll 3 uring-a 2"})

        self.assertEqual(code, 1)
        self.assertIn("files: other cases on one backend than on another", text)

    def test_a_program_that_fails_is_an_error_though_its_counts_are_equal(self) -> None:
        code, text = self.run_on({"io_tests": "family files: epoll 3 uring-a 3"}, status=1)

        self.assertEqual(code, 1)
        self.assertIn("io_tests: failed", text)

    def test_no_counts_at_all_are_an_error(self) -> None:
        code, _ = self.run_on({})

        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
