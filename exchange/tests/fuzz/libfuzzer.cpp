// SPDX-License-Identifier: BSL-1.0
//
// One fuzzer for each decoder: the build names it.
#include <fuzz/decoders.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    exchange::fuzz::EXCHANGE_FUZZED(std::as_bytes(std::span{data, size}));
    return 0;
}
