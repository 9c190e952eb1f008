// SPDX-License-Identifier: BSL-1.0
//
// Reading hosts(5): see hosts_table.hpp.
#include <io/hosts_table.hpp>

#include <io/settings_lines.hpp>

#include <algorithm>
#include <span>

namespace gyre {

hosts_table::hosts_table(std::string_view text) {
    for_each_line(text, [this](std::span<const std::string_view> words) {
        const io_result<ip_address> address = ip_address::parse(words.front());
        if (!address.ok()) return;
        for (const std::string_view word : words.subspan(1)) {
            std::vector<ip_address>& known = addresses_[in_small_letters(word)];
            if (std::ranges::find(known, address.value()) == known.end()) {
                known.push_back(address.value());
                names_[address.value()].emplace_back(word);
            }
        }
    });
}

std::vector<ip_address> hosts_table::addresses_of(const std::string& name) const {
    const auto found = addresses_.find(name);
    return found == addresses_.end() ? std::vector<ip_address>{} : found->second;
}

std::vector<std::string> hosts_table::names_of(const ip_address& address) const {
    const auto found = names_.find(address);
    return found == names_.end() ? std::vector<std::string>{} : found->second;
}

}  // namespace gyre
