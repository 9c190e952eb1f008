// SPDX-License-Identifier: BSL-1.0
//
// Random numbers that a failed test can be given again.
//
// EXCHANGE_SEED=N repeats the run that printed N; without it every run is another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace exchange::testing {

/// The seed of this run; a test prints it with INFO.
[[nodiscard]] inline std::uint64_t seed_of_run() {
    static const std::uint64_t seed = [] {
        const char* const given = std::getenv("EXCHANGE_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }();
    return seed;
}

class dice {
public:
    explicit dice(std::uint64_t seed) : engine_{seed} {}

    [[nodiscard]] std::uint64_t any() { return engine_(); }

    /// From 0 up to `limit`, without it.
    [[nodiscard]] std::size_t below(std::size_t limit) { return engine_() % limit; }
    [[nodiscard]] bool chance(std::size_t one_in) { return below(one_in) == 0; }

    [[nodiscard]] std::vector<std::byte> bytes(std::size_t size) {
        std::vector<std::byte> out(size);
        for (std::byte& each : out) each = static_cast<std::byte>(any() & 0xFF);
        return out;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace exchange::testing
