// SPDX-License-Identifier: BSL-1.0
//
// gyre's words for ../sessions.hpp and ../coroutines.hpp: as its users write it, with nothing that is
// private to the library.
#pragma once

#include <lab/kit/fail.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/sockets.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gyre_lab {

/// The counters that tell why a row is as it is.
[[nodiscard]] std::vector<lab::counter> counted_by(gyre::io_context& loop);
[[nodiscard]] std::vector<lab::counter> counted_by(gyre::io_pool& pool);

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

    /// An io_pool, whose threads always run. A place stays with one loop.
    template <class Place>
    class team {
    public:
        team(const settings& how, std::size_t threads) : pool{options_of(how, threads)} {}

        library::context& context(std::size_t number) { return pool[number % pool.size()]; }
        void go() {}
        void finish() { pool.wait(); }
        [[nodiscard]] std::vector<lab::counter> counted() { return counted_by(pool); }

        // They outlive the pool: a socket that no loop is using any more may be closed on any thread.
        std::deque<Place> places;
        gyre::io_pool pool;

    private:
        static gyre::io_pool_options options_of(const settings& how, std::size_t threads) {
            gyre::io_pool_options wanted;
            wanted.threads = static_cast<unsigned>(threads);
            wanted.loop = how;
            return wanted;
        }
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
};

lab::preparation prepare(const library::settings& how, const lab::dispatch_case& work);
lab::preparation prepare(const library::settings& how, const lab::shared_dispatch_case& work);
lab::preparation prepare(const library::settings& how, const lab::timers_case& work);
lab::preparation prepare(const library::settings& how, const lab::fan_out_case& work);

}  // namespace gyre_lab
