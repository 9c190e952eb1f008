// SPDX-License-Identifier: BSL-1.0
//
// Posting handlers, on one thread and on several.
#pragma once

#include <lab/in_process/asio/library.hpp>

#include <boost/asio/post.hpp>

#include <cstdint>

namespace asio_lab {

struct handlers {
    static constexpr auto kind = lab::dispatch_item::continuation;
    static constexpr const char* lacks_the_other =
        "spawns no coroutines; asio_coroutine has this row";

    explicit handlers(lab::dispatch_item) {}

    template <class Tally>
    static void post(asio::io_context& to, std::uint64_t count, Tally& tally) {
        const executor queue = to.get_executor();
        for (std::uint64_t i = 0; i < count; ++i) asio::post(queue, [&tally] { tally.add(); });
    }

    // One of perhaps several on the same context: posts a batch, and itself behind it.
    template <class Tally>
    struct batch_poster {
        asio::io_context& to;
        std::uint64_t batch;
        std::uint64_t left;
        Tally& tally;

        void operator()() const {
            post(to, batch, tally);
            if (left > batch) asio::post(to, batch_poster{to, batch, left - batch, tally});
        }
    };

    template <class Tally>
    static void begin_batches(asio::io_context& to, std::uint64_t batch, std::uint64_t count,
                              Tally& tally) {
        asio::post(to, batch_poster<Tally>{to, batch, count, tally});
    }
};

}  // namespace asio_lab
