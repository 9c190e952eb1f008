// SPDX-License-Identifier: BSL-1.0
//
// Reading resolv.conf(5): see resolv_conf.hpp.
#include <runtime/resolv_conf.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace gyre {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view without_blanks(std::string_view text) noexcept {
    return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}

/// Takes a word away from the beginning of `text`; empty at its end.
std::string_view take_word(std::string_view& text) noexcept {
    text = without_blanks(text);
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> made;
    for (std::string_view word; !(word = take_word(text)).empty();) made.emplace_back(word);
    return made;
}

/// What stands behind `directive`, if `line` is one.
std::optional<std::string_view> rest_of(std::string_view line,
                                        std::string_view directive) noexcept {
    if (!line.starts_with(directive)) return std::nullopt;
    line.remove_prefix(directive.size());
    if (line.empty() || blanks.find(line.front()) == std::string_view::npos) return std::nullopt;
    return line;
}

/// The number at the beginning, behind blanks, as atoi(3) reads it: 0 where there is no number.
int leading_number(std::string_view text) noexcept {
    text = without_blanks(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    int made = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), made);
    if (wrong == std::errc::result_out_of_range) {
        return text.front() == '-' ? std::numeric_limits<int>::min()
                                   : std::numeric_limits<int>::max();
    }
    return made;
}

template <class Address>
socket_address raw_of(const Address& it) noexcept {
    socket_address made;
    std::memcpy(made.data, &it, sizeof it);
    made.size = sizeof it;
    return made;
}

// An interface that is not there leaves a server that cannot be reached; another one may be asked, but not
// the default one.
std::uint32_t index_of_zone(const std::string& zone) noexcept {
    if (const unsigned index = ::if_nametoindex(zone.c_str())) return index;
    return static_cast<std::uint32_t>(std::max(leading_number(zone), 0));
}

}  // namespace

socket_address with_name_server_port(socket_address it) noexcept {
    // Both families have it at the same place.
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    std::byte* const at = it.data + offsetof(sockaddr_in, sin_port);
    in_port_t port = 0;
    std::memcpy(&port, at, sizeof port);
    if (port == 0) port = htons(53);
    std::memcpy(at, &port, sizeof port);
    return it;
}

resolv_conf::resolv_conf(std::string_view text, const resolv_surroundings& around) {
    const bool search_is_given = around.local_domain != nullptr;
    if (search_is_given) {
        const std::string_view all = around.local_domain;
        search = words_of(all.substr(0, all.find('\n')));
    }
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        take_line(line, search_is_given);
    }
    if (around.options != nullptr) take_options(around.options);
    const std::string_view host = around.host_name;
    if (const std::size_t dot = host.find('.');
        search.empty() && !search_is_given && dot != std::string_view::npos)
        search = words_of(host.substr(dot + 1));
    if (servers.empty()) take_server("127.0.0.1");
}

void resolv_conf::take_line(std::string_view line, bool search_is_given) {
    if (std::optional<std::string_view> server = rest_of(line, "nameserver")) {
        take_server(take_word(*server));
    } else if (const auto options_given = rest_of(line, "options")) {
        take_options(*options_given);
    } else {
        const auto domain = rest_of(line, "domain");
        const auto names = domain ? domain : rest_of(line, "search");
        std::vector<std::string> named = words_of(names.value_or(std::string_view{}));
        if (named.empty() || search_is_given) return;
        if (domain) named.resize(1);
        search = std::move(named);
    }
}

void resolv_conf::take_options(std::string_view rest) {
    constexpr int dots_max = 15;
    constexpr int seconds_max = 30;
    constexpr int tries_max = 5;
    struct flag {
        std::string_view name;
        bool resolv_conf::* member;
    };
    static constexpr flag flags[] = {{"rotate", &resolv_conf::rotate},
                                     {"edns0", &resolv_conf::edns},
                                     {"use-vc", &resolv_conf::over_tcp},
                                     {"trust-ad", &resolv_conf::trust_ad},
                                     {"single-request", &resolv_conf::one_at_a_time},
                                     {"no-aaaa", &resolv_conf::no_aaaa},
                                     {"no-tld-query", &resolv_conf::no_top_level_names},
                                     {"no-reload", &resolv_conf::read_once}};
    for (; !(rest = without_blanks(rest)).empty(); take_word(rest)) {
        const auto number_of = [rest](std::string_view name) -> std::optional<int> {
            if (!rest.starts_with(name)) return std::nullopt;
            return leading_number(rest.substr(name.size()));
        };
        if (const auto dots = number_of("ndots:"))
            dots_min = *dots < 0 ? dots_max : std::min(*dots, dots_max);
        if (const auto seconds = number_of("timeout:"))
            timeout = std::chrono::seconds{std::clamp(*seconds, 1, seconds_max)};
        if (const auto times = number_of("attempts:")) tries = std::clamp(*times, 1, tries_max);
        for (const flag& each : flags) {
            if (rest.starts_with(each.name)) this->*each.member = true;
        }
    }
}

void resolv_conf::take_server(std::string_view word) {
    if (servers.size() == servers_max) return;
    const std::size_t percent = word.find('%');
    const std::string text{word.substr(0, percent)};
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (percent == std::string_view::npos && ::inet_aton(text.c_str(), &v4.sin_addr) != 0) {
        v4.sin_family = AF_INET;
        servers.push_back(with_name_server_port(raw_of(v4)));
    } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) > 0) {
        v6.sin6_family = AF_INET6;
        if (percent != std::string_view::npos)
            v6.sin6_scope_id = index_of_zone(std::string{word.substr(percent + 1)});
        servers.push_back(with_name_server_port(raw_of(v6)));
    }
}

}  // namespace gyre
