// SPDX-License-Identifier: BSL-1.0
//
// How raw results of reads and writes become results, the same for everything that transfers bytes.
//
// The classes beside it return a `submission` (runtime/submit.hpp) with one of these; a program has no use
// for them.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace gyre {

/// Ends a transfer of no bytes before it begins: the kernel would wait for bytes it then leaves alone.
/// No errno value, so that it cannot be mistaken for a failure.
inline constexpr std::int32_t nothing_to_transfer = std::numeric_limits<std::int32_t>::min();

/// -EBUSY if a write to `on` is pending, or a message that is written in several.
[[nodiscard]] std::int32_t busy_if_written(descriptor_slot& on) noexcept;

/// Two writers would mix their bytes: a mistake in the program, and one that shows only when the peer is
/// slow. So the second is refused (docs/decisions/0009-one-writer.md).
[[nodiscard]] inline std::int32_t refuse_second_writer(const descriptor_operation& op,
                                                       const io_context& on) noexcept {
    // A socket of another loop must not even be looked at; `io_context::submit` will say so.
    descriptor_slot& it = *op.target;
    if (it.home != nullptr && it.home != &on) return 0;
    return it.writer == nullptr && it.pending.empty() ? 0 : busy_if_written(it);
}

/// The right to be the only writer of a descriptor from the first write of a message to its last, also
/// while none is pending. Used on the descriptor's loop; a closed one has no claims.
class write_claim {
public:
    write_claim() noexcept = default;
    write_claim(const write_claim&) = delete;
    write_claim& operator=(const write_claim&) = delete;
    ~write_claim() { release(); }

    void hold(const descriptor_operation& op, const io_context& on) noexcept;
    void release() noexcept;

private:
    opening on_;
};

/// Of one write of a message: as `Finish`, but among the writes of the claim's holder.
template <class Finish>
struct finish_claimed : Finish {
    finish_claimed(Finish plain, write_claim& of) noexcept : Finish{std::move(plain)}, claim{&of} {}

    template <class Operation>
    [[nodiscard]] std::int32_t prepare(Operation& op, io_context& on) noexcept {
        claim->release();  // It must not be in its own way.
        const std::int32_t failure = Finish::prepare(op, on);
        if (failure == 0) claim->hold(op, on);
        return failure;
    }

    write_claim* claim;
};

/// What a transfer of `asked` bytes has come to; 0 of them into a non-empty buffer is the end.
[[nodiscard]] inline io_result<std::size_t> outcome_of_read(const operation& op,
                                                            std::size_t asked) noexcept {
    if (op.result == nothing_to_transfer) return std::size_t{0};
    if (op.result < 0) return error_of(op);
    if (op.result == 0 && asked != 0) return error{errc::eof, activity::read};
    return static_cast<std::size_t>(op.result);
}

[[nodiscard]] inline io_result<std::size_t> outcome_of_write(const operation& op) noexcept {
    if (op.result == nothing_to_transfer) return std::size_t{0};
    if (op.result < 0) return error_of(op);
    return static_cast<std::size_t>(op.result);
}

/// Of a read into one buffer.
struct finish_read {
    template <class Operation>
    [[nodiscard]] std::int32_t prepare(Operation& op, io_context&) const noexcept {
        return op.size == 0 ? nothing_to_transfer : 0;
    }
    template <class Operation>
    [[nodiscard]] io_result<std::size_t> operator()(const Operation& op) const noexcept {
        return outcome_of_read(op, op.size);
    }
};

/// Of a write of one buffer to where bytes are in order.
struct finish_write {
    template <class Operation>
    [[nodiscard]] std::int32_t prepare(Operation& op, io_context& on) const noexcept {
        return op.size == 0 ? nothing_to_transfer : refuse_second_writer(op, on);
    }
    [[nodiscard]] io_result<std::size_t> operator()(const operation& op) const noexcept {
        return outcome_of_write(op);
    }
};

/// The buffers of a gathered write or a scattered read, as the kernel wants to see them (iovec).
class buffer_parts {
public:
    explicit buffer_parts(const_buffers from) noexcept;
    /// Without the first `skipped` bytes, which are all in the first buffer.
    buffer_parts(const_buffers from, std::size_t skipped) noexcept;
    explicit buffer_parts(mutable_buffers into) noexcept;

    [[nodiscard]] std::int32_t prepare(parts_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<std::size_t> operator()(const parts_operation& op) const noexcept;

protected:
    struct part {
        void* data;
        std::size_t size;
    };

    std::array<part, buffers_per_call_max> parts_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

/// The same as sendmsg(2) and recvmsg(2) want to see them (msghdr), opaquely.
class message_parts : public buffer_parts {
public:
    using buffer_parts::buffer_parts;

    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<std::size_t> operator()(const message_operation& op) const noexcept;

private:
    static constexpr std::size_t header_words = 7;  // sizeof(msghdr) on every 64-bit Linux.

    std::array<std::uint64_t, header_words> header_{};
};

/// Writes one message in as many steps as it takes; meanwhile other writers of `Stream` end with
/// `errc::busy`. What `write_all` and `buffered_writer` write by, seldom used directly.
///
/// Moves until its first write is awaited. Its writes refer to it, and it to the stream.
template <class Stream>
class claimed_writer {
public:
    explicit claimed_writer(Stream& to) noexcept : to_{to} {}
    claimed_writer(claimed_writer&& other) noexcept : to_{other.to_} {}

    /// As those of the stream; the message goes on behind what they have written.
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return to_.write_claimed(from, claim_);
    }

    /// @param  skipped  Bytes of the first buffer that are not to be written.
    [[nodiscard]] auto write_some(const_buffers from, std::size_t skipped) noexcept {
        return to_.write_claimed(from, skipped, claim_);
    }

    /// The message is over: others may write. Its destructor does the same.
    void end() noexcept { claim_.release(); }

private:
    Stream& to_;
    write_claim claim_;
};

}  // namespace gyre
