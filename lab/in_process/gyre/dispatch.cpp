// SPDX-License-Identifier: BSL-1.0
//
// Posting and spawning with gyre: a posted lambda is the bare continuation, a launched task the coroutine.
// On several threads they go to the pool, for whichever loop comes first.
#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/sessions.hpp>

#include <gyre/sync/sleep.hpp>

#include <cstdint>
#include <latch>
#include <optional>

namespace {

using gyre::io_context;
using gyre::io_pool;
using gyre::task;
using gyre_lab::library;

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

private:
    task<> post_batches(io_context& loop, std::uint64_t batch, std::uint64_t count,
                        lab::tally& tally) const {
        for (std::uint64_t posted = 0; posted < count; posted += batch) {
            post(loop, batch, tally);
            co_await gyre::yield();
        }
    }

    lab::dispatch_item kind_;
};

// One of several in the same pool: posts a batch, and itself behind it.
struct sharing_poster {
    io_pool& pool;
    items what;
    std::uint64_t batch;
    lab::thread_tally& tally;
    std::uint64_t left;

    void operator()() const {
        what.post(pool, batch, tally);
        if (left > batch) pool.post(sharing_poster{pool, what, batch, tally, left - batch});
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

class shared_dispatch_session final : public lab::session {
public:
    shared_dispatch_session(const library::settings& how, const lab::shared_dispatch_case& work)
        : work_{work},
          items_{work.item},
          all_{how, work.threads},
          others_{
              work.posters == 0 ? 0 : work.posters - 1,  // One is the thread with the stopwatch.
              [this](std::size_t) { items_.post(all_.pool, share_, tally_); }} {}

    void get_ready(lab::slice& now) override {
        before_ = tally_.sum();
        if (work_.order != lab::shared_order::queued) return;
        hold_.emplace(all_.pool);
        items_.post(all_.pool, now.operations, tally_);
    }

    void play(lab::slice& now) override {
        post(now.operations);
        all_.finish();
    }

    void mark_done(lab::slice& now) override { now.done = tally_.sum() - before_; }

    std::vector<lab::counter> counted() override { return all_.counted(); }

private:
    void post(std::uint64_t count) {
        share_ = count / work_.threads;
        switch (work_.order) {
            case lab::shared_order::from_outside:
                share_ = count / work_.posters;
                others_.go();
                items_.post(all_.pool, share_, tally_);
                others_.wait();
                break;
            case lab::shared_order::batches_from_inside:
                for (std::size_t each = 0; each < work_.threads; ++each) {
                    all_.pool.post(sharing_poster{all_.pool, items_, work_.batch, tally_, share_});
                }
                break;
            case lab::shared_order::post_then_run:
                for (std::size_t each = 0; each < work_.threads; ++each) {
                    all_.context(each).post([this] { items_.post(all_.pool, share_, tally_); });
                }
                break;
            case lab::shared_order::queued: hold_->release(); break;
        }
    }

    struct nothing {};

    lab::shared_dispatch_case work_;
    items items_;
    lab::thread_tally tally_;
    std::uint64_t before_ = 0;
    std::uint64_t share_ = 0;
    library::team<nothing> all_;
    std::optional<held_pool> hold_;
    lab::crew others_;
};

}  // namespace

lab::preparation gyre_lab::prepare(const library::settings& how, const lab::dispatch_case& work) {
    return lab::prepared<lab::dispatch_session<library, items>>(how, work);
}

lab::preparation gyre_lab::prepare(const library::settings& how,
                                   const lab::shared_dispatch_case& work) {
    return lab::prepared<shared_dispatch_session>(how, work);
}
