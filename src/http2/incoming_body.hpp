// SPDX-License-Identifier: BSL-1.0
//
// The body that comes on a stream: its bytes wait here, and the peer's window is given back as they are read.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/stream/flat_buffer.hpp>
#include <gyre/stream/silence.hpp>
#include <gyre/sync/event.hpp>
#include <http2/connection_core.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::http2 {

/// One body after another. Does not move.
class incoming_body final : public http::body_source {
public:
    struct limits {
        std::size_t window;       ///< Of the stream: what may wait here.
        duration silence_max;     ///< Between two pieces.
        std::uint64_t bytes_max;  ///< Of a whole body.
    };

    /// @param  of  Borrowed.
    incoming_body(connection_core& on, engine_stream& of, const limits& bounds) noexcept;

    /// A body may follow.
    void begin(std::optional<std::uint64_t> declared, bool continues) noexcept;
    void clear() noexcept;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_read(
        mutable_buffer into) noexcept override;
    [[nodiscard]] task<io_result<std::size_t>> read(mutable_buffer into) override;
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return declared_; }
    [[nodiscard]] bool ended() const noexcept override {
        return came_whole_ && !failed_ && waiting_.empty();
    }
    [[nodiscard]] const http::fields& trailers() const noexcept override;

    // Events.

    void take(const_buffer bytes) noexcept;
    /// One of the trailers; left out if it may be none.
    void add_trailer(std::string_view name, std::string_view value);
    void end() noexcept;
    void fail(error why) noexcept;

    /// No reader is left: what is here or comes is dropped, and the peer may send up to `bytes_max` more.
    void drop(std::uint64_t bytes_max) noexcept;
    /// No reader is left, and the connection gets back its window.
    void detach() noexcept;
    /// The connection goes, and is not used any more. What has come can be read, unless it has failed.
    void outlive() noexcept { on_ = nullptr; }

    [[nodiscard]] bool came_whole() const noexcept { return came_whole_; }
    [[nodiscard]] bool holds_peer() const noexcept { return continue_due_; }
    /// True if a trailer came that no message may have.
    [[nodiscard]] bool has_bad_trailer() const noexcept { return trailers_.refused(); }

private:
    [[nodiscard]] io_result<std::size_t> failure() const noexcept;
    void tell_to_go_on() noexcept;
    [[nodiscard]] bool is_silent(silence_watch& silence, time_point since) const noexcept;

    connection_core* on_;
    engine_stream& of_;
    limits bounds_;
    flat_buffer waiting_;
    http::fields trailers_;  // As they come.
    event came_;
    std::optional<std::uint64_t> declared_;
    std::uint64_t allowed_left_ = 0;
    std::uint64_t may_drop_ = 0;
    error failed_;
    bool continue_due_ = false;
    bool came_whole_ = false;
    bool dropping_ = false;
};

}  // namespace gyre::http2
