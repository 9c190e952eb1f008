// SPDX-License-Identifier: BSL-1.0
//
// A stream whose type is chosen at run time: plain or encrypted, a socket or a pipe in memory.
//
// The awaiter of an erased stream has a size that its user cannot know. So the memory for one read and
// one write stands beside the stream, allocated with it once; an operation allocates nothing, and a second
// read or write beside the first is refused. algorithms.hpp works on these as on any other stream.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace gyre {

// Implementation: one step of a stream, and where its outcome goes.

/// What came of one transfer.
struct transferred {
    io_result<std::size_t> result;
    [[no_unique_address]] exception_slot failure;  // A stream written as a task may throw.
};

/// One step of a stream that is awaited through a callback instead of a coroutine.
template <read_stream Stream>
class single_read : public one_transfer<single_read<Stream>, read_step<Stream>> {
public:
    single_read(Stream& from, mutable_buffer into) noexcept : from_{from}, into_{into} {}

    [[nodiscard]] auto step() noexcept { return from_.read_some(into_); }
    [[nodiscard]] bool take(io_result<std::size_t> got) noexcept {
        this->keep(got);
        return false;
    }

private:
    Stream& from_;
    mutable_buffer into_;
};

template <write_stream Stream>
class single_write : public one_transfer<single_write<Stream>, write_step<Stream>> {
public:
    single_write(Stream& to, const_buffer from) noexcept : to_{to}, from_{from} {}

    [[nodiscard]] auto step() noexcept { return to_.write_some(from_); }
    [[nodiscard]] bool take(io_result<std::size_t> written) noexcept {
        this->keep(written);
        to_.end();
        return false;
    }

private:
    message_writer_of<Stream> to_;
    const_buffer from_;
};

template <write_stream Stream>
class single_gathered_write
    : public one_transfer<single_gathered_write<Stream>, gather_step<Stream>> {
public:
    single_gathered_write(Stream& to, const_buffers from, std::size_t skipped) noexcept
        : to_{to}, from_{from}, skipped_{skipped} {}

    [[nodiscard]] auto step() noexcept { return write_next(to_, from_, skipped_); }
    [[nodiscard]] bool take(io_result<std::size_t> written) noexcept {
        this->keep(written);
        to_.end();
        return false;
    }

private:
    message_writer_of<Stream> to_;
    const_buffers from_;
    std::size_t skipped_;
};

/// The memory of a stream's reads; nothing if it has none. The same for writes.
template <class Stream>
struct room_for_read {
    using type = std::monostate;
};
template <read_stream Stream>
struct room_for_read<Stream> {
    using type = std::optional<single_read<Stream>>;
};
template <class Stream>
struct room_for_write {
    using type = std::monostate;
};
template <write_stream Stream>
struct room_for_write<Stream> {
    using type = std::variant<std::monostate, single_write<Stream>, single_gathered_write<Stream>>;
};

/// A stream of some type, and its operations. Counted: an operation that was made may be awaited, and a
/// coroutine that waits may be destroyed, after the stream has been closed. Belongs to one loop.
class erased_stream {
public:
    erased_stream() noexcept = default;
    erased_stream(const erased_stream&) = delete;
    erased_stream& operator=(const erased_stream&) = delete;
    virtual ~erased_stream() = default;

    /// Begins a read. False if it is over, with its outcome told; otherwise `waiter` is resumed later, and
    /// one of `end_read` and `drop_read` is due.
    [[nodiscard]] virtual bool begin_read(mutable_buffer into, transferred& outcome,
                                          std::coroutine_handle<> waiter,
                                          const environment* given) noexcept = 0;
    virtual void end_read(transferred& outcome) noexcept = 0;
    virtual void drop_read() noexcept = 0;

    [[nodiscard]] virtual bool begin_write(const_buffers from, std::size_t skipped,
                                           transferred& outcome, std::coroutine_handle<> waiter,
                                           const environment* given) noexcept = 0;
    virtual void end_write(transferred& outcome) noexcept = 0;
    virtual void drop_write() noexcept = 0;

    [[nodiscard]] virtual io_result<> shutdown_send() noexcept = 0;

    [[nodiscard]] virtual std::uint64_t traffic() const noexcept = 0;

    /// Destroys the stream.
    virtual void close() noexcept = 0;

