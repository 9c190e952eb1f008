// SPDX-License-Identifier: BSL-1.0
//
// A gyre loop as an execution context of Asio's: handlers, coroutines and I/O objects of Asio run there.
//
// The opposite of asio_guest.hpp. What Asio's executors promise (equality, blocking, outstanding work)
// is mapped to what a gyre loop has: posting, knowing whether this thread runs it, and work guards.
#pragma once

#include <gyre/runtime/io_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <type_traits>
#include <utility>

namespace gyre {

/// Makes `loop` usable wherever Asio wants an executor or an execution context.
///
/// Asio's timers and sockets may be made on it as well: their waiting is done by a thread of Asio's,
/// started with the first of them, and their handlers are run by the loop. Does not move. Must outlive
/// the I/O objects made on it, and die before the loop; handlers that wait then are not waited for.
///
/// Threads:  `get_executor` and everything that executors do, any; the rest, the loop's.
class asio_context : public boost::asio::execution_context {
public:
    class executor_type;

    explicit asio_context(io_context& loop) noexcept : loop_{loop} {}
    ~asio_context() {
        shutdown();
        destroy();
    }

    [[nodiscard]] executor_type get_executor() noexcept;
    [[nodiscard]] io_context& loop() const noexcept { return loop_; }

private:
    io_context& loop_;
};

/// Runs handlers on the loop. Copies are equal as long as they promise the same.
///
/// - `blocking.possibly`, the default: runs at once if this thread is inside the loop, else posts.
/// - `blocking.never`: always posts.
/// - `outstanding_work.tracked`: keeps the loop's `run` from returning, as a `work_guard` does.
///
/// A handler that throws ends the process: gyre loops pass no exceptions on.
///
/// Cost:  one block from the frame cache per posted handler; 6 ns on the loop's own thread, and 33
/// more behind an `any_io_executor`.
class asio_context::executor_type {
public:
    explicit executor_type(asio_context& of) noexcept : context_{&of} {}
    executor_type(const executor_type& other) noexcept
        : executor_type{other, other.blocking_, other.tracked()} {}
    executor_type(executor_type&& other) noexcept = default;
    executor_type& operator=(executor_type other) noexcept {
        context_ = other.context_;
        blocking_ = other.blocking_;
        guard_ = std::move(other.guard_);
        return *this;
    }
    ~executor_type() = default;

    template <class Function>
    void execute(Function function) const {
        io_context& loop = context_->loop();
        if (blocking_ == blocking::possibly && loop.running_on_this_thread()) {
            function();
        } else {
            loop.post(std::move(function));
        }
    }

    [[nodiscard]] asio_context& query(boost::asio::execution::context_t) const noexcept {
        return *context_;
    }
    [[nodiscard]] boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) const noexcept {
        if (blocking_ == blocking::not_at_all) return boost::asio::execution::blocking.never;
        return boost::asio::execution::blocking.possibly;
    }
    [[nodiscard]] boost::asio::execution::outstanding_work_t query(
        boost::asio::execution::outstanding_work_t) const noexcept {
        if (tracked()) return boost::asio::execution::outstanding_work.tracked;
        return boost::asio::execution::outstanding_work.untracked;
    }

    [[nodiscard]] executor_type require(
        boost::asio::execution::blocking_t::possibly_t) const noexcept {
        return {*this, blocking::possibly, tracked()};
    }
    [[nodiscard]] executor_type require(
        boost::asio::execution::blocking_t::never_t) const noexcept {
        return {*this, blocking::not_at_all, tracked()};
    }
    [[nodiscard]] executor_type require(
        boost::asio::execution::outstanding_work_t::tracked_t) const noexcept {
        return {*this, blocking_, true};
    }
    [[nodiscard]] executor_type require(
        boost::asio::execution::outstanding_work_t::untracked_t) const noexcept {
        return {*this, blocking_, false};
    }

    [[nodiscard]] friend bool operator==(const executor_type& left,
                                         const executor_type& right) noexcept {
        return left.context_ == right.context_ && left.blocking_ == right.blocking_ &&
               left.tracked() == right.tracked();
    }
    [[nodiscard]] friend bool operator!=(const executor_type& left,
                                         const executor_type& right) noexcept {
        return !(left == right);
    }

private:
    [[nodiscard]] bool tracked() const noexcept { return static_cast<bool>(guard_); }

    enum class blocking : bool { possibly, not_at_all };

    executor_type(const executor_type& other, blocking how, bool guarded) noexcept
        : context_{other.context_}, blocking_{how} {
        if (guarded) guard_ = io_context::work_guard{context_->loop()};
    }

    asio_context* context_;
    io_context::work_guard guard_;  // Of a tracked executor.
    blocking blocking_ = blocking::possibly;
};

inline asio_context::executor_type asio_context::get_executor() noexcept {
    return executor_type{*this};
}

static_assert(boost::asio::execution::is_executor<asio_context::executor_type>::value);

}  // namespace gyre
