// SPDX-License-Identifier: BSL-1.0
//
// Numbers from one context to another through a concurrent_channel.
//
// What can be sent or received at once is, without a wait: an asynchronous operation that ends at once is
// posted all the same.
#pragma once

#include <lab/in_process/asio_coroutine/library.hpp>

#include <boost/asio/experimental/concurrent_channel.hpp>

#include <cstddef>
#include <cstdint>

namespace asio_lab {

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.
class channel {
public:
    channel(asio::io_context& from, asio::io_context& to, const lab::channel_case& work)
        : from_{from}, to_{to}, numbers_{to.get_executor(), work.capacity} {}

    void send(std::size_t sender, std::uint64_t first, std::uint64_t count) {
        coroutine_library::spawn(from_, send_numbers(sender, first, count));
    }

    void receive(std::uint64_t count, lab::number_tally& tally) {
        coroutine_library::spawn(to_, receive_numbers(count, tally));
    }

private:
    task send_numbers(std::size_t sender, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t each = first; each < first + count; ++each) {
            const std::uint64_t number = lab::number_tally::number(sender, each);
            if (numbers_.try_send(error_code{}, number)) continue;
            co_await numbers_.async_send(error_code{}, number, asio::deferred);
        }
    }

    task receive_numbers(std::uint64_t count, lab::number_tally& tally) {
        while (count > 0) {
            const auto take = [&](error_code, std::uint64_t number) {
                tally.received(number);
                --count;
            };
            while (count > 0 && numbers_.try_receive(take)) {
            }
            if (count == 0) break;
            const std::uint64_t number = co_await numbers_.async_receive(asio::deferred);
            take({}, number);
        }
    }

    asio::io_context& from_;
    asio::io_context& to_;
    asio::experimental::concurrent_channel<executor, void(error_code, std::uint64_t)> numbers_;
};

}  // namespace asio_lab
