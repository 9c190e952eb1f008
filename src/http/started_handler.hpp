// SPDX-License-Identifier: BSL-1.0
//
// The run of a handler or a producer: it keeps exceptions in, and what is finished does not wait for it.
//
// Answers that were made without waiting are collected for one write. Once a handler has to wait, they are
// written beside it, and it is stopped if its peer leaves.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/coro/branch.hpp>
#include <gyre/http/handler.hpp>
#include <http/connection_io.hpp>
#include <http/peer_watch.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace gyre::http {

/// Awaits a task of the program's, and keeps its result; false if it threw. What derives from it begins
/// other things beside the task once that waits.
template <class Result>
class [[nodiscard]] started_task : public fork_point {
public:
    using bound_when_awaited = void;

    started_task(const started_task&) = delete;
    started_task& operator=(const started_task&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        if (running_) {
            enter(running_->chain);
            running_->start(*this, env(), inherited());
        }
        if (pending() > 1) {
            begins_to_wait();
            return suspend(true);
        }
        // A client that sends without end must give way, whatever its requests need.
        if (given->loop->spend_in_memory()) return false;
        ended();
        return true;
    }
    [[nodiscard]] bool await_resume() const noexcept {
        return failure_.empty() && running_.has_value();
    }

    /// @pre  there is one.
    [[nodiscard]] Result& result() noexcept { return running_->result(); }

    /// What left the task.
    [[nodiscard]] exception_slot& failure() noexcept { return failure_; }

    void branch_ended(branch<task<Result>, started_task>& it) noexcept {
        failure_.keep_first(it.failure());
        over_ = true;
        has_ended();
        leave(it.chain);
    }

protected:
    /// @param  make  Makes the task; may throw.
    template <class Make>
    explicit started_task(const Make& make) noexcept {
        run_catching(failure_, [&] { running_.emplace(make()); });
    }
    /// What derives from it calls `let_go` before its members end.
    ~started_task() = default;

    /// The task waits; it has ended after it has waited.
    virtual void begins_to_wait() noexcept = 0;
    virtual void has_ended() noexcept = 0;

    void stop_task() noexcept {
        if (!over_) running_->chain.request(stop_level::stop);
    }

    exception_slot failure_;

private:
    std::optional<branch<task<Result>, started_task>> running_;
    bool over_ = false;
};

/// A task of a connection of HTTP/1. While it waits, answers that are finished are written, and its peer is
/// watched: if that leaves, the task is stopped.
template <class Result>
class [[nodiscard]] attended_task final : public started_task<Result> {
public:
    /// What it waits for; borrowed.
    struct surroundings {
        connection_io& io;
        framed_source& body;
        event& left;      ///< Set when the peer has left.
        bool half_close;  ///< As in `connection_options`.
        bool writes;      ///< True if `io.out` is to be written beside the task.
    };

    template <class Make>
    attended_task(const surroundings& in, const Make& make) noexcept
        : started_task<Result>{make}, in_{in} {}
    ~attended_task() { this->let_go(); }

    [[nodiscard]] const char* waiting_for() const noexcept override {
        return in_.writes ? "a handler" : "a body's producer";
    }

    /// What kept earlier answers from being written: the task was stopped then.
    [[nodiscard]] error write_failure() const noexcept { return write_failure_; }

    using started_task<Result>::branch_ended;
    void branch_ended(branch<task<io_result<>>, attended_task>& it) noexcept {
        this->failure_.keep_first(it.failure());
        const error how = it.failure().empty() ? it.take().error() : error{};
        if (writing_ && &it == &*writing_) {
            write_failure_ = how;
            if (how) this->stop_branches(stop_level::stop);
        } else {
            is_watched_ = false;
            if (how && how != errc::canceled) {
                in_.left.set();
                this->stop_task();
            }
        }
        this->leave(it.chain);
    }

private:
    using beside = std::optional<branch<task<io_result<>>, attended_task>>;

    void begins_to_wait() noexcept override {
        if (in_.writes && !in_.io.out.empty() && !in_.io.flushing())
            begin(writing_, in_.io.flush());
        is_watched_ = true;
        begin(watching_, watch_peer(in_.io, in_.body, in_.half_close));
    }
    void has_ended() noexcept override {
        if (is_watched_) watching_->chain.request(stop_level::stop);
    }
    void begin(beside& as, task<io_result<>> what) noexcept {
        as.emplace(std::move(what));
        this->enter(as->chain);
        as->start(*this, this->env(), this->inherited());
    }

    surroundings in_;
    error write_failure_;
    beside writing_;
    beside watching_;
    bool is_watched_ = false;
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
