// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/frame_allocator.hpp promises. Where a sanitizer watches memory, nothing is recycled:
// the cache stays empty there, and that is checked as well.
#include <gyre/coro/frame_allocator.hpp>

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace gyre;

namespace {

constexpr std::size_t largest_recycled = 16 * 1024;

void* make_and_release(std::size_t size) {
    void* memory = frame_cache::allocate(size);
    frame_cache::release(memory, size);
    return memory;
}

// Runs `body` on a thread of its own, whose cache is fresh.
template <class Body>
void on_a_new_thread(const Body& body) {
    std::thread{body}.join();
}

}  // namespace

TEST_CASE("a released block is the next one of its size to be allocated") {
    on_a_new_thread([] {
        void* first = make_and_release(200);
        const std::size_t held = frame_cache::bytes_held();

        void* second = frame_cache::allocate(200);

        if (recycles_memory) CHECK(second == first);
        CHECK((held >= 200) == recycles_memory);
        CHECK(frame_cache::bytes_held() == 0);
        frame_cache::release(second, 200);
    });
}

TEST_CASE("a block is large enough for every size that finds it in the cache, and aligned") {
    on_a_new_thread([] {
        frame_cache::set_bytes_max(std::size_t{1} << 30);
        std::size_t first_bad = 0;
        for (std::size_t size = 1; size <= largest_recycled + 4096 && first_bad == 0; ++size) {
            make_and_release(size);  // Now the size class holds a block that was made for `size`.
            const std::size_t larger = size + 1;

            void* memory = frame_cache::allocate(larger);

            std::memset(memory, 0x5a, larger);  // A sanitizer would see an overflow.
            const auto address = reinterpret_cast<std::uintptr_t>(memory);
            const bool good =
                ::malloc_usable_size(memory) >= larger && address % alignof(std::max_align_t) == 0;
            frame_cache::release(memory, larger);
            if (!good) first_bad = size;
        }
        CHECK(first_bad == 0);
    });
}

TEST_CASE("a cache never holds more than its bound") {
    on_a_new_thread([] {
        constexpr std::size_t bound = 4096;
        frame_cache::trim_central_cache();
        frame_cache::set_bytes_max(bound);
        std::vector<void*> blocks;
        for (int i = 0; i < 100; ++i) blocks.push_back(frame_cache::allocate(500));
        std::size_t most = 0;

        for (void* each : blocks) {
            frame_cache::release(each, 500);
            most = std::max(most, frame_cache::bytes_held());
        }

        CHECK(most <= bound);
        if (recycles_memory) CHECK(most > bound - 1024);
    });
}

TEST_CASE("a bound set before the first frame holds, also one of zero") {
    on_a_new_thread([] {
        frame_cache::set_bytes_max(0);

        make_and_release(64);

        CHECK(frame_cache::bytes_held() == 0);
    });
}

TEST_CASE("a frame that is larger than any size class goes back to malloc") {
    on_a_new_thread([] {
        make_and_release(largest_recycled + 1);
        CHECK(frame_cache::bytes_held() == 0);
        make_and_release(largest_recycled);

        CHECK(frame_cache::bytes_held() == (recycles_memory ? largest_recycled : 0));
    });
}

