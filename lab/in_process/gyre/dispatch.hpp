// SPDX-License-Identifier: BSL-1.0
//
// Posting and spawning with gyre: a posted lambda is the bare continuation, a launched task the coroutine.
// On several threads they go to the pool, for whichever loop comes first.
#pragma once

#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/sessions.hpp>

#include <gyre/sync/sleep.hpp>

#include <cstdint>

namespace gyre_lab {

using gyre::io_context;
using gyre::io_pool;
using gyre::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

template <class Tally>
task<> item(Tally& tally) {
    tally.add();
    co_return;
}

class items {
public:
    explicit items(lab::dispatch_item kind) : kind_{kind} {}

    // `Runner` is a loop or a pool.
    template <class Runner, class Tally>
    void post(Runner& to, std::uint64_t count, Tally& tally) const {
        if (kind_ == lab::dispatch_item::continuation) {
            for (std::uint64_t i = 0; i < count; ++i) to.post([&tally] { tally.add(); });
        } else {
            for (std::uint64_t i = 0; i < count; ++i) launch(to, item(tally), gyre::or_terminate{});
        }
    }

    void begin_batches(io_context& loop, std::uint64_t batch, std::uint64_t count,
                       lab::tally& tally) const {
        library::spawn(loop, post_batches(loop, batch, count, tally));
    }

    void begin_batches(io_pool& pool, std::uint64_t batch, std::uint64_t count,
                       lab::thread_tally& tally) const {
        pool.post(sharing_poster{pool, *this, batch, tally, count});
    }

private:
    task<> post_batches(io_context& loop, std::uint64_t batch, std::uint64_t count,
                        lab::tally& tally) const {
        for (std::uint64_t posted = 0; posted < count; posted += batch) {
            post(loop, batch, tally);
            co_await gyre::yield();
        }
    }

    // One of several in the same pool: posts a batch, and itself behind it.
    struct sharing_poster {
        io_pool& pool;
        const items& what;
        std::uint64_t batch;
        lab::thread_tally& tally;
        std::uint64_t left;

        void operator()() const {
            what.post(pool, batch, tally);
            if (left > batch) pool.post(sharing_poster{pool, what, batch, tally, left - batch});
        }
    };

    lab::dispatch_item kind_;
};

}  // namespace gyre_lab
