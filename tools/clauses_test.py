# SPDX-License-Identifier: BSL-1.0
"""Tests of clauses.py: what counts as a citation, and what is wrong."""

import clauses
import pytest


@pytest.mark.parametrize(("text", "cited"), [
    ("int a;\n// RFC 9112, 6.3.\n", [("RFC 9112", "6.3", 2)]),
    ("// RFC 9112, 9.6 and 11: the end.", [("RFC 9112", "9.6", 1), ("RFC 9112", "11", 1)]),
    ("// RFC 9112, 6.1, 6.2, and 7.1", [("RFC 9112", each, 1) for each in ("6.1", "6.2", "7.1")]),
    ("// RFC 3986, 3.2.2: as RFC 9110, 4.2.4 allows.", [("RFC 3986", "3.2.2", 1), ("RFC 9110", "4.2.4", 1)]),
    ("// as RFC\n    // 9110, 7.8 says", [("RFC 9110", "7.8", 1)]),
    ("// RFC 9112, 6.1\n# and 6.2", [("RFC 9112", "6.1", 1), ("RFC 9112", "6.2", 1)]),
    ("// RFC 9112, A.2.", [("RFC 9112", "A.2", 1)]),
    ("// RFC 9112 is strict. RFC 9110, as ever, is not.", []),
])
def test_a_comment_cites_sections_of_documents(text, cited):
    assert list(clauses.citations(text)) == cited


def test_clauses_of_code_and_tests_are_counted_and_impossible_ones_found(tmp_path, capsys):
    for folder, text in (("src", "// RFC 9112, 6.3.\n// RFC 9112, 6.1.\n// RFC 9112, 6.1.\n"),
                         ("tests", "// RFC 9112, 6.3.\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.cpp").write_text(text, encoding="utf-8")
    assert clauses.main(["--root", str(tmp_path), "--list"]) == 0
    said = capsys.readouterr().out
    assert "RFC 9112, 6.1: untested; src/a.cpp:2 src/a.cpp:3\n" in said
    assert "RFC 9112, 6.3: tested; src/a.cpp:1\n" in said
    assert "RFC 9112      2      1     1\n" in said

    (tmp_path / "src/b.cpp").write_text("// RFC 9112, 33.\n", encoding="utf-8")
    assert clauses.main(["--root", str(tmp_path)]) == 1
    assert "src/b.cpp:1: RFC 9112 has no section 33\n" in capsys.readouterr().out
