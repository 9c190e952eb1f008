// SPDX-License-Identifier: BSL-1.0
//
// The one awaitable that submits an operation.
//
// Every socket method returns a `submission`: the record, plus what turns its raw result into the
// method's own. It follows the contract in awaitable.hpp: a leaf in its chain's slot, cancelled through
// its loop, reaped if its frame is destroyed.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/runtime/io_context.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace gyre {

/// The untyped part of a submission: how it starts, is stopped, resumes, and is let go of.
class pending_operation : public stop_target {
public:
    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override { return describe(op_->code); }

protected:
    /// @param  generation  Of the opening that it is for, if it is for one.
    pending_operation(std::uint32_t generation, stop_level ends_at) noexcept
        : ends_at_{ends_at}, generation_{generation} {}
    pending_operation(pending_operation&& other) noexcept
        : ends_at_{other.ends_at_}, generation_{other.generation_} {}
    ~pending_operation() = default;

    /// Ends what was made for a descriptor that is not open any more, or never was.
    static constexpr std::int32_t closed_already = -static_cast<std::int32_t>(errc::closed);

    /// Whether `target` is what it was when the submission was made. If not, it may be another loop's by
    /// now, and not even be looked at.
    [[nodiscard]] bool still_open(descriptor_slot* target) const noexcept {
        return opening{target, generation_}.lasts();
    }

    /// Begins `op`, unless `failure`, an -errno, says that it is over already. False if it is over
    /// and the coroutine goes on at once; otherwise `op.run` is called later.
    [[nodiscard]] bool start(operation& op, std::int32_t failure, std::coroutine_handle<> waiter,
                             const environment& given) noexcept;

    /// For `op.run`: resumes on the executor that the coroutine belongs to, by `resume_on_executor`
    /// if that is not the loop itself.
    void completed(work::function resume_on_executor) noexcept;

    void resume_now() noexcept { gyre::resume(waiter_); }

    /// Ends an operation whose frame is being destroyed, on the spot.
    void abandon() noexcept;

private:
    const stop_level ends_at_;        // Intake ends with a drain, everything else with a stop.
    const std::uint32_t generation_;  // Here, where there was room, and not in the record.
    operation* op_ = nullptr;
    std::coroutine_handle<> waiter_;
};

/// Submits `Operation`; `Finish` turns its result into what `co_await` yields.
///
/// One may be awaited later, or in a loop, and lose the descriptor to another coroutine's `close`
/// meanwhile: it then ends with `errc::closed`. That is an event and not a mistake of the program,
/// for the moment may be a peer's choice.
///
/// `Finish` has two functions. `prepare(operation, io_context)` is called when everything has
/// reached its final address, and returns 0 or the -errno to end with at once. `finish(operation)` is
/// called exactly once, also when the operation was abandoned, so that a result which owns something
/// is disposed of; what it throws then is dropped.
template <class Operation, class Finish>
class [[nodiscard]] submission final : private Operation, public pending_operation {
public:
    using result_type = decltype(std::declval<Finish&>()(std::declval<Operation&>()));

    /// @param  on  Of what it is for. It may be closed by the time of the await, or now.
    submission(opening on, Operation what, Finish finish = Finish{},
               stop_level ends_at = stop_level::stop) noexcept
        requires(Operation::needs_open)
        : Operation{std::move(what)},
          pending_operation{on.generation, ends_at},
          finish_{std::move(finish)} {
        this->target = on.of;
    }

    /// For what is on no descriptor, or opens its own.
    explicit submission(Operation what, Finish finish = Finish{}) noexcept
        requires(!Operation::needs_open)
        : Operation{std::move(what)},
          pending_operation{0, stop_level::stop},
          finish_{std::move(finish)} {}

    submission(submission&&) noexcept = default;
    ~submission() {
        if (progress_ == progress::idle || progress_ == progress::taken) return;
        if (progress_ == progress::pending) abandon();
        if (progress_ == progress::posted) this->env->executor.retract(*this);
        exception_slot unheard;  // No coroutine is left that could catch it.
        run_catching(unheard,
                     [this] { static_cast<void>(finish_(static_cast<Operation&>(*this))); });
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        this->run = [](work& item) noexcept {
            submission& self = from(item);
            self.progress_ = progress::posted;
            self.completed([](work& again) noexcept { from(again).resume_now(); });
        };
        progress_ = progress::pending;
        const std::int32_t failure = prepare(context_of(*given));
        if (start(*this, failure, waiter, *given)) return true;
        progress_ = progress::over;
        return false;
    }
    [[nodiscard]] result_type await_resume() {
        progress_ = progress::taken;
        return finish_(static_cast<Operation&>(*this));
    }

private:
    [[nodiscard]] static submission& from(work& item) noexcept {
        return static_cast<submission&>(static_cast<Operation&>(static_cast<operation&>(item)));
    }

    [[nodiscard]] std::int32_t prepare(io_context& on) noexcept {
        if constexpr (Operation::needs_open) {
            if (!still_open(this->target)) return closed_already;
        }
        return finish_.prepare(static_cast<Operation&>(*this), on);
    }

    enum class progress : std::uint8_t { idle, pending, posted, over, taken };

    [[no_unique_address]] Finish finish_;
    progress progress_ = progress::idle;
};

/// The error of a finished operation, if its result is one.
[[nodiscard]] inline error error_of(const operation& op) noexcept {
    return op.result < 0 ? failure_of(op) : error{};
}

/// Finishes operations whose result is only success or failure.
struct finish_plain {
    [[nodiscard]] std::int32_t prepare(operation&, io_context&) const noexcept { return 0; }
    [[nodiscard]] io_result<> operator()(const operation& op) const noexcept {
        return error_of(op);
    }
};

/// Something done at once on the loop's host, awaited so that the environment reaches it.
///
/// `Function` is called as `function(io_context&)` when awaited; what it returns is yielded.
///
/// Errors:        those of the function.
/// Cancellation:  none; it never waits.
/// Threads:       the caller's loop. Completes inline, or in a later item where the turn's budget is spent.
/// Cost:          no allocation; the function's, and a few ns.
template <class Function>
class [[nodiscard]] immediate final {
public:
    using result_type = std::invoke_result_t<Function&, io_context&>;

    explicit immediate(Function call) noexcept : call_{std::move(call)} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        back_.begin(waiter, *given);
        if (given->loop->spend()) return false;
        back_.post();
        return true;
    }
    [[nodiscard]] result_type await_resume() noexcept { return call_(context_of(back_.env())); }

private:
    Function call_;
    resumption back_;
};

}  // namespace gyre

template <class Operation, class Finish>
struct std::tuple_size<gyre::submission<Operation, Finish>>
    : gyre::bound_before_awaited<gyre::submission<Operation, Finish>> {};
