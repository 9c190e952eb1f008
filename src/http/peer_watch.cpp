// SPDX-License-Identifier: BSL-1.0
#include <http/peer_watch.hpp>

#include <gyre/sync/sleep.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace gyre::http {
namespace {

constexpr std::size_t piece_bytes = 128;  // A frame's; requests ahead of their turn are rare.

// One read past the body's own reader, who may wait for it.
task<io_result<>> read_ahead(connection_io& io, std::size_t room) {
    std::array<std::byte, piece_bytes> space;
    io.ahead_done.reset();
    const io_result<std::size_t> got =
        co_await io.stream.read_some(mutable_buffer{space}.first(std::min(room, space.size())));
    io.in.append(const_buffer{space}.first(got.value()));
    if (!got.ok() && got.error() != errc::canceled) io.ended = got.error();
    io.ahead_done.set();
    co_return got.error();
}

}  // namespace

task<io_result<>> watch_peer(connection_io& io, framed_source& body, bool half_close) {
    io_result<> waited = co_await sleep_for(watch_begins_after);
    while (waited.ok() && !io.ended) {
        const std::size_t ahead_max = io.bounds().in.bytes_first;
        const std::size_t room = ahead_max - std::min(ahead_max, io.in.size());
        if (room == 0 && body.over.is_set()) co_return io_result<>{};
        if (room == 0 || body.reading()) {
            waited = co_await body.over.wait();
        } else {
            waited = co_await read_ahead(io, room);
        }
    }
    if (waited.error() == errc::canceled) co_return waited;
    if (io.ended == errc::eof && body.is_at_hand() && half_close) co_return io_result<>{};
    co_return error{errc::connection_reset, activity::read};
}

}  // namespace gyre::http
