// SPDX-License-Identifier: BSL-1.0
//
// What the sessions of both of Asio's styles have in common: one context, or threads that run contexts in
// the two ways that its documentation names.
//
// Either one context in which all of them call `run`, so that any thread may run any handler, or a
// context for each thread, so that no handler ever meets another thread and needs no lock: see
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/threads.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/examples/cpp11_examples.html,
// HTTP Server 2 and 3.
#pragma once

#include <lab/in_process/asio/sockets.hpp>

#include <lab/kit/crew.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/thread_tally.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

namespace asio_lab {

/// What several threads run.
enum class layout {
    shared,      ///< One context, in which every thread calls `run`.
    per_thread,  ///< A context for each of them.
};

// Each style has these functions, one for each kind of case, in the file of its suite.
lab::preparation prepare(layout how, const lab::dispatch_case& work);
lab::preparation prepare(layout how, const lab::shared_dispatch_case& work);
lab::preparation prepare(layout how, const lab::throughput_case& work);
lab::preparation prepare(layout how, const lab::threads_throughput_case& work);
lab::preparation prepare(layout how, const lab::latency_case& work);
lab::preparation prepare(layout how, const lab::http_case& work);
lab::preparation prepare(layout how, const lab::threads_http_case& work);
lab::preparation prepare(layout how, const lab::timers_case& work);
lab::preparation prepare(layout how, const lab::churn_case& work);
lab::preparation prepare(layout how, const lab::fan_out_case& work);

using work_guard = asio::executor_work_guard<executor>;

/// A session on one context of one thread.
class loop_session : public lab::session {
public:
    explicit loop_session(int concurrency_hint = single_threaded) : context_{concurrency_hint} {}

protected:
    void run() {
        context_.restart();
        context_.run();
    }

    asio::io_context context_;
};

/// Other threads that touch the contexts of a team while they run.
enum class visitors { none, posting };

/// Threads and their contexts.
class team {
public:
    /// @param first  What each thread does before it runs its context.
    team(
        std::size_t threads, layout how, visitors from,
        std::function<void(std::size_t)> first = [](std::size_t) {})
        : contexts_{contexts_for(threads, how, from)},
          threads_{threads, [this, first = std::move(first)](std::size_t number) {
                       first(number);
                       context(number).run();
                   }} {}

    [[nodiscard]] std::size_t contexts() const noexcept { return contexts_.size(); }

    /// What thread `number` runs, or the next one if there are fewer threads.
    [[nodiscard]] asio::io_context& context(std::size_t number) noexcept {
        return contexts_[number % contexts_.size()];
    }

    /// Keeps the contexts running until `finish`, work or no work.
    void hold() {
        for (asio::io_context& each : contexts_) guards_.emplace_back(each.get_executor());
    }

    void go() {
        for (asio::io_context& each : contexts_) each.restart();
        threads_.go();
    }

    /// Waits until all that was posted has run.
    void finish() {
        guards_.clear();
        threads_.wait();
    }

private:
    static std::deque<asio::io_context> contexts_for(std::size_t threads, layout how,
                                                     visitors from) {
        const bool alone = threads == 1 || how == layout::per_thread;
        const int alone_hint = from == visitors::none ? single_threaded : one_thread_runs;
        std::deque<asio::io_context> all;
        for (std::size_t left = how == layout::per_thread ? threads : 1; left > 0; --left) {
            all.emplace_back(alone ? alone_hint : static_cast<int>(threads));
        }
        return all;
    }

    std::deque<asio::io_context> contexts_;
    std::deque<work_guard> guards_;
    lab::crew threads_;
};

/// @param Items  Made from a case, it posts with `post(executor, count, tally)`, and has something on the
///               executor post batches, and then itself, with `begin_batches(executor, count, tally)`.
template <class Items>
class dispatch_session final : public loop_session {
public:
    explicit dispatch_session(const lab::dispatch_case& work)
        : loop_session{is_foreign(work) ? one_thread_runs : single_threaded},
          work_{work},
          from_outside_{is_foreign(work) ? std::size_t{1} : 0, [this](std::size_t) {
                            Items::post(queue(), items_, tally_);
                            posting_.reset();
                        }} {}

