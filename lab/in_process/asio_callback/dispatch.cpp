// SPDX-License-Identifier: BSL-1.0
//
// Posting handlers, on one thread and on several.
#include <lab/in_process/asio/sessions.hpp>

#include <boost/asio/post.hpp>

#include <cstdint>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;

struct handlers {
    template <class Tally>
    static void post(executor queue, std::uint64_t items, Tally& tally) {
        for (std::uint64_t i = 0; i < items; ++i) asio::post(queue, [&tally] { tally.add(); });
    }

    // One of perhaps several on the same context: posts a batch, and itself behind it.
    template <class Tally>
    struct batch_poster {
        executor queue;
        std::uint64_t batch;
        std::uint64_t left;
        Tally& tally;

        void operator()() const {
            post(queue, batch, tally);
            if (left > batch) asio::post(queue, batch_poster{queue, batch, left - batch, tally});
        }
    };

    template <class Tally>
    static void begin_batches(executor queue, std::uint64_t batch, std::uint64_t items,
                              Tally& tally) {
        asio::post(queue, batch_poster<Tally>{queue, batch, items, tally});
    }
};

lab::cannot_run no_coroutines() { return {"spawns no coroutines; asio_coroutine has this row"}; }

}  // namespace

lab::preparation asio_lab::prepare(layout, const lab::dispatch_case& work) {
    if (work.item == lab::dispatch_item::coroutine) return no_coroutines();
    return lab::prepared<dispatch_session<handlers>>(work);
}

lab::preparation asio_lab::prepare(layout how, const lab::shared_dispatch_case& work) {
    if (work.item == lab::dispatch_item::coroutine) return no_coroutines();
    return prepare_sharing<handlers>(how, work);
}
