// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_framer.hpp promises: the same packets, wherever the stream is cut.
#include <exchange/codec/soup_framer.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;

namespace {

/// Feeds `wire` in pieces of `piece()` bytes; everything that came out, and how it ended.
template <class Piece>
std::pair<std::vector<std::string>, soup_ending> frame(soup_framer& framer,
                                                       std::span<const std::byte> wire,
                                                       Piece piece) {
    std::vector<std::string> packets;
    while (!wire.empty()) {
        const std::span<std::byte> space = framer.space();
        REQUIRE_FALSE(space.empty());
        const std::size_t size = std::min({wire.size(), space.size(), std::size_t{piece()}});
        std::copy_n(wire.begin(), size, space.begin());
        framer.received(size);
        wire = wire.subspan(size);
        soup_framed next = framer.next();
        for (; next.complete; next = framer.next())
            packets.push_back(static_cast<char>(next.packet.type) + text_of(next.packet.payload));
        if (next.ending != soup_ending::none) return {packets, next.ending};
    }
    return {packets, soup_ending::none};
}

void append(bytes& wire, const bytes& more) { wire.insert(wire.end(), more.begin(), more.end()); }

}  // namespace

TEST_CASE("a packet that comes byte by byte comes whole") {
    soup_framer framer;
    const bytes wire = framed('U', "hello");

    const auto [packets, ending] = frame(framer, wire, [] { return 1; });

    CHECK(packets == std::vector<std::string>{"Uhello"});
    CHECK(ending == soup_ending::none);
    CHECK(framer.pending_bytes() == 0);
}

TEST_CASE("the same packets come out wherever the stream is cut, however small the buffer") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 200; ++round) {
        bytes wire;
        std::vector<std::string> sent;
        for (std::size_t count = random.below(40); count > 0; --count) {
            const std::string payload(random.below(51), static_cast<char>('a' + random.below(26)));
            append(wire, framed('S', payload));
            sent.push_back('S' + payload);
        }
        soup_framer framer{{.payload_bytes_max = 50, .buffer_bytes_max = 53 + random.below(100)}};

        const auto [packets, ending] =
            frame(framer, wire, [&random] { return 1 + random.below(80); });

        CHECK(packets == sent);
        CHECK(ending == soup_ending::none);
    }
}

TEST_CASE("a length of zero is an error, behind whole packets") {
    soup_framer framer;
    bytes wire = framed('R', "");
    append(wire, bytes(2));

    const auto [packets, ending] = frame(framer, wire, [] { return 100; });

    CHECK(packets == std::vector<std::string>{"R"});
    CHECK(ending == soup_ending::empty_packet);
    CHECK(framer.next().ending == soup_ending::empty_packet);
}

TEST_CASE("the largest packet is taken, and one byte more refused before it has arrived") {
    const soup_framer_options options{.payload_bytes_max = 10, .buffer_bytes_max = 13};
    soup_framer takes{options};
    soup_framer refuses{options};
    const bytes too_long = framed('U', std::string(11, 'x'));

    CHECK(frame(takes, framed('U', std::string(10, 'x')), [] { return 3; }).first.size() == 1);
    CHECK(frame(refuses, std::span{too_long}.first(2), [] { return 3; }).second ==
          soup_ending::oversized_packet);
}

TEST_CASE(
    "what is torn when the peer leaves can be told, and is forgotten by the next connection") {
    soup_framer framer;
    const bytes wire = framed('U', "hello");
    static_cast<void>(frame(framer, std::span{wire}.first(4), [] { return 4; }));

    CHECK(framer.pending_bytes() == 4);
    framer.reset();
    CHECK(framer.pending_bytes() == 0);
    CHECK(frame(framer, wire, [] { return 100; }).first == std::vector<std::string>{"Uhello"});
}
