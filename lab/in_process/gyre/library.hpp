// SPDX-License-Identifier: BSL-1.0
//
// gyre's words for ../sessions.hpp, ../coroutines.hpp and ../coroutine_timers.hpp: as its users write it,
// with nothing that is private to the library.
#pragma once

#include <lab/kit/fail.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/sockets.hpp>
#include <lab/kit/timer_load.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_any.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace gyre_lab {

/// The counters that tell why a row is as it is.
[[nodiscard]] std::vector<lab::counter> counted_by(gyre::io_context& loop);
[[nodiscard]] std::vector<lab::counter> counted_by(gyre::io_pool& pool);

/// Keeps every loop of a pool busy, so that nothing that is posted runs.
class held_pool {
public:
    explicit held_pool(gyre::io_pool& pool) : holding_{static_cast<std::ptrdiff_t>(pool.size())} {
        for (std::size_t each = 0; each < pool.size(); ++each) {
            pool[each].post([this] {
                holding_.count_down();
                released_.wait();
            });
        }
        holding_.wait();
    }

    void release() { released_.count_down(); }

private:
    std::latch holding_;
    std::latch released_{1};
};

[[noreturn]] inline void fail_on_fire(gyre::timer&) noexcept { lab::fail("gyre: a timer fired"); }

// A wait that must not fail.
template <class Awaiter>
class surely {
public:
    explicit surely(Awaiter it) noexcept : it_{std::move(it)} {}

    [[nodiscard]] bool await_ready() const noexcept { return it_.await_ready(); }
    auto await_suspend(std::coroutine_handle<> handle, const gyre::environment* given) noexcept {
        return it_.await_suspend(handle, given);
    }
    void await_resume() { lab::require(it_.await_resume().ok(), "gyre: a wait failed"); }

private:
    Awaiter it_;
};

struct library {
    using settings = gyre::io_context_options;
    using context = gyre::io_context;
    using task = gyre::task<>;
    using stream = gyre::stream_socket;

    /// A loop is always for others to post to.
    class loop {
    public:
        loop(const settings& how, bool) : context_{how} {}

        library::context& context() { return context_; }
        void run() { context_.run(); }
        void poll() { context_.poll(); }
        void hold() { guard_.emplace(context_); }
        void release() { guard_.reset(); }
        [[nodiscard]] std::vector<lab::counter> counted() { return counted_by(context_); }

    private:
        library::context context_;
        std::optional<library::context::work_guard> guard_;
    };

    /// An io_pool, whose threads always run: any of them may run what is posted to it. A place stays with
    /// one loop.
    template <class Place>
    class team {
    public:
        team(const settings& how, std::size_t threads, bool = false)
            : pool_{options_of(how, threads)} {}

        library::context& context(std::size_t number) { return pool_[number % pool_.size()]; }
        [[nodiscard]] static std::size_t queues() noexcept { return 1; }
        gyre::io_pool& queue(std::size_t) { return pool_; }

        /// From now on nothing that is posted runs, until `go`.
        void hold() { held_.emplace(pool_); }
        void go() {
            if (held_) held_->release();
        }
        void run_and_stay() {}
        template <class Job>
        void on_each_thread(Job job) {
            for (std::size_t each = 0; each < pool_.size(); ++each) pool_[each].post(job);
        }
        void finish() { pool_.wait(); }
        [[nodiscard]] std::vector<lab::counter> counted() { return counted_by(pool_); }

        // They outlive the pool: a socket that no loop is using any more may be closed on any thread.
        std::deque<Place> places;

    private:
        static gyre::io_pool_options options_of(const settings& how, std::size_t threads) {
            gyre::io_pool_options wanted;
            wanted.threads = static_cast<unsigned>(threads);
            wanted.loop = how;
            return wanted;
        }

        gyre::io_pool pool_;
        std::optional<held_pool> held_;
    };

    struct stream_pair {
        stream_pair(library::context& loop, lab::transport via)
            : stream_pair{loop, lab::connect_pair(via)} {}
        stream_pair(library::context& loop, lab::connected_pair pair)
            : client{stream::adopt(loop, pair.client.release())},
              server{stream::adopt(loop, pair.server.release())} {}

        stream client;
        stream server;
    };

    static void spawn(library::context& on, task it) {
        launch(on, std::move(it), gyre::or_terminate{});
    }

    static auto write_some(stream& to, std::span<const std::byte> bytes) {
        return to.write_some(bytes);
    }
    static auto read_some(stream& from, std::span<std::byte> space) {
        return from.read_some(space);
    }
    static std::size_t moved(const gyre::io_result<std::size_t>& result) {
        lab::require(result.ok(), "gyre: a read or a write failed");
        return result.value();
    }

    static auto read_to_end(stream& from, std::span<std::byte> space) {
        return from.read_some(space);
    }
    static bool is_end(const gyre::io_result<std::size_t>& result) {
        return result.error() == gyre::errc::eof;
    }

    static void close(stream& socket) { lab::require(socket.close().ok(), "gyre: close"); }

