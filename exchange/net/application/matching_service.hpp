// SPDX-License-Identifier: BSL-1.0
//
// The matching facility without its sockets: bytes of participants in, bytes for them and for the feed out.
//
// How a facility waits differs (coroutines of one library or another, callbacks); what a message means, who
// may log in, who hears what, and what becomes of slow readers does not. So that is here, once, and is
// tested without a socket. session/order_entry_session.hpp brings packets here; matching_facility.hpp
// and asio/callback/facility.hpp move the bytes.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/core/partition.hpp>
#include <exchange/net/application/book_responder.hpp>
#include <exchange/net/application/participant.hpp>
#include <exchange/net/application/sequencer_clock.hpp>

#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace exchange {

struct matching_service_options {
    partition_limits limits{};
    std::vector<credentials> participants{};  ///< User names and sessions differ from each other.
    soup_stream_options stream{.session = "DAY"};  ///< Of each participant.
    mold_sender_options feed{.session = "FEED"};
    time_sources clocks{};  ///< The sequencer's.
};

/// How much has passed through.
struct service_counts {
    std::uint64_t commands = 0;   ///< Sequenced.
    std::uint64_t malformed = 0;  ///< Refused before they got a place in the sequence.
};

/// Sequencer, core and encoder in one.
///
/// Threads:  One at a time.
/// Cost:     All memory is taken at construction.
class matching_service {
public:
    matching_service(const matching_service_options& options, gyre::time_point now);
    matching_service(const matching_service&) = delete;
    matching_service& operator=(const matching_service&) = delete;

    /// Carries out a command that did not come over a connection: preparation, or a timer.
    template <class Command>
    void apply(const Command& what) noexcept {
        partition_.apply(next_time(), what, event_sink::to(encoder_));
        ++counts_.commands;
    }

    /// Carries out one message of `from`.
    ///
    /// @param  message  One SBE message. Borrowed during the call.
    /// @return What to answer if it is no command that this participant can give; then nothing was
    ///         sequenced, and nothing has changed.
    [[nodiscard]] std::optional<message_rejected> take(const participant& from,
                                                       std::span<const std::byte> message) noexcept;

    /// Answers a question, which is no command: nothing is sequenced, and nothing changes. Any
    /// session that is logged in may ask what a book looks like, since the feed has published it.
    ///
    /// @param  message  One SBE message. Borrowed during the call.
    /// @return The answer, outside of the stream, borrowed until the next call; empty if it is no question.
    [[nodiscard]] std::span<const std::byte> answer(std::span<const std::byte> message) noexcept {
        return books_.answer(message);
    }

    /// Whose login this is; null if it is unknown.
    [[nodiscard]] participant* find(const soup_login& login) noexcept;

    /// Makes `connection` the one that hears what `whose` is owed. The one before is sent away: a client
    /// that logs in again knows better than we do that its old connection is dead.
    void attach(participant& whose, order_entry_session& connection) noexcept;

    /// `connection` has ended. If it still was the participant's, its orders follow the session's
    /// `disconnect_policy`.
    void detach(participant& whose, order_entry_session& connection) noexcept;

    /// `connection`, which has ended before, does not write any more either.
    void let_go(participant& whose, const order_entry_session& connection) noexcept;

    /// Tells the connections of all who got messages since the last call that there is output. To be
    /// called after each batch of input, before more is waited for.
    void announce() noexcept;

    [[nodiscard]] mold_sender& feed() noexcept { return feed_; }
    [[nodiscard]] const partition& market() const noexcept { return partition_; }
    [[nodiscard]] const service_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const std::deque<participant>& participants() const noexcept {
        return participants_;
    }

    /// Nothing follows: streams and feed end behind what they hold. No command may be given any more.
    void end(gyre::time_point now) noexcept;
    [[nodiscard]] bool ended() const noexcept { return ended_; }

private:
    /// Writes batches where they belong.
    struct encoder {
        matching_service* of;
        void operator()(const event_batch& batch) const noexcept;
    };

    [[nodiscard]] timestamp_ns next_time() const noexcept;

    sequencer_clock clock_;
    partition partition_;
    mold_sender feed_;
    book_responder books_{partition_, feed_};
    touched_participants touched_;
    std::deque<participant> participants_;
    std::vector<participant*> by_session_;  // Null: no participant may log in as that session.
    participant* operator_ = nullptr;
    encoder encoder_{this};
    service_counts counts_;
    bool ended_ = false;
};

}  // namespace exchange
