// SPDX-License-Identifier: BSL-1.0
//
// Stops that come from std::stop_token, and stops that go out through std::stop_source.
//
// Threads, pools and libraries beside the program's loops are stopped by those (N4950, 33.3). Both wrappers
// are a branch without a frame, as timeout.hpp's.
#pragma once

#include <gyre/coro/branch.hpp>

#include <optional>
#include <stop_token>
#include <utility>

namespace gyre {

/// The untyped part of both.
class stop_bridge : public branch_base, public stop_target, private work {
public:
    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override {
        return "what a stop token may stop";
    }
    [[nodiscard]] list<stop_chain>* branches() noexcept override { return &branches_; }

protected:
    stop_bridge(std::stop_token token, std::stop_source source) noexcept;
    stop_bridge(stop_bridge&& other) noexcept
        : stop_bridge{std::move(other.token_), std::move(other.source_)} {}
    ~stop_bridge();

    void prepare(const environment& parent) noexcept;
    void finish() noexcept;

private:
    struct teller {
        stop_bridge* to;
        void operator()() const noexcept { to->told(); }
    };

    void told() noexcept;

    std::stop_token token_;    // What may stop it, or none.
    std::stop_source source_;  // What a stop of the caller's goes to, or none.
    std::optional<std::stop_callback<teller>> callback_;
    const environment* parent_ = nullptr;  // Set from `prepare` until `finish`.
    bool posted_ = false;  // Set by the thread that stops, before its post or the callback's end.
    list<stop_chain> branches_;  // Only ever `chain`; a list for the task dump's sake.
};

/// Awaits `Awaitable` with such a bridge; made by the functions below.
template <awaitable Awaitable>
class [[nodiscard]] bridged final : public stop_bridge {
public:
    bridged(Awaitable&& it, std::stop_token token, std::stop_source source) noexcept(moves_well)
        : stop_bridge{std::move(token), std::move(source)}, it_{std::move(it)} {}
    bridged(bridged&& other) noexcept(moves_well)
        : stop_bridge{static_cast<stop_bridge&&>(other)}, it_{std::move(other.it_)} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) noexcept {
        prepare(*given);
        std::coroutine_handle<> first;
        if (!begin_for(waiter, it_, first)) return waiter;
        return first ? first : std::noop_coroutine();
    }
    awaited<Awaitable> await_resume() {
        finish();
        return it_.await_resume();
    }

private:
    static constexpr bool moves_well = std::is_nothrow_move_constructible_v<Awaitable>;

    Awaitable it_;
};

/// Awaits `it`, which a stop of `token` ends as one of the caller's does.
///
///     task<io_result<>> serve_until(std::stop_token asked) {
///         co_return co_await with_stop_token(asked, serve());
///     }
///     std::jthread worker{[](std::stop_token asked) { static_cast<void>(run(serve_until(asked))); }};
///
/// @param  token  Any, also one without a source. May be stopped from any thread.
/// @param  it     Owned.
/// @return What `it` yields.
///
/// Errors:        those of `it`.
/// Cancellation:  by the caller's chain, or by the token: `it` is told at the stop level. A drain comes
///                from the caller only.
/// Threads:       resumes on the caller's executor. The token's callback posts; at its end the wrapper waits
///                for one that is under way, a matter of instructions.
/// Cost:          no frame, no allocation; a lock of the token's state at the begin and at the end.
template <awaitable Awaitable>
[[nodiscard]] bridged<Awaitable> with_stop_token(std::stop_token token, Awaitable it) {
    return {std::move(it), std::move(token), std::stop_source{std::nostopstate}};
}

/// Awaits `it`; a stop that reaches the caller meanwhile, or did before, is requested of `source` too: so
/// work on a thread or in another library hears of it.
///
///     std::stop_source hurry;
///     auto sum = co_await with_stop_source(hurry, blocking(add_up_until(hurry.get_token())));
///
/// @param  source  Shared. Its callbacks run on the loop's thread, in the request, so they must neither block
///                 nor throw.
/// @param  it      Owned.
/// @return What `it` yields.
///
/// Errors, Cancellation: those of `it`. A drain is no stop: the source hears nothing of it.
/// Threads:       resumes on the caller's executor.
/// Cost:          no frame, no allocation.
template <awaitable Awaitable>
[[nodiscard]] bridged<Awaitable> with_stop_source(std::stop_source source, Awaitable it) {
    return {std::move(it), std::stop_token{}, std::move(source)};
}

}  // namespace gyre

template <class Awaitable>
struct std::tuple_size<gyre::bridged<Awaitable>>
    : gyre::bound_before_awaited<gyre::bridged<Awaitable>> {};
