// SPDX-License-Identifier: BSL-1.0
//
// What src/runtime/buffer_ring.hpp promises, with the kernel but without a loop's backend.
//
// Every block must come back to the pool once; a sanitizer sees those that do not.
#include <runtime/buffer_ring.hpp>

#include <gyre/runtime/io_context.hpp>
#include <runtime/receive_pool.hpp>
#include <runtime/uring_ring.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr std::size_t block_size = 4096;

struct result {
    std::uint64_t name;
    std::int32_t value;
    std::uint32_t flags;

    [[nodiscard]] bool has_block() const { return (flags & IORING_CQE_F_BUFFER) != 0; }
    [[nodiscard]] std::uint16_t block() const {
        return static_cast<std::uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
    }
};

// A ring, a pool that keeps `kept` blocks, a ring of buffers of them, and a connection.
class stage {
public:
    explicit stage(std::size_t kept) : pool{*new receive_pool{owner_, block_size, kept}} {
        REQUIRE(ring.open(16, 64, 0) == 0);
        REQUIRE(ring.bind_thread() == 0);
        std::array<int, 2> pair{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0);
        near_ = pair[0];
        far_ = pair[1];
        refused = buffers.open(ring, pool);
    }
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;
    ~stage() {
        ring.close();
        buffers.close();
        pool.close();
        ::close(near_);
        ::close(far_);
    }

    void put(std::string_view text) const {
        REQUIRE(::write(far_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }

    void receive(std::uint64_t name) {
        io_uring_sqe& to = *ring.next_entry();
        to.opcode = IORING_OP_RECV;
        to.fd = near_;
        to.flags = IOSQE_BUFFER_SELECT;
        to.buf_group = buffer_ring::group;
        to.user_data = name;
    }
    void cancel(std::uint64_t name) {
        io_uring_sqe& to = *ring.next_entry();
        to.opcode = IORING_OP_ASYNC_CANCEL;
        to.fd = -1;
        to.addr = name;
        to.user_data = 0;
    }

    // The results of what `receive` has asked for, oldest first, once there are `count`.
    std::vector<result> results(std::size_t count) {
        std::vector<result> all;
        do {
            REQUIRE(ring.enter(count > 0, never) == 0);
            ring.reap([&](const io_uring_cqe& it) {
                if (it.user_data != 0) all.push_back({it.user_data, it.res, it.flags});
                return true;
            });
        } while (all.size() < count);
        return all;
    }

    // The text of a result that has a block, which goes back.
    std::string text_of(const result& it) {
        REQUIRE(it.has_block());
        std::byte* const block = buffers.take(it.block());
        std::string text{reinterpret_cast<const char*>(block),
                         static_cast<std::size_t>(std::max(it.value, 0))};
        pool.take_back(block);
        return text;
    }

private:
    io_context owner_;

public:
    receive_pool& pool;
    buffer_ring buffers;
    uring_ring ring;
    int refused = 0;

private:
    int near_ = -1;
    int far_ = -1;
};

// Linux 5.19 has what this is about.
bool is_known(const stage& on) {
    if (on.refused == 0) return true;
    skip("this kernel takes no rings of buffers");
    return false;
}

}  // namespace

TEST_CASE("the kernel receives into a block that was offered, names it, and has it no longer") {
    stage on{4};
    if (!is_known(on)) return;
    on.buffers.refill(3);
    CHECK(on.pool.offered() == 3);
    CHECK(on.pool.lent() == 0);

    on.put("hello");
    on.receive(1);
    const result got = on.results(1).front();

    CHECK(got.value == 5);
    REQUIRE(got.has_block());
    std::byte* const block = on.buffers.take(got.block());
    CHECK(std::memcmp(block, "hello", 5) == 0);
    CHECK(on.buffers.offered() == 2);
    CHECK(on.pool.offered() == 2);
    CHECK(on.pool.lent() == 1);
    on.pool.take_back(block);
    CHECK(on.pool.lent() == 0);
}

TEST_CASE("blocks go round and round without being mistaken for each other") {
    stage on{4};
    if (!is_known(on)) return;
    for (int round = 0; round < 1000; ++round) {
        on.buffers.refill(static_cast<std::size_t>(1 + round % 4));
        const std::string text = "round " + std::to_string(round);
        on.put(text);
        on.receive(1);
        CHECK(on.text_of(on.results(1).front()) == text);
    }
    CHECK(on.pool.lent() == 0);
    CHECK(on.pool.offered() <= 4);
}

TEST_CASE("a receive that waits, or is cancelled, uses up no block") {
    stage on{2};
    if (!is_known(on)) return;
    on.buffers.refill(2);
    for (std::uint64_t name = 1; name <= 4; ++name) on.receive(name);
    CHECK(on.results(0).empty());
    for (std::uint64_t name = 1; name <= 4; ++name) on.cancel(name);
    for (const result& each : on.results(4)) {
        CHECK(each.value == -ECANCELED);
        CHECK_FALSE(each.has_block());
    }

    for (const std::string_view text : {"one", "two"}) {
        on.put(text);
        on.receive(1);
        CHECK(on.text_of(on.results(1).front()) == text);
    }
    on.put("three");
    on.receive(1);
    CHECK(on.results(1).front().value == -ENOBUFS);
    on.buffers.refill(1);
    on.receive(1);
    CHECK(on.text_of(on.results(1).front()) == "three");
}

TEST_CASE("once disarmed, nothing is received into what was offered") {
    stage on{4};
    if (!is_known(on)) return;
    on.buffers.refill(4);
    on.receive(1);
    CHECK(on.results(0).empty());

    on.buffers.disarm();
    on.put("too late");
    const result got = on.results(1).front();

    CHECK(got.value <= 0);
    if (got.has_block()) on.pool.take_back(on.buffers.take(got.block()));
    on.ring.close();
    on.buffers.close();
    CHECK(on.pool.offered() == 0);
    CHECK(on.pool.lent() == 0);
}

TEST_CASE("there is room for what the pool keeps, rounded down, within a bound, or none") {
    struct expectation {
        std::size_t kept;
        std::size_t room;
    };
    for (const expectation each :
         {expectation{1, 1}, {3, 2}, {64, 64}, {1000, buffer_ring::blocks_max}}) {
        stage on{each.kept};
        if (!is_known(on)) return;
        CHECK(on.buffers.room() == each.room);
        on.buffers.refill(10 * buffer_ring::blocks_max);
        CHECK(on.pool.offered() == each.room);
    }
    stage none{0};
    CHECK(none.refused == EINVAL);
    CHECK_FALSE(none.buffers.is_open());
    none.buffers.refill(1);
    CHECK(none.pool.offered() == 0);
}

TEST_CASE("what was closed can be opened with another ring, and used there") {
    stage on{2};
    if (!is_known(on)) return;
    on.buffers.refill(2);
    on.ring.close();
    on.buffers.close();
    CHECK(on.pool.offered() == 0);

    REQUIRE(on.ring.open(16, 64, 0) == 0);
    REQUIRE(on.buffers.open(on.ring, on.pool) == 0);
    on.buffers.refill(2);
    on.put("again");
    on.receive(1);
    CHECK(on.text_of(on.results(1).front()) == "again");
}
