// SPDX-License-Identifier: BSL-1.0
//
// A coroutine for code that calls functions and is called back.
//
// `launch` needs a record beside the coroutine's frame. A code base that is ported one function at a time
// crosses this border on every request, so here the record lies in front of the frame, in one block: a
// function that returns `springboard<Result>` is called like any other, and `call` gives it a place to
// run and a function to tell. callbacks.hpp is the opposite direction.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/frame_memory.hpp>
#include <gyre/coro/launch.hpp>

#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace gyre {

/// A coroutine that reports its result to a callback; otherwise written like a task. Other
/// libraries call one that is started by a function and has no awaiter *detached*; this one is
/// detached with a handler for its result and a handle to stop it.
///
/// Owns its frame until `call`; one that is never called just disappears, arguments and all. Moves; does
/// not copy.
template <class Result = void>
class [[nodiscard]] springboard {
public:
    class promise_type;
    using result_type = Result;

    /// How large a handler may be: it lies in the one block there is. Capture a pointer.
    static constexpr std::size_t handler_size_max = 4 * sizeof(void*);

    springboard(springboard&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
    springboard& operator=(springboard&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~springboard() {
        if (frame_) frame_.destroy();
    }

    /// Starts the coroutine on `where`; it begins when the loop next runs.
    ///
    /// @param  where    The executor it runs on. Borrowed; must outlive the coroutine. A loop that dies
    ///                  first stops the coroutine and runs it to its end, so the handler is called all
    ///                  the same, from the loop's destructor.
    /// @param  handler  Called once on the loop's thread, as `handler(Result)` or, to see an exception,
    ///                  as `handler(task_outcome<Result>)`; then destroyed, and then the frame is. Must
    ///                  not throw, and must not refer to what may die before: a caller that may die
    ///                  stops the coroutine by the handle, and lets the handler hold a weak pointer.
    /// @return A handle to stop it by; may be dropped.
    ///
    /// Threads:  any.
    /// Cost:     nothing allocated; about 20 ns from call to callback.
    template <executor Executor, class Handler>
    stop_handle call(Executor& where, Handler handler) &&;

private:
    explicit springboard(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

    std::coroutine_handle<promise_type> frame_;  // Null once called or moved from.
};

// Implementation

/// Stands in front of the frame, and outlives it for as long as a stop_handle to it exists.
template <class Result>
class springboard_record final : public root {
public:
    using promise = typename springboard<Result>::promise_type;

    explicit springboard_record(std::size_t block_size) noexcept
        : root{executor_ref{}, nullptr, &start, &finish, &destroy}, block_size_{block_size} {}

    /// The distance from the record to its frame.
    static constexpr std::size_t room() noexcept {
        constexpr std::size_t step = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
        return (sizeof(springboard_record) + step - 1) / step * step;
    }
    [[nodiscard]] static springboard_record& in_front_of(void* frame) noexcept {
        return *std::launder(
            reinterpret_cast<springboard_record*>(static_cast<std::byte*>(frame) - room()));
    }

    [[nodiscard]] static void* allocate(std::size_t frame_size) noexcept {
        const std::size_t size = room() + frame_size;
        void* const block = frame_cache::allocate(size);
        ::new (block) springboard_record{size};
        return static_cast<std::byte*>(block) + room();
    }

    /// The frame is gone. Its memory goes with the record, which others may still hold if it was called.
    static void frame_destroyed(void* frame) noexcept {
        springboard_record& self = in_front_of(frame);
        if (!self.called_) destroy(self);
    }

    template <class Handler>
    void begin(executor_ref where, gyre::loop& home, std::coroutine_handle<promise> frame,
               Handler handler) noexcept {
        static_assert(sizeof(Handler) <= springboard<Result>::handler_size_max,
                      "a springboard's handler has four words: capture a pointer to the rest");
        static_assert(alignof(Handler) <= alignof(void*) &&
                      std::is_nothrow_move_constructible_v<Handler>);
        called_ = true;
        frame_ = frame;
        ::new (static_cast<void*>(handler_)) Handler{std::move(handler)};
        tell_ = [](void* it, promise& ended) noexcept {
            Handler& kept = *std::launder(static_cast<Handler*>(it));
            task_outcome<Result> outcome{ended};
            if constexpr (std::invocable<Handler&, task_outcome<Result>>) {
                kept(outcome);
            } else if constexpr (std::is_void_v<Result>) {
                outcome.get();
                kept();
            } else {
                kept(outcome.get());
            }
            std::destroy_at(&kept);
        };
        chain.top = &frame.promise();
        frame.promise().continuation = on_done();
        settle(where, home);
        post();
    }

private:
    static void start(work& item) noexcept {
        auto& self = static_cast<springboard_record&>(of(item));
        self.enlist();
        self.frame_.promise().env = &self.env();
        gyre::resume(self.frame_);
    }

    static void finish(callback_frame* frame) {
        auto& self = static_cast<springboard_record&>(of(frame));
        self.retire();
        self.tell_(self.handler_, self.frame_.promise());
        self.frame_.destroy();
        self.drop();
    }

    static void destroy(root& it) noexcept {
        auto& self = static_cast<springboard_record&>(it);
        const std::size_t size = self.block_size_;
        void* const block = &self;
        self.~springboard_record();
        frame_cache::release(block, size);
    }

    std::size_t block_size_;
    std::coroutine_handle<promise> frame_;
    void (*tell_)(void* handler, promise& ended) noexcept = nullptr;
    alignas(void*) std::byte handler_[springboard<Result>::handler_size_max];
    bool called_ = false;
};

template <class Result>
class springboard<Result>::promise_type : public task_node, public result_slot<Result> {
public:
    std::coroutine_handle<> continuation;

    static void* operator new(std::size_t size) {
        return springboard_record<Result>::allocate(size);
    }
    static void operator delete(void* frame, std::size_t) noexcept {
        springboard_record<Result>::frame_destroyed(frame);
    }

    [[nodiscard]] springboard get_return_object() noexcept {
        return springboard{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] final_transfer final_suspend() const noexcept { return {}; }
};

template <class Result>
template <executor Executor, class Handler>
stop_handle springboard<Result>::call(Executor& where, Handler handler) && {
    expects(frame_ != nullptr, "a springboard is called once, and not after it was moved from");
    const std::coroutine_handle<promise_type> frame = std::exchange(frame_, nullptr);
    auto& record = springboard_record<Result>::in_front_of(frame.address());
    stop_handle stop{record};
    record.begin(executor_ref{where}, where.home(), frame, std::move(handler));
    return stop;
}

}  // namespace gyre

template <class Result, class... Parameters>
    requires gyre::asks_for_resource<Parameters...>
struct std::coroutine_traits<gyre::springboard<Result>, Parameters...> {
    using promise_type = typename gyre::springboard<Result>::promise_type;
    static_assert(sizeof...(Parameters) == 0,
                  "a springboard's frame and record are one block of the frame cache: take "
                  "std::allocator_arg_t in a task that it awaits");
};
