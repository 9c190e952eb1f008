// SPDX-License-Identifier: BSL-1.0
//
// Chance for storms in worlds: all that happens there comes from one seed, which a failure prints.
//
// A storm tries seed after seed; variables of the environment say how many, and from which on.
#pragma once

#include <gyre/base/time.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace gyre::testing {

class dice {
public:
    explicit dice(std::uint64_t seed) : of_{seed} {}

    std::size_t below(std::size_t most) { return static_cast<std::size_t>(of_() % most); }
    bool one_in(std::size_t count) { return below(count) == 0; }
    duration up_to(std::chrono::milliseconds most) {
        const auto microseconds = static_cast<std::size_t>(std::chrono::microseconds{most}.count());
        return std::chrono::microseconds{below(microseconds + 1)};
    }
    template <class Item, class... Others>
    Item any_of(Item first, Others... others) {
        const std::array<Item, 1 + sizeof...(others)> all{first, static_cast<Item>(others)...};
        return all[below(all.size())];
    }

private:
    std::mt19937_64 of_;
};

/// Calls `body(seed)` for twenty seeds, or for GYRE_STORMS, from GYRE_STORM on.
template <class Body>
void for_each_storm(const Body& body) {
    const char* const wish = std::getenv("GYRE_STORMS");
    const char* const first = std::getenv("GYRE_STORM");
    const std::uint64_t from = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
    const std::uint64_t count = wish != nullptr ? std::strtoull(wish, nullptr, 10) : 20;
    for (std::uint64_t seed = from; seed < from + count; ++seed) {
        CAPTURE(seed);
        body(seed);
    }
}

}  // namespace gyre::testing
