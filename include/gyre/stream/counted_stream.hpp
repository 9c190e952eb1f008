// SPDX-License-Identifier: BSL-1.0
//
// A stream that knows how many bytes went through it.
//
// For statistics, quotas and progress, where the streams themselves keep no count.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

/// One transfer, which `begin()` begins, added to a count.
template <awaitable Step, class Begin>
class [[nodiscard]] counted_awaiter : public one_transfer<counted_awaiter<Step, Begin>, Step> {
public:
    counted_awaiter(std::uint64_t& count, Begin begin) noexcept : count_{count}, begin_{begin} {}

    [[nodiscard]] Step step() { return begin_(); }
    [[nodiscard]] bool take(io_result<std::size_t> ended) noexcept {
        count_ += ended.value();
        this->keep(ended);
        return false;
    }

private:
    std::uint64_t& count_;
    Begin begin_;
};

template <awaitable Step, class Begin>
[[nodiscard]] counted_awaiter<Step, Begin> count_transfer(std::uint64_t& count,
                                                          Begin begin) noexcept {
    return {count, begin};
}

template <write_stream Stream>
class counted_message_writer;

/// Owns its stream, or refers to one: `counted_stream{stream_ref{it}}`. Moves while nothing is pending.
template <class Stream>
class counted_stream {
public:
    explicit counted_stream(Stream it) noexcept : it_{std::move(it)} {}

    /// As the stream's own, messages as well. Cost: no allocation.
    [[nodiscard]] auto read_some(read_space into) noexcept
        requires read_stream<Stream>
    {
        const mutable_buffer whole = into;
        return count_transfer<read_step<Stream>>(read_,
                                                 [this, whole] { return it_.read_some(whole); });
    }
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept
        requires write_stream<Stream>
    {
        return count_transfer<plain_write_step<Stream>>(
            written_, [this, from] { return it_.write_some(from); });
    }

    /// As the stream's own.
    auto shutdown_send() noexcept
        requires half_closing_stream<Stream>
    {
        return it_.shutdown_send();
    }
    [[nodiscard]] std::uint64_t traffic() const noexcept { return traffic_of(it_); }

    /// Bytes that went through so far.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return read_; }
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return written_; }

    [[nodiscard]] Stream& stream() noexcept { return it_; }

private:
    template <write_stream Of>
    friend class counted_message_writer;

    Stream it_;
    std::uint64_t read_ = 0;
    std::uint64_t written_ = 0;
};

/// A message is one of the stream below, to the exclusion of others where that sees to it. Its writes refer
/// to it, and it to the stream.
template <write_stream Stream>
class counted_message_writer {
public:
    explicit counted_message_writer(counted_stream<Stream>& by) noexcept
        : to_{by.it_}, count_{by.written_} {}

    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return count_transfer<write_step<Stream>>(count_,
                                                  [this, from] { return to_.write_some(from); });
    }
    [[nodiscard]] auto write_some(const_buffers from, std::size_t skipped) noexcept {
        return count_transfer<gather_step<Stream>>(
            count_, [this, from, skipped] { return write_next(to_, from, skipped); });
    }
    void end() noexcept { to_.end(); }

private:
    message_writer_of<Stream> to_;
    std::uint64_t& count_;
};
template <write_stream Stream>
struct message_writer_for<counted_stream<Stream>> {
    using type = counted_message_writer<Stream>;
};

}  // namespace gyre
