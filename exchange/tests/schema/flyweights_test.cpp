// SPDX-License-Identifier: BSL-1.0
//
// What exchange/schema/flyweights.py generates, on a schema with one of everything and on its first
// version: one program is the older sender, the other the younger receiver, and the other way round.
#include <fixture_v0.hpp>
#include <fixture_v2.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

using namespace exchange;

namespace {

namespace v0 = fixture_v0;
namespace v2 = fixture_v2;

using message = std::vector<std::byte>;

/// Everything set, two legs and one note.
message whole() {
    message out(v2::everything_writer::message_bytes(2, 1), std::byte{0xEE});
    v2::everything_writer writer{out, 2, 1};
    writer.share(50).offset(-5).total(-1'000'000'000'000).name({'G', 'Y', 'R', 'E', ' ', ' '});
    writer.numbers({1, 2, 65535}).paint(v2::color::blue).mark(v2::grade::bad);
    writer.traits(v2::features{}.fast(true).late(true)).price({123, -2, v2::color::red});
    writer.initial('x').added(7).coat(v2::color::green).extras(v2::features{}.cheap(true));
    writer.legs(0).ratio(1).paint(v2::color::red).weight(10);
    writer.legs(1).ratio(100).paint(v2::color::green);
    writer.notes(0).value(9);
    return out;
}

message whole_of_v0() {
    message out(v0::everything_writer::message_bytes(1), std::byte{0xEE});
    v0::everything_writer writer{out, 1};
    writer.share(50)
        .total(5)
        .paint(v0::color::red)
        .mark(v0::grade::good)
        .price({1, 0, v0::color::red});
    writer.legs(0).ratio(7).paint(v0::color::green);
    return out;
}

/// Calls `look(reader)` with the message in memory of exactly its size.
template <class Look>
decode_fault read_v2(const message& bytes, Look look) {
    const std::unique_ptr<std::byte[]> exact{new std::byte[bytes.size()]};
    std::copy(bytes.begin(), bytes.end(), exact.get());
    return v2::read_message({exact.get(), bytes.size()},
                            [&look](const auto& reader) -> decode_fault {
                                if constexpr (requires { reader.legs_count(); }) look(reader);
                                return {};
                            });
}

decode_fault fault_of(const message& bytes) {
    return read_v2(bytes, [](const auto&) {});
}

decode_fault fault_with(std::size_t block_offset, int value) {
    message bytes = whole();
    bytes[sbe::header_bytes + block_offset] = static_cast<std::byte>(value);
    return fault_of(bytes);
}

constexpr std::size_t block_v2 = v2::everything_writer::block_length;
constexpr std::size_t block_v0 = v0::everything_writer::block_length;
constexpr std::size_t legs_at = sbe::header_bytes + block_v2;

// Readers and writers work at compile time.
constexpr bool works_at_compile_time() {
    std::array<std::byte, v2::everything_writer::message_bytes(1, 0)> space{};
    v2::everything_writer writer{space, 1, 0};
    writer.total(-7).price({5, 1, v2::color::green});
    writer.legs(0).ratio(9);
    v2::everything_reader reader;
    if (reader.wrap(sbe::load_header(std::span{space}.first<sbe::header_bytes>()),
                    std::span{space}.subspan(sbe::header_bytes)))
        return false;
    return reader.total() == -7 && reader.price() == v2::decimal{5, 1, v2::color::green} &&
           reader.legs(0).ratio() == 9;
}
static_assert(works_at_compile_time());

}  // namespace

