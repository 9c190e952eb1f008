# SPDX-License-Identifier: BSL-1.0
"""Tests of headers.py, reference.py, module.py and inventory.py: a small project, right, and wrong once."""

import headers
import inventory
import module
import pytest
import reference

STD = """\
#pragma once
namespace std {
using size_t = decltype(sizeof(0));
class string;
template <class> class function;
template <class> class span;
template <class> class unique_ptr {};
template <class Value> class optional {};
class mutex {};
}
"""
LIBRARY = """\
// Names that all other headers include.
#pragma once
#include <std.hpp>
namespace gyre {
/// A failure.
class error {};
/// A result.
template <class... Values> class io_result;
/// Without a value.
template <> class io_result<> {};
template <class Value> class io_result<Value> {
public:
    /// Value that was reached.
    Value& value() &;
};
/// A task.
template <class Result = void> class task {
public:
    Result await_resume();
};
/// An operation.
template <class Operation, class Finish> class submission {};
/// What is done at once.
template <class Function> struct immediate { Function function; };
template <class Function> immediate(Function) -> immediate<Function>;
/// A loop.
class io_context;
}  // namespace gyre
"""
FILE = """\
// SPDX-License-Identifier: BSL-1.0
//
// Files and what is in them. More words.
#pragma once
#include "library.hpp"
#define GYRE_LIFETIMEBOUND

namespace gyre {

/// The base.
class base {
public:
    virtual void closed();
    virtual void stopped();
};

/// How it is opened.
struct file_options {
    file_options() = default;
    explicit file_options(int most) : most_bytes(most) {}

    /// Bytes at once.
    /// More words, about time.
    std::size_t most_bytes =
        std::size_t{1} << 20;
    bool last = false;  ///< The last. Or not.
    static constexpr int floor = 1;
};

struct finish_read {
    io_result<std::size_t> operator()(int it);
};
template <class Finish>
struct finish_more : Finish {};
struct finish_all : finish_more<finish_read> {};

/// An open file, e.g. a log. Closed by its destructor.
///
/// Threads:  one.
class [[nodiscard]] file final : public base {
    int first_;

public:
    using state = int;

    /// Which it is.
    enum class kind : bool { plain, folder };
    /// What it did. Then.
    enum class act {
        /// In the queue. Or not.
        queued,
        running = 4,  // On some thread. Or on two.
        over, lost,
        never =
            1,
    };

    explicit file(const std::string& name, file_options options = {});
    file(file&&) noexcept = default;
    file& operator=(file&&) noexcept;
    ~file();

    class wait_awaiter final {
    public:
        bool await_suspend(int) noexcept;
        io_result<> await_resume() noexcept;
    };

    /// Waits for GYRE_DONE.
    ///
    /// Errors:  none.
    [[nodiscard]] wait_awaiter wait(std::span<const int> into GYRE_LIFETIMEBOUND,
                                    bool (*until)(int) = nullptr);
    /// Reads.
    auto read() { return submission<int, finish_read>{}; }
    // RFC 1.
    auto read(int many) { return submission<int, finish_all>{}; }
    template <class Buffer>
        requires true
    auto read(Buffer into) { return submission<int, finish_more<finish_read>>{}; }
    auto read_all() { return read(); }
    /// Begins one.
    static io_result<file> begin(io_context& on, int number);
    static auto begin(int number) {
        return immediate{[number](io_context& on) { return begin(on, number); }};
    }
    void read(float) = delete;
    void read(double*) const noexcept;
    void closed() override;
    /// Tells more than its base.
    void stopped() override;
    bool operator()(int it) const;
    /// True if it is over.
    bool operator!() const;
    /// A part. Of it.
    struct part {
        std::size_t bytes = 0;
        [[nodiscard]] bool empty() const noexcept { return bytes == 0; }

    private:
        int unseen_ = 0;
    };

protected:
    void not_seen();

public:
    // Implementation: for tests.
    void inside();

public:
    [[nodiscard]] std::size_t size() const noexcept { return 0; }

private:
    void hidden();
};

/// All parts.
template <class Part>
class parts {
public:
    /// Makes each.
    ///
    /// @param  make  Called as `make(io_context&, index)` on
    ///               each loop; returns a part. Not twice.
    template <class Maker>
    static task<parts> start(Maker make);
};

/// Reads all of `it | them`, as a
/// `vector<int>`.
///
/// @return What was read. And more.
// RFC 9110, 5.6.7.
template <class Stream>
[[nodiscard]] auto read_all(Stream& from);

/// Both ends.
io_result<file> first_end();
io_result<file> last_end();

void no_contract();
file operator|(const file& left, const file& right);

using log_file = file;  ///< A file that is written at its end.
/// What answers.
using handler =
    std::function<task<int>(const std::string&,
                            gyre::file)>;  // Owned.

/// The most bytes of a name.
inline constexpr std::size_t name_bytes_max = 255;

}  // namespace gyre
"""
TABLE = "# Inventory\n\n" + "".join(inventory.COUNTS) + """
## Files

| part | Asio | Corosio | tokio | gyre | has | why |
|---|---|---|---|---|---|---|
| files | `stream_file` | | | `file` `file::size` `file::closed` `file_options` `parts` | yes | |
| all | | | | `read_all` `first_end` `last_end` `log_file::wait` `handler` `base` | partly | no limit |
| tapes | `tape` | | | | no | next |
"""
NOT_PUBLIC = '"inside" = ["io/library:*", "io/file:finish_*"]\n'


