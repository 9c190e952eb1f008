// SPDX-License-Identifier: BSL-1.0
//
// Asio operations awaited by gyre coroutines: the completion token `use_io_result`.
//
//     auto [error, size] = co_await socket.async_read_some(buffer, gyre::use_io_result);
//
// The operation is an awaiter in the coroutine's frame, like any other leaf: it begins when it is
// awaited, sits in its chain's slot, and its handler is one pointer. There is no coroutine in between.
// What is hard is that Asio may complete on a thread of its own while gyre cancels on another: see
// `asio_wait`.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/interop/asio_error.hpp>
#include <gyre/interop/asio_guest.hpp>
#include <gyre/runtime/io_context.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <concepts>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gyre {

/// A completion token: the initiating function returns something that a gyre coroutine awaits.
///
/// It yields `io_result<Values...>` where the completion signature is `void(error_code, Values...)`, also
/// where it is `void(Values...)`, which then only fails by being abandoned. A value without a null state,
/// such as an accepted socket, comes in a `std::optional`. Up to two values; a handler with more is
/// reached through `asio::as_tuple(use_io_result)`.
///
/// Errors:        see `from_asio_error`. `errc::broken_promise` if Asio destroyed the handler without
///                calling it, which is what a dying execution context does. An exception of the
///                initiating function, and one that a handler is given as a `std::exception_ptr`, is
///                rethrown to the awaiting coroutine.
/// Cancellation:  a stop emits `cancellation_type::all` on the operation's executor; what the operation
///                then reports is the result, progress included. It is waited for: its buffers lie in the
///                coroutine. So the execution context must be run until then.
/// Threads:       the operation begins on the coroutine's thread, whatever thread runs its executor: the
///                I/O object must not be used by others meanwhile, as Asio demands, and must live until
///                the wait is over. The coroutine resumes on its own executor; in a guest, within the
///                operation's handler.
///                Asio's slots have no lock. So an operation that is composed of several (`async_read`,
///                `co_spawn`, ...) must not have its cancellation and its own handlers run at once: its
///                executor has to be serial, that is a strand, or the one of a context that one thread
///                runs. Of a thread pool it takes a strand, which is checked at compile time; that
///                an `io_context` is run by several threads cannot be checked. One without an
///                executor of its own is cancelled on the coroutine's thread, and must bear that.
///                Tokens around this one change nothing about it, but for `bind_executor`: what it names is
///                the operation's executor then. Not for `co_spawn`, which hands a cancellation on to its own
///                executor and does not wait for it.
/// Cost:          no allocation of ours but for a cancellation; Asio's come from gyre's frame
/// cache.
struct use_io_result_t {
    /// Makes this the default token of an I/O object's executor, as in
    /// `use_io_result_t::as_default_on_t<asio::steady_timer>`.
    template <class Inner>
    struct executor_with_default : Inner {
        using default_completion_token_type = use_io_result_t;

        template <class Other>
            requires(!std::same_as<Other, executor_with_default> &&
                     std::convertible_to<Other, Inner>)
        executor_with_default(const Other& other) noexcept : Inner{other} {}
    };
    template <class Object>
    using as_default_on_t = typename Object::template rebind_executor<
        executor_with_default<typename Object::executor_type>>::other;
};

/// The token to give to an initiating function: `socket.async_read_some(buffer, use_io_result)`.
inline constexpr use_io_result_t use_io_result{};

/// Memory for Asio's own records, from the calling thread's frame cache.
template <class Type>
struct frame_cache_allocator {
    using value_type = Type;

    frame_cache_allocator() noexcept = default;
    template <class Other>
    frame_cache_allocator(const frame_cache_allocator<Other>&) noexcept {}

