// SPDX-License-Identifier: BSL-1.0
//
// Timeouts, and limits on which stop requests an awaitable hears.
//
// One branch, one timer, no frame: the awaited thing resumes the coroutine itself. The wrapper gives
// it a chain of its own and decides what reaches that chain: the timer, the parent's stop, a drain.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/branch.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace gyre {

/// Which of its parent's stop requests reach the wrapped awaitable.
enum class stop_filter : std::uint8_t {
    pass_all,      ///< As if it were not wrapped.
    block_all,     ///< `shielded`: it goes on while everything around it stops.
    drain_as_stop  ///< `idle`: this wait is intake, so a drain ends it.
};

class limit_base;

/// A limit on inactivity, which each sign of life postpones; for `with_idle_timeout`.
///
/// Belongs to the loop of the coroutine that awaits it. Does not move.
class idle_timeout {
public:
    /// @param  limit  How long it may be silent.
    explicit idle_timeout(duration limit) noexcept : limit_{limit} {}
    idle_timeout(const idle_timeout&) = delete;
    idle_timeout& operator=(const idle_timeout&) = delete;

    /// Something was heard: the limit counts anew from this moment. Outside of `with_idle_timeout`
    /// nothing happens. Cost: a reading of the clock and a store; the loop's heap is left alone until the
    /// moment comes that was meant before.
    void push_back() noexcept;

    [[nodiscard]] duration limit() const noexcept { return limit_; }

private:
    friend class limit_base;

    const duration limit_;
    limit_base* limits_ = nullptr;  // What is being awaited under it.
};

/// The timer of one limit after another, for what waits often, as a connection does: it stays with its loop
/// between them, where a limit that is later than the one before costs a store.
///
/// Belongs to the loop of the coroutines that await under it, one at a time, and is destroyed before that.
/// Does not move.
class limit_timer : private timer {
public:
    limit_timer() noexcept : timer{&fired} {}
    limit_timer(const limit_timer&) = delete;
    limit_timer& operator=(const limit_timer&) = delete;
    ~limit_timer();

private:
    friend class limit_base;

    static void fired(timer& it) noexcept;

    loop* on_ = nullptr;            // Of the limits so far.
    limit_base* limits_ = nullptr;  // What is being awaited under it.
};

/// The untyped part of a limited await.
class limit_base : public branch_base, public stop_target, private timer {
public:
    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override;
    [[nodiscard]] list<stop_chain>* branches() noexcept override { return &branches_; }

protected:
    struct span {
        duration wait = duration::max();
        time_point until = never;
    };

    limit_base(span limit, stop_filter filter, idle_timeout* silence = nullptr,
               limit_timer* lasting = nullptr) noexcept
        : branch_base{nullptr},
          timer{&fired},
          limit_{limit},
          filter_{filter},
          silence_{silence},
          lasting_{lasting} {}
    limit_base(limit_base&& other) noexcept
        : limit_base{other.limit_, other.filter_, other.silence_, other.lasting_} {}
    ~limit_base();

    void prepare(const environment& parent) noexcept;
    void finish() noexcept;

    /// The timer ended it, and nothing else did first.
    [[nodiscard]] bool expired() const noexcept { return expired_; }

private:
    friend class idle_timeout;
    friend class limit_timer;

    static void fired(timer& it) noexcept { static_cast<limit_base&>(it).expire(); }
    void arm(loop& home) noexcept;
    void expire() noexcept;
    void begin_anew() noexcept;
    [[nodiscard]] time_point deadline(loop& home) const noexcept;

    span limit_;
    stop_filter filter_;
    bool expired_ = false;
    idle_timeout* silence_;                // What pushes it back, if anything does.
    limit_timer* lasting_;                 // In place of its own timer.
    const environment* parent_ = nullptr;  // Set from `prepare` until `finish`.
    list<stop_chain> branches_;            // Only ever `chain`; a list for the task dump's sake.
};

/// Whether a stop ends it; what does not say so does, or passes the stop on to what it waits for.
template <class Awaitable>
inline constexpr bool ends_when_stopped = true;
template <class Awaitable>
    requires requires { Awaitable::heeds_stops; }
inline constexpr bool ends_when_stopped<Awaitable> = Awaitable::heeds_stops;

/// Awaits `Awaitable` under a limit; made by the functions below.
template <awaitable Awaitable>
class [[nodiscard]] limited final : public limit_base {
public:
    using inner_result = awaited<Awaitable>;
    using result = std::conditional_t<std::is_void_v<inner_result>, io_result<>, inner_result>;
    static_assert(std::is_void_v<inner_result> || is_io_result<std::remove_cvref_t<inner_result>>,
                  "only what yields an io_result, or nothing, can say that it timed out");
    static_assert(ends_when_stopped<Awaitable>,
                  "what ignores stops goes on however long it takes, whatever limit is around it: "
                  "instead of a group's join() await join_unless_stopped()");