    struct port {
        gyre::tcp_acceptor acceptor;
        gyre::endpoint address;
    };

    static std::deque<port> listen(library::context& loop, std::size_t count) {
        std::deque<port> all;
        for (lab::listener& each : lab::listen_on_loopback(count)) {
            all.push_back({gyre::tcp_acceptor::adopt(loop, each.socket.release()),
                           gyre::endpoint{gyre::ipv4::loopback(), each.port()}});
        }
        return all;
    }

    static auto accept(port& at) { return at.acceptor.accept(); }
    static stream accepted(gyre::io_result<stream>& result) {
        lab::require(result.ok(), "gyre: accept");
        return result.take();
    }

    class connecting {
    public:
        connecting(library::context&, const port& at) : address_{at.address} {}

        auto connect() { return stream::connect(address_); }

        stream& take(gyre::io_result<stream> result) {
            lab::require(result.ok(), "gyre: connect");
            client_.emplace(result.take());
            lab::set_reset_on_close(client_->native_handle());
            return *client_;
        }

    private:
        gyre::endpoint address_;
        std::optional<stream> client_;
    };

    // All parameters of coroutines are borrowed: they outlive the run of the loop.

    // A sleep that something else cuts short. The same work as Asio's wait, cancel and handler: the
    // sleep is armed and has a coroutine suspended on it when the second branch ends, as the event is set;
    // that disarms the timer, and what waited for it is resumed by the loop with `errc::canceled`.
    static task cancel_waited(library::context&, std::uint64_t count, std::uint64_t& done) {
        gyre::event woken;
        woken.set();
        for (; done < count; ++done) {
            const auto ended =
                co_await gyre::when_any(gyre::sleep_for(lab::far_away), woken.wait());
            lab::require(ended.winner == 1, "gyre: the sleep was over before it was cancelled");
            lab::require(std::get<0>(ended.results).error() == gyre::errc::canceled,
                         "gyre: the sleeper was not told");
        }
    }

    // A coroutine only because timers are armed on the loop's thread; it never waits. The clock is read each
    // time, as Asio's `expires_after` does it: the loop's own time would be less work.
    static task cancel_unwaited(library::context& loop, std::uint64_t count, std::uint64_t& done) {
        gyre::timer it{&fail_on_fire};
        for (; done < count; ++done) {
            loop.arm(it, std::chrono::steady_clock::now() + lab::far_away);
            loop.disarm(it);
        }
        co_return;
    }

    struct alarm {
        explicit alarm(library::context&) {}

        static auto sleep_for(gyre::duration delay) { return surely{gyre::sleep_for(delay)}; }
        static auto sleep_until(gyre::time_point end) { return surely{gyre::sleep_until(end)}; }
    };

    class gate {
    public:
        explicit gate(library::context& loop) : loop_{loop} {}

        void close() { opened_.reset(); }
        void open() {
            loop_.post([this] { opened_.set(); });
        }
        auto wait() { return surely{opened_.wait()}; }

    private:
        library::context& loop_;
        gyre::event opened_;
    };

    /// What everybody waits for on one loop.
    class signal {
    public:
        explicit signal(library::context&) {}

        void close() { opened_.reset(); }
        void open() { opened_.set(); }
        auto wait() { return surely{opened_.wait()}; }

    private:
        gyre::event opened_;
    };

    struct storage : gyre::file {
        storage(library::context& loop, int number) : file{adopt(loop, number)} {}
    };
    using file_stream = storage;

    static auto read_at(storage& from, std::uint64_t offset, std::span<std::byte> space) {
        return from.read_some_at(offset, space);
    }
    static auto write_at(storage& to, std::uint64_t offset, std::span<const std::byte> bytes) {
        return to.write_some_at(offset, bytes);
    }
    static auto write_durably_at(storage& to, std::uint64_t offset,
                                 std::span<const std::byte> bytes) {
        return to.write_durably_at(offset, bytes);
    }
    static auto write_some(storage& to, std::span<const std::byte> bytes) {
        return to.write_some(bytes);
    }
    static auto read_some(storage& from, std::span<std::byte> space) {
        return from.read_some(space);
    }
    static auto sync(storage& it) { return it.sync_data(); }
    static void expect_synced(const gyre::io_result<>& result) {
        lab::require(result.ok(), "gyre: fdatasync");
    }
    static int number_of(const storage& it) { return it.native_handle(); }

    class timeouts {
    public:
        timeouts(library::context& loop, std::size_t count)
            : loop_{loop}, all_(count, gyre::timer{&fail_on_fire}) {}

        void arm(std::size_t which, gyre::duration delay) {
            loop_.arm(all_[which], loop_.read_clock() + delay);
        }
        void disarm(std::size_t which) { loop_.disarm(all_[which]); }
        void leave_armed() {}  // They keep no loop running.

    private:
        library::context& loop_;
        std::vector<gyre::timer> all_;
    };

    static auto yield(library::context&) { return gyre::yield(); }
};

}  // namespace gyre_lab