@pytest.fixture
def project(tmp_path):
    def write(header=FILE, table=TABLE, guide="", not_public=NOT_PUBLIC):
        files = {"include/gyre/io/file.hpp": header, "include/gyre/io/library.hpp": LIBRARY,
                 "include/std.hpp": STD, "tools/not_public.toml": not_public,
                 "docs/inventory.md": table, "docs/guide/files.md": guide}
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return tmp_path
    return write


def test_each_name_has_the_first_sentence_of_its_contract(project):
    names = reference.public_names(project())
    assert [(each.name, each.kind, each.codes, each.sentence) for each in names] == [
        ("base", "class", [], "The base."),
        ("file_options", "class", [], "How it is opened."),
        ("file", "class", [], "An open file, e.g. a log."),
        ("parts", "class", [], "All parts."),
        ("read_all", "function", ["read_all(Stream& from)"],
         "Reads all of `it | them`, as a `vector<int>`. Yields: what was read."),
        ("first_end", "function", ["first_end() -> io_result<file>"], "Both ends."),
        ("last_end", "function", ["last_end() -> io_result<file>"], "Both ends."),
        ("log_file", "alias", ["log_file = file"], "A file that is written at its end."),
        ("handler", "alias", ["handler = function<task<int>(string, file)>"], "What answers."),
        ("name_bytes_max", "constant", [], "The most bytes of a name."),
    ]
    assert [name.mobility for name in names[:4]] == ["", "", "move-only", ""]


def test_a_class_is_followed_by_its_public_members(project):
    names = {name.name: name for name in reference.parts(project())}
    rows = {name: [(each.kind, each.codes, each.sentence) for each in names[name].members] for name in names}
    assert rows["file"] == [
        ("value", ["kind::plain", "kind::folder"], ""),
        ("value", ["act::queued"], "In the queue."),
        ("value", ["act::running = 4"], "On some thread."),
        ("value", ["act::over", "act::lost", "act::never = 1"], ""),
        ("constructor", ["file(string name, file_options options = {})"], ""),
        ("function", ["co_await wait(span<const int> into, bool (*until)(int) = nullptr) -> io_result<>"],
         "Waits for GYRE_DONE."),
        ("function", ["co_await read() -> io_result<size_t>", "co_await read(int many) -> io_result<size_t>",
                      "co_await read(Buffer into) -> io_result<size_t>", "read(double*)"], "Reads."),
        ("function", ["co_await read_all() -> io_result<size_t>"], ""),
        ("function", ["static begin(io_context& on, int number) -> io_result<file>",
                      "static co_await begin(int number) -> io_result<file>"], "Begins one."),
        ("function", ["stopped()"], "Tells more than its base."),
        ("function", ["operator!() -> bool"], "True if it is over."),
        ("member", ["std::size_t part::bytes = 0"], ""),
        ("function", ["part::empty() -> bool"], ""),
        ("function", ["size() -> size_t"], ""),
    ]
    assert rows["file_options"] == [
        ("constructor", ["file_options(int most)"], ""),
        ("option", ["std::size_t most_bytes = std::size_t{1} << 20"], "Bytes at once."),
        ("option", ["bool last = false"], "The last."),
        ("constant", ["int floor = 1"], ""),
    ]
    assert rows["parts"] == [
        ("function", ["static start(Maker make) -> task<parts>"],
         "Makes each. `make`: called as `make(io_context&, index)` on each loop; returns a part.")]
    assert rows["io_result"] == [("function", ["value() -> Value&"], "Value that was reached.")]
    assert names["file"].bases == ["base"]


