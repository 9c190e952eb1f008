// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/ladder.hpp promises: levels in order and the best at hand, inside its window, on
// both sides of it, and across.
#include <exchange/core/ladder.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

using namespace exchange;

namespace {

struct stand {
    level_memory memory{chunk_pool{1'024}, node_pool{8'192}};
    std::unique_ptr<ladder> levels = std::make_unique<ladder>();

    void open(price_rank rank) { memory.chunks.level(levels->open(memory, rank)).orders = 1; }
    void close(price_rank rank) {
        const level_index at = levels->find(memory, rank);
        REQUIRE(at != 0);
        memory.chunks.level(at).orders = 0;
        levels->close(memory, at);
    }
    [[nodiscard]] std::vector<price_rank> ranks() const {
        std::vector<price_rank> found;
        for (level_index at = levels->best(); at != 0; at = levels->after(memory, at)) {
            found.push_back(ladder::rank_of(memory, at));
        }
        return found;
    }
};

}  // namespace

TEST_CASE("levels are walked best first, whatever came first") {
    stand it;
    for (const price_rank rank : {5, -3, 64, 63, 4'000, -70, 128}) it.open(rank);

    CHECK(it.ranks() == std::vector<price_rank>{-70, -3, 5, 63, 64, 128, 4'000});
    CHECK(it.levels->best_rank() == -70);
}

TEST_CASE("a walk may begin anywhere: at a level, between two, before all or behind all") {
    stand it;
    it.open(1'000);  // The window stands around the first.
    for (const price_rank rank : {-10'000'000, 1'001, 1'063, 1'065, 5'000, 10'000'000})
        it.open(rank);
    const std::vector<price_rank> all = it.ranks();
    REQUIRE(all.size() == 7);

    for (std::size_t each = 0; each < all.size(); ++each) {
        const auto at_or_after = [&](price_rank rank) {
            const level_index found = it.levels->at_or_after(it.memory, rank);
            REQUIRE(found != 0);
            return ladder::rank_of(it.memory, found);
        };
        CHECK(at_or_after(all[each]) == all[each]);
        if (each > 0) CHECK(at_or_after(all[each - 1] + 1) == all[each]);
        else CHECK(at_or_after(-price_ticks_max) == all[0]);
    }
    CHECK(it.levels->at_or_after(it.memory, all.back() + 1) == 0);
    CHECK(stand{}.levels->at_or_after(it.memory, 0) == 0);
}

TEST_CASE("levels far before and far behind the window are walked in their place") {
    stand it;
    it.open(1'000);  // The window stands around the first.
    for (const price_rank rank : {price_ticks_max, -price_ticks_max, price_rank{10'000'000},
                                  price_rank{-10'000'000}, price_rank{1'001}}) {
        it.open(rank);
    }

    CHECK(it.ranks() == std::vector<price_rank>{-price_ticks_max, -10'000'000, 1'000, 1'001,
                                                10'000'000, price_ticks_max});
}

TEST_CASE("when the best level closes, the next is best: in its chunk, its window or beyond") {
    stand it;
    for (const price_rank rank : {10, 11, 20'000, 90'000'000}) it.open(rank);

    it.close(10);
    CHECK(it.levels->best_rank() == 11);
    it.close(11);
    CHECK(it.levels->best_rank() == 20'000);
    it.close(20'000);
    CHECK(it.levels->best_rank() == 90'000'000);
    it.close(90'000'000);
    CHECK(it.levels->best() == 0);
    CHECK(it.memory.chunks.in_use() == 0);
    CHECK(it.memory.nodes.in_use() == 0);
}

TEST_CASE("an empty ladder puts its window where the next order is") {
    stand it;
    it.open(5);
    it.close(5);

    it.open(80'000'000'000);
    it.open(80'000'000'100);  // One chunk alone would need no node anywhere.

    CHECK(it.memory.nodes.in_use() == 0);
    CHECK(it.ranks() == std::vector<price_rank>{80'000'000'000, 80'000'000'100});
}

TEST_CASE("an order at the end of all prices leaves the window to those that come") {
    stand it;
    it.open(-price_ticks_max);

    for (const price_rank rank : {1'000, 1'100, 20'000}) it.open(rank);

    CHECK(it.memory.nodes.in_use() == 0);  // A chunk that is alone needs none.
    CHECK(it.ranks() == std::vector<price_rank>{-price_ticks_max, 1'000, 1'100, 20'000});
}

TEST_CASE("a window without orders moves, but never over prices that are known elsewhere") {
    stand it;
    for (const price_rank rank : {0, 1'000'000}) it.open(rank);
    it.close(0);

    it.open(1'010'000);  // Within a window's reach of the other one.
    CHECK(it.ranks() == std::vector<price_rank>{1'000'000, 1'010'000});
    it.open(50'000'000);
    it.open(50'000'100);

    CHECK(it.ranks() == std::vector<price_rank>{1'000'000, 1'010'000, 50'000'000, 50'000'100});
    CHECK(it.memory.nodes.in_use() > 0);
    for (const price_rank rank : {1'000'000, 1'010'000, 50'000'000, 50'000'100}) it.close(rank);
    CHECK(it.memory.nodes.in_use() == 0);
}

TEST_CASE("the window reaches equally far before and behind the first price, and no further") {
    stand it;
    for (const price_rank rank : {0, -32'768, 32'767}) it.open(rank);
    CHECK(it.memory.nodes.in_use() == 0);
    CHECK_FALSE(it.levels->has_far_levels());

    for (const price_rank rank : {-32'769, 32'768}) it.open(rank);

    CHECK(it.memory.nodes.in_use() > 0);
    CHECK(it.ranks() == std::vector<price_rank>{-32'769, -32'768, 0, 32'767, 32'768});
    CHECK(it.levels->has_far_levels());
    for (const price_rank rank : {-32'769, 32'768}) it.close(rank);
    CHECK_FALSE(it.levels->has_far_levels());
}

TEST_CASE("without memory there is room at the chunks that exist, and nowhere else") {
    level_memory memory{chunk_pool{1}, node_pool{16}};
    const auto levels = std::make_unique<ladder>();
    memory.chunks.level(levels->open(memory, 7)).orders = 1;

    CHECK(levels->has_room(memory, 8));
    CHECK_FALSE(levels->has_room(memory, 64));
}

TEST_CASE("it agrees with a sorted set over random openings and closings") {
    stand it;
    std::set<price_rank> truth;
    std::uint64_t random = 20'260'519;
    INFO("seed ", random);
    for (int each = 0; each < 20'000; ++each) {
        random = random * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
        const unsigned bits = 3 + (random >> 58) % 40;
        const price_rank rank =
            static_cast<price_rank>(random >> (64 - bits)) - (price_rank{1} << (bits - 1));
        if (truth.contains(rank)) {
            it.close(rank);
            truth.erase(rank);
        } else if (truth.size() < 300) {
            it.open(rank);
            truth.insert(rank);
        } else {
            it.close(*truth.begin());
            truth.erase(truth.begin());
        }
        REQUIRE((it.levels->best() == 0) == truth.empty());
        if (!truth.empty()) REQUIRE(it.levels->best_rank() == *truth.begin());
        if (each % 500 == 0) {
            REQUIRE(it.ranks() == std::vector<price_rank>(truth.begin(), truth.end()));
        }
    }
}
