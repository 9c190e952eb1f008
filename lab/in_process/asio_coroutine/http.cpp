// SPDX-License-Identifier: BSL-1.0
//
// Requests and responses with coroutines. A coroutine is one chain of handlers, so connections need no
// strand even where any thread may run any handler.
#include <lab/in_process/asio/sessions.hpp>
#include <lab/in_process/asio_coroutine/spawn.hpp>

#include <cstdint>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::task;

class http_connection {
public:
    explicit http_connection(asio::io_context& context)
        : context_{context}, sockets_{context, lab::transport::tcp} {}

    void begin(std::uint64_t requests, lab::histogram& latency) {
        asio_lab::spawn(context_, answer(requests));
        asio_lab::spawn(context_, ask(requests, latency));
    }

private:
    task ask(std::uint64_t requests, lab::histogram& latency) {
        auto& client = sockets_.client;
        lab::lap_timer timer{latency};
        for (std::uint64_t request = 0; request < requests; ++request) {
            for (auto left = lab::bytes_of(lab::http_request); !left.empty();) {
                const std::size_t size =
                    co_await client.async_write_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
            for (bool complete = false; !complete;) {
                const auto space = responses_.space();
                const std::size_t size =
                    co_await client.async_read_some(buffer_of(space), asio::deferred);
                complete = responses_.received(size);
            }
            timer.lap();
        }
    }

    task answer(std::uint64_t requests) {
        auto& server = sockets_.server;
        for (std::uint64_t request = 0; request < requests; ++request) {
            for (bool complete = false; !complete;) {
                const auto space = requests_.space();
                const std::size_t size =
                    co_await server.async_read_some(buffer_of(space), asio::deferred);
                complete = requests_.received(size);
            }
            for (auto left = lab::bytes_of(lab::http_response); !left.empty();) {
                const std::size_t size =
                    co_await server.async_write_some(buffer_of(left), asio::deferred);
                left = left.subspan(size);
            }
        }
    }

    asio::io_context& context_;
    asio_lab::stream_pair sockets_;
    lab::http_inbox requests_{lab::http_request};
    lab::http_inbox responses_{lab::http_response};
};

}  // namespace

lab::preparation asio_lab::prepare(layout, const lab::http_case& work) {
    return lab::prepared<rounds_session<http_connection>>(work.connections);
}

lab::preparation asio_lab::prepare(layout how, const lab::threads_http_case& work) {
    return lab::prepared<threads_rounds_session<http_connection>>(how, work.threads,
                                                                  work.connections);
}
