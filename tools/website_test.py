# SPDX-License-Identifier: BSL-1.0
"""Tests of website.py: a small project whose links are right, and wrong in one way each."""

import json

import pytest
import website

FILES = {
    "README.md": "# Thing\n\n[guide](docs/guide/README.md), [this](#thing), [that](https://example.org/x)\n",
    "docs/guide/README.md":
        "# Guide\n\n- [tasks](tasks.md#when_all-any)\n  [more](streams.md), [x](../decisions)\n",
    "docs/guide/tasks.md": "# Tasks\n\n## `when_all`, any\n\n[echo](../../examples/echo.cpp)\n",
    "docs/guide/streams.md": "# Streams\n\n[the tool](../../tools/tool.py), [all](../../examples)\n",
    "docs/decisions/0001-one.md": "# 0001: one\n",
    "docs/site/mkdocs.yml": "site_name: thing\n",
    "docs/site/site.css": "",
    "examples/echo.cpp": "int main() {}  // ~~~~ `x`\n",
    "examples/echo.expected": "0\n",
    "tools/tool.py": "print()\n",
    "tools/other.py": "print()\n",
}


@pytest.fixture
def project(tmp_path):
    def write():
        for name, text in FILES.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def findings_with(project, path, text):
    root = project()
    (root / path).write_text(text, encoding="utf-8")
    return website.find_pages(root).findings


def test_links_that_lead_somewhere_are_right(project):
    pages = website.find_pages(project())
    assert pages.findings == []
    assert set(pages.documents) == {name for name in FILES if name.endswith(".md")}
    assert pages.sources == {"examples/echo.cpp", "examples/echo.expected", "tools/tool.py"}
    assert pages.folders == {"docs/decisions", "examples"}


@pytest.mark.parametrize(("text", "finding"), [
    ("[a](missing.md)", "docs/guide/tasks.md:1: missing.md leads nowhere"),
    ("\n[a](../../../outside.md)", "docs/guide/tasks.md:2: ../../../outside.md leads nowhere"),
    ("[a](streams.md#storms)",
     "docs/guide/tasks.md:1: streams.md#storms: docs/guide/streams.md has no such heading"),
    ("[a](#tasks)", "docs/guide/tasks.md:1: #tasks: docs/guide/tasks.md has no such heading"),
    ("[`a`](no)", "docs/guide/tasks.md:1: no leads nowhere"),
])
def test_a_link_that_leads_nowhere_is_found(project, text, finding):
    root = project()
    (root / "docs/guide/README.md").write_text("# Guide\n", encoding="utf-8")
    (root / "docs/guide/tasks.md").write_text(text, encoding="utf-8")
    assert website.find_pages(root).findings == [finding]


@pytest.mark.parametrize("text", [
    "`[](error_code e)` is code", "```cpp\n[](no)\n```\n", "~~~~\n```\n[a](no)\n~~~~\n", "    [](no)\n",
    "``[a](no) ` ``",
])
def test_code_has_no_links(project, text):
    assert findings_with(project, "docs/guide/streams.md", text) == []


def test_anchors_are_those_of_github():
    text = "# A `b::c`, d/e\n\n## [x](y.md) & z_1\n\n## Same\n\n## Same\n\n```\n# no\n```\n"
    assert website.anchors_of(text) == {"a-bc-de", "x--z_1", "same", "same-1"}


@pytest.mark.parametrize(("text", "changed"), [
    ("a:\n- b\n- c\n\ne", "a:\n\n- b\n- c\n\ne"),
    ("- a\n  b\n  - c\n    d\n\n  e\n\ng\n  h", "- a\n    b\n    - c\n        d\n\n    e\n\ng\n  h"),
    ("<!-- snippet: a b -->\n```cpp\n- x\n  y\n```", "\n```cpp\n- x\n  y\n```"),
    ("a\n\n    code", "a\n\n    code"),
    ("1. a\n   b\n2. c", "1. a\n      b\n2. c"),
    ("| `operator\\|\\|` | a \\| b |", "| `operator||` | a \\| b |"),
    ("`a\\|b`", "`a\\|b`"),
    ("| &emsp;`a`<br>&emsp;`b` |", "| &nbsp;&nbsp;&nbsp;`a`<br>&nbsp;&nbsp;&nbsp;`b` |"),
])
def test_lists_and_tables_are_made_what_markdown_of_python_reads(text, changed):
    assert website.in_markdown(text) == changed


