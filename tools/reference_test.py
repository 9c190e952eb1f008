# SPDX-License-Identifier: BSL-1.0
"""Tests of reference.py: a small project, right, and wrong in one way each."""

import pytest
import reference

HEADER = """\
// SPDX-License-Identifier: BSL-1.0
//
// Files and what is in them. More words.
#pragma once

namespace gyre {

/// An open file, e.g. a log. Closed by its destructor.
///
/// Threads:  one.
class file {};

enum class file_kind { plain, folder };

/// Reads all of `it | them`, as a
/// `vector<int>`.
template <class Stream>
[[nodiscard]] task<> read_all(Stream& from);

using log_file = file;  ///< A file that is written at its end.

/// The most bytes of a name.
inline constexpr std::size_t name_bytes_max = 255;

// No part: it has no contract.
void helper();

}  // namespace gyre
"""
MISSING = 'missing_max = 1\n[missing]\n"io/file" = ["file_kind"]\n'


@pytest.fixture
def project(tmp_path):
    def write(header=HEADER, missing=MISSING):
        files = {
            "include/gyre/io/file.hpp": header,
            "tools/inventory_exceptions.toml": "[gyre]\n",
            "tools/reference_exceptions.toml": missing,
        }
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        (tmp_path / "docs").mkdir(exist_ok=True)
        return tmp_path
    return write


def test_each_name_has_the_first_sentence_of_its_contract(project):
    names, findings = reference.public_names(project())
    assert findings == []
    assert [(each.name, each.kind, each.sentence) for each in names] == [
        ("file", "class", "An open file, e.g. a log."),
        ("file_kind", "enumeration", ""),
        ("read_all", "function", "Reads all of `it | them`, as a `vector<int>`."),
        ("log_file", "alias", "A file that is written at its end."),
        ("name_bytes_max", "constant", "The most bytes of a name."),
    ]
    assert names[0].caption == "Files and what is in them."


def test_the_page_is_written_and_then_right(project):
    root = project()
    findings, _ = reference.check(root, fix=False)
    assert findings == ["docs/reference.md: not what the headers say; --fix writes it"]
    assert reference.check(root, fix=True)[0] == []
    assert reference.check(root, fix=False)[0] == []
    page = (root / "docs/reference.md").read_text(encoding="utf-8")
    assert "| **[io/file.hpp](../include/gyre/io/file.hpp)** | | Files and what is in them. |\n" in page
    assert "| `read_all` | function | Reads all of `it \\| them`, as a `vector<int>`. |\n" in page


@pytest.mark.parametrize(("header", "missing", "finding"), [
    (HEADER.replace("/// An open file, e.g. a log. Closed by its destructor.\n///\n"
                    "/// Threads:  one.\n", ""), MISSING,
     "include/gyre/io/file.hpp: file has no sentence"),
    (HEADER.replace("enum class", "/// What a file is.\nenum class"), MISSING,
     "tools/reference_exceptions.toml: io/file:file_kind has a sentence, or is not there"),
    (HEADER, MISSING.replace("1", "2", 1),
     "tools/reference_exceptions.toml: 1 are listed, so `missing_max` is not 2; it may only fall"),
])
def test_what_is_wrong_is_found(project, header, missing, finding):
    findings, _ = reference.check(project(header, missing), fix=True)
    assert findings == [finding]
