// SPDX-License-Identifier: BSL-1.0
//
// Commands that were sent and are not answered: what becomes of them when a connection is lost.
//
// The exchange answers each command in the session's stream, which a client reads to its end when it
// comes again. Behind the answer to a message that was sent on the new connection, whatever is still
// unanswered never arrived. exchange_client sends such a message; this keeps the numbers, in a ring,
// since they only grow.
#pragma once

#include <exchange/core/commands.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     Memory is taken at construction. A search by halves for each answer.
class sent_commands {
public:
    /// @param  unanswered_max  At once; above zero.
    explicit sent_commands(std::size_t unanswered_max) : ring_(unanswered_max) {}

    /// Is there room for so many more?
    [[nodiscard]] bool has_room(std::size_t more) const noexcept {
        return more <= ring_.size() - span_;
    }

    /// A command is sent; there is room.
    ///
    /// @param  it       Above all before.
    /// @param  message  The number of the message that it is in: of a mass quote, of its first entry.
    void sent(client_sequence it, command_kind what, client_sequence message) noexcept;

    /// Something was told of the command. What is not waited for is passed over.
    void answered(client_sequence it) noexcept;
    /// A whole message was refused.
    void refused(client_sequence message) noexcept;

    /// The connection is lost, and with it perhaps what is unanswered.
    void doubt() noexcept;

    /// All answers to what was sent before `doubt` have been heard: calls `tell(number, kind)` for
    /// those that have none, and forgets them.
    template <class Tell>
    void settle(Tell&& tell) {
        for (std::size_t each = 0; each < span_; ++each) {
            entry& it = at(each);
            if (it.answered || !it.doubtful) continue;
            it.answered = true;
            --unanswered_;
            tell(it.number, it.what);
        }
        drop_answered();
    }

    /// Was it sent, and is it unanswered?
    [[nodiscard]] bool waits_for(client_sequence it) noexcept;

    void clear() noexcept { first_ = span_ = unanswered_ = 0; }

    [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }

private:
    struct entry {
        client_sequence number = client_sequence::none;
        client_sequence message = client_sequence::none;
        command_kind what = command_kind::enter_order;
        bool doubtful = false;
        bool answered = false;
    };

    [[nodiscard]] entry& at(std::size_t place) noexcept {
        return ring_[(first_ + place) % ring_.size()];
    }
    /// The first place whose number is not below `it`.
    [[nodiscard]] std::size_t place_of(client_sequence it) noexcept;
    void close(entry& it) noexcept;
    void drop_answered() noexcept;

    std::vector<entry> ring_;  // `span_` of them from `first_` on; answered ones among them.
    std::size_t first_ = 0;
    std::size_t span_ = 0;
    std::size_t unanswered_ = 0;
};

}  // namespace exchange
