// SPDX-License-Identifier: BSL-1.0
//
// Asio's words for ../sessions.hpp, the same for both of its styles: its fastest configuration.
//
// The context gets the concurrency hint that switches locking off wherever one thread does all the
// work. Executors and sockets have their concrete types, so that nothing is type-erased. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/concurrency_hint.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/basic_stream_socket.html
#pragma once

#include <lab/kit/crew.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/sockets.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace asio_lab {

namespace asio = boost::asio;

using error_code = boost::system::error_code;
using executor = asio::io_context::executor_type;
using stream = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;
using acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, executor>;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, executor>;
using work_guard = asio::executor_work_guard<executor>;

/// What several threads run, in the two ways that Asio's documentation names: see
/// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/threads.html
/// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/examples/cpp11_examples.html,
/// HTTP Server 2 and 3.
enum class layout {
    shared,      ///< One context in which all of them call `run`: any thread may run any handler.
    per_thread,  ///< A context for each: no handler ever meets another thread, or needs a lock.
};

struct library {
    using settings = layout;
    using context = asio::io_context;
    using stream = asio_lab::stream;

    static constexpr int alone = BOOST_ASIO_CONCURRENCY_HINT_UNSAFE;
    static constexpr int others_may_post = 1;

    class loop {
    public:
        loop(layout, bool others_post) : context_{others_post ? others_may_post : alone} {}

        library::context& context() { return context_; }
        void run() {
            context_.restart();
            context_.run();
        }
        void poll() {
            context_.restart();
            context_.poll();
        }
        void hold() { guard_.emplace(context_.get_executor()); }
        void release() { guard_.reset(); }
        [[nodiscard]] std::vector<lab::counter> counted() { return {}; }

    private:
        library::context context_;
        std::optional<work_guard> guard_;
    };

    /// Threads and their contexts; between `finish` and `go` no thread is in one.
    template <class Place>
    class team {
    public:
        team(layout how, std::size_t threads, bool others_post = false)
            : contexts_{contexts_for(threads, how, others_post)},
              threads_{threads, [this](std::size_t number) { live(number); }} {}

        /// What thread `number` runs, or the next one if there are fewer threads.
        [[nodiscard]] library::context& context(std::size_t number) noexcept {
            return contexts_[number % contexts_.size()];
        }
        [[nodiscard]] std::size_t queues() const noexcept { return contexts_.size(); }
        [[nodiscard]] library::context& queue(std::size_t number) noexcept {
            return context(number);
        }

        /// Nothing that is posted runs before `go`.
        void hold() {}

        void go() {
            for (library::context& each : contexts_) each.restart();
            threads_.go();
        }

        /// The same, until `finish` even without work.
        void run_and_stay() {
            for (library::context& each : contexts_) guards_.emplace_back(each.get_executor());
            go();
        }

        /// The same, each behind a `job` that may post to what the others run.
        void on_each_thread(std::function<void()> job) {
            job_ = std::move(job);
            posting_.clear();
            for (std::size_t i = 0; i < threads_.size(); ++i) {
                posting_.emplace_back(context(i).get_executor());
            }
            go();
        }

        /// Waits until all that was posted has run.
        void finish() {
            guards_.clear();
            threads_.wait();
        }

        [[nodiscard]] std::vector<lab::counter> counted() { return {}; }

    private:
        static std::deque<library::context> contexts_for(std::size_t threads, layout how,
                                                         bool others_post) {
            const bool one_each = threads == 1 || how == layout::per_thread;
            const int hint = others_post ? others_may_post : alone;
            std::deque<library::context> all;
            for (std::size_t left = how == layout::per_thread ? threads : 1; left > 0; --left) {
                all.emplace_back(one_each ? hint : static_cast<int>(threads));
            }
            return all;
        }

        void live(std::size_t number) {
            if (job_) {
                job_();
                posting_[number].reset();
            }
            context(number).run();
        }

        std::deque<library::context> contexts_;
        std::deque<work_guard> guards_;
        std::function<void()> job_;
        std::deque<work_guard> posting_;

    public:
        std::deque<Place> places;  // Sockets end before their contexts.

    private:
        lab::crew threads_;
    };

    struct stream_pair {
        stream_pair(library::context& on, lab::transport via)
            : stream_pair{on, via, lab::connect_pair(via)} {}

        stream client;
        stream server;

    private:
        stream_pair(library::context& on, lab::transport via, lab::connected_pair sockets)
            : client{on, protocol_of(via), sockets.client.release()},
              server{on, protocol_of(via), sockets.server.release()} {}

        static asio::generic::stream_protocol protocol_of(lab::transport via) {
            return via == lab::transport::tcp ? tcp() : asio::generic::stream_protocol{AF_UNIX, 0};
        }
    };

    /// A listener of `churn`, and where clients find it.
    struct port {
        acceptor listening;
        stream::endpoint_type address;
    };

    [[nodiscard]] static std::deque<port> listen(library::context& on, std::size_t count) {
        std::deque<port> all;
        for (lab::listener& each : lab::listen_on_loopback(count)) {
            const asio::ip::tcp::endpoint address{asio::ip::address_v4::loopback(), each.port()};
            all.push_back({acceptor{on.get_executor(), tcp(), each.socket.release()}, address});
        }
        return all;
    }

    /// A new TCP socket for a client of `churn`.
    static void open(stream& socket) {
        socket.open(tcp());
        socket.set_option(asio::ip::tcp::no_delay{true});
        lab::set_reset_on_close(socket.native_handle());
    }

    static asio::generic::stream_protocol tcp() { return {AF_INET, IPPROTO_TCP}; }
};

[[nodiscard]] inline asio::const_buffer buffer_of(std::span<const std::byte> bytes) noexcept {
    return {bytes.data(), bytes.size()};
}

[[nodiscard]] inline asio::mutable_buffer buffer_of(std::span<std::byte> space) noexcept {
    return {space.data(), space.size()};
}

}  // namespace asio_lab
