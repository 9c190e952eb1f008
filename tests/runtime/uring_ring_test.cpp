// SPDX-License-Identifier: BSL-1.0
//
// The ring alone, without records: entries go in, results come out, refusals are told.
#include <runtime/uring_ring.hpp>

#include <runtime/uring_abi.hpp>
#include <support/harness.hpp>

#include <cerrno>
#include <vector>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t plain = 0;

void prepare_nop(uring_ring& ring, std::uint64_t name) {
    io_uring_sqe* entry = ring.next_entry();
    REQUIRE(entry != nullptr);
    entry->opcode = IORING_OP_NOP;
    entry->user_data = name;
}

std::vector<std::uint64_t> reap(uring_ring& ring) {
    std::vector<std::uint64_t> names;
    ring.reap([&](const io_uring_cqe& result) {
        names.push_back(result.user_data);
        return true;
    });
    return names;
}

}  // namespace

TEST_CASE("every entry has its result, also when the ring wraps") {
    uring_ring ring;
    REQUIRE(ring.open(8, 16, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    std::uint64_t next = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<std::uint64_t> expected;
        for (int each = 0; each < 5; ++each) {
            expected.push_back(next);
            prepare_nop(ring, next++);
        }

        REQUIRE(ring.enter(true, never) == 0);

        CHECK(reap(ring) == expected);
        CHECK(ring.unsubmitted() == 0);
    }
}

TEST_CASE("a full queue says so, and has room again after an enter") {
    uring_ring ring;
    REQUIRE(ring.open(4, 16, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    for (std::uint64_t name = 0; name < 4; ++name) prepare_nop(ring, name);
    CHECK(ring.next_entry() == nullptr);
    CHECK(ring.unsubmitted() == 4);

    REQUIRE(ring.submit() == 0);

    CHECK(ring.next_entry() != nullptr);
    CHECK(ring.has_results());
}

TEST_CASE("a visit that reaps gets what comes behind its own result, and all are visited once") {
    uring_ring ring;
    REQUIRE(ring.open(8, 16, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    for (std::uint64_t name = 0; name < 5; ++name) prepare_nop(ring, name);
    REQUIRE(ring.enter(true, never) == 0);
    std::vector<std::uint64_t> names;

    const unsigned count = ring.reap([&](const io_uring_cqe& result) {
        names.push_back(result.user_data);
        if (result.user_data == 1) {
            for (const std::uint64_t each : reap(ring)) names.push_back(each);
        }
        return true;
    });

    CHECK(names == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
    CHECK(count == 5);
    CHECK_FALSE(ring.has_results());
}

TEST_CASE("a visit that reaps makes room for results that come meanwhile, and keeps its own") {
    uring_ring ring;
    REQUIRE(ring.open(2, 4, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    std::uint64_t next = 0;
    const auto submit_two = [&] {
        prepare_nop(ring, next++);
        prepare_nop(ring, next++);
        REQUIRE(ring.submit() == 0);
    };
    submit_two();
    submit_two();  // The queue of results is full.
    std::vector<std::uint64_t> names;

    ring.reap([&](const io_uring_cqe& result) {
        if (result.user_data == 0) {
            for (const std::uint64_t each : reap(ring)) names.push_back(each);
            submit_two();  // In the places of the first two.
            for (const std::uint64_t each : reap(ring)) names.push_back(each);
        }
        names.push_back(result.user_data);
        return true;
    });

    CHECK(names == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 0});
    submit_two();
    CHECK(reap(ring) == std::vector<std::uint64_t>{6, 7});
}

TEST_CASE("a visit that says no leaves the rest for the next reap") {
    uring_ring ring;
    REQUIRE(ring.open(8, 16, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    for (std::uint64_t name = 0; name < 4; ++name) prepare_nop(ring, name);
    REQUIRE(ring.enter(true, never) == 0);

    CHECK(ring.reap([](const io_uring_cqe& result) { return result.user_data < 1; }) == 2);
    CHECK(ring.has_results());
    CHECK(reap(ring) == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("a wait ends at its deadline, and one that has passed does not wait") {
    uring_ring ring;
    REQUIRE(ring.open(4, 8, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    const auto begin = std::chrono::steady_clock::now();

    CHECK(ring.enter(true, begin - 1s) == 0);
    CHECK(ring.enter(true, begin + 5ms) == 0);

    CHECK(std::chrono::steady_clock::now() - begin >= 5ms);
    CHECK_FALSE(ring.has_results());
}

TEST_CASE("a set-up the kernel does not know is refused, and the ring stays closed") {
    uring_ring ring;

    CHECK(ring.open(4, 8, 1U << 30) == EINVAL);

    CHECK_FALSE(ring.is_open());
    CHECK(ring.open(4, 8, plain) == 0);
}

TEST_CASE("closing twice is harmless, and a ring can be opened again") {
    uring_ring ring;
    REQUIRE(ring.open(4, 8, plain) == 0);
    ring.close();
    ring.close();

    CHECK(ring.open(4, 8, plain) == 0);
}

TEST_CASE("a ring that is closed has no results, and those of one opened again are its own") {
    uring_ring ring;
    CHECK_FALSE(ring.has_results());
    CHECK(reap(ring).empty());
    REQUIRE(ring.open(4, 8, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    prepare_nop(ring, 1);
    prepare_nop(ring, 2);
    REQUIRE(ring.enter(true, never) == 0);
    CHECK(reap(ring).size() == 2);
    prepare_nop(ring, 3);
    REQUIRE(ring.enter(true, never) == 0);

    ring.close();

    CHECK_FALSE(ring.has_results());
    CHECK(reap(ring).empty());
    REQUIRE(ring.open(4, 8, plain) == 0);
    REQUIRE(ring.bind_thread() == 0);
    CHECK_FALSE(ring.has_results());
    prepare_nop(ring, 4);
    REQUIRE(ring.enter(true, never) == 0);
    CHECK(reap(ring) == std::vector<std::uint64_t>{4});
}