@pytest.mark.parametrize(("body", "moves"), [
    ("it(it&&) noexcept;", "move-only"),
    ("it(it&&); it(const it&);", ""),
    ("it(const it&) = delete;", "immovable"),
    ("protected: it(it&&);", ""),
    ("std::unique_ptr<int> its;", "move-only"),
    ("std::unique_ptr<int> its; ~it();", "immovable"),
    ("std::optional<std::unique_ptr<int>> its;", "move-only"),
    ("std::mutex its[2];", "immovable"),
    ("file its;", "move-only"),
    ("file& its;", ""),
])
def test_a_class_moves_as_its_constructors_bases_and_members_do(project, body, moves):
    header = FILE.replace("/// All parts.", f"/// It.\nclass it {{ public: {body} }};\n/// All parts.")
    found = {each.name: each.mobility for each in headers.declarations(project(header))}
    assert found["it"] == moves


def test_headers_are_read_once_until_one_changes(project, monkeypatch):
    root = project()
    before = headers.declarations(root)
    with monkeypatch.context() as without:
        without.setattr(headers, "Reader", None)
        assert headers.declarations(root) == before
    assert headers.declarations(project(FILE.replace("name_bytes_max", "path_bytes_max"))) != before
    with pytest.raises(SystemExit, match="unknown type name 'nothing'"):
        headers.declarations(project(FILE.replace("void no_contract", "nothing no_contract")))


def test_the_page_is_written_and_then_right(project, capsys):
    root = project()
    assert reference.check(root, fix=False)[0] == [
        "docs/reference.md: not what the headers say; --fix writes it"]
    assert headers.run(reference.check, "", ["--root", str(root), "--fix"]) == 0
    assert reference.check(root, fix=False)[0] == []
    page = (root / "docs/reference.md").read_text(encoding="utf-8")
    assert "| **[io/file.hpp](../include/gyre/io/file.hpp)** | | Files and what is in them. |\n" in page
    assert ("| **`read_all`**<br>&emsp;`read_all(Stream& from)` | function "
            "| Reads all of `it \\| them`, as a `vector<int>`. Yields: what was read. |\n" in page)
    assert "| **`file`** | class, move-only, from `base` | An open file, e.g. a log. |\n" in page
    assert "| &emsp;`act::over`, `act::lost`, `act::never = 1` | value |  |\n" in page
    assert capsys.readouterr().out == (
        "reference: 10 names, and 21 rows of members, 11 of them without a sentence; 0 findings\n")


@pytest.mark.parametrize(("was", "now", "finding"), [
    ("/// How it is opened.\n", "", "io/file.hpp: file_options has no sentence"),
    ("  ///< A file that is written at its end.", "", "io/file.hpp: log_file has no sentence"),
    ("    /// Reads.\n", "    /// Reads. Errors:  `errc::eof`.\n", ""),
    ("    /// Tells more than its base.\n", "    /// Errors:  none; it ends.\n", ""),
    ("    /// Tells more than its base.\n", "    /// Errors:  `errc::eof`.\n", "stopped can fail, and"),
    ("    /// Makes each.\n", "    /// Errors:  its own.\n", "start can fail, and yields `task<parts>`"),
])
def test_what_is_wrong_with_a_header_is_found(project, was, now, finding):
    assert was in FILE
    found = reference.check(project(FILE.replace(was, now)), fix=True)[0]
    assert found == [each for each in found if finding and finding in each] and len(found) == bool(finding)


