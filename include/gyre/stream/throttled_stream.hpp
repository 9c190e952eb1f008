// SPDX-License-Identifier: BSL-1.0
//
// A stream that transfers so many bytes per second, and not faster.
//
// For a download that leaves others their share, and for tests of slow peers. sync/rate_limiter.hpp counts;
// streams that share one limiter share its rate.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/sync/rate_limiter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

/// Whose tokens are bytes. Borrowed; none, and that direction is not limited.
struct throttles {
    rate_limiter* reads = nullptr;
    rate_limiter* writes = nullptr;
};

/// One direction: bytes are paid for after they were transferred, so that only those are that were.
class throttle {
public:
    explicit throttle(rate_limiter* by) noexcept : by_{by} {}

    [[nodiscard]] bool is_due() const noexcept { return owed_ > 0; }
    [[nodiscard]] rate_limiter::acquire_awaiter pay() noexcept { return by_->acquire(owed_); }
    void paid() noexcept { owed_ = 0; }
    void owe(std::size_t bytes) noexcept {
        if (by_ != nullptr) owed_ = bytes;
    }
    /// No transfer may come to more than the limiter ever has.
    [[nodiscard]] std::size_t at_once(std::size_t bytes) const noexcept {
        return by_ == nullptr
                   ? bytes
                   : static_cast<std::size_t>(std::min<std::uint64_t>(bytes, by_->burst()));
    }

private:
    rate_limiter* by_;
    std::uint64_t owed_ = 0;  // Invariant: at most the limiter's burst.
};

/// Awaits what is owed, then one transfer.
template <class Self, class Buffer, awaitable Step>
class throttled_awaiter
    : public one_transfer<Self, either_step<rate_limiter::acquire_awaiter, Step>> {
public:
    [[nodiscard]] either_step<rate_limiter::acquire_awaiter, Step> step() {
        pays_ = by_.is_due() && !piece_.empty();
        if (pays_) return {std::in_place_index<0>, by_.pay()};
        const Buffer now = piece_.first(by_.at_once(piece_.size()));
        return {std::in_place_index<1>, static_cast<Self&>(*this).transfer(now)};
    }
    [[nodiscard]] bool take(io_result<std::size_t> ended) noexcept {
        this->keep(ended);
        if (!pays_) {
            if (ended.value() > 0) by_.owe(ended.value());
            return false;
        }
        if (ended.ok()) by_.paid();
        return ended.ok();
    }

protected:
    throttled_awaiter(throttle& by, Buffer piece) noexcept : by_{by}, piece_{piece} {}

private:
    throttle& by_;
    Buffer piece_;
    bool pays_ = false;
};

template <read_stream Stream>
class [[nodiscard]] throttled_read_awaiter
    : public throttled_awaiter<throttled_read_awaiter<Stream>, mutable_buffer, read_step<Stream>> {
public:
    throttled_read_awaiter(Stream& from, throttle& by, mutable_buffer into) noexcept
        : throttled_awaiter<throttled_read_awaiter, mutable_buffer, read_step<Stream>>{by, into},
          from_{from} {}

    [[nodiscard]] auto transfer(mutable_buffer into) { return from_.read_some(into); }

private:
    Stream& from_;
};

/// To a stream, or to what writes one of its messages.
template <class To, awaitable Step>
class [[nodiscard]] throttled_write_awaiter
    : public throttled_awaiter<throttled_write_awaiter<To, Step>, const_buffer, Step> {
public:
    throttled_write_awaiter(To& to, throttle& by, const_buffer from) noexcept
        : throttled_awaiter<throttled_write_awaiter, const_buffer, Step>{by, from}, to_{to} {}

    [[nodiscard]] auto transfer(const_buffer from) { return to_.write_some(from); }

private:
    To& to_;
};

template <write_stream Stream>
class throttled_message_writer;

/// Owns its stream, or refers to one: `throttled_stream{stream_ref{it}, {&reads, &writes}}`. Moves while
/// nothing is pending. The limiters outlive it, and are of its loop.
///
/// A read or write transfers no more at once than the limiter's burst, and the next one in its direction
/// begins when the limiter has granted what the one before has transferred. So a burst of some milliseconds'
/// worth makes an even flow. A message keeps other writers off from its first byte to its last, the waits
/// between included, where the stream below does that; one in several buffers is written buffer by buffer.
template <class Stream>
class throttled_stream {
public:
    throttled_stream(Stream it, throttles by) noexcept
        : it_{std::move(it)}, reads_{by.reads}, writes_{by.writes} {}

    /// As the stream's own, except:
    ///
    /// Cancellation:  `errc::canceled`; nothing was transferred, and what is owed stays owed.
    /// Cost:          no allocation; a reading of the clock more for each.
    [[nodiscard]] auto read_some(read_space into) noexcept
        requires read_stream<Stream>
    {
        return throttled_read_awaiter<Stream>{it_, reads_, into};
    }
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept
        requires write_stream<Stream>
    {
        return throttled_write_awaiter<Stream, plain_write_step<Stream>>{it_, writes_, from};
    }

    /// As the stream's own.
    auto shutdown_send() noexcept
        requires half_closing_stream<Stream>
    {
        return it_.shutdown_send();
    }
    [[nodiscard]] std::uint64_t traffic() const noexcept { return traffic_of(it_); }

    [[nodiscard]] Stream& stream() noexcept { return it_; }

private:
    template <write_stream Of>
    friend class throttled_message_writer;

    Stream it_;
    throttle reads_;
    throttle writes_;
};

/// A message is one of the stream below, in as many pieces as the limiter wants. Its writes refer to it, and
/// it to the stream.
template <write_stream Stream>
class throttled_message_writer {
public:
    explicit throttled_message_writer(throttled_stream<Stream>& by) noexcept
        : to_{by.it_}, by_{by.writes_} {}

    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return throttled_write_awaiter<message_writer_of<Stream>, write_step<Stream>>{to_, by_,
                                                                                      from};
    }
    void end() noexcept { to_.end(); }

private:
    message_writer_of<Stream> to_;
    throttle& by_;
};
template <write_stream Stream>
struct message_writer_for<throttled_stream<Stream>> {
    using type = throttled_message_writer<Stream>;
};

}  // namespace gyre
