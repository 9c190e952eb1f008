// SPDX-License-Identifier: BSL-1.0
//
// Reading and writing whole messages.
//
// Streams transfer *some* bytes at a time; these go on until all are there. They are leaf awaiters
// that resubmit by themselves, not coroutines: no frame, and a third of the cost of a task.
// buffered.hpp is for input whose length only its content tells.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace gyre {

/// Whether a step may end without having spent anything of the turn's share.
template <class Step>
inline constexpr bool may_cost_nothing = is_task<Step>;

/// Awaits `Step`s one after another on behalf of one coroutine, until `Self` says that it is over.
///
/// `Self` has two functions: `step()` makes the next awaitable, and `take(result)` looks at what it
/// yielded and returns whether another is due.
template <class Self, awaitable Step>
class repeated : private callback_frame {
public:
    using bound_when_awaited = void;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        back_.begin(waiter, *given);
        const bool over = self().over();
        if (!over && advance()) return true;
        // Steps have spent what they cost by themselves; tasks need not have met a leaf that does.
        if (!over && !may_cost_nothing<Step>) return false;
        if (given->loop->spend_in_memory()) return false;
        back_.post();
        return true;
    }

protected:
    repeated() noexcept
        : callback_frame{
              [](callback_frame* frame) { static_cast<repeated*>(frame)->step_ended(); }} {}
    repeated(repeated&&) noexcept : repeated{} {}
    ~repeated() = default;

    void rethrow_if_any() { failure_.rethrow_if_any(); }

private:
    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }

    // Takes steps while they end on the spot. True if one is pending.
    bool advance() noexcept {
        advancing_ = true;
        do {
            ended_ = false;
            step_.emplace(self().step());
            std::coroutine_handle<> next;
            if (!begin_await(*step_, callback_frame::handle(), &back_.env(), next)) {
                ended_ = true;
            } else if (next) {
                gyre::resume(next);  // A step that is a task; it may end in here.
            }
            if (!ended_) {
                advancing_ = false;
                return true;
            }
        } while (wants_more());
        advancing_ = false;
        return false;
    }

    // Looks at what the step yielded; a stream written as a task may have thrown instead.
    bool wants_more() noexcept {
        bool more = false;
        run_catching(failure_, [&] { more = self().take(step_->await_resume()); });
        return more;
    }

    void step_ended() noexcept {
        ended_ = true;
        if (advancing_) return;
        if (wants_more() && advance()) return;
        back_.resume();
    }

    std::optional<Step> step_;
    resumption back_;
    bool advancing_ = false;
    bool ended_ = false;
    [[no_unique_address]] exception_slot failure_;
};

/// Steps that come to one transfer, which the last of them keeps.
template <class Self, awaitable Step>
class one_transfer : public repeated<Self, Step> {
public:
    [[nodiscard]] static constexpr bool over() noexcept { return false; }
    [[nodiscard]] io_result<std::size_t> await_resume() {
        this->rethrow_if_any();
        return result_;
    }

protected:
    void keep(io_result<std::size_t> result) noexcept { result_ = result; }
    [[nodiscard]] io_result<std::size_t> kept() const noexcept { return result_; }

private:
    io_result<std::size_t> result_;
};

/// A step of one of two kinds. One that yields no count has transferred nothing.
template <awaitable First, awaitable Second>
class either_step {
public:
    template <std::size_t Index, class Step>
    either_step(std::in_place_index_t<Index> which, Step step) noexcept
        : step_{which, std::move(step)} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) noexcept {
        std::coroutine_handle<> next = std::noop_coroutine();
        const bool pending = first() != nullptr ? begin_await(*first(), waiter, given, next)
                                                : begin_await(*second(), waiter, given, next);
        return pending ? next : waiter;
    }
    [[nodiscard]] io_result<std::size_t> await_resume() {
        return first() != nullptr ? counted(first()->await_resume())
                                  : counted(second()->await_resume());
    }

private:
    [[nodiscard]] First* first() noexcept { return std::get_if<0>(&step_); }
    [[nodiscard]] Second* second() noexcept { return std::get_if<1>(&step_); }
    static io_result<std::size_t> counted(const io_result<>& ended) noexcept {
        return ended.error();
    }
    static io_result<std::size_t> counted(const io_result<std::size_t>& ended) noexcept {
        return ended;
    }

    std::variant<First, Second> step_;
};

template <class First, class Second>
inline constexpr bool may_cost_nothing<either_step<First, Second>> =
    may_cost_nothing<First> || may_cost_nothing<Second>;

/// How a message is written to a stream that has no `message_writer` of its own: nothing keeps other writers
/// off.
template <write_stream Stream>
class plain_message_writer {
public:
    explicit plain_message_writer(Stream& to) noexcept : to_{to} {}

    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) {
        return to_.write_some(from);
    }
    void end() noexcept {}

