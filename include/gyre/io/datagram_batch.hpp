// SPDX-License-Identifier: BSL-1.0
//
// Several datagrams for one system call.
//
// A busy feed costs a call per datagram, and the call costs more than the datagram. A batch owns what
// recvmmsg(2) and sendmmsg(2) need, is made once, and goes back and forth: received into, read, cleared;
// or filled, sent, and filled again.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/operation.hpp>

#include <cstddef>
#include <memory>

namespace gyre {

/// Room for `capacity` datagrams of up to `datagram_size_max` bytes, and the datagrams in it. One operation
/// at a time, which is checked. Moves, but not while an operation uses it; the one moved from is destroyed or
/// assigned to, and nothing else.
class datagram_batch {
public:
    /// @param  capacity           1 to 1024 datagrams.
    /// @param  datagram_size_max  1 to 65,535 bytes each.
    /// Cost:  allocates all of it, once.
    datagram_batch(std::size_t capacity, std::size_t datagram_size_max);
    datagram_batch(datagram_batch&& other) noexcept;
    datagram_batch& operator=(datagram_batch&& other) noexcept;
    ~datagram_batch();

    /// Datagrams in it: what was received, or what has been appended and not been sent yet.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept;
    [[nodiscard]] bool full() const noexcept;

    /// The bytes of a datagram, borrowed from the batch; its beginning if it was truncated.
    /// @pre  index < size().
    [[nodiscard]] const_buffer operator[](std::size_t index) const noexcept;

    /// Whether a received datagram was longer than there was room for. @pre  index < size().
    [[nodiscard]] bool truncated(std::size_t index) const noexcept;

    /// Where a received datagram came from, or where one is to go. @pre  index < size().
    [[nodiscard]] endpoint peer(std::size_t index) const noexcept;

    /// Copies `bytes` as one more datagram, to `to`, or to the peer of a connected socket if that is null.
    /// False, and nothing added, if it is full or the datagram is too long. What was sent makes room only
    /// when all of it was sent.
    [[nodiscard]] bool append(const_buffer bytes, const endpoint& to = {}) noexcept {
        return append(const_buffers{&bytes, 1}, to);
    }

    /// The same, gathered: `parts` in their order become one datagram, copied once. Of any number of parts.
    [[nodiscard]] bool append(const_buffers parts, const endpoint& to = {}) noexcept;

    /// Forgets the first datagram, so that one which cannot be sent does not keep back those behind it.
    /// @pre  !empty().
    void drop_first() noexcept;

    /// Forgets all datagrams.
    void clear() noexcept;

    // Implementation: for the sockets; makes the record ask for everything, and takes in what came of it.

    void prepare_receive(batch_operation& op) noexcept;
    void prepare_send(batch_operation& op) noexcept;
    void note_received(std::size_t count) noexcept;
    void note_sent(std::size_t count) noexcept;
    void note_end(const batch_operation& op) noexcept;

private:
    struct storage;
    std::unique_ptr<storage> storage_;
};

}  // namespace gyre
