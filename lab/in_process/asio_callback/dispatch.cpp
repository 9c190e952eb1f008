// SPDX-License-Identifier: BSL-1.0
//
// Posting handlers, on one thread and on several.
#include <lab/in_process/asio/dispatch.hpp>

#include <boost/asio/post.hpp>

#include <cstdint>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;

struct handlers {
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

lab::cannot_run no_coroutines() { return {"spawns no coroutines; asio_coroutine has this row"}; }

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::dispatch_case& work) {
    if (work.item == lab::dispatch_item::coroutine) return no_coroutines();
    return lab::prepared<lab::dispatch_session<library, handlers>>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::shared_dispatch_case& work) {
    if (work.item == lab::dispatch_item::coroutine) return no_coroutines();
    return prepare_sharing<handlers>(how, work);
}
