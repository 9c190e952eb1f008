// SPDX-License-Identifier: BSL-1.0
//
// Posting to the contexts of several threads, the same for both of Asio's styles: callbacks and coroutines
// differ in what they post.
#pragma once

#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/crew.hpp>
#include <lab/kit/thread_tally.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace asio_lab {

/// @param Items  As of lab::dispatch_session.
template <class Items>
class shared_dispatch_session final : public lab::session {
public:
    shared_dispatch_session(layout how, const lab::shared_dispatch_case& work)
        : work_{work},
          items_{work.item},
          all_{how, work.threads, true, [this](std::size_t number) { first(number); }},
          others_{
              work.posters == 0 ? 0 : work.posters - 1,  // One is the thread with the stopwatch.
              [this](std::size_t) { post_share(); }} {}

    void get_ready(lab::slice& now) override {
        before_ = tally_.sum();
        share_ = now.operations / work_.threads;
        all_.hold();
        switch (work_.order) {
            case lab::shared_order::from_outside:
                share_ = now.operations / work_.posters;
                all_.go();
                break;
            case lab::shared_order::batches_from_inside: all_.go(); break;
            case lab::shared_order::post_then_run:
                // The guards of `hold` go before the last thread has posted; these do not.
                for (std::size_t i = 0; i < work_.threads; ++i) {
                    posting_.emplace_back(all_.context(0).get_executor());
                }
                break;
            case lab::shared_order::queued:
                items_.post(all_.context(0), now.operations, tally_);
                break;
        }
    }

    void play(lab::slice&) override {
        switch (work_.order) {
            case lab::shared_order::from_outside:
                others_.go();
                post_share();
                others_.wait();
                break;
            case lab::shared_order::batches_from_inside:
                for (std::size_t i = 0; i < work_.threads; ++i) {
                    items_.begin_batches(all_.context(0), work_.batch, share_, tally_);
                }
                break;
            case lab::shared_order::post_then_run:
            case lab::shared_order::queued: all_.go(); break;
        }
        all_.finish();
    }

    void mark_done(lab::slice& now) override {
        posting_.clear();
        now.done = tally_.sum() - before_;
    }

private:
    void first(std::size_t number) {
        if (work_.order != lab::shared_order::post_then_run) return;
        items_.post(all_.context(0), share_, tally_);
        posting_[number].reset();
    }

    // To several contexts in turns.
    void post_share() {
        if (all_.contexts() == 1) return items_.post(all_.context(0), share_, tally_);
        for (std::uint64_t item = 0; item < share_; ++item) {
            items_.post(all_.context(item), 1, tally_);
        }
    }

    struct nothing {};

    lab::shared_dispatch_case work_;
    Items items_;
    lab::thread_tally tally_;
    std::uint64_t before_ = 0;
    std::uint64_t share_ = 0;
    std::deque<work_guard> posting_;
    library::team<nothing> all_;
    lab::crew others_;
};

template <class Items>
lab::preparation prepare_sharing(layout how, const lab::shared_dispatch_case& work) {
    if (how == layout::per_thread && work.order != lab::shared_order::from_outside) {
        return lab::cannot_run{"what is posted to a context is for its own thread only"};
    }
    return lab::prepared<shared_dispatch_session<Items>>(how, work);
}

}  // namespace asio_lab
