// SPDX-License-Identifier: BSL-1.0
//
// A turn that has received much leaves the rest of its harvest to the next.
#include <gyre/coro/launch.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <support/harness.hpp>

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr std::size_t message_size = 64 * 1024;
constexpr std::size_t pair_count = 16;

// More than a turn delivers: it goes on until it has received more than what stays warm.
constexpr std::size_t delivered_max = loop_backend::received_bytes_warm / message_size + 1;
static_assert(delivered_max < pair_count / 2);

/// Many readers who have had a message each, as small ones are received otherwise on io_uring, and wait; then
/// one more for each of them at once.
class readers {
public:
    explicit readers(const io_context_options& options) : io{options} {
        for (std::size_t i = 0; i < pair_count; ++i) pairs_.emplace_back(local_pair(io));
        for (int message = 0; message < 2; ++message) {
            for (std::size_t i = 0; i < pair_count; ++i) launch(io, read(i), or_terminate{});
            while (!waiting()) io.poll();
            if (message > 0) break;
            send_to_all();
            io.run();
            seen = 0;
        }
    }

    void send_to_all() {
        const std::vector<std::byte> message(message_size);
        for (const std::optional<socket_pair>& each : pairs_) {
            REQUIRE(::send(each->client.native_handle(), message.data(), message.size(),
                           MSG_DONTWAIT) == static_cast<ssize_t>(message.size()));
        }
    }

    /// How many sockets have been emptied whose reader has not run.
    [[nodiscard]] std::size_t received_unseen() const {
        std::size_t emptied = 0;
        for (const std::optional<socket_pair>& each : pairs_) {
            int left = 0;
            if (each) REQUIRE(::ioctl(each->server.native_handle(), FIONREAD, &left) == 0);
            emptied += each && left == 0 ? 1U : 0U;
        }
        return emptied - seen;
    }

    void close(std::size_t which) { pairs_[which].reset(); }

    io_context io;
    std::size_t seen = 0;
    std::size_t failed = 0;
    std::function<void()> on_seen = [] {};

private:
    // All of them, and nothing else is to be done.
    [[nodiscard]] bool waiting() { return io.next_deadline() == never; }

    task<> read(std::size_t which) {
        std::vector<std::byte> space(message_size);
        const auto got = co_await pairs_[which]->server.read_some(std::span{space});
        if (!got.ok()) {
            ++failed;
            co_return;
        }
        on_seen();
        CHECK(got.value() == message_size);
        ++seen;
    }

    std::vector<std::optional<socket_pair>> pairs_;
};

}  // namespace

TEST_CASE("much that arrives at once is seen while it is warm") {
    with_every_backend([](const io_context_options& options) {
        readers all{options};
        std::size_t unseen_max = 0;
        all.on_seen = [&] { unseen_max = std::max(unseen_max, all.received_unseen()); };

        all.send_to_all();
        all.io.run();

        CHECK(all.seen == pair_count);
        CHECK(unseen_max == delivered_max);
    });
}

TEST_CASE("what a turn has left is due, though nothing announces it") {
    with_every_backend([](const io_context_options& options) {
        readers all{options};
        all.send_to_all();

        all.io.run_one();
        while (all.io.next_deadline() != never) all.io.run_one();

        CHECK(all.seen == pair_count);
    });
}

TEST_CASE(
    "a socket that is closed before its turn comes is left out, though its number is taken again") {
    with_every_backend([](const io_context_options& options) {
        readers all{options};
        std::vector<socket_pair> newcomers;
        all.on_seen = [&] {
            if (all.seen > 0) return;
            for (std::size_t i = pair_count / 2; i < pair_count; ++i) all.close(i);
            while (newcomers.size() < pair_count / 2) newcomers.push_back(local_pair(all.io));
        };

        all.send_to_all();
        all.io.run();

        // On io_uring a close waits for results, and takes in some of those that were left.
        CHECK(all.seen + all.failed == pair_count);
        CHECK(all.seen >= pair_count / 2);
        CHECK(all.failed > 0);
    });
}