    void play(lab::slice& now) override {
        const std::uint64_t before = tally_.sum();
        items_ = now.operations;
        switch (work_.order) {
            case lab::dispatch_order::all_then_run:
                Items::post(queue(), items_, tally_);
                run();
                break;
            case lab::dispatch_order::batches_from_inside:
                Items::begin_batches(queue(), work_.batch, items_, tally_);
                run();
                break;
            case lab::dispatch_order::interleaved:
                for (std::uint64_t posted = 0; posted < items_; posted += work_.batch) {
                    Items::post(queue(), work_.batch, tally_);
                    context_.restart();
                    context_.poll();
                }
                break;
            case lab::dispatch_order::from_another_thread:
                posting_.emplace(queue());
                from_outside_.go();
                run();
                from_outside_.wait();
                break;
        }
        now.done = tally_.sum() - before;
    }

private:
    static bool is_foreign(const lab::dispatch_case& work) {
        return work.order == lab::dispatch_order::from_another_thread;
    }

    executor queue() { return context_.get_executor(); }

    lab::dispatch_case work_;
    lab::tally tally_;
    std::uint64_t items_ = 0;
    std::optional<work_guard> posting_;
    lab::crew from_outside_;
};

/// @param Items  As above.
template <class Items>
class shared_dispatch_session final : public lab::session {
public:
    shared_dispatch_session(layout how, const lab::shared_dispatch_case& work)
        : work_{work},
          all_{work.threads, how, visitors::posting, [this](std::size_t number) { first(number); }},
          others_{further_posters(work), [this](std::size_t) { post_share(); }} {}

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
                for (std::size_t i = 0; i < work_.threads; ++i) posting_.emplace_back(queue());
                break;
            case lab::shared_order::queued: Items::post(queue(), now.operations, tally_); break;
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
                    Items::begin_batches(queue(), work_.batch, share_, tally_);
                }
                break;
            case lab::shared_order::post_then_run:
            case lab::shared_order::queued: all_.go(); break;
        }
        all_.finish();
    }

    void conclude(lab::slice& now) override {
        posting_.clear();
        now.done = tally_.sum() - before_;
    }

private:
    // The thread with the stopwatch is one itself.
    static std::size_t further_posters(const lab::shared_dispatch_case& work) {
        return work.posters == 0 ? 0 : work.posters - 1;
    }

    executor queue() { return all_.context(0).get_executor(); }

    void first(std::size_t number) {
        if (work_.order != lab::shared_order::post_then_run) return;
        Items::post(queue(), share_, tally_);
        posting_[number].reset();
    }

    void post_share() {
        if (all_.contexts() == 1) return Items::post(queue(), share_, tally_);
        for (std::uint64_t item = 0; item < share_; ++item) {
            Items::post(all_.context(item).get_executor(), 1, tally_);
        }
    }

    lab::shared_dispatch_case work_;
    lab::thread_tally tally_;
    std::uint64_t before_ = 0;
    std::uint64_t share_ = 0;
    std::deque<work_guard> posting_;
    team all_;
    lab::crew others_;
};

template <class Items>
lab::preparation prepare_sharing(layout how, const lab::shared_dispatch_case& work) {
    if (how == layout::per_thread && work.order != lab::shared_order::from_outside) {
        return lab::cannot_run{"what is posted to a context is for its own thread only"};
    }
    return lab::prepared<shared_dispatch_session<Items>>(how, work);
}

/// A pair of sockets, and one direction or both through it.
///
/// @param Direction  Made from a context, two streams and the bytes of a buffer, it has an
///                   `outgoing` and an `incoming` stream and a `begin()`.
template <class Direction>
class transfer {
public:
    transfer(asio::io_context& context, const lab::throughput_case& work)
        : sockets_{context, work.via}, buffer_bytes_{work.buffer_bytes} {
        add(context, sockets_.client, sockets_.server);
        if (work.directions == 2) add(context, sockets_.server, sockets_.client);
    }

