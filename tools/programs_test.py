# SPDX-License-Identifier: BSL-1.0
"""Tests of programs.py: documents whose code is quoted, excused, and neither."""

import programs
import pytest

QUOTED = "<!-- snippet: examples/{0}.cpp program -->\n```cpp\n{1}\n```\n"
EXCUSED = "<!-- not compiled: shows a mistake -->\n```cpp\nwrong();\n```\n"
WHOLE = "#include <gyre/gyre.hpp>\n\nint main() {}"


@pytest.fixture
def run_on(tmp_path, capsys):
    def run(**texts):
        for name, text in texts.items():
            path = {"readme": "README.md", "guide": "docs/guide/a.md", "other": "docs/STYLE.md"}[name]
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("# A page\n\n" + text, encoding="utf-8")
        status = programs.main(["--root", str(tmp_path)])
        return status, capsys.readouterr().out
    return run


def test_quotations_and_excuses_are_counted_by_place(run_on):
    guide = QUOTED.format("a", WHOLE) + QUOTED.format("b", WHOLE) + QUOTED.format("a", "first();") + EXCUSED
    status, said = run_on(guide=guide, readme=QUOTED.format("a", "second();"), other=EXCUSED)
    assert status == 0
    assert said.split("\n") == [
        "guide: 2 whole programs, 4 blocks of C++, 1 of them excused",
        "README: 0 whole programs, 1 blocks of C++, 0 of them excused",
        "docs: 0 whole programs, 1 blocks of C++, 1 of them excused",
        "programs: 0 findings",
        "",
    ]


def test_a_program_that_is_quoted_twice_counts_once(run_on):
    _, said = run_on(guide=QUOTED.format("a", WHOLE) * 2)
    assert "guide: 1 whole programs, 2 blocks" in said


@pytest.mark.parametrize("place", ["readme", "guide", "other"])
def test_a_block_that_nothing_compiles_is_found_at_its_line(run_on, place):
    status, said = run_on(**{place: EXCUSED + "\n```cpp\nint x;\n```\n"})
    assert status == 1
    assert ".md:8: C++ that is no quotation of a compiled file\n" in said


def test_other_languages_need_no_quotation(run_on):
    status, said = run_on(guide="```\n./dev check\n```\n\n```cmake\nproject(a)\n```\n")
    assert status == 0
    assert "guide: 0 whole programs, 0 blocks" in said


def test_code_within_a_block_of_another_language_is_no_block(run_on):
    status, _ = run_on(guide="```text\n<!-- not compiled: in a text -->\n```\n")
    assert status == 0


@pytest.mark.parametrize(("guide", "finding"), [
    ("<!-- not compiled: by mistake -->\nWords.\n", "docs/guide/a.md:3: an excuse in front of no code block"),
    ("<!-- not compiled: by mistake -->\n```\nls\n```\n", "a.md:3: an excuse in front of what is no C++"),
    ("<!-- not compiled:  -->\n```cpp\nwrong();\n```\n", "a.md:4: C++ that is no quotation"),
    ("Words, and then\n```cpp\nint x;\n", "a.md:4: a code block that never ends"),
])
def test_excuses_and_ends_are_where_they_belong(run_on, guide, finding):
    status, said = run_on(guide=guide)
    assert status == 1
    assert finding in said
