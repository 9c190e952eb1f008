// SPDX-License-Identifier: BSL-1.0
//
// Open descriptors that travel with a message, from one process to another (unix(7), SCM_RIGHTS).
//
// A parent hands a connection to a worker, a sandbox is given the files that it may read. What arrives is
// owned from the moment on at which the kernel has made it, so that none is ever lost.
// local_message_socket.hpp and stream_socket.hpp send and receive.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/datagram_message.hpp>
#include <gyre/io/transfer.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace gyre {

/// What has come with one message: at most `count_max` descriptors, each close-on-exec, owned here until they
/// are taken. Used for one receive after the other, which is checked; does not move, since an operation
/// refers to it.
class passed_descriptors {
public:
    /// A message has room for this many, in either direction; the kernel closes those beyond.
    static constexpr std::size_t count_max = 16;

    passed_descriptors() noexcept = default;
    passed_descriptors(const passed_descriptors&) = delete;
    passed_descriptors& operator=(const passed_descriptors&) = delete;
    ~passed_descriptors();

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// Whether the kernel closed some (MSG_CTRUNC): there were more than `count_max`, or this process may not
    /// have more open.
    [[nodiscard]] bool cut() const noexcept { return cut_; }

    /// Gives one away, as in `stream_socket{came.take(0)}` or `descriptor{came.take(1)}`. It is closed here
    /// afterwards. @pre  index < size().
    [[nodiscard]] handle take(std::size_t index) noexcept;

    /// Closes those that were not taken.
    void clear() noexcept;

    // Implementation: for the sockets; makes room, and takes in what came.

    void prepare_receive(message_operation& op, io_context& on) noexcept;
    void note_received(const message_operation& op) noexcept;

private:
    static constexpr std::size_t control_size = 16 + 4 * count_max;  // CMSG_SPACE of so many.

    host* host_ = nullptr;
    const message_operation* into_here_ = nullptr;  // That is under way.
    std::array<handle, count_max> handles_;
    std::size_t count_ = 0;
    bool cut_ = false;
    alignas(8) std::array<std::byte, control_size> control_{};
};

// Implementation: sends and receives with descriptors beside the bytes.

/// Numbers that are to be passed, as the kernel wants to see them.
class passing_numbers {
public:
    explicit passing_numbers(std::span<const int> numbers) noexcept;

    /// 0 or -errno.
    [[nodiscard]] std::int32_t attach(message_operation& op) noexcept;

private:
    std::size_t count_ = 0;
    alignas(8) std::array<std::byte, 16 + 4 * passed_descriptors::count_max> control_{};
};

/// Of a send, as `Finish`, with descriptors.
template <class Finish>
class finish_passing : public Finish {
public:
    finish_passing(Finish plain, std::span<const int> numbers) noexcept
        : Finish{std::move(plain)}, numbers_{numbers} {}

    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept {
        const std::int32_t failure = Finish::prepare(op, on);
        return failure == 0 ? numbers_.attach(op) : failure;
    }

private:
    passing_numbers numbers_;
};

/// Of a receive, as `Finish`, with room for descriptors.
template <class Finish>
class finish_passed : public Finish {
public:
    finish_passed(Finish plain, passed_descriptors& into) noexcept
        : Finish{std::move(plain)}, into_{&into} {}

    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept {
        into_->clear();
        const std::int32_t failure = Finish::prepare(op, on);
        if (failure == 0) into_->prepare_receive(op, on);
        return failure;
    }
    [[nodiscard]] auto operator()(const message_operation& op) noexcept {
        into_->note_received(op);
        return Finish::operator()(op);
    }

private:
    passed_descriptors* into_;
};

}  // namespace gyre
