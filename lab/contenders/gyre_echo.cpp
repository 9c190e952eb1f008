// SPDX-License-Identifier: BSL-1.0
//
// The echo server as gyre's users write it, in both of the ways in which they may read.
//
// A buffer per connection is the plain way. A lease is a block that the loop lends for as long as a message
// is being sent back: silent connections hold none, and few blocks serve all (docs/decisions/0007-leases.md).
#include <lab/contenders/gyre_counters.hpp>
#include <lab/contenders/gyre_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/stream/algorithms.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace {

using gyre::stream_socket;
using gyre::task;
using gyre_lab::echo_reads;

task<> echo(stream_socket peer, std::size_t buffer_bytes) {
    std::vector<std::byte> space(buffer_bytes);
    for (;;) {
        const auto got = co_await peer.read_some(std::span{space});
        if (!got.ok()) co_return;
        const auto sent = co_await gyre::write_all(peer, std::span{space}.first(got.value()));
        lab::require(sent.ok(), "gyre: an echo failed");
    }
}

task<> echo_leased(stream_socket peer) {
    for (;;) {
        auto got = co_await peer.read();
        if (!got.ok()) co_return;
        const gyre::buffer_lease message = got.take();
        const auto sent = co_await gyre::write_all(peer, message.bytes());
        lab::require(sent.ok(), "gyre: an echo failed");
    }
}

task<> echo(stream_socket peer, std::size_t buffer_bytes, echo_reads how) {
    return how == echo_reads::leased ? echo_leased(std::move(peer))
                                     : echo(std::move(peer), buffer_bytes);
}

// `work` is borrowed: it outlives the run of the loop.
task<> accept_all(gyre::io_context& loop, gyre::tcp_acceptor acceptor, const lab::echo_case& work,
                  echo_reads how) {
    for (std::size_t count = 0; count < work.connections; ++count) {
        auto accepted = co_await acceptor.accept();
        lab::require(accepted.ok(), "gyre: accept");
        stream_socket peer = accepted.take();
        lab::require(peer.set_option(gyre::no_delay{{true}}).ok(), "gyre: no_delay");
        launch(loop, echo(std::move(peer), work.buffer_bytes, how), gyre::or_terminate{});
    }
}

// A connection stays with one loop of the pool. They are accepted in turns before anybody may send, so that
// it is known how many each has.
std::vector<lab::counter> serve_on_threads(const gyre::io_context_options& loop, echo_reads how,
                                           const lab::echo_case& work,
                                           const lab::descriptor& listener) {
    gyre::io_pool_options options;
    options.threads = static_cast<unsigned>(work.threads);
    options.loop = loop;
    gyre::io_pool pool{options};
    for (std::size_t i = 0; i < work.connections; ++i) {
        gyre::io_context& on = pool[i % pool.size()];
        stream_socket peer = stream_socket::adopt(on, lab::accept_connection(listener).release());
        launch(on, echo(std::move(peer), work.buffer_bytes, how), gyre::or_terminate{});
    }
    pool.wait();
    return gyre_lab::counted_between({}, gyre_lab::figures_of(pool));
}

}  // namespace

std::vector<lab::counter> gyre_lab::serve_echo(const gyre::io_context_options& options,
                                               echo_reads how, const lab::echo_case& work,
                                               lab::descriptor listener) {
    gyre::io_context_options with_blocks = options;
    with_blocks.receive_block_size = work.buffer_bytes;  // As large as everybody's buffers.
    if (work.threads > 1) return serve_on_threads(with_blocks, how, work, listener);

    gyre::io_context loop{with_blocks};
    launch(loop, accept_all(loop, gyre::tcp_acceptor::adopt(loop, listener.release()), work, how),
           gyre::or_terminate{});
    loop.run();
    return counted_between({}, figures_of(loop));
}
