// SPDX-License-Identifier: BSL-1.0
//
// Order out of datagrams, and requests for the rest: see mold_receiver.hpp.
#include <exchange/codec/mold_receiver.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>

namespace exchange {

mold_receiver::mold_receiver(const mold_receiver_options& options, gyre::time_point now)
    : options_{options},
      blocks_bytes_max_{options.datagram_bytes_max - mold_header_bytes},
      held_bytes_(options.datagrams_held_max * blocks_bytes_max_),
      expected_{options.first_sequence},
      known_{options.first_sequence},
      reach_{options.first_sequence},
      requests_{{.outstanding_max = options.requests_outstanding_max,
                 .again_after = options.request_again,
                 .again_after_max = options.request_again_max,
                 .attempts_max = options.requests_max}},
      heard_at_{now} {
    gyre::expects(options.datagram_bytes_max > mold_header_bytes);
    held_.reserve(options.datagrams_held_max);
    free_.reserve(options.datagrams_held_max);
    for (std::size_t each = options.datagrams_held_max; each > 0; --each) free_.push_back(each - 1);
}

mold_fault mold_receiver::on_packet(std::span<const std::byte> datagram,
                                    gyre::time_point now) noexcept {
    gyre::expects(current_.empty(), "take all messages before the next datagram");
    const mold_packet packet = parse_mold_packet(datagram);
    if (packet.fault != mold_fault::none) return packet.fault;
    const mold_header& header = packet.header;
    if (options_.session.empty()) options_.session = header.session;
    if (header.session != options_.session && is_followed_by(header.session, now))
        begin_life(header.session);
    if (header.session != options_.session || header.session.empty()) {
        ++counts_.other_sessions;
        return mold_fault::other_session;
    }

    heard_at_ = now;
    if (expected_ == 0) expected_ = known_ = reach_ = header.sequence;
    if (reach_ == known_) tail_since_ = now;
    free_taken();
    const std::uint64_t end = header.sequence + packet.messages.size();
    told_ = end;
    known_ = std::max(known_, end);
    if (header.count == mold_end_of_session) end_known_ = true;
    if (packet.messages.empty()) return mold_fault::none;
    if (end <= expected_) {
        ++counts_.duplicates;
        return mold_fault::none;
    }
    if (header.sequence <= expected_) current_ = packet.messages;
    else if (!hold(datagram.subspan(mold_header_bytes), packet.messages, now))
        return mold_fault::none;
    reach_ = std::max(reach_, end);
    requests_.arrived({header.sequence, end}, datagram.size());
    return mold_fault::none;
}

bool mold_receiver::is_followed_by(const mold_session& other, gyre::time_point now) const noexcept {
    if (other.empty()) return false;  // It could not be told from any other.
    if (other.view() < options_.session.view()) return silent(now);
    return end_known_ || now >= gyre::deadline_after(heard_at_, options_.new_life_after);
}

void mold_receiver::begin_life(const mold_session& name) noexcept {
    options_.session = name;
    expected_ = known_ = reach_ = options_.new_life_sequence;
    end_known_ = false;
    look_again_ = gyre::never;
    requests_.forget_all();
    taken_ = held_.size();
    free_taken();
    ++counts_.new_lives;
}

/// False if it is here already, or there is no room for it.
bool mold_receiver::hold(std::span<const std::byte> blocks, const mold_messages& messages,
                         gyre::time_point now) noexcept {
    const std::uint64_t sequence = messages.sequence();
    const auto behind = [&] {
        return std::ranges::lower_bound(held_, sequence, {}, &held_datagram::sequence);
    };
    const auto found = behind();
    const bool here = found != held_.end() && found->sequence == sequence;
    if (here && found->end >= sequence + messages.size()) {
        ++counts_.duplicates;
        return false;
    }
    if (blocks.size() > blocks_bytes_max_ || (!here && !make_room(sequence))) {
        ++counts_.dropped;
        return false;
    }
    ++counts_.held;
    if (here) {
        put(*found, blocks, messages);
        return true;
    }
    const auto at = behind();  // Making room may have ended the list where it was found.
    const gyre::time_point since = at != held_.end() ? at->since : tail_since_;
    const auto it = held_.insert(at, {.place = free_.back(), .since = std::min(since, now)});
    free_.pop_back();
    put(*it, blocks, messages);
    return true;
}

/// Lets go of the datagram furthest ahead if there is no free place and `sequence` comes before it.
bool mold_receiver::make_room(std::uint64_t sequence) noexcept {
    if (!free_.empty()) return true;
    if (held_.empty() || held_.back().sequence < sequence) return false;
    ++counts_.dropped;
    free_.push_back(held_.back().place);
    held_.pop_back();
    reach_ = held_.empty() ? expected_ : held_.back().end;
    return true;
}

void mold_receiver::put(held_datagram& into, std::span<const std::byte> blocks,
                        const mold_messages& messages) noexcept {
    into.sequence = messages.sequence();
    into.end = messages.sequence() + messages.size();
    into.size = blocks.size();
    std::ranges::copy(
        blocks, held_bytes_.begin() + static_cast<std::ptrdiff_t>(into.place * blocks_bytes_max_));
}

/// What was delivered makes room.
void mold_receiver::free_taken() noexcept {
    const auto end = held_.begin() + static_cast<std::ptrdiff_t>(taken_);
    for (auto each = held_.begin(); each != end; ++each) free_.push_back(each->place);
    held_.erase(held_.begin(), end);
    taken_ = 0;
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
    if (expected_ == known_) look_again_ = gyre::never;
    return std::nullopt;
}

/// Makes a held datagram whose turn has come the current one; passes over those that came too late.
bool mold_receiver::take_held() noexcept {
    while (taken_ < held_.size() && held_[taken_].sequence <= expected_) {
        const held_datagram& first = held_[taken_++];
        if (first.end > expected_) {
            current_ = {std::span<const std::byte>{held_bytes_}.subspan(
                            first.place * blocks_bytes_max_, first.size),
                        first.sequence, first.end - first.sequence};
            return true;
        }
        ++counts_.duplicates;
    }
    return false;
}

mold_gap mold_receiver::gap() const noexcept {
    for (std::size_t at = taken_; at < held_.size(); ++at)
        if (held_[at].sequence > expected_) return {expected_, held_[at].sequence};
    return {expected_, known_};
}

std::optional<std::array<std::byte, mold_header_bytes>> mold_receiver::request(
    gyre::time_point now) noexcept {
    mold_gap wanted = requests_.ask_again(now);
    if (wanted.empty()) wanted = ask_for_more(now);
    if (wanted.empty()) return std::nullopt;
    ++counts_.requests;
    return format_mold_header(
        {options_.session, wanted.first, static_cast<std::uint16_t>(wanted.size())});
}

/// The nearest messages that were missing for long enough and were not requested yet.
mold_gap mold_receiver::ask_for_more(gyre::time_point now) noexcept {
    look_again_ = gyre::never;
    std::uint64_t from = expected_;
    for (std::size_t at = taken_; from < known_ && !requests_.full_before(from); ++at) {
        const bool tail = at == held_.size();
        const std::uint64_t until = tail ? known_ : held_[at].sequence;
        if (from < until) {
            // What is further ahead was not missed earlier than this.
            look_again_ =
                gyre::deadline_after(tail ? tail_since_ : held_[at].since, options_.request_after);
            if (now < look_again_) return {};
            look_again_ = gyre::never;
            // The nearest needs no place: its turn has come. What is held needs one, and so does each
            // answer.
            const std::size_t places = options_.datagrams_held_max - (at - taken_);
            const mold_gap asked = requests_.ask({from, until}, places, now);
            if (!asked.empty()) return asked;
        }
        if (tail) return {};
        from = std::max(from, held_[at].end);
    }
    return {};
}

gyre::time_point mold_receiver::deadline() const noexcept {
    return std::min(look_again_, requests_.deadline());
}

mold_gap mold_receiver::give_up() noexcept {
    mold_gap lost = gap();
    if (lost.last == known_) {
        // Nothing is here from behind it: there is only a word that there is more. If the last datagram did
        // not know of it, it was no word of the feed's; if it was, the next one tells again.
        lost.last = known_ = std::clamp(told_, expected_, known_);
        requests_.forget_all();
    }
    counts_.messages_lost += lost.size();
    expected_ = lost.last;
    reach_ = std::max(reach_, expected_);
    requests_.forget_before(expected_);
    return lost;
}

}  // namespace exchange
