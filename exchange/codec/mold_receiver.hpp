// SPDX-License-Identifier: BSL-1.0
//
// The listening end of a MoldUDP64 feed: each message once and in order, whatever the network does.
//
// Datagrams may be lost, doubled and reordered. What is ahead of its turn is held, up to a bound; what is
// missing is asked for, again and again, until it comes or the attempts are used up (mold_requests.hpp).
// Then the application decides: `give_up` skips the gap, after which it needs a snapshot.
//
// A publisher that has been started anew speaks under another name, a later one in the order of text,
// with numbers from 1 on. Then everything held is dropped and the new session is followed. But anyone who
// reaches the group can send a datagram of any name: a second publisher by mistake, or a forger, since
// nothing in MoldUDP64 proves who has sent what. So a later name counts only when the present session has
// ended, or has been silent for `new_life_after`, more than its heartbeats ever are apart; until then
// what comes under it is counted and dropped, and can be asked for afterwards. An earlier name, which is
// that of a late datagram or of a host whose clock was set back, counts only when the present session is
// given up for dead.
//
// What that means for a single forged datagram of another name: beside a session that is heard it does
// nothing. In the pause between two lives, or before anything was heard, it makes a life that does not
// exist: the book is dropped before its time, and the real feed is ignored until the forged name has been
// silent for as long (if the real one is later) or is given up for dead. One of the feed's own name that
// tells of messages far ahead has them asked for in vain, until the attempts are used up. Answers to
// requests prove nothing either, for a receiver takes them from anyone. Who must be sure compares the name
// with that of order entry, where it has logged in: they are the same.
#pragma once

#include <exchange/codec/mold_packet.hpp>
#include <exchange/codec/mold_requests.hpp>

#include <gyre/base/time.hpp>

#include <chrono>
#include <optional>
#include <vector>

namespace exchange {

struct mold_receiver_options {
    mold_session session{};               ///< To begin with. Empty: that of the first datagram.
    std::uint64_t first_sequence = 1;     ///< 0: whatever comes first.
    std::uint64_t new_life_sequence = 1;  ///< The same, of each session that follows.
    gyre::duration new_life_after =
        std::chrono::milliseconds{2500};    ///< Of silence. More than two heartbeats.
    std::size_t datagram_bytes_max = 1500;  ///< Longer ones cannot be held and are asked for later.
    std::size_t datagrams_held_max = 64;    ///< Ahead of their turn.
    gyre::duration request_after = std::chrono::milliseconds{1};  ///< Of a gap: it may be disorder.
    gyre::duration request_again =
        std::chrono::milliseconds{50};  ///< Of a request in vain. Doubles
    gyre::duration request_again_max = std::chrono::milliseconds{400};  ///< each time, up to this.
    std::size_t requests_max = 20;                         ///< For the same messages, in vain.
    std::size_t requests_outstanding_max = 16;             ///< Each for other messages; at least 1.
    gyre::duration dead_after = std::chrono::seconds{15};  ///< Of hearing nothing.
};

struct mold_message {
    std::uint64_t sequence = 0;
    std::span<const std::byte> payload{};  ///< Borrowed until the next call of `next`.
};

struct mold_counts {
    std::uint64_t duplicates = 0;  ///< Datagrams without anything new.
    std::uint64_t held = 0;        ///< Datagrams that came ahead of their turn.
    std::uint64_t dropped = 0;     ///< Datagrams for which there was no room.
    std::uint64_t requests = 0;
    std::uint64_t messages_lost = 0;   ///< By giving up.
    std::uint64_t other_sessions = 0;  ///< Datagrams of another session, ignored.
    std::uint64_t new_lives = 0;       ///< Sessions that followed the first.
};

/// The driver's turn: `on_packet`, then `next` until there is none, then `request` until there is none;
/// `request` again at `deadline()`.
///
/// Threads:  One at a time.
/// Cost:     All memory is taken at construction. A datagram in its turn is not copied; while something is
///           missing, each costs a walk over those that are held.
class mold_receiver {
public:
    mold_receiver(const mold_receiver_options& options, gyre::time_point now);