@pytest.mark.parametrize(("code", "missing"), [
    ("gyre::first_end(); gyre::file::begin(1); gyre::log_file x; other::no_end();", ""),
    ("gyre::no_end();", "no_end"),
])
def test_what_the_guide_names_is_on_the_page(project, code, missing):
    root = project(guide=f"`gyre::words`\n\n```cpp\n{code}\n```\ngyre::words\n")
    found = reference.check(root, fix=True)[0]
    assert found == ([f"docs/guide/files.md:4: `{missing}` is not in docs/reference.md"] if missing else [])


def test_the_core_and_each_component_are_modules(project):
    root = project()
    for name, text in (("http/request", "namespace gyre::http {\n/// A request.\nclass request {\n"
                        "    friend bool operator==(const request&, const request&) = default;\n};\n}"),
                       ("interop/asio", "namespace gyre {\n/// A guest.\nclass asio_guest {};\n}")):
        (root / f"include/gyre/{name}.hpp").parent.mkdir()
        (root / f"include/gyre/{name}.hpp").write_text(f"// A header.\n{text}\n", encoding="utf-8")
    files, names = module.modules_of(root)
    assert (sorted(files), names) == (["gyre.cppm", "gyre.http.cppm"], 11)
    core, http = files["gyre.cppm"], files["gyre.http.cppm"]
    assert "#include <gyre/io/file.hpp>\n\nexport module gyre;\n" in core
    assert "using std::coroutine_traits;" in core
    assert "using gyre::name_bytes_max;\nusing gyre::operator|;\n}  // namespace gyre" in core
    assert "export module gyre.http;\nimport gyre;\n" in http
    assert "using gyre::http::request;" in http
    assert "operator" not in http and "std" not in http
    assert not any("asio" in text for text in files.values())


def test_modules_are_compared_and_written(project):
    root = project()
    assert module.check(root, fix=True)[0] == []
    assert module.check(root, fix=False)[0] == []
    project(FILE.replace("name_bytes_max", "path_bytes_max"))
    (root / "modules/gyre.gone.cppm").write_text("", encoding="utf-8")
    assert module.check(root, fix=False)[0] == [
        f"modules/{each}.cppm: not what the reference lists; --fix writes it"
        for each in ("gyre", "gyre.gone")]
    assert module.check(root, fix=True)[0] == []
    assert not (root / "modules/gyre.gone.cppm").exists()


def test_a_complete_inventory_is_right_and_its_counts_are_written(project):
    root = project()
    assert inventory.check(root, fix=False)[0] == ["docs/inventory.md: the counts are not those of the rows"]
    inventory.check(root, fix=True)
    assert inventory.check(root, fix=False)[0] == []
    assert "| Files | 3 | 1 | 1 | 1 | 1 |" in (root / "docs/inventory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("was", "now", "finding"), [
    ("`file::size`", "`file::open`", "gyre declares no `file::open`"),
    ("`file::size`", "`io_context_pool`", "gyre declares no `io_context_pool`"),
    ("`read_all`", "", "gyre's `io/file:read_all` is neither here"),
    ("no limit", "", "partly, but no reason"),
    ("next", "", "no, but no reason"),
    ("| yes |", "| mostly |", "`mostly` is none of yes, partly, no"),
    ("| yes | |", "| yes |", "6 cells instead of 7"),
])
def test_what_is_wrong_with_a_row_is_found(project, was, now, finding):
    found = inventory.check(project(table=TABLE.replace(was, now)), fix=True)[0]
    assert any(finding in each for each in found)


def test_an_excuse_without_use_is_found(project):
    found = inventory.check(project(not_public=NOT_PUBLIC.replace("]", ', "io/file:tape"]')), fix=True)[0]
    assert found == ["tools/not_public.toml: `io/file:tape` excuses nothing"]
