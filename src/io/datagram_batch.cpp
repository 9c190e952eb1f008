// SPDX-License-Identifier: BSL-1.0
//
// Headers that the kernel reads and writes: see include/gyre/io/datagram_batch.hpp.
#include <gyre/io/datagram_batch.hpp>

#include <gyre/base/check.hpp>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <vector>

namespace gyre {

struct datagram_batch::storage {
    storage(std::size_t count, std::size_t bytes)
        : size_max{bytes}, space(count * bytes), headers(count), parts(count), peers(count) {}
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    ~storage() { expects(user == nullptr, "a batch outlives the operation that it is lent to"); }

    void lend_to(const batch_operation& op) noexcept {
        expects(user == nullptr, "a batch is lent to one operation at a time");
        user = &op;
    }
    [[nodiscard]] std::byte* bytes_at(std::size_t index) noexcept {
        return space.data() + index * size_max;
    }

    // Datagrams from `begin` to `end` are in the batch; what is before has been sent.
    std::size_t begin = 0;
    std::size_t end = 0;
    const batch_operation* user = nullptr;
    std::size_t size_max;
    std::vector<std::byte> space;
    std::vector<mmsghdr> headers;
    std::vector<iovec> parts;
    std::vector<socket_address> peers;
};

datagram_batch::datagram_batch(std::size_t capacity, std::size_t datagram_size_max) {
    constexpr std::size_t count_max = 1024;  // The kernel takes no more at once (UIO_MAXIOV).
    constexpr std::size_t bytes_max = 65'535;
    expects(capacity > 0 && capacity <= count_max, "a batch of 1 to 1024 datagrams");
    expects(datagram_size_max > 0 && datagram_size_max <= bytes_max,
            "a datagram of 1 to 65,535 bytes");
    storage_ = std::make_unique<storage>(capacity, datagram_size_max);
}

datagram_batch::datagram_batch(datagram_batch&& other) noexcept = default;
datagram_batch& datagram_batch::operator=(datagram_batch&& other) noexcept = default;
datagram_batch::~datagram_batch() = default;

std::size_t datagram_batch::size() const noexcept { return storage_->end - storage_->begin; }

std::size_t datagram_batch::capacity() const noexcept { return storage_->headers.size(); }

bool datagram_batch::full() const noexcept { return storage_->end == capacity(); }

const_buffer datagram_batch::operator[](std::size_t index) const noexcept {
    expects(index < size(), "a datagram of the batch");
    const std::size_t at = storage_->begin + index;
    return {storage_->bytes_at(at), storage_->parts[at].iov_len};
}

bool datagram_batch::truncated(std::size_t index) const noexcept {
    expects(index < size(), "a datagram of the batch");
    return (storage_->headers[storage_->begin + index].msg_hdr.msg_flags & MSG_TRUNC) != 0;
}

endpoint datagram_batch::peer(std::size_t index) const noexcept {
    expects(index < size(), "a datagram of the batch");
    return endpoint{storage_->peers[storage_->begin + index]};
}

bool datagram_batch::append(const_buffers parts, const endpoint& to) noexcept {
    const std::size_t size = size_of(parts);
    if (full() || size > storage_->size_max) return false;
    const std::size_t at = storage_->end++;
    std::byte* space = storage_->bytes_at(at);
    for (const const_buffer& part : parts) space = std::ranges::copy(part, space).out;
    storage_->parts[at] = {storage_->bytes_at(at), size};
    storage_->peers[at] = to.raw();
    storage_->headers[at] = {};
    return true;
}

void datagram_batch::drop_first() noexcept {
    expects(!empty(), "a datagram of the batch");
    note_sent(1);
}

void datagram_batch::clear() noexcept { storage_->begin = storage_->end = 0; }

void datagram_batch::prepare_receive(batch_operation& op) noexcept {
    storage_->lend_to(op);
    clear();
    for (std::size_t at = 0; at < capacity(); ++at) {
        storage_->parts[at] = {storage_->bytes_at(at), storage_->size_max};
        storage_->peers[at] = {};
        msghdr& header = storage_->headers[at].msg_hdr;
        header = {};
        header.msg_name = storage_->peers[at].data;
        header.msg_namelen = socket_address::size_max;
        header.msg_iov = &storage_->parts[at];
        header.msg_iovlen = 1;
    }
    op.messages = storage_->headers.data();
    op.count = static_cast<std::uint32_t>(capacity());
}

void datagram_batch::prepare_send(batch_operation& op) noexcept {
    storage_->lend_to(op);
    for (std::size_t at = storage_->begin; at < storage_->end; ++at) {
        msghdr& header = storage_->headers[at].msg_hdr;
        socket_address& peer = storage_->peers[at];
        header = {};
        header.msg_name = peer.size == 0 ? nullptr : peer.data;
        header.msg_namelen = peer.size;
        header.msg_iov = &storage_->parts[at];
        header.msg_iovlen = 1;
        op.size += storage_->parts[at].iov_len;
    }
    op.messages = storage_->headers.data() + storage_->begin;
    op.count = static_cast<std::uint32_t>(size());
}

void datagram_batch::note_received(std::size_t count) noexcept {
    storage_->end = std::min(count, capacity());
    for (std::size_t at = 0; at < storage_->end; ++at) {
        const mmsghdr& got = storage_->headers[at];
        storage_->parts[at].iov_len = std::min<std::size_t>(got.msg_len, storage_->size_max);
        storage_->peers[at].size = got.msg_hdr.msg_namelen;
    }
}

void datagram_batch::note_sent(std::size_t count) noexcept {
    storage_->begin += std::min(count, size());
    if (empty()) clear();
}

// Also of one that was over before it began.
void datagram_batch::note_end(const batch_operation& op) noexcept {
    if (storage_ != nullptr && storage_->user == &op) storage_->user = nullptr;
}

}  // namespace gyre
