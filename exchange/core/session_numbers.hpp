// SPDX-License-Identifier: BSL-1.0
//
// How far each session has counted its messages.
//
// A session has one row of numbers whatever its messages are about, so partitions that take orders from
// the same sessions share this table. It is a part of their state.
#pragma once

#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

namespace exchange {

class session_numbers {
public:
    explicit session_numbers(std::uint32_t sessions_max) : last_{std::size_t{sessions_max} + 1} {}

    /// Why this cannot be the session's next number, or `none`: then it is the last from now on.
    [[nodiscard]] reject_reason admit(session_id from, client_sequence client_seq) noexcept {
        client_sequence& last = last_[number(from)];
        if (client_seq <= last) return reject_reason::duplicate_client_sequence;
        if (number(client_seq) - number(last) > client_sequence_jump_max)
            return reject_reason::client_sequence_too_far;
        last = client_seq;
        return reject_reason::none;
    }

    [[nodiscard]] client_sequence last(session_id of) const noexcept { return last_[number(of)]; }

private:
    zeroed_array<client_sequence> last_;
};

}  // namespace exchange