    void begin(std::uint64_t buffers, lab::verification how) {
        const std::uint64_t bytes = buffers / directions_.size() * buffer_bytes_;
        for (Direction& each : directions_) {
            each.outgoing.begin(bytes);
            each.incoming.begin(bytes, how);
            each.begin();
        }
    }

    /// Buffers.
    [[nodiscard]] std::uint64_t arrived() const {
        std::uint64_t bytes = 0;
        for (const Direction& each : directions_) bytes += each.incoming.amount();
        return bytes / buffer_bytes_;
    }

private:
    void add(asio::io_context& context, stream& from, stream& to) {
        directions_.push_back({context, from, to, lab::outgoing_stream{buffer_bytes_},
                               lab::incoming_stream{buffer_bytes_}});
    }

    stream_pair sockets_;
    std::size_t buffer_bytes_;
    std::deque<Direction> directions_;
};

template <class Direction>
class throughput_session final : public loop_session {
public:
    explicit throughput_session(const lab::throughput_case& work) : all_{context_, work} {}

    void play(lab::slice& now) override {
        all_.begin(now.operations, now.how);
        run();
        now.done = all_.arrived();
    }

private:
    transfer<Direction> all_;
};

template <class Direction>
class threads_throughput_session final : public lab::session {
public:
    explicit threads_throughput_session(const lab::threads_throughput_case& work)
        : all_{work.threads, layout::per_thread, visitors::none} {
        for (std::size_t i = 0; i < work.threads; ++i) {
            pairs_.emplace_back(all_.context(i), work.each);
        }
    }

    void play(lab::slice& now) override {
        for (auto& each : pairs_) each.begin(now.operations / pairs_.size(), now.how);
        all_.go();
        all_.finish();
    }

    void conclude(lab::slice& now) override {
        for (const auto& each : pairs_) now.done += each.arrived();
    }

private:
    team all_;
    std::deque<transfer<Direction>> pairs_;
};

template <class Direction>
lab::preparation prepare_pairs(layout how, const lab::threads_throughput_case& work) {
    if (how == layout::shared) {
        return lab::cannot_run{
            "two threads must not use one socket, so the two ways of a pair would need a strand"};
    }
    return lab::prepared<threads_throughput_session<Direction>>(work);
}

/// Round trips of several members at once, which are pairs or connections.
///
/// @param Member  Has `begin(count, latency)`: plays that many.
template <class Member>
class rounds_session final : public loop_session {
public:
    template <class... Arguments>
    explicit rounds_session(std::size_t members, const Arguments&... arguments) {
        for (std::size_t i = 0; i < members; ++i) members_.emplace_back(context_, arguments...);
    }

    void play(lab::slice& now) override {
        const std::uint64_t rounds = now.operations / members_.size();
        for (Member& each : members_) each.begin(rounds, now.latency);
        run();
        now.done = now.latency.count();
    }

private:
    std::deque<Member> members_;
};

/// The same on several threads: each member on its context of the team.
template <class Member>
class threads_rounds_session final : public lab::session {
public:
    threads_rounds_session(layout how, std::size_t threads, std::size_t members)
        : all_{threads, how, visitors::none}, latencies_(members) {
        for (std::size_t i = 0; i < members; ++i) members_.emplace_back(all_.context(i));
    }

    void get_ready(lab::slice&) override {
        for (lab::histogram& each : latencies_) each = {};
    }

    void play(lab::slice& now) override {
        const std::uint64_t rounds = now.operations / members_.size();
        for (std::size_t i = 0; i < members_.size(); ++i) members_[i].begin(rounds, latencies_[i]);
        all_.go();
        all_.finish();
    }

    void conclude(lab::slice& now) override {
        for (const lab::histogram& each : latencies_) now.latency.add(each);
        now.done = now.latency.count();
    }

private:
    team all_;
    std::deque<Member> members_;
    std::deque<lab::histogram> latencies_;
};

}  // namespace asio_lab
