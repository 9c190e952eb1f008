#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of mistakes.py: small pages, a compiler that has said something, and a program of the shell.

Run it directly, or with `python3 -m unittest tools/mistakes_test.py`.
"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import mistakes  # noqa: E402  (the path must be known first)

CLANG, GCC = "clang++ 19", "g++ 12"


def block(mark: str, *lines: str) -> str:
    return "\n".join([f"<!-- said: {mark} -->", "```text", *lines, "```", ""])


class Page(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs/guide").mkdir(parents=True)
        self.page = self.root / mistakes.PAGE
        (self.root / "dropped").write_text(
            f"In file included from x:\n{self.root}/a.cpp:12:3: error: no\n   12 | greet();\n",
            encoding="utf-8")
        program = self.root / "program"
        program.write_text("#!/bin/sh\necho \"gyre: failed $1\"\necho '  at a.cpp:7 in int main()' >&2\n",
                           encoding="utf-8")
        program.chmod(0o755)

    def run_it(self, page: str, *more: str, compiler: str = CLANG) -> tuple[int, str]:
        self.page.write_text(page, encoding="utf-8")
        arguments = ["--root", str(self.root), "--compiler", compiler, "--recorded", str(self.root),
                     "--program", str(self.root / "program"), *more]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = mistakes.main(arguments)
        return status, out.getvalue()

    def test_what_is_said_begins_with_the_error_and_may_have_other_numbers(self) -> None:
        page = block(f"{CLANG} dropped 2", "a.cpp:9:1: error: no", "  9 | greet();")
        self.assertEqual(self.run_it(page), (0, "mistakes: 1 blocks compared, 0 findings\n"))

    def test_other_words_are_found_and_fixed(self) -> None:
        page = "Text.\n" + block(f"{CLANG} dropped 1", "a.cpp:9:1: error: yes") + "More.\n"
        status, said = self.run_it(page)
        self.assertEqual(status, 1)
        self.assertIn("docs/guide/mistakes.md:2: clang++ 19 says of dropped:\na.cpp:12:3: error: no\n", said)
        self.assertEqual(self.page.read_text(encoding="utf-8"), page)

        self.assertEqual(self.run_it(page, "--fix")[0], 1)
        self.assertEqual(self.page.read_text(encoding="utf-8"),
                         page.replace("9:1: error: yes", "12:3: error: no"))

    def test_a_block_of_another_compiler_is_left_alone(self) -> None:
        page = block(f"{GCC} dropped 1", "anything") + block("mistakes two 1", "gyre: failed two")
        self.assertEqual(self.run_it(page), (0, "mistakes: 1 blocks compared, 0 findings\n"))

    def test_only_clang_is_asked_how_functions_are_called(self) -> None:
        page = block("mistakes two 2", "gyre: failed two", "  at a.cpp:3 in int other()")
        self.assertEqual(self.run_it(page, compiler=GCC)[0], 0)
        self.assertEqual(self.run_it(page)[0], 1)
        self.assertEqual(self.run_it(page.replace("a.cpp", "b.cpp"), compiler=GCC)[0], 1)

    def test_an_object_of_another_clone_may_be_linked(self) -> None:
        (self.root / "program").write_text("#!/bin/sh\necho '  at /other/src/a.cpp:7 in int main()'\n",
                                           encoding="utf-8")
        page = block("mistakes two 1", "  at src/a.cpp:7 in int main()")
        self.assertEqual(self.run_it(page)[0], 0)
        self.assertEqual(self.run_it(page.replace("src/a", "src/b"))[0], 1)

    def test_a_page_that_quotes_nothing_is_no_success(self) -> None:
        self.assertEqual(self.run_it("Text.\n")[0], 1)
        self.assertEqual(self.run_it("<!-- said: mistakes two 1 -->\nText.\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
