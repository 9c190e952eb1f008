// SPDX-License-Identifier: BSL-1.0
//
// How a connection begins and ends; receiving and sending are in sources of their own.
#include <gyre/websocket/connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/connection_io.hpp>

#include <algorithm>
#include <limits>

namespace gyre::websocket {

namespace {

// A frame between those of a message that fills its limit: its header and, of a control frame, its payload.
constexpr std::size_t slack_bytes = 512;
constexpr std::size_t read_bytes_min = 256;

std::size_t as_size(std::uint64_t limit) noexcept {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(limit, std::numeric_limits<std::size_t>::max() / 4));
}

// A compressed message is no larger than that in memory while it is inflated, but for a little.
buffer_bounds receive_bounds(const connection_options& options) noexcept {
    expects(options.read_bytes_first >= read_bytes_min, "a connection reads 256 bytes at least");
    const std::size_t most = as_size(options.limits.message_bytes_max) + slack_bytes;
    return {options.read_bytes_first, std::max(most, options.read_bytes_first)};
}

buffer_bounds inflated_bounds(const connection_options& options) noexcept {
    return {0, as_size(options.limits.message_bytes_max) + 1};
}

buffer_bounds any_size() noexcept { return {0, std::numeric_limits<std::size_t>::max() / 4}; }

masking_keys keys_of(role we, const connection_options& options) {
    if (options.masking_seed) return masking_keys{*options.masking_seed};
    return we == role::client ? masking_keys::random() : masking_keys{masking_keys::seed{}};
}

frame_parser::deflate deflate_of(const agreement& agreed) noexcept {
    return agreed.deflate ? frame_parser::deflate::agreed : frame_parser::deflate::refused;
}

}  // namespace

connection::connection(any_stream on, role we, websocket::agreement agreed, const_buffer early,
                       const connection_options& options)
    : stream_{std::move(on)},
      options_{options},
      agreed_{std::move(agreed)},
      we_{we},
      parser_{we, options.limits, deflate_of(agreed_)},
      buffer_{receive_bounds(options)},
      early_{early.begin(), early.end()},
      inflated_{inflated_bounds(options)},
      keys_{keys_of(we, options)},
      deflated_{any_size()} {
    if (!agreed_.deflate) return;
    inflater_.emplace(agreed_.deflate->peer_context_kept ? inflater::context::kept
                                                         : inflater::context::dropped);
}

error connection::fail(error why) noexcept {
    if (!failure_) failure_ = why;
    return failure_;
}

// RFC 6455, 7.1.2.
task<io_result<>> connection::close(close_reason why) {
    loop& on = co_await this_task::loop();
    const time_point until = deadline_after(on.read_clock(), options_.close_timeout);
    if (!silence_) silence_.emplace(on);
    if (!failure_) {
        silence_->expires_at(until);
        const io_result<> said = co_await with_deadline(until, send_close(std::move(why)));
        if (said.error() == errc::canceled) co_return said.error();
        if (!said.ok()) static_cast<void>(fail(said.error()));
    }
    const io_result<> waited = co_await wait_for_close(until);
    if (!waited.ok()) co_return waited.error();

    const io_result<> ended = co_await end_stream(until);
    if (!ended.ok()) co_return ended.error();
    co_return close_received_ ? error{} : failure_;
}

// Until there is a failure, which the peer's close is, too, and no caller reads.
task<io_result<>> connection::wait_for_close(time_point until) {
    const time_point last = failure_ ? time_point{} : until;
    silence_->expires_at(last);
    while (receiving_) {
        const io_result<> waited = co_await not_receiving_.wait();
        if (!waited.ok()) co_return waited.error();
    }
    const receiving reading{*this};
    while (!failure_) {
        const io_result<parsed> next = co_await next_payload();
        if (next.error() == errc::canceled) co_return next.error();
        buffer_.skip(next.value().bytes.size());
    }
    co_return io_result<>{};
}

void connection::abort_writes() noexcept {
    aborted_ = true;
    if (stalled_) stalled_->expires_at(time_point{});
}

// What has been said is lost if the stream is closed while the peer still sends, so that is read to its end
// first, within the time that there is. RFC 6455, 7.1.1.
task<io_result<>> connection::end_stream(time_point until) {
    abort_writes();
    io_result<mutex::guard> turn = co_await frames_.lock();
    if (!turn.ok()) co_return turn.error();
    const mutex::guard held = turn.take();

    const receiving reading{*this};
    if (close_sent_ && !torn_) {
        static_cast<void>(stream_.shutdown_send());
        const io_result<> dropped = co_await with_deadline(until, drop_rest());
        if (dropped.error() == errc::canceled) co_return dropped.error();
    } else if (failure_ == errc::connection_aborted && !torn_) {
        // A peer that has ended its side of TLS waits for ours: RFC 8446, 6.1.
        loop& on = co_await this_task::loop();
        co_await http::say_end(stream_, time_left(until, on.now()));
    }
    stream_.close();
    co_return io_result<>{};
}

task<io_result<>> connection::drop_rest() {
    buffer_.drop_message();
    for (;;) {
        buffer_.skip(buffer_.raw().size());
        const mutable_buffer room = buffer_.room(1);
        const io_result<std::size_t> got = co_await stream_.read_some(room);
        if (!got.ok()) co_return got.error();
    }
}

}  // namespace gyre::websocket
