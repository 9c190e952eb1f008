// SPDX-License-Identifier: BSL-1.0
//
// What came of each command, seen from outside: how many messages, and when the last of them arrived.
//
// The messages of one event arrive by several ways: over the sessions concerned and over the feed. Each
// carries the number of the command that caused it, its place among its messages, and whether it is the
// last; so it is known when an event is complete, and a message that is missing, superfluous or
// unknown is noticed.
#pragma once

#include <exchange/bench/cells.hpp>
#include <exchange/core/events.hpp>

#include <gyre/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace exchange::bench {

/// Commands are numbered here from 0 on: the first one that this load has caused.
class arrival_log {
public:
    /// @param  first  The number that the sequencer will give to the first command.
    /// @param  commands_max  How many there will be.
    /// @param  wanted  Of measured commands; those without a kind may be anything.
    arrival_log(in_sequence first, std::size_t commands_max, const event_shape& shape,
                const answers& wanted = {});

    /// Takes note of one derived message.
    ///
    /// Cost: constant time, no allocation unless something is wrong.
    void take(const event_stamp& stamp, answer what, gyre::time_point now);

    /// How many commands have all their messages: of those that precede events, and of the measured ones.
    [[nodiscard]] std::uint64_t before_complete() const noexcept { return before_complete_; }
    [[nodiscard]] std::uint64_t measured_complete() const noexcept { return measured_complete_; }

    /// What is wrong, as a sentence; empty as long as nothing is. The first fault stays.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// One event, once all is over.
    struct event_arrival {
        std::uint64_t first = 0;  ///< Its measured commands.
        std::uint64_t last = 0;
        gyre::time_point complete{};
    };

    /// All events, in the order in which they were carried out. Looks at every number: each command
    /// complete, each event with as many messages as its scenario derives.
    ///
    /// @return Nothing unless all is as it should be; then `fault()` says what is not.
    [[nodiscard]] std::vector<event_arrival> events();

private:
    struct record {
        gyre::time_point complete{};
        std::uint16_t seen = 0;
        std::uint16_t expected = 0;  // 0: the last message was not seen yet.
        answer first{};
    };

    /// Commands of one event, so far.
    struct tally {
        std::uint32_t commands = 0;
        std::uint32_t derived = 0;

        std::uint32_t add(const record& it) noexcept {
            derived += it.expected;
            return ++commands;
        }
    };

    [[nodiscard]] bool precedes(const record& it) const noexcept;
    void check_answer(std::uint64_t at, const answer& wanted);
    void check(std::uint32_t derived, std::uint32_t wanted, const std::string& what);
    void complain_of_incomplete(std::uint64_t at);
    void complain(std::string what);

    in_sequence first_;
    event_shape shape_;
    answers wanted_;
    std::vector<record> commands_;
    std::uint64_t before_complete_ = 0;
    std::uint64_t measured_complete_ = 0;
    std::string fault_;
};

}  // namespace exchange::bench
