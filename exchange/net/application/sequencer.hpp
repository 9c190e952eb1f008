// SPDX-License-Identifier: BSL-1.0
//
// Puts commands in order, gives each its time, and has them carried out: by one partition, or by several
// that share out the instruments.
//
// It knows neither connections nor bytes. Whoever brings commands (order_entry_host.hpp) says who gave each
// one, and hears what it caused with that origin beside it; whether those who are told have read it is not
// asked. A command may take several steps, and until it is through no other begins: that is the order.
#pragma once

#include <exchange/core/partition.hpp>
#include <exchange/net/application/sequencer_clock.hpp>

#include <concepts>
#include <cstdint>
#include <deque>
#include <vector>

namespace exchange {

/// Whoever gave a command, and is to hear its answer.
struct command_origin {
    session_id session = session_id::none;  ///< Of a client's command.
    std::uint32_t epoch = 0;                ///< Which opening of that session sent it.
    std::uint32_t operator_number = 0;      ///< Of an operator's command: who hears the answer.
};

/// Takes what commands cause.
class event_receiver {
public:
    /// @param  batch   As of one partition, valid during the call.
    /// @param  origin  Of the command that caused it.
    virtual void take(const event_batch& batch, const command_origin& origin) noexcept = 0;

protected:
    ~event_receiver() = default;
};

struct sequencer_options {
    partition_limits limits{};  ///< Of each partition, `partition` aside.
    std::uint32_t partitions =
        1;  ///< At most `partitions_limit`. Instruments take turns by number.
    time_sources clocks{};
};

/// Threads:  One at a time.
/// Cost:     All memory is reserved at construction.
class sequencer {
public:
    /// @param  events  Borrowed; outlives this.
    sequencer(const sequencer_options& options, event_receiver& events);
    sequencer(const sequencer&) = delete;
    sequencer& operator=(const sequencer&) = delete;

    /// Begins to speak for a session: what its older epochs send counts no more.
    [[nodiscard]] std::uint32_t open_session(session_id which) noexcept {
        return ++epochs_[number(which)];
    }

    /// Begins a command. It is not `busy`.
    ///
    /// @return False if it comes from an old epoch of its session, and nothing has happened.
    template <class Command>
        requires(!std::same_as<Command, command>)  // Where it goes depends on what it is.
    bool submit(const command_origin& from, const Command& what) noexcept {
        expects(!busy());
        if (from.session != session_id::none && epochs_[number(from.session)] != from.epoch)
            return false;
        origin_ = from;
        telling_all_ = false;
        ++commands_;
        if (single_) [[likely]]
            active_->begin(time(), what, event_sink::to(relay_), numbering::checked);
        else route(what);
        return true;
    }

    /// Is a command not carried out completely?
    [[nodiscard]] bool busy() const noexcept { return active_->busy() || next_ != all_told; }

    /// Carries out another step of it.
    void resume() noexcept;

    /// From when on `expire_instruments` has something to do.
    [[nodiscard]] timestamp_ns next_expiry() const noexcept;
    /// From when on `advance_phases` has.
    [[nodiscard]] timestamp_ns next_phase_change() const noexcept;
    [[nodiscard]] timestamp_ns now() const noexcept { return clock_.now(); }

    /// Commands from here to `end_turn` have one time, that of the first: to ask the machine takes a tenth of
    /// what a command takes. No wait is between the two.
    void begin_turn() noexcept { in_turn_ = true; }
    void end_turn() noexcept { in_turn_ = has_time_ = false; }

    /// How many commands were submitted.
    [[nodiscard]] std::uint64_t commands() const noexcept { return commands_; }

    /// How far sessions have counted.
    [[nodiscard]] const session_numbers& numbers() const noexcept { return numbers_; }

    [[nodiscard]] std::size_t partitions() const noexcept { return partitions_.size(); }
    [[nodiscard]] const partition& at(std::size_t which) const noexcept {
        return partitions_[which];
    }

    /// Which partition an instrument is traded in. Any number has one.
    [[nodiscard]] std::size_t home_of(instrument_id which) const noexcept {
        return (number(which) + partitions_.size() - 1) % partitions_.size();
    }

private:
    /// What partitions hand their events to.
    struct relay {
        sequencer* of;
        void operator()(const event_batch& batch) const noexcept { of->hand_on(batch); }
    };

    static constexpr std::size_t all_told = ~std::size_t{0};

    [[nodiscard]] timestamp_ns time() noexcept {
        if (has_time_) return time_;
        time_ = clock_.now();
        has_time_ = in_turn_;
        return time_;
    }

    template <class Command>
    void begin_in(std::size_t which, const Command& what, numbering how) noexcept {
        current_ = which;
        active_ = &partitions_[which];
        active_->begin(time(), what, event_sink::to(relay_), how);
    }

    template <class Command>
    void route(const Command& what) noexcept {
        if constexpr (std::is_same_v<Command, cancel_orders>) {
            if (what.instrument == instrument_id::none) tell_all(what);
            else begin_in(home_of(what.instrument), what, numbering::checked);
        } else if constexpr (requires { what.instrument; }) {
            begin_in(home_of(what.instrument), what, numbering::checked);
        } else if constexpr (requires { what.target; }) {
            begin_in(find(what.session, what.target), what, numbering::checked);
        } else if constexpr (std::is_same_v<Command, retire>) {
            if (what.what == definition_kind::instrument)
                begin_in(home_of(instrument_id{what.number}), what, numbering::checked);
            else tell_all(what);
        } else {
            tell_all(what);
        }
    }

    /// Where an order rests that a session means; the first partition if nowhere.
    [[nodiscard]] std::size_t find(session_id from, const order_reference& target) const noexcept;

    void tell_all(const command& what) noexcept;
    void tell_next() noexcept;
    void hand_on(const event_batch& batch) noexcept;
    [[nodiscard]] bool is_answered_elsewhere(const event& it) noexcept;

    sequencer_clock clock_;
    timestamp_ns time_ = 0;  // Of the latest command,
    bool in_turn_ = false;
    bool has_time_ = false;  // and of the next.
    event_receiver& events_;
    session_numbers numbers_;
    std::vector<std::uint32_t> epochs_;  // By session.
    std::deque<partition> partitions_;
    relay relay_{this};
    command_origin origin_;
    bool single_;                  // Is there one partition only?
    std::size_t current_ = 0;      // The partition whose command is the latest,
    partition* active_;            // and itself.
    std::size_t next_ = all_told;  // The next to hear `everywhere_`.
    command everywhere_;           // Given to one partition after the other.
    bool telling_all_ = false;     // Is the latest command one of those?
    bool refused_ = false;         // By the first of them, which speaks for all.
    bool found_ = false;           // Has it cancelled anything?
    std::uint64_t commands_ = 0;
};

}  // namespace exchange
