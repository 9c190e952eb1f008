// SPDX-License-Identifier: BSL-1.0
//
// A handler's run: it keeps exceptions in, and what is finished does not wait for it.
//
// Answers that were made without waiting are collected for one write. Once a handler has to wait, they are
// written beside it.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/coro/branch.hpp>
#include <gyre/http/handler.hpp>
#include <http/connection_io.hpp>

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre::http {

/// Awaits the answer to one request, and keeps it; false if the handler threw.
class [[nodiscard]] started_handler final : public fork_point {
public:
    using bound_when_awaited = void;

    /// @param  with, what, io  Borrowed.
    started_handler(const handler& with, http::request& what, connection_io& io) noexcept
        : io_{io} {
        run_catching(failure_, [&] { answering_.emplace(with(what)); });
    }
    started_handler(const started_handler&) = delete;
    started_handler& operator=(const started_handler&) = delete;
    ~started_handler() { let_go(); }

    [[nodiscard]] const char* waiting_for() const noexcept override { return "a handler"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        if (answering_) {
            enter(answering_->chain);
            answering_->start(*this, env(), inherited());
        }
        if (pending() > 1) {
            if (!io_.out.empty() && !io_.flushing()) write_what_is_there();
            return suspend(true);
        }
        // A client that sends without end must give way, whatever its requests need.
        if (given->loop->spend_in_memory()) return false;
        ended();
        return true;
    }
    [[nodiscard]] bool await_resume() const noexcept {
        return failure_.empty() && answering_.has_value();
    }

    /// @pre  there is one.
    [[nodiscard]] response& answer() noexcept { return answering_->result(); }

    /// What left the handler.
    [[nodiscard]] exception_slot& failure() noexcept { return failure_; }

    /// What kept earlier answers from being written: the handler was stopped then.
    [[nodiscard]] error write_failure() const noexcept { return write_failure_; }

    template <class Branch>
    void branch_ended(Branch& it) noexcept {
        failure_.keep_first(it.failure());
        if constexpr (std::is_same_v<Branch, writing_branch>) {
            write_failure_ = failure_.empty() ? it.take().error() : error{};
            if (write_failure_) stop_branches(stop_level::stop);
        }
        leave(it.chain);
    }

private:
    using answering_branch = branch<task<response>, started_handler>;
    using writing_branch = branch<task<io_result<>>, started_handler>;

    void write_what_is_there() noexcept {
        writing_.emplace(io_.flush());
        enter(writing_->chain);
        writing_->start(*this, env(), inherited());
    }

    connection_io& io_;
    exception_slot failure_;
    error write_failure_;
    std::optional<answering_branch> answering_;
    std::optional<writing_branch> writing_;
};

/// Awaits a task of the program's; nothing if it threw.
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
