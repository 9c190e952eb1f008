// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/link_frame.hpp promises: what is written is read, and nothing else is.
#include <exchange/codec/link_frame.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

bytes link_framed_bytes(link_kind kind, std::uint32_t channel, std::span<const std::byte> payload) {
    bytes made(link_header_bytes);
    write_link_header(std::span{made}.first<link_header_bytes>(),
                      {static_cast<std::uint32_t>(payload.size()), channel, kind});
    made.insert(made.end(), payload.begin(), payload.end());
    return made;
}

/// All frames in `stream`, each as its kind, channel and size, read in pieces of `piece` bytes.
std::vector<std::string> frames_in(std::span<const std::byte> stream, std::size_t piece) {
    link_framer framer{link_header_bytes + link_payload_bytes_max};
    std::vector<std::string> found;
    while (!stream.empty()) {
        const std::span<std::byte> space = framer.space();
        const std::size_t size = std::min({piece, stream.size(), space.size()});
        REQUIRE(size > 0);
        std::copy_n(stream.begin(), size, space.begin());
        framer.received(size);
        stream = stream.subspan(size);
        for (;;) {
            const link_framed next = framer.next();
            if (next.ending != link_ending::none) {
                found.emplace_back(describe(next.ending));
                return found;
            }
            if (!next.complete) break;
            found.push_back(std::to_string(static_cast<int>(next.frame.kind)) + " on " +
                            std::to_string(next.frame.channel) + ": " +
                            text_of(next.frame.payload));
        }
    }
    return found;
}

}  // namespace

TEST_CASE("a hello is read as it was written, and no other bytes are one") {
    const link_hello said{link_version, 70'000, "gw1", "a longer password than clients have"};
    const auto bytes = format_link_hello(said);

    const auto read = parse_link_hello(bytes);

    REQUIRE(read.has_value());
    CHECK(read->version == link_version);
    CHECK(read->window_bytes == 70'000);
    CHECK(read->name == said.name);
    CHECK(read->password == said.password);
    CHECK_FALSE(parse_link_hello(std::span{bytes}.first(bytes.size() - 1)));
    CHECK_FALSE(parse_link_hello({}));
    auto nameless = bytes;
    std::fill_n(nameless.begin() + 6, 6, std::byte{' '});
    CHECK_FALSE(parse_link_hello(nameless));
    auto unprintable = bytes;
    unprintable[20] = std::byte{7};
    CHECK_FALSE(parse_link_hello(unprintable));
}

TEST_CASE("of a hello of another version only that is read") {
    const std::array<std::byte, 2> newer{std::byte{0}, std::byte{9}};

    const auto read = parse_link_hello(newer);

    REQUIRE(read.has_value());
    CHECK(read->version == 9);
}

TEST_CASE("a welcome and an open are read as they were written") {
    const auto welcome = parse_link_welcome(format_link_welcome({40'000, 7, "LIFE1"}));
    REQUIRE(welcome.has_value());
    CHECK(welcome->window_bytes == 40'000);
    CHECK(welcome->channels_max == 7);
    CHECK(welcome->life == "LIFE1");
    CHECK_FALSE(parse_link_welcome(format_link_welcome({1, 1, ""})));

    const link_open said{{"alice", "secret", "LIFE1", 12}, true};
    const auto bytes = format_link_open(said);
    const auto open = parse_link_open(bytes);
    REQUIRE(open.has_value());
    CHECK(open->login.username == "alice");
    CHECK(open->login.password.empty());  // It does not travel any further.
    CHECK(open->login.session == "LIFE1");
    CHECK(open->login.sequence == 12);
    CHECK(open->resumed);
    auto other = bytes;
    other.back() = std::byte{2};
    CHECK_FALSE(parse_link_open(other));
    CHECK_FALSE(parse_link_open(std::span{bytes}.first(10)));
}

TEST_CASE("a close has a reason that there is, a credit has four bytes") {
    const std::byte last{static_cast<unsigned char>(soup_ending_last)};
    const std::byte beyond{static_cast<unsigned char>(static_cast<int>(soup_ending_last) + 1)};
    CHECK(parse_link_close({&last, 1}) == soup_ending_last);
    CHECK_FALSE(parse_link_close({&beyond, 1}));
    CHECK_FALSE(parse_link_close({}));
    CHECK(describe(soup_ending_last) != "unknown");

    const std::array<std::byte, 5> four{std::byte{0}, std::byte{0}, std::byte{1}, std::byte{2},
                                        std::byte{3}};
    CHECK(parse_link_credit(std::span{four}.first(4)) == 258);
    CHECK_FALSE(parse_link_credit(four));
}

TEST_CASE("the same frames come out wherever the stream is cut") {
    bytes stream;
    for (const std::size_t size : {0U, 1U, 9U, 300U}) {
        const bytes payload(size, std::byte{'x'});
        const bytes one =
            link_framed_bytes(link_kind::packets, static_cast<std::uint32_t>(size), payload);
        stream.insert(stream.end(), one.begin(), one.end());
    }
    const auto whole = frames_in(stream, stream.size());

    CHECK(whole.size() == 4);
    CHECK(whole[1] == "4 on 1: x");
    for (std::size_t piece = 1; piece < stream.size(); ++piece)
        CHECK(frames_in(stream, piece) == whole);
}

TEST_CASE("the longest frame fits, and one that says that it is longer ends the link") {
    const bytes longest(link_payload_bytes_max, std::byte{'y'});
    const bytes stream = link_framed_bytes(link_kind::packets, 1, longest);
    CHECK(frames_in(stream, 4'096).size() == 1);

    bytes longer = stream;
    longer[3] = static_cast<std::byte>(std::to_integer<unsigned>(longer[3]) + 1);
    CHECK(frames_in(longer, 4'096) ==
          std::vector<std::string>{std::string{describe(link_ending::oversized_frame)}});
}

TEST_CASE("packets are taken from a run one by one, up to what is none") {
    bytes run = framed('U', "one");
    const bytes second = framed('O', "");
    run.insert(run.end(), second.begin(), second.end());
    std::span<const std::byte> rest = run;

    const soup_framed one = take_packet(rest);
    CHECK(one.complete);
    CHECK(one.packet.type == soup_type::unsequenced);
    CHECK(text_of(one.packet.payload) == "one");
    CHECK(take_packet(rest).packet.type == soup_type::logout_request);
    CHECK(rest.empty());

    std::span<const std::byte> torn = std::span{run}.first(4);
    CHECK(take_packet(torn).ending == soup_ending::wrong_size);
    const std::array<std::byte, 3> empty{};
    std::span<const std::byte> nothing = empty;
    CHECK(take_packet(nothing).ending == soup_ending::empty_packet);
}
