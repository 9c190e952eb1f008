// SPDX-License-Identifier: BSL-1.0
//
// What a storm has seen, counted: a storm that never reaches a rule proves nothing about it.
//
// It holds the table of which command may be refused for which reason, and complains in both
// directions: about what never happened, and about what happened against the table.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace exchange::testing {

class tally {
public:
    void count(const command& it);
    void count(const event& it);
    /// A command took a further step.
    void count_resumption() { ++resumptions_; }
    tally& operator+=(const tally& other);

    /// The names of what was never seen, and of refusals that no rule allows. Empty if all is well.
    [[nodiscard]] std::string complaint() const;

    /// How often this has happened.
    [[nodiscard]] std::uint64_t of(command_kind it) const { return commands_[number(it)]; }
    [[nodiscard]] std::uint64_t of(event_kind it) const { return events_[number(it)]; }
    [[nodiscard]] std::uint64_t of(cancel_reason it) const { return cancels_[number(it)]; }
    [[nodiscard]] std::uint64_t refusals_of(command_kind command, reject_reason why) const {
        return refusals_[number(command)][number(why)];
    }
    /// Fills of icebergs of which more was filled by then than they show at a time.
    [[nodiscard]] std::uint64_t hidden_fills() const { return hidden_fills_; }
    /// Orders taken that have a last day.
    [[nodiscard]] std::uint64_t dated() const { return dated_; }

    /// All counts, a line for each kind of thing.
    [[nodiscard]] std::string text() const;

private:
    using counts = std::array<std::uint64_t, 256>;  // By the number of the enumerator.

    struct iceberg {
        std::uint64_t shown = 0;
        std::uint64_t filled = 0;
    };

    void count_refusal(command_kind command, reject_reason why);
    void count_fill(const order_executed& it);

    std::uint64_t resumptions_ = 0;
    std::uint64_t hidden_fills_ = 0;
    std::uint64_t dated_ = 0;
    std::map<order_id, iceberg> icebergs_;  // Of one storm.
    counts commands_{};
    counts events_{};
    counts cancels_{};
    counts amends_{};
    std::array<counts, 64>
        refusals_{};  // By the number of the command, then by that of the reason.
};

}  // namespace exchange::testing
