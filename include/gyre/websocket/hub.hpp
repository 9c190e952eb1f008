// SPDX-License-Identifier: BSL-1.0
//
// One message for many peers, whatever each of them does: a chat room, a price feed, a game.
//
// Ten thousand peers must cost one message's work and memory, and one that does not read must cost a fixed
// number of bytes and no other peer's time. So each member has an outbox with a bound, and a policy says what
// becomes of what has no room there.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/outbox.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/prepared_message.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gyre::websocket {

/// What becomes of a message for which a member has no room.
enum class slow_member : std::uint8_t {
    wait,         ///< The sender waits, for `wait_max` at most; then the member has to leave.
    drop_oldest,  ///< The member's oldest messages make room.
    conflate,  ///< A message takes the place of a queued one with its key; else the oldest make room.
    disconnect  ///< The member has to leave: its `serve` ends with `errc::limit_exceeded`.
};

/// How many members a hub has, and what one of them may cost.
struct hub_options {
    hub_options() noexcept = default;

    std::size_t members_max = 100'000;  ///< At least 1; one more is refused.
    std::size_t bytes_max = std::size_t{1}
                            << 20;    ///< Queued for one member; shared between members.
    std::size_t messages_max = 1024;  ///< The same.
    slow_member when_full = slow_member::disconnect;
    duration wait_max = std::chrono::seconds{5};  ///< Of `slow_member::wait`.
    deflate_options deflate;                      ///< For members that agreed to it.
};

/// What a hub has counted since it was made.
struct hub_counters {
    std::uint64_t messages = 0;        ///< Sent to the hub.
    std::uint64_t delivered = 0;       ///< That streams of members took to their end.
    std::uint64_t dropped = 0;         ///< For members that had no room.
    std::uint64_t conflated = 0;       ///< Replaced by a newer one of their key.
    std::uint64_t disconnected = 0;    ///< Members that had to leave.
    std::size_t queued_bytes_max = 0;  ///< The most that was queued for one member at a time.
};

/// The hub. Belongs to one loop; does not move; outlives its members and senders. A pool has one on each
/// loop, and sends each of them the message that was prepared once.
class hub {
public:
    using key = outbox::key;

    explicit hub(const hub_options& options = {});
    hub(const hub&) = delete;
    hub& operator=(const hub&) = delete;
    ~hub();

    /// Makes `to` a member and sends it what the hub is sent, until it leaves or the hub is closed.
    /// The caller receives from `to` meanwhile, and stops this when that has ended:
    ///
    ///     co_await when_any(room.serve(peer), read_messages(peer, room));
    ///
    /// @param  to  Borrowed; a server's connection.
    ///
    /// Errors:        `errc::limit_exceeded` if it was too slow, or there are `members_max` members;
    ///                `errc::closed` if the hub was closed before; those of `connection::send_from`.
    /// Cancellation:  `errc::canceled`: it leaves, and what is queued for it is dropped.
    /// Threads:       the loop of the hub.
    /// Cost:          as `connection::send_from`, and the member in its frame.
    [[nodiscard]] task<io_result<>> serve(connection& to);

    /// Sends `message` to all who are members now.
    ///
    /// @param  of  For `slow_member::conflate`: of what it tells the newest state. Without, of everything.
    ///
    /// Errors:        `errc::message_size` if it is larger than `bytes_max`; `errc::closed`.
    /// Cancellation:  `errc::canceled`; under `slow_member::wait` members that had no room have not got it.
    /// Threads:       the loop of the hub. Messages go to each member in the order of the calls.
    /// Cost:          one frame; for each member a place in its queue, some tens of ns. It waits only under
    ///                `slow_member::wait`.
    [[nodiscard]] task<io_result<>> send(prepared_message message, std::optional<key> of = {});

    /// The same outside of coroutines. @pre  the policy is not `slow_member::wait`.
    io_result<> send_now(prepared_message message, std::optional<key> of = {});

    /// No message follows; each member's `serve` ends when it has got what is queued for it.
    void close() noexcept;

    [[nodiscard]] std::size_t members() const noexcept { return count_; }
    [[nodiscard]] hub_counters counters();

private:
    class member;
    struct late_tag {};

    [[nodiscard]] error refusal(const prepared_message& message) const noexcept;
    void offer(prepared_message& message, std::optional<key> of);
    [[nodiscard]] task<error> wait_for_late(prepared_message& message);
    void forget_late() noexcept;

    hub_options options_;
    frame_compressor compressor_;
    list<member> members_;
    list<member, late_tag> late_;   // Who had no room for the message that is being sent.
    member* waited_for_ = nullptr;  // Null if it has left meanwhile.
    mutex sending_;                 // Held while a sender waits for those, so that none overtakes.
    std::size_t count_ = 0;
    hub_counters counters_;  // Of those who have left, and of what no member counts.
    bool closed_ = false;
};

}  // namespace gyre::websocket
