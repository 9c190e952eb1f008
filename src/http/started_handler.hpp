// SPDX-License-Identifier: BSL-1.0
//
// A handler's run: it keeps exceptions in, and tells whether the handler has waited for anything.
//
// What never waits can be answered together with the requests that came with it; once a handler waits,
// finished answers must not wait for it.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/http/handler.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace gyre::http {

/// Awaits the answer to one request; nothing if the handler threw.
class [[nodiscard]] started_handler : private callback_frame {
public:
    using bound_when_awaited = void;

    started_handler(const handler& with, request& what, exception_slot& failure,
                    bool& waited) noexcept
        : callback_frame{[](callback_frame* frame) {
              static_cast<started_handler*>(frame)->ended();
          }},
          failure_{failure},
          waited_{waited} {
        run_catching(failure_, [&] { it_.emplace(with(what)); });
    }
    started_handler(const started_handler&) = delete;
    started_handler& operator=(const started_handler&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        back_.begin(waiter, *given);
        waited_ = false;
        if (it_) {
            starting_ = true;
            gyre::resume(it_->await_suspend(callback_frame::handle(), &back_.env()));
            starting_ = false;
            if (!over_) return waited_ = true;
        }
        // A client that sends without end must give way, whatever its requests need.
        if (given->loop->spend_in_memory()) return false;
        back_.post();
        return true;
    }
    [[nodiscard]] std::optional<response> await_resume() noexcept {
        std::optional<response> answer;
        if (it_) run_catching(failure_, [&] { answer.emplace(it_->await_resume()); });
        return answer;
    }

private:
    void ended() noexcept {
        over_ = true;
        if (!starting_) back_.resume();
    }

    std::optional<task<response>> it_;
    resumption back_;
    exception_slot& failure_;
    bool& waited_;
    bool starting_ = false;
    bool over_ = false;
};

/// Awaits a task of somebody else's; nothing if it threw.
template <class Result>
class [[nodiscard]] kept_in {
public:
    using bound_when_awaited = void;

    kept_in(task<Result> it, exception_slot& failure) noexcept
        : it_{std::move(it)}, failure_{failure} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) noexcept {
        return it_.await_suspend(waiter, given);
    }
    [[nodiscard]] std::optional<Result> await_resume() noexcept {
        std::optional<Result> result;
        run_catching(failure_, [&] { result.emplace(it_.await_resume()); });
        return result;
    }

private:
    task<Result> it_;
    exception_slot& failure_;
};

}  // namespace gyre::http
