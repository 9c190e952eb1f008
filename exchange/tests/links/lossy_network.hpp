// SPDX-License-Identifier: BSL-1.0
//
// Where lossy_network.py has put the exchange and the crowd, if it is what runs us.
#pragma once

#include <exchange/tests/links/bad_links_law.hpp>

#include <cstdlib>
#include <sstream>
#include <string>

namespace exchange::testing {

[[nodiscard]] inline bool in_lossy_network() {
    return std::getenv("EXCHANGE_LOSSY_NETWORK") != nullptr;
}

/// @pre  in_lossy_network()
[[nodiscard]] inline bad_links_addresses lossy_network() {
    const char* const given = std::getenv("EXCHANGE_LOSSY_PLACES");
    REQUIRE(given != nullptr);
    std::istringstream words{given};
    std::string exchange;
    std::string crowd;
    std::string group;
    bad_links_addresses addresses;
    words >> exchange >> crowd >> addresses.exchange_interface >> addresses.crowd_interface >>
        group;
    REQUIRE(words);
    addresses.exchange = gyre::ipv4::parse(exchange).value();
    addresses.crowd = gyre::ipv4::parse(crowd).value();
    addresses.feed_group = gyre::endpoint::parse(group).value();
    addresses.exchange_network = std::getenv("EXCHANGE_LOSSY_NETWORK");
    return addresses;
}

}  // namespace exchange::testing
