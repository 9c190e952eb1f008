// SPDX-License-Identifier: BSL-1.0
//
// A stream that knows how many bytes went through it.
//
// For statistics, quotas and progress, where the streams themselves keep no count.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

/// One transfer of a stream, added to a count.
template <class Stream, class Buffer, awaitable Step>
class [[nodiscard]] counted_awaiter
    : public one_transfer<counted_awaiter<Stream, Buffer, Step>, Step> {
public:
    counted_awaiter(Stream& on, std::uint64_t& count, Buffer piece) noexcept
        : on_{on}, count_{count}, piece_{piece} {}

    [[nodiscard]] Step step() {
        if constexpr (std::same_as<Buffer, mutable_buffer>) return on_.read_some(piece_);
        else return on_.write_some(piece_);
    }
    [[nodiscard]] bool take(io_result<std::size_t> ended) noexcept {
        count_ += ended.value();
        this->keep(ended);
        return false;
    }

private:
    Stream& on_;
    std::uint64_t& count_;
    Buffer piece_;
};

/// Owns its stream, or refers to one: `counted_stream{stream_ref{it}}`. Moves while nothing is pending.
template <class Stream>
class counted_stream {
public:
    explicit counted_stream(Stream it) noexcept : it_{std::move(it)} {}

    /// As the stream's own. Cost: no allocation.
    [[nodiscard]] auto read_some(read_space into) noexcept
        requires read_stream<Stream>
    {
        return counted_awaiter<Stream, mutable_buffer, read_step<Stream>>{it_, read_, into};
    }
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept
        requires write_stream<Stream>
    {
        return counted_awaiter<Stream, const_buffer, plain_write_step<Stream>>{it_, written_, from};
    }

    /// As the stream's own.
    auto shutdown_send() noexcept
        requires half_closing_stream<Stream>
    {
        return it_.shutdown_send();
    }

    /// Bytes that went through so far.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return read_; }
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return written_; }

    [[nodiscard]] Stream& stream() noexcept { return it_; }

private:
    Stream it_;
    std::uint64_t read_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace gyre
