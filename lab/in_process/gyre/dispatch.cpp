// SPDX-License-Identifier: BSL-1.0
//
// Posting and spawning with gyre, on one loop and on the pool of several threads.
#include <lab/in_process/gyre/contender.hpp>

#include <lab/kit/crew.hpp>
#include <lab/kit/thread_tally.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/sleep.hpp>

#include <cstdint>
#include <latch>
#include <optional>

namespace {

using gyre::io_context;
using gyre::io_pool;
using gyre::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

template <class Tally>
task<> item(Tally& tally) {
    tally.add();
    co_return;
}

// `Runner` is a loop or a pool.
template <class Runner, class Tally>
void queue_items(Runner& runner, lab::dispatch_item kind, std::uint64_t items, Tally& tally) {
    if (kind == lab::dispatch_item::continuation) {
        for (std::uint64_t i = 0; i < items; ++i) runner.post([&tally] { tally.add(); });
    } else {
        for (std::uint64_t i = 0; i < items; ++i) launch(runner, item(tally), gyre::or_terminate{});
    }
}

class dispatch_session final : public gyre_lab::loop_session {
public:
    dispatch_session(const gyre_lab::options& how, const lab::dispatch_case& work)
        : loop_session{how},
          work_{work},
          from_outside_{has_poster(work), [this](std::size_t) {
                            queue_items(loop_, work_.item, items_, tally_);
                            posting_.reset();
                        }} {}

    void play(lab::slice& now) override {
        const std::uint64_t before = tally_.sum();
        items_ = now.operations;
        switch (work_.order) {
            case lab::dispatch_order::all_then_run:
                queue_items(loop_, work_.item, items_, tally_);
                loop_.run();
                break;
            case lab::dispatch_order::batches_from_inside:
                launch(loop_, queue_batches(items_), gyre::or_terminate{});
                loop_.run();
                break;
            case lab::dispatch_order::interleaved:
                for (std::uint64_t queued = 0; queued < items_; queued += work_.batch) {
                    queue_items(loop_, work_.item, work_.batch, tally_);
                    loop_.poll();
                }
                break;
            case lab::dispatch_order::from_another_thread:
                posting_.emplace(loop_);
                from_outside_.go();
                loop_.run();
                from_outside_.wait();
                break;
        }
        now.done = tally_.sum() - before;
    }

private:
    static std::size_t has_poster(const lab::dispatch_case& work) {
        return work.order == lab::dispatch_order::from_another_thread ? 1 : 0;
    }

    task<> queue_batches(std::uint64_t items) {
        for (std::uint64_t queued = 0; queued < items; queued += work_.batch) {
            queue_items(loop_, work_.item, work_.batch, tally_);
            co_await gyre::yield();
        }
    }

    lab::dispatch_case work_;
    lab::tally tally_;
    std::uint64_t items_ = 0;
    std::optional<io_context::work_guard> posting_;
    lab::crew from_outside_;
};

// One of several in the same pool: posts a batch, and itself behind it.
struct sharing_poster {
    io_pool& pool;
    const lab::shared_dispatch_case& work;
    lab::thread_tally& tally;
    std::uint64_t left;

    void operator()() const {
        queue_items(pool, work.item, work.batch, tally);
        if (left > work.batch) pool.post(sharing_poster{pool, work, tally, left - work.batch});
    }
};

// Keeps every loop of a pool busy, so that nothing that is posted runs.
class held_pool {
public:
    explicit held_pool(io_pool& pool) : holding_{static_cast<std::ptrdiff_t>(pool.size())} {
        for (std::size_t each = 0; each < pool.size(); ++each) {
            pool[each].post([this] {
                holding_.count_down();
                released_.wait();
            });
        }
        holding_.wait();
    }

    void release() { released_.count_down(); }

private:
    std::latch holding_;
    std::latch released_{1};
};

class shared_dispatch_session final : public gyre_lab::pool_session<lab::thread_tally> {
public:
    shared_dispatch_session(const gyre_lab::options& how, const lab::shared_dispatch_case& work)
        : pool_session{how, work.threads},
          work_{work},
          tally_{places_.emplace_back()},
          others_{further_posters(work),
                  [this](auto) { queue_items(pool_, work_.item, share_, tally_); }} {}

    void get_ready(lab::slice& now) override {
        before_ = tally_.sum();
        if (work_.order != lab::shared_order::queued) return;
        hold_.emplace(pool_);
        queue_items(pool_, work_.item, now.operations, tally_);
    }

    void play(lab::slice& now) override {
        post(now.operations);
        pool_.wait();
    }

    void conclude(lab::slice& now) override { now.done = tally_.sum() - before_; }

private:
    // The thread with the stopwatch is one itself.
    static std::size_t further_posters(const lab::shared_dispatch_case& work) {
        return work.posters == 0 ? 0 : work.posters - 1;
    }

    void post(std::uint64_t items) {
        switch (work_.order) {
            case lab::shared_order::from_outside:
                share_ = items / work_.posters;
                others_.go();
                queue_items(pool_, work_.item, share_, tally_);
                others_.wait();
                break;
            case lab::shared_order::batches_from_inside:
                for (std::size_t each = 0; each < work_.threads; ++each) {
                    pool_.post(sharing_poster{pool_, work_, tally_, items / work_.threads});
                }
                break;
            case lab::shared_order::post_then_run:
                share_ = items / work_.threads;
                for (std::size_t each = 0; each < work_.threads; ++each) {
                    pool_[each].post([this] { queue_items(pool_, work_.item, share_, tally_); });
                }
                break;
            case lab::shared_order::queued: hold_->release(); break;
        }
    }

    lab::shared_dispatch_case work_;
    lab::thread_tally& tally_;
    std::uint64_t before_ = 0;
    std::uint64_t share_ = 0;
    std::optional<held_pool> hold_;
    lab::crew others_;
};

}  // namespace

lab::preparation gyre_lab::prepare(const options& loop, const lab::dispatch_case& work) {
    return lab::prepared<dispatch_session>(loop, work);
}

lab::preparation gyre_lab::prepare(const options& loop, const lab::shared_dispatch_case& work) {
    return lab::prepared<shared_dispatch_session>(loop, work);
}
