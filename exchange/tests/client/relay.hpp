// SPDX-License-Identifier: BSL-1.0
//
// A relay between a client and the exchange that swallows what it is told to, and cuts when it is told to.
//
// So a test decides what was lost with a connection: a command on its way there, or its answer on the way
// back.
#pragma once

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/algorithms.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace exchange::testing {

class relay {
public:
    /// Begins at once. `stop` before this ends, and let the loop run.
    relay(gyre::io_context& on, const gyre::endpoint& to) : on_{on}, to_{to} {
        auto listening = gyre::stream_acceptor::listen(on, {gyre::ipv4::loopback(), 0}, {});
        REQUIRE(listening.ok());
        acceptor_ = listening.take();
        stop_ = gyre::launch(on, accept(), gyre::or_terminate{});
    }

    [[nodiscard]] gyre::endpoint where() const { return acceptor_.local_endpoint().value(); }

    bool swallow_up = false;    ///< What clients send gets lost.
    bool swallow_down = false;  ///< What they are sent gets lost.
    std::size_t swallowed = 0;  ///< Bytes, either way.
    int connections = 0;

    void cut() {
        for (const auto& each : pairs_) each->cut();
        pairs_.clear();
    }
    void stop() {
        stop_.request_stop();
        cut();
    }

private:
    struct pair {
        gyre::stream_socket near;
        gyre::stream_socket far;

        void cut() {
            static_cast<void>(near.shutdown(gyre::shutdown_side::both));
            static_cast<void>(far.shutdown(gyre::shutdown_side::both));
        }
    };

    gyre::task<> accept() {
        for (;;) {
            auto accepted = co_await acceptor_.accept();
            if (!accepted.ok()) co_return;
            auto made = std::make_shared<pair>();
            made->near = accepted.take();
            auto connected = co_await gyre::stream_socket::connect(to_);
            if (!connected.ok()) continue;
            made->far = connected.take();
            ++connections;
            pairs_.push_back(made);
            gyre::launch(on_, carry(made, made->near, made->far, swallow_up), gyre::or_terminate{});
            gyre::launch(on_, carry(made, made->far, made->near, swallow_down),
                         gyre::or_terminate{});
        }
    }

    gyre::task<> carry(std::shared_ptr<pair> of, gyre::stream_socket& from,
                       gyre::stream_socket& into, bool& swallow) {
        std::array<std::byte, 4096> space;
        for (;;) {
            const auto got = co_await from.read_some(gyre::mutable_buffer{space});
            if (!got.ok()) break;
            if (swallow) {
                swallowed += got.value();
                continue;
            }
            const auto put = co_await gyre::write_all(
                into, gyre::const_buffer{std::span{space}.first(got.value())});
            if (!put.ok()) break;
        }
        of->cut();
    }

    gyre::io_context& on_;
    gyre::endpoint to_;
    gyre::stream_acceptor acceptor_;
    gyre::stop_handle stop_;
    std::vector<std::shared_ptr<pair>> pairs_;
};

}  // namespace exchange::testing
