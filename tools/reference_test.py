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
    assert ("| **`read_all`**<br>&emsp;`read_all(Stream& from) -> task<>` | function "
            "| Reads all of `it \\| them`, as a `vector<int>`. |\n" in page)


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


FUNCTIONS = """\
// Ends of things.
#pragma once

namespace gyre::http {

/// Both ends.
// RFC 1.
[[nodiscard]] io_result<file> first_end(io_context& on,
                                        const std::string& name = "a") noexcept;
[[nodiscard]] io_result<file> last_end(io_context& on) noexcept;

int no_contract();
/// Another.
[[nodiscard]] inline auto status_of(std::string path) noexcept {
    return submission<path_operation, finish_more<finish_status>>{path};
}
using names_submission = submission<path_operation, finish_status>;
[[nodiscard]] names_submission status_of(int number, options_of it =
                                                         {}) noexcept;
names_submission status_of(int, options_of = {});
names_submission status_of(float number) = delete;
names_submission status_of(Kind it) {
    static_assert(sizeof(Kind) == 0, "a number");
}
static_assert(true);
void helper();

/// The same without a limit.
///
/// @return What `it` yields, and
///         nothing else. Or less.
template <class Awaitable>
[[nodiscard]] limited<Awaitable> endless(Awaitable it);

/// What ends.
class end {
};
end(int) -> end;
inline constexpr int ends_max = 2;

struct finish_status {
    io_result<status> operator()(int it);
};
class limited {
    result await_resume();
};

}  // namespace gyre::http
"""


def test_functions_are_listed_as_they_are_called_with_a_contract_of_their_own_or_shared(project):
    names, findings = reference.public_names(project(FUNCTIONS))
    assert findings == []
    assert [(each.qualified, each.kind, each.codes, each.sentence) for each in names if each.sentence] == [
        ("http::first_end", "function",
         ['first_end(io_context& on, string name = "a") -> io_result<file>'], "Both ends."),
        ("http::last_end", "function", ["last_end(io_context& on) -> io_result<file>"], "Both ends."),
        ("http::status_of", "function",
         ["co_await status_of(string path) -> io_result<status>",
          "co_await status_of(int number, options_of it = {}) -> io_result<status>"], "Another."),
        ("http::names_submission", "alias", ["names_submission = submission<path_operation, finish_status>"],
         "Another."),
        ("http::endless", "function", ["co_await endless(Awaitable it)"],
         "The same without a limit. Yields: what `it` yields, and nothing else."),
        ("http::end", "class", [], "What ends."),
        ("http::ends_max", "constant", [], "What ends."),
    ]


@pytest.mark.parametrize(("code", "finding"), [
    ("gyre::http::first_end(on); http::last_end(on); gyre::http::end::of(1);", ""),
    ("namespace http = gyre::http; other::http::no_end();", ""),
    ("gyre::http::no_end(on);", "docs/guide/ends.md:4: `http::no_end` is not in docs/reference.md"),
    ("http::no_end(on);", "docs/guide/ends.md:4: `http::no_end` is not in docs/reference.md"),
    ("gyre::first_end(on);", "docs/guide/ends.md:4: `first_end` is not in docs/reference.md"),
])
def test_what_the_guide_names_is_on_the_page(project, code, finding):
    root = project(FUNCTIONS)
    (root / "docs/guide").mkdir()
    text = f"`gyre::words`\n\n```cpp\n{code}\n```\ngyre::words\n"
    (root / "docs/guide/ends.md").write_text(text, encoding="utf-8")
    names, _ = reference.public_names(root)
    assert reference.missing_in_guide(root, names) == ([finding] if finding else [])


