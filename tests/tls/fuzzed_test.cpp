// SPDX-License-Identifier: BSL-1.0
//
// The functions of the fuzzers on proper input that was damaged, in every build.
#include <tls/fuzz/fuzzed.hpp>

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

using bytes = std::vector<std::byte>;

// As it is, and with some of its bytes changed, doubled or left out.
void replay(void (*fuzzed)(const_buffer), bytes (*proper)(std::byte)) {
    constexpr unsigned seed = 20'261'126;
    std::mt19937 random{seed};
    for (unsigned settings = 0; settings < 32; ++settings) {
        const bytes whole = proper(static_cast<std::byte>(settings));
        fuzzed(whole);
        for (int round = 0; round < 20; ++round) {
            bytes damaged = whole;
            for (int each = 0; each < 1 + round % 4; ++each) {
                const auto at = damaged.begin() +
                                static_cast<std::ptrdiff_t>(1 + random() % (damaged.size() - 1));
                switch (random() % 3) {
                    case 0: *at = static_cast<std::byte>(random()); break;
                    case 1: damaged.erase(at); break;
                    default: damaged.insert(at, *at);
                }
            }
            fuzzed(damaged);
        }
    }
}

}  // namespace

TEST_CASE("TLS fuzz: what clients send") { replay(fuzz_server, proper_server); }
TEST_CASE("TLS fuzz: what servers send") { replay(fuzz_client, proper_client); }
TEST_CASE("TLS fuzz: what is done between them") {
    fuzz_between(bytes{std::byte{0}});
    fuzz_between(bytes{std::byte{3}});
    replay(fuzz_between, proper_between);
}
