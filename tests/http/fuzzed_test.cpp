// SPDX-License-Identifier: BSL-1.0
//
// Damaged messages, through what the fuzzers run: whatever they are, splits change nothing, and what was read
// can be written and read again.
#include <http/fuzzed.hpp>

#include <support/damaged.hpp>
#include <support/harness.hpp>

#include <random>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr std::string_view seeds[] = {
    "POST /a%20b?c=d HTTP/1.1\r\nHost: h:1\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
    "GET http://h/p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX:\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Y: \t z \r\n\r\nabc",
    "5;x=\"y\"\r\nhello\r\n00a\r\n0123456789\r\n0\r\nSum: 1\r\n\r\n",
    "a=b&c=%41+d&=&e",
    "Basic dXNlcjpwYXNz",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994"};

constexpr std::string_view nasty{"\r\n\0 \t:;,%\"=0Zz\x7f\x80", 17};

}  // namespace

TEST_CASE("damaged messages are read the same whole and byte by byte") {
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 dice{seed};
    for (int round = 0; round < 3000; ++round) {
        const std::string text{damaged(std::string{seeds[dice() % std::size(seeds)]}, nasty, dice)};
        CAPTURE(text);
        request_head(bytes_of(text));
        response_head(bytes_of(text));
        chunked_body(bytes_of(text));
        small_texts(bytes_of(text));
    }
}