TEST_CASE("fields of every type come back, and constants are what the schema says") {
    bool seen = false;
    const decode_fault fault = read_v2(whole(), [&seen](const v2::everything_reader& it) {
        seen = true;
        CHECK(it.share() == 50);
        CHECK(it.offset() == -5);
        CHECK(it.total() == -1'000'000'000'000);
        CHECK(it.name() == v2::symbol{'G', 'Y', 'R', 'E', ' ', ' '});
        CHECK(it.numbers() == v2::triple{1, 2, 65535});
        CHECK(it.wire() == 4242);
        CHECK(it.best() == v2::grade::good);
        CHECK(it.paint() == v2::color::blue);
        CHECK(it.mark() == v2::grade::bad);
        CHECK(it.traits().fast());
        CHECK_FALSE(it.traits().cheap());
        CHECK(it.traits().late());
        CHECK(it.price() == v2::decimal{123, -2, v2::color::red});
        CHECK(it.initial() == 'x');
        CHECK(it.added() == 7);
        CHECK(it.coat() == v2::color::green);
        CHECK(it.extras().cheap());
        REQUIRE(it.legs_count() == 2);
        CHECK(it.legs(0).weight() == 10);
        CHECK(it.legs(1).ratio() == 100);
        CHECK(it.legs(1).weight() == 0);
        REQUIRE(it.notes_count() == 1);
        CHECK(it.notes(0).value() == 9);
        CHECK(it.size() == whole().size() - sbe::header_bytes);
    });

    CHECK(fault == decode_fault{});
    CHECK(seen);
}

TEST_CASE("what a writer does not set is null if it may be, and zero otherwise, gaps included") {
    std::array<std::byte, v2::everything_writer::message_bytes(0, 0)> space;
    space.fill(std::byte{0xEE});
    const v2::everything_writer writer{space, 0, 0};
    static_cast<void>(writer);
    v2::everything_reader reader;
    REQUIRE_FALSE(reader.wrap(sbe::load_header(std::span{space}.first<sbe::header_bytes>()),
                              std::span{space}.subspan(sbe::header_bytes)));

    CHECK(reader.offset() == v2::everything_reader::offset_null);
    CHECK(reader.offset() == std::numeric_limits<std::int16_t>::min());
    CHECK(reader.added() == std::numeric_limits<std::uint32_t>::max());
    CHECK(reader.coat() == v2::color::null_value);
    CHECK(reader.total() == 0);
    for (std::size_t gap = 3; gap < 8; ++gap) CHECK(space[sbe::header_bytes + gap] == std::byte{0});
}

TEST_CASE("what an older sender does not have is null, and its shorter block is enough") {
    bool seen = false;
    const decode_fault fault = read_v2(whole_of_v0(), [&seen](const v2::everything_reader& it) {
        seen = true;
        CHECK(it.version() == 0);
        CHECK(it.total() == 5);
        CHECK(it.added() == v2::everything_reader::added_null);
        CHECK(it.coat() == v2::color::null_value);
        CHECK(it.extras() == v2::features{});
        REQUIRE(it.legs_count() == 1);
        CHECK(it.legs(0).ratio() == 7);
        CHECK(it.legs(0).weight() == v2::everything_legs_entry_reader::weight_null);
        CHECK(it.notes_count() == 0);
    });

    CHECK(fault == decode_fault{});
    CHECK(seen);
}

TEST_CASE("a younger sender's longer blocks and entries are skipped, and so are its new groups") {
    const message bytes = whole();
    bool seen = false;

    const decode_fault fault = v0::read_message(bytes, [&seen](const auto& it) -> decode_fault {
        seen = true;
        CHECK(it.version() == 2);
        CHECK(it.total() == -1'000'000'000'000);
        REQUIRE(it.legs_count() == 2);
        CHECK(it.legs(1).ratio() == 100);
        CHECK(it.legs(1).paint() == v0::color::green);
        return {};
    });

    CHECK(fault == decode_fault{decode_error::field_out_of_range, 7});  // Blue is younger than v0.
    message red = bytes;
    red[sbe::header_bytes + 28] = std::byte{1};
    red[sbe::header_bytes + 30] = std::byte{1};
    red[sbe::header_bytes + 31] = std::byte{0};
    CHECK(v0::read_message(red, [&seen](const auto& it) -> decode_fault {
              seen = true;
              CHECK(it.version() == 2);
              CHECK(it.total() == -1'000'000'000'000);
              REQUIRE(it.legs_count() == 2);
              CHECK(it.legs(1).ratio() == 100);
              return {};
          }) == decode_fault{});
    CHECK(seen);
}

