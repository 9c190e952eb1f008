// SPDX-License-Identifier: BSL-1.0
//
// One of agreement.hpp's functions under libFuzzer; the build says which.
#include <http2/fuzz/agreement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

// NOLINTBEGIN(readability-identifier-naming): the names that libFuzzer calls and has.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gyre::testing::GYRE_FUZZED(std::as_bytes(std::span{data, size}));
    return 0;
}

// Every sixteenth time from a message that is nearly right.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned int seed) {
    if (seed % 16 == 0) {
        const std::string_view proper = gyre::testing::GYRE_SEED(seed / 16);
        size = std::min(proper.size(), size_max);
        std::memcpy(data, proper.data(), size);
    }
    return LLVMFuzzerMutate(data, size, size_max);
}
// NOLINTEND(readability-identifier-naming)
