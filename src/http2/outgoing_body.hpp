// SPDX-License-Identifier: BSL-1.0
//
// The body that leaves on a stream: bytes that are there already, or what a producer writes.
//
// A producer's bytes are collected up to a bound and taken as the peer's windows allow; until then it waits.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/stream/flat_buffer.hpp>
#include <gyre/sync/event.hpp>
#include <http2/connection_core.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gyre::http2 {

/// One body after another. Does not move.
class outgoing_body final : public http::body_sink {
public:
    /// @param  of  Borrowed.
    outgoing_body(connection_core& on, engine_stream& of, std::size_t bytes_max) noexcept;

    void clear() noexcept;

    /// No body.
    void begin_none() noexcept { done_ = true; }
    /// @param  whole, trailers  Borrowed until it has left.
    void begin(const_buffer whole, http::fields& trailers) noexcept;
    /// What a producer writes, of the size that was declared, if one was.
    void begin(std::optional<std::uint64_t> size, http::fields& trailers) noexcept;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_write(
        const_buffer from) noexcept override;
    [[nodiscard]] task<io_result<std::size_t>> write(const_buffer from) override;
    [[nodiscard]] task<io_result<>> flush() override;
    [[nodiscard]] http::fields& trailers() noexcept override { return *trailers_; }

    /// Whether nothing was written.
    [[nodiscard]] bool untouched() const noexcept { return collected_.empty() && sent_ == 0; }

    /// The producer has ended: `errc::malformed` if it has written less than was declared.
    [[nodiscard]] io_result<> end() noexcept;

    /// The peer may not be sent anything for now.
    void hold() noexcept { held_ = true; }
    void let_go() noexcept;
    [[nodiscard]] bool held() const noexcept { return held_; }

    void fail(error why) noexcept;

    // For the engine.

    [[nodiscard]] pulled pull(mutable_buffer into) noexcept;

    /// Whether all of it has left, or there is none.
    [[nodiscard]] bool done() const noexcept { return done_; }

    /// The same, or all bytes that were declared have left: a peer that counts them has the whole, and may
    /// reset the stream before its end is said.
    [[nodiscard]] bool sent_whole() const noexcept {
        return done_ || (left_ && *left_ == 0 && collected_.empty());
    }
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

    /// Something is left that the peer has room for, and the connection is busy with what stands in front:
    /// whether the peer takes that is for the connection's limit to say.
    [[nodiscard]] bool is_behind_others() const noexcept {
        return !(whole_.empty() && collected_.empty()) && !on_.wire().is_held_by_peer(of_);
    }

private:
    void rouse() noexcept;
    [[nodiscard]] pulled::state last() noexcept;
    [[nodiscard]] task<io_result<>> wait_for_room();

    connection_core& on_;
    engine_stream& of_;
    flat_buffer collected_;
    const_buffer whole_;
    http::fields* trailers_ = nullptr;
    event room_;
    std::optional<std::uint64_t> left_;  // Of what was declared.
    std::uint64_t sent_ = 0;
    error failed_;
    bool complete_ = false;  // Nothing is added.
    bool asleep_ = false;    // The engine does not ask, until it is told.
    bool held_ = false;
    bool done_ = false;
};

}  // namespace gyre::http2
