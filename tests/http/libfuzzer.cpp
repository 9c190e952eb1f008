// SPDX-License-Identifier: BSL-1.0
//
// One fuzzer for each reader of HTTP: the build names it.
#include <http/fuzzed.hpp>

#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gyre::testing::GYRE_FUZZED(std::as_bytes(std::span{data, size}));
    return 0;
}
