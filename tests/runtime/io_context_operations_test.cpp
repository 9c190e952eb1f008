// SPDX-License-Identifier: BSL-1.0
//
// How a loop orders operations: sends that would find no room, and what waits in the kernel beside what
// does not. And operations of a pool that two of its loops end at once. The rest of an operation's life is
// in tests/laws/scripted_backend_test.cpp.
#include <gyre/coro/launch.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <laws/scripted_backend.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

struct fixture : scripted_loop {
    stream_socket socket = stream_socket::adopt(io, 7);
    int resumptions = 0;
    error failed;
};

}  // namespace

TEST_CASE("the send after a short one waits for the next turn, and is then begun") {
    fixture on;
    std::size_t submitted_before_the_turn = 99;
    on.script->inline_results = {5};
    const auto write = [&]() -> task<> {
        const io_result<std::size_t> filling = co_await on.socket.write_some(bytes_of("12345678"));
        on.io.post([&] { submitted_before_the_turn = on.script->submitted.size(); });
        const io_result<std::size_t> more = co_await on.socket.write_some(bytes_of("678"));
        CHECK(filling.value() == 5);
        CHECK(more.value() == 3);
        ++on.resumptions;
    };
    launch(on.io, write(), or_terminate{});
    on.script->steps.emplace_back(
        [&] { on.script->complete_later(*on.script->submitted.front(), 3); });

    on.io.run();

    CHECK(submitted_before_the_turn == 0);
    CHECK(on.resumptions == 1);
}

TEST_CASE("the send after a whole one is begun at once") {
    fixture on;
    on.script->inline_results = {8, 8};
    const auto write = [&]() -> task<> {
        static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
        static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
        CHECK(on.script->inline_results.empty());
        on.resumptions = 1;
    };
    launch(on.io, write(), or_terminate{});

    CHECK(on.io.run_one() == 1);

    CHECK(on.resumptions == 1);
}

TEST_CASE("a send that was never begun is canceled without the backend") {
    fixture on;
    on.script->inline_results = {5};
    SUBCASE("by a stop") {
        stop_handle stop;
        const auto write = [&]() -> task<> {
            static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
            on.io.post([&] { stop.request_stop(); });
            on.failed = (co_await on.socket.write_some(bytes_of("678"))).error();
            ++on.resumptions;
        };
        stop = launch(on.io, write(), or_terminate{});
        on.io.run();
    }
    SUBCASE("by closing the socket") {
        const auto write = [&]() -> task<> {
            static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
            on.io.post([&] { CHECK(on.socket.close().ok()); });
            on.failed = (co_await on.socket.write_some(bytes_of("678"))).error();
            ++on.resumptions;
        };
        launch(on.io, write(), or_terminate{});
        on.io.run();
    }

    CHECK(on.resumptions == 1);
    CHECK(on.failed == errc::canceled);
    CHECK(on.script->submitted.empty());
    CHECK(on.script->canceled.empty());
}