    bool reading = false;
    bool writing = false;
    bool closed = false;
    const void* message = nullptr;  // Who alone may write, also while no write is pending.
    std::size_t users = 0;
};

template <class Stream>
class erased_as final : public erased_stream {
public:
    explicit erased_as(Stream&& it) : stream_{std::move(it)} {}

    bool begin_read(mutable_buffer into, transferred& outcome, std::coroutine_handle<> waiter,
                    const environment* given) noexcept override {
        if constexpr (read_stream<Stream>) {
            read_.emplace(*stream_, into);
            if (read_->await_suspend(waiter, given)) return true;
            end_read(outcome);
        }
        return false;
    }
    void end_read(transferred& outcome) noexcept override {
        if constexpr (read_stream<Stream>) {
            run_catching(outcome.failure, [&] { outcome.result = read_->await_resume(); });
            read_.reset();
        }
    }
    void drop_read() noexcept override {
        if constexpr (read_stream<Stream>) read_.reset();
    }

    bool begin_write(const_buffers from, std::size_t skipped, transferred& outcome,
                     std::coroutine_handle<> waiter, const environment* given) noexcept override {
        if constexpr (write_stream<Stream>) {
            bool pending = false;
            if (from.size() < 2) {
                const const_buffer only =
                    from.empty() ? const_buffer{} : from.front().subspan(skipped);
                auto& write = write_.template emplace<single_write<Stream>>(*stream_, only);
                pending = write.await_suspend(waiter, given);
            } else {
                auto& write =
                    write_.template emplace<single_gathered_write<Stream>>(*stream_, from, skipped);
                pending = write.await_suspend(waiter, given);
            }
            if (pending) return true;
            end_write(outcome);
        }
        return false;
    }
    void end_write(transferred& outcome) noexcept override {
        if constexpr (write_stream<Stream>) {
            run_catching(outcome.failure, [&] {
                auto* const one = std::get_if<single_write<Stream>>(&write_);
                outcome.result =
                    one != nullptr
                        ? one->await_resume()
                        : std::get_if<single_gathered_write<Stream>>(&write_)->await_resume();
            });
            write_.template emplace<std::monostate>();
        }
    }
    void drop_write() noexcept override {
        if constexpr (write_stream<Stream>) write_.template emplace<std::monostate>();
    }

    io_result<> shutdown_send() noexcept override { return end_sending(*stream_); }
    [[nodiscard]] std::uint64_t traffic() const noexcept override { return traffic_of(*stream_); }
    void close() noexcept override { stream_.reset(); }

private:
    std::optional<Stream> stream_;
    [[no_unique_address]] typename room_for_read<Stream>::type read_;
    [[no_unique_address]] typename room_for_write<Stream>::type write_;
};

/// One user of an erased stream, or of none.
class erased_use {
public:
    erased_use() noexcept = default;
    explicit erased_use(erased_stream* of) noexcept : of_{of} {
        if (of_ != nullptr) ++of_->users;
    }
    erased_use(const erased_use& other) noexcept : erased_use{other.of_} {}
    erased_use(erased_use&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
    erased_use& operator=(erased_use other) noexcept {
        std::swap(of_, other.of_);
        return *this;
    }
    ~erased_use() {
        if (of_ != nullptr && --of_->users == 0) delete of_;
    }

    [[nodiscard]] erased_stream* get() const noexcept { return of_; }
    [[nodiscard]] bool open() const noexcept { return of_ != nullptr && !of_->closed; }

    [[nodiscard]] io_result<> shutdown_send() const noexcept {
        return open() ? of_->shutdown_send() : io_result<>{errc::closed};
    }

    [[nodiscard]] std::uint64_t traffic() const noexcept { return open() ? of_->traffic() : 0; }

    /// No operation begins after this; the stream is destroyed, and ends those that are pending in its
    /// own way.
    void close() const noexcept {
        if (!open()) return;
        of_->closed = true;
        of_->close();
    }

private:
    erased_stream* of_ = nullptr;
};

/// The use that closes: an erased stream's owner. Moves.
class erased_owner : public erased_use {
public:
    using erased_use::erased_use;
    erased_owner(erased_owner&&) noexcept = default;
    erased_owner& operator=(erased_owner&& other) noexcept {
        if (this == &other) return *this;
        close();
        erased_use::operator=(std::move(other));
        return *this;
    }
    ~erased_owner() { close(); }
};

/// One direction of an erased stream, while it is awaited.
///
/// @tparam  Pending    Whether an operation in this direction is.
/// @tparam  End, Drop  What is due then.
template <activity During, auto Pending, auto End, auto Drop>
class any_awaiter {
public:
    using bound_when_awaited = void;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] io_result<std::size_t> await_resume() {
        if (std::exchange(pending_, false)) {
            (on().*End)(outcome_);
            on().*Pending = false;
        }
        outcome_.failure.rethrow_if_any();
        return outcome_.result;
    }

protected:
    explicit any_awaiter(erased_use on) noexcept : on_{std::move(on)} {}
    any_awaiter(any_awaiter&&) noexcept = default;
    any_awaiter& operator=(any_awaiter&&) = delete;
    ~any_awaiter() {
        if (!pending_) return;
        (on().*Drop)();
        on().*Pending = false;
    }

