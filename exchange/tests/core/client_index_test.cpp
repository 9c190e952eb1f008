// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/client_index.hpp promises: the order behind a session's number, and no other.
#include <exchange/core/client_index.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace exchange;

namespace {

struct small_index {
    order_slab orders{1'000};
    client_index index{1'000, 0};

    order_index enter(std::uint16_t session, std::uint64_t client_seq) {
        const order_index made = orders.take();
        orders[made].session = session_id{session};
        orders[made].client_seq = client_sequence{client_seq};
        orders[made].open = 1;
        index.insert(orders, made);
        return made;
    }
    [[nodiscard]] order_index find(std::uint16_t session, std::uint64_t client_seq) const {
        return index.find(orders, session_id{session}, client_sequence{client_seq});
    }
};

}  // namespace

TEST_CASE("two sessions may use the same numbers") {
    small_index it;
    const order_index one = it.enter(1, 7);
    const order_index two = it.enter(2, 7);

    CHECK(it.find(1, 7) == one);
    CHECK(it.find(2, 7) == two);
    CHECK(it.find(3, 7) == 0);
    CHECK(it.find(1, 8) == 0);
}

TEST_CASE("an order that is over is not found, and its neighbours still are") {
    small_index it;
    order_index entered[900];
    for (std::uint32_t each = 0; each < 900; ++each) entered[each] = it.enter(1 + each % 3, each);

    for (std::uint32_t each = 0; each < 900; each += 2) it.index.erase(it.orders, entered[each]);

    for (std::uint32_t each = 0; each < 900; ++each) {
        const auto session = static_cast<std::uint16_t>(1 + each % 3);
        REQUIRE(it.find(session, each) == (each % 2 == 0 ? 0 : entered[each]));
    }
}

TEST_CASE("eight sequences in a row are neighbours, and the next eight are elsewhere") {
    const small_index it;
    const auto place = [&](std::uint32_t client_seq) {
        return it.index.place(session_id{1}, client_sequence{client_seq});
    };

    for (std::uint32_t each = 1; each < 8; ++each) CHECK(place(80 + each) == place(80) + each);
    CHECK(place(80) % 8 == 0);
    CHECK(place(88) != place(80) + 8);
}

TEST_CASE("numbers that share a place under one key do not under another") {
    const client_index known{1'000, 0};
    const client_index secret{1'000, 0x1234'5678'9abc'def0};
    std::vector<client_sequence> chosen;
    for (std::uint32_t each = 0; chosen.size() < 100; each += 8) {
        const client_sequence it{each};
        if (known.place(session_id{1}, it) == 8) chosen.push_back(it);
    }

    std::set<std::size_t> places;
    for (const client_sequence each : chosen) places.insert(secret.place(session_id{1}, each));

    CHECK(places.size() > 40);  // Of 128 lines, a hundred at random meet 70.
}

TEST_CASE("the smallest index has places, too") {
    const client_index least{0, ~std::uint64_t{0}};

    for (std::uint32_t each = 0; each < 1'000; ++each) {
        REQUIRE(least.place(session_id{0xffff}, client_sequence{each * 4'000'037}) < 16);
    }
}

TEST_CASE("orders of one number are found one after the other, the later one first") {
    small_index it;
    const order_index bid = it.enter(1, 7);
    it.enter(1, 15);
    const order_index ask = it.enter(1, 7);

    CHECK(it.find(1, 7) == ask);
    it.index.erase(it.orders, ask);
    CHECK(it.find(1, 7) == bid);
}

TEST_CASE("numbers that differ in their upper half only are different orders") {
    small_index it;
    constexpr std::uint64_t far = std::uint64_t{7} << 32;
    const order_index low = it.enter(1, 7);
    const order_index high = it.enter(1, far + 7);

    CHECK(it.find(1, 7) == low);
    CHECK(it.find(1, far + 7) == high);
    CHECK(it.find(1, 2 * far + 7) == 0);
}
