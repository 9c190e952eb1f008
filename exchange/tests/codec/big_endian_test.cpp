// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/big_endian.hpp promises, for numbers of every width.
#include <exchange/codec/big_endian.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using namespace exchange;

namespace {

template <class Number>
constexpr bool comes_back(Number number) {
    std::array<std::byte, sizeof(Number)> space{};
    put_big_endian(std::span{space}, number);
    return get_big_endian<Number>(space) == number;
}

static_assert(comes_back(std::uint16_t{0xFEDC}));

}  // namespace

TEST_CASE("the most significant byte comes first") {
    std::array<std::byte, 8> space{};

    put_big_endian(std::span{space}, std::uint64_t{0x0102030405060708});

    CHECK(space.front() == std::byte{1});
    CHECK(space.back() == std::byte{8});
}

TEST_CASE("numbers of every width come back, the largest included") {
    CHECK(comes_back(std::uint16_t{0xFFFF}));
    CHECK(comes_back(std::uint32_t{0x89ABCDEF}));
    CHECK(comes_back(std::uint64_t{0xFFFFFFFFFFFFFFFF}));
    CHECK(comes_back(std::uint64_t{0x8000000000000001}));
}