    /// Takes a datagram, from the group or in answer to a request. It may be the first of a new life: then
    /// `session()` is another, and what comes next is the first of it.
    ///
    /// @param  datagram  Borrowed until `next` has returned nothing, which must be so before the next
    ///                   datagram is given.
    /// @return Why it is ignored as a whole; `none` if it is not.
    [[nodiscard]] mold_fault on_packet(std::span<const std::byte> datagram,
                                       gyre::time_point now) noexcept;

    /// The next message in order, if it is here.
    [[nodiscard]] std::optional<mold_message> next() noexcept;

    /// A request to be sent to the request server, if one is due. Missing messages that would have no place
    /// to wait for their turn are asked for later.
    [[nodiscard]] std::optional<std::array<std::byte, mold_header_bytes>> request(
        gyre::time_point now) noexcept;

    /// When `request` may change; `never` if it will not.
    [[nodiscard]] gyre::time_point deadline() const noexcept;

    /// What is missing between what was delivered and what is known to exist.
    [[nodiscard]] mold_gap gap() const noexcept;

    /// All requests for the next message were in vain, and none is made any more. What comes late still
    /// counts.
    [[nodiscard]] bool stuck() const noexcept { return requests_.hopeless(expected_); }

    /// Skips the gap; one with nothing behind it as far as the last datagram knew of messages.
    ///
    /// @return What is lost; nothing, if the feed does not know of it any more.
    mold_gap give_up() noexcept;

    /// Not even a heartbeat for `dead_after`, which is so from `silent_at` on.
    [[nodiscard]] bool silent(gyre::time_point now) const noexcept { return now >= silent_at(); }
    [[nodiscard]] gyre::time_point silent_at() const noexcept {
        return gyre::deadline_after(heard_at_, options_.dead_after);
    }

    /// The session is over and all of it was delivered.
    [[nodiscard]] bool ended() const noexcept { return end_known_ && expected_ == known_; }

    /// The number of the next message to deliver; 0 if that is not known yet.
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
    [[nodiscard]] const mold_session& session() const noexcept { return options_.session; }
    [[nodiscard]] const mold_counts& counts() const noexcept { return counts_; }

private:
    struct held_datagram {
        std::uint64_t sequence = 0;
        std::uint64_t end = 0;     // Behind its last message.
        std::size_t size = 0;      // Of the blocks.
        std::size_t place = 0;     // In `held_bytes_`.
        gyre::time_point since{};  // When what is missing in front of it was missed.
    };
    using held_datagrams = std::vector<held_datagram>;

    [[nodiscard]] bool is_followed_by(const mold_session& other,
                                      gyre::time_point now) const noexcept;
    void begin_life(const mold_session& name) noexcept;
    [[nodiscard]] bool hold(std::span<const std::byte> blocks, const mold_messages& messages,
                            gyre::time_point now) noexcept;
    [[nodiscard]] bool make_room(std::uint64_t sequence) noexcept;
    void put(held_datagram& into, std::span<const std::byte> blocks,
             const mold_messages& messages) noexcept;
    [[nodiscard]] bool take_held() noexcept;
    void free_taken() noexcept;
    [[nodiscard]] mold_gap ask_for_more(gyre::time_point now) noexcept;

    mold_receiver_options options_;
    std::size_t blocks_bytes_max_;
    held_datagrams held_;            // In order; the first `taken_` of them are done with.
    std::vector<std::size_t> free_;  // Places.
    std::vector<std::byte> held_bytes_;
    std::size_t taken_ = 0;
    mold_messages current_;          // What `next` takes from.
    std::uint64_t expected_;         // The next to deliver, or 0.
    std::uint64_t known_;            // Behind the last message that is known to exist.
    std::uint64_t reach_;            // Behind the last message that is here or was.
    std::uint64_t told_ = 0;         // Behind the last message that the last datagram knew of.
    gyre::time_point tail_since_{};  // When it was known that something exists behind `reach_`.
    mold_requests requests_;
    gyre::time_point look_again_ = gyre::never;  // What is missing may be asked for from then on.
    gyre::time_point heard_at_;                  // When the session was last heard, or waited for.
    bool end_known_ = false;
    mold_counts counts_;
};

}  // namespace exchange
