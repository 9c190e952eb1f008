# SPDX-License-Identifier: BSL-1.0
"""Tests of mistakes.py: small pages, a compiler that has said something, and a program of the shell."""

import mistakes
import pytest

CLANG, GCC = "clang++ 19", "g++ 12"
RIGHT = "mistakes: 1 blocks compared, 0 findings\n"


def block(mark, *lines):
    return "\n".join([f"<!-- said: {mark} -->", "```text", *lines, "```", ""])


@pytest.fixture
def said_of(tmp_path, capsys):
    (tmp_path / "docs/guide").mkdir(parents=True)
    (tmp_path / "dropped").write_text(
        f"In file included from x:\n{tmp_path}/a.cpp:12:3: error: no\n   12 | greet();\n", encoding="utf-8")
    (tmp_path / "program").touch(0o755)

    def run(page, *more, compiler=CLANG, program='"gyre: failed $1"; echo "  at a.cpp:7 in int main()" >&2'):
        (tmp_path / mistakes.PAGE).write_text(page, encoding="utf-8")
        (tmp_path / "program").write_text(f"#!/bin/sh\necho {program}\n", encoding="utf-8")
        status = mistakes.main(["--root", str(tmp_path), "--compiler", compiler, "--recorded", str(tmp_path),
                                "--program", str(tmp_path / "program"), *more])
        return status, capsys.readouterr().out, (tmp_path / mistakes.PAGE).read_text(encoding="utf-8")
    return run


@pytest.mark.parametrize("page", [
    block(f"{CLANG} dropped 2", "a.cpp:9:1: error: no", "  9 | greet();"),
    block(f"{GCC} dropped 1", "anything") + block("mistakes two 1", "gyre: failed two"),
])
def test_what_is_said_here_may_have_other_numbers(said_of, page):
    assert said_of(page) == (0, RIGHT, page)


def test_other_words_are_found_and_fixed(said_of):
    page = "Text.\n" + block(f"{CLANG} dropped 1", "a.cpp:9:1: error: yes") + "More.\n"
    status, said, left = said_of(page)
    assert (status, left) == (1, page)
    assert "docs/guide/mistakes.md:2: clang++ 19 says of dropped:\na.cpp:12:3: error: no\n" in said
    assert said_of(page, "--fix")[2] == page.replace("9:1: error: yes", "12:3: error: no")


def test_only_clang_is_asked_how_functions_are_called(said_of):
    page = block("mistakes two 2", "gyre: failed two", "  at a.cpp:3 in int other()")
    assert said_of(page, compiler=GCC)[0] == 0
    assert said_of(page)[0] == 1
    assert said_of(page.replace("a.cpp", "b.cpp"), compiler=GCC)[0] == 1


def test_an_object_of_another_clone_may_be_linked(said_of):
    page = block("mistakes two 1", "  at src/a.cpp:7 in int main()")
    program = '"  at /other/src/a.cpp:7 in int main()"'
    assert said_of(page, program=program)[0] == 0
    assert said_of(page.replace("src/a", "src/b"), program=program)[0] == 1


@pytest.mark.parametrize("page", ["Text.\n", "<!-- said: mistakes two 1 -->\nText.\n"])
def test_a_page_that_quotes_nothing_is_no_success(said_of, page):
    assert said_of(page)[0] == 1
