// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/zeroed_array.hpp promises, and that the core's tables may rely on it.
#include <exchange/core/venue.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

using namespace exchange;

namespace {

/// Are all bytes zero of one that was made as the language makes it? Then it needs no making.
template <class Element>
bool begins_as_zeros() {
    alignas(Element) std::array<unsigned char, sizeof(Element)> bytes{};  // Padding, too.
    ::new (static_cast<void*>(bytes.data())) Element{};
    return std::ranges::all_of(bytes, [](unsigned char each) { return each == 0; });
}

bool is_aligned(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % table_alignment == 0;
}

}  // namespace

TEST_CASE("all elements of a table are zero, and each is a place of its own") {
    zeroed_array<std::uint32_t> table{1'000};
    CHECK(table.size() == 1'000);
    CHECK(std::ranges::all_of(table, [](std::uint32_t each) { return each == 0; }));

    for (std::uint32_t each = 0; each < table.size(); ++each) table[each] = each;
    for (std::uint32_t each = 0; each < table.size(); ++each)
        CHECK(std::as_const(table)[each] == each);
}

TEST_CASE("a table begins with a line of the cache, whatever its size") {
    for (const std::size_t size : {0, 1, 3, 63, 1'000, 100'000}) {
        CAPTURE(size);
        const zeroed_array<unsigned char> bytes{size};
        const zeroed_array<order> orders{size};
        CHECK(is_aligned(bytes.begin()));
        CHECK(is_aligned(orders.begin()));
        CHECK(orders.end() - orders.begin() == static_cast<std::ptrdiff_t>(size));
    }
}

TEST_CASE("a table that moves stays where its elements are") {
    zeroed_array<int> made{8};
    made[7] = 5;
    const int* const where = made.begin();

    const zeroed_array<int> moved = std::move(made);

    CHECK(moved.begin() == where);
    CHECK(moved[7] == 5);
}

TEST_CASE(
    "what a table reserves is known before, and more than any machine has if it is no number") {
    CHECK(table_bytes<order>(1) == 128);
    CHECK(table_bytes<order>(std::numeric_limits<std::size_t>::max() / 64) ==
          std::numeric_limits<std::size_t>::max());
    CHECK(table_bytes<unsigned char>(std::numeric_limits<std::size_t>::max()) ==
          std::numeric_limits<std::size_t>::max());
}

TEST_CASE("what stands in the core's tables begins as zeros") {
    CHECK(begins_as_zeros<order>());
    CHECK(begins_as_zeros<holding>());
    CHECK(begins_as_zeros<level_chunk>());
    CHECK(begins_as_zeros<node_pool::node>());
    CHECK(begins_as_zeros<define_product>());
    CHECK(begins_as_zeros<market>());
    CHECK(begins_as_zeros<account>());
    CHECK(begins_as_zeros<session>());
}
