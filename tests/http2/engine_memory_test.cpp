// SPDX-License-Identifier: BSL-1.0
#include <http2/engine_memory.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

using namespace gyre;
using http2::engine_memory;

TEST_CASE("http2: an engine's memory is refused beyond its bound, and counted back") {
    engine_memory memory{10'000};
    std::vector<void*> blocks;
    for (;;) {
        void* const block = engine_memory::allocate(1'000, &memory);
        if (block == nullptr) break;
        std::memset(block, 'x', 1'000);
        blocks.push_back(block);
        REQUIRE(blocks.size() < 11);
    }

    CHECK(blocks.size() == 9);
    CHECK(memory.used() <= 10'000);
    CHECK(memory.used_most() == memory.used());
    const std::size_t most = memory.used();
    for (void* const block : blocks) engine_memory::release(block, &memory);
    CHECK(memory.used() == 0);
    CHECK(memory.used_most() == most);
    // What was given back can be had again.
    void* const again = engine_memory::allocate(9'000, &memory);
    CHECK(again != nullptr);
    engine_memory::release(again, &memory);
    CHECK(memory.used() == 0);
}

TEST_CASE(
    "http2: blocks of an engine's memory are aligned for anything, and zeros where asked for") {
    engine_memory memory{100'000};
    for (const std::size_t size : {1U, 7U, 8U, 15U, 64U, 1'000U}) {
        auto* const block =
            static_cast<unsigned char*>(engine_memory::allocate_zeros(3, size, &memory));
        REQUIRE(block != nullptr);
        CHECK(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t) == 0);
        bool zeros = true;
        for (std::size_t at = 0; at < 3 * size; ++at) zeros = zeros && block[at] == 0;
        CHECK(zeros);
        engine_memory::release(block, &memory);
    }
    CHECK(memory.used() == 0);
}

TEST_CASE("http2: a block that is made larger or smaller keeps what it holds") {
    engine_memory memory{10'000};
    void* block = engine_memory::reallocate(nullptr, 5, &memory);
    REQUIRE(block != nullptr);
    std::memcpy(block, "hello", 5);
    for (const std::size_t size : {500U, 5U, 4'000U, 5U}) {
        block = engine_memory::reallocate(block, size, &memory);
        REQUIRE(block != nullptr);
        CHECK(std::string_view{static_cast<const char*>(block), 5} == "hello");
    }
    // What is refused leaves the block as it was.
    const std::size_t before = memory.used();
    CHECK(engine_memory::reallocate(block, 20'000, &memory) == nullptr);
    CHECK(std::string_view{static_cast<const char*>(block), 5} == "hello");
    CHECK(memory.used() == before);
    engine_memory::release(block, &memory);
    engine_memory::release(nullptr, &memory);
    CHECK(memory.used() == 0);
}

TEST_CASE("http2: sizes that no number holds are refused") {
    engine_memory memory{SIZE_MAX};
    CHECK(engine_memory::allocate_zeros(SIZE_MAX / 2, 4, &memory) == nullptr);
    engine_memory small{100};
    CHECK(engine_memory::allocate(SIZE_MAX, &small) == nullptr);
    CHECK(engine_memory::allocate(101, &small) == nullptr);
    CHECK(small.used() == 0);
}
