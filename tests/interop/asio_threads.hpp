// SPDX-License-Identifier: BSL-1.0
//
// The two ways in which an Asio context and a gyre loop share a program, for tests that must hold in both.
#pragma once

#include <gyre/interop/asio.hpp>
#include <support/harness.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <string>
#include <thread>
#include <utility>

namespace gyre::testing {

namespace asio = boost::asio;

/// An Asio context that a thread of its own runs.
class asio_thread {
public:
    asio_thread() : thread_{[this] { context.run(); }} {}
    asio_thread(const asio_thread&) = delete;
    asio_thread& operator=(const asio_thread&) = delete;
    ~asio_thread() {
        work_.reset();
        context.stop();
        thread_.join();
    }

    asio::io_context context;

private:
    asio::executor_work_guard<asio::io_context::executor_type> work_{context.get_executor()};
    std::thread thread_;
};

/// Runs `body(context)`, which returns task<>, on a loop in the Asio context's own thread, and on a loop
/// whose Asio context another thread runs; both on every backend.
template <class Body>
void beside_asio(const Body& body) {
    with_every_backend([&](const io_context_options& options) {
        INFO("Asio on the same thread");
        asio::io_context host;
        io_context loop{options};
        bool ended = false;
        {
            asio_guest guest{host, loop};
            launch(loop, body(host), [&](task_outcome<void> outcome) {
                outcome.get();
                ended = true;
            });
            host.run_for(patience);
            INFO("pending:\n", dump_tasks(loop));
            CHECK(ended);
        }
    });
    with_every_backend([&](const io_context_options& options) {
        INFO("Asio on another thread");
        asio_thread there;
        io_context loop{options};
        bool ended = false;
        launch(loop, body(there.context), [&](task_outcome<void> outcome) {
            outcome.get();
            ended = true;
        });
        loop.run_for(patience);
        INFO("pending:\n", dump_tasks(loop));
        CHECK(ended);
    });
}

/// Two ends of one connection.
struct asio_pair {
    explicit asio_pair(asio::io_context& context) : near{context}, far{context} {
        asio::ip::tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
        near.connect(acceptor.local_endpoint());
        acceptor.accept(far);
    }
    asio::ip::tcp::socket near;
    asio::ip::tcp::socket far;
};

}  // namespace gyre::testing
