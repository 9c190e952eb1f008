# SPDX-License-Identifier: BSL-1.0
"""What clauses.py counts as a citation, and what it calls wrong."""

from pathlib import Path

import clauses
import pytest


def cited(text: str) -> list[tuple[str, str, int]]:
    return [(each.document, each.section, each.line) for each in clauses.citations(text)]


def test_a_comment_that_is_a_citation() -> None:
    assert cited("int a;\n// RFC 9112, 6.3.\n") == [("RFC 9112", "6.3", 2)]


def test_several_sections_of_one_document() -> None:
    assert cited("// RFC 9112, 9.6 and 11: the end.") == [("RFC 9112", "9.6", 1), ("RFC 9112", "11", 1)]
    assert cited("// RFC 9112, 6.1, 6.2, and 7.1") == [
        ("RFC 9112", "6.1", 1), ("RFC 9112", "6.2", 1), ("RFC 9112", "7.1", 1)]


def test_two_documents_in_one_sentence() -> None:
    assert cited("// RFC 3986, 3.2.2: a host, as RFC 9110, 4.2.4 allows.") == [
        ("RFC 3986", "3.2.2", 1), ("RFC 9110", "4.2.4", 1)]


def test_a_citation_that_goes_on_in_the_next_line() -> None:
    assert cited("// as RFC\n    // 9110, 7.8 says") == [("RFC 9110", "7.8", 1)]


def test_an_appendix() -> None:
    assert cited("// RFC 9112, A.2.") == [("RFC 9112", "A.2", 1)]


def test_a_document_without_a_section_is_no_clause() -> None:
    assert cited("// RFC 9112 is strict. RFC 9110, as ever, is not.") == []


def tree(root: Path, code: str, test: str) -> None:
    for folder, text in (("src", code), ("tests", test)):
        (root / folder).mkdir()
        (root / folder / "a.cpp").write_text(text, encoding="utf-8")


def test_what_code_and_tests_share_is_counted(tmp_path: Path) -> None:
    tree(tmp_path, "// RFC 9112, 6.3.\n// RFC 9112, 6.1.\n// RFC 9112, 6.1.\n", "// RFC 9112, 6.3.\n")

    found, wrong = clauses.collect(tmp_path)

    assert not wrong
    assert "RFC 9112      2      1     1" in clauses.table(found)
    assert "RFC 9112, 6.1: untested; src/a.cpp:2 src/a.cpp:3" in clauses.listing(found)
    assert "RFC 9112, 6.3: tested; src/a.cpp:1" in clauses.listing(found)


def test_a_section_that_cannot_be_is_an_error(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path, "// RFC 9112, 33.\n", "")

    assert clauses.main(["--root", str(tmp_path)]) == 1
    assert "src/a.cpp:1: RFC 9112 has no section 33" in capsys.readouterr().out
