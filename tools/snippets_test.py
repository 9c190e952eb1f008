#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of snippets.py: small trees of a source and a document, right and wrong.

Run it directly, or with `python3 -m unittest tools/snippets_test.py`.
"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import snippets  # noqa: E402  (the path must be known first)

SOURCE = """\
// A program.
class thing {
    // snippet: member
    void member() {
        first();

        second();
    }
    // end of snippet
};
"""
CODE = """\
void member() {
    first();

    second();
}
"""


def document(code: str = CODE, marker: str = "<!-- snippet: examples/a.cpp member -->") -> str:
    return f"# A guide\n\n{marker}\n```cpp\n{code}```\n\nMore words.\n"


class SnippetsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, text: str) -> None:
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, encoding="utf-8")

    def run_on(self, source: str, guide: str, *arguments: str) -> tuple[int, str]:
        self.write("examples/a.cpp", source)
        self.write("docs/guide/a.md", guide)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = snippets.main(["--root", str(self.root), *arguments])
        return status, said.getvalue()

    def check_finding(self, source: str, guide: str, finding: str) -> None:
        status, said = self.run_on(source, guide)
        self.assertEqual(status, 1)
        self.assertIn(finding, said)

    def test_a_quotation_without_its_indentation_is_right(self) -> None:
        status, said = self.run_on(SOURCE, document())
        self.assertEqual((status, said), (0, "snippets: 0 findings\n"))

    def test_a_document_that_differs_is_found_at_its_line(self) -> None:
        self.check_finding(SOURCE, document(CODE.replace("first", "zeroth")),
                           "docs/guide/a.md:4: differs from `member` in examples/a.cpp")

    def test_a_source_that_was_changed_since_is_found(self) -> None:
        self.check_finding(SOURCE.replace("second", "third"), document(), "differs from `member`")

    def test_one_line_more_or_less_is_found(self) -> None:
        self.check_finding(SOURCE, document(CODE + "\n"), "differs")
        self.check_finding(SOURCE, document(CODE.replace("    second();\n", "")), "differs")

    def test_fix_writes_the_snippet_and_nothing_else(self) -> None:
        status, _ = self.run_on(SOURCE, document("anything\n"), "--fix")
        self.assertEqual(status, 0)
        fixed = (self.root / "docs/guide/a.md").read_text(encoding="utf-8")
        self.assertEqual(fixed, document())

    def test_a_snippet_or_a_file_that_is_not_there_is_found_and_not_fixed(self) -> None:
        for marker in ("<!-- snippet: examples/a.cpp other -->", "<!-- snippet: examples/b.cpp member -->"):
            status, said = self.run_on(SOURCE, document(marker=marker), "--fix")
            self.assertEqual(status, 1)
            self.assertIn("has no snippet", said)

    def test_a_snippet_that_nobody_quotes_is_found(self) -> None:
        self.check_finding(SOURCE, "# A guide\n", "no document quotes the snippet `member`")

    def test_a_marker_without_a_code_block_is_found(self) -> None:
        marker = "<!-- snippet: examples/a.cpp member -->\n"
        self.check_finding(SOURCE, marker + "words\n", "no code block follows")
        self.check_finding(SOURCE, document().replace("```\n\nMore", "More"), "it never ends")

    def test_snippets_that_do_not_end_or_begin_are_found(self) -> None:
        end = "    // end of snippet\n"
        self.check_finding(SOURCE.replace(end, ""), "# A guide\n", "`member` never ends")
        self.check_finding(SOURCE + end, document(), "the end of a snippet that has not begun")
        self.check_finding(SOURCE.replace(end, "") + SOURCE, document(), "`member` has not ended here")

    def test_two_snippets_of_one_name_are_found(self) -> None:
        self.check_finding(SOURCE + SOURCE, document(), "a second snippet `member`")


if __name__ == "__main__":
    unittest.main()