    [[nodiscard]] Type* allocate(std::size_t count) const noexcept {
        static_assert(alignof(Type) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return static_cast<Type*>(frame_cache::allocate(count * sizeof(Type)));
    }
    void deallocate(Type* memory, std::size_t count) const noexcept {
        frame_cache::release(memory, count * sizeof(Type));
    }
    friend bool operator==(frame_cache_allocator, frame_cache_allocator) noexcept = default;
};

/// Executors that run handlers on several threads at once, as far as their type tells.
template <class Executor>
inline constexpr bool runs_handlers_at_once = false;
template <class Allocator, unsigned int Properties>
inline constexpr bool
    runs_handlers_at_once<boost::asio::thread_pool::basic_executor_type<Allocator, Properties>> =
        true;

/// What a token around ours (`as_tuple`, `bind_executor`, ...) makes of an initiation: another one around it,
/// which in Boost 1.81 has no executor.
template <class Initiation>
concept wrapped_initiation = !requires { typename Initiation::executor_type; } &&
                             requires(const Initiation& around) { around.initiation_; };

/// Is there a `bind_executor` among the tokens around ours?
template <class Initiation>
inline constexpr bool names_executor = false;
template <wrapped_initiation Initiation>
inline constexpr bool names_executor<Initiation> = requires(const Initiation& around) {
    around.ex_;
} || names_executor<decltype(Initiation::initiation_)>;

/// The executor of an operation's own handlers. Of several that are named the outermost token's counts, which
/// is the innermost initiation's.
template <class Initiation>
[[nodiscard]] auto executor_for_handlers(const Initiation& of) noexcept {
    if constexpr (!wrapped_initiation<Initiation>) {
        return boost::asio::get_associated_executor(of);
    } else if constexpr (names_executor<Initiation> &&
                         !names_executor<decltype(Initiation::initiation_)>) {
        return of.ex_;
    } else {
        return executor_for_handlers(of.initiation_);
    }
}

/// The untyped part: an operation that completes on one thread and is cancelled from another.
///
/// A cancellation is a message to the operation's executor, and points into the frame; so the coroutine
/// does not resume before both the completion has come and every message that was sent has been consumed.
class asio_wait : public stop_target, private work {
public:
    [[nodiscard]] const char* waiting_for() const noexcept override { return "Asio"; }
    [[nodiscard]] bool await_ready() const noexcept { return false; }

protected:
    asio_wait() noexcept : work{&go_on} {}
    ~asio_wait() {
        expects(!suspended_ || over(), "a frame is destroyed while an Asio operation may use it");
        expects(!suspended_, "a frame is destroyed before it was resumed, which is on its way");
    }

    /// After the operation has begun; `await_suspend`'s result.
    [[nodiscard]] bool suspend(std::coroutine_handle<> waiter, const environment& given) noexcept {
        env_ = &given;
        waiter_ = waiter;
        if ((phase_.load(std::memory_order_acquire) & completed) == 0) {
            expected_ = context_of(given).expect_post(true);
            given.chain->enter(*this);
            suspended_ = true;
            if ((phase_.fetch_or(waiting, std::memory_order_acq_rel) & completed) == 0) return true;
            suspended_ = false;
            given.chain->leave();
            context_of(given).posted_as_expected(expected_);
        }
        return go_on_or_post();
    }

    /// Nothing was begun. `await_suspend`'s result.
    [[nodiscard]] bool over_before(std::coroutine_handle<> waiter,
                                   const environment& given) noexcept {
        env_ = &given;
        waiter_ = waiter;
        phase_.store(completed, std::memory_order_relaxed);
        return go_on_or_post();
    }

    /// The outcome has been written. Once, on any thread. True if the caller is to see to the resumption.
    [[nodiscard]] bool complete() noexcept {
        const unsigned before = phase_.fetch_or(completed, std::memory_order_acq_rel);
        if ((before & waiting) == 0) return false;  // The wait is still beginning, and will look.
        return (before & cancel_sent) == 0 || (before & cancel_consumed) != 0;
    }

    void post_from_anywhere() noexcept {
        io_context& home = context_of(*env_);
        const expected_post expected = expected_;
        env_->executor.post(*this);  // From here on the coroutine may be gone, and this with it.
        home.posted_as_expected(expected);
    }

    /// The same at the end of a handler, which is as good a place to go on as any.
    void go_on_from_handler() noexcept {
        io_context& home = context_of(*env_);
        const expected_post expected = expected_;
        if (!asio_guest::run_at_once(home, env_->executor, *this)) env_->executor.post(*this);
        home.posted_as_expected(expected);
    }

