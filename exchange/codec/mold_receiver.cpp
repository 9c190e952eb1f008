// SPDX-License-Identifier: BSL-1.0
//
// Order out of datagrams, and requests for the rest: see mold_receiver.hpp.
#include <exchange/codec/mold_receiver.hpp>

#include <gyre/base/check.hpp>

namespace exchange {

using gyre::expects;

mold_receiver::mold_receiver(const mold_receiver_options& options, gyre::time_point now)
    : options_{options},
      blocks_bytes_max_{options.datagram_bytes_max - mold_header_bytes},
      held_(options.datagrams_held_max),
      held_bytes_(options.datagrams_held_max * blocks_bytes_max_),
      expected_{options.first_sequence},
      known_{options.first_sequence},
      dead_at_{gyre::deadline_after(now, options.dead_after)} {
    expects(options.datagram_bytes_max > mold_header_bytes && options.requests_max > 0);
}

mold_fault mold_receiver::on_packet(std::span<const std::byte> datagram,
                                    gyre::time_point now) noexcept {
    expects(current_.empty(), "take all messages before the next datagram");
    const mold_packet packet = parse_mold_packet(datagram);
    if (packet.fault != mold_fault::none) return packet.fault;
    const mold_header& header = packet.header;
    if (options_.session.empty()) options_.session = header.session;
    if (header.session != options_.session) return mold_fault::other_session;

    dead_at_ = gyre::deadline_after(now, options_.dead_after);
    if (expected_ == 0) expected_ = known_ = header.sequence;
    const std::uint64_t end = header.sequence + packet.messages.size();
    known_ = std::max(known_, end);
    if (header.count == mold_end_of_session) end_known_ = true;
    if (end <= expected_) counts_.duplicates += packet.messages.empty() ? 0 : 1;
    else if (header.sequence <= expected_) current_ = packet.messages;
    else if (!packet.messages.empty()) hold(datagram.subspan(mold_header_bytes), packet.messages);
    return mold_fault::none;
}

void mold_receiver::hold(std::span<const std::byte> blocks,
                         const mold_messages& messages) noexcept {
    for (const held_datagram& each : held_) {
        if (each.count >= messages.size() && each.sequence == messages.sequence()) {
            ++counts_.duplicates;
            return;
        }
    }
    const std::size_t place = place_for(messages.sequence());
    if (place == held_.size() || blocks.size() > blocks_bytes_max_) {
        ++counts_.dropped;
        return;
    }
    if (held_[place].count > 0) ++counts_.dropped;
    ++counts_.held;
    held_[place] = {messages.sequence(), messages.size(), blocks.size()};
    std::copy(blocks.begin(), blocks.end(),
              held_bytes_.begin() + static_cast<std::ptrdiff_t>(place * blocks_bytes_max_));
}

/// A free place, or that of the datagram furthest ahead if `sequence` comes before it.
std::size_t mold_receiver::place_for(std::uint64_t sequence) const noexcept {
    std::size_t furthest = held_.size();
    for (std::size_t at = 0; at < held_.size(); ++at) {
        if (held_[at].count == 0) return at;
        if (held_[at].sequence > sequence) {
            sequence = held_[at].sequence;
            furthest = at;
        }
    }
    return furthest;
}

std::optional<mold_message> mold_receiver::next() noexcept {
    do {
        while (!current_.empty()) {
            const std::uint64_t sequence = current_.sequence();
            const auto payload = current_.pop();
            if (sequence < expected_) continue;  // The part of a datagram that came before.
            ++expected_;
            return mold_message{sequence, payload};
        }
    } while (take_held());
    if (gap().empty()) forget_requests();
    return std::nullopt;
}

void mold_receiver::forget_requests() noexcept {
    requests_ = 0;
    request_due_ = gyre::never;
    stuck_ = false;
}

/// Makes a held datagram whose turn has come the current one; forgets those that came too late.
bool mold_receiver::take_held() noexcept {
    for (std::size_t at = 0; at < held_.size(); ++at) {
        held_datagram& each = held_[at];
        if (each.count == 0 || each.sequence > expected_) continue;
        const auto blocks =
            std::span<const std::byte>{held_bytes_}.subspan(at * blocks_bytes_max_, each.size);
        const bool news = each.sequence + each.count > expected_;
        if (news) current_ = {blocks, each.sequence, each.count};
        else ++counts_.duplicates;
        each.count =
            0;  // Its bytes stay until another datagram is held: not before `next` is done.
        if (news) return true;
    }
    return false;
}

mold_gap mold_receiver::gap() const noexcept {
    std::uint64_t last = known_;
    for (const held_datagram& each : held_)
        if (each.count > 0 && each.sequence > expected_) last = std::min(last, each.sequence);
    return {expected_, std::max(last, expected_)};
}

std::optional<std::array<std::byte, mold_header_bytes>> mold_receiver::request(
    gyre::time_point now) noexcept {
    const mold_gap missing = gap();
    if (missing.empty()) return std::nullopt;
    const bool first = requests_ == 0;
    // An answer that closed a part of the gap shows that asking on is worth it, without delay.
    const bool moved = !first && requested_at_ != expected_;
    if (moved) forget_requests();
    if (first && request_due_ == gyre::never)
        request_due_ = gyre::deadline_after(now, options_.request_after);
    if (!moved && now < request_due_) return std::nullopt;
    if (requests_ == options_.requests_max) {
        stuck_ = true;
        request_due_ = gyre::never;
        return std::nullopt;
    }
    requested_at_ = expected_;
    ++requests_;
    ++counts_.requests;
    request_due_ = gyre::deadline_after(now, options_.request_again);
    const auto count = std::min<std::uint64_t>(missing.last - missing.first, mold_messages_max);
    return format_mold_header({options_.session, missing.first, static_cast<std::uint16_t>(count)});
}

gyre::time_point mold_receiver::deadline() const noexcept {
    return std::min(request_due_, dead_at_);
}

mold_gap mold_receiver::give_up() noexcept {
    const mold_gap lost = gap();
    counts_.messages_lost += lost.last - lost.first;
    expected_ = lost.last;
    forget_requests();
    return lost;
}

}  // namespace exchange
