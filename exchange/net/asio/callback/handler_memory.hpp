// SPDX-License-Identifier: BSL-1.0
//
// Memory that an object keeps for the one handler that it has pending, so that waiting allocates nothing.
//
// Asio recycles two blocks per thread, which is enough for one connection; with many, each pause
// costs a malloc. Here each operation that can be pending has its own block.
#pragma once

#include <exchange/net/asio/event.hpp>

#include <boost/asio/bind_allocator.hpp>

#include <cstddef>
#include <utility>

namespace exchange {

/// Outlives the operation. For one at a time; free again when the handler is called.
class handler_memory {
public:
    handler_memory() noexcept = default;
    handler_memory(const handler_memory&) = delete;
    handler_memory& operator=(const handler_memory&) = delete;

    /// The same handler, with this as its memory.
    template <class Handler>
    [[nodiscard]] auto lend_to(Handler handler) noexcept {
        return boost::asio::bind_allocator(asio_lent_allocator<void*, block_bytes>{block_},
                                           std::move(handler));
    }

private:
    static constexpr std::size_t block_bytes = 256;

    asio_lent_memory<block_bytes> block_;
};

}  // namespace exchange
