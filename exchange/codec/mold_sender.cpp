// SPDX-License-Identifier: BSL-1.0
//
// Datagrams out of the log: see mold_sender.hpp.
#include <exchange/codec/mold_sender.hpp>

#include <gyre/base/check.hpp>

namespace exchange {

mold_sender::mold_sender(const mold_sender_options& options, gyre::time_point now)
    : options_{options},
      messages_{log_of(options)},
      cursor_{options.first_sequence},
      heartbeat_due_{gyre::deadline_after(now, options.heartbeat_after)} {
    gyre::expects(!options.session.empty(), "a session has a name");
    gyre::expects(options.datagram_bytes_max >=
                      mold_header_bytes + mold_block_bytes + options.message_bytes_max,
                  "the largest message fits into a datagram");
    gyre::expects(options.message_bytes_max <= 0xFFFF);
    messages_.reader_at(cursor_);
}

message_log_options mold_sender::log_of(const mold_sender_options& options) noexcept {
    return {.kept_bytes_max = options.kept_bytes_max,
            .kept_messages_max = options.kept_messages_max,
            .unread_bytes_max = options.unsent_bytes_max,
            .message_bytes_max = options.message_bytes_max,
            .prefix_bytes = mold_block_bytes,
            .first_sequence = options.first_sequence,
            .segment_bytes = options.segment_bytes,
            .warm_bytes = options.kept_bytes_max,  // All of them are used before the first goes.
            .held = options.held};
}

mold_datagram mold_sender::datagram_from(std::uint64_t sequence,
                                         std::size_t messages_max) const noexcept {
    const std::size_t room = options_.datagram_bytes_max - mold_header_bytes;
    const message_run run = messages_.run_from(sequence, room, messages_max);
    const auto count = static_cast<std::uint16_t>(run.messages);
    return {format_mold_header({options_.session, sequence, count}), run.bytes};
}

std::optional<mold_datagram> mold_sender::next(gyre::time_point now) noexcept {
    if (cursor_ < messages_.first_sequence()) {
        unsent_lost_ += messages_.first_sequence() - cursor_;
        cursor_ = messages_.first_sequence();
        messages_.reader_at(cursor_);
    }
    if (cursor_ >= messages_.end_of_released()) return std::nullopt;
    const mold_datagram datagram = datagram_from(cursor_, mold_messages_max);
    cursor_ += get_big_endian<std::uint16_t>(std::span{datagram.header}.subspan<18, 2>());
    messages_.reader_at(cursor_);
    heartbeat_due_ = gyre::deadline_after(now, options_.heartbeat_after);
    return datagram;
}

std::optional<mold_datagram> mold_sender::on_timer(gyre::time_point now) noexcept {
    if (now < deadline()) return std::nullopt;
    heartbeat_due_ = gyre::deadline_after(now, options_.heartbeat_after);
    const bool all_sent = cursor_ == messages_.next_sequence();
    const std::uint16_t count = ended_ && all_sent ? mold_end_of_session : mold_heartbeat;
    // What waits to be sent does not exist for a listener yet, so it is not announced either.
    return mold_datagram{format_mold_header({options_.session, cursor_, count}), {}};
}

gyre::time_point mold_sender::deadline() const noexcept {
    return heartbeat_due_ < end_until_ ? heartbeat_due_ : gyre::never;
}

void mold_sender::end(gyre::time_point now) noexcept {
    if (ended_) return;
    ended_ = true;
    heartbeat_due_ = now;  // Said at once, and repeated in place of heartbeats.
    end_until_ = gyre::deadline_after(now, options_.end_repeated_for);
}

mold_answer mold_sender::answer(std::span<const std::byte> request) const noexcept {
    const mold_packet parsed = parse_mold_request(request);
    const mold_header& wanted = parsed.header;
    if (parsed.fault != mold_fault::none) return {.fault = parsed.fault};
    if (wanted.session != options_.session) return {.fault = mold_fault::other_session};
    if (wanted.sequence >= cursor_) return {.fault = mold_fault::not_sent_yet};
    if (!messages_.holds(wanted.sequence)) return {.fault = mold_fault::not_kept};
    const std::uint64_t sent = cursor_ - wanted.sequence;
    return {.datagram =
                datagram_from(wanted.sequence, std::min<std::uint64_t>(wanted.count, sent))};
}

}  // namespace exchange
