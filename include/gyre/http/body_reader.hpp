// SPDX-License-Identifier: BSL-1.0
//
// The body of a message as a stream with an end, and the trailers behind it.
//
// A handler reads a request's body the same way whether it comes as a length, in chunks or in frames of
// HTTP/2: each protocol gives it a `body_source`. Bytes that are at hand cost no coroutine.
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
#include <optional>
#include <string>

namespace gyre::http {

/// Where a body's bytes come from; protocols implement it. It outlives the message's handler, and belongs to
/// the loop of its connection.
class body_source {
public:
    /// Fills `into`, which is not empty, with what is at hand, and yields what `read` would; nothing if that
    /// would have to wait. Never waits.
    [[nodiscard]] virtual std::optional<io_result<std::size_t>> try_read(
        mutable_buffer into) noexcept = 0;

    /// Waits for bytes or the end.
    ///
    /// @param  into  Borrowed; not empty.
    /// @return At least one byte, or an error.
    ///
    /// Errors:        `errc::eof` after the last byte, again and again; `errc::limit_exceeded` if the body is
    ///                longer than allowed; `errc::malformed` if its framing is; `errc::timed_out` if the peer
    ///                was silent for too long; those of the stream, with `errc::connection_reset` for a peer
    ///                that ended before the body did.
    /// Cancellation:  `errc::canceled`; nothing is lost.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame from the frame cache; called only if `try_read` had nothing.
    [[nodiscard]] virtual task<io_result<std::size_t>> read(mutable_buffer into) = 0;

    /// The body's length, if the message says.
    [[nodiscard]] virtual std::optional<std::uint64_t> size() const noexcept = 0;

    /// Whether the last byte has been read.
    [[nodiscard]] virtual bool ended() const noexcept = 0;

    /// The fields behind the body; empty before its end, and if there are none.
    [[nodiscard]] virtual const fields& trailers() const noexcept = 0;

protected:
    body_source() noexcept = default;
    body_source(const body_source&) = default;
    body_source& operator=(const body_source&) = default;
    ~body_source() = default;
};

/// Made by `body_reader::read_some`.
class [[nodiscard]] body_read_awaiter {
public:
    using bound_when_awaited = void;

    body_read_awaiter(body_source* from, mutable_buffer into) noexcept : from_{from}, into_{into} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given);
    [[nodiscard]] io_result<std::size_t> await_resume() {
        return waits_ ? waits_->await_resume() : at_hand_;
    }

private:
    body_source* from_;
    mutable_buffer into_;
    io_result<std::size_t> at_hand_;
    std::optional<task<io_result<std::size_t>>> waits_;
    resumption back_;  // Of what was at hand, when it has to give way.
};

/// A body. A reference to what its message's protocol owns: copies read the same bytes, and all of them are
/// valid until the message is over. Without a source it is empty.
class body_reader {
public:
    body_reader() noexcept = default;
    explicit body_reader(body_source& from) noexcept : from_{&from} {}

    /// As any stream: see stream/concepts.hpp.
    ///
    /// The first read lets a client send that waits for "100 Continue".
    ///
    /// Errors:        `errc::eof` at the end; the rest as `body_source::read`.
    /// Cancellation:  `errc::canceled`; nothing is lost.
    /// Threads:       resumes on the caller's executor; one read at a time.
    /// Cost:          no allocation if bytes are at hand, else one frame.
    [[nodiscard]] body_read_awaiter read_some(read_space into) noexcept { return {from_, into}; }

    /// All that follows, as text.
    ///
    /// @param  bytes_max  More is an error; what is declared to be longer is not even begun.
    /// @return What came; with an error, what came before it.
    ///
    /// Errors:        `errc::limit_exceeded`; those of `read_some`, but `errc::eof`.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame; memory for what has come, not for what was announced.
    [[nodiscard]] task<io_result<std::string>> read_all(std::size_t bytes_max) const;

    /// The length, if the message says.
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept {
        return from_ != nullptr ? from_->size() : std::optional<std::uint64_t>{0};
    }

    /// Whether there is nothing left to read.
    [[nodiscard]] bool ended() const noexcept { return from_ == nullptr || from_->ended(); }

    /// The fields behind the body; empty before its end.
    [[nodiscard]] const fields& trailers() const noexcept;

private:
    body_source* from_ = nullptr;
};

static_assert(read_stream<body_reader>);

}  // namespace gyre::http
