// SPDX-License-Identifier: BSL-1.0
//
// Numbers from one loop to another through a shared_channel.
#pragma once

#include <lab/in_process/gyre/library.hpp>

#include <gyre/sync/shared_channel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gyre_lab {

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.
class channel {
public:
    channel(gyre::io_context& from, gyre::io_context& to, const lab::channel_case& work)
        : from_{from}, to_{to}, numbers_{work.capacity}, taken_(work.taken_max) {}

    void send(std::size_t sender, std::uint64_t first, std::uint64_t count) {
        library::spawn(from_, send_numbers(sender, first, count));
    }

    void receive(std::uint64_t count, lab::number_tally& tally) {
        library::spawn(to_,
                       taken_.size() > 1 ? receive_many(count, tally) : receive_each(count, tally));
    }

private:
    gyre::task<> send_numbers(std::size_t sender, std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t each = first; each < first + count; ++each) {
            const auto sent = co_await numbers_.send(lab::number_tally::number(sender, each));
            lab::require(sent.ok(), "gyre: send");
        }
    }

    gyre::task<> receive_each(std::uint64_t count, lab::number_tally& tally) {
        for (std::uint64_t each = 0; each < count; ++each) {
            const auto number = co_await numbers_.receive();
            lab::require(number.ok(), "gyre: receive");
            tally.received(number.value());
        }
    }

    gyre::task<> receive_many(std::uint64_t count, lab::number_tally& tally) {
        while (count > 0) {
            const auto got = co_await numbers_.receive_many(taken_);
            lab::require(got.ok(), "gyre: receive_many");
            for (const std::uint64_t each : std::span{taken_}.first(got.value())) {
                tally.received(each);
            }
            count -= got.value();
        }
    }

    gyre::io_context& from_;
    gyre::io_context& to_;
    gyre::shared_channel<std::uint64_t> numbers_;
    std::vector<std::uint64_t> taken_;
};

}  // namespace gyre_lab
