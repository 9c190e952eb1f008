// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/mold_packet.hpp promises: every byte of a packet, and each way to get it wrong.
#include <exchange/codec/mold_packet.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <set>

using namespace exchange;
using namespace exchange::testing;

namespace {

bytes datagram(const mold_header& header, std::string_view blocks = {}) {
    bytes all(mold_header_bytes + blocks.size());
    std::ranges::copy(format_mold_header(header), all.begin());
    std::ranges::copy(bytes_of(blocks), all.begin() + mold_header_bytes);
    return all;
}

constexpr std::string_view two_blocks{"\0\3one\0\0", 7};

}  // namespace

TEST_CASE("a header is a session, a number and a count, the most significant byte first") {
    const auto header = format_mold_header({"S1", 0x0102030405060708, 0x090A});

    CHECK(text_of(header) == std::string_view{"S1        \1\2\3\4\5\6\7\10\11\12", 20});
}

TEST_CASE("messages come out in order, empty ones included") {
    const bytes whole = datagram({"S1", 7, 2}, two_blocks);

    mold_packet packet = parse_mold_packet(whole);

    REQUIRE(packet.fault == mold_fault::none);
    CHECK(packet.header.session.view() == "S1");
    CHECK(packet.messages.size() == 2);
    CHECK(packet.messages.sequence() == 7);
    CHECK(text_of(packet.messages.pop()) == "one");
    CHECK(packet.messages.sequence() == 8);
    CHECK(packet.messages.pop().empty());
    CHECK(packet.messages.empty());
}

TEST_CASE("heartbeats and the end of a session have no messages") {
    const mold_packet heartbeat = parse_mold_packet(datagram({"S1", 7, mold_heartbeat}));
    const mold_packet end = parse_mold_packet(datagram({"S1", 7, mold_end_of_session}));

    CHECK(heartbeat.fault == mold_fault::none);
    CHECK(heartbeat.messages.empty());
    CHECK(end.fault == mold_fault::none);
    CHECK(end.messages.empty());
    CHECK(parse_mold_packet(datagram({"S1", 7, mold_heartbeat}, two_blocks)).fault ==
          mold_fault::trailing_bytes);
    CHECK(parse_mold_packet(datagram({"S1", 7, mold_end_of_session}, two_blocks)).fault ==
          mold_fault::trailing_bytes);
}

TEST_CASE("a packet cut anywhere is refused as a whole") {
    const bytes whole = datagram({"S1", 7, 2}, two_blocks);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const bytes cut{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)};
        const mold_packet packet = parse_mold_packet(cut);
        CHECK(packet.fault == (size < mold_header_bytes ? mold_fault::header_truncated
                                                        : mold_fault::message_truncated));
        CHECK(packet.messages.empty());
    }
}

TEST_CASE("a packet longer than its messages is refused") {
    CHECK(parse_mold_packet(datagram({"S1", 7, 1}, two_blocks)).fault ==
          mold_fault::trailing_bytes);
    CHECK(parse_mold_packet(datagram({"S1", 7, 3}, two_blocks)).fault ==
          mold_fault::message_truncated);
}

TEST_CASE("a number that cannot be, and a session that is no text, are refused") {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    bytes garbled = datagram({"S1", 7, 0});
    garbled[3] = std::byte{7};

    CHECK(parse_mold_packet(datagram({"S1", 0, 0})).fault == mold_fault::malformed_sequence);
    CHECK(parse_mold_packet(datagram({"S1", most, 1}, {"\0\0", 2})).fault ==
          mold_fault::malformed_sequence);
    CHECK(parse_mold_packet(datagram({"S1", most, 0})).fault == mold_fault::none);
    CHECK(parse_mold_packet(garbled).fault == mold_fault::malformed_session);
}

TEST_CASE("a request is a header alone, for at least one message") {
    CHECK(parse_mold_request(datagram({"S1", 7, 3})).fault == mold_fault::none);
    CHECK(parse_mold_request(datagram({"S1", 7, 3})).header.count == 3);
    CHECK(parse_mold_request(datagram({"S1", 7, 0})).fault == mold_fault::malformed_count);
    CHECK(parse_mold_request(datagram({"S1", 7, 0xFFFF})).fault == mold_fault::malformed_count);
    CHECK(parse_mold_request(datagram({"S1", 7, 3}, "x")).fault == mold_fault::trailing_bytes);
    CHECK(parse_mold_request(datagram({"S1", 0, 3})).fault == mold_fault::malformed_sequence);
}

TEST_CASE("every fault has a sentence of its own") {
    std::set<std::string_view> sentences;
    for (auto each = mold_fault::none; each <= mold_fault::not_kept;
         each = static_cast<mold_fault>(static_cast<int>(each) + 1))
        sentences.insert(describe(each));

    CHECK(sentences.size() == static_cast<std::size_t>(mold_fault::not_kept) + 1);
    CHECK_FALSE(sentences.contains("unknown"));
}