    limited(Awaitable&& it, duration wait,
            stop_filter filter = stop_filter::pass_all) noexcept(moves_well)
        : limit_base{{wait, never}, filter}, it_{std::move(it)} {}
    limited(Awaitable&& it, time_point until) noexcept(moves_well)
        : limit_base{{duration::max(), until}, stop_filter::pass_all}, it_{std::move(it)} {}
    limited(Awaitable&& it, limit_timer& by, time_point until,
            stop_filter filter = stop_filter::pass_all) noexcept(moves_well)
        : limit_base{{duration::max(), until}, filter, nullptr, &by}, it_{std::move(it)} {}
    limited(Awaitable&& it, idle_timeout& silence) noexcept(moves_well)
        : limit_base{{silence.limit(), never}, stop_filter::pass_all, &silence},
          it_{std::move(it)} {}
    limited(limited&& other) noexcept(moves_well)
        : limit_base{static_cast<limit_base&&>(other)}, it_{std::move(other.it_)} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) noexcept {
        prepare(*given);
        std::coroutine_handle<> next;
        if (!begin_for(waiter, it_, next)) return waiter;
        return next ? next : std::noop_coroutine();
    }
    [[nodiscard]] result await_resume() {
        finish();
        if constexpr (std::is_void_v<inner_result>) {
            it_.await_resume();
            return expired() ? io_result<>{errc::timed_out} : io_result<>{};
        } else {
            result outcome = it_.await_resume();
            if (expired() && outcome.error() == errc::canceled) {
                outcome.set_error({errc::timed_out, outcome.error().during()});
            }
            return outcome;
        }
    }

private:
    static constexpr bool moves_well = std::is_nothrow_move_constructible_v<Awaitable>;

    Awaitable it_;
};

/// Awaits `it`, but not for longer than `limit`.
///
/// @param  limit  Counted from the moment it is awaited. Zero or less still lets `it` try once.
/// @param  it     Owned. Yields an `io_result`, or nothing.
/// @return What `it` yields: its own result, progress included, whatever the timer did. Of what yields
///         nothing only whether the limit had passed when it ended.
///
/// Errors:        `errc::timed_out` in place of `errc::canceled` if this limit ended it; the kernel's
///                own time-outs are `errc::connection_timed_out`. Nested limits: the nearest wins.
/// Cancellation:  as `it`.
/// Threads:       resumes on the caller's executor.
/// Cost:          no frame, no allocation; an entry in the loop's heap.
template <awaitable Awaitable>
[[nodiscard]] limited<Awaitable> with_timeout(duration limit, Awaitable it) {
    return {std::move(it), limit};
}

/// The same until a moment, which may have passed.
template <awaitable Awaitable>
[[nodiscard]] limited<Awaitable> with_deadline(time_point until, Awaitable it) {
    return {std::move(it), until};
}

/// The same by a timer that lasts.
///
/// @param  by  Borrowed; limits one thing at a time.
///
/// Errors, Cancellation, Threads: as `with_timeout`.
/// Cost:  no frame, no allocation; a store, if `until` is later than what `by` was used for last.
template <awaitable Awaitable>
[[nodiscard]] limited<Awaitable> with_deadline(limit_timer& by, time_point until, Awaitable it) {
    return {std::move(it), by, until};
}

/// Awaits `it` until `silence` has not been pushed back for as long as it allows.
///
///     idle_timeout silence{30s};
///     auto ended = co_await with_idle_timeout(silence, session(peer, silence));
///
/// @param  silence  Borrowed; limits one thing at a time.
/// @param  it       Owned. Yields an `io_result`, or nothing.
/// @return As `with_timeout`.
///
/// Errors:        `errc::timed_out` in place of `errc::canceled` if the silence ended it.
/// Cancellation:  as `it`.
/// Threads:       resumes on the caller's executor.
/// Cost:          as `with_timeout`, once for all of `it`.
template <awaitable Awaitable>
[[nodiscard]] limited<Awaitable> with_idle_timeout(idle_timeout& silence, Awaitable it) {
    return {std::move(it), silence};
}

/// Awaits `it` to its end although everything around it stops, but not for longer than `limit`: for
/// a logout, a closing handshake, a flush.
///
/// Errors:        `errc::timed_out` if the limit ended it.
/// Cancellation:  ignored, also when it was requested before.
/// Threads:       resumes on the caller's executor.
/// Cost:          as `with_timeout`.
template <awaitable Awaitable>
[[nodiscard]] limited<Awaitable> shielded(Awaitable it, duration limit) {
    return {std::move(it), limit, stop_filter::block_all};
}

/// Marks a wait as idle: a drain ends it with `errc::canceled`, as it ends an accept. For a server's
/// read between two requests.
///
/// Errors, Threads: those of `it`. Cancellation: by a drain too. Cost: no frame, no allocation.
template <awaitable Awaitable>
[[nodiscard]] limited<Awaitable> idle(Awaitable it) {
    return {std::move(it), duration::max(), stop_filter::drain_as_stop};
}

}  // namespace gyre

template <class Awaitable>
struct std::tuple_size<gyre::limited<Awaitable>>
    : gyre::bound_before_awaited<gyre::limited<Awaitable>> {};