TEST_CASE("large sends that waited for a turn are begun one a turn, and a poll begins them all") {
    fixture on;
    stream_socket other = stream_socket::adopt(on.io, 8);
    const std::vector<std::byte> large(100'000);
    std::vector<int> written;
    on.script->inline_results = {70'000, 70'000, 70'000, 70'000};
    const auto write = [&](stream_socket& to, int name) -> task<> {
        static_cast<void>(co_await to.write_some(large));
        static_cast<void>(co_await to.write_some(large));
        written.push_back(name);
        // Resumed before the other one was begun.
        if (name == 1) CHECK(on.script->inline_results.size() == 1);
    };
    launch(on.io, write(on.socket, 1), or_terminate{});
    launch(on.io, write(other, 2), or_terminate{});

    on.io.poll();

    CHECK(written == std::vector{1, 2});
    CHECK(on.script->inline_results.empty());
}

TEST_CASE(
    "a coroutine that never has to wait gives way after a few steps to what waits in the kernel") {
    fixture on;
    stream_socket other = stream_socket::adopt(on.io, 8);
    constexpr int steps_max = 1000;
    int steps = 0;
    int steps_before_the_other = 0;
    const auto patient = [&]() -> task<> {
        std::array<std::byte, 8> space;
        const io_result<std::size_t> got = co_await other.read_some(space);
        CHECK(got.value() == 3);
        steps_before_the_other = steps;
    };
    const auto greedy = [&]() -> task<> {
        std::array<std::byte, 8> space;
        on.script->complete_later(*on.script->submitted.front(), 3);  // With the next turn.
        on.script->inline_results.assign(steps_max, 1);
        for (; steps < steps_max; ++steps) {
            static_cast<void>(co_await on.socket.read_some(space));
        }
    };
    launch(on.io, patient(), or_terminate{});
    launch(on.io, greedy(), or_terminate{});

    on.io.run();

    CHECK(steps == steps_max);
    CHECK(steps_before_the_other > 0);
    CHECK(steps_before_the_other < 20);
}

namespace {

// One byte is read by one operation after the other.
class reads_in_turn {
public:
    static constexpr std::size_t count = 500;

    reads_in_turn(io_pool& pool, descriptor_slot& from) : loop_{pool[0]} {
        for (std::size_t each = 0; each < count; ++each) reads_.emplace_back(*this, from);
    }

    void begin_next() {
        const std::size_t number = begun_.load();
        if (number == count) return;
        const bool over = loop_.submit(reads_[number]);
        begun_.store(number + 1);
        if (over) reads_[number].run(reads_[number]);
    }

    // On another loop: has each end by itself, and a little later or sooner by a cancel.
    void end_each(int peer) {
        std::size_t sent = 0;
        for (std::size_t each = 0; each < count; ++each) {
            while (begun_.load() <= each) std::this_thread::yield();
            if (received_.load() == sent) sent += ::send(peer, "x", 1, MSG_NOSIGNAL) == 1 ? 1 : 0;
            for (std::size_t wait = each * 31 % 1024; wait > 0; --wait) {
                static_cast<void>(begun_.load());
            }
            loop_.cancel(reads_[each]);
        }
    }

    void check() const {
        CHECK(eventually([this] { return ended_ == count; }));
        for (const noting_read& each : reads_) {
            REQUIRE(each.resumptions == 1);
            REQUIRE((each.result == 1 || each.result == -ECANCELED));
        }
    }

private:
    struct noting_read : receive_operation {
        noting_read(reads_in_turn& all, descriptor_slot& from)
            : receive_operation{mutable_buffer{&byte, 1}}, of{all} {
            target = &from;
            run = [](work& item) noexcept {
                auto& self = static_cast<noting_read&>(static_cast<operation&>(item));
                if (++self.resumptions > 1) return;
                if (self.result == 1) ++self.of.received_;
                ++self.of.ended_;
                self.of.begin_next();
            };
        }

        reads_in_turn& of;
        std::byte byte{};
        int resumptions = 0;
    };

    io_context& loop_;
    std::deque<noting_read> reads_;
    std::atomic<std::size_t> begun_ = 0;
    std::atomic<std::size_t> received_ = 0;
    std::atomic<std::size_t> ended_ = 0;
};

}  // namespace

TEST_CASE("reads that end while another loop of their pool cancels them come back once each") {
    with_every_backend([](const io_context_options& each) {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) ==
                0);
        io_pool_options options;
        options.threads = 2;
        options.loop = each;
        options.loop.spin_max = std::chrono::milliseconds{5};  // Its answers are prompt.
        std::optional<io_pool> pool{std::in_place, options};
        const handle near{(*pool)[0].host(), ends[0]};
        const handle far{(*pool)[0].host(), ends[1]};
        reads_in_turn reads{*pool, near.slot()};

        (*pool)[0].post([&] { reads.begin_next(); });
        (*pool)[1].post([&] { reads.end_each(far.number()); });

        reads.check();
        pool.reset();
    });
}

TEST_CASE(
    "what runs on an inner loop may close sockets of the outer one, and wake what waits there") {
    with_every_backend([](const io_context_options& options) {
        io_context outer{options};
        event closed;
        int woken = 0;
        error read_ended;
        socket_pair ends = local_pair(outer);
        const auto reads = [&]() -> task<> {
            std::array<std::byte, 1> byte{};
            read_ended = (co_await ends.server.read_some(byte)).error();
        };
        const auto waits = [&]() -> task<> {
            static_cast<void>(co_await closed.wait());
            ++woken;
        };
        const auto runs_inner = [&]() -> task<> {
            io_context inner{options};
            const auto closes = [&]() -> task<> {
                CHECK(ends.server.close().ok());
                closed.set();
                co_return;
            };
            co_await yield();
            launch(inner, closes(), or_terminate{});
            inner.run_for(patience);
        };

        launch(outer, reads(), or_terminate{});
        launch(outer, waits(), or_terminate{});
        launch(outer, runs_inner(), or_terminate{});
        outer.run_for(patience);

        CHECK(woken == 1);
        CHECK(read_ended == errc::canceled);
    });
}

// Two messages in a row one way cost the kernel a packet that acknowledges them; one each way costs none.
TEST_CASE("senders on sockets that are read as well take turns by message") {
    with_every_backend([](const io_context_options& options) {
        constexpr int messages = 6;
        io_context io{options};
        std::array<socket_pair, 2> pairs{local_pair(io), local_pair(io)};
        std::string order;
        const auto reads = [](stream_socket& from) -> task<> {
            std::array<std::byte, 1> byte{};
            static_cast<void>(co_await from.read_some(byte));
        };
        const auto sends = [&order](stream_socket& to, char name) -> task<> {
            const std::array<std::byte, 1> byte{};
            for (int each = 0; each < messages; ++each) {
                CHECK((co_await to.write_some(byte)).ok());
                order += name;
            }
        };
        for (socket_pair& each : pairs) launch(io, reads(each.client), or_terminate{});
        io.poll();

        launch(io, sends(pairs[0].client, 'a'), or_terminate{});
        launch(io, sends(pairs[1].client, 'b'), or_terminate{});
        io.poll();

        CHECK(order == "abababababab");
        pairs = {};
        io.run_for(patience);
    });
}
