// SPDX-License-Identifier: BSL-1.0
//
// One of fuzzed.hpp's functions under libFuzzer; the build says which.
#include <tls/fuzz/fuzzed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// NOLINTBEGIN(readability-identifier-naming): the names that libFuzzer calls and has.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gyre::testing::GYRE_FUZZED(std::as_bytes(std::span{data, size}));
    return 0;
}

// Every fourth time from the beginning: who cannot see into OpenSSL finds no first message by itself.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned int seed) {
    if (seed % 4 == 0 || size < 2) {
        const auto proper = gyre::testing::GYRE_PROPER(static_cast<std::byte>(seed / 4));
        size = std::min(proper.size(), size_max);
        std::memcpy(data, proper.data(), size);
    }
    return LLVMFuzzerMutate(data, size, size_max);
}
// NOLINTEND(readability-identifier-naming)
