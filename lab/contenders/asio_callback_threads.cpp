// SPDX-License-Identifier: BSL-1.0
//
// Asio's completion handlers on several threads.
//
// Handlers of one chain follow each other, so connections need no strand even where any thread may run
// any handler. asio_team.hpp has the threads.
#include <lab/contenders/asio_callback_sessions.hpp>
#include <lab/contenders/asio_suites.hpp>
#include <lab/contenders/asio_team.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdint>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;
using asio_lab::layout;

void post_items(executor queue, std::uint64_t items, lab::thread_tally& tally) {
    for (std::uint64_t i = 0; i < items; ++i) asio::post(queue, [&tally] { tally.add(); });
}

// One of several on the same context: posts a batch, and itself behind it.
struct sharing_poster {
    executor queue;
    const lab::shared_dispatch_case& work;
    lab::thread_tally& tally;
    std::uint64_t left;

    void operator()() const {
        const std::uint64_t batch = std::min(left, work.batch_items);
        post_items(queue, batch, tally);
        if (left > batch) asio::post(queue, sharing_poster{queue, work, tally, left - batch});
    }
};

}  // namespace

lab::outcome asio_lab::measure_shared_dispatch(layout how, const lab::shared_dispatch_case& work) {
    if (work.item == lab::dispatch_item::coroutine) {
        return lab::cannot_run{"spawns no coroutines; asio_coroutine has this row"};
    }
    lab::thread_tally tally;
    const auto post = [&](executor queue, std::uint64_t items) { post_items(queue, items, tally); };
    const auto begin_batches = [&](executor queue, std::uint64_t items) {
        asio::post(queue, sharing_poster{queue, work, tally, items});
    };
    return measure_sharing(how, work, tally, post, begin_batches);
}

lab::outcome asio_lab::measure_threads_throughput(layout how,
                                                  const lab::threads_throughput_case& work) {
    return measure_pairs<direction>(how, work,
                                    [](asio::io_context&, direction& each, std::uint64_t bytes,
                                       lab::verification checks) { each.begin(bytes, checks); });
}

lab::outcome asio_lab::measure_threads_http(layout how, const lab::threads_http_case& work) {
    return measure_connections<http_connection>(
        how, work,
        [](asio::io_context&, http_connection& each, std::uint64_t requests,
           lab::histogram& latency) { each.begin(requests, latency); });
}
