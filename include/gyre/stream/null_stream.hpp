// SPDX-License-Identifier: BSL-1.0
//
// Streams of nothing: what has ended from the beginning, zeros for ever, a sink that takes everything.
//
// As /dev/null and /dev/zero, without a descriptor; for what is not wanted, for padding, and for tests.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/sync/waiters.hpp>

#include <algorithm>
#include <cstddef>

namespace gyre {

/// What transfers a known number of bytes without waiting, or none.
class instant_transfer final : public waiter {
public:
    /// @param  zeroed  Filled with zeros, unless stopped before.
    instant_transfer(activity during, std::size_t count, errc outcome = errc::ok,
                     mutable_buffer zeroed = {}) noexcept
        : waiter{"nothing"}, zeroed_{zeroed}, count_{count}, during_{during}, outcome_{outcome} {}

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept {
        if (stopped_before(*given)) {
            count_ = 0;
            outcome_ = errc::canceled;
        } else {
            std::ranges::fill(zeroed_, std::byte{});
        }
        return go_on(handle, *given);
    }
    [[nodiscard]] io_result<std::size_t> await_resume() const noexcept {
        return {outcome_ == errc::ok ? error{} : error{outcome_, during_}, count_};
    }

private:
    mutable_buffer zeroed_;
    std::size_t count_;
    activity during_;
    errc outcome_;
};

/// Ends before the first byte; what is written to it is gone.
///
/// Errors:        of reads, `errc::eof`; of writes, none.
/// Cancellation:  `errc::canceled` if stopped before.
/// Threads:       any loop.
/// Cost:          no allocation; gives way to others as anything that never waits.
class null_stream {
public:
    [[nodiscard]] instant_transfer read_some(read_space into) const noexcept {
        const bool nothing_wanted = mutable_buffer{into}.empty();
        return {activity::read, 0, nothing_wanted ? errc::ok : errc::eof};
    }
    [[nodiscard]] instant_transfer write_some(const_buffer from) const noexcept {
        return {activity::write, from.size()};
    }
};

/// Zeros without end; otherwise as `null_stream`.
class zero_stream {
public:
    [[nodiscard]] instant_transfer read_some(read_space into) const noexcept {
        const mutable_buffer zeroed = into;
        return {activity::read, zeroed.size(), errc::ok, zeroed};
    }
    [[nodiscard]] instant_transfer write_some(const_buffer from) const noexcept {
        return {activity::write, from.size()};
    }
};

static_assert(duplex_stream<null_stream> && duplex_stream<zero_stream>);

}  // namespace gyre