private:
    Stream& to_;
};

template <write_stream Stream>
struct message_writer_for {
    using type = plain_message_writer<Stream>;
};
template <write_stream Stream>
    requires requires { typename Stream::message_writer; }
struct message_writer_for<Stream> {
    using type = typename Stream::message_writer;
};
template <write_stream Stream>
using message_writer_of = typename message_writer_for<Stream>::type;

/// The next write of a message in several buffers, of which the first `skipped` bytes are through.
template <class Writer>
[[nodiscard]] auto write_next(Writer& to, const_buffers rest, std::size_t skipped) {
    if constexpr (requires { to.write_some(rest, skipped); }) {
        return to.write_some(rest, skipped);
    } else {
        return to.write_some(rest.front().subspan(skipped));
    }
}

template <write_stream Stream>
using write_step = decltype(std::declval<message_writer_of<Stream>&>().write_some(const_buffer{}));
template <write_stream Stream>
using plain_write_step = decltype(std::declval<Stream&>().write_some(const_buffer{}));
template <write_stream Stream>
using gather_step =
    decltype(write_next(std::declval<message_writer_of<Stream>&>(), const_buffers{}, 0));
template <read_stream Stream>
using read_step = decltype(std::declval<Stream&>().read_some(mutable_buffer{}));

/// Made by `write_all`.
template <write_stream Stream>
class [[nodiscard]] write_all_awaiter
    : public repeated<write_all_awaiter<Stream>, write_step<Stream>> {
public:
    write_all_awaiter(Stream& to, const_buffer from) noexcept : to_{to}, rest_{from} {}

    [[nodiscard]] io_result<std::size_t> await_resume() {
        this->rethrow_if_any();
        return {error_, done_};
    }

    [[nodiscard]] bool over() const noexcept { return rest_.empty(); }
    [[nodiscard]] auto step() noexcept { return to_.write_some(rest_); }
    [[nodiscard]] bool take(io_result<std::size_t> written) noexcept {
        error_ = written.error();
        done_ += written.value();
        rest_ = rest_.subspan(written.value());
        if (written.ok() && !rest_.empty()) return true;
        to_.end();
        return false;
    }

private:
    message_writer_of<Stream> to_;
    const_buffer rest_;
    std::size_t done_ = 0;
    error error_;
};

/// Made by `write_all` of several buffers.
template <write_stream Stream>
class [[nodiscard]] write_all_gathered_awaiter
    : public repeated<write_all_gathered_awaiter<Stream>, gather_step<Stream>> {
public:
    write_all_gathered_awaiter(Stream& to, const_buffers from) noexcept : to_{to}, rest_{from} {
        drop(0);
    }

    [[nodiscard]] io_result<std::size_t> await_resume() {
        this->rethrow_if_any();
        return {error_, done_};
    }

    [[nodiscard]] bool over() const noexcept { return rest_.empty(); }
    [[nodiscard]] auto step() noexcept { return write_next(to_, rest_, skipped_); }
    [[nodiscard]] bool take(io_result<std::size_t> written) noexcept {
        error_ = written.error();
        done_ += written.value();
        drop(written.value());
        if (written.ok() && !rest_.empty()) return true;
        to_.end();
        return false;
    }

private:
    // The first buffer that is left is never written to its end: a write of no bytes would be no progress.
    void drop(std::size_t count) noexcept {
        skipped_ += count;
        while (!rest_.empty() && skipped_ >= rest_.front().size()) {
            skipped_ -= rest_.front().size();
            rest_ = rest_.subspan(1);
        }
    }

    message_writer_of<Stream> to_;
    const_buffers rest_;
    std::size_t skipped_ = 0;  // Bytes of the first buffer that are written.
    std::size_t done_ = 0;
    error error_;
};

/// Writes all of `from`.
///
/// @param  to    Borrowed; one writer at a time. A `stream_socket` refuses others until the end.
/// @param  from  Borrowed until completion. Empty completes at once.
/// @return The bytes written: all, unless the error is set. After an error with a count above zero the
///         message is torn, and closing is all that is left to do with the stream.
///
/// Errors:        those of `to.write_some`; so `errc::closed`, with the count so far, if the stream
///                was closed between two steps.
/// Cancellation:  `errc::canceled`, with the count so far.
/// Threads:       resumes on the caller's executor.
/// Cost:          no frame, no allocation; as many writes as the stream needs, usually one.
template <write_stream Stream>
[[nodiscard]] write_all_awaiter<Stream> write_all(Stream& to,
                                                  const_buffer from GYRE_LIFETIMEBOUND) noexcept {
    return {to, from};
}

