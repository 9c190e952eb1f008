// SPDX-License-Identifier: BSL-1.0
//
// Streams with coroutines: each direction is two of them.
#include <lab/in_process/asio/sessions.hpp>
#include <lab/in_process/asio_coroutine/spawn.hpp>

#include <cstddef>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::task;

struct direction {
    void begin() {
        asio_lab::spawn(context, write());
        asio_lab::spawn(context, read());
    }

    task write() {
        auto next = outgoing.next();
        while (!next.empty()) {
            const std::size_t size =
                co_await from.async_write_some(buffer_of(next), asio::deferred);
            outgoing.sent(size);
            next = outgoing.next();
        }
    }

    task read() {
        auto space = incoming.space();
        while (!space.empty()) {
            const std::size_t size = co_await to.async_read_some(buffer_of(space), asio::deferred);
            incoming.received(size);
            space = incoming.space();
        }
    }

    asio::io_context& context;
    asio_lab::stream& from;
    asio_lab::stream& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

}  // namespace

lab::preparation asio_lab::prepare(layout, const lab::throughput_case& work) {
    return lab::prepared<throughput_session<direction>>(work);
}

lab::preparation asio_lab::prepare(layout how, const lab::threads_throughput_case& work) {
    return prepare_pairs<direction>(how, work);
}
