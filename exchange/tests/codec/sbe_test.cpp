// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/sbe.hpp promises, at compile time and at run time; tests/schema tests what is
// generated on top of it.
#include <exchange/codec/sbe.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace exchange;

namespace {

template <class Number>
constexpr bool comes_back(Number number) {
    std::array<std::byte, 16> space{};
    sbe::store(space.data() + 3, number);
    return sbe::load<Number>(space.data() + 3) == number;
}

template <class Number>
constexpr bool extremes_come_back() {
    using limits = std::numeric_limits<Number>;
    return comes_back(limits::min()) && comes_back(limits::max()) && comes_back(Number{1});
}

template <class... Numbers>
constexpr bool all_come_back() {
    return (extremes_come_back<Numbers>() && ...);
}

static_assert(all_come_back<char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                            std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>());

enum class id : std::uint32_t {};
static_assert(sbe::bound_to<id, std::uint32_t> && !sbe::bound_to<id, std::int32_t>);
static_assert(sbe::bound_to<std::int64_t, std::int64_t> &&
              !sbe::bound_to<std::int64_t, std::int32_t>);

}  // namespace

TEST_CASE("numbers of every type come back at run time as well, at any alignment") {
    CHECK(all_come_back<char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                        std::uint32_t, std::int64_t, std::uint64_t>());
}

TEST_CASE("the least significant byte comes first") {
    std::array<std::byte, 8> space{};

    sbe::store_header(space.data(), {0x0102, 0x0304, 0x0506, 0x0708});

    CHECK(testing::text_of(space) == "\2\1\4\3\6\5\x08\7");
    CHECK(sbe::load_header(space).template_id == 0x0304);
    CHECK(sbe::load_header(space).version == 0x0708);
}

TEST_CASE("a group is found with the size its dimension says") {
    std::array<std::byte, 10> space{};
    sbe::store(space.data(), std::uint16_t{3});
    sbe::store(space.data() + 2, std::uint16_t{2});
    sbe::group_entries entries;

    CHECK(entries.bytes() == 0);
    CHECK(entries.wrap(space, 3, 3) == decode_error::none);
    CHECK(entries.bytes() == 10);
    CHECK(entries.at(1) == space.data() + 7);
    CHECK(entries.wrap(space, 4, 9) == decode_error::entry_too_short);
    CHECK(entries.wrap(space, 1, 2) == decode_error::entry_too_long);
    CHECK(entries.wrap(std::span{space}.first(9), 3, 3) == decode_error::group_truncated);
    CHECK(entries.wrap(std::span{space}.first(3), 3, 3) == decode_error::group_truncated);
}

TEST_CASE("an empty group may have entries of any size") {
    std::array<std::byte, 4> space{};
    sbe::group_entries entries;

    CHECK(entries.wrap(space, 100, 100) == decode_error::none);
    CHECK(entries.bytes() == 4);
}
