// SPDX-License-Identifier: BSL-1.0
//
// What a coroutine may ask about itself, and a stop as something to wait for.
//
// All of it stands in the environment that each await hands down; these are the awaitables that show it.
#pragma once

#include <gyre/coro/environment.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/coro/task_locals.hpp>

#include <coroutine>
#include <string_view>

namespace gyre {

/// Looks at the environment; yields what `Look` finds there.
template <class Look>
class [[nodiscard]] look_awaiter final {
public:
    explicit look_awaiter(Look look) noexcept : look_{look} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept {
        back_.begin(handle, *given);
        if (given->loop->spend_in_memory()) return false;
        back_.post();
        return true;
    }
    [[nodiscard]] decltype(auto) await_resume() { return look_(back_.env()); }

private:
    Look look_;
    resumption back_;
};

/// Waits for a stop; made by `this_task::stop_requested`.
class [[nodiscard]] stop_awaiter final : public stop_target {
public:
    explicit stop_awaiter(stop_level at_least) noexcept : at_least_{at_least} {}
    stop_awaiter(stop_awaiter&& other) noexcept : stop_awaiter{other.at_least_} {}
    ~stop_awaiter();

    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override { return "a stop"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept;
    // NOLINTNEXTLINE(modernize-use-nodiscard): that it came may be all there is to know.
    stop_level await_resume() const noexcept { return back_.env().chain->level(); }

private:
    stop_level at_least_;
    resumption back_;
    bool waiting_ = false;
};

/// Errors: none. Cancellation: none, nothing waits. Threads: the caller's loop. Cost: a few ns, of the
/// turn's budget; except as each says.
namespace this_task {

/// The loop that the coroutine runs on: its clock and timers; `context_of` makes an io_context of it.
[[nodiscard]] inline auto loop() noexcept {
    return look_awaiter{[](const environment& env) noexcept -> gyre::loop& { return *env.loop; }};
}

/// Where it is resumed: the loop, or a strand on that.
[[nodiscard]] inline auto executor() noexcept {
    return look_awaiter{[](const environment& env) noexcept { return env.executor; }};
}

/// What was asked of it: nothing, a drain, or a stop. Under a shield, what was asked within that.
[[nodiscard]] inline auto stop_state() noexcept {
    return look_awaiter{[](const environment& env) noexcept { return env.chain->level(); }};
}

/// Whether it is to take in nothing new: a session then says `Connection: close` in its answer.
[[nodiscard]] inline auto draining() noexcept {
    return look_awaiter{
        [](const environment& env) noexcept { return env.chain->level() >= stop_level::drain; }};
}

/// Waits until it is asked to drain or, if so wanted, to stop.
///
/// @return What was asked for.
///
/// Errors:        none.
/// Cancellation:  is what it waits for.
/// Threads:       resumes on the caller's executor.
/// Cost:          no allocation; two stores.
[[nodiscard]] inline stop_awaiter stop_requested(stop_level at_least = stop_level::drain) noexcept {
    return stop_awaiter{at_least};
}

/// What is bound to `key`, or null. Valid as long as the binding: at least while the caller runs.
template <class Value>
[[nodiscard]] auto local(const task_local<Value>& key) noexcept {
    return look_awaiter{
        [&key](const environment& env) noexcept -> const Value* { return key.find(env.locals); }};
}

/// All that is bound, copied, to be carried where no environment reaches. Cost: a block for each.
[[nodiscard]] inline auto locals() noexcept {
    return look_awaiter{[](const environment& env) { return task_locals{env.locals}; }};
}

/// What it is called, or what it inherited; empty if nothing was said. Valid as `local`.
[[nodiscard]] inline auto name() noexcept {
    return look_awaiter{[](const environment& env) noexcept {
        const std::string* said = task_name.find(env.locals);
        return said == nullptr ? std::string_view{} : std::string_view{*said};
    }};
}

}  // namespace this_task

}  // namespace gyre
