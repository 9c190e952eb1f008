// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/intermediary.hpp>

#include <gyre/base/error.hpp>
#include <gyre/stream/algorithms.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace gyre::http {
namespace {

constexpr std::array<std::string_view, 10> of_a_connection{"connection",
                                                           "keep-alive",
                                                           "proxy-authenticate",
                                                           "proxy-authentication-info",
                                                           "proxy-authorization",
                                                           "proxy-connection",
                                                           "te",
                                                           "trailer",
                                                           "transfer-encoding",
                                                           "upgrade"};

static_assert(std::ranges::is_sorted(of_a_connection));

// Sorted: a peer chooses how many there are, and how many fields are compared with them.
std::vector<std::string_view> named_by_connection(const fields& of) {
    std::vector<std::string_view> names;
    for (const field each : of) {
        if (!equal_without_case(each.name, "connection")) continue;
        list_elements listed{each.value};
        while (const auto name = listed.next()) names.push_back(*name);
    }
    std::ranges::sort(names, less_without_case);
    return names;
}

}  // namespace

void copy_end_to_end(const fields& from, fields& to) {
    const std::vector<std::string_view> named = named_by_connection(from);
    for (const field each : from) {
        const bool is_local =
            std::ranges::binary_search(of_a_connection, each.name, less_without_case) ||
            std::ranges::binary_search(named, each.name, less_without_case);
        if (!is_local) to.add_checked(each.name, each.value);
    }
    if (from.has_token("te", "trailers")) to.add_checked("te", "trailers");
}

task<io_result<>> pass_on(body_reader from, body_writer to) {
    std::vector<std::byte> space(16384);
    for (;;) {
        const auto [end, size] = co_await from.read_some(space);
        if (end == errc::eof) break;
        if (end) co_return end;
        const auto written = co_await write_all(to, std::span(space).first(size));
        if (!written.ok()) co_return written.error();
        const auto flushed = co_await to.flush();
        if (!flushed.ok()) co_return flushed.error();
    }
    copy_end_to_end(from.trailers(), to.trailers());
    co_return io_result<>{};
}

}  // namespace gyre::http
