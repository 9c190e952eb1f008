// SPDX-License-Identifier: BSL-1.0
//
// Reading services(5): see service_table.hpp.
#include <io/service_table.hpp>

#include <io/settings_lines.hpp>

#include <charconv>
#include <span>
#include <system_error>

namespace gyre {
namespace {

struct known_service {
    std::string_view name;
    std::uint16_t port;
};

// Of TCP, and the first of UDP as well.
constexpr known_service known_services[] = {
    {"domain", 53}, {"ftp", 21},         {"http", 80},  {"https", 443},
    {"imap", 143},  {"imaps", 993},      {"pop3", 110}, {"pop3s", 995},
    {"smtp", 25},   {"submission", 587}, {"ssh", 22},
};

std::string key_of(std::string_view name, std::string_view protocol) {
    return std::string{name} + '/' + std::string{protocol};
}

}  // namespace

service_table::service_table(std::string_view text) {
    // "https  443/tcp  alias ...": the first line that has a name counts.
    for_each_line(text, [this](std::span<const std::string_view> words) {
        if (words.size() < 2) return;
        const std::size_t slash = words[1].find('/');
        if (slash == std::string_view::npos) return;
        const std::string_view number = words[1].substr(0, slash);
        const std::string_view protocol = words[1].substr(slash + 1);
        std::uint16_t port = 0;
        const auto [end, failure] = std::from_chars(number.data(), number.data() + slash, port);
        if (failure != std::errc{} || end != number.data() + slash) return;
        ports_.try_emplace(key_of(words[0], protocol), port);
        for (const std::string_view alias : words.subspan(2)) {
            ports_.try_emplace(key_of(alias, protocol), port);
        }
    });
}

std::optional<std::uint16_t> service_table::port_of(std::string_view name,
                                                    std::string_view protocol) const {
    if (const auto found = ports_.find(key_of(name, protocol)); found != ports_.end()) {
        return found->second;
    }
    for (const known_service& each : known_services) {
        if (each.name == name && (protocol == "tcp" || &each == known_services)) return each.port;
    }
    return std::nullopt;
}

}  // namespace gyre
