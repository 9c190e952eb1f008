# SPDX-License-Identifier: BSL-1.0
"""Tests of inventory.py: a small project, right, and wrong in one way each."""

import inventory
import pytest

HEADER = """\
/// An open file.
class file : public descriptor {
public:
    void read_some_at();
};

class descriptor {
    void close();
};
class later;

/// Reads all of it.
template <class Stream>
[[nodiscard]] task<> read_all(Stream& from);

// No part: it has no contract.
void helper();

using log_file = file;
"""
ROWS = [
    "| files | `stream_file` | `corosio/file` | `fs::File` | `file` `file::close` | yes | |",
    "| all | | | `fs::read` | `read_all` `log_file::read_some_at` | partly | no limit |",
    "| tapes | `tape` | | | | no | next |",
]
EXCEPTIONS = """\
[tokio]
"an error" = ["*Error"]
[gyre]
"inside" = ["io/file:descriptor"]
"""


@pytest.fixture
def project(tmp_path):
    def write(rows=ROWS, header=HEADER, tokio=("fs::File", "fs::read", "fs::ReadError")):
        table = "# Inventory\n\n" + "".join(inventory.COUNTS) + "\n## Files\n\n"
        table += "| part | Asio | Corosio | tokio | gyre | has | why |\n|---|---|---|---|---|---|---|\n"
        files = {
            "docs/inventory.md": table + "\n".join(rows) + "\n",
            "include/gyre/io/file.hpp": header,
            "tools/inventory_exceptions.toml": EXCEPTIONS,
            "tools/inventory/asio.txt": "# Made by hand.\nstream_file\ntape\n",
            "tools/inventory/corosio.txt": "corosio/file\n",
            "tools/inventory/tokio.txt": "\n".join(tokio) + "\n",
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def findings_of(root):
    inventory.check(root, fix=True)
    return inventory.check(root, fix=False)[0]


def test_a_clause_between_contract_and_function_hides_no_part():
    header = HEADER + "\n/// Writes it back.\n// RFC 9110, 5.6.7.\nvoid write_back();\n"
    assert "write_back" in inventory.declared_in(header)
    assert "helper" not in inventory.declared_in(header)


def test_a_contract_is_shared_by_what_follows_in_the_next_line():
    shared = "\n/// Both ends.\nfile first(int of);\n[[nodiscard]] file last(int of);\n"
    for unshared in ("\n", "static_assert(true);\n", "#include <x>\n", "namespace a {\n"):
        assert inventory.declared_in(shared + unshared + "file other(int of);\n") == ["first", "last"]


def test_of_a_name_in_two_headers_one_may_be_excused(project):
    root = project()
    log = root / "include/gyre/io/log.hpp"
    log.write_text("/// Reads what was logged.\nvoid read_all();\n", encoding="utf-8")
    assert findings_of(root) == []
    path = root / "tools/inventory_exceptions.toml"
    path.write_text(EXCEPTIONS.replace("descriptor", "descriptor\", \"io/log:read_all"), encoding="utf-8")
    assert findings_of(root) == []
    log.unlink()
    assert findings_of(root) == ["tools/inventory_exceptions.toml: gyre: `io/log:read_all` excuses nothing"]


def test_a_complete_table_is_right(project):
    assert findings_of(project()) == []


def test_counts_are_written_and_compared(project):
    root = project()
    assert "docs/inventory.md: the counts are not those of the rows" in inventory.check(root, fix=False)[0]
    assert findings_of(root) == []
    assert "| Files | 3 | 1 | 1 | 1 | 0 |" in (root / "docs/inventory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("was", "now", "finding"), [
    ("`stream_file`", "`stream_fiel`", "asio has no `stream_fiel`"),
    ("`stream_file`", "", "asio's `stream_file` is neither here nor excused"),
    ("`fs::File`", "`fs::File::open`", "tokio's `fs::File` is neither here nor excused"),
    ("`file::close`", "`file::open`", "gyre declares no `file::open`"),
    ("`file::close`", "`later`", "gyre declares no `later`"),
    ("`read_all`", "", "gyre's `io/file:read_all` is neither here nor excused"),
    ("`file` `file::close`", "", "yes, but no name of gyre's"),
    ("no limit", "", "partly, but no reason"),
    ("next", "", "no, but no reason"),
    ("| yes |", "| mostly |", "`mostly` is none of yes, partly, no"),
    ("| yes | |", "| yes |", "6 cells instead of 7"),
])
def test_what_is_wrong_with_a_row_is_found(project, was, now, finding):
    rows = [row.replace(was, now) for row in ROWS]
    assert rows != ROWS
    assert any(finding in each for each in findings_of(project(rows=rows)))


def test_what_a_header_gains_is_found(project):
    gained = HEADER + "struct new_options {\n};\n\n/// Waits.\nvoid linger_on();\n"
    assert [each.split("`")[1] for each in findings_of(project(header=gained))] == [
        "io/file:linger_on", "io/file:new_options"]


def test_an_excuse_without_use_is_found(project):
    found = findings_of(project(tokio=("fs::File", "fs::read")))
    assert found == ["tools/inventory_exceptions.toml: tokio: `*Error` excuses nothing"]


def test_asios_quick_reference_is_read_without_requirements_and_deprecated_names():
    text = """
      <bridgehead renderas="sect3">Free Functions</bridgehead>
        <member><link linkend="a.post">post</link></member>
        <member><link linkend="a.work">io_context::work</link> (deprecated)</member>
      <bridgehead renderas="sect3">Type Requirements</bridgehead>
        <member><link linkend="a.h">WaitHandler</link></member>
      <bridgehead renderas="sect3">Classes</bridgehead>
        <member><link linkend="a.s">ip::tcp::socket</link></member>
    """
    assert inventory.names_of_asio(text) == ["post", "ip::tcp::socket"]


def test_includes_are_read_without_details():
    text = "#include <boost/capy/ex/strand.hpp>\n#include <boost/corosio/detail/config.hpp>\n"
    assert inventory.names_of_headers(text) == ["capy/ex/strand"]


def test_items_of_rustdoc_have_the_name_of_any_crate_but_tokio():
    def page(crate):
        item = '<li><a href="io/struct.Mock.html">io::Mock</a></li>'
        return f'<a href="../{crate}/index.html">{crate}</a>' + item

    assert inventory.names_of_rustdoc(page("tokio")) == ["io::Mock"]
    assert inventory.names_of_rustdoc(page("tokio_test")) == ["tokio_test::io::Mock"]
