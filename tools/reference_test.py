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

/// What a name stands for.
// POSIX.1-2017, 2.13.
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


@pytest.fixture
def project(tmp_path):
    def write(header=HEADER):
        files = {
            "include/gyre/io/file.hpp": header,
            "tools/inventory_exceptions.toml": "[gyre]\n",
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
        ("file_kind", "enumeration", "What a name stands for."),
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


@pytest.mark.parametrize(("without", "name"), [
    ("/// An open file, e.g. a log. Closed by its destructor.\n///\n/// Threads:  one.\n", "file"),
    ("/// What a name stands for.\n", "file_kind"),
    ("  ///< A file that is written at its end.", "log_file"),
])
def test_a_name_without_a_sentence_is_found(project, without, name):
    assert without in HEADER
    findings, _ = reference.check(project(HEADER.replace(without, "")), fix=True)
    assert findings == [f"include/gyre/io/file.hpp: {name} has no sentence"]


def test_a_function_is_read_through_the_clause_that_it_is_from(project):
    header = HEADER.replace("template <class Stream>", "// RFC 9110, 5.6.7.\ntemplate <class Stream>")
    names, _ = reference.public_names(project(header))
    assert ("read_all", "Reads all of `it | them`, as a `vector<int>`.") in [
        (each.name, each.sentence) for each in names]


def test_options_are_listed_with_what_they_are_unless_they_are_set():
    found = reference.options_of("""\
struct copy_options {
    copy_options() noexcept = default;
    explicit copy_options(int many) : most{many} {}

    /// Bytes at once.
    /// More words, about time.
    std::size_t most =
        std::size_t{1} << 20;
    duration silence{};  ///< Then it ends. And no later.
    std::function<void(int)> told;
    [[nodiscard]] static copy_options small() {
        copy_options it;
        it.most = 1;
        return it;
    }
    static constexpr int floor = 1;
    bool last = false;  ///< The last.
};

struct other {
    int none = 0;
};
""")
    assert found == {"copy_options": [
        ("std::size_t most = std::size_t{1} << 20", "Bytes at once."),
        ("duration silence{}", "Then it ends."),
        ("std::function<void(int)> told", ""),
        ("bool last = false", "The last."),
    ]}
