// SPDX-License-Identifier: BSL-1.0
//
// Tables of what each family of objects promises, and on which backends each is asked for it.
//
// A row is a name and a body that arranges, acts and checks, on a loop that it is handed; a table of them
// is beside the tests of its objects. Each row is a test case of its own, of suite `family: NAME`, and runs
// on all backends that `families()` grants, so what holds on one of them holds on all. Each program checks
// that at its end, and prints the counts if GYRE_TEST_COUNTS is set.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/runtime/io_context.hpp>
#include <support/harness.hpp>

#include <functional>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

namespace gyre::testing {

/// Objects that promise the same, and where.
struct object_family {
    const char* name;

    /// Why a world has no such thing. Null: it has.
    const char* not_in_worlds = nullptr;
};

/// All of them; the one place that decides.
[[nodiscard]] std::span<const object_family> families() noexcept;

struct conformance_row {
    const char* name;  ///< A sentence; of static storage, as is what the body was made of.
    task<> (*body)(io_context& io);
};

/// The same of what holds over TCP as over a Unix-domain socket: once with each of them.
struct connection_row {
    const char* name;
    task<> (*body)(io_context& io, socket_pair& pair);
};

/// Makes a test case of each row.
class conformance_suite {
public:
    /// @param  family  One of `families()`.
    /// @param  rows    Copied.
    conformance_suite(std::string_view family, const std::vector<conformance_row>& rows,
                      std::source_location where = std::source_location::current());
    conformance_suite(std::string_view family, const std::vector<connection_row>& rows,
                      std::source_location where = std::source_location::current());
};

/// Runs `body(io)` to its end on each backend that `family` is for, and counts it there. For cases that take
/// more than a loop, of whose driver this is the last part.
void on_each_backend_of(std::string_view family, const std::function<task<>(io_context&)>& body);

}  // namespace gyre::testing