    [[nodiscard]] bool open() const noexcept { return on_.open(); }
    [[nodiscard]] erased_stream& on() const noexcept { return *on_.get(); }

    // What these return is `await_suspend`'s.
    bool note(bool pending) noexcept { return on().*Pending = pending_ = pending; }
    bool refuse(errc why, std::coroutine_handle<> waiter, const environment& given) noexcept {
        outcome_.result = error{why, During};
        return finish(waiter, given);
    }
    bool finish(std::coroutine_handle<> waiter, const environment& given) noexcept {
        if (given.loop->spend_in_memory()) return false;
        back_.post(waiter, given);
        return true;
    }

    transferred outcome_;

private:
    erased_use on_;
    resumption back_;       // Of what is refused, when it has to give way.
    bool pending_ = false;  // The stream has it, and it ends or is dropped there.
};

using any_read_direction = any_awaiter<activity::read, &erased_stream::reading,
                                       &erased_stream::end_read, &erased_stream::drop_read>;
using any_write_direction = any_awaiter<activity::write, &erased_stream::writing,
                                        &erased_stream::end_write, &erased_stream::drop_write>;

/// Made by `read_some` of erased streams.
class [[nodiscard]] any_read_awaiter : public any_read_direction {
public:
    any_read_awaiter(erased_use on, mutable_buffer into) noexcept
        : any_read_direction{std::move(on)}, into_{into} {}

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        if (!open()) return refuse(errc::closed, waiter, *given);
        // An empty read waits for no peer, and must not end what is pending.
        if (into_.empty()) return finish(waiter, *given);
        if (on().reading) return refuse(errc::busy, waiter, *given);
        return note(on().begin_read(into_, outcome_, waiter, given));
    }

private:
    mutable_buffer into_;
};

/// Made by `write_some` of erased streams and of their message writers.
class [[nodiscard]] any_write_awaiter : public any_write_direction {
public:
    any_write_awaiter(erased_use on, const_buffer from, const void* message = nullptr) noexcept
        : any_write_direction{std::move(on)}, only_{from}, message_{message} {}
    any_write_awaiter(erased_use on, const_buffers from, std::size_t skipped = 0,
                      const void* message = nullptr) noexcept
        : any_write_direction{std::move(on)}, list_{from}, skipped_{skipped}, message_{message} {}

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        if (!open()) return refuse(errc::closed, waiter, *given);
        const bool others_message = on().message != nullptr && on().message != message_;
        const const_buffers list = to_write();
        if (list.empty()) return finish(waiter, *given);
        if (on().writing || others_message) return refuse(errc::busy, waiter, *given);
        if (message_ != nullptr) on().message = message_;
        return note(on().begin_write(list, skipped_, outcome_, waiter, given));
    }

private:
    // Without empty buffers in front: of a stream that takes one at a time they would be a write of nothing.
    [[nodiscard]] const_buffers to_write() const noexcept {
        const_buffers list = list_.empty() ? const_buffers{&only_, 1} : list_;
        while (!list.empty() && list.front().empty()) list = list.subspan(1);
        return list;
    }

    const_buffer only_;
    const_buffers list_;
    std::size_t skipped_ = 0;
    const void* message_;
};

/// Writes one message to an erased stream; meanwhile other writers end with `errc::busy`. As
/// `stream_socket::message_writer`: moves until its first write is awaited.
class any_message_writer {
public:
    template <class Stream>
    explicit any_message_writer(Stream& to) noexcept : on_{to.erased_} {}
    any_message_writer(any_message_writer&&) noexcept = default;
    any_message_writer& operator=(any_message_writer&&) = delete;
    ~any_message_writer() { end(); }

