// SPDX-License-Identifier: BSL-1.0
//
// HTTP/1, HTTP/2 and web::url read the same of the same message. Inputs are the corpus of the fuzzers,
// and damaged copies of it.
#include <http2/fuzz/agreement.hpp>
#include <support/damaged.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr std::size_t seeds = 16;  // As many as there are of requests, and more than of responses.

constexpr std::string_view nasty{"\r\n\0 \t:;,%#\\/?@[]\"=09Az\x7f\x80", 24};

}  // namespace

TEST_CASE("http2 fuzz: both versions of HTTP and web::url read the same of the same message") {
    for (std::size_t which = 0; which < seeds; ++which) {
        fuzz_request_agreement(bytes_of(request_agreement_seed(which)));
        fuzz_response_agreement(bytes_of(response_agreement_seed(which)));
    }
    const std::uint64_t seed = std::random_device{}();
    MESSAGE("seed ", seed);  // What fails ends the process, and what is captured with it.
    std::mt19937_64 dice{seed};
    for (int round = 0; round < 2'000; ++round) {
        const std::string asked{request_agreement_seed(dice())};
        fuzz_request_agreement(bytes_of(damaged(asked, nasty, dice)));
        const std::string answered{response_agreement_seed(dice())};
        fuzz_response_agreement(bytes_of(damaged(answered, nasty, dice)));
    }
}