TEST_CASE("a block shorter than its version has is refused, at each version's own length") {
    message bytes = whole_of_v0();
    REQUIRE(fault_of(bytes) == decode_fault{});

    bytes[0] = static_cast<std::byte>(block_v0 - 1);
    CHECK(fault_of(bytes).error == decode_error::block_too_short);
    bytes[0] = static_cast<std::byte>(block_v0);
    bytes[6] = std::byte{1};  // Version 1 has one field more.
    CHECK(fault_of(bytes).error == decode_error::block_too_short);
}

TEST_CASE("a message cut anywhere is refused, and the group that is torn is named") {
    const message bytes = whole();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const message cut{bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
        const decode_fault fault = fault_of(cut);
        if (size < sbe::header_bytes) CHECK(fault.error == decode_error::header_truncated);
        else if (size < legs_at) CHECK(fault.error == decode_error::message_truncated);
        else {
            const std::size_t legs_end = legs_at + sbe::dimension_bytes + 2 * 10;
            CHECK(fault == decode_fault{decode_error::group_truncated,
                                        static_cast<std::uint16_t>(size < legs_end ? 20 : 30)});
        }
    }
}

TEST_CASE("groups that claim too much or entries that are too short are refused") {
    message many = whole();
    many[legs_at + 3] = std::byte{0xFF};
    message shorter = whole();
    shorter[legs_at] = std::byte{9};
    message longer = whole();
    longer[legs_at] = std::byte{11};
    message older = whole_of_v0();
    older[sbe::header_bytes + block_v0] = std::byte{1};

    CHECK(fault_of(many) == decode_fault{decode_error::group_truncated, 20});
    CHECK(fault_of(shorter) == decode_fault{decode_error::entry_too_short, 20});
    CHECK(fault_of(longer) == decode_fault{decode_error::entry_too_long, 20});
    CHECK(fault_of(older) == decode_fault{decode_error::entry_too_short, 20});
}

TEST_CASE("each value that the schema does not allow is named by its field") {
    CHECK(fault_with(0, 1) == decode_fault{});
    CHECK(fault_with(0, 0) == decode_fault{decode_error::field_out_of_range, 1});
    CHECK(fault_with(0, 101) == decode_fault{decode_error::field_out_of_range, 1});
    CHECK(fault_with(0, 255) == decode_fault{decode_error::field_missing, 1});
    CHECK(fault_with(28, 2) == decode_fault{decode_error::field_out_of_range, 7});
    CHECK(fault_with(28, 255) == decode_fault{decode_error::field_missing, 7});
    CHECK(fault_with(29, 'g') == decode_fault{decode_error::field_out_of_range, 8});
    CHECK(fault_with(30, 2) == decode_fault{decode_error::field_out_of_range, 9});
    CHECK(fault_with(40, 10) == decode_fault{decode_error::field_out_of_range, 10});
    CHECK(fault_with(40, 128) == decode_fault{decode_error::field_missing, 10});
    CHECK(fault_with(41, 3) == decode_fault{decode_error::field_out_of_range, 10});
    CHECK(fault_with(47, 255) == decode_fault{});  // An optional field may be null,
    CHECK(fault_with(47, 3) ==
          decode_fault{decode_error::field_out_of_range, 14});  // but not wrong.
    CHECK(fault_with(48, 2) == decode_fault{decode_error::field_out_of_range, 15});
}

TEST_CASE("a wrong value in a group's entry is found") {
    message bytes = whole();
    bytes[legs_at + sbe::dimension_bytes + 10] = std::byte{0};

    CHECK(fault_of(bytes) == decode_fault{decode_error::field_out_of_range, 1});
}

TEST_CASE("a message without fields may still have a block") {
    std::array<std::byte, v2::nothing_writer::message_bytes> space;
    const v2::nothing_writer writer{space};
    static_cast<void>(writer);

    CHECK(space.size() == 12);
    CHECK(v2::read_message(space, [](const auto&) -> decode_fault { return {}; }) ==
          decode_fault{});
    message longer{space.begin(), space.end()};
    longer.push_back(std::byte{0});
    CHECK(fault_of(longer).error == decode_error::trailing_bytes);
}

TEST_CASE("a visitor's own objection is the outcome") {
    const decode_fault objection{decode_error::unexpected_message, 5};

    CHECK(v2::read_message(whole(), [&](const auto&) { return objection; }) == objection);
}
