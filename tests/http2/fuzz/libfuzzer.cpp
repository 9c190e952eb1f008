// SPDX-License-Identifier: BSL-1.0
//
// One of fuzzed.hpp's functions under libFuzzer; the build says which.
#include <http2/fuzz/fuzzed.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gyre::testing::GYRE_FUZZED(std::as_bytes(std::span{data, size}));
    return 0;
}
