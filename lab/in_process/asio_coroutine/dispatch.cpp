// SPDX-License-Identifier: BSL-1.0
//
// Spawning coroutines, on one thread and on several.
#include <lab/in_process/asio/sessions.hpp>
#include <lab/in_process/asio_coroutine/spawn.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;
using asio_lab::task;

// References are borrowed: they outlive the run of the loop.
struct coroutines {
    template <class Tally>
    static task item(Tally& tally) {
        tally.add();
        co_return;
    }

    template <class Tally>
    static void post(executor queue, std::uint64_t items, Tally& tally) {
        for (std::uint64_t i = 0; i < items; ++i)
            asio::co_spawn(queue, item(tally), asio::detached);
    }

    // One of perhaps several on the same context: spawns a batch, then goes to the end of the queue.
    template <class Tally>
    static task spawn_batches(executor queue, std::uint64_t batch, std::uint64_t items,
                              Tally& tally) {
        for (std::uint64_t spawned = 0; spawned < items; spawned += batch) {
            post(queue, batch, tally);
            co_await asio::post(queue, asio::deferred);
        }
    }

    template <class Tally>
    static void begin_batches(executor queue, std::uint64_t batch, std::uint64_t items,
                              Tally& tally) {
        asio_lab::spawn(queue, spawn_batches(queue, batch, items, tally));
    }
};

lab::cannot_run no_callbacks() {
    return {"a bare continuation is a callback; asio_callback has this row"};
}

}  // namespace

lab::preparation asio_lab::prepare(layout, const lab::dispatch_case& work) {
    if (work.item == lab::dispatch_item::continuation) return no_callbacks();
    return lab::prepared<dispatch_session<coroutines>>(work);
}

lab::preparation asio_lab::prepare(layout how, const lab::shared_dispatch_case& work) {
    if (work.item == lab::dispatch_item::continuation) return no_callbacks();
    return prepare_sharing<coroutines>(how, work);
}