    /// True if a cancellation is to be sent; the sender owes a `consumed`.
    [[nodiscard]] bool begin_cancel() noexcept {
        return (phase_.fetch_or(cancel_sent, std::memory_order_acq_rel) & completed) == 0;
    }
    void emit() {
        if ((phase_.load(std::memory_order_acquire) & completed) != 0) return;
        signal_.emit(boost::asio::cancellation_type::all);
    }
    void consumed() noexcept {
        const unsigned before = phase_.fetch_or(cancel_consumed, std::memory_order_acq_rel);
        if ((before & completed) != 0) post_from_anywhere();
    }

    [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// The coroutine is back.
    void resumed() noexcept { suspended_ = false; }

    /// Consumed exactly once, whether it was run or destroyed with its executor.
    class cancellation {
    public:
        using allocator_type = frame_cache_allocator<void>;

        explicit cancellation(asio_wait& of) noexcept : of_{&of} {}
        cancellation(cancellation&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
        ~cancellation() {
            if (of_ != nullptr) of_->consumed();
        }
        void operator()() {
            asio_wait& it = *of_;
            it.emit();
            std::exchange(of_, nullptr)->consumed();
        }
        [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }

    private:
        asio_wait* of_;
    };

private:
    static constexpr unsigned completed = 1;
    static constexpr unsigned waiting = 2;
    static constexpr unsigned cancel_sent = 4;
    static constexpr unsigned cancel_consumed = 8;

    [[nodiscard]] bool go_on_or_post() noexcept {
        if (env_->loop->spend()) return false;
        suspended_ = true;
        env_->executor.post(*this);
        return true;
    }

    [[nodiscard]] bool over() const noexcept {
        const unsigned now = phase_.load(std::memory_order_relaxed);
        return (now & completed) != 0 && ((now & cancel_sent) == 0 || (now & cancel_consumed) != 0);
    }

    static void go_on(work& item) noexcept {
        auto& self = static_cast<asio_wait&>(item);
        self.env_->chain->leave();
        gyre::resume(self.waiter_);
    }

    std::atomic<unsigned> phase_ = 0;
    expected_post expected_;
    const environment* env_ = nullptr;
    std::coroutine_handle<> waiter_;
    boost::asio::cancellation_signal signal_;
    bool suspended_ = false;
};

/// A value that has no null state of its own, such as an accepted socket, comes in an optional.
template <class Value>
using asio_value = std::conditional_t<std::default_initializable<std::decay_t<Value>>,
                                      std::decay_t<Value>, std::optional<std::decay_t<Value>>>;

/// With an error Asio hands over a socket that is not open; an empty optional says that more plainly.
template <class Value, class Given>
[[nodiscard]] asio_value<Value> keep_value(bool achieved, Given&& given) {
    if constexpr (!std::default_initializable<std::decay_t<Value>>) {
        if (!achieved) return std::nullopt;
    }
    return asio_value<Value>(std::forward<Given>(given));
}

/// What a completion signature yields, and how its arguments become that.
template <class... Values>
struct asio_outcome {
    static_assert(sizeof...(Values) <= 2,
                  "more than two values: use asio::as_tuple(use_io_result)");
    using type = io_result<asio_value<Values>...>;
    template <class... Arguments>
    static type of(exception_slot&, Arguments&&... values) {
        return type{error{}, std::forward<Arguments>(values)...};
    }
};
template <class... Values>
struct asio_outcome<boost::system::error_code, Values...> {
    static_assert(sizeof...(Values) <= 2,
                  "more than two values: use asio::as_tuple(use_io_result)");
    using type = io_result<asio_value<Values>...>;
    template <class... Arguments>
    static type of(exception_slot&, const boost::system::error_code& failure,
                   Arguments&&... values) {
        return type{from_asio_error(failure),
                    keep_value<Values>(!failure, std::forward<Arguments>(values))...};
    }
};
template <class... Values>
struct asio_outcome<std::exception_ptr, Values...> {
    static_assert(sizeof...(Values) <= 2,
                  "more than two values: use asio::as_tuple(use_io_result)");
    using type = io_result<asio_value<Values>...>;
    template <class... Arguments>
    static type of(exception_slot& failure, std::exception_ptr thrown, Arguments&&... values) {
        if (thrown) {
            run_catching(failure, [&] { std::rethrow_exception(std::move(thrown)); });
        }
        return type{error{}, std::forward<Arguments>(values)...};
    }
};

/// One awaited Asio operation; made by initiating functions that are given `use_io_result`.
///
/// @tparam  Initiation  What Asio wants called with a handler, and `Arguments`, to begin it.
template <class Outcome, class Initiation, class... Arguments>
class [[nodiscard]] asio_operation final : public asio_wait {
public:
    using result_type = typename Outcome::type;

    static_assert(
        !runs_handlers_at_once<decltype(executor_for_handlers(std::declval<const Initiation&>()))>,
        "a cancellation needs a serial executor: make_strand of the thread pool");

    template <class Begin, class... Given>
    explicit asio_operation(std::in_place_t, Begin&& initiation, Given&&... arguments)
        : initiation_{std::forward<Begin>(initiation)},
          arguments_{std::forward<Given>(arguments)...} {}
    asio_operation(asio_operation&& other)
        : initiation_{std::move(other.initiation_)}, arguments_{std::move(other.arguments_)} {}

    void request(stop_level level) noexcept override {
        if (level < stop_level::stop || !begin_cancel()) return;
        boost::asio::dispatch(executor_for_handlers(initiation_), cancellation{*this});
    }

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        if (given->chain->stopping()) {
            result_.set_error(errc::canceled);
            return over_before(waiter, *given);
        }
        run_catching(failure_, [this] {
            std::apply(
                [this](auto&&... arguments) {
                    std::move(initiation_)(handler{*this}, std::move(arguments)...);
                },
                std::move(arguments_));
        });
        const bool suspended = suspend(waiter, *given);
        // The initiation may have had its own coroutine stopped.
        if (suspended && given->chain->stopping()) request(stop_level::stop);
        return suspended;
    }
    [[nodiscard]] result_type await_resume() {
        resumed();
        failure_.rethrow_if_any();
        return std::move(result_);
    }

private:
    /// What Asio calls, or destroys without calling.
    class handler {
    public:
        using cancellation_slot_type = boost::asio::cancellation_slot;
        using allocator_type = frame_cache_allocator<void>;

        explicit handler(asio_operation& of) noexcept : of_{&of} {}
        handler(handler&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
        ~handler() {
            if (of_ != nullptr) of_->abandoned();
        }

        template <class... Values>
        void operator()(Values&&... values) {
            std::exchange(of_, nullptr)->finish(std::forward<Values>(values)...);
        }

        [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
            return of_->slot();
        }
        [[nodiscard]] allocator_type get_allocator() const noexcept { return {}; }

    private:
        asio_operation* of_;
    };

    template <class... Values>
    void finish(Values&&... values) noexcept {
        result_ = Outcome::of(failure_, std::forward<Values>(values)...);
        if (complete()) go_on_from_handler();
    }
    void abandoned() noexcept {
        result_.set_error(errc::broken_promise);
        if (complete()) post_from_anywhere();
    }

    Initiation initiation_;
    std::tuple<Arguments...> arguments_;
    result_type result_;
    [[no_unique_address]] exception_slot failure_;
};

}  // namespace gyre

/// How Asio learns what an initiating function returns for the token.
template <class Return, class... Values>
class boost::asio::async_result<gyre::use_io_result_t, Return(Values...)> {
public:
    template <class Initiation, class... Arguments>
    [[nodiscard]] static auto initiate(Initiation&& initiation, gyre::use_io_result_t,
                                       Arguments&&... arguments) {
        using operation =
            gyre::asio_operation<gyre::asio_outcome<Values...>, std::decay_t<Initiation>,
                                 std::decay_t<Arguments>...>;
        return operation{std::in_place, std::forward<Initiation>(initiation),
                         std::forward<Arguments>(arguments)...};
    }
};
