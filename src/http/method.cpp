// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/method.hpp>

#include <array>
#include <cstddef>

namespace gyre::http {
namespace {

constexpr std::array<std::string_view, 10> method_names{
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", ""};
static_assert(method_names.size() == static_cast<std::size_t>(method::other) + 1);

}  // namespace

method method_of(std::string_view name) noexcept {
    if (name == "GET") return method::get;  // Nearly all are.
    for (std::size_t at = 0; at + 1 < method_names.size(); ++at) {
        if (name == method_names[at]) return static_cast<method>(at);
    }
    return method::other;
}

std::string_view name_of(method which) noexcept {
    return method_names[static_cast<std::size_t>(which)];
}

std::string_view name_of(version which) noexcept {
    switch (which) {
        case version::http_1_0: return "HTTP/1.0";
        case version::http_1_1: return "HTTP/1.1";
        case version::http_2: return "HTTP/2";
    }
    return {};
}

}  // namespace gyre::http
