// SPDX-License-Identifier: BSL-1.0
//
// A listener of the feed that rebuilds all books from it, to be compared with the real ones.
#pragma once

#include <exchange/codec/event_codec.hpp>
#include <exchange/net/session/feed_listener.hpp>
#include <exchange/tests/support/public_book.hpp>

#include <string>

namespace exchange::testing {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
template <executor_traits X>
class watcher final : public feed_handler {
public:
    watcher(typename X::context& context, const feed_listener_options& options)
        : feed{context, options, *this} {}

    /// Each message tells what it thinks is wrong; the first is kept.
    template <event_record Event>
    void operator()(const event_stamp& stamp, const Event& it) {
        if (stamp.out_seq <= last_out_seq_) complain("messages are out of order");
        last_out_seq_ = stamp.out_seq;
        complain(book.hear(it));
        book.settle();
    }
    void operator()(const message_rejected&) { complain("a refusal in public"); }

    feed_listener<X> feed;
    public_book book;
    std::uint64_t next_sequence = 1;
    std::uint64_t missing = 0;
    std::uint64_t new_lives = 0;
    std::string complaint;
    bool over = false;

private:
    void heard(const mold_message& message) noexcept override {
        if (message.sequence != next_sequence++) complain("a message is missing, or here twice");
        if (decode_public_event(message.payload, *this)) complain("a message cannot be read");
    }
    void missed(mold_gap gap) noexcept override {
        missing += gap.last - gap.first;
        next_sequence = gap.last;
    }
    void ended() noexcept override { over = true; }
    void new_life(const mold_session&, const mold_session&) noexcept override {
        book = {};
        next_sequence = 1;
        last_out_seq_ = 0;
        over = false;
        ++new_lives;
    }
    void complain(const std::string& what) {
        if (complaint.empty() && !what.empty())
            complaint = what + ", at message " + std::to_string(last_out_seq_);
    }

    out_sequence last_out_seq_ = 0;
};

}  // namespace exchange::testing
