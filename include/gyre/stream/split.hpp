// SPDX-License-Identifier: BSL-1.0
//
// The two directions of a stream as two objects, so that two coroutines may own one each.
//
// Borrowing both from one stream is free and enough where one coroutine outlives the other; these are for
// tasks that end in any order. any_stream.hpp is for streams of any type.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace gyre {

template <duplex_stream Stream>
class write_half;

/// The receiving direction of a stream. Moves; used on the stream's loop.
///
/// The stream is destroyed with the last of its halves; what this one has not read is lost then only.
template <duplex_stream Stream>
class read_half {
public:
    read_half() noexcept = default;  ///< Of no stream.
    explicit read_half(std::shared_ptr<Stream> of) noexcept : of_{std::move(of)} {}
    read_half(read_half&&) noexcept = default;
    read_half& operator=(read_half&&) noexcept = default;

    /// As the stream's own; what it returns refers to the stream, so both halves may not go meanwhile.
    /// @pre  of a stream.
    [[nodiscard]] read_step<Stream> read_some(read_space into) noexcept {
        expects(of_ != nullptr, "a half of a stream");
        return of_->read_some(mutable_buffer{into});
    }
    /// The same, where the stream lends memory.
    [[nodiscard]] auto read() noexcept
        requires lease_stream<Stream>
    {
        expects(of_ != nullptr, "a half of a stream");
        return of_->read();
    }

    /// The stream's own; 0 of no stream.
    [[nodiscard]] std::uint64_t traffic() const noexcept {
        return of_ != nullptr ? traffic_of(*of_) : 0;
    }

    /// Whether `other` is the other half.
    [[nodiscard]] bool belongs_to(const write_half<Stream>& other) const noexcept {
        return of_ != nullptr && of_ == other.of_;
    }

private:
    template <duplex_stream Of>
    friend Of reunite(read_half<Of> reads, write_half<Of> writes) noexcept;

    std::shared_ptr<Stream> of_;
};

/// The sending direction of a stream. Moves; used on the stream's loop.
///
/// Destroying it ends the direction, where the stream can do that: the peer reads `errc::eof`.
template <duplex_stream Stream>
class write_half {
public:
    write_half() noexcept = default;  ///< Of no stream.
    explicit write_half(std::shared_ptr<Stream> of) noexcept : of_{std::move(of)} {}
    write_half(write_half&&) noexcept = default;
    write_half& operator=(write_half&& other) noexcept {
        if (this == &other) return *this;
        end();
        of_ = std::move(other.of_);
        return *this;
    }
    ~write_half() { end(); }

    /// As the stream's own; what it returns refers to the stream, so both halves may not go meanwhile.
    /// @pre  of a stream.
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) {
        return whole().write_some(from);
    }

    /// Ends the direction and keeps the half. Errors: the stream's.
    /// @pre  of a stream.
    io_result<> shutdown_send() noexcept { return end_sending(whole()); }

    /// The stream's own; 0 of no stream.
    [[nodiscard]] std::uint64_t traffic() const noexcept {
        return of_ != nullptr ? traffic_of(*of_) : 0;
    }

    /// The stream, for what only it can do: options, addresses.
    /// @pre  of a stream.
    [[nodiscard]] Stream& whole() noexcept {
        expects(of_ != nullptr, "a half of a stream");
        return *of_;
    }

private:
    friend read_half<Stream>;
    template <duplex_stream Of>
    friend Of reunite(read_half<Of> reads, write_half<Of> writes) noexcept;

    // A failure means that the direction has ended already.
    void end() noexcept {
        if (of_ != nullptr) static_cast<void>(end_sending(*of_));
    }

    std::shared_ptr<Stream> of_;
};

/// A message by a half is one of its stream, to the exclusion of others where the stream sees to that.
template <duplex_stream Stream>
struct half_message_writer : message_writer_of<Stream> {
    explicit half_message_writer(write_half<Stream>& half) noexcept
        : message_writer_of<Stream>{half.whole()} {}
};
template <duplex_stream Stream>
struct message_writer_for<write_half<Stream>> {
    using type = half_message_writer<Stream>;
};

/// The two directions of one stream, each for an owner of its own.
template <duplex_stream Stream>
struct stream_halves {
    read_half<Stream> reads;
    write_half<Stream> writes;
};

/// Gives the directions of `it` to two owners.
///
/// Cost: one allocation. Nothing may be pending on `it`.
template <duplex_stream Stream>
[[nodiscard]] stream_halves<Stream> split(Stream it) {
    const auto shared = std::make_shared<Stream>(std::move(it));
    return {read_half<Stream>{shared}, write_half<Stream>{shared}};
}

/// The stream again, with neither direction ended. Nothing may be pending on it.
/// @pre  the two are halves of one stream: see `read_half::belongs_to`.
template <duplex_stream Stream>
[[nodiscard]] Stream reunite(read_half<Stream> reads, write_half<Stream> writes) noexcept {
    expects(reads.belongs_to(writes), "halves of one stream");
    writes.of_ = nullptr;
    return std::move(*reads.of_);
}

}  // namespace gyre
