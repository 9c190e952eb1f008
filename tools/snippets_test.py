# SPDX-License-Identifier: BSL-1.0
"""Tests of snippets.py: small trees of a source and a document, right and wrong."""

import pytest
import snippets

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
CODE = "void member() {\n    first();\n\n    second();\n}\n"
MARK = "<!-- snippet: examples/a.cpp member -->\n"
GUIDE = f"# A guide\n\n{MARK}```cpp\n{CODE}```\n\nWords.\n"
END = "    // end of snippet\n"


@pytest.fixture
def findings_of(tmp_path):
    def run(source=SOURCE, guide=GUIDE, fix=False):
        for path, text in (("examples/a.cpp", source), ("docs/guide/a.md", guide)):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return snippets.check(tmp_path, fix), (tmp_path / "docs/guide/a.md").read_text(encoding="utf-8")
    return run


@pytest.mark.parametrize("more", [
    "", GUIDE, "<!-- not compiled: a mistake -->\n```cpp\nwrong();\n```\n", "```\n./dev check\n```\n",
    "```cmake\nproject(a)\n```\n", "```text\n<!-- not compiled: in a text -->\n```\n",
])
def test_quotations_excuses_and_other_languages_are_right(findings_of, more):
    assert findings_of(guide=GUIDE + more) == ([], GUIDE + more)


@pytest.mark.parametrize(("was", "now"), [
    ("first", "zeroth"), ("    second();\n", ""), ("}\n", "}\n\n"), (CODE, ""), (CODE, "\n"),
])
def test_a_document_that_differs_is_found_at_its_line_and_fixed(findings_of, was, now):
    findings, _ = findings_of(guide=GUIDE.replace(was, now))
    assert findings == ["docs/guide/a.md:4: differs from `member` in examples/a.cpp"]
    assert findings_of(guide=GUIDE.replace(was, now), fix=True) == ([], GUIDE)


@pytest.mark.parametrize(("source", "guide", "finding"), [
    (SOURCE, GUIDE.replace("cpp member", "cpp other"), "examples/a.cpp has no snippet `other`"),
    (SOURCE, GUIDE.replace("a.cpp", "b.cpp"), "examples/b.cpp has no snippet `member`"),
    (SOURCE, "# A guide\n", "examples/a.cpp:1: no document quotes the snippet `member`"),
    (SOURCE, GUIDE.replace(MARK, ""), "docs/guide/a.md:3: C++ that is no quotation and not excused"),
    (SOURCE, GUIDE + "<!-- not compiled:  -->\n```cpp\nx();\n```\n", "a.md:14: C++ that is no quotation"),
    (SOURCE, GUIDE + "<!-- not compiled: no -->\nWords.\n", "a.md:14: no code block follows"),
    (SOURCE, GUIDE + "<!-- not compiled: no -->\n```\nls\n```\n", "a.md:14: C++ that is no quotation"),
    (SOURCE, GUIDE.replace("```\n\nW", "W"), "docs/guide/a.md:4: a code block that never ends"),
    (SOURCE.replace(END, ""), GUIDE, "examples/a.cpp:1: `member` never ends"),
    (SOURCE + END, GUIDE, "examples/a.cpp:11: a snippet in a snippet, or an end without a beginning"),
    (SOURCE.replace(END, "") + SOURCE, GUIDE, "examples/a.cpp:12: a snippet in a snippet"),
    (SOURCE + SOURCE, GUIDE, "examples/a.cpp:19: a second snippet `member`"),
])
def test_what_is_wrong_is_found_and_not_fixed(findings_of, source, guide, finding):
    for fix in (False, True):
        assert any(finding in each for each in findings_of(source, guide, fix)[0])
