// SPDX-License-Identifier: BSL-1.0
//
// Awaiting a callback: a function that calls back when it is done becomes an awaitable.
//
// A library that calls a function when it is done knows nothing of loops, stops or frames: it may call
// twice, never, from another thread, or long after the wait has ended. All of that ends here, in a
// small block that the waiting coroutine and the callback share. springboard.hpp and future.hpp are the
// ways back, from coroutines to code that calls back or blocks.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/wait_briefly.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <gyre/interop/future.hpp>
#include <gyre/interop/springboard.hpp>
#include <gyre/runtime/io_context.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace gyre {

/// What a callback and the coroutine that waits for it share; lives as long as either of them.
class callback_block : private work {
public:
    callback_block(const callback_block&) = delete;
    callback_block& operator=(const callback_block&) = delete;

    /// Takes the one right to say how the wait ends. Any thread.
    [[nodiscard]] bool claim() noexcept {
        return (phase_.fetch_or(claimed, std::memory_order_acq_rel) & claimed) == 0;
    }
    [[nodiscard]] bool undecided() const noexcept {
        return (phase_.load(std::memory_order_acquire) & claimed) == 0;
    }
    [[nodiscard]] bool finished() const noexcept {
        return (phase_.load(std::memory_order_acquire) & published) != 0;
    }

    /// After a claim, when the result has been written. Any thread that keeps the block alive.
    void publish() noexcept {
        const unsigned before = phase_.fetch_or(published, std::memory_order_acq_rel);
        if ((before & waiting) == 0) return;  // The wait is still beginning, and will look.
        if (!context_of(env_).running_on_this_thread()) return publish_from_another_thread();
        end_wait();
    }

    /// The coroutine will be resumed by `publish` or `end_wait`. False if `publish` came first.
    [[nodiscard]] bool begin_wait(std::coroutine_handle<> waiter,
                                  const environment& given) noexcept {
        waiter_ = waiter;
        env_ = given;
        expected_ = context_of(given).expect_post(true);
        if ((phase_.fetch_or(waiting, std::memory_order_acq_rel) & published) == 0) return true;
        context_of(given).posted_as_expected(expected_);
        return false;
    }

    /// On the loop's thread, after a claim: no other thread is going to post.
    void end_wait() noexcept {
        context_of(env_).posted_as_expected(expected_);
        post_resumption();
    }

    /// The coroutine does not go on at once although nothing is left to wait for.
    void resume_later(std::coroutine_handle<> waiter, const environment& given) noexcept {
        waiter_ = waiter;
        env_ = given;
        post_resumption();
    }

    /// The waiting frame is being destroyed, on its loop's thread. Gives up its share, and takes back its
    /// resumption: the executor, a strand perhaps, may be gone before it would run.
    void forget_waiter() noexcept {
        env_.chain->leave();
        if (claim()) {
            context_of(env_).posted_as_expected(expected_);
        } else {
            // A call from elsewhere is in its middle: it moves its values, and posts.
            wait_briefly([this] { return posted_.load(std::memory_order_acquire); });
            env_.executor.retract(*this);
        }
        drop();
    }

    void callback_copied() noexcept { callbacks_.fetch_add(1, std::memory_order_relaxed); }

    /// True if this was the last one.
    [[nodiscard]] bool callback_dropped() noexcept {
        return callbacks_.load(std::memory_order_acquire) == 1 ||
               callbacks_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    /// Gives up the waiting coroutine's share, or that of all callbacks.
    void drop() noexcept {
        if (owners_.load(std::memory_order_acquire) == 1 ||
            owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy_(*this);
        }
    }

protected:
    using destroyer = void (*)(callback_block&) noexcept;

    explicit callback_block(destroyer destroy) noexcept : work{&go_on}, destroy_{destroy} {}
    ~callback_block() = default;

private:
    static constexpr unsigned claimed = 1;    // It is settled which one says how it ends.
    static constexpr unsigned published = 2;  // The result can be read.
    static constexpr unsigned waiting = 4;    // The coroutine waits to be resumed.

    // Apart, so that what is called on the loop's own thread stays small.
    [[gnu::noinline]] void publish_from_another_thread() noexcept {
        io_context& home = context_of(env_);
        const expected_post expected = expected_;
        // The coroutine may go on at once, and destroy the owner of the callback that is being
        // called.
        owners_.fetch_add(1, std::memory_order_relaxed);
        post_resumption();
        drop();
        home.posted_as_expected(expected);
    }

    void post_resumption() noexcept {
        env_.executor.post(*this);
        posted_.store(true, std::memory_order_release);
    }

    static void go_on(work& item) noexcept {
        auto& self = static_cast<callback_block&>(item);
        self.env_.chain->leave();
        gyre::resume(self.waiter_);
    }

    destroyer destroy_;
    std::atomic<unsigned> phase_ = 0;
    std::atomic<int> callbacks_ = 1;
    std::atomic<int> owners_ = 2;
    std::atomic<bool> posted_ = false;  // The executor has this.
    expected_post expected_;
    // Of the waiting coroutine, copied: its frame may be destroyed while a call comes. The chain lives
    // as long as that frame.
    environment env_;
    std::coroutine_handle<> waiter_;
};

/// The block with room for the result.
template <class... Values>
class typed_callback_block final : public callback_block {
public:
    typed_callback_block() noexcept
        : callback_block{[](callback_block& self) noexcept {
              delete static_cast<typed_callback_block*>(&self);
          }} {}