MEMBERS = """\
// Jobs.
#pragma once

namespace gyre {

/// What becomes of a job.
enum class job_state : std::uint8_t {
    /// In the queue. Or not.
    queued,
    running = 4,  // On some thread. Or on two.
    over, lost,
    never_begun =
        EPERM,
};

/// How it is done.
struct job_options {
    job_options() noexcept = default;
    explicit job_options(int many) : most{many} {}

    /// Bytes at once.
    /// More words, about time.
    std::size_t most =
        std::size_t{1} << 20;
    duration silence{};  ///< Then it ends. And no later.
    std::function<void(int)> told;
    [[nodiscard]] static job_options small() {
        job_options it;
        it.most = 1;
        return it;
    }
    static constexpr int floor = 1;
    std::size_t least = std::size_t{1}
                        << 20;  ///< The least.
    bool last = false;  ///< The last.
};

class job;
template <class Other>
struct job<Other>::promise_type {
    int of_a_promise = 0;
};

/// The job.
class [[nodiscard]] job final : public base, private hidden {
    int first_;

public:
    using state = job_state;

    /// Which it is.
    enum class kind : bool { one, other };

    explicit job(const std::string& name,
                 job_options options = {})
        : base{name}, options_{options} {}
    job(job&&) noexcept = default;
    job(const job& other);
    job& operator=(job&&) noexcept;
    ~job() { end(); }

    class wait_awaiter final : public waiter {
    public:
        bool await_suspend(std::coroutine_handle<> handle) noexcept;
        io_result<std::size_t> await_resume() noexcept { return size_; }
        int of_nobody();
    };

    /// Waits for GYRE_DONE.
    /// Or does not.
    ///
    /// Errors:  none.
    [[nodiscard]] wait_awaiter wait(std::span<const std::byte> into GYRE_LIFETIMEBOUND,
                                    bool (*until)(int) = nullptr) noexcept {
        return {*this, into};
    }

    // RFC 1.
    template <class Function>
        requires std::invocable<Function>
    [[nodiscard]] auto call(Function&& function) const {
        if (function) {
            return function();
        }
    }
    /// The other.
    void call(
        const gyre::error& failed, std::size_t most = std::size_t{16}
                                                      << 20) noexcept;
    void call(const gyre::error&    failed, std::size_t most = std::size_t{16} << 20) const noexcept;

    template <std::size_t Index>
    auto get() const { return 1; }
    void ended() noexcept override;
    /// Tells more than its base.
    void stopped() override;
    void _hidden();
    bool operator()(int it) const;

    /// A part. Of it.
    struct part {
        std::uint64_t bytes = 0;
        [[nodiscard]] bool empty() const noexcept { return bytes == 0; }

    private:
        int unseen_ = 0;
    };

protected:
    void not_seen();

public:
    std::uint64_t done = 0;

    // Implementation: for tests.
    void inside();

public:
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Begins one.
    static io_result<job> begin(io_context& on, int number);
    /// The same, awaited.
    static auto begin(int number) noexcept {
        return immediate{
            [number](io_context& on) noexcept { return begin(on, number); }};
    }
    auto end_all() { return end_some(1); }
    void end_all(task<int>) {
        static_assert(sizeof(task<int>) == 0, "one by one");
    }
    auto end_some(int many) {
        return submission<op, finish_end>{many};
    }

private:
    void private_one();
    enum class progress { begun };

    std::size_t size_ = 0;
};

}  // namespace gyre
"""


CALLS = """\
// What is called.
#pragma once

namespace gyre {

/// What answers.
using handler =
    std::function<task<answer>(const std::string&,
                               gyre::request)>;  // Owned.

/// All parts.
class parts {
public:
    /// Makes each.
    ///
    /// @param  pool  Borrowed.
    /// @param  make  Called as `make(io_context&, index)` on
    ///               each loop; returns a part. Not twice.
    template <class Maker>
    static task<parts> start(io_pool& pool, Maker make);

    /// The part of loop `index`.
    [[nodiscard]] part& operator[](std::size_t index) noexcept;
    /// True if it has begun.
    bool operator()(int it) const;
    bool operator()(float it) const;
    bool operator!() const;
    /// By their addresses.
    friend std::strong_ordering operator<=>(const parts& left,
                                            const parts& right) noexcept;
};

/// Calls it.
///
/// @param  call  Owned. Called as `call()`.
/// @param  end   Called once. Or not.
/// @return Its answer.
template <class Call, class End>
auto call_it(Call call, End end);

}  // namespace gyre
"""


def test_an_alias_tells_what_it_stands_for(project):
    names, findings = reference.public_names(project(CALLS))
    assert findings == []
    assert names[0].codes == ["handler = function<task<answer>(string, request)>"]


def test_operators_with_a_contract_are_members(project):
    members = members_of_project(project(CALLS))["parts"]
    assert members[1:] == [
        ("function", ["operator[](size_t index) -> part&"], "The part of loop `index`."),
        ("function", ["operator()(int it) -> bool"], "True if it has begun."),
        ("function", ["operator<=>(parts left, parts right) -> strong_ordering"], "By their addresses."),
    ]


