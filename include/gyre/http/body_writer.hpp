// SPDX-License-Identifier: BSL-1.0
//
// Where a body is written to that is made while it is sent.
//
// A producer writes as to any stream and is held back as by any stream; whether what it writes becomes
// chunks, frames or a counted rest is the protocol's business, which implements `body_sink`.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/stream/concepts.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace gyre::http {

/// Where a body's bytes go; protocols implement it.
class body_sink {
public:
    /// Takes a part of `from`, which is not empty, if that needs no waiting; nothing if it does.
    [[nodiscard]] virtual std::optional<io_result<std::size_t>> try_write(
        const_buffer from) noexcept = 0;

    /// Waits until it can take a part of `from`.
    ///
    /// @param  from  Borrowed until completion; not empty.
    /// @return The bytes taken, at least one, or an error.
    ///
    /// Errors:        `errc::limit_exceeded` for more bytes than the message has declared; those of the
    ///                stream.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame from the frame cache.
    [[nodiscard]] virtual task<io_result<std::size_t>> write(const_buffer from) = 0;

    /// Sends what it has collected; the rest as `write`.
    [[nodiscard]] virtual task<io_result<>> flush() = 0;

    /// The fields that follow the body.
    [[nodiscard]] virtual fields& trailers() noexcept = 0;

protected:
    body_sink() noexcept = default;
    body_sink(const body_sink&) = default;
    body_sink& operator=(const body_sink&) = default;
    ~body_sink() = default;
};

/// Made by `body_writer::write_some`.
class [[nodiscard]] body_write_awaiter {
public:
    using bound_when_awaited = void;

    body_write_awaiter(body_sink& to, const_buffer from) noexcept : to_{to}, from_{from} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given);
    [[nodiscard]] io_result<std::size_t> await_resume() {
        return waits_ ? waits_->await_resume() : at_once_;
    }

private:
    body_sink& to_;
    const_buffer from_;
    io_result<std::size_t> at_once_;
    std::optional<task<io_result<std::size_t>>> waits_;
    resumption back_;  // Of what was taken at once, when it has to give way.
};

/// The writer of one body: a reference to what the protocol owns, valid until its producer has ended.
class body_writer {
public:
    explicit body_writer(body_sink& to) noexcept : to_{&to} {}

    /// As any stream: see stream/concepts.hpp. Small pieces are collected.
    ///
    /// Errors:        `errc::limit_exceeded` for more than the size that was declared; those of the stream.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor; one write at a time.
    /// Cost:          a copy, without a frame, while there is room to collect; else a frame and a write.
    [[nodiscard]] body_write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {*to_, from};
    }

    /// Sends what has been written so far, as for an event that the peer waits for.
    ///
    /// Errors, Cancellation, Threads: as `write_some`. Cost: one frame and a write.
    [[nodiscard]] task<io_result<>> flush() { return to_->flush(); }

    /// Fields to be sent behind the body, set before the producer ends. A peer of HTTP/1.0 gets none, nor
    /// does one whose body's size was declared.
    [[nodiscard]] fields& trailers() noexcept { return to_->trailers(); }

private:
    body_sink* to_;
};

static_assert(write_stream<body_writer>);

/// Makes a body while it is sent. Derive for what has more to it than a coroutine, as a range of a file.
class body_producer {
public:
    body_producer() noexcept = default;
    body_producer(const body_producer&) = delete;
    body_producer& operator=(const body_producer&) = delete;
    virtual ~body_producer() = default;

    /// The size, if it is known before: `write` writes so many bytes.
    [[nodiscard]] virtual std::optional<std::uint64_t> size() const noexcept = 0;

    /// Writes the body to `to`, once. Not called where no body is sent, as in the answer to HEAD.
    ///
    /// @return An error ends the answer: what was written arrives, without the body's end, so that the peer
    ///         notices. Before anything was written, or the head has left, the peer gets 500 instead.
    ///
    /// Errors:        its own, and those of `to`.
    /// Cancellation:  as it waits for what it sends.
    /// Threads:       on the connection's executor.
    /// Cost:          its own.
    [[nodiscard]] virtual task<io_result<>> write(body_writer to) = 0;
};

/// A coroutine that writes a body.
using body_function = std::function<task<io_result<>>(body_writer)>;

/// A producer that is a coroutine.
///
/// @param  size  The number of bytes that it will write, if known.
[[nodiscard]] std::unique_ptr<body_producer> produced_by(
    body_function write, std::optional<std::uint64_t> size = std::nullopt);

}  // namespace gyre::http