/// The same from several buffers of any number, in order: sockets gather them, up to `buffers_per_call_max` a
/// call; other streams are given one after another.
///
/// @param  from  Borrowed until completion, the list as well as the bytes.
template <write_stream Stream, std::convertible_to<const_buffers> Buffers>
[[nodiscard]] write_all_gathered_awaiter<Stream> write_all(Stream& to,
                                                           const Buffers& from) noexcept {
    return {to, from};
}

/// Not provided; the message says what to do.
template <write_stream Stream, std::convertible_to<std::string_view> Text>
[[nodiscard]] write_all_awaiter<Stream> write_all(Stream& to, const Text&) noexcept {
    static_assert(sizeof(Text) == 0, "text is written as write_all(stream, gyre::bytes_of(text))");
    return {to, {}};
}

/// Made by `read_exactly`.
template <read_stream Stream>
class [[nodiscard]] read_exactly_awaiter
    : public repeated<read_exactly_awaiter<Stream>, read_step<Stream>> {
public:
    read_exactly_awaiter(Stream& from, mutable_buffer into) noexcept : from_{from}, rest_{into} {}

    [[nodiscard]] io_result<std::size_t> await_resume() {
        this->rethrow_if_any();
        return {error_, done_};
    }

    [[nodiscard]] bool over() const noexcept { return rest_.empty(); }
    [[nodiscard]] auto step() noexcept { return from_.read_some(rest_); }
    [[nodiscard]] bool take(io_result<std::size_t> got) noexcept {
        error_ = got.error();
        done_ += got.value();
        rest_ = rest_.subspan(got.value());
        return got.ok() && !rest_.empty();
    }

private:
    Stream& from_;
    mutable_buffer rest_;
    std::size_t done_ = 0;
    error error_;
};

/// Reads until `into` is full.
///
/// @param  from  Borrowed; one reader at a time.
/// @param  into  Borrowed; `into.size()` bytes are wanted. Empty completes at once.
/// @return The bytes read: equal to `into.size()` unless the error is set.
///
/// Errors:        `errc::eof` if the stream ended early; else those of `from.read_some`, so `errc::closed`
///                if it was closed between two steps. The count is valid in every case.
/// Cancellation:  `errc::canceled`. Bytes already read are in `into` and counted, so the caller may
///                continue after them.
/// Threads:       resumes on the caller's executor.
/// Cost:          no frame, no allocation; as many reads as the stream needs.
template <read_stream Stream>
[[nodiscard]] read_exactly_awaiter<Stream> read_exactly(Stream& from, read_space into) noexcept {
    return {from, into};
}

/// Copies `from` into `to` until `from` ends.
///
/// @param  from, to  Borrowed; the copy is their only reader and writer.
/// @param  space     Borrowed, not empty; what is read at once. 16 to 64 KiB serve a socket well.
/// @return The bytes copied; ok when `from` reached its end. `to` is not shut down.
///
/// Errors:        those of either stream, but `errc::eof` of `from`; so `errc::closed` if one of
///                them was closed between two steps.
/// Cancellation:  `errc::canceled`; bytes read and not yet written are lost, so only close follows.
/// Threads:       resumes on the caller's executor.
/// Cost:          one frame.
template <read_stream From, write_stream To>
task<io_result<std::uint64_t>> copy(From& from, To& to, mutable_buffer space) {
    std::uint64_t copied = 0;
    expects(!space.empty(), "a copy needs space");
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (got.error() == errc::eof) co_return io_result<std::uint64_t>{copied};
        if (!got.ok()) co_return io_result<std::uint64_t>{got.error(), copied};

        const io_result<std::size_t> put = co_await write_all(to, space.first(got.value()));
        copied += put.value();
        if (!put.ok()) co_return io_result<std::uint64_t>{put.error(), copied};
    }
}

/// The same with a buffer of its own, 32 KiB from the heap.
template <read_stream From, write_stream To>
task<io_result<std::uint64_t>> copy(From& from, To& to) {
    constexpr std::size_t space_size = 32 * 1024;
    const std::unique_ptr<std::byte[]> space{new std::byte[space_size]};
    const io_result<std::uint64_t> copied =
        co_await gyre::copy(from, to, mutable_buffer{space.get(), space_size});
    co_return copied;
}

/// The same in memory that `from` lends.
///
/// Cost:  one frame; no buffer of its own, and none while `from` is silent.
template <lease_stream From, write_stream To>
task<io_result<std::uint64_t>> copy(From& from, To& to) {
    std::uint64_t copied = 0;
    for (;;) {
        io_result<buffer_lease> got = co_await from.read();
        if (got.error() == errc::eof) co_return io_result<std::uint64_t>{copied};
        if (!got.ok()) co_return io_result<std::uint64_t>{got.error(), copied};

        const buffer_lease lease = got.take();
        const io_result<std::size_t> put = co_await write_all(to, lease.bytes());
        copied += put.value();
        if (!put.ok()) co_return io_result<std::uint64_t>{put.error(), copied};
    }
}

}  // namespace gyre
