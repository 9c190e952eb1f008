// SPDX-License-Identifier: BSL-1.0
//
// Everything that a loop can have under way, at once.
#pragma once

#include <gyre/io/acceptor.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <span>
#include <string>
#include <vector>

namespace gyre::testing {

/// Operations of every kind that are pending while the kernel changes its mind, and what comes of them.
class pending_work {
public:
    static constexpr std::size_t readers = 8;
    static constexpr duration a_moment = std::chrono::milliseconds{1};

    pending_work(io_context& io, child_process& me) : io_{io}, me_{me} {
        for (socket_pair& each : pairs_) each = connected_pair(io);
        scattered_ = local_pair(io);
        waited_for_ = local_pair(io);
        echoing_ = connected_pair(io);
        stuck_ = local_pair(io);
        acceptor_ = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        much_.resize(2 << 20);
        for (std::size_t at = 0; at < much_.size(); ++at) {
            much_[at] = static_cast<std::byte>(at * 31 + at / 257);
        }
    }

    /// Has everything pending, calls `change`, and then makes everything complete.
    task<> run(const std::function<void()>& change) {
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t each = 0; each < readers; ++each) {
                group.spawn(read_from(each));
                group.spawn(lease_from(each));
            }
            group.spawn(read_scattered());
            group.spawn(accept_one());
            group.spawn(wait_until_readable());
            group.spawn(sleep_long_enough());
            group.spawn(echo());
            group.spawn(converse());
            group.spawn(write_much());
            group.spawn(call_a_worker());
            while (round_trips_ < 100) static_cast<void>(co_await sleep_for(a_moment));

            begun_.count_down();
            tell(0);  // Arrives before; its completion may not have been seen.
            change();
            tell(1);  // Arrives before the loop has noticed.
            const int trips = round_trips_;
            while (round_trips_ < trips + 100) static_cast<void>(co_await sleep_for(a_moment));

            for (std::size_t each = 2; each < readers; ++each) tell(each);
            put(scattered_.server, "both parts");
            put(waited_for_.server, "!");
            static_cast<void>(co_await stream_socket::connect(acceptor_.local_endpoint().value()));
            co_await read_much();
            conversation_over_ = true;
        };
        co_await with_group(body);
    }

    /// Tells the parent of what did not.
    void check_everything_came() const {
        for (std::size_t each = 0; each < readers; ++each) {
            me_.check(
                read_[each] == std::to_string(each),
                "read " + std::to_string(each) + " gets its byte, not \"" + read_[each] + '"');
            me_.check(leased_[each] == std::to_string(each), "leased read " + std::to_string(each) +
                                                                 " gets its byte, not \"" +
                                                                 leased_[each] + '"');
        }
        me_.check(scattered_text_ == "both parts", "the scattered read gets all of its text");
        me_.check(accepted_, "the accept gets its connection");
        me_.check(readable_, "the wait for input ends");
        me_.check(slept_, "the sleep ends, and not early");
        me_.check(conversation_intact_, "the conversation goes on byte for byte");
        me_.check(written_ == much_.size() && received_ == much_,
                  "the long write arrives as it is");
        me_.check(called_, "the call on a worker comes back");
    }

private:
    void tell(std::size_t which) {
        put(pairs_[which].server, std::to_string(which));
        put(pairs_[which].client, std::to_string(which));
    }
    task<> lease_from(std::size_t which) {
        io_result<buffer_lease> got = co_await pairs_[which].server.read();
        leased_[which] =
            got.ok() ? std::string{text_of(got.take().bytes())} : got.error().message();
    }
    task<> read_from(std::size_t which) {
        std::array<std::byte, 16> space{};
        const io_result<std::size_t> got = co_await pairs_[which].client.read_some(space);
        read_[which] = got.ok() ? std::string{text_of(const_buffer{space}.first(got.value()))}
                                : got.error().message();
    }
    task<> read_scattered() {
        std::array<std::byte, 4> first{};
        std::array<std::byte, 16> second{};
        const std::array<mutable_buffer, 2> into{first, second};
        const io_result<std::size_t> got =
            co_await scattered_.client.read_some(mutable_buffers{into});
        if (got.value() < first.size()) co_return;
        scattered_text_ = text_of(first);
        scattered_text_ += text_of(const_buffer{second}.first(got.value() - first.size()));
    }
    task<> accept_one() {
        const io_result<stream_socket> taken = co_await acceptor_.accept();
        accepted_ = taken.ok();
    }
    task<> wait_until_readable() {
        const io_result<> ready = co_await waited_for_.client.wait(readiness::readable);
        readable_ = ready.ok();
    }
    task<> sleep_long_enough() {
        const time_point start = io_.now();  // What a sleep is counted from.
        const io_result<> slept = co_await sleep_for(std::chrono::milliseconds{150});
        slept_ = slept.ok() &&
                 std::chrono::steady_clock::now() - start >= std::chrono::milliseconds{150};
    }
    task<> echo() {
        std::array<std::byte, 64> space{};
        for (;;) {
            const io_result<std::size_t> got = co_await echoing_.server.read_some(space);
            if (!got.ok()) co_return;
            static_cast<void>(
                co_await write_all(echoing_.server, const_buffer{space}.first(got.value())));
        }
    }
    task<> converse() {
        std::array<std::byte, 4> answer{};
        while (!conversation_over_) {
            const int question = round_trips_;
            const const_buffer asked = std::as_bytes(std::span{&question, 1});
            const io_result<std::size_t> sent = co_await write_all(echoing_.client, asked);
            const io_result<std::size_t> got = co_await read_exactly(echoing_.client, answer);
            if (!sent.ok() || !got.ok() || !std::ranges::equal(asked, answer)) {
                conversation_intact_ = false;
                break;
            }
            ++round_trips_;
        }
        static_cast<void>(echoing_.client.close());
    }
    task<> write_much() {
        const io_result<std::size_t> sent = co_await write_all(stuck_.client, much_);
        written_ = sent.value();
        static_cast<void>(stuck_.client.close());
    }
    task<> read_much() {
        std::vector<std::byte> space(64 * 1024);
        for (;;) {
            const io_result<std::size_t> got = co_await stuck_.server.read_some(space);
            if (!got.ok()) co_return;
            const auto end = space.begin() + static_cast<std::ptrdiff_t>(got.value());
            received_.insert(received_.end(), space.begin(), end);
        }
    }
    task<> call_a_worker() {
        const auto wait_a_while = [this] {
            // On its own thread, until the loop has met the change.
            begun_.wait();
            return 1;
        };
        const io_result<int> called = co_await blocking(wait_a_while);
        called_ = called.ok() && called.value() == 1;
    }

    io_context& io_;
    child_process& me_;
    std::array<socket_pair, readers> pairs_;
    socket_pair scattered_;
    socket_pair waited_for_;
    socket_pair echoing_;
    socket_pair stuck_;
    tcp_acceptor acceptor_;
    std::vector<std::byte> much_;

    std::array<std::string, readers> read_;
    std::array<std::string, readers> leased_;
    std::string scattered_text_;
    bool accepted_ = false;
    bool readable_ = false;
    bool slept_ = false;
    bool called_ = false;
    bool conversation_over_ = false;
    bool conversation_intact_ = true;
    int round_trips_ = 0;
    std::size_t written_ = 0;
    std::vector<std::byte> received_;
    std::latch begun_{1};
};

}  // namespace gyre::testing
