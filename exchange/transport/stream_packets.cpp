// SPDX-License-Identifier: BSL-1.0
//
// Packets out of and into a stream: see stream_packets.hpp.
#include <exchange/transport/stream_packets.hpp>

namespace exchange {

gyre::task<gyre::io_result<packet_batch>> stream_packets::receive() {
    packets_.clear();
    for (;;) {
        soup_framed framed = framer_.next();
        for (; framed.complete; framed = framer_.next()) packets_.push_back(framed.packet);
        if (!packets_.empty() || framed.ending != soup_ending::none)
            co_return gyre::io_result<packet_batch>{packet_batch{packets_, framed.ending}};
        const gyre::io_result<std::size_t> got = co_await on_.read_some(framer_.space());
        if (!got.ok()) co_return got.error();
        framer_.received(got.value());
    }
}

gyre::task<gyre::io_result<std::size_t>> stream_packets::send(std::span<const std::byte> packets) {
    const gyre::io_result<std::size_t> sent = co_await on_.write_some(gyre::const_buffer{packets});
    co_return sent;
}

gyre::task<> stream_packets::end(soup_ending) {
    static_cast<void>(on_.shutdown_send());
    for (;;) {
        framer_.reset();
        const gyre::io_result<std::size_t> got = co_await on_.read_some(framer_.space());
        if (!got.ok()) co_return;
    }
}

}  // namespace exchange
