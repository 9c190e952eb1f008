// SPDX-License-Identifier: BSL-1.0
//
// Streams with handlers: each direction is two independent chains.
#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>

namespace {

using asio_lab::buffer_of;
using asio_lab::error_code;

struct direction {
    void begin() {
        write();
        read();
    }

    void write() {
        const auto next = outgoing.next();
        if (next.empty()) return;

        from.async_write_some(buffer_of(next), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: write");
            outgoing.sent(size);
            write();
        });
    }

    void read() {
        const auto space = incoming.space();
        if (space.empty()) return;

        to.async_read_some(buffer_of(space), [this](error_code error, std::size_t size) {
            lab::require(!error, "asio: read");
            incoming.received(size);
            read();
        });
    }

    boost::asio::io_context& context;
    asio_lab::stream& from;
    asio_lab::stream& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::throughput_case& work) {
    return lab::prepared<lab::throughput_session<library, direction>>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::threads_throughput_case& work) {
    if (how == layout::shared) return pairs_need_a_strand();
    return lab::prepared<lab::threads_throughput_session<library, direction>>(how, work);
}
