// SPDX-License-Identifier: BSL-1.0
//
// A connection without a kernel: two streams joined in memory.
//
// Protocols are tested on it: deterministic, no descriptors, and as short as a test wants its reads
// and writes to be. It obeys the stream laws (tests/laws/stream_laws_test.cpp), back-pressure included.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/sync/waiters.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gyre {

/// One direction: a bounded ring of bytes. On one loop or one strand.
class memory_channel {
public:
    explicit memory_channel(std::size_t capacity) : bytes_(capacity) {}

    class read_awaiter final : public waiter {
    public:
        read_awaiter(std::shared_ptr<memory_channel> from, mutable_buffer into) noexcept
            : waiter{"memory pipe read"}, from_{std::move(from)}, into_{into} {}
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        [[nodiscard]] io_result<std::size_t> await_resume() const noexcept;

    private:
        friend class memory_channel;

        std::shared_ptr<memory_channel> from_;  // Null of a closed stream.
        mutable_buffer into_;
        std::size_t count_ = 0;
    };

    class write_awaiter final : public waiter {
    public:
        write_awaiter(std::shared_ptr<memory_channel> to, const_buffer from) noexcept
            : waiter{"memory pipe write"}, to_{std::move(to)}, from_{from} {}
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        [[nodiscard]] io_result<std::size_t> await_resume() const noexcept;

    private:
        friend class memory_channel;

        std::shared_ptr<memory_channel> to_;  // Null of a closed stream.
        const_buffer from_;
        std::size_t count_ = 0;
    };

    /// No byte follows: the reader drains what is there and then meets `errc::eof`.
    void end_writing() noexcept;

    /// The reader is gone: writes end with `errc::broken_pipe`, reads with `errc::closed`.
    void end_reading() noexcept;

    /// The writer is gone: reads end as after `end_writing`, writes with `errc::closed`.
    void abandon_writing() noexcept;

    /// Bytes that were read so far.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

private:
    std::size_t put(const_buffer from) noexcept;
    std::size_t take(mutable_buffer into) noexcept;
    void move_waiting() noexcept;

    std::vector<std::byte> bytes_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::uint64_t taken_ = 0;
    waiters readers_;
    waiters writers_;
    bool writing_ended_ = false;
    bool writing_abandoned_ = false;
    bool reading_ended_ = false;
};

/// One end of a pipe. Moves; destroying it ends both of its directions.
class memory_stream {
public:
    memory_stream() noexcept = default;
    memory_stream(std::shared_ptr<memory_channel> in, std::shared_ptr<memory_channel> out) noexcept
        : in_{std::move(in)}, out_{std::move(out)} {}
    memory_stream(memory_stream&&) noexcept = default;
    memory_stream& operator=(memory_stream&& other) noexcept;
    ~memory_stream() { close(); }

    /// As any stream: see stream/concepts.hpp.
    ///
    /// Errors:        `errc::eof`; `errc::broken_pipe` for writes; `errc::closed` if the stream was closed
    ///                before it was awaited.
    /// Cancellation:  `errc::canceled`; nothing was transferred then.
    /// Threads:       the loop or strand of the pipe.
    /// Cost:          no allocation; one copy.
    [[nodiscard]] memory_channel::read_awaiter read_some(read_space into) noexcept {
        return {in_, into};
    }
    [[nodiscard]] memory_channel::write_awaiter write_some(
        const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {out_, from};
    }

    /// The peer reads `errc::eof` after what was written.
    void shutdown_send() noexcept {
        if (out_ != nullptr) out_->end_writing();
    }

    /// Bytes that the peer has read. See `traffic_stream`.
    [[nodiscard]] std::uint64_t traffic() const noexcept {
        return out_ != nullptr ? out_->taken() : 0;
    }

    /// Ends both directions. Nothing may be pending on this end.
    void close() noexcept;

private:
    std::shared_ptr<memory_channel> in_;
    std::shared_ptr<memory_channel> out_;
};

/// Two ends of one connection.
struct memory_pipe {
    /// @param  capacity  Bytes that each direction holds, at least 1; a full one makes writers wait.
    explicit memory_pipe(std::size_t capacity);

    memory_stream first;
    memory_stream second;
};

}  // namespace gyre
