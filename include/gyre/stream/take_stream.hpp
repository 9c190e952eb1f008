// SPDX-License-Identifier: BSL-1.0
//
// The next so many bytes of a stream, as a stream that ends behind them.
//
// For a body whose length was announced: a caller that reads it to its end leaves what follows alone.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

template <read_stream Stream>
class take_read_awaiter;

/// Owns its stream, or refers to one: `take_stream{stream_ref{it}, size}`. Moves.
template <read_stream Stream>
class take_stream {
public:
    take_stream(Stream from, std::uint64_t bytes) noexcept : from_{std::move(from)}, left_{bytes} {}

    /// As the stream's own, except:
    ///
    /// Errors:  `errc::eof` also where all bytes were read; and if the stream has ended before, which is what
    ///          `left` tells.
    /// Cost:    no allocation.
    [[nodiscard]] take_read_awaiter<Stream> read_some(read_space into) noexcept {
        return {*this, into};
    }

    /// Bytes that are still to be read.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
    [[nodiscard]] Stream& stream() noexcept { return from_; }

private:
    friend take_read_awaiter<Stream>;

    Stream from_;
    std::uint64_t left_;
};

/// Made by `take_stream::read_some`.
template <read_stream Stream>
class [[nodiscard]] take_read_awaiter
    : public one_transfer<take_read_awaiter<Stream>, read_step<Stream>> {
public:
    take_read_awaiter(take_stream<Stream>& of, mutable_buffer into) noexcept
        : of_{of}, into_{into} {}

    [[nodiscard]] bool over() noexcept {
        if (of_.left_ > 0 || into_.empty()) return false;
        this->keep(error{errc::eof, activity::read});
        return true;
    }
    [[nodiscard]] auto step() {
        const auto size =
            static_cast<std::size_t>(std::min<std::uint64_t>(into_.size(), of_.left_));
        return of_.from_.read_some(into_.first(size));
    }
    [[nodiscard]] bool take(io_result<std::size_t> got) noexcept {
        of_.left_ -= got.value();
        this->keep(got);
        return false;
    }

private:
    take_stream<Stream>& of_;
    mutable_buffer into_;
};

}  // namespace gyre
