// SPDX-License-Identifier: BSL-1.0
//
// Damaged frames, through what the fuzzers run: whatever they are, cuts change nothing.
#include <http2/frames.hpp>
#include <http2/fuzz/fuzzed.hpp>
#include <support/damaged.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;

namespace {

std::string status(std::uint32_t stream, std::uint8_t flags) {
    return frame_of(frame::headers, static_cast<std::uint8_t>(end_headers | flags), stream,
                    literal(":status", "200") + literal("content-length", "4"));
}

// What peers say, of both kinds.
std::string said_by(std::mt19937_64& dice) {
    const std::string some[] = {
        get(1),
        frame_of(frame::headers, end_headers, 3, block_of("POST", "/", {{"content-length", "4"}})),
        frame_of(frame::headers, 0, 5, block_of("GET", "/")) +
            frame_of(frame::continuation, end_headers, 5, literal("a", "b")),
        status(1, 0),
        status(3, 0),
        status(1, end_stream),
        frame_of(frame::data, 0, 3, "ab"),
        frame_of(frame::data, end_stream, 3, "cd"),
        frame_of(frame::data, end_stream | padded, 1, std::string("\x02text\0\0", 7)),
        frame_of(frame::headers, end_headers | end_stream, 3, literal("sum", "1")),
        frame_of(frame::rst_stream, 0, 1, number(8)),
        frame_of(frame::settings, 0, 0, number(3, 2) + number(1) + number(4, 2) + number(100)),
        frame_of(frame::settings, ack, 0),
        frame_of(frame::ping, 0, 0, "12345678"),
        frame_of(frame::window_update, 0, 0, number(1'000)),
        frame_of(frame::window_update, 0, 1, number(0x7fff'0000)),
        frame_of(frame::goaway, 0, 0, number(1) + number(0)),
        frame_of(frame::priority, 0, 1, number(0) + "x"),
        frame_of(frame::push_promise, end_headers, 1, number(2) + block_of("GET", "/")),
        frame_of(frame::unknown, 0, 0, "?"),
    };
    std::string said;
    const std::size_t frames = 1 + dice() % 8;
    for (std::size_t each = 0; each < frames; ++each) said.append(some[dice() % std::size(some)]);
    return said;
}

constexpr std::string_view nasty{"\0\1\3\4\x7f\x80\xff ", 8};

}  // namespace

TEST_CASE("http2 fuzz: damaged frames are heard the same whole and byte by byte") {
    const std::uint64_t seed = std::random_device{}();
    MESSAGE("seed ", seed);  // What fails ends the process, and what is captured with it.
    std::mt19937_64 dice{seed};
    for (int round = 0; round < 1'000; ++round) {
        std::string input;
        input.push_back(static_cast<char>(dice() % 8 == 0 ? dice() % 64 : (dice() % 64) | 1));
        input.push_back(static_cast<char>(dice() % 40));
        input.append(damaged(said_by(dice), nasty, dice));
        CAPTURE(input);
        fuzz_server(bytes_of(input));
        fuzz_client(bytes_of(input));
    }
}
