// SPDX-License-Identifier: BSL-1.0
//
// Reading nsswitch.conf(5): see name_order.hpp.
#include <runtime/name_order.hpp>

#include <strings.h>

#include <algorithm>
#include <optional>

namespace gyre {
namespace {

constexpr std::string_view blanks_of_order = " \t\r\v\f";

/// Takes away leading blanks, and then what stands before the first of `ends`.
std::string_view take_until(std::string_view& text, std::string_view ends) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(blanks_of_order), text.size()));
    const std::string_view taken = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(taken.size());
    return taken;
}

/// Takes `one` away, and blanks before it. False if something else is there.
bool take(std::string_view& text, char one) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(blanks_of_order), text.size()));
    if (!text.starts_with(one)) return false;
    text.remove_prefix(1);
    return true;
}

bool is_the_word(std::string_view it, std::string_view small) noexcept {
    return it.size() == small.size() && ::strncasecmp(it.data(), small.data(), it.size()) == 0;
}

std::optional<name_status> status_of(std::string_view word) noexcept {
    if (is_the_word(word, "success")) return name_status::success;
    if (is_the_word(word, "notfound")) return name_status::not_found;
    if (is_the_word(word, "unavail")) return name_status::unavailable;
    return std::nullopt;
}

/// Reads "[NOTFOUND=return !UNAVAIL=continue]" behind its first bracket. False if it makes no sense.
bool take_actions(std::string_view& text, name_source& to) {
    while (!take(text, ']')) {
        const bool others = take(text, '!');
        const std::string_view word = take_until(text, " \t=]");
        const auto status = status_of(word);
        // glibc's resolver never ends with "tryagain": a server that fails is unavailable.
        const bool is_known = status || is_the_word(word, "tryagain");
        if (!is_known || !take(text, '=')) return false;
        const std::string_view action = take_until(text, " \t]");
        const bool goes_on = is_the_word(action, "continue");
        if (!goes_on && !is_the_word(action, "return") && !is_the_word(action, "merge"))
            return false;
        for (std::size_t each = 0; each < to.ends.size(); ++each) {
            const bool is_it = status && each == static_cast<std::size_t>(*status);
            // What cannot be merged is taken as it is.
            if (is_it != others) to.ends[each] = !goes_on;
        }
    }
    return true;
}

std::vector<name_source> read_sources(std::string_view text) {
    std::vector<name_source> made;
    std::vector<bool> is_resolved;
    bool has_dns = false;
    for (;;) {
        const std::string_view name = take_until(text, " \t\r\v\f[");
        if (name.empty()) break;
        name_source& one = made.emplace_back();
        if (name == "files") one.from = name_source::kind::files;
        if (name == "dns") one.from = name_source::kind::dns;
        has_dns = has_dns || name == "dns";
        is_resolved.push_back(name == "resolve");
        if (take(text, '[') && !take_actions(text, one)) break;
    }
    // systemd-resolved writes itself into resolv.conf, too; it is asked there where nothing else is.
    for (std::size_t each = 0; each < made.size() && !has_dns; ++each) {
        if (is_resolved[each]) made[each].from = name_source::kind::dns;
    }
    return made;
}

}  // namespace

std::vector<name_source> read_name_order(std::string_view text) {
    constexpr std::string_view database = "hosts";
    std::vector<name_source> found;
    bool is_named = false;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (take_until(line, " \t:") != database || !take(line, ':')) continue;
        found = read_sources(line);
        is_named = true;
    }
    if (is_named) return found;
    found.resize(2);
    found[0].from = name_source::kind::files;
    found[1].from = name_source::kind::dns;
    return found;
}

}  // namespace gyre
