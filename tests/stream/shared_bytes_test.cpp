// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/shared_bytes.hpp promises to the code that uses it.
#include <gyre/stream/shared_bytes.hpp>

#include <base/ending.hpp>
#include <support/harness.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;

TEST_CASE("shared bytes are a copy, and none are empty") {
    std::string text = "hello";
    const shared_bytes made = shared_bytes::copy_of(bytes_of(text));
    text = "other";
    const shared_bytes none;
    const shared_bytes of_nothing = shared_bytes::copy_of(const_buffer{});

    CHECK(text_of(made.bytes()) == "hello");
    CHECK(made.size() == 5);
    CHECK(none.empty());
    CHECK(none.bytes().empty());
    CHECK(of_nothing.empty());
}

TEST_CASE("several buffers become one, an empty one among them") {
    const std::array<const_buffer, 3> parts{bytes_of("head"), const_buffer{}, bytes_of("body")};

    const shared_bytes made = shared_bytes::copy_of(const_buffers{parts});

    CHECK(text_of(made.bytes()) == "headbody");
}

TEST_CASE("copies share one block, which lives as long as the last of them") {
    shared_bytes first = shared_bytes::made_by(
        20'000, [](mutable_buffer into) { std::memset(into.data(), 'x', into.size()); });
    shared_bytes second = first;
    const std::byte* const where = first.bytes().data();

    first = shared_bytes{};
    shared_bytes third = std::move(second);

    CHECK(third.bytes().data() == where);
    CHECK(third.size() == 20'000);
    CHECK(text_of(third.bytes()).find_first_not_of('x') == std::string_view::npos);
    CHECK(second.empty());  // NOLINT(bugprone-use-after-move): its null state is promised.
}

TEST_CASE("holders on several threads let go of one message in any order") {
    for (int round = 0; round < 100; ++round) {
        shared_bytes message = shared_bytes::copy_of(bytes_of("to everybody"));
        std::vector<std::thread> threads;
        for (int each = 0; each < 4; ++each) {
            threads.emplace_back([copy = message]() mutable {
                const shared_bytes again = copy;
                copy = {};
                CHECK(text_of(again.bytes()) == "to everybody");
            });
        }
        message = {};
        for (std::thread& each : threads) each.join();
    }
}

TEST_CASE("more bytes than there is memory for are a failed check, however many") {
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 20, SIZE_MAX / 2 + 1}) {
        const testing::ending how = testing::ending_of([size] {
            static_cast<void>(shared_bytes::made_by(size, [](mutable_buffer) noexcept {}));
        });
        CHECK(how.signal == SIGABRT);
        CHECK(how.said_that("memory for shared bytes"));
    }
}
