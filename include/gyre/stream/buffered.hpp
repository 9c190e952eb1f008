// SPDX-License-Identifier: BSL-1.0
//
// Reading input whose length only its content tells, and writing many small pieces as one.
//
// The reader keeps what a read brought beyond the message; the writer keeps small writes until there
// are enough of them. Both have a bound that no peer can exceed.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace gyre {

/// A stream with a window of bytes that were read and not yet consumed.
///
/// @tparam  Stream  Borrowed; this is its only reader.
template <read_stream Stream>
class buffered_reader {
public:
    /// @param  bytes_max  The largest message it can hold; allocated once.
    buffered_reader(Stream& from, std::size_t bytes_max)
        : from_{from}, space_{new std::byte[bytes_max]}, size_{bytes_max} {
        expects(bytes_max > 0, "a reader with room");
    }
    buffered_reader(const buffered_reader&) = delete;
    buffered_reader& operator=(const buffered_reader&) = delete;

    /// What was read and not consumed; valid until the next call that reads.
    [[nodiscard]] const_buffer window() const noexcept {
        return {space_.get() + begin_, end_ - begin_};
    }

    /// Drops the first `count` bytes of the window.
    void consume(std::size_t count) noexcept {
        expects(count <= end_ - begin_, "consume what is there");
        begin_ += count;
        if (begin_ == end_) begin_ = end_ = 0;
    }

    /// Reads more behind the window.
    ///
    /// @return The bytes added.
    ///
    /// Errors:        `errc::limit_exceeded` if the window has reached its bound; `errc::eof`; those of
    ///                the stream.
    /// Cancellation:  `errc::canceled`; the window stays.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame.
    [[nodiscard]] task<io_result<std::size_t>> fill() {
        make_room();
        if (end_ == size_) co_return error{errc::limit_exceeded, activity::read};
        const io_result<std::size_t> got =
            co_await from_.read_some(mutable_buffer{space_.get() + end_, size_ - end_});
        end_ += got.value();
        co_return got;
    }

    /// Reads until the window holds `delimiter`.
    ///
    /// @return The message including the delimiter, a part of the window: consume it when done. Empty
    ///         with an error.
    ///
    /// Errors:        `errc::limit_exceeded` if it does not fit; `errc::eof` if the stream ended
    ///                before it, what came being in the window.
    /// Cancellation:  `errc::canceled`; the window stays, and the call may be repeated.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame; a search of each byte once.
    [[nodiscard]] task<io_result<const_buffer>> read_until(std::string_view delimiter) {
        std::size_t searched = 0;
        for (;;) {
            const std::size_t at = text_of(window()).find(delimiter, searched);
            if (at != std::string_view::npos) {
                co_return io_result<const_buffer>{window().first(at + delimiter.size())};
            }
            searched = window().size() - std::min(window().size(), delimiter.size() - 1);
            const io_result<std::size_t> more = co_await fill();
            if (!more.ok()) co_return more.error();
        }
    }

    /// Reads until the window holds at least `count` bytes; the rest as `read_until`.
    [[nodiscard]] task<io_result<const_buffer>> read_at_least(std::size_t count) {
        if (count > size_) co_return error{errc::limit_exceeded, activity::read};
        while (window().size() < count) {
            const io_result<std::size_t> more = co_await fill();
            if (!more.ok()) co_return more.error();
        }
        co_return io_result<const_buffer>{window()};
    }

    /// Makes the reader a stream itself: the window first, then what follows.
    [[nodiscard]] task<io_result<std::size_t>> read_some(mutable_buffer into) {
        if (window().empty() && !into.empty()) {
            const io_result<std::size_t> more = co_await fill();
            if (!more.ok()) co_return more.error();
        }
        const std::size_t count = std::min(into.size(), window().size());
        if (count > 0) std::memcpy(into.data(), window().data(), count);
        consume(count);
        co_return io_result<std::size_t>{count};
    }

private:
    void make_room() noexcept {
        if (end_ < size_ || begin_ == 0) return;
        std::memmove(space_.get(), space_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }

    Stream& from_;
    std::unique_ptr<std::byte[]> space_;
    std::size_t size_;
    std::size_t begin_ = 0;  // The window is [begin_, end_) of the space.
    std::size_t end_ = 0;
};

/// Collects small writes. Whoever uses it must `flush` at the end: a destructor cannot wait.
///
/// @tparam  Stream  Borrowed; this is its only writer.
template <write_stream Stream>
class buffered_writer {
public:
    /// @param  bytes_max  How much it collects before it writes; allocated once.
    buffered_writer(Stream& to, std::size_t bytes_max)
        : to_{to}, space_{new std::byte[bytes_max]}, size_{bytes_max} {
        expects(bytes_max > 0, "a writer with room");
    }
    buffered_writer(const buffered_writer&) = delete;
    buffered_writer& operator=(const buffered_writer&) = delete;

    /// Bytes collected and not written.
    [[nodiscard]] std::size_t buffered() const noexcept { return used_; }

    /// Adds `from`, writing what has been collected if it does not fit; larger pieces go directly.
    ///
    /// @param  from  Borrowed until completion; copied then.
    /// @return The bytes of `from` taken: all, unless the error is set.
    ///
    /// Errors:        those of the stream; the message is torn then.
    /// Cancellation:  `errc::canceled`; torn as well if anything was written.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame, a copy.
    [[nodiscard]] task<io_result<std::size_t>> write(const_buffer from) {
        if (from.size() > size_ - used_) {
            const io_result<> flushed = co_await flush();
            if (!flushed.ok()) co_return flushed.error();
        }
        if (from.size() > size_) {
            const io_result<std::size_t> direct = co_await write_all(to_, from);
            co_return direct;
        }
        if (!from.empty()) std::memcpy(space_.get() + used_, from.data(), from.size());
        used_ += from.size();
        co_return io_result<std::size_t>{from.size()};
    }

    /// Writes everything collected; errors and cancellation as `write`. What was not written then
    /// stays collected, and the next flush goes on there.
    [[nodiscard]] task<io_result<>> flush() {
        const io_result<std::size_t> written =
            co_await write_all(to_, const_buffer{space_.get(), used_});
        used_ -= written.value();
        std::memmove(space_.get(), space_.get() + written.value(), used_);
        co_return written.error();
    }

private:
    Stream& to_;
    std::unique_ptr<std::byte[]> space_;
    std::size_t size_;
    std::size_t used_ = 0;
};

}  // namespace gyre
