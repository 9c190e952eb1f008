// SPDX-License-Identifier: BSL-1.0
//
// See conformance.hpp.
#include <support/conformance.hpp>

#include <support/harness.hpp>
#include <support/skip.hpp>
#include <support/world.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gyre::testing {
namespace {

using any_body = std::function<task<>(io_context&)>;

// A family "of the kernel" has those rows of its objects that no model can keep, or ours does not
// (docs/decisions/0035-conformance.md).
constexpr std::array all_families{
    object_family{"timers"},
    object_family{"coordination"},
    object_family{"acceptors"},
    object_family{"acceptors of the kernel",
                  "adopted numbers, folders of names, the order of a crowd's turns"},
    object_family{"datagrams"},
    object_family{"datagrams of the kernel",
                  "what is reported with a datagram, and groups of a source"},
    object_family{"local messages"},
    object_family{"local messages of the kernel", "packet sockets"},
    object_family{"names"},
    object_family{"names of the kernel", "the time-outs of c-ares are real time"},
    object_family{"options"},
    object_family{"options of the kernel",
                  "what the kernel does by them, and its privileges and ranges"},
    object_family{"pipes"},
    object_family{"servers"},
    object_family{"servers of the kernel", "an adopted number that is no listener"},
    object_family{"streams"},
    object_family{"streams of the kernel",
                  "adopted numbers, what TCP has not sent yet, bytes in front of a reset"},
    object_family{"streams of every kind"},
    object_family{"descriptors", "what else a number can name is the kernel's"},
    object_family{"files", "a machine of a world has none"},
    object_family{"passed descriptors", "nothing but bytes passes between sockets of a world"},
    object_family{"processes", "a machine of a world starts no programs"},
    object_family{"signals", "they are the process's, of which a world has one for all machines"},
    object_family{"watches", "a machine of a world has no files"},
};

struct known_row {
    const object_family* family;
    const char* name;
    std::vector<any_body> bodies;
    std::string suite;
};

// Of this program. Addresses stay.
std::deque<known_row>& known_rows() {
    static std::deque<known_row> rows;
    return rows;
}

const known_row* find_row(std::string_view name) noexcept {
    const auto found = std::ranges::find_if(
        known_rows(), [name](const known_row& each) { return name == each.name; });
    return found == known_rows().end() ? nullptr : &*found;
}

using backend_counts = std::map<std::string, int, std::less<>>;

std::map<std::string, backend_counts, std::less<>>& counts() {
    static std::map<std::string, backend_counts, std::less<>> by_family;
    return by_family;
}

const object_family* find_family(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(all_families, name, &object_family::name);
    return found == all_families.end() ? nullptr : found;
}

// Runs `body` by `run(body)`. What it has skipped is not counted; one that returns before it has checked
// anything would look the same on every backend.
template <class Run>
void run_and_count(const object_family& of, const char* backend, const any_body& body,
                   const Run& run) {
    const unsigned skips_before = skips;
    bool checks = false;
    const auto watched = [&](io_context& io) -> task<> {
        const int before = assertions_made();
        co_await body(io);
        checks = assertions_made() > before;
    };
    if (!run(watched) || skips != skips_before) return;
    CHECK_MESSAGE(checks, "it checks nothing on ", std::string{backend});
    ++counts()[of.name][backend];
}

// Which one it is, the runner knows.
void run_row() {
    const known_row* const it = find_row(doctest::getContextOptions()->currentTest->m_name);
    REQUIRE(it != nullptr);
    for (const any_body& body : it->bodies) on_each_backend_of(it->family->name, body);
}

// As TEST_CASE does, which takes no table (doctest.h, DOCTEST_REGISTER_FUNCTION).
void enter(std::string_view family, const char* name, std::vector<any_body> bodies,
           const std::source_location& where, unsigned offset) {
    const object_family* const of = find_family(family);
    if (of == nullptr) {
        std::fprintf(stderr, "%s: no family is called %s\n", where.file_name(),
                     std::string{family}.c_str());
        std::abort();
    }
    if (find_row(name) != nullptr) {
        std::fprintf(stderr, "%s: another row is called %s\n", where.file_name(), name);
        std::abort();
    }
    known_rows().push_back({of, name, std::move(bodies), "family: " + std::string{family}});
    doctest::detail::TestSuite suite;
    suite* known_rows().back().suite.c_str();
    doctest::detail::TestCase made{run_row, where.file_name(), where.line() + offset, suite};
    doctest::detail::regTest(made * name);
}

task<> over_pair(io_context& io, socket_pair (*make)(io_context&),
                 task<> (*body)(io_context&, socket_pair&)) {
    socket_pair pair = make(io);
    co_await body(io, pair);
}

// Whether each family has had as many cases on each of its backends, in this process. If not, or if
// GYRE_TEST_COUNTS is set, prints how many.
bool cases_are_equal() {
    std::vector<const char*> columns;
    for (const backend_choice each : backends_under_test()) columns.push_back(describe(each));
    if (worlds_under_test()) columns.push_back("world");
    bool all_equal = true;
    for (const object_family& family : all_families) {
        const auto found = counts().find(family.name);
        if (found == counts().end()) continue;
        std::string text = std::string{"family "} + family.name + ':';
        std::optional<int> expected;
        bool equal = true;
        for (const std::string column : columns) {
            if (column == "world" && family.not_in_worlds != nullptr) continue;
            const int count = found->second[column];
            text += ' ' + column + ' ' + std::to_string(count);
            equal = equal && count == expected.value_or(count);
            expected = count;
        }
        if (family.not_in_worlds != nullptr) text += std::string{" ("} + family.not_in_worlds + ')';
        if (!equal || std::getenv("GYRE_TEST_COUNTS") != nullptr) std::puts(text.c_str());
        if (!equal) std::puts("it has other cases on one of its backends than on another one");
        all_equal = all_equal && equal;
    }
    return all_equal;
}

// Before main, in each program that has a family.
[[maybe_unused]] const bool asked_at_the_end =
    std::exchange(last_check, cases_are_equal) == nullptr;

}  // namespace

std::span<const object_family> families() noexcept { return all_families; }

conformance_suite::conformance_suite(std::string_view family,
                                     const std::vector<conformance_row>& rows,
                                     std::source_location where) {
    unsigned number = 0;
    for (const conformance_row& each : rows) {
        enter(family, each.name, {each.body}, where, number++);
    }
}

conformance_suite::conformance_suite(std::string_view family,
                                     const std::vector<connection_row>& rows,
                                     std::source_location where) {
    unsigned number = 0;
    for (const connection_row& each : rows) {
        std::vector<any_body> bodies;
        for (const auto make : {&connected_pair, &local_pair}) {
            bodies.emplace_back(
                [make, body = each.body](io_context& io) { return over_pair(io, make, body); });
        }
        enter(family, each.name, std::move(bodies), where, number++);
    }
}

void on_each_backend_of(std::string_view family, const any_body& body) {
    const object_family* const of = find_family(family);
    REQUIRE(of != nullptr);
    for (const backend_choice each : backends_under_test()) {
        run_and_count(*of, describe(each), body,
                      [each](const auto& it) { return run_on(each, it); });
    }
    if (of->not_in_worlds != nullptr) return skip_without_backends();
    if (!worlds_under_test()) return;
    run_and_count(*of, "world", body, [](const auto& it) { return run_in_world(it); });
}

}  // namespace gyre::testing