TEST_CASE("trimming gives everything back, and the cache goes on") {
    on_a_new_thread([] {
        for (const std::size_t size : {1, 64, 1000, 1025, 16'000}) make_and_release(size);

        frame_cache::trim();

        CHECK(frame_cache::bytes_held() == 0);
        make_and_release(64);
        CHECK((frame_cache::bytes_held() > 0) == recycles_memory);
    });
}

TEST_CASE("a frame may be released on another thread, whose cache has it then") {
    on_a_new_thread([] {
        void* wanderer = frame_cache::allocate(300);

        on_a_new_thread([&] {
            make_and_release(100);
            const std::size_t before = frame_cache::bytes_held();
            frame_cache::release(wanderer, 300);
            CHECK((frame_cache::bytes_held() > before) == recycles_memory);
        });

        CHECK(frame_cache::bytes_held() == 0);
    });
}

TEST_CASE("a thread that only releases frames has a cache all the same") {
    void* wanderer = frame_cache::allocate(300);

    on_a_new_thread([&] {
        frame_cache::release(wanderer, 300);
        CHECK((frame_cache::bytes_held() >= 300) == recycles_memory);
    });
}

TEST_CASE("what a thread's cache holds is given back when the thread ends") {
    constexpr int threads = 200;
    constexpr std::size_t each = 1 << 20;
    const std::size_t before = ::mallinfo2().uordblks;

    for (int i = 0; i < threads; ++i) {
        on_a_new_thread([i] {
            if (i % 2 == 0) frame_cache::set_bytes_max(each);  // Before its first frame, or never.
            std::vector<void*> blocks;
            for (int n = 0; n < 32; ++n) blocks.push_back(frame_cache::allocate(16'000));
            for (void* block : blocks) frame_cache::release(block, 16'000);
        });
    }

    const std::size_t after = ::mallinfo2().uordblks;
    CHECK(after < before + threads / 4 * each / 2);
}

TEST_CASE("a local of its thread that dies after the cache may still release its frame") {
    struct late_owner {
        void* frame = nullptr;
        ~late_owner() {
            if (frame != nullptr) frame_cache::release(frame, 128);
            CHECK(frame_cache::bytes_held() == 0);
        }
    };
    on_a_new_thread([] {
        thread_local late_owner owner;  // Constructed before the cache's release was arranged.
        static_cast<void>(&owner);
        owner.frame = frame_cache::allocate(128);
    });
}

TEST_CASE("what one thread makes and another frees comes back through the central cache") {
    constexpr std::size_t size = 300;
    constexpr std::size_t count = 4 * frame_cache::bytes_max_default / size;
    frame_cache::trim_central_cache();
    std::vector<void*> made;
    const auto make = [&] {
        for (std::size_t i = 0; i < count; ++i) made.push_back(frame_cache::allocate(size));
    };
    on_a_new_thread(make);
    const std::set<void*> first{made.begin(), made.end()};
    made.clear();
    std::size_t kept_by_the_second = 0;

    on_a_new_thread([&] {
        make_and_release(size);
        for (void* each : first) frame_cache::release(each, size);
        kept_by_the_second = frame_cache::bytes_held();
    });
    const std::size_t in_central_cache = frame_cache::central_cache_bytes_held();
    on_a_new_thread(make);
    std::size_t known = 0;
    for (void* each : made) known += first.count(each);

    CHECK(kept_by_the_second <= frame_cache::bytes_max_default);
    CHECK((in_central_cache >= 2 * frame_cache::bytes_max_default) == recycles_memory);
    if (recycles_memory) CHECK(known >= count / 2);
    for (void* each : made) frame_cache::release(each, size);
}

TEST_CASE("the central cache has a bound, beyond which blocks go back to malloc") {
    constexpr std::size_t size = 16'000;
    constexpr std::size_t count = 2 * frame_cache::central_cache_bytes_max / size;
    on_a_new_thread([] {
        std::vector<void*> blocks;
        for (std::size_t i = 0; i < count; ++i) blocks.push_back(frame_cache::allocate(size));
        const std::size_t before = ::mallinfo2().uordblks;

        for (void* each : blocks) frame_cache::release(each, size);

        const std::size_t held = frame_cache::central_cache_bytes_held();
        CHECK(held <= frame_cache::central_cache_bytes_max);
        CHECK((held > frame_cache::central_cache_bytes_max - 128 * 1024) == recycles_memory);
        if (recycles_memory) {
            CHECK(before - ::mallinfo2().uordblks > frame_cache::central_cache_bytes_max / 2);
        }
    });
    frame_cache::trim_central_cache();
    CHECK(frame_cache::central_cache_bytes_held() == 0);
}

TEST_CASE("blocks wander between threads without being lost or handed out twice") {
    constexpr int rounds = 30;
    std::vector<unsigned char*> in_transit(64);
    for (int round = 0; round < rounds; ++round) {
        for (unsigned char*& each : in_transit) {
            each = static_cast<unsigned char*>(frame_cache::allocate(128));
            std::memset(each, round, 128);
        }
        on_a_new_thread([&] {
            for (unsigned char* each : in_transit) {
                CHECK(each[0] == round);
                CHECK(each[127] == round);
                make_and_release(128);
                frame_cache::release(each, 128);
            }
        });
    }
}
