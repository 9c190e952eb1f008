// SPDX-License-Identifier: BSL-1.0
//
// Spawning coroutines, on one thread and on several.
#pragma once

#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/asio_coroutine/library.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>

namespace asio_lab {

// References are borrowed: they outlive the run of the loop.
struct coroutines {
    static constexpr auto kind = lab::dispatch_item::coroutine;
    static constexpr const char* lacks_the_other =
        "a bare continuation is a callback; asio_callback has this row";

    explicit coroutines(lab::dispatch_item) {}

    template <class Tally>
    static task item(Tally& tally) {
        tally.add();
        co_return;
    }

    template <class Tally>
    static void post(asio::io_context& to, std::uint64_t count, Tally& tally) {
        for (std::uint64_t i = 0; i < count; ++i) asio::co_spawn(to, item(tally), asio::detached);
    }

    // One of perhaps several on the same context: spawns a batch, then goes to the end of the queue.
    template <class Tally>
    static task spawn_batches(asio::io_context& on, std::uint64_t batch, std::uint64_t count,
                              Tally& tally) {
        for (std::uint64_t spawned = 0; spawned < count; spawned += batch) {
            post(on, batch, tally);
            co_await asio::post(on, asio::deferred);
        }
    }

    template <class Tally>
    static void begin_batches(asio::io_context& on, std::uint64_t batch, std::uint64_t count,
                              Tally& tally) {
        coroutine_library::spawn(on, spawn_batches(on, batch, count, tally));
    }
};

}  // namespace asio_lab