    [[nodiscard]] any_write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {on_, from, this};
    }
    [[nodiscard]] any_write_awaiter write_some(const_buffers from, std::size_t skipped) noexcept {
        return {on_, from, skipped, this};
    }
    void end() noexcept {
        if (on_.get() != nullptr && on_.get()->message == this) on_.get()->message = nullptr;
    }

private:
    erased_use on_;
};

/// A source of bytes of any type, owned. Moves; destroying it destroys the stream.
class any_read_stream {
public:
    any_read_stream() noexcept = default;  ///< Closed.

    /// Cost: one allocation, for the stream and one operation of it.
    template <class Stream>
        requires(!std::same_as<Stream, any_read_stream> && read_stream<Stream>)
    any_read_stream(Stream it) : erased_{new erased_as<Stream>{std::move(it)}} {}

    /// As the stream's own, except:
    ///
    /// Errors:  `errc::busy` while another read is pending; `errc::closed` if there is no stream.
    /// Cost:    no allocation; one virtual call, and one more if it had to wait.
    [[nodiscard]] any_read_awaiter read_some(read_space into) noexcept { return {erased_, into}; }

    /// Destroys the stream.
    /// @pre  what is pending on it may be, if the stream's own destructor allows that.
    void close() noexcept { erased_.close(); }

private:
    erased_owner erased_;
};

/// A sink of bytes of any type, owned. Moves; destroying it destroys the stream.
class any_write_stream {
public:
    using message_writer = any_message_writer;

    any_write_stream() noexcept = default;  ///< Closed.

    /// Cost: one allocation, for the stream and one operation of it.
    template <class Stream>
        requires(!std::same_as<Stream, any_write_stream> && write_stream<Stream>)
    any_write_stream(Stream it) : erased_{new erased_as<Stream>{std::move(it)}} {}

    /// As the stream's own, except:
    ///
    /// Errors:  `errc::busy` while another write is pending, or the message of another;
    ///          `errc::closed` if there is no stream.
    /// Cost:    no allocation; one virtual call, and one more if it had to wait.
    [[nodiscard]] any_write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {erased_, from};
    }
    /// The same from several buffers, which a stream that gathers does in one call.
    [[nodiscard]] any_write_awaiter write_some(const_buffers from) noexcept {
        return {erased_, from};
    }

    /// As the stream's own; ok of one that has none. `errc::closed` if there is no stream.
    io_result<> shutdown_send() noexcept { return erased_.shutdown_send(); }

    /// As the stream's own; 0 if there is no stream. See `traffic_stream`.
    [[nodiscard]] std::uint64_t traffic() const noexcept { return erased_.traffic(); }

    /// Destroys the stream.
    void close() noexcept { erased_.close(); }

private:
    friend any_message_writer;

    erased_owner erased_;
};

/// A stream of both directions of any type, owned: the two above in one.
class any_stream {
public:
    using message_writer = any_message_writer;

    any_stream() noexcept = default;  ///< Closed.

    /// Cost: one allocation, for the stream, one read and one write of it.
    template <class Stream>
        requires(!std::same_as<Stream, any_stream> && duplex_stream<Stream>)
    any_stream(Stream it) : erased_{new erased_as<Stream>{std::move(it)}} {}

    /// See `any_read_stream`.
    [[nodiscard]] any_read_awaiter read_some(read_space into) noexcept { return {erased_, into}; }

    /// See `any_write_stream`.
    [[nodiscard]] any_write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {erased_, from};
    }
    [[nodiscard]] any_write_awaiter write_some(const_buffers from) noexcept {
        return {erased_, from};
    }
    io_result<> shutdown_send() noexcept { return erased_.shutdown_send(); }

    /// As the stream's own; 0 if there is no stream. See `traffic_stream`.
    [[nodiscard]] std::uint64_t traffic() const noexcept { return erased_.traffic(); }

    /// Destroys the stream.
    void close() noexcept { erased_.close(); }

private:
    friend any_message_writer;

    erased_owner erased_;
};

static_assert(read_stream<any_read_stream>);
static_assert(write_stream<any_write_stream>);
static_assert(duplex_stream<any_stream>);

}  // namespace gyre
