// SPDX-License-Identifier: BSL-1.0
//
// The seam's context on Boost.Asio: an io_context for one thread, as fast as it can be set up.
//
// executor_traits.hpp has the contract. The hint takes the locks from descriptors, which only the thread
// that runs it touches, and leaves those of the queue, so that posting from elsewhere stays legal.
#pragma once

#include <gyre/base/time.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace exchange {

struct asio_loop_options {};

/// See `executor_traits` for the contract. Does not move.
class asio_loop {
public:
    /// Never type-erased: what waits here calls its executor directly.
    using executor_type = boost::asio::io_context::executor_type;

    explicit asio_loop(const asio_loop_options& = {})
        : io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO} {}

    void run() {
        boost::asio::post(io_, [] { take_blocks(); });
        io_.run();
    }
    /// For tests: with a limit Asio runs item by item, and recycles no memory from one to the next.
    void run_for(gyre::duration limit) { io_.run_for(limit); }
    void stop() { io_.stop(); }
    void restart() { io_.restart(); }
    [[nodiscard]] bool stopped() const { return io_.stopped(); }

    template <class Function>
    void post(Function function) {
        boost::asio::post(io_, [call = std::move(function)]() mutable noexcept { call(); });
    }

    [[nodiscard]] executor_type executor() noexcept { return io_.get_executor(); }

private:
    /// Asio keeps free blocks for as many operations as have been pending at once, and so calls malloc
    /// whenever there is one more: long after the start, if two writes seldom overlap. So all that it
    /// keeps are taken and given back at the beginning of a run, which is as long as it keeps them.
    static void take_blocks() {
        boost::asio::recycling_allocator<std::max_align_t> from;
        std::array<std::max_align_t*, blocks_kept> blocks;
        for (std::max_align_t*& each : blocks) each = from.allocate(block_items);
        for (std::max_align_t* const each : blocks) from.deallocate(each, block_items);
    }
    static constexpr std::size_t blocks_kept = BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE;
    static constexpr std::size_t block_items = 256 / sizeof(std::max_align_t);

    boost::asio::io_context io_;
};

}  // namespace exchange
