// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/far_chunks.hpp promises: a map in order, however far its keys lie apart.
#include <exchange/core/far_chunks.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>

using namespace exchange;

namespace {

constexpr chunk_number lowest = -(price_ticks_max >> chunk_bits) - 1;
constexpr chunk_number highest = price_ticks_max >> chunk_bits;

// The same numbers on every machine.
std::uint64_t next_random(std::uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

struct small_levels {
    level_memory memory{chunk_pool{256}, node_pool{4'096}};
    far_chunks map;

    chunk_index insert(chunk_number number) {
        const chunk_index made = memory.chunks.take(number);
        map.insert(memory, made);
        return made;
    }
    void erase(chunk_number number) {
        memory.chunks.give_back(map.find(memory, number));
        map.erase(memory, number);
    }
};

}  // namespace

TEST_CASE("an empty map finds nothing and needs no memory") {
    const level_memory memory{chunk_pool{0}, node_pool{0}};
    const far_chunks map;

    CHECK(map.empty());
    CHECK(map.find(memory, 0) == 0);
    CHECK(map.at_or_after(memory, lowest) == 0);
}

TEST_CASE("the first and the last chunk that a price can have are found from each other") {
    small_levels it;
    const chunk_index first = it.insert(lowest);
    const chunk_index last = it.insert(highest);

    CHECK(it.map.find(it.memory, lowest) == first);
    CHECK(it.map.find(it.memory, highest) == last);
    CHECK(it.map.at_or_after(it.memory, lowest) == first);
    CHECK(it.map.at_or_after(it.memory, lowest + 1) == last);
    CHECK(it.map.find(it.memory, 0) == 0);
    CHECK(it.map.find(it.memory, highest - 1) == 0);
    CHECK(it.map.at_or_after(it.memory, highest + 1) == 0);
}

TEST_CASE("chunks that are far from each other share one node, neighbours need a way down") {
    small_levels it;
    it.insert(lowest);
    CHECK(it.memory.nodes.in_use() == 0);
    it.insert(highest);
    CHECK(it.memory.nodes.in_use() == 1);
    it.insert(highest - 1);
    CHECK(it.memory.nodes.in_use() == far_chunks::steps);

    it.erase(highest);
    CHECK(it.memory.nodes.in_use() == 1);
    CHECK(it.map.at_or_after(it.memory, 0) == it.map.find(it.memory, highest - 1));
}

TEST_CASE("erasing the last chunk gives all nodes back") {
    small_levels it;
    it.insert(-5);
    it.insert(5'000'000'000);
    it.insert(5'000'000'001);

    it.erase(-5);
    it.erase(5'000'000'000);
    it.erase(5'000'000'001);

    CHECK(it.map.empty());
    CHECK(it.memory.nodes.in_use() == 0);
}

TEST_CASE("it agrees with a sorted map over random insertions and erasures") {
    small_levels it;
    std::map<chunk_number, chunk_index> truth;
    std::uint64_t random = 0x9e37'79b9'7f4a'7c15;
    INFO("seed ", random);
    for (std::uint32_t each = 1; each <= 20'000; ++each) {
        // Some near each other, some anywhere.
        const unsigned bits = 1 + static_cast<unsigned>(next_random(random) % 42);
        const auto wide = static_cast<chunk_number>(next_random(random) >> (64 - bits));
        const chunk_number key = wide - (chunk_number{1} << (bits - 1));
        const auto at = truth.find(key);
        REQUIRE(it.map.find(it.memory, key) == (at == truth.end() ? 0 : at->second));
        if (at != truth.end()) {
            it.erase(key);
            truth.erase(at);
        } else if (truth.size() < 200) {
            truth[key] = it.insert(key);
        } else {
            it.erase(truth.begin()->first);
            truth.erase(truth.begin());
        }
        const auto behind = truth.lower_bound(key);
        REQUIRE(it.map.at_or_after(it.memory, key) == (behind == truth.end() ? 0 : behind->second));
    }
    while (!truth.empty()) {
        it.erase(truth.begin()->first);
        truth.erase(truth.begin());
    }
    CHECK(it.memory.nodes.in_use() == 0);
}