def test_staged_links_lead_to_pages(project, tmp_path):
    pages = website.find_pages(project())
    build = tmp_path / "build"
    website.stage(pages, build)

    def staged(name):
        return (build / "src" / name).read_text(encoding="utf-8")

    assert "[echo](../../examples/echo.cpp.md)" in staged("docs/guide/tasks.md")
    assert "[the tool](../../tools/tool.py.md)" in staged("docs/guide/streams.md")
    assert "[all](../../examples/index.md)" in staged("docs/guide/streams.md")
    assert "[tasks](tasks.md#when_all-any)" in staged("docs/guide/README.md")
    assert "[x](../decisions/index.md)" in staged("docs/guide/README.md")
    assert "[that](https://example.org/x)" in staged("README.md")
    assert "- [0001: one](0001-one.md)" in staged("docs/decisions/index.md")
    assert "- [`echo.cpp`](echo.cpp.md)" in staged("examples/index.md")
    assert "~~~~~ cpp\nint main() {}  // ~~~~ `x`\n~~~~~\n" in staged("examples/echo.cpp.md")
    assert "exclude: true" in staged("tools/tool.py.md")
    assert "exclude: true" not in staged("examples/echo.cpp.md")
    assert "boost: 4" in staged("docs/guide/tasks.md")
    assert "boost: 0.2" in staged("examples/echo.cpp.md")
    assert staged("README.md").startswith("---\nhide: [navigation]\n---\n# Thing\n")
    assert not (build / "src/tools/other.py.md").exists()


def test_chapters_are_in_the_order_of_the_guide(project, tmp_path):
    build = tmp_path / "build"
    website.stage(website.find_pages(project()), build)
    configuration = json.loads((build / "mkdocs.yml").read_text(encoding="utf-8"))
    chapters = {name: entries for each in configuration["nav"] for name, entries in each.items()}
    assert chapters["Guide"] == ["docs/guide/README.md", "docs/guide/tasks.md", "docs/guide/streams.md"]
    assert chapters["Examples"][:2] == ["examples/index.md", {"echo.cpp": "examples/echo.cpp.md"}]
    assert chapters["Decisions"] == ["docs/decisions/index.md", "docs/decisions/0001-one.md"]
    assert "Exchange" not in chapters
    assert (build / configuration["INHERIT"]).resolve() == tmp_path / "docs/site/mkdocs.yml"


def test_chapters_of_the_guide_stand_below_the_headings_of_its_index(project):
    root = project()
    (root / "docs/guide/README.md").write_text(
        "# Guide\n\n[first](tasks.md)\n\n## By topic\n\n### Small\n[s](streams.md), [t](tasks.md)\n"
        "\n```\n## Code\n```\n[f](files.md)\n\n## Nothing\n", encoding="utf-8")
    for name in ("files", "unnamed"):
        (root / f"docs/guide/{name}.md").write_text(f"# {name}\n", encoding="utf-8")
    assert website.in_sections(website.find_pages(root), "docs/guide") == [
        "docs/guide/README.md", "docs/guide/tasks.md",
        {"By topic": ["docs/guide/streams.md", "docs/guide/files.md"]}, "docs/guide/unnamed.md"]


def test_a_warning_of_mkdocs_is_a_finding(project, tmp_path):
    pages = website.find_pages(project())
    mkdocs = tmp_path / "mkdocs"
    mkdocs.touch(0o700)
    for status, findings in (("0", []), ("1", ["WARNING - a dead link", "mkdocs ended with 1"])):
        mkdocs.write_text(f"#!/bin/sh\necho INFO - no news\necho WARNING - a dead link\nexit {status}\n")
        assert website.build_pages(pages, tmp_path / "build", str(mkdocs)) == findings
