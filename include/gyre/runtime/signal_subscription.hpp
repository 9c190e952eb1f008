// SPDX-License-Identifier: BSL-1.0
//
// Signals, turned into something a loop can wait for.
//
// A process has one handler per signal, so there is one registry behind all of these; the handler
// only sets a bit and writes to an eventfd. io/signals.hpp is the coroutine's view.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/runtime/handle.hpp>

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace gyre {

/// A subscription to a set of signals. While it lives their default actions do not happen;
/// afterwards the dispositions are what they were before. Moves. A forked child has its own; where no
/// descriptor is to be had for it at the fork, it has ended there.
class signal_subscription {
public:
    signal_subscription() noexcept = default;
    signal_subscription(signal_subscription&& other) noexcept
        : event_{std::move(other.event_)}, slot_{std::exchange(other.slot_, -1)} {}
    signal_subscription& operator=(signal_subscription&& other) noexcept {
        signal_subscription taken{std::move(other)};
        std::swap(event_, taken.event_);
        std::swap(slot_, taken.slot_);
        return *this;
    }
    ~signal_subscription();

    /// Subscribes. Any thread; 32 subscriptions at a time.
    /// Errors: `errc::limit_exceeded`, `errc::invalid_argument` for what is no signal,
    ///         `errc::not_supported` on a machine of a world, which no signals come to.
    [[nodiscard]] static io_result<signal_subscription> open(io_context& on,
                                                             std::initializer_list<int> signals);

    /// From the second delivery on, that comes `gap` or later behind the first, the process ends inside the
    /// handler, with status 128 + signal, whatever the loop is doing. Nothing happens if this is not open.
    void exit_on_second(duration gap) noexcept;

    /// What waits for signals has, which the subscription may go without.
    struct delivery {
        /// A signal that was delivered and not yet taken, lowest number first; 0 if there is none.
        /// @pre  `event` lasts.
        [[nodiscard]] int take() noexcept;

        /// False in a child that was forked where no descriptor was to be had for an event of its own:
        /// signals do there what they did before the subscription, and `event` is the parent's.
        [[nodiscard]] bool hears() const noexcept;

        opening event;  ///< Readable while something may be there to take.
        int slot = -1;
    };
    [[nodiscard]] delivery view() const noexcept { return {event_.opened(), slot_}; }

    /// What `delivery::take` takes; 0 if this is not open.
    [[nodiscard]] int take() noexcept { return slot_ < 0 ? 0 : view().take(); }

    [[nodiscard]] opening event() const noexcept { return event_.opened(); }

private:
    handle event_;
    int slot_ = -1;
};

}  // namespace gyre