    static void* operator new(std::size_t size) noexcept { return frame_cache::allocate(size); }
    static void operator delete(void* memory, std::size_t size) noexcept {
        frame_cache::release(memory, size);
    }

    io_result<Values...> result;  ///< Written by the thread that has claimed the end.
};

/// A function to be called when something is done; what `from_callback` hands out. One word.
///
/// The first call ends the wait; later ones, and those after the wait was stopped, change nothing and
/// drop their values. When the last copy dies without a call, the wait ends with
/// `errc::broken_promise`, for no call can come any more.
///
/// Threads:  copies may be called and destroyed on any thread; one copy by one thread at a time.
/// Lifetime: may outlive the coroutine and its loop.
/// Cost:     11 to 28 ns for wait, call and resumption on the loop's own thread.
template <class... Values>
class callback {
    static_assert((std::is_nothrow_move_constructible_v<Values> && ...) &&
                      (std::is_nothrow_move_assignable_v<Values> && ...),
                  "a value is handed from a callback to a coroutine, neither of which could catch "
                  "what its move throws: pass a std::unique_ptr to it");

public:
    callback(const callback& other) noexcept : block_{other.block_} {
        if (block_ != nullptr) block_->callback_copied();
    }
    callback(callback&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
    callback& operator=(callback other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~callback() {
        if (block_ == nullptr || !block_->callback_dropped()) return;
        end_with(io_result<Values...>{errc::broken_promise});
        block_->drop();
    }

    /// Done, with `values`. False if that came too late.
    bool operator()(Values... values) const noexcept {
        return (*this)(error{}, std::move(values)...);
    }

    /// Over, with an error and what was achieved before it. False if that came too late.
    bool operator()(error failure, Values... values) const noexcept {
        return end_with(io_result<Values...>{failure, std::move(values)...});
    }

    /// Failed without achieving anything. False if that came too late.
    bool fail(error failure) const noexcept { return end_with(io_result<Values...>{failure}); }

    /// Whether a call would still be heard; may change at any moment.
    [[nodiscard]] bool wanted() const noexcept { return block_ != nullptr && block_->undecided(); }

    /// As the `void*` of an interface in C, which then owns this copy until `adopt` takes it back.
    [[nodiscard]] void* release() noexcept { return std::exchange(block_, nullptr); }

    /// The copy that `release` gave away. Once; an interface that may call twice must keep the
    /// callback itself somewhere and hand out a pointer to that.
    [[nodiscard]] static callback adopt(void* released) noexcept {
        return callback{*static_cast<typed_callback_block<Values...>*>(released)};
    }

private:
    template <class, class, class...>
    friend class callback_awaiter;

    explicit callback(typed_callback_block<Values...>& block) noexcept : block_{&block} {}

    bool end_with(io_result<Values...> result) const noexcept {
        if (block_ == nullptr || !block_->claim()) return false;
        block_->result = std::move(result);
        block_->publish();
        return true;
    }

    typed_callback_block<Values...>* block_;
};

/// For waits that end at once when they are stopped.
struct no_cancel {};

/// Waits for a callback; made by `from_callback`.
template <class Start, class Cancel, class... Values>
class [[nodiscard]] callback_awaiter final : public stop_target {
public:
    callback_awaiter(Start start, Cancel cancel) noexcept(moves_well)
        : start_{std::move(start)}, cancel_{std::move(cancel)} {}
    callback_awaiter(callback_awaiter&& other) noexcept(moves_well)
        : start_{std::move(other.start_)}, cancel_{std::move(other.cancel_)} {}
    ~callback_awaiter() {
        if (block_ == nullptr) return;
        expects(!suspended_ || std::same_as<Cancel, no_cancel> || block_->finished(),
                "a frame is destroyed while a foreign operation may use it");
        if (suspended_) {
            block_->forget_waiter();
        } else {
            block_->drop();
        }
    }

    void request(stop_level level) noexcept override {
        if (level < stop_level::stop) return;
        if constexpr (std::same_as<Cancel, no_cancel>) {
            if (!block_->claim()) return;  // A call was faster.
            block_->result.set_error(errc::canceled);
            env_->chain->leave();
            block_->end_wait();
        } else {
            if (block_->undecided()) cancel_();
        }
    }
    [[nodiscard]] const char* waiting_for() const noexcept override { return "callback"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        env_ = given;
        block_ = new typed_callback_block<Values...>;
        begin(given->chain->stopping());
        if (!block_->finished()) {
            suspended_ = true;
            given->chain->enter(*this);
            if (block_->begin_wait(waiter, *given)) {
                // `start_` may have had its own coroutine stopped.
                if (given->chain->stopping()) request(stop_level::stop);
                return true;
            }
            given->chain->leave();
            suspended_ = false;
        }
        if (given->loop->spend()) return false;
        suspended_ = true;
        block_->resume_later(waiter, *given);
        return true;
    }
    [[nodiscard]] io_result<Values...> await_resume() {
        suspended_ = false;
        failure_.rethrow_if_any();
        return std::move(block_->result);
    }

private:
    static constexpr bool moves_well =
        std::is_nothrow_move_constructible_v<Start> && std::is_nothrow_move_constructible_v<Cancel>;

    void begin(bool stopped_before) noexcept {
        callback<Values...> done{*block_};
        if (stopped_before) {
            done.fail(errc::canceled);
            return;
        }
        const bool begun = run_catching(failure_, [&] { start_(std::move(done)); });
        // What it has thrown is what counts; a call on its way from elsewhere is waited for.
        if (!begun && block_->claim()) block_->publish();
    }

    Start start_;
    [[no_unique_address]] Cancel cancel_;
    typed_callback_block<Values...>* block_ = nullptr;
    const environment* env_ = nullptr;
    [[no_unique_address]] exception_slot failure_;
    bool suspended_ = false;
};

/// Awaits something that reports its end by calling a function.
///
/// @param  start  Called as `start(callback<Values...>)` when this is awaited, on the loop's thread; it
///                passes the callback on and returns. Owned, and kept until the wait is over. With
///                g++ 12 give a lambda with captures a name first (docs/guide/compilers.md).
/// @return The values of the first call; a default-constructed `Values` where there was none.
///
/// Errors:        what the callback was called with; `errc::broken_promise` if every copy of it has
///                died without a call. An exception of `start` is rethrown to the awaiting coroutine.
/// Cancellation:  `errc::canceled` at once, and a call that comes later is dropped. What the callback's
///                owner writes to must therefore not live in the coroutine; see the overload below.
/// Threads:       the callback on any; the coroutine resumes on its own executor.
/// Cost:          one block from the frame cache.
template <class... Values, class Start>
    requires std::invocable<std::decay_t<Start>&, callback<Values...>>
[[nodiscard]] callback_awaiter<std::decay_t<Start>, no_cancel, Values...> from_callback(
    Start&& start) {
    return {std::forward<Start>(start), no_cancel{}};
}

/// The same, for what g++ 12 may destroy twice.
template <class... Values, class Start>
    requires std::invocable<std::decay_t<Start>&, callback<Values...>> &&
             maybe_destroyed_twice<Start>
[[nodiscard,
  deprecated(
      "g++ 12 destroys a temporary lambda twice in a co_await: give it a name, and pass that")]]
callback_awaiter<Start, no_cancel, Values...> from_callback(Start&& start) {
    return {std::forward<Start>(start), no_cancel{}};
}

/// The same for operations that can be asked to end, and that use memory of the coroutine meanwhile.
///
/// @param  cancel  Called as `cancel()` on the loop's thread, at most once, when a stop is requested and
///                 the callback has not been called. Must not throw; may call the callback.
///
/// Cancellation:  `cancel` is called, and the wait goes on until the callback was called or every copy of
///                it is gone: an operation that does neither keeps its coroutine, and with it the loop.
template <class... Values, class Start, class Cancel>
    requires std::invocable<std::decay_t<Start>&, callback<Values...>> &&
             std::invocable<std::decay_t<Cancel>&>
[[nodiscard]] callback_awaiter<std::decay_t<Start>, std::decay_t<Cancel>, Values...> from_callback(
    Start&& start, Cancel&& cancel) {
    return {std::forward<Start>(start), std::forward<Cancel>(cancel)};
}

/// The same, for what g++ 12 may destroy twice.
template <class... Values, class Start, class Cancel>
    requires std::invocable<std::decay_t<Start>&, callback<Values...>> &&
             std::invocable<std::decay_t<Cancel>&> &&
             (maybe_destroyed_twice<Start> || maybe_destroyed_twice<Cancel>)
[[nodiscard,
  deprecated(
      "g++ 12 destroys a temporary lambda twice in a co_await: give it a name, and pass that")]]
callback_awaiter<std::decay_t<Start>, std::decay_t<Cancel>, Values...> from_callback(
    Start&& start, Cancel&& cancel) {
    return {std::forward<Start>(start), std::forward<Cancel>(cancel)};
}

}  // namespace gyre