def test_how_an_argument_is_called_is_a_part_of_the_sentence(project):
    root = project(CALLS)
    assert members_of_project(root)["parts"][0] == (
        "function", ["static start(io_pool& pool, Maker make) -> task<parts>"],
        "Makes each. `make`: called as `make(io_context&, index)` on each loop; returns a part.")
    names, _ = reference.public_names(root)
    assert names[-1].sentence == "Calls it. `end`: called once. Yields: its answer."


def members_of_project(root):
    names, findings = reference.public_names(root)
    assert findings == []
    return {name.name: [(each.kind, each.codes, each.sentence) for each in name.members] for name in names}


def test_an_enumeration_is_followed_by_its_values(project):
    assert members_of_project(project(MEMBERS))["job_state"] == [
        ("value", ["queued"], "In the queue."),
        ("value", ["running = 4"], "On some thread."),
        ("value", ["over", "lost", "never_begun = EPERM"], ""),
    ]


def test_options_are_listed_with_what_they_are_unless_they_are_set(project):
    assert members_of_project(project(MEMBERS))["job_options"] == [
        ("constructor", ["job_options(int many)"], ""),
        ("option", ["std::size_t most = std::size_t{1} << 20"], "Bytes at once."),
        ("option", ["duration silence{}"], "Then it ends."),
        ("option", ["std::function<void(int)> told"], ""),
        ("function", ["static small() -> job_options"], ""),
        ("constant", ["int floor = 1"], ""),
        ("option", ["std::size_t least = std::size_t{1} << 20"], "The least."),
        ("option", ["bool last = false"], "The last."),
    ]


def test_a_class_is_followed_by_its_public_members(project):
    assert members_of_project(project(MEMBERS))["job"] == [
        ("value", ["kind::one", "kind::other"], ""),
        ("constructor", ["job(string name, job_options options = {})"], ""),
        ("function", ["co_await wait(span<const byte> into, bool (*until)(int) = nullptr)"
                      " -> io_result<size_t>"], "Waits for GYRE_DONE."),
        ("function", ["call(Function&& function)", "call(error failed, size_t most = size_t{16} << 20)"],
         "The other."),
        ("function", ["stopped()"], "Tells more than its base."),
        ("member", ["std::uint64_t part::bytes = 0"], ""),
        ("function", ["part::empty() -> bool"], ""),
        ("member", ["std::uint64_t done = 0"], ""),
        ("function", ["size() -> uint64_t"], ""),
        ("function", ["static begin(io_context& on, int number) -> io_result<job>",
                      "static co_await begin(int number) -> io_result<job>"], "Begins one."),
        ("function", ["co_await end_all()"], ""),
        ("function", ["co_await end_some(int many)"], ""),
    ]


def test_what_the_page_has_of_members(project, capsys):
    root = project(MEMBERS)
    assert reference.main(["--root", str(root), "--fix"]) == 0
    page = (root / "docs/reference.md").read_text(encoding="utf-8")
    assert "| &emsp;`over`, `lost`, `never_begun = EPERM` | value |  |\n" in page
    assert ("| &emsp;`call(Function&& function)`"
            "<br>&emsp;`call(error failed, size_t most = size_t{16} << 20)` | function | The other. |\n"
            in page)
    assert "| **`job`** | class | The job. |\n" in page  # Its base has no place on the page.
    assert capsys.readouterr().out.split("\n")[-3:] == [
        "members: 7 values, 5 options, 2 members, 1 constants, 2 constructors, 9 functions",
        "reference: 3 names, 3 of them with a sentence, and 26 members, 16 of them without; 0 findings", ""]


def test_a_class_tells_what_else_has_its_members(project):
    root = project(MEMBERS.replace("class base", "base").replace(
        "/// The job.\n", "/// The base.\nclass base {};\n\n/// Hides.\nstruct hidden : base {};\n\n"
        "/// The job.\n"))
    reference.check(root, fix=True)
    page = (root / "docs/reference.md").read_text(encoding="utf-8")
    assert "| **`hidden`** | class, from `base` | Hides. |\n" in page
    assert "| **`job`** | class, from `base` | The job. |\n" in page
